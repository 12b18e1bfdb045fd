"""Strict SUM, AVG and COUNT at the edges: bounds on either side of zero, blocks just certain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.query.aggregate import Chosen
from starshade.query.regions import NEVER, PERHAPS, SURELY
from starshade.query.strict import Blocks, strict_count, strict_mean, strict_total

INF = float("inf")


def asked(
    classes: list[tuple[int, int, int]], known: list[tuple[int, float]]
) -> tuple[Blocks, Chosen]:
    """Classes as (block, records, status), blocks as (records with a value, their total)."""
    of_class, sizes, status = (np.array(column, np.int64) for column in zip(*classes, strict=True))
    counts, totals = zip(*known, strict=True)
    blocks = Blocks(
        of_class,
        np.bincount(of_class, weights=sizes).astype(np.int64),
        np.array(counts, np.int64),
        np.array(totals, np.float64),
        -INF,
        INF,
    )
    share = np.where(status == SURELY, 1.0, np.where(status == NEVER, 0.0, 0.5))
    return blocks, Chosen(share, status.astype(np.uint8), sizes)


ONE = [(0, 4, PERHAPS)]  # four records of one class that may satisfy
SURE = [(0, 4, SURELY), (1, 4, PERHAPS)]
ODD = [(0, 2, SURELY), (0, 2, PERHAPS)]  # one block of two classes
MAYBE = [(0, 2, PERHAPS), (0, 2, NEVER)]


@pytest.mark.parametrize(
    ("classes", "known", "bounds", "total", "mean"),
    [
        # each line by hand, from the essay of starshade.query.strict
        (ONE, [(4, 100)], (18, 90), (18, 100), (18, 90)),
        (ONE, [(4, -100)], (-90, -18), (-100, -18), (-90, -18)),
        (ONE, [(4, 100)], (0, 90), (0, 100), (0, 90)),
        (ONE, [(4, -100)], (-90, 0), (-100, 0), (-90, 0)),
        (ONE, [(4, 100)], (-10, 90), (-26, 126), (-10, 90)),
        (ONE, [(4, 20)], (5, 5), (5, 20), (5, 5)),  # everybody has the one value that there is
        (ONE, [(4, -20)], (-5, -5), (-20, -5), (-5, -5)),
        # at the ends nobody can be anywhere else
        (ONE, [(4, 72)], (18, 90), (18, 72), (18, 18)),
        (ONE, [(4, 360)], (18, 90), (18, 360), (90, 90)),
        (ONE, [(4, -40)], (-10, 90), (-40, 0), (-10, -10)),
        # somebody surely counts: no value of the others is needed
        (SURE, [(4, 100), (4, 100)], (18, 90), (100, 200), (None, None)),
        (SURE, [(4, -100), (4, -100)], (-90, -18), (-200, -100), (None, None)),
        # of a block of several classes only numbers are known: two of four are certain
        (ODD, [(4, 100)], (18, 90), (36, 360), (18, 90)),
        (ODD, [(4, -100)], (-90, -18), (-360, -36), (-90, -18)),
        (ODD, [(4, 100)], (-10, 90), (-40, 360), (-10, 90)),
        (ODD, [(3, 75)], (18, 90), (18, 270), (18, 90)),  # of two, one may have no value
        (ODD, [(2, 50)], (18, 90), (18, 180), (18, 90)),  # both may: no set is empty
        (MAYBE, [(4, 100)], (18, 90), (18, 180), (18, 90)),
        (MAYBE, [(1, 25)], (18, 90), (18, 90), (18, 90)),
    ],
)
def test_sums_and_means(
    classes: list[tuple[int, int, int]],
    known: list[tuple[int, float]],
    bounds: tuple[float, float],
    total: tuple[float, float],
    mean: tuple[float | None, float | None],
) -> None:
    blocks, chosen = asked(classes, known)
    found = strict_total(blocks, chosen, bounds)
    assert (found.low, found.high) == pytest.approx(total)
    if mean[0] is not None:
        found = strict_mean(blocks, chosen, bounds)
        assert (found.low, found.high) == pytest.approx(mean)


def test_a_mean_beside_who_surely_counts() -> None:
    # 100 of 4; of the others 3.61 can be at 18, 0.39 at 90
    blocks, chosen = asked(SURE, [(4, 100), (4, 100)])
    found = strict_mean(blocks, chosen, (18, 90))
    at_low, at_high = (4 * 90 - 100) / 72, (100 - 4 * 18) / 72
    assert found.low == pytest.approx((100 + 18 * at_low) / (4 + at_low))
    assert found.high == pytest.approx((100 + 90 * at_high) / (4 + at_high))


@pytest.mark.parametrize(
    ("classes", "known", "expected"),
    [
        ([(0, 4, SURELY)], [(4, 100)], (4, 4, 4)),
        (ONE, [(4, 100)], (2, 0, 4)),
        (ODD, [(4, 100)], (3, 2, 4)),
        (ODD, [(3, 100)], (2.25, 1, 3)),
        (ODD, [(2, 100)], (1.5, 0, 2)),
        (MAYBE, [(4, 100)], (1, 0, 2)),
        (MAYBE, [(1, 100)], (0.25, 0, 1)),
        ([(0, 2, NEVER), (0, 2, NEVER)], [(4, 100)], (0, 0, 0)),
        ([(0, 2, SURELY), (0, 2, SURELY)], [(3, 100)], (3, 3, 3)),
    ],
)
def test_counts(
    classes: list[tuple[int, int, int]],
    known: list[tuple[int, float]],
    expected: tuple[float, int, int],
) -> None:
    found = strict_count(*asked(classes, known))
    assert (found.value, found.low, found.high) == expected


@pytest.mark.parametrize("status", [NEVER, PERHAPS])
def test_who_has_no_value_has_no_sum(status: int) -> None:
    blocks, chosen = asked([(0, 4, status)], [(0, 0)])
    for found in (strict_total(blocks, chosen, (1, 2)), strict_mean(blocks, chosen, (1, 2))):
        assert (found.value, found.low, found.high) == (None, None, None)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Any, ...]:
    """Bounds anywhere, and people in classes of blocks: a value or none, and who satisfies."""
    low = draw(st.integers(-12, 8))
    high = low + draw(st.integers(0, 8))
    value = st.one_of(st.none(), st.integers(low, high), st.sampled_from([low, high]))
    classes, known, counted = [], [], []
    for block in range(draw(st.integers(1, 3))):
        values: list[int] = []
        for _ in range(draw(st.integers(1, 2))):
            people = draw(st.lists(value, min_size=1, max_size=4))
            status = draw(st.sampled_from([NEVER, PERHAPS, SURELY]))
            classes.append((block, len(people), status))
            for one in people:
                hit = status == SURELY or (status == PERHAPS and draw(st.booleans()))
                values += [one] if one is not None else []
                counted += [one] if one is not None and hit else []
        known.append((len(values), float(sum(values))))
    return classes, known, (low, high), counted


@given(made=worlds())
def test_the_truth_of_every_world_lies_between(made: tuple[Any, ...]) -> None:
    classes, known, bounds, counted = made
    blocks, chosen = asked(classes, known)
    count = strict_count(blocks, chosen)
    assert count.low <= len(counted) <= count.high
    if counted:
        for answer, truth in (
            (strict_total(blocks, chosen, bounds), sum(counted)),
            (strict_mean(blocks, chosen, bounds), sum(counted) / len(counted)),
        ):
            assert answer.low - 1e-9 <= truth <= answer.high + 1e-9
