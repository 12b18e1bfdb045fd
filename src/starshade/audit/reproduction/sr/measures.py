"""The statistics of SR's claims; each takes the bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.claims import Estimate, Untestable, estimate
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.measured import KS, SHARES, K
from starshade.audit.reproduction.sr.work import Reading, reading_of

Measure: TypeAlias = Callable[[Bench, str], Estimate]
Means: TypeAlias = Mapping[str, float]
Floats: TypeAlias = NDArray[np.float64]


def size(name: str) -> Measure:
    """Count the ratings, or the users."""
    return lambda bench, way: Estimate.exact(getattr(bench.ratings, f"n_{name}"))


def fewest_ratings(bench: Bench, way: str) -> Estimate:
    """Count the ratings of the user with fewest."""
    return Estimate.exact(int(np.diff(bench.ratings.indptr).min()))


def sparsity(bench: Bench, way: str) -> Estimate:
    """Count cells without a rating."""
    ratings = bench.ratings
    return Estimate.exact(1 - ratings.n_ratings / (ratings.n_users * ratings.n_items))


def equality_cells(bench: Bench, way: str) -> Estimate:
    """Compare every two records cell by cell until they differ."""
    runs = []
    for seed in bench.seeds:
        part, p = bench.cells(reading_of(way), 0, seed)
        n = len(part["ball"])
        runs.append({"cells": (n + part["cells"]) / (n * p)})
    return estimate(runs, lambda mean: mean["cells"], seed=bench.seeds[0])


# -- slicing and comparing every pair


def _works(
    bench: Bench, way: str, searches: Sequence[str], at: Sequence[dict[str, Any]]
) -> list[dict[str, Floats]]:
    """Return, seed by seed, the work of each search in each setting; users drawn are summed up."""
    reading = reading_of(way)
    runs = []
    for seed in bench.seeds:
        run = {}
        for i, setting in enumerate(at):
            options: dict[str, Any] = {
                "k": K,
                "l": 2 * bench.grid.star,
                "reading": reading,
            } | setting
            for search in searches:
                work = bench.work(search, seed=seed, **options)
                # of people drawn, or of those up to the first failure, only the sum says something
                alone = reading.first or reading.covered or options.get("share", 100) < 100
                run[f"{search} {i}"] = work.mean(keepdims=True) if alone else work
        runs.append(run)
    return runs


def _courses(means: Means, search: str, users: Sequence[float] | None = None) -> list[float]:
    names = [name for name in means if name.startswith(search)]
    many = users or [1.0] * len(names)
    return [means[name] * n for name, n in zip(names, many, strict=True)]


def _people(bench: Bench, shares: Sequence[int]) -> list[float]:
    n = bench.workloads[-1].ratings.n_users
    return [float(n if share == 100 else max(1, n * share // 100)) for share in shares]


def _refuse_few(bench: Bench) -> None:
    n = bench.workloads[-1].ratings.n_users
    if n < 2 * K:
        raise Untestable(f"{n:,} people: a tenth of them are too few to be compared")


def over_share(bench: Bench, way: str) -> Estimate:
    """Hold the work at each share against that at the share before."""
    _refuse_few(bench)
    people = _people(bench, SHARES)
    runs = _works(bench, way, ["slicing"], [{"eps": bench.grid.star, "share": s} for s in SHARES])
    return estimate(runs, lambda mean: min(_steps(_courses(mean, "slicing", people))),
                    seed=bench.seeds[0])  # fmt: skip


def _steps(course: Sequence[float]) -> list[float]:
    return [after / before for before, after in pairwise(course)]


def dip(bench: Bench, way: str) -> Estimate:
    """Tell whether the work over ε falls to an inner ε and rises from there."""
    runs = _works(bench, way, ["slicing"], [{"eps": eps} for eps in bench.grid.eps])

    def statistic(mean: Means) -> float:
        course = _courses(mean, "slicing")
        least = min(range(1, len(course) - 1), key=lambda i: course[i])
        return max(course[least] / course[0], *(1 / step for step in _steps(course[least:])))

    return estimate(runs, statistic, seed=bench.seeds[0])


def over_k(bench: Bench, way: str) -> Estimate:
    """Hold the work at each k against that at the k before."""
    at = [{"eps": 2 * bench.grid.star, "k": k} for k in KS]
    runs = _works(bench, way, ["slicing"], at)
    return estimate(runs, lambda mean: max(_steps(_courses(mean, "slicing"))), seed=bench.seeds[0])


def over_l(bench: Bench, way: str) -> Estimate:
    """Hold the work at each l against that at the l before."""
    at = [{"eps": 2 * bench.grid.star, "l": l} for l in bench.grid.l]  # noqa: E741
    runs = _works(bench, way, ["slicing"], at)
    return estimate(runs, lambda mean: min(_steps(_courses(mean, "slicing"))), seed=bench.seeds[0])


_BOTH = ("pairwise", "slicing")


def _times(means: Means) -> list[float]:
    both = (_courses(means, search) for search in _BOTH)
    return [pairs / slices for pairs, slices in zip(*both, strict=True)]


def times_as_fast(bench: Bench, way: str) -> Estimate:
    """Hold every pair's work against slicing's, on all the data."""
    runs = _works(bench, way, _BOTH, [{"eps": bench.grid.star}])
    return estimate(runs, lambda mean: _times(mean)[0], seed=bench.seeds[0])


def gain_with_data(bench: Bench, way: str) -> Estimate:
    """Hold that ratio on all the data against the ratio on a tenth."""
    _refuse_few(bench)
    runs = _works(bench, way, _BOTH, [{"eps": bench.grid.star, "share": s} for s in (10, 100)])
    return estimate(runs, lambda mean: _steps(_times(mean))[0], seed=bench.seeds[0])


def gain_with_items(bench: Bench, way: str) -> Estimate:
    """Hold that ratio on all items against the ratio on a tenth of them."""
    runs = _over_items(bench, way, (10, 1))
    return estimate(runs, lambda mean: _steps(_times(mean))[0], seed=bench.seeds[0])


def _over_items(bench: Bench, way: str, parts: Sequence[int]) -> list[dict[str, Floats]]:
    nulls = reading_of(way).nulls
    p = len(bench.ranking)
    if p < 2 * max(parts):
        raise Untestable(f"{p} items: too few to take a {max(parts)}th of them")
    at = [{"eps": bench.grid.star, "reading": Reading(str(p // i), nulls)} for i in parts]
    return _works(bench, "", _BOTH, at)


def elasticity_of_items(bench: Bench, way: str) -> Estimate:
    """Tell how slicing's work grows with the items, the most rated first."""
    parts = (100, 10, 1) if len(bench.ranking) >= 200 else (10, 1)
    runs = _over_items(bench, way, parts)
    sizes = np.log([len(bench.ranking) // i for i in parts])

    def slope(mean: Means) -> float:
        return float(np.polyfit(sizes, np.log(_courses(mean, "slicing")), 1)[0])

    return estimate(runs, slope, seed=bench.seeds[0])


def middle_times(bench: Bench, way: str) -> Estimate:
    """Return the middle ratio of every pair's work to slicing's over ε."""
    return _times_over(bench, way, median, [{"eps": eps} for eps in bench.grid.eps])


def least_over_eps(bench: Bench, way: str) -> Estimate:
    """Return the least such ratio over ε."""
    return _times_over(bench, way, min, [{"eps": eps} for eps in bench.grid.eps])


def least_times(bench: Bench, way: str) -> Estimate:
    """Return the least such ratio over k and l."""
    two = 2 * bench.grid.star
    at = [{"eps": two, "k": k} for k in KS] + [{"eps": two, "l": l} for l in bench.grid.l]  # noqa: E741
    return _times_over(bench, way, min, at)


def _times_over(
    bench: Bench, way: str, pick: Callable[[list[float]], float], at: list[dict[str, Any]]
) -> Estimate:
    runs = _works(bench, way, _BOTH, at)
    return estimate(runs, lambda mean: pick(_times(mean)), seed=bench.seeds[0])


def exhaustive_share(bench: Bench, way: str, eps: float | None = None) -> Estimate:
    """Return the share of slicing's work that is comparing within the cubes."""
    eps = bench.grid.star if eps is None else eps
    reading = reading_of(way)
    without = Reading(reading.items, reading.nulls, cliques=False)
    runs = [
        {
            "all": bench.work("slicing", eps, seed, reading=reading),
            "slices": bench.work("slicing", eps, seed, reading=without),
        }
        for seed in bench.seeds
    ]
    return estimate(runs, lambda mean: 1 - mean["slices"] / mean["all"], seed=bench.seeds[0])


def exhaustive_at_end(bench: Bench, way: str) -> Estimate:
    """Return that share at the widest ε."""
    return exhaustive_share(bench, way, bench.grid.eps[-1])


def room(bench: Bench, way: str) -> Estimate:
    """Hold the order and one list of candidates against the matrix of distances."""
    n = bench.workloads[-1].ratings.n_users
    return Estimate.exact(2 * n / (n * (n - 1) / 2))


# -- the interval anonymizer


def _releases(
    bench: Bench, way: str, settings: Sequence[tuple[int, float]], name: str
) -> list[dict[str, Floats]]:
    nulls = "ignore" if way == "ignore" else "strict"
    partition = "cluster" if way == "cluster" else "whole"
    runs = []
    for seed in bench.seeds:
        parts = [bench.release(nulls, partition, k, eps, seed) for k, eps in settings]  # type: ignore[arg-type]
        refused = next((str(part["refused"]) for part in parts if "refused" in part), "")
        if refused:
            raise Untestable(refused)
        runs.append({f"{i}": part[name].astype(float) for i, part in enumerate(parts)})
    return runs


def _over_eps(bench: Bench) -> list[tuple[int, float]]:
    return [(2 * K, eps) for eps in bench.grid.eps]


def _over_ks(bench: Bench) -> list[tuple[int, float]]:
    return [(k, 2 * bench.grid.star) for k in KS]


def loss_over_eps(bench: Bench, way: str) -> Estimate:
    """Return the greatest step of distortion over ε."""
    runs = _releases(bench, way, _over_eps(bench), "distortion")
    return estimate(runs, lambda mean: float(max(np.diff(list(mean.values())))),
                    seed=bench.seeds[0])  # fmt: skip


def loss_over_k(bench: Bench, way: str) -> Estimate:
    """Return the least step of distortion over k."""
    runs = _releases(bench, way, _over_ks(bench), "distortion")
    return estimate(runs, lambda mean: float(min(np.diff(list(mean.values())))),
                    seed=bench.seeds[0])  # fmt: skip


def loss_at_end(bench: Bench, way: str) -> Estimate:
    """Return what ε = R costs."""
    runs = _releases(bench, way, _over_eps(bench)[-1:], "distortion")
    return estimate(runs, lambda mean: mean["0"], seed=bench.seeds[0])


def cluster_beyond_whole(bench: Bench, way: str) -> Estimate:
    """Return by how much clusters cost more at the worst."""
    at = [*_over_eps(bench), *_over_ks(bench)]
    both = [_releases(bench, way, at, "distortion") for way in ("cluster", "")]
    return Estimate.exact(
        max(
            float(one[name].mean() - other[name].mean())
            for one, other in zip(*both, strict=True)
            for name in one
        )
    )


def distortion_and_means(bench: Bench, way: str) -> Estimate:
    """Correlate ranks of distortion and of the error of items' means, over releases."""
    from scipy.stats import spearmanr

    at = [*_over_eps(bench)[:-1], *_over_ks(bench)]
    names = ("distortion", "means")
    lost, moved = (_releases(bench, way, at, name) for name in names)
    runs = [
        {f"d{name}": one[name] for name in one} | {f"m{name}": other[name] for name in other}
        for one, other in zip(lost, moved, strict=True)
    ]

    if not all(np.ptp([run[name].mean() for name in run if name[0] == letter])
               for run in runs for letter in "dm"):  # fmt: skip
        raise Untestable("all releases distort alike")

    def correlation(mean: Means) -> float:
        both = ([mean[name] for name in mean if name[0] == letter] for letter in "dm")
        return float(spearmanr(*both).statistic)

    return estimate(runs, correlation, seed=bench.seeds[0])


def failing_after(bench: Bench, way: str) -> Estimate:
    """Count failing records over all releases."""
    runs = _releases(bench, way, [*_over_eps(bench), *_over_ks(bench)], "failing")
    return Estimate.exact(max(float(run[name][0]) for run in runs for name in run))


def best_chance(bench: Bench, way: str) -> Estimate:
    """Return k times the best chance of an adversary."""
    alike = "ball" if way == "the ball alike" else "alike"
    runs = _releases(bench, "", [(K, bench.grid.star)], alike)
    return estimate(runs, lambda mean: K / mean["0"], seed=bench.seeds[0])


def prediction_moved(bench: Bench, way: str) -> Estimate:
    """Return how far balanced accuracy or AUC move at the most; none where nothing is told."""
    names = [name for name in bench.attributes if _is_told(bench, name)]
    if not names:
        raise Untestable("no attribute is told by the original: AUC is not above one half")
    worst = (_moved(bench, way, name) for name in names)
    return max(worst, key=lambda found: found.value)


def _is_told(bench: Bench, attribute: str) -> bool:
    runs = _predictions(bench, "", attribute)
    found = estimate(runs, lambda mean: mean["before 2 0"], seed=bench.seeds[0])
    return found.low > 0.5


def _moved(bench: Bench, way: str, attribute: str) -> Estimate:
    runs = _predictions(bench, way, attribute)
    at = [name.removeprefix("after ") for name in runs[0] if name.startswith("after ")]
    places = [name for name in at if name[0] in "12"]

    def statistic(mean: Means) -> float:
        return max(abs(mean[f"after {name}"] - mean[f"before {name}"]) for name in places)

    return estimate(runs, statistic, seed=bench.seeds[0])


def accuracy_after(bench: Bench, way: str) -> Estimate:
    """Return how often the first attribute is right, over k."""
    if not bench.attributes:
        raise Untestable("the data have no attribute with 2 to 25 classes")
    runs = _predictions(bench, way, bench.attributes[0])
    names = [name for name in runs[0] if name.startswith("after 0")]
    return estimate(runs, lambda mean: sum(mean[name] for name in names) / len(names),
                    seed=bench.seeds[0])  # fmt: skip


def _predictions(bench: Bench, way: str, attribute: str) -> list[dict[str, Floats]]:
    """Return, run by run, trials' "before 0 1": score 0 of the original at the second k."""
    from starshade.audit.reproduction.sr.measured import PREDICTED_KS

    nulls = "ignore" if way == "ignore" else "strict"
    partition = "cluster" if way == "cluster" else "whole"
    runs = []
    for seed in bench.seeds:
        run = {}
        for i, k in enumerate(PREDICTED_KS):
            part = bench.predicted(attribute, nulls, partition, k, seed)  # type: ignore[arg-type]
            if "refused" in part:
                raise Untestable(str(part["refused"]))
            for score in range(3):
                run[f"before {score} {i}"] = part["before"][:, score]
                run[f"after {score} {i}"] = part["after"][:, score]
        runs.append(run)
    return runs
