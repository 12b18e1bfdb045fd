"""``starshade anonymize``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.models import EPS, NULLS, SENSITIVE
from starshade.cli.options.predictive import PREDICTIVE
from starshade.cli.options.settings import Command, configured, gathered, given, refuse_beside
from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.interrupt import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import command, figures, measured, page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.audit.make import Made
    from starshade.ratings.places.place import Place

__all__ = ["anonymize"]


def _number(_context: Any, _option: Any, told: float | None) -> float | None:
    """Take 3 for a whole number: some methods count with what is a spread for others."""
    if told is not None and told > _MOST:
        raise ConfigError(
            f"--l {told:g}: more than there are ratings or records anywhere",
            advice="2 or 3 is usual where values are counted.",
        )
    return int(told) if told is not None and told.is_integer() else told


def _hierarchy(text: str) -> tuple[str, str]:
    name, _, file = text.partition("=")
    if not name or not file:
        raise ConfigError(
            f"--attribute-hierarchy {text}: expected NAME=FILE", advice="Example: zip=zip.csv."
        )
    return name, file


_MOST = 2.0**53  # whole numbers beyond are not told apart

#: figures of a new release, as `show` names them → their keys
_SHOWN = {
    "groups": "groups",
    "classes": "classes",
    "smallest_class": "smallest_group",
    "dm": "dm",
    "c_avg": "c_avg",
    "gen_iloss": "gen_iloss",
    "distortion": "distortion",
    "invented_cells": "invented_cells",
    "single_rater_cells": "single_rater_cells",
    "users_rating_disclosed": "users_rating_disclosed",
    "users_rating_exists": "users_rating_exists",
    "records_alone_with_sensitive": "records_alone_with_sensitive",
}
_SETTINGS = [
    click.option("--k", type=int, help="Everybody hides among at least k; 5 is usual."),
    click.option(
        "--hierarchy",
        metavar="NAME|FILE",
        help="What a group may be released as: ndgh (the set of values), range, dgh, dgh-a, "
        "dgh-b, dgh-c, or a file. [default: ndgh; range for k-member and mondrian]",
    ),
    EPS,
    click.option(
        "--l",
        type=float,
        callback=_number,
        help="interval, suppress: least standard deviation of sensitive items among the alike; "
        "predictive: profiles that show what was rated together; "
        "others: least number of different values of each sensitive attribute in a group.",
    ),
    SENSITIVE,
    NULLS,
    click.option(
        "--partition",
        type=click.Choice(["cluster", "whole"]),
        help="interval: move ratings together in small clusters, or all records with the same "
        "items rated (the paper). [default: cluster]",
    ),
    click.option(
        "--attributes",
        type=click.Choice(["none", "generalized", "exact"]),
        default="none",
        show_default=True,
        help="Personal attributes in the release; generalized: part of what k records share; "
        "exact: for a query service only.",
    ),
    click.option(
        "--quasi",
        "quasi_identifiers",
        metavar="NAME",
        multiple=True,
        help="generalized: an attribute that others may know of a person; repeatable. "
        "[default: all that are not sensitive]",
    ),
    click.option(
        "--sensitive-attribute",
        "sensitive_attributes",
        metavar="NAME",
        multiple=True,
        help="generalized: an attribute that others must not learn, released as it is; repeatable.",
    ),
    click.option(
        "--attribute-hierarchy",
        "attribute_hierarchies",
        metavar="NAME=FILE",
        multiple=True,
        callback=lambda _context, _option, told: dict(map(_hierarchy, told)),
        help="generalized: what the values of a quasi-identifier are joined to (ARX's CSV); "
        "repeatable. [default: the set of values]",
    ),
    click.option(
        "--rare-values",
        type=click.Choice(["refuse", "blank"]),
        default="refuse",
        show_default=True,
        help="generalized: values of an attribute that fewer than k people have.",
    ),
    click.option(
        "--t",
        type=float,
        help="How far the sensitive attributes of a group may be from those of all, 0 to 1.",
    ),
    *PREDICTIVE,
    click.option(
        "--rare-items",
        type=click.Choice(["drop", "keep"]),
        default="drop",
        show_default=True,
        help="Items that fewer than k users rated.",
    ),
]


def _settings(command: Command) -> Command:
    """Give a command the methods' settings and pass it ``settings``, a dict."""
    return gathered(command, _SETTINGS, "settings", dict)


@click.command()
@click.argument("ratings", metavar="RATINGS")
@click.option("--method", default="k-likeness", show_default=True, help="See `list methods`.")
@_settings
@click.option("--out", required=True, metavar="DIR", help="The release folder; must not exist.")
@click.option("--private", metavar="FILE", help="Write the owner's receipt here; keep it secret.")
@click.option(
    "--no-receipt",
    is_flag=True,
    help="Write none, though no audit of this method's releases can pass without.",
)
@reading()
@click.option("--no-dates", is_flag=True, help="Do not read the dates; no release has any.")
@running(seed=True)
def anonymize(
    ratings: str,
    method: str,
    settings: dict[str, Any],
    out: str,
    private: str | None,
    no_receipt: bool,
    no_dates: bool,
    reading: Reading,
    run: Run,
) -> None:
    """Make a release of RATINGS in which everybody hides among at least k.

    `starshade list methods` names the methods; a setting belongs to those named beside it.
    """
    place = ensure_free(out)
    if private is not None:
        refuse_beside("beside --private", {"no_receipt"}, "Leave one of the two out.")
    receipt = None if private is None else _receipt(private, place)
    from starshade.anonymize.registry import ENTRIES
    from starshade.audit.make import make_release
    from starshade.registry import find

    chosen = configured(
        find(ENTRIES, method, "method").load(),
        f"the method {method}",
        settings,
        also={"items": reading.selection()},
    )
    if private is None and not no_receipt:
        _refuse_without_receipt(method, chosen)
    table = reading.read(ratings, dates=not no_dates, select=False)
    made = make_release(table, chosen, out=place, private=receipt, rng=run.seed)
    wrote(place)
    audit = ["starshade", "audit", ratings, out, *reading.arguments()]
    audit += ["--no-dates"] if no_dates else []
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

    f = made.figures
    receipt = (
        f"The receipt {private} says who is which record: keep it, and keep it secret."
        if private
        else "No receipt was written (--private FILE): nobody can tell who is which record."
    )
    following, shown = "Next, to hear whether it may leave:", command(*audit)
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
        words(str(made) + _advice(made)),
        figures(measured({name: f[key] for name, key in _SHOWN.items() if f[key] is not None})),
        words(receipt),
        *([words(following), shown] if audit else ()),
    )


def _advice(made: Made) -> str:
    """Name the profile that loses less, to whoever chose none."""
    if made.release.manifest.profile != "padded" or "profile" in given():
        return ""
    return (
        " Nothing was said about profiles, so these are padded, as in the paper; --profile pooled "
        "loses less on MovieLens and puts no rating into a cell (docs/prediction.md)."
    )


def _query(made: Made) -> Any:
    """Show a query that a release for queries answers: how many rated its first item."""
    item = str(made.release.classes.items[0]).replace('"', '""')
    sql = f'SELECT COUNT(*) WHERE "{item}" >= {made.release.manifest.scale.minimum:g}'
    return command("starshade", "query", str(made.figures["out"]), sql)
