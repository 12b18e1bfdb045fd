"""The statistics of SR's claims on balls: chains, spreads, chances, partitions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.claims import Estimate, Untestable, estimate
from starshade.audit.reproduction.parts import Part
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.measured import KS, K
from starshade.audit.reproduction.sr.work import reading_of
from starshade.kernels.balls.cliques import seek_cliques
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.proximity.graph_result import ProximityGraph
from starshade.ratings.proximity.balls import ball_members, ball_sizes
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

Floats = NDArray[np.float64]


def _nulls(way: str) -> NullRule:
    return reading_of(way).nulls


def _adjacency(bench: Bench, nulls: NullRule, eps: float) -> NDArray[np.bool_]:
    space = bench.space("top", nulls, eps)
    n = space.n_records
    if n > 20_000:
        raise Untestable(f"{n:,} records: a matrix of all pairs does not fit")
    indptr, members = ball_members(space, np.arange(n))
    near = np.zeros((n, n), np.bool_)
    near[np.repeat(np.arange(n), np.diff(indptr)), members] = True
    return near


def open_chains(bench: Bench, way: str) -> Estimate:
    """Count chains a-b-c whose ends are apart, record by record."""

    def make() -> Part:
        near = _adjacency(bench, _nulls(way), bench.grid.star)
        np.fill_diagonal(near, False)
        degree = near.sum(axis=1).astype(float)
        whole = near.astype(np.float32)
        closed = ((whole @ whole) * whole).sum(axis=1) / 2
        return {"chains": degree * (degree - 1) / 2, "closed": closed}

    part = bench.parts.of(f"chains {_nulls(way)}", make)
    if not part["chains"].sum():
        raise Untestable("no record has two neighbours")
    return estimate([part], lambda mean: 1 - mean["closed"] / mean["chains"], seed=bench.seeds[0])


def _balls(bench: Bench, items: str, nulls: NullRule, eps: float) -> Part:
    def make() -> Part:
        space = bench.space(items, nulls, eps)
        return {"ball": ball_sizes(space)}

    return bench.parts.of(f"balls {items} {nulls} {eps:g}", make)


def mean_neighbours(bench: Bench, way: str) -> Estimate:
    """Return how many others lie within ε of a record."""
    ball = _balls(bench, "top", _nulls(way), bench.grid.star)["ball"].astype(float)
    return estimate([{"ball": ball - 1}], lambda mean: mean["ball"], seed=bench.seeds[0])


def mean_ball(bench: Bench, way: str) -> Estimate:
    """Return the mean ball as a share of the records."""
    ball = _balls(bench, reading_of(way).items, _nulls(way), bench.grid.star)["ball"]
    run = {"ball": ball / len(ball)}
    return estimate([run], lambda mean: mean["ball"], seed=bench.seeds[0])


def chance_over_eps(bench: Bench, way: str) -> Estimate:
    """Hold the mean chance 1/|ball| at each ε against that at the ε before."""
    balls = [_balls(bench, "top", _nulls(way), eps)["ball"] for eps in bench.grid.eps]
    run = {str(i): 1 / ball for i, ball in enumerate(balls)}

    def statistic(mean: Any) -> float:
        return float(max(after / before for before, after in pairwise(mean.values())))

    return estimate([run], statistic, seed=bench.seeds[0])


def distinct_over_eps(bench: Bench, way: str) -> Estimate:
    """Hold the number of distinct balls at each ε against that at the ε before."""
    reading = reading_of(way)

    def make() -> Part:
        found = []
        for eps in bench.grid.eps:
            space = bench.space(reading.items, reading.nulls, eps)
            if space.rule.everybody:
                found.append(1)
                continue
            indptr, members = ball_members(space, np.arange(space.n_records))
            found.append(len({members[a:b].tobytes() for a, b in pairwise(indptr.tolist())}))
        return {"distinct": np.array(found)}

    distinct = bench.parts.of(f"distinct {reading.items} {reading.nulls}", make)["distinct"]
    steps = (after / before for before, after in pairwise(distinct.tolist()))
    return Estimate.exact(max(steps))


def groups_beyond_balls(bench: Bench, way: str) -> Estimate:
    """Count records in a group that was found and is larger than their ball."""
    beyond = 0
    for eps in bench.grid.eps[:-1]:
        space = bench.space("top", "ignore", eps)
        indptr, members = ball_members(space, np.arange(space.n_records))
        size, _ = seek_cliques(indptr, members, min(K, space.n_records))
        beyond += int((size > np.diff(indptr)).sum())
    return Estimate.exact(beyond)


def false_proofs(bench: Bench, way: str) -> Estimate:
    """Count partitions into cliques where the check fails all the same."""
    false = tried = 0
    for nulls in bench.top.rules:
        for eps in bench.grid.eps[:-1]:
            graph = ProximityGraph(eps, bench.top.sensitive, nulls).of(bench.top.ratings)
            for k in (2, 5, K):
                if k > graph.records:
                    continue
                found = graph.decomposed(k).decomposition
                if found is not None and found.outcome == "found":
                    tried += 1
                    model = KEpsAnonymity(k, eps, bench.top.sensitive, nulls)
                    false += not model.check(bench.top.ratings).satisfied
    if not tried:
        raise Untestable("no partition into cliques was found here")
    return Estimate.exact(false)


# -- sensitive ratings


def _spreads(bench: Bench, nulls: NullRule, *, dense: bool) -> tuple[Part, float]:
    """Return each ball's size, spread and most common rating, of the first sensitive item."""
    ratings, eps = bench.top.ratings, bench.grid.star
    column = ratings.dense()[:, ratings.items.indices(list(bench.top.sensitive))[0]]

    def make() -> Part:
        near = _adjacency(bench, nulls, eps)
        rows = []
        for own in near:
            values = column[own]
            rated = values[~np.isnan(values)]
            if not len(rated):
                rows.append((own.sum(), np.nan, np.nan))
                continue
            apart = rated - rated.mean()
            all_of = np.concatenate([apart, np.full(len(values) - len(rated), rated.mean())])
            spread = np.sqrt(((apart if dense else all_of) ** 2).mean())
            rows.append(
                (own.sum(), spread, np.unique(rated, return_counts=True)[1].max() / len(rated))
            )
        return dict(zip(("ball", "spread", "commonest"), np.array(rows, float).T, strict=True))

    half = (np.nanmax(column) - np.nanmin(column)) / 2
    return bench.parts.of(f"spreads {nulls} {dense}", make), float(half)


def spread_bound(bench: Bench, way: str) -> Estimate:
    """Return the greatest spread over the bound."""
    part, half = _spreads(bench, "ignore", dense=way == "dense")
    if not half:
        raise Untestable("the sensitive item has one rating alone")
    return Estimate.exact(float(np.nanmax(part["spread"])) / half)


def inference(bench: Bench, way: str) -> Estimate:
    """Return the greatest share of one rating among the raters of a passing group."""
    part, _ = _spreads(bench, "ignore", dense=way == "dense")
    passing = (part["ball"] >= K) & (part["spread"] >= bench.grid.star)
    if not passing.any():
        raise Untestable("no group has enough records that spread enough")
    return Estimate.exact(float(part["commonest"][passing].max()))


def without_l(bench: Bench, way: str) -> Estimate:
    """Count settings in which l = 0 says something else than (k, ε)."""
    ratings, sensitive = bench.top.ratings, bench.top.sensitive
    differ = 0
    for nulls in bench.top.rules:
        for k in KS:
            if k > ratings.n_users:
                continue
            eps = bench.grid.star
            one = KEpsAnonymity(k, eps, sensitive, nulls).check(ratings)
            other = KEpsLAnonymity(k, eps, 0, sensitive, nulls).check(ratings)
            differ += (one.satisfied, one.failing_records) != (
                other.satisfied,
                other.failing_records,
            )
    return Estimate.exact(differ)


# -- the paper's own tables


NULL = 0
_TABLE_1 = ((6, 1, NULL, 6), (1, 6, NULL, 1), (2, 5, NULL, 1), (1, NULL, 5, 1), (2, NULL, 6, 5))
_TABLE_2 = (
    (3, 6, NULL, 6), (2, 5, NULL, 1), (4, 7, NULL, 4), (5, 6, NULL, 1), (1, NULL, 5, 1),
    (2, NULL, 6, 5),
)  # fmt: skip
_TABLE_3 = (*_TABLE_2, (6, NULL, 6, 3), (5, NULL, 5, 2))
SENSITIVE = ("4",)


def survey(rows: tuple[tuple[int, ...], ...], maximum: int) -> Ratings:
    """Return rows of numbers as ratings, users and items numbered from 1; 0 is null."""
    cells = [(u, i, v) for u, row in enumerate(rows, 1) for i, v in enumerate(row, 1) if v != NULL]
    users, items, values = zip(*cells, strict=True)
    return Ratings.from_arrays(
        [str(u) for u in users], [str(i) for i in items], values, scale=Scale(1, maximum, 1)
    )


def tables() -> tuple[Ratings, Ratings, Ratings]:
    """Return Tables 1, 2 and 3; of the last two the scale ends at 7 (see the errata)."""
    return survey(_TABLE_1, 6), survey(_TABLE_2, 7), survey(_TABLE_3, 7)


def homogeneous(bench: Bench, way: str) -> Estimate:
    """Count records of Table 1 whose group of two is of one sensitive rating."""
    verdict = KEpsLAnonymity(2, 1, 0.5, SENSITIVE).check(tables()[0])
    alone = sum(entry["size"] >= 2 for entry in verdict.worst)
    return Estimate.exact(alone)


def table_2(bench: Bench, way: str) -> Estimate:
    """Tell whether Table 2 is (2, 2)-anonymous, and whether its graph falls into pairs."""
    second = tables()[1]
    graph = ProximityGraph(2, SENSITIVE).of(second).decomposed(2)
    assert graph.decomposition is not None
    holds = KEpsAnonymity(2, 2, SENSITIVE).check(second).satisfied
    return Estimate.exact(int(holds) + (graph.decomposition.outcome == "found"))


# -- Algorithm 1 by itself


def _columns(bench: Bench) -> list[Floats]:
    """Return the ratings of each open item among those who rated the same most rated items."""
    ratings = bench.top.ratings
    dense = ratings.dense()
    return [column[~np.isnan(column)] for column in dense.T if (~np.isnan(column)).sum() > 1]


def _moved(values: Floats, start: float, eps: float) -> float:
    return float(np.abs(values - np.clip(values, start, start + eps)).sum())


def beyond_least(bench: Bench, way: str) -> Estimate:
    """Hold the interval that Algorithm 1 takes against the best of all."""
    eps, scale = bench.grid.star, bench.ratings.scale
    step = scale.step or eps
    runs = []
    for seed in bench.seeds:
        rng = np.random.default_rng(seed)
        least, taken = [], []
        for column in _columns(bench):
            some = np.sort(rng.choice(column, min(K, len(column)), replace=False))
            width = some[-1] - some[0]
            if width <= eps:
                continue
            starts = np.arange(some[0], some[-1] - eps + 1e-9, step)
            costs = [_moved(some, start, eps) for start in starts]
            least.append(min(costs))
            tried = starts if way == "every start" else some[: max(1, int(width / eps))]
            taken.append(min(_moved(some, start, eps) for start in tried))
        if not least:
            raise Untestable("no column is wider than ε")
        runs.append({"least": np.array(least), "taken": np.array(taken)})
    return estimate(
        runs, lambda mean: mean["taken"] / max(mean["least"], 1e-9) - 1, seed=bench.seeds[0]
    )


def exponent_of_people(bench: Bench, way: str) -> Estimate:
    """Tell how the work of Algorithm 1 grows with the people: sorting, and starts times records."""
    ratings, eps = bench.top.ratings, bench.grid.star
    dense, n = ratings.dense(), ratings.n_users
    if n < 20:
        raise Untestable(f"{n} people: too few to take a tenth of them")
    step = ratings.scale.step or eps
    works = []
    for people in (max(2, n // 10), n):
        total = 0.0
        for column in dense[np.random.default_rng(bench.seeds[0]).permutation(n)[:people]].T:
            rated = column[~np.isnan(column)]
            if len(rated) > 1:
                starts = max(1.0, (rated.max() - rated.min() - eps) / step + 1)
                total += len(rated) * (np.log2(len(rated)) + starts)
        works.append(total)
    if not works[0]:
        raise Untestable("a tenth of the people rated no item twice")
    ratio = np.log(works[1] / works[0]) / np.log(n / max(2, n // 10))
    return Estimate.exact(float(ratio))
