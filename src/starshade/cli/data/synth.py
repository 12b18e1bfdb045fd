"""``starshade data synth``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from starshade.cli.options.shared import ensure_free
from starshade.cli.running.interrupt import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import words
from starshade.plain import counted
from starshade.ratings.synth.preset import LIKES

if TYPE_CHECKING:
    from starshade.ratings.synth.synth import Like

__all__ = ["synth"]


@click.command()
@click.option(
    "--like",
    type=click.Choice(LIKES),
    default="movielens-100k",
    show_default=True,
    help=f"The data to resemble: {', '.join(LIKES[:-1])} or {LIKES[-1]}.",
)
@click.option(
    "--n-users", type=click.IntRange(1), help="Users, respondents. [default: as the data resembled]"
)
@click.option("--n-items", type=click.IntRange(1), help="Items, questions. [default: likewise]")
@click.option(
    "--n-ratings", type=click.IntRange(1), help="Ratings; not of a survey. [default: likewise]"
)
@click.option(
    "--out",
    required=True,
    metavar="PATH",
    help="Where to write: a store, or by the ending .csv, .parquet, .inter.",
)
@running(seed=True)
def synth(
    like: Like, n_users: int | None, n_items: int | None, n_ratings: int | None, out: str, run: Run
) -> None:
    """Make up ratings that behave like real ones: long tails, tastes, dates, attributes.

    Or a survey: answers from 1 to 6, correlated, some left open; s01, s02 … are sensitive.
    """
    place = ensure_free(out)
    from starshade.ratings.synth.synth import synthesize
    from starshade.ratings.write.write import format_of, write_ratings

    kind = format_of(out)  # before the long work
    table = synthesize(like, n_users=n_users, n_items=n_items, n_ratings=n_ratings, rng=run.seed)
    written = write_ratings(table, place, kind)
    wrote(place)
    run.emit(
        {
            "out": out,
            "to": written,
            "like": like,
            "users": table.n_users,
            "items": table.n_items,
            "ratings": table.n_ratings,
            "seed": run.seed,
            "seconds": run.seconds,
        },
        lambda: words(
            f"{out}: {counted(table.n_ratings, 'made-up rating')} of "
            f"{counted(table.n_users, 'user')} on "
            f"{counted(table.n_items, 'item')}, like {like} (seed {run.seed})."
        ),
    )
