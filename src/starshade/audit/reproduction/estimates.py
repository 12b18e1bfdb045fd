"""Statistics of a paper's claims with their intervals: over runs, and over users."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.figure import number
from starshade.kernels.arrays import Ints
from starshade.stats import wilson

Floats: TypeAlias = NDArray[np.float64]
_BLOCKS = 400  # of users, drawn together: as good as users, and no dearer with many
_NOTHING = 1e-12  # what rounding leaves of it


class Untestable(Exception):  # noqa: N818  (no error: the answer)
    """A claim cannot be tested; the message says why."""


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval."""

    value: float
    low: float
    high: float
    seeds: int = 1  # runs it rests on
    users: int | None = None  # users it is an interval over; None: a count of all
    of: str = "user"  # or what else it is an interval over

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """Return a count, which has no interval."""
        value = _undusted(value)
        return cls(value, value, value)

    @property
    def text(self) -> str:
        """The value and its interval."""
        value, low, high = map(number, (self.value, self.low, self.high))
        return value if self.low == self.high else f"{value} [{low}, {high}]"


def estimate(
    runs: Sequence[Mapping[str, Floats]],
    statistic: Callable[[Mapping[str, float]], float],
    *,
    seed: int,
    draws: int = 1000,
    of: str = "user",
) -> Estimate:
    """Return a statistic of means over users, with an interval over runs and over users.

    `runs`: of each run, figures of its users by name, all equally long; a figure of the whole
    release is an array of one. `statistic` takes the means. `of`: what stands in the place of
    users. The interval is a percentile bootstrap that draws runs and, in each, blocks of users
    with replacement; of true and false, where all users are alike, it is Wilson's.

    Examples
    --------
    >>> runs = [{"a": np.array([1.0, 3.0]), "b": np.array([2.0, 6.0])}]
    >>> estimate(runs, lambda mean: mean["b"] / mean["a"], seed=0).value
    2.0
    """
    names = list(runs[0])
    if not all(len(figures) for run in runs for figures in run.values()):
        raise Untestable("no user is left to measure")
    sizes = tuple(max(len(run[name]) for name in names) for run in runs)
    again = _again(seed, sizes, draws)
    blocks = [_blocks(run, names, own) for run, own in zip(runs, again.block, strict=True)]

    def found(means: Floats) -> float:
        try:
            return float(statistic(dict(zip(names, means.tolist(), strict=True))))
        except (ZeroDivisionError, ValueError):  # a ratio to nothing, a root of less
            return math.nan

    value = found(np.mean([sums.sum(1) / count.sum(1) for sums, count in blocks], axis=0))
    if not math.isfinite(value):
        raise Untestable("too few ratings: no finite value")
    means = np.zeros((draws, len(names)))
    for (sums, count), weight, draw in zip(blocks, again.weight, again.draw, strict=True):
        np.add.at(means, draw, (weight @ sums.T) / (weight @ count.T))
    low, high = np.nanquantile([found(each) for each in means / len(runs)], [0.025, 0.975])
    ends = [value, float(low), float(high), *map(found, _unseen(runs, names))]
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    many = max(sizes)
    value, low, high = map(_undusted, (value, low, high))
    return Estimate(value, low, high, len(runs), many if many > 1 else None, of)


def _undusted(value: float) -> float:
    return 0.0 if abs(value) < _NOTHING else value


@dataclass(frozen=True)
class _Again:
    """How runs and their users are drawn again; each by run."""

    block: list[Ints]  # of each user
    weight: list[Floats]  # how often each block is drawn: a row for each time that the run is
    draw: list[Ints]  # to which such a row belongs


@lru_cache(maxsize=4)
def _again(seed: int, sizes: tuple[int, ...], draws: int) -> _Again:
    rng = np.random.default_rng(seed)
    block = [rng.permutation(size) % min(_BLOCKS, size) for size in sizes]
    weight, draw = [list[Ints]() for _ in sizes], [list[int]() for _ in sizes]
    for nth in range(draws):
        for run in rng.integers(len(sizes), size=len(sizes)).tolist():
            many = min(_BLOCKS, sizes[run])
            weight[run].append(rng.multinomial(many, np.full(many, 1 / many)))
            draw[run].append(nth)
    return _Again(
        block,
        [
            np.array(own, np.float64).reshape(-1, min(_BLOCKS, size))
            for own, size in zip(weight, sizes, strict=True)
        ],
        [np.array(own, np.int64) for own in draw],
    )


def _unseen(runs: Sequence[Mapping[str, Floats]], names: Sequence[str]) -> Iterator[Floats]:
    """Return shares (of true) as they might be where all users are alike in every run.

    Drawing equal outcomes again gives them back, an interval without width that so many equal
    observations do not justify: as many others as Wilson's interval allows for may be unlike them.
    """
    means = np.array([np.mean([np.mean(run[name]) for run in runs]) for name in names])
    for row, name in enumerate(names):
        seen = np.concatenate([run[name] for run in runs])
        if seen.dtype == bool and (seen == seen[0]).all():
            moved = means.copy()
            moved[row] += (1 - 2 * means[row]) * wilson(0, len(seen)).high
            yield moved


def _blocks(run: Mapping[str, Floats], names: Sequence[str], block: Ints) -> tuple[Floats, Floats]:
    """Sum users by blocks: a row for each name, its sums and its numbers of users."""
    users = len(block)
    size = min(_BLOCKS, users)
    each = np.bincount(block, minlength=size)
    sums, counts = np.empty((len(names), size)), np.empty((len(names), size))
    for row, name in enumerate(names):
        figures = np.asarray(run[name], np.float64)
        if len(figures) == users:
            sums[row], counts[row] = np.bincount(block, figures, size), each
        else:
            sums[row], counts[row] = figures.mean(), 1.0
    return sums, counts
