"""What is measured for claims on data and theorems: (bench, way) → a statistic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.sparsity.few_facts import facts_needed, lineup_facts, sample_sparsity
from starshade.attack.view import View
from starshade.audit.reproduction.estimates import Estimate, Floats, Untestable
from starshade.audit.reproduction.ns.bench import Bench, Runs, beside
from starshade.audit.reproduction.ns.plan import OFF_TOP
from starshade.audit.reproduction.ns.under import FEWEST_CASES, Measure, mean_of, ratio_of
from starshade.audit.reproduction.parts import Part
from starshade.plain import counted
from starshade.ratings.describe import rated_outside_top
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.stats import share

EPS, DELTA, LINEUP = 0.05, 0.5, 10  # of the theorems
TENTHS, GAMMA = 40, 0.1  # of 40 that all meet it Wilson's interval begins at 0.91, of 20 at 0.84
_LARGE = 100_000  # people
_RAREST = 0.1  # of the items
_NEAR = 0.5
_OTHERS = 50  # with whom a record is compared
_SLACK = 1e-9
_LOOKED_AT = 500  # records of a sample: one exception refutes a lemma
_AT_ONCE = 1 << 24  # pairs of records compared together


def count(of: Callable[[Ratings], float]) -> Measure:
    """Measure what the whole table has; there is nothing to draw."""
    return lambda bench, _: Estimate.exact(float(of(bench.ratings)))


def power_law(bench: Bench, way: str) -> Estimate:
    """Fit a straight line through ln raters over ln rank."""
    raters = np.sort(bench.ratings.item_support[bench.ratings.item_support > 0])[::-1]
    raters = raters[: int(np.ceil(len(raters) * {"upper-half": 0.5, "top-tenth": 0.1}.get(way, 1)))]
    if len(np.unique(raters)) < 2:
        raise Untestable("all items have as many raters")
    ranks = np.log(np.arange(1, len(raters) + 1))
    return Estimate.exact(float(np.corrcoef(ranks, np.log(raters))[0, 1] ** 2))


def bulk(bench: Bench, way: str) -> Estimate:
    """Count the ratings of all but the most rated items."""
    raters = np.sort(bench.ratings.item_support)[::-1]
    top = max(1, bench.as_large(500))
    return Estimate.exact(float(raters[top:].sum() / raters.sum()))


def same_value(bench: Bench, way: str) -> Estimate:
    """Count, of each item, the users who gave it the same rating; all items but the rarest."""
    table = bench.ratings
    if table.n_users < _LARGE:
        raise Untestable(f"no large database ({_LARGE:,}): {counted(table.n_users, 'user')}")

    def make() -> Part:
        by_item = table.by_item
        ends = zip(by_item.indptr[:-1], by_item.indptr[1:], strict=True)
        codes = (by_item.codes[start:stop] for start, stop in ends if stop > start)
        middle = [np.median(np.bincount(own)[own]) for own in codes]
        return {"least": np.quantile(middle, [_RAREST], method="lower")}

    return Estimate.exact(
        float(bench.parts.of("users with the same value, by item", make)["least"][0])
    )


def has_near(eps: float) -> Measure:
    """Measure the share of records with another one of Sim above `eps`, counting items alone."""
    return lambda bench, _: _of_records(bench, bench.sparsity.neighbours[0].similarity > eps)


def has_none_near(bench: Bench, way: str) -> Estimate:
    """Measure the share of those without one."""
    return _of_records(bench, bench.sparsity.neighbours[0].similarity <= _NEAR)


def _of_records(bench: Bench, which: NDArray[np.bool_]) -> Estimate:
    """Return a share of the records: of all of them, or of a sample with its interval."""
    if bench.sparsity.exact:
        return Estimate.exact(float(which.mean()))
    return mean_of(bench, [{"it": which}], "it")


def break_at_twenty(bench: Bench, way: str) -> Estimate:
    """Compare users with 20 to 24 ratings to those with 15 to 19."""
    support = bench.ratings.user_support
    before, after = (((support >= n) & (support < n + 5)).sum() for n in (15, 20))
    if not before:
        raise Untestable("no user has 15 to 19 ratings")
    return Estimate.exact(float(after / before))


def off_top_difference(ratings: Ratings) -> float:
    """Compare the table of §5 cell by cell, in points of a hundred."""
    rows = {row.top: row.at_least for row in rated_outside_top(ratings)}
    return 100 * max(
        abs(paper - rows[top][n]) for top, own in OFF_TOP.items() for n, paper in own.items()
    )


def rates_rare(bench: Bench, way: str) -> Estimate:
    """Count users with five ratings outside the most rated items."""
    top = {"off-100": 100, "top-share": bench.as_large(500)}.get(way, 500)
    (row,) = rated_outside_top(bench.ratings, top=(top,), at_least=(5,))
    if not row.items:
        raise Untestable(f"the data have only {counted(bench.ratings.n_items, 'item')}")
    return Estimate.exact(row.at_least[5])


def two_items(bench: Bench, way: str) -> Estimate:
    """Compare the bits of two items together with their sum, of each target; items alone known."""
    table = bench.ratings
    bits = float(np.log2(max(table.n_users, 2)))

    def make(view: View, known: Known, run: int) -> Part:
        both = [bits - np.log2(len(matching(table, items))) for items in known.items]
        single = (bits - np.log2(table.item_support[known.items])).sum(1)
        return {"above": np.array(both), "below": single}

    knowledge = Knowledge(known=2, ratings=False, dates=False)
    runs = bench.each("two items", knowledge, None, "", make)
    return ratio_of(bench, runs, "everybody rated every item")


@dataclass(frozen=True)
class Facts:
    """How many facts each theorem asks for here."""

    printed: int  # Theorems 1, 2, 4
    lineup: int  # Theorem 3
    mended: int | None  # with coverage in place of Sim; None: no number suffices

    @classmethod
    def of(cls, bench: Bench) -> Facts:
        """Count the facts, items alone known."""
        of_items = [each for each in bench.few_facts if each.eps == EPS]  # the weakest comes first
        records = bench.ratings.n_users
        return cls(
            facts_needed(records, EPS, DELTA),
            max(1, lineup_facts(records, LINEUP, DELTA)),
            of_items[0].proven_facts,
        )

    @property
    def enough(self) -> int:
        """As many as suffice, mended."""
        if self.mended is None:
            raise Untestable("too many records are fully covered by another: no number suffices")
        return self.mended


def matched(bench: Bench, facts: int) -> Runs:
    """Match so many items of those who rated as many."""
    knowledge = Knowledge(known=facts, ratings=False, dates=False)

    def make(view: View, known: Known, run: int) -> Part:
        rows = [_match(view.original, known, t) for t in range(len(known))]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    return bench.each("matching sets of items", knowledge, None, "", make)


def _match(table: Ratings, known: Known, t: int) -> dict[str, float]:
    own = int(known.users[t])
    rows = matching(table, known.items[t])
    common, like = _common(table, own, rows)
    covering = common / table.user_support[own] >= 1 - DELTA - _SLACK
    others = rows != own
    return {
        "candidates": float(len(rows)),
        "credit": 1 / len(rows),
        "like": float((like >= 1 - EPS - DELTA - _SLACK).mean()),
        "covering": float(covering.mean()),
        "left": bool(others.any()),
        "false": float((~covering[others]).sum()),
        "uncovering": bool((~covering[others]).any()),
    }


def _common(
    table: Ratings, own: int, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return how many items rows have in common with a row, and their Sim to it."""
    truth = _items(table, own)
    common = np.array(
        [len(np.intersect1d(truth, _items(table, row), assume_unique=True)) for row in rows]
    )
    union = len(truth) + table.user_support[rows] - common
    return common, np.where(union > 0, common / np.maximum(union, 1), 1.0)


def sims(table: Ratings, own: int, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the Sim of rows to a row, counting items alone."""
    return _common(table, own, rows)[1]


def _items(table: Ratings, row: int) -> NDArray[np.int32]:
    return table.columns[table.indptr[row] : table.indptr[row + 1]]


def matching(table: Ratings, items: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the rows that rated all of these items."""
    by_item = table.by_item
    raters = (by_item.users[by_item.indptr[item] : by_item.indptr[item + 1]] for item in items)
    rows, *rest = sorted(raters, key=len)
    for others in rest:
        rows = np.intersect1d(rows, others, assume_unique=True)
    return rows.astype(np.int64)


def lemma(bench: Bench, way: str) -> Estimate:
    """Count the records that have enough of another one's items and are not like it."""
    table, exact = bench.ratings, bench.sparsity.exact
    targets = None if exact else min(bench.sparsity.targets, _LOOKED_AT)
    users = sample_users(table, np.arange(table.n_users), targets, bench.seed)
    covering, unlike = count_covering(table, users)
    if not covering:
        raise Untestable("no record has half of another record's items")
    if way == "cover":
        return Estimate.exact(0)
    if not unlike and not exact:
        raise Untestable(f"no exception among {covering:,} pairs, which are a sample")
    return Estimate.exact(unlike)


def count_covering(table: Ratings, users: NDArray[np.int64]) -> tuple[int, int]:
    """Count the pairs of a user and another record that has a share 1−δ of the user's items.

    And those of them whose Sim, counting items alone, is at most 1−ε−δ.
    """
    sizes = table.user_support
    ones = np.ones(len(table.columns), dtype=np.int32)
    rated = csr_array((ones, table.columns, table.indptr), (table.n_users, table.n_items))
    by_item = rated.T.tocsr()
    covering = unlike = 0
    step = max(1, _AT_ONCE // table.n_users)
    for start in range(0, len(users), step):
        some = users[start : start + step]
        common = (rated[some] @ by_item).toarray()
        own, union = sizes[some][:, None], sizes[some][:, None] + sizes - common
        covers = (own > 0) & (common >= own * (1 - DELTA - _SLACK))
        covers[np.arange(len(some)), some] = False
        covering += int(covers.sum())
        unlike += int((covers & (common <= union * (1 - EPS - DELTA + _SLACK))).sum())
    return covering, unlike


def theorem_1(bench: Bench, way: str) -> Estimate:
    """Pick one of those that match, and look how like the target it is."""
    runs = matched(bench, Facts.of(bench).printed)
    return mean_of(bench, runs, "covering" if way == "cover" else "like")


def theorem_2(bench: Bench, way: str) -> Estimate:
    """Pick one of those that match on sparse data, and look whether it is the target."""
    facts = Facts.of(bench)
    if way == "cover":
        return mean_of(bench, matched(bench, facts.enough), "credit")
    crowd = bench.sparsity.neighbours[0].delta(1 - EPS - DELTA)
    if crowd.rate > EPS:
        raise Untestable(
            f"the data are not ({1 - EPS - DELTA:g}, {EPS:g})-sparse: {crowd.rate:.1%} have a "
            "neighbour so near"
        )
    return mean_of(bench, matched(bench, facts.printed), "credit")


def theorem_3(bench: Bench, way: str) -> Estimate:
    """Pick one of the line-up."""
    return mean_of(bench, [{"credit": 1 / line} for line in _lineups(bench, way)], "credit")


def theorem_3_bits(bench: Bench, way: str) -> Estimate:
    """Count the bits that the line-up leaves."""
    return mean_of(bench, [{"bits": np.log2(line)} for line in _lineups(bench, way)], "bits")


def _lineups(bench: Bench, way: str) -> list[Floats]:
    """Return how many match; with coverage only those are false that do not cover the target."""
    if bench.ratings.n_users <= LINEUP:
        raise Untestable(f"no more than {LINEUP} records are a line-up in any case")
    runs = matched(bench, Facts.of(bench).lineup)
    return [1 + run["false"] if way == "cover" else run["candidates"] for run in runs]


def theorem_4(bench: Bench, way: str) -> Estimate:
    """Take targets out; with coverage a match is false only where it does not cover the target."""
    key = "uncovering" if way == "cover" else "left"
    runs = beside(it=(matched(bench, Facts.of(bench).printed), key))
    return bench.estimate(runs, lambda mean: 1 - mean["it"])


def mended(bench: Bench, way: str) -> Estimate:
    """Ask how many have the facts that the mended theorem asks for, and are not singled out."""
    facts = Facts.of(bench).enough
    having = float((bench.ratings.user_support >= facts).mean())
    if not having:
        raise Untestable(f"no user has the {facts:,} ratings that it requires")
    runs = beside(it=(matched(bench, facts), "left"))
    return bench.estimate(runs, lambda mean: mean["it"] * having)


def tenths(bench: Bench) -> list[Floats]:
    """Return, of each of many random tenths, how like its nearest neighbour a record is."""
    return [bench.sparsity_of_tenth(draw) for draw in range(TENTHS)]


def _near(way: str) -> float:
    return 0.25 if way == "quarter" else _NEAR


def theorem_5(bench: Bench, way: str) -> Estimate:
    """Count the tenths with so many crowded records as the theorem promises."""
    eps = _near(way)
    delta = bench.sparsity.neighbours[0].delta(eps).rate
    if not delta:
        raise Untestable(f"no record has a neighbour with Sim above {eps:g}: the data are sparse")
    least = sample_sparsity(delta, 0.1, GAMMA)
    met = (_at_least(bench, near > eps, least) for near in tenths(bench))
    # of a large tenth some records were looked at: between these two it may have so many or not
    surely, perhaps = (
        bench.estimate([{"it": np.array(each)}], lambda mean: mean["it"], of="tenth")
        for each in zip(*met, strict=True)
    )
    return replace(surely, high=perhaps.high)


def _at_least(bench: Bench, near: NDArray[np.bool_], least: float) -> tuple[bool, bool]:
    """Tell whether a tenth surely has so large a share, and whether it may have."""
    if len(near) >= round(0.1 * bench.ratings.n_users):
        return (bool(near.mean() >= least),) * 2
    rate = share(near)
    return rate.low >= least, rate.high >= least


def tenth_is_as_sparse(bench: Bench, way: str) -> Estimate:
    """Compare the share of crowded records in random tenths with that in all."""
    eps = _near(way)
    crowded = bench.sparsity.neighbours[0].similarity > eps
    if crowded.sum() < FEWEST_CASES:
        raise Untestable(
            f"{crowded.sum()} of {len(crowded):,} records have a neighbour with Sim above "
            f"{eps:g}: {FEWEST_CASES} at least"
        )
    runs = [{"near": near > eps} for near in tenths(bench)]
    return bench.estimate(runs, lambda mean: mean["near"] / crowded.mean())


def all_alike(bench: Bench, way: str) -> Estimate:
    """Compare with a few others: where one of them is unlike, not all are alike."""
    table = bench.ratings
    if table.n_users < 2:
        raise Untestable("one user has no other")

    def make(view: View, known: Known, run: int) -> Part:
        rng = np.random.default_rng(bench.seed_of(run))
        others = rng.integers(1, table.n_users, (len(known), _OTHERS))
        rows = (known.users[:, None] + others) % table.n_users
        pairs = zip(known.users.tolist(), rows, strict=True)
        return {"all": np.array([(sims(table, own, row) > _NEAR).all() for own, row in pairs])}

    everyone = Knowledge(known=1, ratings=False, dates=False)
    return mean_of(bench, bench.each("alike to all others", everyone, None, "", make), "all")


def one_item(bench: Bench, way: str) -> Estimate:
    """Count who is left when one item of a target is known."""
    table = bench.ratings

    def make(view: View, known: Known, run: int) -> Part:
        return {"left": table.item_support[known.items[:, 0]] / table.n_users}

    runs = bench.each("one item", Knowledge(known=1, ratings=False, dates=False), None, "", make)
    return mean_of(bench, runs, "left")
