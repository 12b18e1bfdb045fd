"""Cells that the repair of diversity invents."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import starshade as ss
from starshade import budget
from starshade.anonymize.predictive.fake_edges import Drawn
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.errors import ConfigError, UnmetError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from starshade.release.profiles import Profiles
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


def drawn(
    rows: list[dict[int, float]], *, size: int = 2, least: int = 1, b: int = 1, seed: int = 0,
    user_bias: Any = 0.0, scale: Scale = STARS,
) -> Drawn:  # fmt: skip
    """Groups of consecutive users, who are all predicted 3, and more by their bias."""
    ratings = table(rows, scale)
    m, n = ratings.n_users, ratings.n_items
    bias = np.zeros(m) + user_bias
    flat = Factors(
        ratings.users, ratings.items, scale, 3.0, bias, np.zeros(n), np.zeros((m, 0)),
        np.zeros((n, 0)),
    )  # fmt: skip
    groups = np.arange(m) // size
    levels = np.zeros((groups.max() + 1, n), np.uint8)
    for user, row in enumerate(rows):
        levels[groups[user], list(row)] = 1
    profiles = Profiles(ratings.items, np.bincount(groups), levels, scale, 0.05)
    return Drawn(Padded(ratings, flat), profiles, groups, b, least, np.random.default_rng(seed))


EMPTY: list[dict[int, float]] = [{1: 3.0}] * 6


def test_a_value_rests_on_as_many_ratings_as_a_real_cell() -> None:
    """Two gave 5 and 1, and nobody else any: whoever is to look like them shows their mean."""
    values = drawn([{0: 5.0}, {0: 1.0}, *EMPTY]).values(0, np.array([1, 2, 3]))
    assert values.tolist() == [3.0] * 3
    one = drawn([{0: 5.0}, {1: 2.0}, *EMPTY]).values(0, np.array([1, 2, 3]))
    assert one.tolist() == [5.0] * 3


def test_a_rating_differs_from_the_member_s_prediction_as_a_real_one_does() -> None:
    bias = [1, 0, 0.9, 0.9, -1.1, -1.1, 9, 9]
    made = drawn([{0: 5.0}, {1: 2.0}, *EMPTY], user_bias=bias)  # one above what is predicted
    assert made.values(0, np.array([1, 2, 3])).tolist() == [5.0, 3.0, 5.0]
    real = drawn([{0: 5.0}, {1: 2.0}, *EMPTY], user_bias=bias, scale=Scale(1, 5))
    assert real.values(0, np.array([1, 2])) == pytest.approx([4.9, 2.9])


def test_so_many_raters_as_are_needed() -> None:
    """One rated it, and two are needed: values are means of two, however few gave any."""
    made = drawn([{0: 5.0}, {1: 2.0}, {0: 2.0}, *EMPTY[1:]], least=2)
    values = np.concatenate([made.values(0, np.array([1, 2, 3])) for _ in range(40)])
    assert set(values.tolist()) == {3.5}  # each of the two ratings once
    assert made.cost(0)[0].min() > 0


def test_groups_are_drawn_where_a_real_cell_would_stand() -> None:
    """Groups 0 to 4 show the even items, the others the odd ones; one of each kind lacks one."""
    rows = [{i: 3.0 for i in range(g // 5, 20, 2) if (g, i) != (4, 0)} for g in range(10)]
    rows[9].pop(1)
    for b in (1, 2):
        first = [int(np.argmin(drawn(rows, size=1, b=b, seed=s).cost(0)[0][4:])) for s in range(50)]
        assert first.count(0) > 40  # of those that lack it


def test_another_seed_draws_others() -> None:
    rows = [{0: 3.0}, *({1: 3.0} for _ in range(39))]
    found = {int(np.argmin(drawn(rows, size=1, seed=s).cost(0)[0][1:])) for s in range(20)}
    assert len(found) > 5


@settings(max_examples=40)
@given(ratings_tables(min_users=4), st.integers(1, 2), st.integers(1, 2), st.integers(2, 4))
def test_none_can_be_struck_and_the_claim_holds(
    ratings: ss.Ratings,
    min_raters: int,
    b: int,
    l: int,  # noqa: E741
) -> None:
    method = PredictiveAnonymizer(
        k=2, profile="simple", min_raters=min_raters, b=b, l=l, sweeps=1, factors=1,
        rare_items="keep",
    )  # fmt: skip
    try:
        release = method.anonymize(ratings, rng=0)
    except (ConfigError, UnmetError):
        return
    assert ss.Diversity(b, l).check(release, original=ratings).satisfied
    if ratings.n_ratings:
        result = FakeEdgesAttack().run(release, original=ratings, rng=0)
        assert result.certain == 0
    with tempfile.TemporaryDirectory() as place:
        release.save(Path(place) / "out", private=Path(place) / "receipt")
        back = ss.read_release(Path(place) / "out", private=Path(place) / "receipt")
    assert np.array_equal(back.classes.levels, release.classes.levels)


def test_threads_change_nothing() -> None:
    ratings = synthesize(n_users=120, n_items=40, n_ratings=1200, rng=3)
    method = PredictiveAnonymizer(k=5, profile="simple", b=2, l=4)
    found = []
    for threads in (1, 2):
        with budget.limits(threads=threads):
            found.append(method.anonymize(ratings, rng=0).classes.levels)
    assert np.array_equal(*found)


def test_it_is_of_no_use_without_diversity() -> None:
    with pytest.raises(ConfigError, match="an l above 0"):
        PredictiveAnonymizer(k=5, profile="simple", fake_edges="mean")
    with pytest.raises(ConfigError, match=r"fake.edges"):
        PredictiveAnonymizer(k=5, profile="padded", fake_edges="mean")
