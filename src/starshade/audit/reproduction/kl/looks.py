"""How a claim looks at a bench: under a way, line by line, k by k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from starshade.audit.reproduction.claims import Estimate, Untestable, estimate
from starshade.audit.reproduction.kl.bench import Bench, Run
from starshade.audit.reproduction.kl.readings import LIKENESS, MEMBER, MONDRIAN, SWAPPED
from starshade.kernels.arrays import Floats

ALGORITHMS = (LIKENESS, MEMBER, MONDRIAN)
_SMALL_K, FEW = 10, 5


def mean_of(values: Iterable[float]) -> float:
    """Return the mean."""
    return float(np.mean(list(values)))


@dataclass(frozen=True)
class View:
    """A bench under a way."""

    bench: Bench
    way: str

    @classmethod
    def of(cls, bench: Bench, way: str) -> View:
        """Return it; a way may change the ratings."""
        own = bench.changed(way) if way in ("filled", "thinned", "users") else bench
        return cls(own, way)

    @property
    def ks(self) -> tuple[int, ...]:
        """Return the k that are looked at."""
        ks = [k for k in self.bench.ks if self.way != "small k" or k <= _SMALL_K]
        if not ks:
            raise Untestable("there is no such k")
        return tuple(ks)

    def lines(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of these lines that the scale allows."""
        if self.way == "algorithms":
            names = [name for name in names if name in ALGORITHMS]
        found = tuple(name for name in names if name in self.bench.lines)
        if not found:
            raise Untestable("the scale does not allow these hierarchies")
        return found

    def losses(self, names: Iterable[str], column: str, ks: Iterable[int]) -> list[Run]:
        """Return a figure of every line at every k, a dict for each run."""
        swapped = SWAPPED.get(self.way, {})
        ks = tuple(ks)
        return [
            {
                f"{name}, {k}": self._figure(swapped.get(name, name), column, k, seed)
                for name in dict.fromkeys(names)
                for k in ks
            }
            for seed in self.bench.seeds
        ]

    def _figure(self, name: str, column: str, k: int, seed: int) -> Floats:
        part = self.bench.losses(name, k, seed)
        if column == "loss" and self.way == "level":
            column = "level"
        if column == "c_avg":
            return np.asarray(len(part["loss"]) / (part["classes"] * k))
        if column == "exact share":
            return np.asarray(part["exact"] / part["classes"])
        return np.asarray(part[column], np.float64)

    def errors(self, names: Iterable[str], kind: str, k: int) -> tuple[list[Run], list[int]]:
        """Return errors of every line at every size, a dict for each run; the sizes."""
        swapped = SWAPPED.get(self.way, {})
        column = "of truth" if self.way == "of truth" else "error"
        runs, sizes = list[Run](), set[int]()
        for number, seed in enumerate(self.bench.seeds):
            run: Run = {}
            for name in dict.fromkeys(names):
                part = self.bench.errors(swapped.get(name, name), k, seed)
                own = part["kind"] == kind
                has = set(part["size"][own].tolist())
                sizes = has if not (number or run) else sizes & has
                for size, error in zip(part["size"][own], part[column][own], strict=True):
                    run[f"{name}, {size}"] = np.array([float(error)])
            runs.append(run)
        if self.way == "few items":
            sizes = {size for size in sizes if size <= FEW}
        if not sizes:
            raise Untestable("no condition has an answer on these ratings")
        kept = sorted(sizes)
        names_of = [f"{name}, {size}" for name in dict.fromkeys(names) for size in kept]
        return [{each: run[each] for each in names_of} for run in runs], kept

    def work(self, k: int, seed: int) -> Mapping[str, float]:
        """Return cells compared at a k."""
        swapped = SWAPPED.get(self.way, {})
        part = self.bench.work(k, seed, swapped.get(LIKENESS, ""), swapped.get(MEMBER, ""))
        found = {name: float(value[0]) for name, value in part.items()}
        member = found["anew" if self.way == "members" else "member"]
        rest = 0.0 if self.way == "nuclei" else found["rest"]
        return found | {"likeness": found["nuclei"] + rest, "member": member}

    def estimate(
        self, runs: Sequence[Run], statistic: Callable[[Mapping[str, float]], float]
    ) -> Estimate:
        """Return a statistic of means with its interval."""
        return estimate(runs, statistic, seed=self.bench.seeds[0] % 2**32)


def rank_correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Spearman's; equal values share a rank, of equal ones alone it is 0."""
    if len(xs) < 3:
        raise Untestable("a trend needs three points")
    ranks: list[Floats] = []
    for values in (xs, ys):
        _, place, count = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - (count - 1) / 2)[place])
    if any(np.ptp(rank) == 0 for rank in ranks):
        return 0.0
    a, b = (rank - rank.mean() for rank in ranks)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
