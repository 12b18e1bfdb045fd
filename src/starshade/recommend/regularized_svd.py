"""The regularized SVD (PA §4.1), with biases, by alternating least squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from starshade import budget
from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints, fixed
from starshade.kernels.fingerprint import drawing_bytes, keyed_numbers
from starshade.kernels.padded.als import half_sweep, squared_error
from starshade.kernels.synth import normals
from starshade.naming import called
from starshade.progress import note, silence, task
from starshade.ratings.holdout import cell_bytes, hold_out, sample_users
from starshade.ratings.shards.sharded import ShardedRatings
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.factors import Factors
from starshade.recommend.settings import RegularizedSVDSettings
from starshade.rng import Rng, resolve_seed, stream_key
from starshade.setting import check

_FACTORS = RegularizedSVDSettings.factors  # unless told, as many as there can be


@dataclass(frozen=True)
class RegularizedSVD(RegularizedSVDSettings):
    """Low rank plus biases, fitted by alternating least squares.

    Minimises the squared error of the ratings plus, for every user and item with n ratings,
    ``regularization · s · (n + 100)`` times the square of its factors, s being the standard
    deviation of the ratings, and three times the square of its bias. A penalty that grows with n
    keeps rows of many ratings from fitting noise (Zhou et al. 2008); the 100 does so where there
    are few.

    Parameters
    ----------
    factors : int
        At least 1. No matrix of ratings has a higher rank than it has users or items: up to 16
        are fitted if the matrix has so many (with a note), more are refused.
    regularization : float
        From 0 to 1e100, in units of the ratings' spread, so that it means the same on every scale.
    sweeps : int
        Number of alternating sweeps over users and items, at least 1; the maximum if `holdout` is
        not 0.
    biases : bool
        Fit a bias for each user and item; False is the paper's model.
    holdout : float
        Share of the ratings held out to find the number of sweeps after which predictions no
        longer improve; the model is then fitted to all ratings with so many sweeps. 0: all
        `sweeps` are made.

    Raises
    ------
    ConfigError
        A setting out of range.

    Examples
    --------
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=50, n_items=20, n_ratings=400, rng=0)
    >>> fitted = RegularizedSVD(factors=4).fit(ratings, rng=0)
    >>> fitted.rows([0, 1]).shape
    (2, 20)
    """

    name: ClassVar[str] = "regularized-svd"

    def __post_init__(self) -> None:
        check(self)

    @typed
    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit the model; the same seed gives the same bits at any number of threads.

        Parameters
        ----------
        ratings : Ratings
            At least one rating.
        rng : int, Generator or None
            Seed of the first item factors and of what is held out.

        Raises
        ------
        ConfigError
            No rating, more than 16 factors where there are fewer users or items, or more memory
            needed than may be used.
        """
        how = self.alternation(ratings, resolve_seed(rng))
        how.check_memory(ratings, searching=self.holdout > 0)
        sweeps = int(self.sweeps)
        if self.holdout:
            sample = _some_users(ratings, how.seed)
            sweeps = stopping_sweep(sample, how, sweeps, float(self.holdout))
        with task("fitting the recommender", 2 * sweeps) as step:
            sides = fit_sweeps(ratings, how, sweeps, step)
        return how.factors(ratings, *sides, *mean_and_spread(ratings))

    def alternation(self, ratings: Ratings | ShardedRatings, seed: int) -> Alternation:
        """Return how ratings of this shape are fitted; refuse what cannot be.

        Raises
        ------
        ConfigError
            No rating, or more than 16 factors where there are fewer users or items.
        """
        if not ratings.n_ratings:
            raise ConfigError("no ratings to fit to")
        if self.factors > _FACTORS:
            check_factors(int(self.factors), ratings)
        rank = min(int(self.factors), ratings.n_users, ratings.n_items)
        if rank < self.factors:
            note(
                f"factors {self.factors}: {rank} are fitted, the maximum for {ratings.n_users:,} "
                f"users and {ratings.n_items:,} items"
            )
        return Alternation(rank, float(self.regularization), self.biases, seed)

    def penalties(self, ratings: Ratings, spread: float | None = None) -> Floats:
        """Return what `fit` holds each user back by, in the units of the ratings.

        Whoever fits somebody else to the same items, such as a group of users as one, holds them
        back alike.

        Parameters
        ----------
        ratings : Ratings
        spread : float, optional
            The standard deviation of the ratings that were fitted, where these are a part of them.

        Returns
        -------
        ndarray of float64, shape (n_users, 2)
            On the square of the factors, and of the bias.
        """
        how = Alternation(int(self.factors), float(self.regularization), self.biases, 0)
        out = np.array(penalties(ratings.user_support, how))
        out[:, 0] *= mean_and_spread(ratings)[1] if spread is None else spread
        return out


def check_factors(factors: int, ratings: Ratings | ShardedRatings) -> None:
    """Refuse more factors than a matrix of these users and items can have."""
    most = min(ratings.n_users, ratings.n_items)
    if factors > most:
        raise ConfigError(
            f"{called('factors')} {factors:,}: must be at most {most:,} for "
            f"{ratings.n_users:,} users and "
            f"{ratings.n_items:,} items",
            advice="Use a smaller value; 3 to 16 is typical.",
        )


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

    def users_of(self, ratings: Ratings, items: Floats, mean: float, spread: float) -> Floats:
        """Solve users from the items, each alone: of a part of a table as of all of it."""
        users = np.zeros((ratings.n_users, self.width))
        by_user = fixed(ratings.indptr), fixed(ratings.columns), fixed(ratings.codes)
        targets = fixed((ratings.levels - mean) / spread)
        penalty = penalties(ratings.user_support, self)
        half_sweep(*by_user, targets, fixed(items), penalty, self.biases, users)
        return users

    def factors(
        self, ratings: Ratings, users: Floats, items: Floats, mean: float, spread: float
    ) -> Factors:
        """Return what was fitted in the units of the ratings."""
        sides = users, items
        bias = [side[:, -1] * spread if self.biases else np.zeros(len(side)) for side in sides]
        factors = [side[:, : self.rank] * math.sqrt(spread) for side in sides]
        return Factors(ratings.users, ratings.items, ratings.scale, mean, *bias, *factors)

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
                advice="Use fewer factors, or allow more memory.",
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
    return mean_and_spread_of(counts, ratings.levels)


def mean_and_spread_of(counts: Ints, levels: Floats) -> tuple[float, float]:
    """Return the same of ratings of which each level was given so often."""
    mean = float((counts * levels).sum() / counts.sum())
    spread = float(np.sqrt((counts * (levels - mean) ** 2).sum() / counts.sum()))
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
    items = first_items(ratings.items, how)
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


def first_items(ids: Vocabulary, how: Alternation) -> Floats:
    """Draw the first item factors, each from its item's own stream; biases begin at 0."""
    key = np.uint64(stream_key(how.seed, "item factors"))
    items = np.zeros((len(ids), how.width))
    items[:, : how.rank] = _FIRST * normals(keyed_numbers(ids.fingerprints, key), how.rank)
    return items


def stopping_sweep(sample: Ratings, how: Alternation, sweeps: int, share: float) -> int:
    """Find after how many sweeps predictions of a sample's held-out ratings get no better."""
    if not 0 < round(share * sample.n_ratings) < sample.n_ratings:
        return sweeps
    train, probe = hold_out(sample, share, rng=how.seed)
    units, errors = mean_and_spread(train), list[float]()

    def watch(users: Floats, items: Floats) -> bool:
        errors.append(_error(probe, units, users, items, how.biases))
        return len(errors) > 2 and errors[-1] > (1 - _ENOUGH) * errors[-3]

    with silence():
        fit_sweeps(train, how, sweeps, lambda _: None, watch)
    return int(np.argmin(errors)) + 1


def _some_users(ratings: Ratings, seed: int) -> Ratings:
    wanted = sample_size(ratings)
    if wanted is None:
        return ratings
    return ratings.keep_users(sample_users(ratings, np.arange(ratings.n_users), wanted, seed))


def sample_size(ratings: Ratings | ShardedRatings) -> int | None:
    """Return how many users suffice to find the number of sweeps; None: all are needed."""
    if ratings.n_ratings <= _SEARCHED:
        return None
    return max(1, ratings.n_users * _SEARCHED // ratings.n_ratings)


def _error(
    probe: Ratings, units: tuple[float, float], users: Floats, items: Floats, biases: bool
) -> float:
    mean, spread = units
    sums = squared_error(
        fixed(probe.indptr),
        fixed(probe.columns),
        fixed(probe.codes),
        fixed((probe.levels - mean) / spread),
        fixed(users),
        fixed(items),
        biases,
        (probe.scale.minimum - mean) / spread,
        (probe.scale.maximum - mean) / spread,
    )
    return float(sums.sum() / probe.n_ratings)
