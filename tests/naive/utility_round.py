"""The utility round (definitions, "utility round"), written for reading; NaN is no rating."""

from __future__ import annotations

import math

import numpy as np

from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive.released_rows import expected, row_of_users, rows_of


def held_out_errors(
    release: Release, rest: Ratings, held: Ratings, model: np.ndarray
) -> dict[str, float] | None:
    """Predict one held-out rating after the other; None where none is covered.

    `model`: what a model of the rest predicts of every person and item.
    """
    scale, truth, asked = release.scale, rest.dense().tolist(), held.dense().tolist()
    people = dict(zip(release.private.link.users, row_of_users(release), strict=True))
    items = {item: place for place, item in enumerate(release.classes.items)}
    rows, sizes = rows_of(release), release.classes.sizes.tolist()
    overall, of_item, item_bias, user_bias = means(truth)

    off: dict[str, list[float]] = {
        name: [] for name in ("read", "original", "user_item_means", "item_means", "global_mean")
    }
    every = 0
    for u, user in enumerate(rest.users):
        for i, item in enumerate(rest.items):
            true = asked[u][i]
            if true != true:
                continue
            every += 1
            if user not in people or item not in items:
                continue
            guess = expected(rows[people[user]].get(items[item]), scale.minimum)
            if guess is None:
                guess = released_mean(rows, sizes, items[item], scale)
            both = overall + item_bias[i] + user_bias[u]
            off["read"].append(guess - true)
            off["original"].append(model[u][i] - true)
            off["user_item_means"].append(min(max(both, scale.minimum), scale.maximum) - true)
            off["item_means"].append(of_item[i] - true)
            off["global_mean"].append(overall - true)
    covered = len(off["read"])
    if not covered:
        return None
    errors = {
        f"held_out_{name}": math.sqrt(sum(d * d for d in each) / covered)
        for name, each in off.items()
    }
    return errors | {"held_out_ratings": every, "held_out_covered": covered / every}


def means(truth: list[list[float]]) -> tuple[float, list[float], list[float], list[float]]:
    """Return the mean of all, of each item, and the shrunk biases of items and of users."""
    n_items = len(truth[0])
    rated = [(u, i, r) for u, row in enumerate(truth) for i, r in enumerate(row) if r == r]
    overall = sum(r for _, _, r in rated) / len(rated)
    of_item, item_bias = [], []
    for item in range(n_items):
        ratings = [r for _, i, r in rated if i == item]
        of_item.append(sum(ratings) / len(ratings) if ratings else overall)
        item_bias.append(sum(r - overall for r in ratings) / (len(ratings) + 5))
    user_bias = []
    for row in truth:
        left = [r - overall - item_bias[i] for i, r in enumerate(row) if r == r]
        user_bias.append(sum(left) / (len(left) + 10))
    return overall, of_item, item_bias, user_bias


def released_mean(rows: list[dict], sizes: list[int], item: int, scale) -> float:
    """Return the mean over the records of what the release shows of an item."""
    shown = []
    for row, size in zip(rows, sizes, strict=True):
        value = expected(row.get(item), scale.minimum)
        shown += [] if value is None else [value] * size
    return sum(shown) / len(shown) if shown else (scale.minimum + scale.maximum) / 2
