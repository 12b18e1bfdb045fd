"""`ScoreboardRH.run`: who is attacked, what is refused, what a result says."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.table import Link, Release
from tests.strategies import table
from tests.unit.attack.samples import release
from tests.unit.attack.test_scoreboard_rh import some_table

KEYS = {
    "attack", "records", "targets", "ineligible", "credit", "success", "expected_top1",
    "expected_top1_interval", "class_contents_known", "false_match", "false_match_absent",
    "tradeoff", "no_answer",
    "entropy_bits", "entropy_bits_profile", "seconds", "read_seconds", "postings_per_second",
    "config", "knowledge", "known_from", "people", "median_ratings", "recall", "seed", "digest",
    "version",
}  # fmt: skip
FIVE = Scale(1, 5, 1)


def grouped() -> tuple[Ratings, Release]:
    """Four people in two classes of two, and a fifth who was not released."""
    original = table(
        [{0: 5, 1: 1}, {0: 4, 1: 1}, {0: 1}, {0: 1, 1: 5}, {1: 3, 2: 3}], FIVE, n_items=3
    )
    contents = Symbols.sets(
        FIVE, [np.array([4.0, 5.0]), np.array([1.0]), np.array([5.0])], np.array([0, 0, 1], bool)
    )
    link = Link(original.users.take(np.arange(4)), np.array([2, 3, 0, 1]))
    rows = [{0: 1, 1: 2}, {0: 0, 1: 1}]
    return original, release(rows, [2, 2], contents, original.items.take(np.arange(2)), link)


def test_a_result_is_plain_json_with_the_documented_keys() -> None:
    ratings = some_table(40, 12)
    result = ScoreboardRH(absent=True).run(ratings, Knowledge(known=1), rng=1)
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert told.keys() == KEYS
    assert told["success"].keys() == told["false_match_absent"].keys() == {"rate", "low", "high"}
    assert told["entropy_bits"].keys() == {"mean", "median"}
    assert told["targets"] + told["ineligible"] == told["records"] == 40
    assert told["config"]["rho0"] == pytest.approx(0.375 * 4.5)
    assert told["knowledge"]["name"] == "1 known, ratings exact, days ±14"
    best = result.expected_top1
    assert best.low < best.rate < best.high  # or the next two lines would prove nothing
    assert told["expected_top1"] == best.rate
    assert told["expected_top1_interval"] == {"low": best.low, "high": best.high}
    answered = result.success.rate + result.false_match.rate
    assert answered + result.no_answer == pytest.approx(1)
    for figure in (
        result.success,
        result.expected_top1,
        result.class_contents_known,
        result.false_match,
    ):
        assert str(figure) in str(result)
    assert "(guessing: 1 of 40)." in str(result)
    assert "leads the next best by 1.5 standard deviations of all scores" in str(result)
    assert told["known_from"] == "all items"
    assert "released" not in str(result)


def test_without_absence_there_is_no_rate_for_it() -> None:
    result = ScoreboardRH().run(some_table(20, 8), Knowledge(known=2), rng=1)
    assert result.to_dict()["false_match_absent"] is None
    assert "taken out" not in str(result)


def test_nothing_about_a_single_user_is_told() -> None:
    result = ScoreboardRH().run(some_table(20, 8), Knowledge(known=2), rng=1)
    told = json.dumps(result.to_dict())
    assert len(told) < 1800  # no list over targets
    assert "per_target" not in told + repr(result)


def test_a_class_of_two_is_found_but_not_the_person_in_it() -> None:
    original, released = grouped()
    result = ScoreboardRH(phi=0.5).run(
        released, Knowledge(known=1, dates=False), original=original, rng=0
    )
    assert result.credit == "linked"
    assert (result.records, result.targets, result.ineligible, result.people) == (4, 4, 0, 4)
    assert result.success.rate == 0
    assert result.no_answer == 1
    assert result.expected_top1.rate <= 0.5
    assert result.class_contents_known.rate > 0
    bits = result.per_target
    assert np.allclose(bits.entropy_bits - bits.entropy_bits_profile, 1)


def test_days_are_known_only_where_there_are_days() -> None:
    dated = some_table(40, 12)
    assert dated.has_days
    assert ScoreboardRH().run(dated, Knowledge(known=1), rng=1).knowledge["dates"]
    undated = ScoreboardRH().run(replace(dated, days=None), Knowledge(known=1), rng=1)
    assert not undated.knowledge["dates"]
    assert "no days" in undated.knowledge["name"]


def test_a_release_without_days_is_attacked_without_days_and_as_often() -> None:
    original, released = grouped()
    dated = replace(original, days=np.arange(original.n_ratings, dtype=np.uint16))
    results = [
        ScoreboardRH().run(released, Knowledge(known=1, dates=dates), original=dated, rng=2)
        for dates in (True, False)
    ]
    assert [r.knowledge["name"] for r in results] == ["1 known, ratings exact, no days"] * 2
    assert results[0].expected_top1 == results[1].expected_top1
    assert np.array_equal(results[0].per_target.entropy_bits, results[1].per_target.entropy_bits)


def test_who_is_attacked_keeps_their_row_of_the_original() -> None:
    _, released = grouped()
    empty = table([{}, *({0: 5} for _ in range(4))], FIVE, n_items=3)
    blind = Release(released.manifest, released.classes)
    late = ScoreboardRH().run(blind, Knowledge(known=1), original=empty, rng=0)
    assert late.per_target.users.tolist() == [1, 2, 3, 4]
    assert late.people == 4


def test_half_of_the_people_may_have_fewer_ratings() -> None:
    """Of the released items 3 people have one rating, and 2 have two."""
    original = table([{0: 5, 2: 1}, {0: 4, 2: 1}, {1: 1}, {0: 1, 1: 5}, {0: 1, 1: 3}], FIVE)
    _, released = grouped()
    blind = Release(released.manifest, released.classes)
    result = ScoreboardRH().run(blind, Knowledge(known=2), original=original, rng=0)
    assert (result.people, result.ineligible, result.median_ratings) == (5, 3, 1)
    assert "2 of 5 people have at least 2 ratings (median: 1)." in str(result)


def test_guessing_is_named_where_the_data_did_not_help() -> None:
    original, _ = grouped()
    helpless = ScoreboardRH().run(original, Knowledge(known=1, wrong=1, wrong_kind="item"), rng=0)
    assert helpless.expected_top1.low <= 1 / 5
    assert "no better than guessing" in str(helpless)


def test_without_a_link_a_compatible_profile_counts() -> None:
    original, released = grouped()
    blind = Release(released.manifest, released.classes)
    result = ScoreboardRH().run(blind, Knowledge(known=2, dates=False), original=original, rng=0)
    assert result.credit == "compatible"
    # with two ratings of released items: users 1, 2 and 4
    assert (result.targets, result.ineligible) == (3, 2)
    assert result.per_target.expected_top1.tolist() == [0.5, 0.5, 0.5]


def test_a_link_read_from_a_receipt_counts_like_the_one_in_memory() -> None:
    original, released = grouped()
    assert released.private is not None
    blind = Release(released.manifest, released.classes)
    knowledge = Knowledge(known=1, dates=False)
    mine = ScoreboardRH().run(released, knowledge, original=original, rng=3).to_dict()
    other = (
        ScoreboardRH()
        .run(blind, knowledge, original=original, rng=3, link=released.private.link)
        .to_dict()
    )
    for told in (mine, other):
        del told["seconds"], told["postings_per_second"]
    assert mine == other


def test_a_sample_of_targets_does_not_depend_on_who_else_is_there() -> None:
    ratings = some_table(60, 12)
    knowledge = Knowledge(known=1)
    few = ScoreboardRH().run(ratings, knowledge, targets=10, rng=4).per_target.users
    more = ScoreboardRH().run(ratings, knowledge, targets=20, rng=4).per_target.users
    assert len(few) == 10
    assert np.array_equal(few, np.unique(few))
    assert set(few.tolist()) < set(more.tolist())
    other = ScoreboardRH().run(ratings, knowledge, targets=10, rng=5).per_target.users
    assert few.tolist() != other.tolist()
    everybody = ScoreboardRH().run(ratings, knowledge, targets=1000, rng=4)
    assert everybody.targets + everybody.ineligible == 60


def test_a_scale_of_one_rating_makes_every_rating_right() -> None:
    ratings = table([{0: 3, 1: 3}, {0: 3}, {1: 3}], Scale(3, 3, 1))
    result = ScoreboardRH().run(ratings, Knowledge(known=2, dates=False), rng=0)
    assert result.expected_top1.rate == 1
    assert result.to_dict()["config"]["rho0"] is None
    json.dumps(result.to_dict(), allow_nan=False)


def test_what_does_not_fit_together_is_refused() -> None:
    original, released = grouped()
    assert released.private is not None
    link = released.private.link
    blind = Release(released.manifest, released.classes)
    knowledge = Knowledge(known=1)
    with pytest.raises(ConfigError, match="needs the original"):
        ScoreboardRH().run(released, knowledge)
    with pytest.raises(ConfigError, match="its own truth"):
        ScoreboardRH().run(original, knowledge, link=link)
    with pytest.raises(ConfigError, match="its own truth"):
        ScoreboardRH().run(original, knowledge, original=some_table(3, 3))
    with pytest.raises(ConfigError, match="which record to remove"):
        ScoreboardRH(absent=True).run(blind, knowledge, original=original)
    short = Link(link.users.take(np.arange(3)), link.record[:3])
    with pytest.raises(ConfigError, match="do not belong together"):
        ScoreboardRH().run(blind, knowledge, original=original, link=short)
    with pytest.raises(ConfigError, match="no people to attack"):
        ScoreboardRH().run(original, Knowledge(known=3))
    with pytest.raises(ConfigError, match="at least 1"):
        ScoreboardRH().run(original, knowledge, targets=0)


@pytest.mark.parametrize(
    "settings",
    [{"phi": -1}, {"phi": math.nan}, {"rho0": 0}, {"d0": math.inf}, {"theta": 0}, {"theta": 1.1}],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        ScoreboardRH(**settings)
