"""Recall at a precision, and pools of candidates, beside their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood import pools
from starshade.attack.likelihood.informed import Model
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.likelihood.plain import weigh_plainly
from starshade.attack.likelihood.pools import pools_of
from starshade.attack.likelihood.sought import Sought
from starshade.attack.recall import recall_in_pools
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.targets import usable
from starshade.attack.view import look, of_released
from starshade.errors import StarshadeError
from starshade.figure import Rate
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.release.table import Release
from starshade.rng import generator
from tests.naive import likelihood as naive_likelihood
from tests.naive import recall as naive
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.test_likelihood import (
    classes_of,
    facts_of,
    knowledges,
    law_of,
    told_of,
)

FIVE = Scale(1, 5, 1)


@pytest.fixture(scope="module", autouse=True)
def _small_pools() -> Any:
    """Pools for tables of a few people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "_FIRST", (2, 3, 5))
        yield


@at_least(30)
@given(ratings_tables(max_users=7, max_items=5), knowledges, st.booleans(), st.integers(0, 99))
def test_on_ratings_the_posterior_is_renormalized_over_the_pool(
    ratings: Any, knowledge: Knowledge, plain: bool, seed: int
) -> None:
    view = look(ratings, None, None)
    knowledge = usable(knowledge, view)
    users = np.flatnonzero(knowledge.eligible_users(ratings))
    if not len(users):
        return
    known, drawn = knowledge.draw(ratings, users, seed), pools_of(view, users, seed)
    assert drawn is not None
    if plain:
        every = weigh_plainly(view, known, Sought(view, pools=drawn))
    else:
        every = Model(view, knowledge).weigh(known, Sought(view, pools=drawn))
    posterior, credit = pools.posteriors_of(drawn.found, every, ratings.n_users)
    law = law_of(view, knowledge)
    order = generator(seed, "pools").permutation(ratings.n_users).tolist()
    for t, user in enumerate(users):
        facts, told = facts_of(known, t), told_of(known, t)
        if plain:
            scores = [naive_likelihood.plain(ratings, facts, u) for u in range(ratings.n_users)]
            chances = np.exp(np.array(scores) - max(scores)).tolist()
        else:
            chances = [
                law.chance(row, facts, told) if law.allowed(row) else 0.0 for row in law.rows
            ]
        for q, size in enumerate(drawn.sizes):
            pool = naive.candidates(order, [1] * ratings.n_users, int(user), int(size))
            assert len(pool) == size
            expected = naive.named([(chances[u], 1) for u in pool], chances[user])
            assert posterior[t, q] == pytest.approx(expected[0], rel=1e-9)
            assert credit[t, q] == pytest.approx(expected[1])


@at_least(20)
@given(
    ratings_tables(scales=(FIVE,), min_users=4, max_users=9, max_items=4, with_days=False),
    st.integers(1, 2),
    st.integers(0, 9),
)
def test_of_a_release_classes_are_in_a_pool_as_a_whole(ratings: Any, known: int, seed: int) -> None:
    try:
        release = KLikeness(k=2).anonymize(ratings, rng=0)
    except StarshadeError:
        return
    view, _ = of_released(look(release, ratings, None))
    knowledge = Knowledge(known=known, dates=False)
    users = np.flatnonzero(knowledge.eligible_users(view.original))
    if not len(users):
        return
    facts, drawn = knowledge.draw(view.original, users, seed), pools_of(view, users, seed)
    outcomes, _ = Likelihood().judge(Model(view, knowledge), facts, drawn)
    law, classes, sizes = law_of(view, knowledge), classes_of(view), view.cells.sizes.tolist()
    order = generator(seed, "pools").permutation(len(classes)).tolist()
    assert drawn is not None
    assert (view.cells.first_equal == np.arange(len(classes))).all()
    for t, user in enumerate(users):
        chances = [law.chance_of_class(each, facts_of(facts, t)) for each in classes]
        own = int(view.row_of_user[user])
        for q, size in enumerate(drawn.sizes):
            pool = naive.candidates(order, sizes, own, int(size))
            expected = naive.named([(chances[c], sizes[c]) for c in pool], chances[own])
            assert outcomes.pool_posterior[t, q] == pytest.approx(expected[0], rel=1e-9)
            assert outcomes.pool_credit[t, q] == pytest.approx(expected[1])
            assert outcomes.pool_posterior[t, q] <= 1 / 2 + 1e-9


shares = st.sampled_from([0.0, 0.2, 0.5, 0.5 * (1 - 1e-12), 0.9, 0.97, 1.0])


@at_least(100)
@given(st.lists(st.tuples(shares, st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=40))
def test_the_threshold_with_the_largest_recall_is_taken(each: list[tuple[float, float]]) -> None:
    statistic, credit = (np.array(column) for column in zip(*each, strict=True))
    (found,) = recall_in_pools(statistic[:, None], credit[:, None], (9,), most=1.0, seed=0)
    for rate, level in ((found.recall_90, 0.9), (found.recall_99, 0.99)):
        assert rate.rate == pytest.approx(naive.recall(statistic, credit, level))
        assert rate.low <= rate.rate <= rate.high


def test_recall_by_hand() -> None:
    """Nine right answers, then a wrong one: 90 % precision takes all ten, 99 % the first nine."""
    statistic = np.array([1.0] * 9 + [0.5, 0.4])
    credit = np.array([1.0] * 9 + [0.0, 0.0])
    (found,) = recall_in_pools(statistic[:, None], credit[:, None], (11,), most=1.0, seed=0)
    assert found.recall_90.rate == found.recall_99.rate == pytest.approx(9 / 11)
    credit = np.array([1.0] * 8 + [0.0, 1.0, 1.0])  # the ninth of equal ones is wrong
    (found,) = recall_in_pools(statistic[:, None], credit[:, None], (11,), most=1.0, seed=0)
    assert found.recall_90.rate == pytest.approx(10 / 11)
    assert found.recall_99 == Rate(0.0, 0.0, found.recall_99.high)


def test_equal_records_leave_no_answer_of_that_precision() -> None:
    ratings = synthesize(n_users=60, n_items=8, rng=0)
    release = KLikeness(k=3).anonymize(ratings, rng=0)
    result = Likelihood().run(release, Knowledge(known=3), original=ratings, rng=0)
    assert [each.candidates for each in result.recall] == [2, 3, 5, 60]
    assert {each.recall_90 for each in result.recall} == {Rate(0.0, 0.0, 0.0)}
    assert "Every record equals at least 2 others, so no answer has 90 % precision:" in str(result)


def test_both_attacks_show_their_recall() -> None:
    ratings = synthesize(n_users=60, n_items=20, rng=0)
    knowledge = Knowledge(known=2, dates=False)
    found = Likelihood().run(ratings, knowledge, rng=0)
    among_all = found.recall[-1]
    assert [each.candidates for each in found.recall] == [2, 3, 5, 60]
    assert found.recall[0].recall_90.rate >= among_all.recall_90.rate > 0
    (table_,) = found.tables
    assert [row[0] for row in table_.rows] == ["2", "3", "5", "60"]
    assert table_.rows[-1][1:] == (str(among_all.recall_90), str(among_all.recall_99))
    assert f"re-identifies {among_all.recall_90} of targets among all 60 records" in str(found)
    assert found.to_dict()["recall"][0]["candidates"] == 2
    by_score = ScoreboardRH().run(ratings, knowledge, rng=0)
    assert [each.candidates for each in by_score.recall] == [60]
    assert by_score.tables == ()
    assert "At 90 % precision (by eccentricity)" in str(by_score)
    named = by_score.per_target
    assert by_score.recall[0].recall_90.rate == pytest.approx(
        naive.recall(named.eccentricity, named.expected_top1, 0.9)
    )
    points = found.plot_recall()["layer"][0]["data"]["values"]
    assert [p["x"] for p in points] == [2, 3, 5, 60] * 2
    assert points[3]["y"] == among_all.recall_90.rate


def test_without_a_link_there_are_no_pools() -> None:
    ratings = table([{0: 1}, {0: 1}, {0: 5}, {0: 5}], FIVE)
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    blind = Release(release.manifest, release.classes)
    result = Likelihood().run(blind, Knowledge(known=1), original=ratings, rng=0)
    assert [each.candidates for each in result.recall] == [4]
