"""Every decision of the query guard just below its limit, at it, and just above it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from starshade.errors import ConfigError, ReleaseError
from starshade.query.limits import DEEPEST, MOST_BYTES, MOST_CONDITIONS
from starshade.query.plan import MOST_STEPS
from starshade.query.prepared import prepared
from starshade.query.query import GREATEST_BOUND, MOST_GROUPS, Query
from starshade.query.regions import NEVER, PERHAPS, SURELY, Regions
from starshade.query.statement import Comparison, Name
from starshade.query.strict import blocks_of
from starshade.ratings.scale import Scale
from starshade.release.cells import Symbols
from starshade.release.manifest import Claim
from starshade.release.table import Release
from tests.strategies import table
from tests.unit.query.cases import release_of

K = 4
A = Name("a", quoted=False)


def with_values(counts: list[int], k: int = K) -> Release:
    """A class of k + 2 records for each number of records that have an age."""
    size = k + 2
    ratings = table([{0: 1 + c} for c in range(len(counts)) for _ in range(size)], Scale(1, 9, 1))
    ages = [50.0 if i < n else None for n in counts for i in range(size)]
    ratings = ratings.annotate(attributes=pa.table({"Age": pa.array(ages, pa.float64())}))
    return release_of(ratings, np.repeat(np.arange(len(counts)), size), "ndgh", k)


@pytest.mark.parametrize(
    ("known", "refused"), [(0, False), (1, True), (K - 1, True), (K, False), (K + 1, False)]
)
@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG", "MIN", "MAX"])
def test_what_rests_on_fewer_than_k_records_is_refused(
    function: str, known: int, refused: bool
) -> None:
    asked = Query(f'SELECT {function}(Age) WHERE "1" = 1', mode="paper")
    found = asked.run(with_values([known, K]))
    assert found.refused == refused
    assert found.records == (None if refused else known)


@pytest.mark.parametrize(
    ("known", "withheld"), [(0, False), (1, True), (K - 1, True), (K, False), (K + 1, False)]
)
@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG"])
def test_an_attribute_of_fewer_than_k_people_is_withheld(
    function: str, known: int, withheld: bool
) -> None:
    found = Query(f"SELECT {function}(Age)", bounds={"Age": (0, 99)}).run(with_values([known, 0]))
    assert found.refused == withheld


@pytest.mark.parametrize(
    ("counts", "blocks"),
    [
        # classes without a value, or with k of them, stand alone
        ([0, K, 0, K + 1], [0, 1, 2, 3]),
        # one with fewer waits for others of its kind, until k values are together
        ([1, K - 1], [0, 0]),
        ([1, K - 2, K], [0, 0, 0]),
        ([K - 1, K, 1], [0, 1, 0]),
        ([K - 1, K, 1, 1], [0, 1, 0, 0]),
        ([K - 1, 1, K - 1, 1], [0, 0, 1, 1]),
        ([K, K - 1], [0, 0]),
        ([K, K, 1], [0, 1, 0]),
        ([1] * (K - 1) + [K], [0] * K),
        ([1] * K + [K], [0] * K + [1]),
    ],
)
def test_blocks_hold_k_values(counts: list[int], blocks: list[int]) -> None:
    made = prepared(with_values(counts))
    found = blocks_of(made.column("Age"), made.cells.sizes, K)
    first = {block: i for i, block in reversed(list(enumerate(found.of_class.tolist())))}
    assert [first[b] for b in found.of_class.tolist()] == [blocks.index(b) for b in blocks]
    assert ((found.counts == 0) | (found.counts >= K)).all()


@pytest.mark.parametrize(("k", "guards"), [(1, False), (2, True), (3, True)])
def test_a_claim_of_two_or_more_guards(k: int, guards: bool) -> None:
    claims = (Claim(model="k-anonymity", parameters={"k": k}),)
    made = with_values([1, 1])
    made = replace(made, manifest=made.manifest.model_copy(update={"claims": claims}))
    if guards:
        assert Query("SELECT COUNT(*)").run(made).value == 2 * (K + 2)
    else:
        with pytest.raises(ConfigError, match="no k-anonymity with k of 2 or more"):
            Query("SELECT COUNT(*)").run(made)


@pytest.mark.parametrize(("k", "kept"), [(K + 1, True), (K + 2, True), (K + 3, False)])
def test_no_class_is_smaller_than_the_claim(k: int, kept: bool) -> None:
    claims = tuple(Claim(model="k-anonymity", parameters={"k": each}) for each in (2, k))
    made = with_values([1, 1])
    made = replace(made, manifest=made.manifest.model_copy(update={"claims": claims}))
    if kept:
        assert prepared(made).k == k
    else:
        with pytest.raises(ReleaseError, match=f"class of {K + 2} records"):
            prepared(made)


@pytest.mark.parametrize(
    ("bounds", "kept"),
    [
        ((50, 50), True),
        ((50, 51), True),
        ((49, 50), True),
        ((50 + 1e-6, 51), False),
        ((49, 50 - 1e-6), False),
    ],
)
def test_values_may_lie_at_the_declared_bounds(bounds: tuple[float, float], kept: bool) -> None:
    query, made = Query("SELECT SUM(Age)", bounds={"Age": bounds}), with_values([K, K])
    if kept:
        assert query.run(made).value == 2 * K * 50
    else:
        with pytest.raises(ConfigError, match="some values lie outside"):
            query.run(made)


@pytest.mark.parametrize(
    ("bounds", "kept"),
    [
        ((-GREATEST_BOUND, GREATEST_BOUND), True),
        ((GREATEST_BOUND, GREATEST_BOUND), True),
        ((0, np.nextafter(GREATEST_BOUND, np.inf)), False),
        ((np.nextafter(-GREATEST_BOUND, -np.inf), 0), False),
        ((1, np.nextafter(1, 0)), False),
    ],
)
def test_how_far_bounds_may_lie(bounds: tuple[float, float], kept: bool) -> None:
    if kept:
        Query("SELECT SUM(Age)", bounds={"Age": bounds})
    else:
        with pytest.raises(ConfigError, match="two numbers between"):
            Query("SELECT SUM(Age)", bounds={"Age": bounds})


@pytest.mark.parametrize(("levels", "listed"), [(MOST_GROUPS, True), (MOST_GROUPS + 1, False)])
def test_how_many_values_are_listed(levels: int, listed: bool) -> None:
    ratings = table([{0: 1}] * 4, Scale(1, levels, 1), n_items=1)
    query = Query('SELECT COUNT(*) GROUP BY "1"')
    if listed:
        assert len(query.run(ratings).groups) == levels + 1
    else:
        with pytest.raises(ConfigError, match=f"more than {MOST_GROUPS} values"):
            query.run(ratings)


HEAD = "SELECT COUNT(*) WHERE "


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (HEAD + "a = 1".ljust(MOST_BYTES - len(HEAD)), None),
        (HEAD + "a = 1".ljust(MOST_BYTES - len(HEAD) + 1), "longer than"),
        (HEAD + ("(" * DEEPEST) + "a = 1" + ")" * DEEPEST, None),
        (HEAD + "(" * (DEEPEST + 1) + "a = 1" + ")" * (DEEPEST + 1), "nested more than"),
        (HEAD + "NOT " * DEEPEST + "a = 1", None),
        (HEAD + "NOT " * (DEEPEST + 1) + "a = 1", "nested more than"),
        (HEAD + " OR ".join(["a = 1"] * MOST_CONDITIONS), None),
        (HEAD + " OR ".join(["a = 1"] * (MOST_CONDITIONS + 1)), "more than 200 conditions"),
    ],
    ids=[f"{what}-{n}" for what in ("bytes", "parentheses", "signs", "conditions") for n in "=>"],
)
def test_how_long_and_deep_a_query_may_be(sql: str, words: str | None) -> None:
    if words is None:
        Query(sql)
    else:
        with pytest.raises(ConfigError, match=words):
            Query(sql)


def test_how_many_cases_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    made = with_values([K, K])
    query = Query(HEAD + '"1" = 1')  # one step
    for most, refused in ((2, False), (1, False), (0, True)):
        monkeypatch.setattr("starshade.query.plan.MOST_STEPS", most)
        if refused:
            with pytest.raises(ConfigError, match="cases"):
                query.run(made)
        else:
            assert query.run(made).value == K + 2
    assert MOST_STEPS >= MOST_CONDITIONS  # whoever names each item once is answered


# 4 and its neighbours: the slack is 1e-9, and a float of this size is known to 1e-15
NEAR = [-1.1e-9, -0.9e-9, 0.0, 0.9e-9, 1.1e-9]


@pytest.mark.parametrize("away", NEAR)
def test_ratings_next_to_a_constant(away: float) -> None:
    at = abs(away) < 1e-9
    regions = Regions.of([Comparison(A, "in", (4.0,))])
    found = int(regions.of_values(np.array([4.0 + away]))[0])
    assert found == (1 if at else 0 if away < 0 else 2)


@pytest.mark.parametrize("away", NEAR[2:])
def test_constants_next_to_each_other(away: float) -> None:
    tests = [Comparison(A, "in", (4.0,)), Comparison(A, "in", (4.0 + away,))]
    assert len(Regions.of(tests).constants) == (1 if away < 1e-9 else 2)


@pytest.mark.parametrize(
    ("constant", "share", "status"),
    [
        (3 + 0.5e-9, 1.0, SURELY),  # one with both ends
        (3 + 1.5e-9, 0.5, PERHAPS),  # with the upper end alone: no length says how likely
        (3 + 2.5e-9, 0.0, NEVER),
    ],
)
def test_a_range_that_is_hardly_longer_than_a_point(
    constant: float, share: float, status: int
) -> None:
    symbols = Symbols.ranges(Scale(-10, 10), np.array([3.0]), np.array([3 + 0.9e-9]))
    test = Comparison(A, "in", (constant,))
    regions = Regions.of([test])
    found = regions.locate(symbols).judge(regions.true_in(test))
    assert (found[0][0], found[1][0]) == (share, status)


def test_between_ends_in_the_wrong_order_is_nothing() -> None:
    test = Comparison(A, "between", (3.0, 2.0))
    assert Regions.of([test]).true_in(test) == 0


@pytest.mark.parametrize(
    ("low", "high", "null", "rated"),
    [
        (-11.0, -10 - 2e-9, True, False),
        (-11.0, -10.0, True, True),
        (-11.0, -9.0, True, True),
        (-10 - 2e-9, -9.0, True, True),
        (-10 - 0.5e-9, -9.0, False, True),
        (-10.0, -10.0, False, True),
    ],
)
def test_what_a_range_next_to_null_can_mean(
    low: float, high: float, null: bool, rated: bool
) -> None:
    symbols = Symbols.ranges(Scale(-10, 10), np.array([low]), np.array([high]))
    for negated, can in ((False, null), (True, rated)):
        test = Comparison(A, "null", negated=negated)
        regions = Regions.of([test])
        status = regions.locate(symbols).judge(regions.true_in(test))[1]
        assert bool(status[0]) == can
