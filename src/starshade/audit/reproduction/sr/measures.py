"""The statistics of SR's claims; each takes the bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.graphs import with_neighbours
from starshade.audit.reproduction.sr.measured import KS, PREDICTED_KS, SHARES, K
from starshade.audit.reproduction.sr.work import MOST_RATED, PRINTED, Reading, reading_of

Measure: TypeAlias = Callable[[Bench, str], Estimate]
Means: TypeAlias = Mapping[str, float]
Floats: TypeAlias = NDArray[np.float64]
Settings: TypeAlias = Sequence[dict[str, Any]]


def size(name: str) -> Measure:
    """Count the ratings, or the users."""
    return lambda bench, way: Estimate.exact(getattr(bench.ratings, f"n_{name}"))


def sizes(**said: int) -> Measure:
    """Count the sizes that are as said."""
    return lambda bench, way: Estimate.exact(
        sum(getattr(bench.ratings, f"n_{name}") == number for name, number in said.items())
    )


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
    """Return, seed by seed, the work of each search in each setting, a person of all."""
    asked: dict[str, Any] = {"k": K, "l": 2 * bench.grid.star, "reading": reading}
    runs = []
    for seed in bench.seeds:
        run = {}
        for (i, setting), search in product(enumerate(at), searches):
            options = asked | setting
            work = bench.work(search, seed=seed, **options)
            # of people drawn, or of those up to the first failure, only the sum says something
            if reading.first or reading.covered or options.get("share", 100) < 100:
                work = np.array([work.sum() / bench.part(reading.items).ratings.n_users])
            run[f"{search} {i}"] = work
        runs.append(run)
    return runs


def _courses(means: Means, search: str) -> list[float]:
    return [mean for name, mean in means.items() if name.startswith(search)]


def _steps(course: Sequence[float]) -> list[float]:
    return [after / before for before, after in pairwise(course)]


_At: TypeAlias = Callable[[Bench, str], Settings]
_Of: TypeAlias = Callable[[list[float]], float]


def _slicing(at: _At, statistic: _Of, base: Reading = PRINTED) -> Measure:
    """Take a statistic of slicing's works in some settings."""

    def measure(bench: Bench, way: str) -> Estimate:
        runs = _works(bench, reading_of(way, base), ["slicing"], at(bench, way))
        return bench.over(runs, lambda mean: statistic(_courses(mean, "slicing")))

    return measure


def _ratios(at: _At, statistic: _Of) -> Measure:
    """Take a statistic of the ratios of every pair's work to slicing's."""

    def measure(bench: Bench, way: str) -> Estimate:
        runs = _works(bench, reading_of(way), ("pairwise", "slicing"), at(bench, way))
        return bench.over(runs, lambda mean: statistic(_divided(mean)))

    return measure


def _divided(mean: Means) -> list[float]:
    both = (_courses(mean, search) for search in ("pairwise", "slicing"))
    return [pairs / slices for pairs, slices in zip(*both, strict=True)]


def _star(bench: Bench, way: str) -> Settings:
    return [{"eps": bench.grid.star}]


def _eps(bench: Bench, way: str) -> Settings:
    return [{"eps": eps} for eps in bench.grid.eps[: -1 if way == "below R" else None]]


def _shares(*shares: int) -> _At:
    def at(bench: Bench, way: str) -> Settings:
        if (n := bench.workloads[-1].ratings.n_users) < 2 * K:
            raise Untestable(f"{n:,} people: a tenth is too few to compare")
        return [{"eps": bench.grid.star, "share": share} for share in shares]

    return at


def _ks(bench: Bench, way: str) -> Settings:
    return _where_groups_are(bench, way, [{"k": k} for k in KS])


def _ls(bench: Bench, way: str) -> Settings:
    return _where_groups_are(bench, way, [{"k": K, "l": l} for l in bench.grid.l])  # noqa: E741


def _where_groups_are(bench: Bench, way: str, at: Settings) -> Settings:
    eps, k = 2 * bench.grid.star, at[0]["k"]
    if bench.cells(reading_of(way, MOST_RATED), eps, bench.seeds[0])["ball"].max() < k:
        raise Untestable(f"no record has {k} within ε: neither k nor l makes a difference")
    return [{"eps": eps, **setting} for setting in at]


def _items(*parts: int) -> _At:
    def at(bench: Bench, way: str) -> Settings:
        if (p := len(bench.ranking)) < 2 * max(parts):
            raise Untestable(f"{p} items: too few to take a {max(parts)}th of them")
        readings = [replace(reading_of(way), items=str(p // i)) for i in parts]
        return [{"eps": bench.grid.star, "reading": reading} for reading in readings]

    return at


def _dip(course: list[float]) -> float:
    """Tell whether it falls to an inner place and rises from there."""
    least = 1 + int(np.argmin(course[1:-1]))
    return max(course[least] / course[0], *(1 / step for step in _steps(course[least:])))


def _growth(course: list[float]) -> float:
    return course[-1] / course[0]


over_share = _slicing(_shares(*SHARES), lambda course: min(_steps(course)))
dip = _slicing(_eps, _dip)
over_k = _slicing(_ks, lambda course: max(_steps(course)), MOST_RATED)
over_l = _slicing(_ls, _growth, MOST_RATED)
times_as_fast = _ratios(_star, min)
gain_with_data = _ratios(_shares(10, 100), _growth)
gain_with_items = _ratios(_items(10, 1), _growth)
middle_times = _ratios(_eps, median)
least_over_eps = _ratios(_eps, min)


search_over_eps = _slicing(
    _eps, lambda course: max(_steps(course)), replace(PRINTED, cliques=False)
)
elasticity_of_records = _slicing(
    _shares(*SHARES), lambda course: float(np.polyfit(np.log(SHARES), np.log(course), 1)[0])
)


def least_times(bench: Bench, way: str) -> Estimate:
    """Return the least ratio over k and l."""
    two = 2 * bench.grid.star
    at = [*({"eps": two, "k": k} for k in KS), *({"eps": two, "l": l} for l in bench.grid.l)]  # noqa: E741
    return _ratios(lambda bench, way: at, min)(bench, way)


def elasticity_of_items(bench: Bench, way: str) -> Estimate:
    """Tell how slicing's work grows with the items, the most rated first."""
    parts = (100, 10, 1) if len(bench.ranking) >= 200 else (10, 1)
    sizes = [max(1, len(bench.ranking) // i) for i in parts]
    return _slicing(
        _items(*parts), lambda course: float(np.polyfit(np.log(sizes), np.log(course), 1)[0])
    )(bench, way)


def exhaustive_share(bench: Bench, way: str, eps: float | None = None) -> Estimate:
    """Return the share of slicing's work that is comparing within the cubes."""
    eps = bench.grid.star if eps is None else eps
    of = {"all": reading_of(way), "slices": reading_of("ball", reading_of(way))}
    with_neighbours(bench.cells(of["all"], eps, bench.seeds[0])["ball"].astype(float))
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


def error_of_means(bench: Bench, way: str) -> Estimate:
    """Return by how much items' means are off in a release, in stars."""
    runs = _releases(bench, way, [(K, 2 * bench.grid.star)], "means")
    return bench.over(runs, lambda mean: mean["0"] / bench.grid.star)


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
        raise Untestable("all releases have the same distortion")
    return bench.over(
        runs, lambda mean: float(spearmanr(*(_courses(mean, name) for name in names)).statistic)
    )


def failing_after(bench: Bench, way: str) -> Estimate:
    """Count failing records over all releases."""
    at = [*_over_eps(bench), *_over_ks(bench)]
    runs = _releases(bench, way, at, "failing", every=False)
    return Estimate.exact(max(float(run[name][0]) for run in runs for name in run))


def best_chance(bench: Bench, way: str) -> Estimate:
    """Return k times the best chance of an adversary to whom all within ε are the same."""
    runs = _releases(bench, way, [(K, bench.grid.star)], "ball")
    return bench.over(runs, lambda mean: K / mean["0"])


def chance_over_k(bench: Bench, way: str) -> Estimate:
    """Hold that adversary's best chance at each k against that at the k before."""
    runs = _releases(bench, way, _over_ks(bench), "ball")
    return bench.over(runs, lambda mean: max(1 / step for step in _steps([*mean.values()])))


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
        raise Untestable("the original predicts no attribute: AUC is not above 0.5")
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
