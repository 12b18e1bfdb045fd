"""The statistics of SR's claims on balls: chains, spreads, chances, partitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.audit.reproduction.parts import Part
from starshade.audit.reproduction.sr.bench import Bench, fits
from starshade.audit.reproduction.sr.measured import KS, K
from starshade.audit.reproduction.sr.work import reading_of
from starshade.audit.reproduction.worked import small_table
from starshade.kernels.balls.cliques import seek_cliques
from starshade.plain import counted
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.proximity.balls import count_balls
from starshade.privacy.proximity.graph_result import ProximityGraph
from starshade.ratings.proximity.balls import ball_sizes
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

Floats = NDArray[np.float64]


def _nulls(way: str) -> NullRule:
    return reading_of(way).nulls


def _near(bench: Bench, nulls: NullRule) -> list[NDArray[np.int64]]:
    """Return who is within a star of each record, on the most rated items."""
    indptr, members = bench.near(bench.space("top", nulls, bench.grid.star))
    return [members[a:b] for a, b in pairwise(indptr.tolist())]


def open_chains(bench: Bench, way: str) -> Estimate:
    """Count chains a-b-c whose ends are apart, record by record."""

    def make() -> Part:
        balls = _near(bench, _nulls(way))
        degree = np.array([len(ball) - 1.0 for ball in balls])
        here, both = np.zeros(len(balls), np.bool_), np.zeros(len(balls))
        for record, ball in enumerate(balls):
            here[ball] = True  # and of each of them, who of its ball is here, too
            both[record] = here[np.concatenate([balls[other] for other in ball])].sum()
            here[ball] = False
        # but for themselves and each other
        return {"chains": degree * (degree - 1) / 2, "closed": (both - 3 * degree - 1) / 2}

    part = bench.parts.of(f"chains {_nulls(way)}", make)
    if not part["chains"].sum():
        raise Untestable("no record has two neighbours")
    return bench.over([part], lambda mean: 1 - mean["closed"] / mean["chains"])


def _balls(bench: Bench, items: str, nulls: NullRule, eps: float) -> Floats:
    space = bench.space(items, nulls, eps)

    def make() -> Part:
        with fits():
            return {"ball": ball_sizes(space)}

    return bench.parts.of(f"balls {items} {nulls} {eps:g}", make)["ball"].astype(float)


def with_neighbours(ball: Floats) -> Floats:
    """Return sizes of balls; untestable where nobody has a neighbour, and all holds of nothing."""
    if ball.max() < 2:
        raise Untestable("no record has a neighbour within ε: the claim would be vacuous")
    return ball


def most_neighbours(bench: Bench, way: str) -> Estimate:
    """Return how many others lie within ε of the record with most."""
    ball = with_neighbours(_balls(bench, "top", _nulls(way), bench.grid.star))
    return Estimate.exact(ball.max() - 1)


def mean_ball(bench: Bench, way: str) -> Estimate:
    """Return the mean ball as a share of the records."""
    ball = with_neighbours(_balls(bench, reading_of(way).items, _nulls(way), bench.grid.star))
    return bench.over([{"ball": ball / len(ball)}], lambda mean: mean["ball"])


def _greatest_step(course: Sequence[float]) -> float:
    return max(after / before for before, after in pairwise(course))


def chance_over_eps(bench: Bench, way: str) -> Estimate:
    """Hold the mean chance 1/|ball| at each ε against that at the ε before."""
    balls = {f"{eps}": _balls(bench, "top", _nulls(way), eps) for eps in bench.grid.eps}
    with_neighbours(np.concatenate([*balls.values()][:-1]))  # at the last all are near
    run = {name: 1 / ball for name, ball in balls.items()}
    return bench.over([run], lambda mean: _greatest_step([*mean.values()]))


def distinct_over_eps(bench: Bench, way: str) -> Estimate:
    """Hold the number of distinct balls at each ε against that at the ε before."""
    items, nulls = reading_of(way).items, _nulls(way)
    below = [_balls(bench, items, nulls, eps) for eps in bench.grid.eps[:-1]]
    with_neighbours(np.concatenate(below))  # at the last all are near

    def make() -> Part:
        with fits():
            spaces = (bench.space(items, nulls, eps) for eps in bench.grid.eps)
            found = [count_balls(space, "tree", distinct=True)[2] for space in spaces]
        return {"distinct": np.array(found)}

    distinct = bench.parts.of(f"distinct {items} {nulls}", make)["distinct"]
    return Estimate.exact(_greatest_step(distinct.tolist()))


def groups_beyond_balls(bench: Bench, way: str) -> Estimate:
    """Count records in a group that was found and is larger than their ball."""
    beyond = 0
    for eps in bench.grid.eps[:-1]:
        space = bench.space("top", "ignore", eps)
        indptr, members = bench.near(space)
        size, _ = seek_cliques(indptr, members, min(K, space.n_records))
        beyond += int((size > np.diff(indptr)).sum())
    return Estimate.exact(beyond)


def false_proofs(bench: Bench, way: str) -> Estimate:
    """Count partitions into cliques where the check fails all the same."""
    false = tried = 0
    ratings = bench.top.ratings
    for nulls in bench.top.rules:
        for eps in bench.grid.eps[:-1]:
            with fits():
                graph = ProximityGraph(eps, bench.top.sensitive, nulls).of(ratings)
            for k in (2, 5, K):
                if k <= graph.records:
                    found = graph.decomposed(k).decomposition
                    if found is not None and found.outcome == "found":
                        tried += 1
                        model = KEpsAnonymity(k, eps, bench.top.sensitive, nulls)
                        false += not model.check(ratings).satisfied
    if not tried:
        raise Untestable("no partition into cliques exists here")
    return Estimate.exact(false)


# -- sensitive ratings


def _spreads(bench: Bench, nulls: NullRule, *, dense: bool) -> tuple[Part, float]:
    """Return each ball's size, spread and most common rating, of the first sensitive item."""
    ratings = bench.top.ratings
    column = ratings.dense()[:, ratings.items.indices(list(bench.top.sensitive))[0]]

    def make() -> Part:
        rows = np.full((len(column), 3), np.nan)
        for record, ball in enumerate(_near(bench, nulls)):
            rated = column[ball][~np.isnan(column[ball])]
            rows[record, 0] = len(ball)
            if len(rated):
                # a null deviates by the mean of those who rated
                silent = 0 if dense else len(ball) - len(rated)
                squares = ((rated - rated.mean()) ** 2).sum() + silent * rated.mean() ** 2
                commonest = np.unique(rated, return_counts=True)[1].max()
                rows[record, 1:] = (
                    np.sqrt(squares / (len(rated) + silent)), commonest / len(rated)
                )  # fmt: skip
        return dict(zip(("ball", "spread", "commonest"), rows.T, strict=True))

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
        raise Untestable("no group has enough records with enough spread")
    return Estimate.exact(float(part["commonest"][passing].max()))


def without_l(bench: Bench, way: str) -> Estimate:
    """Count settings in which l = 0 says something else than (k, ε)."""
    ratings, sensitive, eps = bench.top.ratings, bench.top.sensitive, bench.grid.star
    differ = passing = 0
    for nulls in bench.top.rules:
        for k in (k for k in KS if k <= ratings.n_users):
            with fits():
                one = KEpsAnonymity(k, eps, sensitive, nulls).check(ratings)
                other = KEpsLAnonymity(k, eps, 0, sensitive, nulls).check(ratings)
            differ += one.failing_records != other.failing_records
            passing += one.failing_records < one.records
    if not passing:
        raise Untestable("every record fails at every k: l makes no difference")
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
    cells = [
        (str(u), str(i), v)
        for u, row in enumerate(rows, 1)
        for i, v in enumerate(row, 1)
        if v != NULL
    ]
    return small_table(cells, Scale(1, maximum, 1))


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


def _columns(dense: Floats) -> list[Floats]:
    """Return the ratings of each item that two people rated."""
    rated = (column[~np.isnan(column)] for column in dense.T)
    return [column for column in rated if len(column) > 1]


def _moved(values: Floats, start: float, eps: float) -> float:
    return float(np.abs(values - np.clip(values, start, start + eps)).sum())


def beyond_least(bench: Bench, way: str) -> Estimate:
    """Hold the interval that Algorithm 1 takes against the best of all."""
    eps, step = bench.grid.star, bench.ratings.scale.step or bench.grid.star
    runs = []
    for seed in bench.seeds:
        rng = np.random.default_rng(seed)
        costs = []
        for column in _columns(bench.top.ratings.dense()):
            some = np.sort(rng.choice(column, min(K, len(column)), replace=False))
            width = some[-1] - some[0]
            if width > eps:
                starts = np.arange(some[0], some[-1] - eps + 1e-9, step)
                tried = starts if way == "every start" else some[: max(1, int(width / eps))]
                costs.append([min(_moved(some, at, eps) for at in of) for of in (starts, tried)])
        if not costs:
            raise Untestable("no column is wider than ε")
        runs.append(dict(zip(("least", "taken"), np.array(costs).T, strict=True)))
    return bench.over(runs, lambda mean: mean["taken"] / max(mean["least"], 1e-9) - 1)


def beyond_n_log_n(bench: Bench, way: str) -> Estimate:
    """Hold the work of Algorithm 1 over mn log n, of all people, against that of a tenth."""
    dense, n = bench.top.ratings.dense(), bench.top.ratings.n_users
    if n < 20:
        raise Untestable(f"{counted(n, 'person', 'people')}: too few for a tenth")
    runs = []
    for seed in bench.seeds:
        order = np.random.default_rng(seed).permutation(n)
        works = [_work(bench, dense[order[:people]]) for people in (n // 10, n)]
        if not works[0][1]:
            raise Untestable("a tenth of the people rated no item twice")
        (few, few_sorted), (many, many_sorted) = works
        runs.append({"ratio": np.array([many / many_sorted / (few / few_sorted)])})
    return bench.over(runs, lambda mean: mean["ratio"])


def _work(bench: Bench, dense: Floats) -> tuple[float, float]:
    """Return the work of sorting columns and trying their intervals, and of sorting alone."""
    eps, step = bench.grid.star, bench.ratings.scale.step or bench.grid.star
    tried = sorting = 0.0
    for rated in _columns(dense):
        sorting += len(rated) * np.log2(len(rated))
        tried += len(rated) * max(1.0, (np.ptp(rated) - eps) / step + 1)
    return sorting + tried, sorting
