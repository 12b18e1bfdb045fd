"""``starshade data convert``."""

from __future__ import annotations

import click

from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.interrupt import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import words
from starshade.errors import ConfigError
from starshade.plain import counted

__all__ = ["convert"]


@click.command()
@click.argument("ratings", metavar="RATINGS")
@click.option("--out", required=True, metavar="PATH", help="Where to write.")
@click.option(
    "--to",
    "kind",
    metavar="NAME",
    help="store, csv, tsv, parquet, recbole, wide, movielens-…  [default: by the ending, "
    "without one a store]",
)
@reading(dates=True)
@running()
def convert(ratings: str, out: str, kind: str | None, reading: Reading, run: Run) -> None:
    """Write RATINGS in another format; a store opens at once, whatever its size."""
    place = ensure_free(out)
    from starshade.ratings.write.write import WRITTEN, format_of, write_ratings

    kind = format_of(out) if kind is None else kind  # before the long work
    if kind not in WRITTEN:
        raise ConfigError(
            f"--to {kind}: no format that can be written", advice=f"Known: {', '.join(WRITTEN)}."
        )
    table = reading.read(ratings)
    written = write_ratings(table, place, kind)
    wrote(place)
    run.emit(
        {
            "out": out,
            "to": written,
            "users": table.n_users,
            "items": table.n_items,
            "ratings": table.n_ratings,
            "seconds": run.seconds,
        },
        lambda: words(
            f"{out}: {counted(table.n_ratings, 'rating')} of {counted(table.n_users, 'user')} on "
            f"{counted(table.n_items, 'item')}, written as {written}"
            + (" (a folder that opens at once)." if written == "store" else ".")
        ),
    )
