"""``starshade measure``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.settings import WITHOUT_RECEIPT
from starshade.cli.options.help import PRIVATE, PROBE
from starshade.cli.options.project import OfRatings
from starshade.cli.options.shards import opened, over_shards, works_by_shard
from starshade.cli.options.shared import Reading, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import page, useful, words
from starshade.plain import counted

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release


@click.command(
    cls=OfRatings,
    example="starshade measure ratings.csv release/",
)
@click.argument("ratings", metavar="RATINGS")
@click.argument("release", metavar="RELEASE")
@click.option("--private", metavar="FILE", help=PRIVATE)
@click.option("--probe", metavar="FILE", help=PROBE)
@over_shards
@reading(items=False, dates=True)
@running()
def measure(
    ratings: str,
    release: str,
    private: str | None,
    probe: str | None,
    engine: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    """Measure the utility of a release."""
    from starshade.audit.measure import (
        figures_found,
        measure_all,
        measure_shards,
        need_receipt,
    )
    from starshade.release.folder.read import read_release

    released = read_release(release, private=private)  # the quick one first: it may be refused
    if probe is not None:
        need_receipt(released)
    if works_by_shard(ratings, reading, otherwise=_as_one_table(released, probe)):
        with opened(ratings, engine) as (shards, working):
            held = _held_out(probe, reading)
            values = measure_shards(released, shards, working, probe=held)
    else:
        original = reading.read(ratings)
        values = measure_all(released, original, probe=_held_out(probe, reading))
    run.emit(
        {**values, "seconds": run.seconds},
        lambda: page(
            words(
                f"{release}: {counted(released.n_records, 'record')} on "
                f"{counted(released.manifest.items, 'item')}"
            ),
            *useful(figures_found(_known(values, released))),
            words(_hints(released.attributes is not None, probe is not None, values)),
        ),
    )


def _held_out(probe: str | None, reading: Reading) -> Ratings | None:
    # who gave a rating that was held out is known by the ids alone
    return None if probe is None else replace(reading, users=None).read(probe, dates=False)


def _as_one_table(release: Release, probe: str | None) -> str:
    """Say why ratings in shards are read as one table all the same; empty: they are not."""
    if release.manifest.layout != "profile":
        return "with a release that is not of profiles"
    if release.private is None:
        return WITHOUT_RECEIPT
    if probe is None:
        return ""
    from starshade.utility.held_out.sharded import takes_one_table

    return takes_one_table(release)


def _known(
    values: dict[str, float | int | None], release: Release
) -> dict[str, float | int | str | None]:
    """Leave out what does not apply; show bands where only the key file has the figure."""
    from starshade.release.figures import private_figures

    bands = {
        each.key: f"{each.text} (a band; the key file has the figure)"
        for each in private_figures(release.manifest)
        if values.get(each.key, 0) is None
    }
    return {**values, **bands}


def _hints(attributes: bool, probed: bool, values: dict[str, float | int | None]) -> str:
    text = "`starshade list measures` explains each figure; figures that do not apply are omitted."
    if values["query_error_conditions"] is None:
        text += (
            " Query averages require a numeric attribute of the ratings: add --users FILE."
            if attributes
            else " Query averages require a release with personal attributes (--users)."
        )
    if not probed:
        text += (
            " Recommender utility requires ratings held out before anonymization (`starshade data "
            "split`, --probe) and the private key file (--private)."
        )
    return text
