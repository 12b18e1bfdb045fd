"""Every measure that applies to a release, in one flat dict, and its figures by key."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from starshade.attack.view import look
from starshade.engine.job import Engine
from starshade.errors import ConfigError
from starshade.figure import Figure, Value
from starshade.naming import named
from starshade.progress import announced, task
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.figures import (
    INVENTED_CELLS,
    INVENTED_RECORDS,
    LEFT_OUT,
    SINGLE_RATER_CELLS,
    SMALLEST_GROUP,
)
from starshade.release.table import Release
from starshade.utility.registry import ENTRIES, OF_THE_RELEASE, PROBED
from starshade.utility.sharded import found_over


@announced("measuring utility")
def measure_all(
    release: Release, original: Ratings, *, probe: Ratings | None = None
) -> dict[str, float | int | None]:
    """Compute every measure that ``starshade list measures`` names.

    `probe`: ratings that were held out of `original`, of its users and on its items (`hold_out`);
    without it nothing is trained. Figures by name; None where one does not apply. Also
    ``users_deleted``, people that the method removed, and ``rare_items_dropped``: the key file
    states them, without it None.
    """
    if probe is not None:
        need_receipt(release)
    if release.private is not None:
        look(release, original, None)  # refuses what does not belong together
    return figures_of(release, original, probe=probe)


def need_receipt(release: Release) -> None:
    """Refuse a probe for a release without its key file."""
    if release.private is None:
        raise ConfigError(
            "held-out ratings (probe) need the private key file, which links people to records",
            advice=f"Give the file that {named('private')} wrote when the release was made.",
        )


def figures_of(
    release: Release,
    original: Ratings | None,
    *,
    probe: Ratings | None = None,
    without: Collection[str] = (),
) -> dict[str, float | int | None]:
    """Measure a release that was made of these ratings.

    `original`: None: it is being made by partition, and has them itself. `without` names measures
    that are not taken.
    """
    figures: dict[str, float | int | None] = {}
    entries = [entry for entry in ENTRIES if entry.name not in without]
    with task("measuring", len(entries)) as step:
        for entry in entries:
            given = {"probe": probe} if entry in PROBED else {}
            figures |= entry.load()().measure(release, original=original, **given).to_dict()
            step(1)
    return figures | _left_out(release)


def _left_out(release: Release) -> dict[str, float | int | None]:
    exact = release.exact
    return {
        "users_deleted": None if exact is None else exact.users_deleted,
        "rare_items_dropped": None if exact is None else exact.rare_items_dropped,
    }


@announced("measuring utility")
def measure_shards(
    release: Release, shards: Shards, engine: Engine, *, probe: Ratings | None = None
) -> dict[str, float | int | None]:
    """Measure a release of profiles with its key file, as `measure_all` on one table.

    `probe`: as there; without it nothing is trained. With several partitions, figures of a
    recommender may differ in the last digits, as sums are taken in another order.
    """
    over_all = found_over(shards, release, engine, probe)
    figures: dict[str, float | int | None] = {}
    for entry in ENTRIES:
        measure = entry.load()
        if entry.name in over_all:
            figures |= over_all[entry.name]
        elif entry.name in OF_THE_RELEASE:
            figures |= measure().measure(release).to_dict()
        else:  # not of profiles, or without a probe
            figures |= dict.fromkeys(figure.key for figure in measure.FIGURES)
    return figures | _left_out(release)


#: figures of a release that no measure declares
OF_RELEASES = (
    Figure("groups", "Groups", "count", False, "Sets of records that the method put together."),
    SMALLEST_GROUP,
    INVENTED_CELLS,
    SINGLE_RATER_CELLS,
    INVENTED_RECORDS,
    *(figure for figure in LEFT_OUT if figure.key != "users_without_rating"),
)


def measured_figures() -> tuple[Figure, ...]:
    """Return the figures of the registered measures, in their order."""
    return tuple(figure for entry in ENTRIES for figure in entry.load().FIGURES)


def figures_found(values: Mapping[str, Value]) -> tuple[Figure, ...]:
    """Return the figures that have a value, in the order of the values.

    Examples
    --------
    >>> [(each.title, each.text) for each in figures_found({"gen_iloss": 0.25, "dm": None})]
    [('Generalization loss (GenILoss)', '0.25')]
    """
    declared = {figure.key: figure for figure in (*OF_RELEASES, *measured_figures())}
    return tuple(
        declared[key].of(value)
        for key, value in values.items()
        if value is not None and key in declared
    )
