"""Scoreboard, structure and label: whom they attack, what they refuse, what they say."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from starshade.attack.candidates.candidates import LabelAttack, Scoreboard, StructureAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.release.table import Release
from tests.strategies import table
from tests.unit.attack.test_run import grouped
from tests.unit.attack.test_scoreboard_rh import some_table

FIVE = Scale(1, 5, 1)
ATTACKS = [Scoreboard, StructureAttack, LabelAttack]
every = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


def counts(result: CandidateResult) -> list[int]:
    return result.per_target.candidates.tolist()


@every
def test_a_result_is_plain_json_with_the_documented_keys(attack: Any) -> None:
    ratings = some_table(40, 12)
    result = attack(absent=True, k=3).run(ratings, Knowledge(known=1), rng=1)
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    shared = ScoreboardRH().run(ratings, Knowledge(known=1), rng=1).to_dict()
    assert told.keys() == shared.keys() | {"candidates", "single", "fewer_than_k", "k", "bound"}
    assert told["attack"] == attack.name
    assert told["candidates"].keys() == {"mean", "median"}
    assert told["single"].keys() == told["fewer_than_k"].keys() == {"rate", "low", "high"}
    assert told["success"]["rate"] == told["expected_top1"] == result.per_target.credit.mean()
    assert told["k"] == told["config"]["k"] == 3
    assert told["targets"] + told["ineligible"] == told["records"] == 40
    n = np.array(counts(result))
    assert told["single"]["rate"] == (n == 1).mean()
    assert told["fewer_than_k"]["rate"] == ((n > 0) & (n < 3)).mean()
    assert told["candidates"] == {"mean": n.mean(), "median": np.median(n)}
    if attack is LabelAttack:  # or the two lines above might compare nothing
        assert 0 < told["single"]["rate"] < told["fewer_than_k"]["rate"] < 1
    assert len(json.dumps(told)) < 2500  # no list over targets
    for figure in (
        result.single,
        result.fewer_than_k,
        result.expected_top1,
        result.class_contents_known,
    ):
        assert str(figure) in str(result)
    assert "(guessing: 1 of 40)." in str(result)
    assert "With the target's record removed" in str(result)


def test_each_attack_uses_its_part_of_the_knowledge() -> None:
    """One target, A = 4 on day 10, and others who miss something."""
    ratings = table(
        [{0: 4}, {0: 4}, {0: 3}, {0: 4}, {1: 4}],
        FIVE,
        days=[{0: 10}, {0: 200}, {0: 10}, {0: 12}, {1: 10}],
    )
    knowledge = Knowledge(known=1, day_error=0)

    def first(attack: Any, knows: Knowledge = knowledge) -> int:
        return counts(attack.run(ratings, knows, rng=0))[0]

    assert first(StructureAttack()) == 4
    assert first(LabelAttack()) == 3
    assert first(LabelAttack(tolerance=1)) == 4
    assert first(Scoreboard()) == 1
    assert first(Scoreboard(day_error=2)) == 2
    assert first(Scoreboard(day_error=math.inf)) == 3
    assert first(Scoreboard(rating_error=math.inf)) == 2
    assert first(Scoreboard(rating_error=math.inf, day_error=math.inf)) == 4
    assert first(Scoreboard(), replace(knowledge, dates=False)) == 3
    assert first(Scoreboard(), replace(knowledge, ratings=False)) == 2
    # a day known within 3 finds the first and the last; how far off it was drawn hardly matters
    assert first(Scoreboard(day_error=6), replace(knowledge, day_error=3)) == 2


def test_thresholds_are_the_knowledge_s_unless_given() -> None:
    ratings = some_table(40, 12)
    knowledge = Knowledge(known=1, rating_error=0.5, day_error=7)
    told = Scoreboard().run(ratings, knowledge, rng=0).config
    assert (told["rating_error"], told["day_error"]) == (0.5, 7)
    told = Scoreboard(rating_error=math.inf, day_error=2.5).run(ratings, knowledge, rng=0).config
    assert (told["rating_error"], told["day_error"]) == (None, 2)
    told = Scoreboard().run(ratings, replace(knowledge, day_error=None), rng=0).config
    assert told["day_error"] is None


def test_without_days_in_the_data_there_is_no_condition_on_them() -> None:
    ratings = some_table(40, 12)
    undated = replace(ratings, days=None)
    knowledge = Knowledge(known=2, day_error=0)
    scoreboard = Scoreboard().run(undated, knowledge, rng=0)
    assert not scoreboard.knowledge["dates"]
    assert counts(scoreboard) == counts(LabelAttack().run(ratings, knowledge, rng=0))


def test_right_knowledge_finds_the_target_and_wrong_knowledge_may_not() -> None:
    ratings = some_table(60, 12)
    for attack in (Scoreboard(), StructureAttack(), LabelAttack()):
        result = attack.run(ratings, Knowledge(known=2, day_error=3), rng=0)
        assert result.false_match.rate == result.no_answer == 0
    wrong = LabelAttack().run(ratings, Knowledge(known=2, wrong=1), rng=0)
    assert wrong.false_match.rate > 0
    assert wrong.no_answer > 0
    assert wrong.expected_top1.rate == 0  # one wrong rating, and the target does not fit
    assert wrong.entropy_bits.mean == pytest.approx(math.log2(60))
    assert 0 < wrong.fewer_than_k.rate <= 1 - wrong.no_answer


@pytest.mark.parametrize(
    ("attack", "name"),
    [
        (Scoreboard(), "2 known, ratings ±0.5, days ±14"),
        (StructureAttack(), "2 known, no ratings, no days"),
        (LabelAttack(), "2 known, ratings ±0.5, no days"),
    ],
)
def test_a_result_names_what_was_made_use_of(attack: Any, name: str) -> None:
    knowledge = Knowledge(known=2, rating_error=0.5)
    assert attack.run(some_table(20, 8), knowledge, rng=0).knowledge["name"] == name


def test_more_tolerance_keeps_who_fitted_before() -> None:
    ratings = some_table(80, 12)
    knowledge = Knowledge(known=2)
    before = np.zeros(0)
    for tolerance in (0.0, 0.5, 1.0, 5.0):
        found = np.array(counts(LabelAttack(tolerance=tolerance).run(ratings, knowledge, rng=0)))
        assert not len(before) or (found >= before).all()
        before = found
    assert before.tolist() == counts(StructureAttack().run(ratings, knowledge, rng=0))


def test_the_number_of_ratings_rules_some_out() -> None:
    few = [{2 * i: 3.0, 2 * i + 1: 3.0} for i in range(15)]
    ratings = table([*few, dict.fromkeys(range(30), 3.0)], FIVE)
    alone = StructureAttack().run(ratings, Knowledge(known=1), rng=3)
    told = StructureAttack().run(ratings, Knowledge(known=1, about_count=True), rng=3)
    assert counts(alone) == [2] * 16
    assert counts(told) == [1] * 16


def test_ratings_are_known_of_released_items_alone() -> None:
    original, released = grouped()
    blind = Release(released.manifest, released.classes)
    result = StructureAttack().run(blind, Knowledge(known=2), original=original, rng=0)
    # users 1, 2 and 4 have two ratings of released items, users 3 and 5 one
    assert (result.targets, result.ineligible, result.people) == (3, 2, 5)
    assert result.no_answer == 0
    assert "of released items. 3 of 5 people have at least 2 ratings" in str(result)


def test_the_tolerance_is_told_instead_of_exact_ratings() -> None:
    ratings = some_table(60, 12)
    known = Knowledge(known=2)
    told = str(LabelAttack(tolerance=0.5).run(ratings, known, rng=0))
    assert "known of each: 2 known, ratings, which match within ±0.5, no days." in told
    told = str(LabelAttack(tolerance=1.5).run(ratings, replace(known, rating_error=1), rng=0))
    assert "2 known, ratings ±1, no days; ratings match within ±1.5." in told
    assert "2 known, ratings exact, no days." in str(LabelAttack().run(ratings, known, rng=0))


ERRORS: list[tuple[Any, Knowledge, str]] = [
    (LabelAttack(), Knowledge(known=2, rating_error=1), "(tolerance=1)"),
    (LabelAttack(tolerance=1), Knowledge(known=2, rating_error=1), ""),
    (StructureAttack(), Knowledge(known=2, rating_error=1), ""),
    (HomogeneityAttack(), Knowledge(known=2, rating_error=1), "(tolerance=1)"),
    (HomogeneityAttack(by="structure"), Knowledge(known=2, rating_error=1), ""),
    (Scoreboard(), Knowledge(known=2, rating_error=1), ""),
    (Scoreboard(rating_error=0), Knowledge(known=2, rating_error=1), "(rating_error=1)"),
    (Scoreboard(day_error=7), Knowledge(known=2), "(day_error=14)"),
    (Scoreboard(day_error=7), Knowledge(known=2, dates=False), ""),
]


@pytest.mark.parametrize(("attack", "knowledge", "said"), ERRORS)
def test_an_attack_that_ignores_an_error_says_so(
    attack: Any, knowledge: Knowledge, said: str
) -> None:
    told = str(attack.run(some_table(40, 12), knowledge, rng=0))
    assert said in told
    assert ("would tolerate it" in told) == bool(said)


@pytest.mark.parametrize("kind", ["value", "item"])
@every
def test_wrong_facts_are_said_to_be_why_nobody_fits(attack: Any, kind: Any) -> None:
    knowledge = Knowledge(known=2, wrong=1, wrong_kind=kind)
    result = attack().run(some_table(40, 12), knowledge, rng=0)
    of_use = attack is not StructureAttack or kind == "item"
    assert ("1 of 2 known facts are wrong." in str(result)) == of_use
    assert not of_use or result.expected_top1.low <= 1 / 40
    assert "This is no better than guessing." not in str(result)


def test_guessing_is_named_where_the_data_did_not_help() -> None:
    alike = table([{0: 5}] * 6, FIVE)
    told = str(LabelAttack().run(alike, Knowledge(known=1), rng=0))
    assert "(guessing: 1 of 6)." in told
    assert told.endswith("This is no better than guessing.")


def test_without_a_link_a_compatible_row_counts() -> None:
    original, released = grouped()
    blind = Release(released.manifest, released.classes)
    result = LabelAttack().run(blind, Knowledge(known=2), original=original, rng=0)
    assert result.credit == "compatible"
    assert result.per_target.credit.tolist() == [0.5, 0.5, 0.5]
    assert "a compatible one" in str(result)


def test_the_bound_is_that_of_the_smallest_class() -> None:
    original, released = grouped()
    result = LabelAttack().run(released, Knowledge(known=1), original=original, rng=0)
    assert result.bound == 0.5
    assert "Every record equals at least 1 other, so the upper bound of" in str(result)
    assert "confidence is 1 in 2." in str(result)
    result = LabelAttack().run(original, Knowledge(known=1), rng=0)
    assert result.bound == 1
    assert "At least one record differs from all others" in str(result)


def test_a_sample_is_the_same_as_for_every_other_attack() -> None:
    ratings = some_table(60, 12)
    knowledge = Knowledge(known=1)
    few = LabelAttack().run(ratings, knowledge, targets=10, rng=4)
    assert few.per_target.users.tolist() == (
        ScoreboardRH().run(ratings, knowledge, targets=10, rng=4).per_target.users.tolist()
    )
    assert few.config["targets"] == 10


@pytest.mark.parametrize(
    ("attack", "settings", "named"),
    [
        (Scoreboard, {"rating_error": -1}, "rating_error = -1"),
        (Scoreboard, {"rating_error": math.nan}, "rating_error = nan"),
        (Scoreboard, {"day_error": -1}, "day_error = -1"),
        (Scoreboard, {"alpha": 1}, "alpha = 1"),
        (Scoreboard, {"alpha": -0.1}, "alpha = -0.1"),
        (Scoreboard, {"theta": 0}, "theta = 0"),
        (StructureAttack, {"theta": 1.5}, "theta = 1.5"),
        (StructureAttack, {"k": 0}, "k = 0"),
        (LabelAttack, {"k": 2.5}, "k = 2.5"),
        (LabelAttack, {"tolerance": -0.5}, "tolerance = -0.5"),
    ],
)
def test_settings_outside_their_range_are_refused(
    attack: Any, settings: dict[str, float], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        attack(**settings)


def test_what_does_not_fit_together_is_refused() -> None:
    original, released = grouped()
    blind = Release(released.manifest, released.classes)
    knowledge = Knowledge(known=1)
    with pytest.raises(ConfigError, match="which record to remove"):
        Scoreboard(absent=True).run(blind, knowledge, original=original)
    with pytest.raises(ConfigError, match="attack structure"):
        LabelAttack().run(original, replace(knowledge, ratings=False))
    with pytest.raises(ConfigError, match="no people to attack"):
        StructureAttack().run(original, Knowledge(known=3))
    with pytest.raises(ConfigError, match="at least 1"):
        LabelAttack().run(original, knowledge, targets=0)
