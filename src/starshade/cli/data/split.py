"""``starshade data split``."""

from __future__ import annotations

import click

from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.interrupt import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import words
from starshade.errors import OutputError
from starshade.plain import counted

__all__ = ["split"]

_PLACE = "Where to write: a store, or by the ending .csv, .parquet, .inter."


@click.command()
@click.argument("ratings", metavar="RATINGS")
@click.option("--out", required=True, metavar="PATH", help=f"The ratings kept. {_PLACE}")
@click.option("--probe", required=True, metavar="PATH", help="Those set aside; likewise.")
@click.option("--share", type=float, default=0.1, show_default=True, help="How many are set aside.")
@reading()
@running(seed=True)
def split(ratings: str, out: str, probe: str, share: float, reading: Reading, run: Run) -> None:
    """Set a share of RATINGS aside, to test on what nothing has learned from."""
    places = ensure_free(out), ensure_free(probe, option="--probe")
    if places[0] == places[1]:
        raise OutputError(f"--probe {probe}: the same place as --out", advice="Choose another.")
    from starshade.ratings.holdout import check_share, hold_out
    from starshade.ratings.places.atomic import together
    from starshade.ratings.write.write import format_of, write_ratings

    kinds = format_of(out), format_of(probe)  # before the long work
    check_share(share)
    parts = hold_out(reading.read(ratings), share, rng=run.seed)
    with together():
        for part, place, kind in zip(parts, places, kinds, strict=True):
            write_ratings(part, place, kind)
    for place in places:
        wrote(place)
    train, held = parts
    run.emit(
        {
            "out": out,
            "probe": probe,
            "users": train.n_users,
            "items": train.n_items,
            "ratings": train.n_ratings,
            "probe_ratings": held.n_ratings,
            "seed": run.seed,
            "seconds": run.seconds,
        },
        lambda: words(
            f"{out}: {counted(train.n_ratings, 'rating')}; {probe}: {held.n_ratings:,} set aside "
            f"(seed {run.seed})."
        ),
    )
