"""What PA §4.2 and §7 say of tables and figures, held against ours; each by what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from starshade.audit.reproduction.pa.measured import (
    EXCHANGED,
    METRICS,
    MODEL,
    PADDED,
    POOLED,
    SIMPLE,
    BinSizes,
    Pairs,
    Ranks,
)
from starshade.audit.reproduction.pa.result import LevelRow, Row, find
from starshade.audit.reproduction.study import Check

_LITTLE = 1.03  # times the original's error: "very little impact"
_MUCH = 1.5  # times padded's: "much higher"
_SAME = 0.02  # from one k to the other, as a share: "not significant"
_LOW, _MOST = 25, 50  # self-ranks: in the lowest quarter; of more than half of the users
_SLACK = 1e-9
_LESS = ((EXCHANGED, PADDED), (MODEL, EXCHANGED), (POOLED, MODEL), (POOLED, PADDED))


def check_all(
    rows: Sequence[Row],
    histogram: Sequence[LevelRow],
    bins: Sequence[BinSizes],
    pairs: Sequence[Pairs],
    ranks: Sequence[Ranks],
) -> tuple[Check, ...]:
    """Check every sentence that has a table or figure here."""
    return (
        *_of_target(rows),
        *_of_histogram(histogram),
        *_of_similar(rows),
        *_of_bins(bins),
        *_of_pairs(pairs),
        *_of_ranks(ranks),
        *_of_ours(rows),
    )


def _by_k(rows: Sequence[Row]) -> Iterator[tuple[int, dict[tuple[str, str], Row]]]:
    """Return what stands of each k, by table and line, as read from the release."""
    for k in sorted({row.k for row in rows if row.k is not None}):
        own = (row for row in rows if row.k == k and row.reading == "release")
        yield k, {(row.table, row.line): row for row in own}


def _of_target(rows: Sequence[Row]) -> Iterator[Check]:
    where = "Table 1"
    for k, own in _by_k(rows):
        padded, simple = own.get(("1", PADDED)), own.get(("1", SIMPLE))
        if padded is not None:
            ours = f"{padded.ratio:.4g} times the original's error"
            says = "padded above the original (0.9597, 0.9587 against 0.9518)"
            yield Check(where, says, f"k = {k}", ours, padded.ratio > 1)
            says = "padded: “very little impact to prediction accuracy”, at most 3 %"
            yield Check(where, says, f"k = {k}", ours, padded.ratio <= _LITTLE)
        if padded is not None and simple is not None:
            times = simple.mean / padded.mean
            says = "simple: “much higher RMSE” than padded, at least by half"
            yield Check(where, says, f"k = {k}", f"{times:.3g} times padded's", times >= _MUCH)
    for line in (PADDED, SIMPLE):
        means = [row.mean for row in find(rows, "1", line, "release")]
        if len(means) > 1:
            low, high = min(means), max(means)
            ours = f"{low:.4g} to {high:.4g}, {high / low - 1:.1%} apart"
            says = "“the value of k does not have a significant impact”, at most 2 %"
            yield Check(where, says, line, ours, high <= (1 + _SAME) * low)


def _of_histogram(histogram: Sequence[LevelRow]) -> Iterator[Check]:
    if not histogram:
        return
    where, nulls = "Table 2", next(row for row in histogram if row.level is None)
    ours = f"{nulls.before:.2%} before, {nulls.after:.2%} after"
    yield Check(where, "no null is left after padding", "all cells", ours, nulls.after == 0)
    rated = [row for row in histogram if row.level is not None]
    before, after = (sum(r.before for r in rated), sum(r.after for r in rated))
    if len(rated) > 2 and before and after:
        least, most = rated[0], rated[-1]
        shares = (least.before + most.before) / before, (least.after + most.after) / after
        ours = f"{shares[0]:.1%} of the ratings before, {shares[1]:.1%} after"
        says = "padding empties both ends of the scale (27.6 % of the ratings, then 5.7 %)"
        yield Check(where, says, "least and greatest rating", ours, shares[1] < shares[0])
        means = [
            sum(r.level * getattr(r, when) for r in rated if r.level is not None) / total
            for when, total in (("before", before), ("after", after))
        ]
        ours = f"{means[0]:.3g} before, {means[1]:.3g} after"
        says = "padded ratings are lower: unread items are less liked (3.6, then 3.28)"
        yield Check(where, says, "mean rating", ours, means[1] < means[0])


def _of_similar(rows: Sequence[Row]) -> Iterator[Check]:
    where = "Table 3"
    for k, own in _by_k(rows):
        padded, simple, target = map(own.get, (("3", PADDED), ("3", SIMPLE), ("1", PADDED)))
        if padded is not None and simple is not None:
            ours = f"{padded.mean:.4g} against {simple.mean:.4g}"
            yield Check(where, "padded below simple", f"k = {k}", ours, padded.mean < simple.mean)
        if padded is not None and target is not None:
            ours = f"{target.mean:.4g} against {padded.mean:.4g}"
            says = "target deviation assumes that one's own profile is the nearest: it is lower"
            yield Check(where, says, f"{PADDED}, k = {k}", ours, target.mean < padded.mean + _SLACK)


def _of_bins(bins: Sequence[BinSizes]) -> Iterator[Check]:
    at = {each.centres: each for each in bins}
    if len(at) < 2:
        return
    virtual, real = at["virtual"], at["real"]
    ours = (
        f"{virtual.sizes.min():,} to {virtual.sizes.max():,} users against {real.sizes.min():,} "
        f"to {real.sizes.max():,}; standard deviation / mean {virtual.spread:.3g} against "
        f"{real.spread:.3g}"
    )
    says = "virtual centres: “less skewed distribution” (200 to 900 against 50 to 2000)"
    yield Check("3", says, f"{len(virtual.sizes):,} bins", ours, virtual.spread < real.spread)


def _of_pairs(pairs: Sequence[Pairs]) -> Iterator[Check]:
    at = {(each.metric, each.where): each for each in pairs}
    for metric in METRICS:
        before, within = at.get((metric, "before")), at.get((metric, "within"))
        if before is not None and within is not None:
            means = f"mean {before.mean:.3g} before, {within.mean:.3g} within"
            says = "“the shift in distribution to the left” within clusters"
            yield Check("4", says, metric, means, within.mean < before.mean)
    ours, relaxed = at.get(("weighted-sq", "before")), at.get(("closeness-1.0", "before"))
    if ours is not None and relaxed is not None:
        means = f"mean {relaxed.mean:.3g} against {ours.mean:.3g}"
        says = "closeness-1.0 is “too relaxed”: users look more alike than by weighted-sq"
        yield Check("4", says, "before clustering", means, relaxed.mean < ours.mean)
        means = f"fills {ours.effective_bins:.3g} of 20 bins against {relaxed.effective_bins:.3g}"
        says = "weighted-sq has “a more fine-grained ability to distinguish” than closeness-1.0"
        yield Check(
            "4", says, "before clustering", means, ours.effective_bins > relaxed.effective_bins
        )


def _of_ranks(ranks: Sequence[Ranks]) -> Iterator[Check]:
    for measured in ranks:
        if measured.line == PADDED:
            low = 100 * measured.within[_LOW - 1]
            ours = f"{low:.3g} % of the users in the lowest quarter; median {measured.median:.3g} %"
            says = "“most self-ranks values are quite low”: more than half in the lowest quarter"
            yield Check("5", says, f"{measured.line}, k = {measured.k}", ours, low > _MOST)


def _of_ours(rows: Sequence[Row]) -> Iterator[Check]:
    for k, own in _by_k(rows):
        for lower, upper in _LESS:
            less, more = own.get(("1", lower)), own.get(("1", upper))
            if less is not None and more is not None:
                ours = f"{less.ratio:.4g} against {more.ratio:.4g} times the original's error"
                says = "ours: the first loses less than the second"
                place = f"{lower} – {upper}, k = {k}"
                yield Check("6", says, place, ours, less.ratio < more.ratio)
