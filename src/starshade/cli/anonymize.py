"""``starshade anonymize``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.anonymize.registry import ENTRIES
from starshade.cli.options.declared import Choosing, declared_options
from starshade.cli.options.shared import (
    Reading,
    configured,
    ensure_free,
    gathered,
    given,
    reading,
    refuse_beside,
)
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import command, describe, page, words
from starshade.errors import ConfigError
from starshade.registry import find

if TYPE_CHECKING:
    from starshade.audit.make import Made
    from starshade.ratings.places.place import Place


@click.command(cls=Choosing, chooser="--method", room="anonymize")
@click.argument("ratings", metavar="RATINGS")
@click.option("--method", default="k-likeness", show_default=True, help="See `list methods`.")
@partial(gathered, options=declared_options(ENTRIES, besides=("items",)), name="settings")
@click.option("--out", required=True, metavar="DIR", help="The release folder; must not exist.")
@click.option("--private", metavar="FILE", help="Write the owner's receipt here; keep it secret.")
@click.option(
    "--no-receipt",
    is_flag=True,
    help="Write none, though no audit of this method's releases can pass without.",
)
@reading(dates=True)
@running(seed=True)
def anonymize(
    ratings: str,
    method: str,
    settings: dict[str, Any],
    out: str,
    private: str | None,
    no_receipt: bool,
    reading: Reading,
    run: Run,
) -> None:
    """Make a release of RATINGS in which everybody hides among at least k.

    `starshade list methods` names the methods; a setting belongs to those that have it.
    """
    place = ensure_free(out)
    if private is not None:
        refuse_beside("beside --private", {"no_receipt"}, "Leave one of the two out.")
    receipt = None if private is None else _receipt(private, place)
    from starshade.audit.make import make_release

    chosen = configured(
        find(ENTRIES, method, "method"),
        f"the method {method}",
        settings,
        also={"items": reading.selection()},
    )
    if private is None and not no_receipt:
        _refuse_without_receipt(method, chosen)
    table = reading.read(ratings, select=False)
    made = make_release(table, chosen, out=place, private=receipt, rng=run.seed)
    wrote(place)
    audit = ["starshade", "audit", ratings, out, *reading.arguments()]
    audit += [] if private is None else ["--private", private]
    run.emit({**made.to_dict(), "seconds": run.seconds}, lambda: _summary(made, private, audit))


def _receipt(private: str, release: Place) -> Place:
    from starshade.release.folder.receipt import refuse_inside

    place = ensure_free(private, option="--private")
    refuse_inside(place, release)
    return place


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
        describe(made),
        words(_advice(made)) if _advice(made) else None,
        words(receipt),
        *([words(following), shown] if audit else ()),
    )


def _advice(made: Made) -> str:
    if made.release.manifest.profile != "padded" or "profile" in given():
        return ""
    return (
        "Nothing was said about profiles, so these are padded, as in the paper; --profile pooled "
        "loses less on MovieLens and puts no rating into a cell (docs/prediction.md)."
    )


def _query(made: Made) -> Any:
    """Show a query that a release for queries answers: how many rated its first item."""
    item = str(made.release.classes.items[0]).replace('"', '""')
    sql = f'SELECT COUNT(*) WHERE "{item}" >= {made.release.manifest.scale.minimum:g}'
    return command("starshade", "query", str(made.figures["out"]), sql)
