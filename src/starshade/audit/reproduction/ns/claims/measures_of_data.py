"""What is measured for each claim about data and theorems: (bench, way) → a statistic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.sparsity.few_facts import sample_sparsity
from starshade.attack.view import View
from starshade.audit.reproduction.claims import Estimate, Floats, Untestable
from starshade.audit.reproduction.ns.bench import Bench, beside
from starshade.audit.reproduction.ns.matches import (
    DELTA,
    EPS,
    facts_of,
    matched,
    matching,
    need,
    sims,
)
from starshade.audit.reproduction.ns.plan import OFF_TOP
from starshade.audit.reproduction.parts import Part
from starshade.ratings.describe import rated_outside_top
from starshade.stats import share

_LARGE = 100_000  # people
_TENTHS, _GAMMA, _NEAR = 20, 0.1, 0.5
_OTHERS = 50  # with whom a record is compared


def rated_share(bench: Bench, way: str) -> Estimate:
    """Measure ns-01."""
    return Estimate.exact(float(np.median(bench.ratings.user_support)) / bench.ratings.n_items)


def ratings_each(bench: Bench, way: str) -> Estimate:
    """Measure ns-02."""
    return Estimate.exact(float(bench.ratings.user_support.mean()))


def power_law(bench: Bench, way: str) -> Estimate:
    """Measure ns-03."""
    raters = np.sort(bench.ratings.item_support[bench.ratings.item_support > 0])[::-1]
    if way == "upper-half":
        raters = raters[: (len(raters) + 1) // 2]
    if len(np.unique(raters)) < 2:
        raise Untestable("all items have as many raters")
    ranks = np.log(np.arange(1, len(raters) + 1))
    return Estimate.exact(float(np.corrcoef(ranks, np.log(raters))[0, 1] ** 2))


def bulk(bench: Bench, way: str) -> Estimate:
    """Measure ns-04."""
    raters = np.sort(bench.ratings.item_support)[::-1]
    top = int(np.ceil(len(raters) * (0.01 if way == "hundredth" else 0.1)))
    return Estimate.exact(float(raters[top:].sum() / raters.sum()))


def same_value(bench: Bench, way: str) -> Estimate:
    """Measure ns-05."""
    table = bench.ratings
    if table.n_users < _LARGE:
        raise Untestable(f"{table.n_users:,} people are no large database ({_LARGE:,})")

    def make() -> Part:
        by_item, levels = table.by_item, len(table.levels)
        counts = [
            np.bincount(by_item.codes[start:stop], minlength=levels)
            for start, stop in zip(by_item.indptr[:-1], by_item.indptr[1:], strict=True)
        ]
        flat = np.sort(np.concatenate(counts))
        middle = np.searchsorted(np.cumsum(flat), table.n_ratings / 2)
        return {"median": np.array([float(flat[middle])])}

    return Estimate.exact(float(bench.part("users with the same value", make)["median"][0]))


def alone(bench: Bench, way: str) -> Estimate:
    """Measure ns-06."""
    return _over(bench, _NEAR, less=True)


def crowded(bench: Bench, way: str) -> Estimate:
    """Measure ns-07."""
    return _over(bench, 0.75)


def _over(bench: Bench, eps: float, *, less: bool = False) -> Estimate:
    above = bench.sparsity.neighbours[0].similarity > eps
    found = _of_records(bench, {"above": above})
    if not less:
        return found
    return Estimate(1 - found.value, 1 - found.high, 1 - found.low, found.seeds, found.users)


def _of_records(bench: Bench, figures: Part) -> Estimate:
    """Return a mean over records: all of them, or a sample with its interval."""
    (mean,) = (each.mean() for each in figures.values())
    if bench.sparsity.exact:
        return Estimate.exact(float(mean))
    return bench.estimate([figures], lambda means: next(iter(means.values())))


def least_equal(bench: Bench, way: str) -> Estimate:
    """Measure ns-08."""
    return Estimate.exact(float(bench.view().copies.min()))


def ratings_all(bench: Bench, way: str) -> Estimate:
    """Measure ns-09."""
    return Estimate.exact(bench.ratings.n_ratings)


def giants(bench: Bench, way: str) -> Estimate:
    """Measure ns-10."""
    return Estimate.exact(float((bench.ratings.user_support > 1000).sum()))


def break_at_twenty(bench: Bench, way: str) -> Estimate:
    """Measure ns-11."""
    support = bench.ratings.user_support
    before, after = (((support >= n) & (support < n + 5)).sum() for n in (15, 20))
    if not before:
        raise Untestable("nobody has 15 to 19 ratings")
    return Estimate.exact(float(after / before))


def least_rated(bench: Bench, way: str) -> Estimate:
    """Measure ns-12."""
    return Estimate.exact(float(bench.ratings.item_support.min()))


def off_top_difference(bench: Bench, way: str) -> Estimate:
    """Measure ns-13."""
    rows = {row.top: row.at_least for row in rated_outside_top(bench.ratings)}
    cells = [(OFF_TOP[top][n], rows[top][n]) for top in OFF_TOP for n in OFF_TOP[top]]
    return Estimate.exact(100 * max(abs(paper - ours) for paper, ours in cells))


def rates_rare(bench: Bench, way: str) -> Estimate:
    """Measure ns-14."""
    top = {"off-100": 100, "top-share": bench.as_large(500)}.get(way, 500)
    (row,) = rated_outside_top(bench.ratings, top=(top,), at_least=(5,))
    if not row.items:
        raise Untestable(f"there are only {bench.ratings.n_items:,} items")
    return Estimate.exact(row.at_least[5])


def prior(bench: Bench, way: str) -> Estimate:
    """Measure ns-15."""
    return Estimate.exact(float(np.log2(bench.ratings.n_users)))


def two_items(bench: Bench, way: str) -> Estimate:
    """Bits of both together against the sum, of each target; items alone known."""
    table = bench.ratings
    bits = float(np.log2(max(table.n_users, 2)))

    def make(view: View, known: Known, run: int) -> Part:
        both = [bits - np.log2(len(matching(table, items))) for items in known.items]
        single = (bits - np.log2(table.item_support[known.items])).sum(1)
        return {"both": np.array(both), "sum": single}

    runs = bench.each("two items", Knowledge(known=2, ratings=False, dates=False), None, "", make)
    if not any(run["sum"].any() for run in runs):
        raise Untestable("everybody rated every item")
    return bench.estimate(runs, lambda mean: mean["both"] / max(mean["sum"], 1e-9))


def lemma(bench: Bench, way: str) -> Estimate:
    """Measure ns-19."""
    curve = bench.sparsity.neighbours[0]
    covered = curve.covered >= 1 - DELTA
    like = curve.covered if way == "cover" else curve.similarity
    return _of_records(bench, {"broken": covered & (like <= 1 - EPS - DELTA)})


def theorem_1(bench: Bench, way: str) -> Estimate:
    """Measure ns-20."""
    key = "covering" if way == "cover" else "like"
    return _mean(bench, facts_of(bench).printed, key)


def _mean(bench: Bench, facts: int, key: str) -> Estimate:
    return bench.estimate(beside(it=(matched(bench, facts), key)), lambda mean: mean["it"])


def theorem_2(bench: Bench, way: str) -> Estimate:
    """Measure ns-21."""
    facts = facts_of(bench)
    if way == "cover":
        return _mean(bench, need(facts.mended), "credit")
    crowd = bench.sparsity.neighbours[0].delta(1 - EPS - DELTA)
    if crowd.rate > EPS:
        raise Untestable(
            f"the data are not ({1 - EPS - DELTA:g}, {EPS:g})-sparse: {crowd.rate:.1%} have a "
            "neighbour so near"
        )
    return _mean(bench, facts.printed, "credit")


def theorem_3(bench: Bench, way: str) -> Estimate:
    """Measure ns-22."""
    runs = [{"credit": 1 / line} for line in _lineups(bench, way)]
    return bench.estimate(beside(credit=(runs, "credit")), lambda mean: mean["credit"])


def theorem_3_bits(bench: Bench, way: str) -> Estimate:
    """Measure ns-23."""
    runs = [{"bits": np.log2(line)} for line in _lineups(bench, way)]
    return bench.estimate(runs, lambda mean: mean["bits"])


def _lineups(bench: Bench, way: str) -> list[Floats]:
    """Return how many match; with coverage only those are false that do not cover the target."""
    runs = matched(bench, facts_of(bench).lineup)
    return [1 + run["false"] if way == "cover" else run["candidates"] for run in runs]


def theorem_4(bench: Bench, way: str) -> Estimate:
    """With coverage a match is false only where it does not cover the target."""
    key = "uncovering" if way == "cover" else "left"
    runs = [{key: run[key]} for run in matched(bench, facts_of(bench).printed)]
    return bench.estimate(runs, lambda mean: 1 - mean[key])


def mended(bench: Bench, way: str) -> Estimate:
    """Measure ns-28."""
    facts = need(facts_of(bench).mended)
    having = float((bench.ratings.user_support >= facts).mean())
    if not having:
        return Estimate.exact(0.0)
    runs = [{"left": run["left"]} for run in matched(bench, facts)]
    return bench.estimate(runs, lambda mean: mean["left"] * having)


def theorem_5(bench: Bench, way: str) -> Estimate:
    """Measure ns-25."""
    eps = 0.25 if way == "quarter" else _NEAR
    delta = bench.sparsity.neighbours[0].delta(eps).rate
    if not delta:
        raise Untestable(f"no record has another one with Sim above {eps:g}: the data are sparse")
    least = sample_sparsity(delta, 0.1, _GAMMA)
    tenths = [near > eps for near in _tenths(bench)]
    # of a large tenth some records were looked at: between these two it may have so many or not
    surely, perhaps = (
        bench.estimate([{"met": np.array(met)}], lambda mean: mean["met"])
        for met in zip(*(_at_least(bench, near, least) for near in tenths), strict=True)
    )
    return replace(surely, high=perhaps.high)


def _at_least(bench: Bench, near: NDArray[np.bool_], least: float) -> tuple[bool, bool]:
    """Tell whether a tenth surely has so large a share, and whether it may have."""
    if len(near) >= round(0.1 * bench.ratings.n_users):
        return (bool(near.mean() >= least),) * 2
    rate = share(near)
    return rate.low >= least, rate.high >= least


def _tenths(bench: Bench) -> list[Floats]:
    return [bench.sparsity_of_tenth(draw) for draw in range(_TENTHS)]


def tenth_is_as_sparse(bench: Bench, way: str) -> Estimate:
    """Measure ns-26."""
    whole = bench.sparsity.neighbours[0].delta(_NEAR).rate
    shares = np.array([float((near > _NEAR).mean()) for near in _tenths(bench)])
    return bench.estimate([{"tenth": shares}], lambda mean: whole - mean["tenth"])


def all_alike(bench: Bench, way: str) -> Estimate:
    """Compare with a few others: where one of them is unlike, not all are alike."""
    table = bench.ratings
    if table.n_users < 2:
        raise Untestable("one user has no other")

    def make(view: View, known: Known, run: int) -> Part:
        rng = np.random.default_rng(bench.seed_of(run))
        others = rng.integers(1, table.n_users, (len(known), _OTHERS))
        rows = zip(
            known.users.tolist(), (known.users[:, None] + others) % table.n_users, strict=True
        )
        return {"all": np.array([(sims(table, own, row) > _NEAR).all() for own, row in rows])}

    everyone = Knowledge(known=1, ratings=False, dates=False)
    runs = bench.each("alike to all others", everyone, None, "", make)
    return bench.estimate(runs, lambda mean: mean["all"])
