"""The statistics of SR's claims; each takes the bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.claims import Estimate, Untestable
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.measured import KS, PREDICTED_KS, SHARES, K
from starshade.audit.reproduction.sr.work import MOST_RATED, PRINTED, Reading, reading_of

Measure: TypeAlias = Callable[[Bench, str], Estimate]
Means: TypeAlias = Mapping[str, float]
Floats: TypeAlias = NDArray[np.float64]
Settings: TypeAlias = Sequence[dict[str, Any]]


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
    parts = [bench.cells(reading_of(way), 0, seed) for seed in bench.seeds]
    runs = [
        {"cells": (1 + part["cells"] / len(part["ball"])) / int(part["items"])} for part in parts
    ]
    return bench.over(runs, lambda mean: mean["cells"])


# -- slicing and comparing every pair


def _works(
    bench: Bench, reading: Reading, searches: Sequence[str], at: Settings
) -> list[dict[str, Floats]]:
    """Return, seed by seed, the work of each search in each setting; users drawn are summed up."""
    asked: dict[str, Any] = {"k": K, "l": 2 * bench.grid.star, "reading": reading}
    runs = []
    for seed in bench.seeds:
        run = {}
        for i, setting in enumerate(at):
            options = asked | setting
            for search in searches:
                work = bench.work(search, seed=seed, **options)
                # of people drawn, or of those up to the first failure, only the sum says something
                alone = reading.first or reading.covered or options.get("share", 100) < 100
                run[f"{search} {i}"] = work.mean(keepdims=True) if alone else work
        runs.append(run)
    return runs


def _courses(means: Means, search: str) -> list[float]:
    return [mean for name, mean in means.items() if name.startswith(search)]


def _steps(course: Sequence[float]) -> list[float]:
    return [after / before for before, after in pairwise(course)]


def _of_slicing(
    bench: Bench, reading: Reading, at: Settings, statistic: Callable[[list[float]], float]
) -> Estimate:
    runs = _works(bench, reading, ["slicing"], at)
    return bench.over(runs, lambda mean: statistic(_courses(mean, "slicing")))


def _of_ratios(
    bench: Bench, reading: Reading, at: Settings, statistic: Callable[[list[float]], float]
) -> Estimate:
    """Take a statistic of the ratios of every pair's work to slicing's."""
    runs = _works(bench, reading, ("pairwise", "slicing"), at)

    def of(mean: Means) -> float:
        both = (_courses(mean, search) for search in ("pairwise", "slicing"))
        return statistic([pairs / slices for pairs, slices in zip(*both, strict=True)])

    return bench.over(runs, of)


def _shares(bench: Bench, shares: Sequence[int]) -> Settings:
    if (n := bench.workloads[-1].ratings.n_users) < 2 * K:
        raise Untestable(f"{n:,} people: a tenth of them are too few to be compared")
    return [{"eps": bench.grid.star, "share": share} for share in shares]


def _eps(bench: Bench, way: str = "") -> Settings:
    last = -1 if way == "below R" else None
    return [{"eps": eps} for eps in bench.grid.eps[:last]]


def _k(bench: Bench) -> Settings:
    return [{"eps": 2 * bench.grid.star, "k": k} for k in KS]


def _l(bench: Bench) -> Settings:
    return [{"eps": 2 * bench.grid.star, "l": l} for l in bench.grid.l]  # noqa: E741


def over_share(bench: Bench, way: str) -> Estimate:
    """Hold the work at each share against that at the share before."""
    n = bench.workloads[-1].ratings.n_users
    people = [n if share == 100 else n * share // 100 for share in SHARES]

    def least(course: list[float]) -> float:
        return min(_steps(np.multiply(course, people).tolist()))

    return _of_slicing(bench, reading_of(way), _shares(bench, SHARES), least)


def dip(bench: Bench, way: str) -> Estimate:
    """Tell whether the work over ε falls to an inner ε and rises from there."""

    def statistic(course: list[float]) -> float:
        least = 1 + int(np.argmin(course[1:-1]))
        return max(course[least] / course[0], *(1 / step for step in _steps(course[least:])))

    return _of_slicing(bench, reading_of(way), _eps(bench), statistic)


def over_k(bench: Bench, way: str) -> Estimate:
    """Hold the work at each k against that at the k before."""
    reading = _where_groups_are(bench, way, KS[0])
    return _of_slicing(bench, reading, _k(bench), lambda course: max(_steps(course)))


def over_l(bench: Bench, way: str) -> Estimate:
    """Hold the work at the greatest l against that at l = 0."""
    reading = _where_groups_are(bench, way, K)
    return _of_slicing(bench, reading, _l(bench), lambda course: course[-1] / course[0])


def _where_groups_are(bench: Bench, way: str, k: int) -> Reading:
    """Return the reading; where no ball has k, neither k nor l are ever asked."""
    reading = reading_of(way, MOST_RATED)
    if bench.cells(reading, 2 * bench.grid.star, bench.seeds[0])["ball"].max() < k:
        raise Untestable(f"nobody has {k} within ε: neither k nor l makes a difference")
    return reading


def times_as_fast(bench: Bench, way: str) -> Estimate:
    """Hold every pair's work against slicing's, on all the data."""
    return _of_ratios(bench, reading_of(way), [{"eps": bench.grid.star}], min)


def gain_with_data(bench: Bench, way: str) -> Estimate:
    """Hold that ratio on all the data against the ratio on a tenth."""
    at = _shares(bench, (10, 100))
    return _of_ratios(bench, reading_of(way), at, lambda ratios: _steps(ratios)[0])


def gain_with_items(bench: Bench, way: str) -> Estimate:
    """Hold that ratio on all items against the ratio on a tenth of them."""
    at = _items(bench, way, (10, 1))
    return _of_ratios(bench, PRINTED, at, lambda ratios: _steps(ratios)[0])


def _items(bench: Bench, way: str, parts: Sequence[int]) -> Settings:
    if (p := len(bench.ranking)) < 2 * max(parts):
        raise Untestable(f"{p} items: too few to take a {max(parts)}th of them")
    nulls = reading_of(way).nulls
    return [{"eps": bench.grid.star, "reading": Reading(str(p // i), nulls)} for i in parts]


def elasticity_of_items(bench: Bench, way: str) -> Estimate:
    """Tell how slicing's work grows with the items, the most rated first."""
    parts = (100, 10, 1) if len(bench.ranking) >= 200 else (10, 1)
    sizes = np.log([max(1, len(bench.ranking) // i) for i in parts])
    return _of_slicing(bench, PRINTED, _items(bench, way, parts),
                       lambda course: float(np.polyfit(sizes, np.log(course), 1)[0]))  # fmt: skip


def middle_times(bench: Bench, way: str) -> Estimate:
    """Return the middle ratio of every pair's work to slicing's over ε."""
    return _of_ratios(bench, reading_of(way), _eps(bench, way), median)


def least_over_eps(bench: Bench, way: str) -> Estimate:
    """Return the least such ratio over ε."""
    return _of_ratios(bench, reading_of(way), _eps(bench, way), min)


def least_times(bench: Bench, way: str) -> Estimate:
    """Return the least such ratio over k and l."""
    return _of_ratios(bench, reading_of(way), [*_k(bench), *_l(bench)], min)


def exhaustive_share(bench: Bench, way: str, eps: float | None = None) -> Estimate:
    """Return the share of slicing's work that is comparing within the cubes."""
    eps = bench.grid.star if eps is None else eps
    of = {"all": reading_of(way), "slices": reading_of("ball", reading_of(way))}
    runs = [
        {name: bench.work("slicing", eps, seed, reading=reading) for name, reading in of.items()}
        for seed in bench.seeds
    ]
    return bench.over(runs, lambda mean: 1 - mean["slices"] / mean["all"])


def exhaustive_at_end(bench: Bench, way: str) -> Estimate:
    """Return that share at the widest ε."""
    return exhaustive_share(bench, way, bench.grid.eps[-1])


def room(bench: Bench, way: str) -> Estimate:
    """Hold the order and one list of candidates against the matrix of distances."""
    n = bench.workloads[-1].ratings.n_users
    return Estimate.exact(2 * n / (n * (n - 1) / 2))


# -- the interval anonymizer


def _changed(way: str) -> tuple[Any, Any]:
    """Return the null rule, and what is clipped as one."""
    return "ignore" if way == "ignore" else "strict", "cluster" if way == "cluster" else "whole"


def _testable(parts: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    for part in parts:
        if "refused" in part:
            raise Untestable(str(part["refused"]))
    return parts


def _releases(
    bench: Bench, way: str, settings: Sequence[tuple[int, float]], name: str, *, every: bool = True
) -> list[dict[str, Floats]]:
    """Return a figure of each release, run by run; unless `every`, of those that were made."""
    runs = []
    for seed in bench.seeds:
        parts = [bench.release(*_changed(way), k, eps, seed) for k, eps in settings]
        if every or all("refused" in part for part in parts):
            _testable(parts)
        made = ((i, part) for i, part in enumerate(parts) if "refused" not in part)
        runs.append({f"{i}": part[name].astype(float) for i, part in made})
    return runs


def _over_eps(bench: Bench) -> list[tuple[int, float]]:
    return [(2 * K, eps) for eps in bench.grid.eps]


def _over_ks(bench: Bench) -> list[tuple[int, float]]:
    return [(k, 2 * bench.grid.star) for k in KS]


def loss_over_eps(bench: Bench, way: str) -> Estimate:
    """Return the greatest step of distortion over ε."""
    runs = _releases(bench, way, _over_eps(bench), "distortion")
    return bench.over(runs, lambda mean: float(np.diff([*mean.values()]).max()))


def loss_over_k(bench: Bench, way: str) -> Estimate:
    """Return the least step of distortion over k."""
    runs = _releases(bench, way, _over_ks(bench), "distortion")
    return bench.over(runs, lambda mean: float(np.diff([*mean.values()]).min()))


def loss_at_end(bench: Bench, way: str) -> Estimate:
    """Return what ε = R costs."""
    runs = _releases(bench, way, _over_eps(bench)[-1:], "distortion")
    return bench.over(runs, lambda mean: mean["0"])


def cluster_beyond_whole(bench: Bench, way: str) -> Estimate:
    """Return by how much clusters cost more at the worst."""
    at = [*_over_eps(bench), *_over_ks(bench)]
    both = [_releases(bench, way, at, "distortion", every=False) for way in ("cluster", "")]
    return Estimate.exact(
        max(
            float(one[name].mean() - other[name].mean())
            for one, other in zip(*both, strict=True)
            for name in one.keys() & other.keys()
        )
    )


def distortion_and_means(bench: Bench, way: str) -> Estimate:
    """Correlate ranks of distortion and of the error of items' means, over releases."""
    from scipy.stats import spearmanr

    at = [*_over_eps(bench)[:-1], *_over_ks(bench)]
    names = ("distortion", "means")
    both = [_releases(bench, way, at, name) for name in names]
    runs = [
        {f"{name} {i}": run[i] for name, run in zip(names, seed, strict=True) for i in run}
        for seed in zip(*both, strict=True)
    ]
    if not all(np.ptp([run[i].mean() for i in run]) for of in both for run in of):
        raise Untestable("all releases distort alike")
    return bench.over(
        runs, lambda mean: float(spearmanr(*(_courses(mean, name) for name in names)).statistic)
    )


def failing_after(bench: Bench, way: str) -> Estimate:
    """Count failing records over all releases."""
    at = [*_over_eps(bench), *_over_ks(bench)]
    runs = _releases(bench, way, at, "failing", every=False)
    return Estimate.exact(max(float(run[name][0]) for run in runs for name in run))


def best_chance(bench: Bench, way: str) -> Estimate:
    """Return k times the best chance of an adversary."""
    alike = "ball" if way == "the ball alike" else "alike"
    runs = _releases(bench, "", [(K, bench.grid.star)], alike)
    return bench.over(runs, lambda mean: K / mean["0"])


# -- what ratings tell of a person


def prediction_moved(bench: Bench, way: str) -> Estimate:
    """Return how far balanced accuracy or AUC move at the most; none where nothing is told."""

    def auc(at: int) -> Estimate:
        return bench.over(_predictions(bench, ""), lambda mean: mean[f"before {at} 2 0"])

    def moved(at: int) -> Estimate:
        names = [f"{at} {score} {i}" for score in (1, 2) for i in range(len(PREDICTED_KS))]
        return bench.over(
            _predictions(bench, way),
            lambda mean: max(abs(mean[f"after {name}"] - mean[f"before {name}"]) for name in names),
        )

    told = [at for at in range(len(bench.attributes)) if auc(at).low > 0.5]
    if not told and _predictions(bench, way):
        raise Untestable("no attribute is told by the original: AUC is not above one half")
    return max(map(moved, told), key=lambda found: found.value)


def accuracy_after(bench: Bench, way: str) -> Estimate:
    """Return how often the first attribute is right, over k."""
    when = "before" if way == "untouched" else "after"
    runs = _predictions(bench, way)
    return bench.over(runs, lambda mean: float(np.mean(_courses(mean, f"{when} 0 0"))))


def _predictions(bench: Bench, way: str) -> list[dict[str, Floats]]:
    """Return, run by run, trials' "before 1 0 2": attribute 1's score 0 at the third k."""
    if not bench.attributes:
        raise Untestable("the data have no attribute with 2 to 25 classes")
    runs = []
    for seed in bench.seeds:
        parts = [bench.predicted(*_changed(way), k, seed) for k in PREDICTED_KS]
        runs.append({
            f"{when} {at} {score} {i}": part[when][at, :, score]
            for i, part in enumerate(_testable(parts))
            for at in range(len(bench.attributes))
            for score in range(3)
            for when in ("before", "after")
        })  # fmt: skip
    return runs
