"""``starshade measure``."""

from __future__ import annotations

import click

from starshade.cli.options import Reading, reading
from starshade.cli.run import Run, running
from starshade.cli.show import figures, measured, page, words

__all__ = ["measure"]


@click.command()
@click.argument("ratings", metavar="RATINGS")
@click.argument("release", metavar="RELEASE")
@click.option("--private", metavar="FILE", help="The owner's receipt of this release.")
@reading(items=False)
@click.option("--no-dates", is_flag=True, help="Do not read the dates.")
@running()
def measure(
    ratings: str, release: str, private: str | None, no_dates: bool, reading: Reading, run: Run
) -> None:
    """Measure what RELEASE, made of RATINGS, is still good for."""
    from starshade.audit.measure import measure_all
    from starshade.release.read import read_release

    released = read_release(release, private=private)  # the quick one first: it may be refused
    found = measure_all(released, reading.read(ratings, dates=not no_dates))
    run.emit(
        {**found, "seconds": run.seconds},
        lambda: page(
            words(
                f"{release}: {released.n_records:,} records on {released.manifest.items:,} items"
            ),
            figures(measured({name: value for name, value in found.items() if value is not None})),
            words(_said(released.attributes is not None, found)),
        ),
    )


def _said(attributes: bool, found: dict[str, float | int | None]) -> str:
    """Say where the figures are explained, and why averages by query are not among them."""
    text = (
        "`starshade list measures` says what each figure is; those that do not apply are left out."
    )
    if found["query_error_conditions"] is not None:
        return text
    if attributes:
        return text + " Averages by query need a numeric attribute: give the ratings' with --users."
    return text + " Averages by query need a release with personal attributes (--users)."
