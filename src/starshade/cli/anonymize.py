"""``starshade anonymize``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from starshade.anonymize.registry import DEFAULT, ENTRIES
from starshade.cli.options.declared import Choosing, declared_options
from starshade.cli.options.help import BEFORE, WRITTEN, grouped
from starshade.cli.options.shards import opened, over_shards, refuse_unseeded, works_by_shard
from starshade.cli.options.shared import (
    Reading,
    configured,
    ensure_free,
    gathered,
    reading,
    refuse_beside,
)
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import command, examples, page, useful, words
from starshade.errors import ConfigError
from starshade.ratings.readers.addresses.address import hidden
from starshade.registry import find

if TYPE_CHECKING:
    from starshade.audit.made import Made
    from starshade.ratings.places.place import Place
    from starshade.release.table import Release


@click.command(
    cls=Choosing,
    chooser="--method",
    room="anonymize",
    example="starshade anonymize ratings.csv --k 5 --items top:10 --out release/ "
    "--private receipt.json",
)
@click.argument("ratings", metavar="RATINGS")
@click.option("--method", default=DEFAULT, show_default=True, help="See `list methods`.")
@partial(gathered, options=declared_options(ENTRIES, besides=("items",)), name="settings")
@grouped(
    WRITTEN,
    click.option("--out", required=True, metavar="DIR", help="The release folder; must not exist."),
    click.option(
        "--private", metavar="FILE", help="Write the owner's receipt here; keep it secret."
    ),
    click.option(
        "--no-receipt",
        is_flag=True,
        help="Write none, though no audit of this method's releases can pass without.",
    ),
)
@grouped(
    BEFORE,
    click.option(
        "--after",
        metavar="RELEASE",
        help="The last release of the same people: who hid together goes on to, so that whoever "
        "holds both finds nobody among fewer than k.",
    ),
    click.option("--after-private", metavar="FILE", help="The receipt of that release."),
    click.option(
        "--shortfall",
        type=click.Choice(["invent", "withhold"]),
        default="invent",
        show_default=True,
        help="With --after: what becomes of a group of which fewer than k are left: records of "
        "nobody fill it up, or its people are left out. Below half of k they always are.",
    ),
)
@over_shards
@reading(dates=True)
@running(seed=True)
def anonymize(
    ratings: str,
    method: str,
    settings: dict[str, Any],
    out: str,
    private: str | None,
    no_receipt: bool,
    after: str | None,
    after_private: str | None,
    shortfall: Literal["invent", "withhold"],
    engine: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    """Make a release of RATINGS: everybody hides among at least k.

    `starshade list methods` names the methods; a setting belongs to those that have it.
    """
    resumed = engine["resume"]
    place = ensure_free(out, resumed=resumed)
    if private is not None:
        refuse_beside("beside --private", {"no_receipt"}, "Leave one of the two out.")
    receipt = None if private is None else _receipt(private, place, resumed=resumed)
    from starshade.audit.make import make_release, make_release_of_shards

    chosen = configured(
        find(ENTRIES, method, "method"),
        f"the method {method}",
        settings,
        also={"items": reading.selection()},
    )
    if private is None and not no_receipt:
        _refuse_without_receipt(method, chosen)
    last = _last(after, after_private, private)
    if works_by_shard(ratings, reading, otherwise=_takes_one_table(method, chosen, after)):
        refuse_unseeded(engine, run.given_seed)
        with opened(ratings, engine) as (shards, at_work):
            made = make_release_of_shards(
                shards, chosen, out=place, private=receipt, rng=run.seed, engine=at_work
            )
    else:
        made = make_release(
            reading.read(ratings, select=False),
            chosen,
            out=place,
            private=receipt,
            rng=run.seed,
            after=last,
            shortfall=shortfall,
        )
    wrote(place)
    audit = ["starshade", "audit", hidden(ratings), out, *reading.arguments()]
    audit += [] if private is None else ["--private", private]
    if after is not None:
        audit += ["--earlier", after, "--earlier-private", str(after_private)]
    run.emit({**made.to_dict(), "seconds": run.seconds}, lambda: _summary(made, private, audit))


def _receipt(private: str, release: Place, *, resumed: bool) -> Place:
    from starshade.release.folder.receipt import refuse_inside

    place = ensure_free(private, option="--private", resumed=resumed)
    refuse_inside(place, release)
    return place


def _takes_one_table(name: str, method: Any, after: str | None) -> str:
    """Say why a store of shards is taken as one table; empty: it is not."""
    from starshade.anonymize.sharded.anonymize import takes_one_table

    if after is not None:
        return "with --after"
    setting = takes_one_table(method)
    if setting == "method":
        return f"with the method {name}"
    return f"with --{setting.replace('_', '-')}" if setting else ""


def _last(after: str | None, receipt: str | None, private: str | None) -> Release | None:
    """Read the release that is to be continued."""
    if after is None:
        refuse_beside(
            "without --after",
            {"after_private", "shortfall"},
            "Name the last release too: --after RELEASE.",
        )
        return None
    if receipt is None:
        raise ConfigError(
            "--after without --after-private: nobody can tell who was in which group without the "
            "receipt of that release",
            advice="Give the receipt that was written when it was made.",
        )
    if private is None:
        raise ConfigError(
            "--after without --private: a release that continues another one takes a receipt, or "
            "nothing could ever continue it",
            advice="Give --private FILE and keep it.",
        )
    from starshade.release.folder.read import read_release

    return read_release(after, private=receipt)


def _refuse_without_receipt(name: str, method: Any) -> None:
    """Refuse to make what no audit can pass; a release for queries is not for publication."""
    why = getattr(method, "needs_receipt", None)
    if why is not None and getattr(method, "attributes", "none") != "exact":
        raise ConfigError(
            f"--method {name} without --private: {why}, so that no audit of the release can pass "
            "without its receipt, which cannot be made afterwards",
            advice="Give --private FILE and keep it; or --no-receipt, if the release is never to "
            "be judged.",
        )


def _summary(made: Made, private: str | None, audit: list[str]) -> Any:
    from starshade.audit.findings import needs_receipt
    from starshade.release.readable.examples import example_classes

    receipt = (
        f"The receipt {private} says who is which record: keep it, and keep it secret."
        if private
        else "No receipt was written (--private FILE): nobody can tell who is which record."
    )
    following, shown = "Next, to hear whether it may be published:", command(*audit)
    needed = None if private else needs_receipt(made.release)
    if made.release.manifest.audience == "query":
        following, shown = "Next, to ask it something:", _query(made)
    elif needed is not None:
        audit = []
        receipt = (
            "No receipt was written, and none can be made afterwards. Without it an audit of this "
            f"release cannot pass: {needed[0]}, and nobody can tell {needed[1]}. Before it may "
            "leave, make it again with --private FILE."
        )
    return page(
        words(str(made)),
        *useful(made.found),
        examples(example_classes(made.release)),
        words(receipt),
        *([words(following), shown] if audit else ()),
    )


def _query(made: Made) -> Any:
    """Show a query that a release for queries answers: how many rated its first item."""
    item = str(made.release.classes.items[0]).replace('"', '""')
    sql = f'SELECT COUNT(*) WHERE "{item}" >= {made.release.manifest.scale.minimum:g}'
    return command("starshade", "query", str(made.figures["out"]), sql)
