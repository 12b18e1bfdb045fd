"""Alternating least squares over a rating table, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.fingerprint import keyed_numbers
from starshade.kernels.holdout import drawing_bytes
from starshade.kernels.padded.als import half_sweep, squared_error
from starshade.kernels.readonly import fixed
from starshade.kernels.synth.normals import normals
from starshade.progress import silence
from starshade.ratings.holdout import cell_bytes, hold_out
from starshade.ratings.sample import sample_users
from starshade.ratings.table import Ratings
from starshade.rng import stream_key

__all__ = ["Alternation", "fit_sweeps", "mean_and_spread", "penalties", "stopping_sweep"]

_Step = Callable[[float], None]

_FIRST = 0.1  # standard deviation of the first item factors, in units of √spread
_AT_LEAST = 100  # ratings that a row's penalty counts beyond its own
_BIAS_PENALTY = 3.0  # ratings at the mean that a bias is held back by
_ENOUGH = 3e-4  # an improvement of the held-out squared error, relative, worth two sweeps
_COUNTING = 8  # bytes of a code while codes are counted
_SEARCHED = 2_000_000  # ratings that suffice to find the number of sweeps


@dataclass(frozen=True)
class Alternation:
    """The settings of a fit, checked."""

    rank: int
    regularization: float
    biases: bool
    seed: int

    @property
    def width(self) -> int:
        """Numbers per row: the factors, and the bias if there is one."""
        return self.rank + self.biases

    def check_memory(self, ratings: Ratings, *, searching: bool) -> None:
        """Refuse a fit that would not fit, or the search for its number of sweeps before it."""
        held = ratings.n_ratings * cell_bytes(ratings)
        turned = 0 if "by_item" in ratings.__dict__ else held
        sides = 8 * (2 * self.width + 4) * (ratings.n_users + ratings.n_items)
        need = turned + _COUNTING * ratings.n_ratings + sides
        if searching:
            need = max(need, _searching_bytes(ratings) + sides)
        allowed = budget.left(held)
        if need > allowed:
            raise ConfigError(
                f"{self.rank} factors of {ratings.n_users:,} users and {ratings.n_items:,} items "
                f"need {budget.amount(need)} of memory; {budget.amount(max(0, allowed))} may be "
                "used",
                advice="Ask for fewer factors, or allow more memory if the machine has it.",
            )


def _searching_bytes(ratings: Ratings) -> int:
    """Return what `stopping_sweep` holds beside the table and the two sides."""
    some = min(ratings.n_ratings, _SEARCHED)
    part = some * cell_bytes(ratings)
    taken = part if some < ratings.n_ratings else 0
    fitted = 2 * part + some + _COUNTING * some  # both parts, and the larger item by item
    return taken + max(fitted, part + some + drawing_bytes(ratings.user_support))


def mean_and_spread(ratings: Ratings) -> tuple[float, float]:
    """Return mean and standard deviation of the ratings; a deviation of 0 counts as 1."""
    counts = np.bincount(ratings.codes, minlength=len(ratings.levels))
    mean = float((counts * ratings.levels).sum() / ratings.n_ratings)
    spread = float(np.sqrt((counts * (ratings.levels - mean) ** 2).sum() / ratings.n_ratings))
    return mean, spread or 1.0


def fit_sweeps(
    ratings: Ratings,
    how: Alternation,
    sweeps: int,
    step: _Step,
    watch: Callable[[Floats, Floats], bool] = lambda users, items: False,
) -> tuple[Floats, Floats]:
    """Fit users and items in turn.

    `watch`: sees both sides after each sweep; returns whether to stop. Returns `users, items`
    (float64): in units of √spread; the last column is the bias, in units of the spread.
    """
    mean, spread = mean_and_spread(ratings)
    targets = fixed((ratings.levels - mean) / spread)
    turned = ratings.by_item
    by_user = fixed(ratings.indptr), fixed(ratings.columns), fixed(ratings.codes)
    by_item = fixed(turned.indptr), fixed(turned.users), fixed(turned.codes)
    user_penalty = penalties(ratings.user_support, how)
    item_penalty = penalties(ratings.item_support, how)
    items = _first_items(ratings, how)
    users = np.zeros((ratings.n_users, how.width))
    for _ in range(sweeps):
        half_sweep(*by_user, targets, fixed(items), user_penalty, how.biases, users)
        step(1)
        half_sweep(*by_item, targets, fixed(users), item_penalty, how.biases, items)
        step(1)
        if watch(users, items):
            break
    return users, items


def penalties(support: Ints, how: Alternation) -> Floats:
    """Return the penalties on a row's factors and on its bias, shape (n_rows, 2)."""
    out = np.empty((len(support), 2))
    out[:, 0] = how.regularization * (support + _AT_LEAST)
    out[:, 1] = _BIAS_PENALTY if how.regularization else 0.0
    return fixed(out)


def _first_items(ratings: Ratings, how: Alternation) -> Floats:
    """Draw the first item factors, each from its item's own stream; biases begin at 0."""
    key = np.uint64(stream_key(how.seed, "item factors"))
    items = np.zeros((ratings.n_items, how.width))
    items[:, : how.rank] = _FIRST * normals(
        keyed_numbers(ratings.items.fingerprints, key), how.rank
    )
    return items


def stopping_sweep(ratings: Ratings, how: Alternation, sweeps: int, share: float) -> int:
    """Find after how many sweeps predictions of some users' held-out ratings get no better."""
    sample = _some_users(ratings, how.seed)
    if not 0 < round(share * sample.n_ratings) < sample.n_ratings:
        return sweeps
    train, probe = hold_out(sample, share, rng=how.seed)
    errors: list[float] = []

    def watch(users: Floats, items: Floats) -> bool:
        errors.append(_error(train, probe, users, items, how.biases))
        return len(errors) > 2 and errors[-1] > (1 - _ENOUGH) * errors[-3]

    with silence():
        fit_sweeps(train, how, sweeps, lambda _: None, watch)
    return int(np.argmin(errors)) + 1


def _some_users(ratings: Ratings, seed: int) -> Ratings:
    if ratings.n_ratings <= _SEARCHED:
        return ratings
    wanted = max(1, ratings.n_users * _SEARCHED // ratings.n_ratings)
    return ratings.keep_users(sample_users(ratings, np.arange(ratings.n_users), wanted, seed))


def _error(train: Ratings, probe: Ratings, users: Floats, items: Floats, biases: bool) -> float:
    mean, spread = mean_and_spread(train)
    sums = squared_error(
        fixed(probe.indptr),
        fixed(probe.columns),
        fixed(probe.codes),
        fixed((probe.levels - mean) / spread),
        fixed(users),
        fixed(items),
        biases,
        (train.scale.minimum - mean) / spread,
        (train.scale.maximum - mean) / spread,
    )
    return float(sums.sum() / probe.n_ratings)
