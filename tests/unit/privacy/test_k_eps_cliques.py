"""(k, ε) with groups that are near one another: the greedy search, held against its twin."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError
from starshade.privacy.k_eps import KEpsAnonymity
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.naive import cliques
from tests.naive import k_eps as naive
from tests.strategies import at_least, ratings_tables, table

STARS = Scale(1, 5, 1)
LINE = table([{0: float(v)} for v in (1, 2, 3)], STARS)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Ratings, int, float, str]:
    ratings = draw(ratings_tables(min_users=2, with_days=False))
    k = draw(st.integers(2, ratings.n_users))
    eps = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]))
    return ratings, k, eps, draw(st.sampled_from(["strict", "ignore", "zero"]))


def largest(near: list[set[int]], v: int) -> int:
    """The largest clique that v is in, by trying all."""
    for size in range(len(near[v]), 1, -1):
        for others in combinations(sorted(near[v] - {v}), size - 1):
            clique = {v, *others}
            if all(clique <= near[w] for w in clique):
                return size
    return 1


@at_least(100)
@given(cases())
def test_what_is_found_is_the_twins_and_true(case: Any) -> None:
    ratings, k, eps, nulls = case
    items = list(range(ratings.n_items))
    near = naive.balls(naive.records_of(ratings), items, eps, nulls, ratings.scale)
    size, _ = cliques.seek_cliques(near, k)
    verdict = KEpsAnonymity(k, eps, nulls=nulls, groups="clique").check(ratings)
    failing = [v for v, n in enumerate(size) if n < k]
    assert verdict.failing_records == len(failing)
    assert verdict.not_found == sum(len(near[v]) >= k for v in failing)
    for v, n in enumerate(size):  # never more than there is
        assert n <= largest(near, v)
    if verdict.satisfied:
        assert KEpsAnonymity(k, eps, nulls=nulls).check(ratings).satisfied


def test_a_ball_is_no_clique() -> None:
    # 1 and 3 are both near 2, and not near each other
    assert KEpsAnonymity(3, 1).check(LINE.keep_users(np.array([0, 1, 2]))).failing_records == 2
    balls = KEpsAnonymity(2, 1).check(LINE)
    cliques = KEpsAnonymity(2, 1, groups="clique").check(LINE)
    assert balls.satisfied
    assert cliques.satisfied
    three = KEpsAnonymity(3, 1, groups="clique").check(LINE)
    assert (three.failing_records, three.not_found) == (3, 1)
    assert "proves nothing" in str(three)
    assert "fewer than 3" in str(three)
    assert three.witness is None
    assert three.to_dict()["parameters"]["groups"] == "clique"


def test_a_proof_says_so() -> None:
    told = str(KEpsAnonymity(2, 1, groups="clique").check(LINE))
    assert "proves (k, eps)-anonymity" in told
    assert "groups" not in KEpsAnonymity(2, 1).check(LINE).parameters


def test_everybody_is_one_group_at_the_scales_width() -> None:
    assert KEpsAnonymity(3, 5, groups="clique").check(LINE).smallest_class == 3


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ConfigError, match="not all cliques can be counted"):
        KEpsAnonymity(2, 1, groups="clique", full=True)
    with pytest.raises(ConfigError, match="groups"):
        KEpsAnonymity(2, 1, groups="circle")  # type: ignore[arg-type]


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "memory", lambda: 10)
    with pytest.raises(ConfigError):
        KEpsAnonymity(2, 1, groups="clique").check(LINE)
