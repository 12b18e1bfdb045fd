"""Read the ratings of a data set, and store them.

Facts of a data set, and the result of the job: what `starshade.ratings.describe.Description`
has, the ``job`` that read it, how many ``seconds`` that took, and what is ``undecided``: the
number of repeated ratings for which no rule is chosen (``on_duplicate``).
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, get_type_hints

from starshade.errors import ConfigError
from starshade.progress import task
from starshade.server.jobs.database import flush
from starshade.server.settings import checked
from starshade.server.tasks.tasks import Done, Order

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings


def perform(order: Order) -> Done:
    """Read, describe and store ratings."""
    from starshade.ratings.describe import describe
    from starshade.ratings.store import write_store

    started = perf_counter()
    options = order.settings or order.data.options
    ratings = _made_up(order, options) if order.data.kind == "synthetic" else _read(order, options)
    with task("describing the ratings"):
        described = describe(ratings).to_dict()
    if (again := described["duplicates_merged"]) and "on_duplicate" not in options:
        described["undecided"] = {"on_duplicate": again}
    place = order.places.data(order.data.id)
    place.mkdir(mode=0o700, exist_ok=True)
    with task("storing the ratings"):
        write_store(ratings, place / str(order.job))
        flush(place.parent)
    facts = {**described, "job": order.job, "seconds": perf_counter() - started}
    return Done(facts, facts)


def open_ratings(order: Order) -> Ratings:
    """Open the ratings of a job's data set."""
    from starshade.ratings.store import open_store

    facts = order.data.facts
    if facts is None:
        raise ConfigError(
            "these data are not read yet", advice="Read them first, on the page of the data."
        )
    with task("opening the ratings"):
        return open_store(order.places.data(order.data.id) / str(facts["job"]))


def _read(order: Order, options: dict[str, Any]) -> Ratings:
    from starshade.ratings.read import read_ratings

    hints = get_type_hints(read_ratings)
    for name in ("return", "source", "show_values"):
        del hints[name]
    hints |= dict.fromkeys(("users", "item_names"), str)
    # no job uses these before the rule is chosen
    settings = {"on_duplicate": "last", **checked("reading", options, hints)}
    if order.data.kind == "upload":
        return read_ratings(order.places.upload(order.data.id) / order.data.source, **settings)
    return read_ratings(Path(order.data.source).expanduser(), **settings)


def _made_up(order: Order, options: dict[str, Any]) -> Ratings:
    from starshade.ratings.synth.synth import synthesize

    hints: dict[str, Any] = {"like": str, "seed": int | None}
    hints |= dict.fromkeys(("n_users", "n_items", "n_ratings"), int | None)
    settings = checked("synthetic ratings", options, hints)
    seed = settings.pop("seed", None)
    like = settings.pop("like", order.data.source)
    return synthesize(like, **settings, rng=seed)
