"""What the predictive paper says, held against tables and figures made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from starshade.audit.reproduction.pa import measured
from starshade.audit.reproduction.pa.checks import check_all
from starshade.audit.reproduction.pa.figures import (
    bins_figure,
    error_figure,
    pair_figure,
    rank_figure,
)
from starshade.audit.reproduction.pa.measured import (
    EXCHANGED,
    METRICS,
    MODEL,
    PADDED,
    SIMPLE,
    BinSizes,
    Pairs,
    Ranks,
)
from starshade.audit.reproduction.pa.result import LevelRow, Row, find
from starshade.audit.reproduction.study import Check
from starshade.utility.held_out.pairwise_dissimilarity import BINS


def paper_rows() -> list[Row]:
    """Return the paper's own Tables 1 and 3 as if they had been measured."""
    base = (measured.ORIGINAL_RMSE,)
    return [
        *(
            Row("1", name, k, "release", (rmse,), base, rmse)
            for (name, k), rmse in measured.TARGET.items()
        ),
        *(
            Row("3", name, k, "release", (rmse,), base, rmse)
            for (name, k), rmse in measured.SIMILAR_USER.items()
        ),
    ]


def paper_histogram() -> list[LevelRow]:
    return [
        LevelRow(level or None, before / 100, after / 100)
        for level, (before, after) in measured.HISTOGRAM.items()
    ]


def paper_bins() -> list[BinSizes]:
    return [
        BinSizes(name, np.linspace(low, high, 50).astype(np.int64))
        for name, (low, high) in measured.BIN_SIZES.items()
    ]


def ranks_at(lowest_quarter: float) -> Ranks:
    """Return self-ranks of which so many are in the lowest quarter, at its end."""
    return Ranks(PADDED, 50, (0.0,) * 24 + (lowest_quarter,) * 75 + (1.0,), 25.0)


def pairs_at(metric: str, where: str, middle: float, width: int = 5) -> Pairs:
    first = int(middle * BINS) - width // 2
    shares = [1 / width if first <= i < first + width else 0.0 for i in range(BINS)]
    return Pairs(metric, where, tuple(shares), middle)


def paper_pairs() -> list[Pairs]:
    """Return pairs as the paper describes them."""
    means = {"weighted-sq": 0.5, "closeness-0.5": 0.6, "closeness-1.0": 0.25, "weighted": 0.3}
    return [
        pairs_at(metric, where, means[metric] - shift, 3 if metric == "closeness-1.0" else 5)
        for metric in METRICS
        for where, shift in (("before", 0.0), ("within", 0.1))
    ]


def of(checks: tuple[Check, ...], words: str) -> list[bool]:
    found = [check.holds for check in checks if words in check.says]
    assert found, words
    return found


def test_the_paper_s_own_numbers_bear_out_what_it_says() -> None:
    ranks = [ranks_at(0.75)]
    checks = check_all(paper_rows(), paper_histogram(), paper_bins(), paper_pairs(), ranks)
    assert {check.figure for check in checks} == {"Table 1", "Table 2", "Table 3", "3", "4", "5"}
    assert [check.says for check in checks if not check.holds] == []
    assert not any(check.is_ours for check in checks)


@pytest.mark.parametrize(
    ("line", "k", "rmse", "words"),
    [
        (PADDED, 5, 0.95, "padded above the original"),
        (PADDED, 5, 1.0, "very little impact"),
        (SIMPLE, 50, 1.1, "much higher RMSE"),
        (PADDED, 50, 0.98, "does not have a significant impact"),
    ],
)
def test_a_table_that_says_otherwise_fails(line: str, k: int, rmse: float, words: str) -> None:
    rows = [
        replace(row, ours=(rmse,)) if (row.table, row.line, row.k) == ("1", line, k) else row
        for row in paper_rows()
    ]
    assert not all(of(check_all(rows, [], [], [], []), words))


def test_similar_users_that_predict_better_fail() -> None:
    rows = [
        replace(row, ours=(0.9,) if row.line == SIMPLE else (0.95,)) if row.table == "3" else row
        for row in paper_rows()
    ]
    checks = check_all(rows, [], [], [], [])
    assert of(checks, "padded below simple") == [False]
    assert of(checks, "own profile") == [False]


def test_a_histogram_that_keeps_nulls_or_gets_wider_fails() -> None:
    rows = paper_histogram()
    rows[0] = replace(rows[0], after=0.1)
    assert of(check_all([], rows, [], [], []), "no null is left") == [False]
    swapped = [replace(row, before=row.after, after=row.before) for row in rows[1:]]
    checks = check_all([], [rows[0], *swapped], [], [], [])
    assert of(checks, "both ends of the scale") == [False]
    assert of(checks, "padded ratings are lower") == [False]


def test_bins_pairs_and_ranks_that_say_otherwise_fail() -> None:
    virtual, real = paper_bins()
    swapped = [replace(virtual, centres="real"), replace(real, centres="virtual")]
    far = [ranks_at(0.5)]
    pairs = [
        replace(found, where={"before": "within", "within": "before"}[found.where])
        for found in paper_pairs()
    ]
    checks = check_all([], [], swapped, pairs, far)
    assert of(checks, "virtual centres") == [False]
    assert of(checks, "shift in distribution") == [False] * len(METRICS)
    assert of(checks, "most self-ranks") == [False]
    relaxed = [
        replace(found, metric={"weighted-sq": "closeness-1.0", "closeness-1.0": "weighted-sq"}[m])
        for found in paper_pairs()
        if (m := found.metric) in ("weighted-sq", "closeness-1.0")
    ]
    checks = check_all([], [], [], relaxed, [])
    assert of(checks, "too relaxed") == [False]
    assert of(checks, "fine-grained") == [False]


def test_our_own_claims_are_told_apart() -> None:
    base = (1.0, 2.0)
    rows = [
        Row("1", PADDED, 5, "release", (1.02, 2.04), base),
        Row("1", EXCHANGED, 5, "release", (1.01, 2.02), base),
        Row("1", MODEL, 5, "release", (1.015, 2.03), base),
    ]
    ours = [check for check in check_all(rows, [], [], [], []) if check.is_ours]
    assert [check.holds for check in ours] == [True, False]
    assert "1.01 against 1.02" in ours[0].ours


def test_a_ratio_is_the_mean_of_paired_ratios() -> None:
    row = Row("1", PADDED, 5, "release", (1.1, 2.0), (1.0, 1.0))
    assert row.ratio == pytest.approx(1.55)
    assert row.mean == pytest.approx(1.55)
    assert replace(row, base=(1.1, 1.0)).ratio == pytest.approx(1.5)
    told = row.to_dict()
    assert (told["low"], told["high"], told["runs"]) == (1.1, 2.0, [1.1, 2.0])
    assert list(find([row, replace(row, k=2)], "1", PADDED, "release")) == [replace(row, k=2), row]
    assert list(find([row], "1", PADDED, "release", 2)) == []


def test_figures_have_the_paper_s_numbers_and_panels() -> None:
    bins = paper_bins()
    (three,) = bins_figure(bins)
    assert three.number == "3"
    assert [point.y for point in three.series[0].points] == sorted(bins[0].sizes.tolist())
    assert three.series[0].points[-1].x == 100
    (four,) = pair_figure(paper_pairs())
    assert [s.measure for s in four.series] == ["before clustering"] * 4 + ["within clusters"] * 4
    assert sum(point.y for point in four.series[0].points) == pytest.approx(100)
    assert four.series[0].points[0].x == pytest.approx(0.025)
    (five,) = rank_figure([ranks_at(0.25)])
    at = {point.x: point.y for point in five.series[0].points}
    assert (at[1], at[24], at[25], at[99], at[100]) == (0, 0, 25, 25, 100)
    (six,) = error_figure(paper_rows())
    assert [(s.name, s.measure) for s in six.series] == [
        (PADDED, "read from the release"),
        (SIMPLE, "read from the release"),
    ]
    assert six.series[0].points[0].y == pytest.approx(0.95970 / 0.951849)
    for made in (bins_figure([]), pair_figure([]), rank_figure([]), error_figure([])):
        assert list(made) == []
