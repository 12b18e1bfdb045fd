from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.sparsity.few_facts import (
    facts_bound,
    facts_needed,
    few_facts,
    lineup_bound,
    lineup_facts,
    sample_sparsity,
)
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


@given(st.integers(1, 10**9), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_so_many_facts_leave_few_enough_false_matches(n: int, eps: float, delta: float) -> None:
    m = facts_needed(n, eps, delta)
    assert n * (1 - delta) ** m <= eps * (1 + 1e-9)
    assert n * (1 - delta) ** (m - 1) >= eps * (1 - 1e-9)
    k = 5
    assert n * (1 - delta) ** lineup_facts(n, k, delta) <= (k - 1) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: facts_bound(0, 0.1, 0.1), "records 0"),
        (lambda: facts_bound(2, 0, 0.1), "eps 0"),
        (lambda: facts_bound(2, 0.1, 1), "delta 1"),
        (lambda: facts_bound(2, math.nan, 0.5), "eps nan"),
        (lambda: lineup_bound(2, 1, 0.1), "lineup 1"),
        (lambda: lineup_bound(2, 2.5, 0.1), "lineup 2.5"),  # type: ignore[arg-type]
        (lambda: sample_sparsity(1.5, 0.1, 0.1), "delta 1.5"),
        (lambda: sample_sparsity(0.5, 0, 0.1), "share 0"),
        (lambda: sample_sparsity(0.5, 0.1, 2), "gamma 2"),
    ],
)
def test_values_out_of_range_are_refused(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        call()


@given(ratings_tables(), st.floats(0.01, 0.99))
def test_the_data_are_as_sparse_as_said(ratings: Any, eps: float) -> None:
    result = Sparsity(targets=None).run(ratings, rng=0)
    for few, curve in zip(few_facts(ratings, result, eps=(eps,)), result.neighbours, strict=True):
        assert few.crowded == curve.delta(few.threshold).rate <= eps
        below = [s for s in {0.0, *curve.similarity.tolist()} if s < few.threshold]
        assert all(curve.delta(s).rate > eps for s in below), "the least threshold"
        if few.facts is None:
            assert few.threshold >= 1 - eps - 1e-9
        else:
            assert few.delta == pytest.approx(1 - eps - few.threshold)
            assert few.facts == facts_needed(ratings.n_users, eps, few.delta or 0)


def test_a_sample_must_be_sparse_with_room_to_spare() -> None:
    ratings = table([{i: 3} for i in range(200)], STARS)
    every = few_facts(ratings, Sparsity(targets=None).run(ratings, rng=0), eps=(0.05,))[0]
    some = few_facts(ratings, Sparsity(targets=100).run(ratings, rng=0), eps=(0.05,))[0]
    few = few_facts(ratings, Sparsity(targets=10).run(ratings, rng=0), eps=(0.05,))[0]
    assert (every.threshold, every.crowded) == (0, 0)
    assert some.threshold == 0
    assert 0 < some.crowded < 0.05
    assert few.facts is None, "none in ten may be a quarter"


def test_equal_records_promise_nothing() -> None:
    ratings = table([{0: 3, 1: 2}] * 4, STARS)
    few = few_facts(ratings, Sparsity().run(ratings, rng=0))[0]
    assert few.facts is few.delta is few.lineup_facts is few.proven_facts is None
    assert "Theorem 2 does not apply" in str(few)
    assert "Too many records are covered" in str(few)


def test_a_long_record_covers_short_ones_without_being_like_them() -> None:
    """NS Lemma 1 overlooks it: Sim is small, and no number of facts tells the two apart."""
    ratings = table([dict.fromkeys(range(40), 3), {0: 3, 1: 3}, {2: 3, 3: 3}], STARS)
    found = Sparsity(targets=None).run(ratings, rng=0)
    few = few_facts(ratings, found, eps=(0.1,))[0]
    assert few.threshold == 2 / 40
    assert few.facts is not None
    assert (few.covered_threshold, few.proven_facts) == (1, None)


@given(ratings_tables(min_users=2, with_days=False), st.sampled_from([0.1, 0.3, 0.45]))
def test_proven_facts_do_single_out(ratings: Any, eps: float) -> None:
    found = Sparsity(targets=None).run(ratings, rng=0)
    few = few_facts(ratings, found, eps=(eps,))[0]
    if few.proven_facts is None:
        return
    rows = [set(ratings.columns[a:b].tolist()) for a, b in pairwise(ratings.indptr)]
    failures = 0.0  # over records, the expected share of draws that leave a second match
    for u, row in enumerate(rows):
        if len(row) < few.proven_facts:
            return  # nothing is claimed of whole records
        match = [
            math.comb(len(row & other), few.proven_facts) / math.comb(len(row), few.proven_facts)
            for v, other in enumerate(rows)
            if v != u
        ]
        failures += min(1.0, sum(match)) / len(rows)
    assert failures <= 2 * eps + 1e-9


def test_the_sentence_and_the_json_say_the_same() -> None:
    ratings = table([{0: 3, 1: 2}, {1: 2, 2: 1}, {0: 1, 3: 5, 4: 1}], STARS)
    few = few_facts(ratings, Sparsity().run(ratings, rng=0), eps=(0.1,))[0]
    assert json.loads(json.dumps(few.to_dict()))["facts"] == few.facts
    assert f"{few.facts:,} facts single out a record" in str(few)
    assert few.users_with_facts == 0  # nobody rated that much
    assert f"but no user has {few.proven_facts:,} ratings" in str(few)
    crowd = table([{i + 20 * u: 3 for i in range(40)} for u in range(3)], STARS)
    few = few_facts(crowd, Sparsity().run(crowd, rng=0), eps=(0.1,))[1]
    assert few.users_with_printed_facts == 1
    assert f"100.0% of the users have {few.facts:,} ratings or more" in str(few)


def test_what_does_not_belong_together_is_refused() -> None:
    ratings = table([{0: 3}, {0: 2}], STARS)
    found = Sparsity().run(ratings, rng=0)
    for others in (table([{0: 1}], STARS), table([{0: 3}, {0: 1}], STARS)):
        with pytest.raises(ConfigError, match="belongs to other ratings"):
            few_facts(others, found)
    with pytest.raises(ConfigError, match="eps 1"):
        few_facts(ratings, found, eps=(1.0,))
