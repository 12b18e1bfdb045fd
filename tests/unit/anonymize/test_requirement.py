"""What both methods for (k, eps) refuse and say, and that what they hold fits the budget."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from starshade import budget
from starshade.anonymize.interval.groups import cluster_groups, pattern_groups
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.interval.table import IntervalTable, moved_ratings
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.errors import ConfigError
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.table import Ratings

METHODS = (IntervalAnonymizer, SuppressAnonymizer)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sensitive": None}, "list of item ids, not NoneType"),
        ({"sensitive": 7}, "list of item ids, not int"),
        ({"sensitive": "50"}, "list of item ids, not one text"),
        ({"items": "top:5"}, r"items of type str.*\n.*ss\.top_items\(5\)"),
        ({"eps": -1}, "0 or more"),
        ({"eps": "x"}, "eps = 'x': must be a finite number"),
    ],
)
def test_what_is_of_another_kind_is_refused(method: Any, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        method(**{"k": 2, "eps": 1, **wrong})


@pytest.mark.parametrize("method", METHODS)
def test_no_release_claims_an_eps_of_minus_zero(method: Any) -> None:
    ratings = Ratings.from_arrays(["a", "b"], ["x", "x"], [3, 3], scale="1:5:1")
    release = method(k=2, eps=-0.0).anonymize(ratings, rng=0)
    told = [*(claim.parameters["eps"] for claim in release.manifest.claims)]
    assert [f"{eps:g}" for eps in told] == ["0"]


def sparse(n: int, m: int, real: bool) -> Ratings:
    rng = np.random.default_rng(5)
    items = np.concatenate([rng.choice(m, 8, replace=False) for _ in range(n)])
    given = rng.random(8 * n) * 4 + 1 if real else rng.integers(1, 6, 8 * n)
    scale = "1:5" if real else "1:5:1"
    return Ratings.from_arrays(np.repeat(np.arange(n), 8), items, given, scale=scale)


@pytest.mark.parametrize(("nulls", "real"), [("strict", False), ("zero", False), ("strict", True)])
def test_what_was_planned_is_not_exceeded(
    nulls: NullRule, real: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = sparse(20_000, 400, real)
    table_size = ratings.n_users * ratings.n_items
    # searching groups is long, and what it takes is planned apart
    monkeypatch.setattr(
        "starshade.anonymize.interval.groups.pack",
        lambda rows, *_, **__: np.zeros(len(rows), dtype=np.int64),
    )
    numbers = np.random.default_rng(0).integers(0, 1 << 60, ratings.n_users).astype(np.uint64)
    items = np.arange(ratings.n_items)

    def all_steps() -> None:
        cells = IntervalTable.of(ratings, items, 1, nulls, numbers)
        groups = cluster_groups(cells.coarse(), numbers, 0 * pattern_groups(cells, 5), 5)
        moved_ratings(ratings, items, cells, cells.clip(groups)[1])

    tracemalloc.start()
    all_steps()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with budget.limits(memory=peak), pytest.raises(ConfigError, match="as full tables take about"):
        IntervalTable.of(ratings, items, 1, nulls, numbers)
    assert peak < table_size * (24 if real else 6)


def test_advice_names_a_number_of_items_that_fits() -> None:
    ratings = sparse(5_000, 400, False)
    items, numbers = np.arange(400), np.zeros(5_000, np.uint64)
    with budget.limits(memory=18_000_000):
        with pytest.raises(ConfigError) as no:
            IntervalTable.of(ratings, items, 1, "strict", numbers)
        assert "5,000 records x 400 items as full tables" in no.value.message
        assert " MB; " in no.value.message
        fits = int(no.value.advice.split("top_items(")[1].split(")")[0])
        IntervalTable.of(ratings, items[:fits], 1, "strict", numbers)
    with budget.limits(memory=1_000), pytest.raises(ConfigError) as no:
        IntervalTable.of(ratings, items, 1, "strict", numbers)
    assert no.value.advice == "Allow more with budget.limits(memory=…)."


def test_groups_that_do_not_fit_beside_the_tables_are_refused() -> None:
    ratings = sparse(2_000, 300, False)
    numbers = np.arange(2_000, dtype=np.uint64)
    cells = IntervalTable.of(ratings, np.arange(300), 1, "strict", numbers)
    with (
        budget.limits(memory=10_000_000),
        pytest.raises(ConfigError, match="2,000 records x 300 items: grouping them takes about"),
    ):
        cluster_groups(cells.coarse(), numbers, np.zeros(2_000, dtype=np.int64), 2)
