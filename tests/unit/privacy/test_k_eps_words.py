"""What the models refuse, warn of and say."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from starshade.errors import ConfigError
from starshade.privacy.k_anonymity import KAnonymity
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.ratings.scale import Scale
from starshade.release.cells import Cells, Symbols, cells_of
from tests.golden.sr import SENSITIVE, TABLE_1, TABLE_3
from tests.strategies import table
from tests.unit.privacy.test_k_anonymity import one_column, release_of

STARS = Scale(1, 5, 1)
PAIR = table([{0: 1}, {0: 1}], STARS, n_items=2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 1}, "2 or more"),
        ({"k": 2.5}, "whole number"),
        ({"k": True}, "whole number"),
        ({"eps": -1}, "0 or more"),
        ({"eps": math.nan}, "finite"),
        ({"eps": math.inf}, "finite"),
        ({"eps": True}, "eps = True"),
        ({"eps": "1"}, "eps = '1'"),
        ({"nulls": "drop"}, "strict, ignore or zero"),
        ({"search": "fast"}, "tree, slicing or pairwise"),
        ({"eps": [1]}, "eps = a list"),
        ({"eps": None}, "eps = None"),
        ({"sensitive": "50"}, "list of item ids"),
        ({"sensitive": None}, "list of item ids, not NoneType"),
        ({"sensitive": 5}, "list of item ids, not int"),
        ({"full": "no"}, "full = 'no': must be True or False"),
        ({"full": 1}, "full = 1"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        KEpsAnonymity(**{"k": 2, "eps": 1, **wrong})
    with pytest.raises(ConfigError, match=words):
        KEpsLAnonymity(**{"k": 2, "eps": 1, "l": 1, "sensitive": ["2"], **wrong})


@pytest.mark.parametrize(
    ("l", "words"),
    [(-0.5, "0 or more"), (math.nan, "finite"), (True, "l = True"), ("2", "l = '2'")],
)
def test_a_wrong_l_is_refused(l: Any, words: str) -> None:  # noqa: E741
    with pytest.raises(ConfigError, match=words):
        KEpsLAnonymity(2, 1, l, ["2"])


def test_l_needs_something_sensitive() -> None:
    with pytest.raises(ConfigError, match="no item is sensitive"):
        KEpsLAnonymity(2, 1, 0.5, [])
    assert KEpsLAnonymity(2, 1, 0, []).check(PAIR).satisfied


@pytest.mark.parametrize(
    ("sensitive", "words"),
    [
        (["9"], "sensitive item 1 of the 1 given is not among the items"),
        (["2", "2"], "given more than once"),
        (["1", "2"], "all items are"),
    ],
)
def test_sensitive_items_must_make_sense(sensitive: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        KEpsAnonymity(2, 1, sensitive).check(PAIR)
    assert "9" not in str(refused.value)


def test_more_than_there_are_records_is_refused() -> None:
    with pytest.raises(ConfigError, match="k = 3, records = 2"):
        KEpsAnonymity(3, 1).check(PAIR)
    nobody = table([], STARS, n_items=2)
    with pytest.raises(ConfigError, match="records = 0"):
        KEpsLAnonymity(2, 1, 1, ["2"]).check(nobody)


def test_l_above_theorem_1_is_refused_only_where_everybody_rated() -> None:
    whole = table([{0: 1, 1: 1}, {0: 1, 1: 4}], STARS)
    with pytest.raises(ConfigError, match=r"span 3.*1\.5 \(Theorem 1\)"):
        KEpsLAnonymity(2, 1, 1.6, ["2"]).check(whole)
    assert KEpsLAnonymity(2, 1, 1.5, ["2"]).check(whole).satisfied
    holes = table([{0: 1, 1: 1}, {0: 1, 1: 4}, {0: 5}, {0: 5}], STARS)
    assert not KEpsLAnonymity(2, 1, 1.6, ["2"]).check(holes).satisfied


def test_empty_records_are_records_like_others() -> None:
    ratings = table([{}, {}, {0: 1}, {0: 2}], STARS, n_items=2)
    assert KEpsAnonymity(2, 1).check(ratings).satisfied
    alone = KEpsAnonymity(2, 1).check(table([{}, {0: 1}, {0: 2}], STARS, n_items=2))
    assert alone.worst == ({"row": 0, "size": 1},)
    assert KEpsAnonymity(3, 0, nulls="ignore").check(table([{}] * 3, STARS)).satisfied


def test_an_item_that_nobody_rated_passes_with_a_warning() -> None:
    verdict = KEpsLAnonymity(2, 1, 2, ["2"]).check(PAIR)
    assert verdict.satisfied
    assert verdict.balls_without_rating == 2
    assert "no record has a rating of sensitive item 1 of those given" in str(verdict)
    some = table([{0: 1}, {0: 1}, {0: 5, 1: 1}, {0: 5, 1: 5}], STARS)
    here = KEpsLAnonymity(2, 1, 2, ["2"]).check(some)
    assert (here.balls_without_rating, here.warnings) == (2, ())


def test_one_rating_in_a_ball_passes_by_its_spread_with_a_warning() -> None:
    ratings = table([{0: 1, 1: 4}, {0: 1}], STARS)
    passed = KEpsLAnonymity(2, 0, 2, ["2"]).check(ratings)  # (4, null): 4/√2 = 2.83
    assert (passed.satisfied, passed.balls_with_one_rating) == (True, 2)
    assert len(passed.warnings) == 1
    assert "a single member rated a sensitive item" in passed.warnings[0]
    failed = KEpsLAnonymity(2, 0, 3, ["2"]).check(ratings)
    assert (failed.satisfied, failed.balls_with_one_rating, failed.warnings) == (False, 0, ())


def test_everybody_near_everybody_is_said() -> None:
    for nulls, eps in [("strict", 6), ("zero", 6), ("ignore", 5)]:
        verdict = KEpsAnonymity(5, eps, SENSITIVE, nulls=nulls).check(TABLE_1)
        assert verdict.satisfied
        assert verdict.all_proximate
        assert "every ball has all records" in verdict.warnings[0]
        assert verdict.patterns is None
    assert not KEpsAnonymity(2, 5.5, SENSITIVE).check(TABLE_1).all_proximate


def test_under_strict_nulls_patterns_are_counted() -> None:
    verdict = KEpsAnonymity(3, 5, SENSITIVE).check(TABLE_1)
    assert (verdict.patterns, verdict.records_in_small_patterns) == (2, 2)
    assert "2 such sets of items occur, and 2 records share theirs with too few" in str(verdict)
    assert KEpsAnonymity(2, 1, SENSITIVE, nulls="ignore").check(TABLE_1).patterns is None


def test_reasons_count_apart_and_records_once() -> None:
    rows = [{0: 1, 1: 3, 2: 1}, {0: 1, 1: 3, 2: 5}, {0: 5, 1: 3, 2: 1}]
    verdict = KEpsLAnonymity(2, 1, 1, ["3", "2"]).check(table(rows + [{0: 3}] * 2, STARS))
    assert verdict.failing_records == 3
    assert verdict.failing_by_size == 1
    assert verdict.failing_by_spread == (1, 3)  # in the order given
    assert verdict.worst[0] == {"row": 2, "size": 1, "item": 1, "sd": 0.0}
    assert verdict.worst[1] == {"row": 0, "size": 2, "item": 2, "sd": 0.0}
    assert "Fewer than 2 lie around 1 record, itself included, with ratings" in str(verdict)
    assert "Around 3 records the ratings of sensitive item 2" in str(verdict)


def test_too_few_records_are_worse_than_too_little_spread() -> None:
    rows = [{0: 1, 1: 3}] * 3 + [{0: 5, 1: 1}, {0: 5, 1: 5}]
    verdict = KEpsLAnonymity(3, 1, 1, ["2"]).check(table(rows, STARS))
    assert [(e["row"], e["size"], e["sd"]) for e in verdict.worst] == [
        (3, 2, 2.0), (4, 2, 2.0), (0, 3, 0.0), (1, 3, 0.0), (2, 3, 0.0)
    ]  # fmt: skip
    assert "distinct_balls" not in verdict.to_dict()


def test_one_failing_record_is_shown_without_an_id() -> None:
    verdict = KEpsLAnonymity(2, 2, 1, SENSITIVE).check(TABLE_3)
    assert verdict.witness == {"row": 6, "size": 2, "records": [6, 7], "sd": [0.5]}
    told = verdict.explain()
    assert told[0] == "row 6: its ball has 2 records; sensitive item 1 spreads least, by 0.5"
    assert "are the rows 6, 7; sensitive item 1: standard deviation 0.5000 (l = 1)." in told[2]
    assert "counted from 0" in told[3]
    assert KEpsAnonymity(2, 2, SENSITIVE).check(TABLE_3).explain() == ()


def test_a_large_ball_is_shown_in_part() -> None:
    rows = [{0: 1, 1: 3}] * 30 + [{0: 5, 1: 1}, {0: 5, 1: 5}]
    verdict = KEpsLAnonymity(2, 1, 1, ["2"]).check(table(rows, STARS))
    assert verdict.witness is not None
    assert (verdict.witness["size"], len(verdict.witness["records"])) == (30, 20)
    assert "and 10 more" in verdict.explain()[5]


def test_an_early_end_says_at_least() -> None:
    ratings = table([{0: 1}] * 5, STARS)
    quick = KEpsAnonymity(2, 1).check(ratings)
    assert (quick.smallest_class, quick.smallest_class_exact, quick.sizes) == (2, False, None)
    full = KEpsAnonymity(2, 1, full=True).check(ratings)
    assert (full.smallest_class, full.smallest_class_exact) == (5, True)
    assert "the smallest such ball has 5" in str(full)
    assert "smallest" not in str(quick)
    assert "(1 distinct): 5–9: 5." in str(full)


def test_a_verdict_is_plain_data_and_says_what_it_does_not_promise() -> None:
    verdict = KEpsLAnonymity(2, 2, 0.5, SENSITIVE, full=True).check(TABLE_3)
    told = json.loads(json.dumps(verdict.to_dict()))
    assert told["parameters"] == {
        "k": 2, "eps": 2.0, "l": 0.5, "nulls": "strict", "sensitive": ["4"]
    }  # fmt: skip
    assert told["sizes"] == [
        {"size": 2, "records": 4}, {"size": 3, "records": 2}, {"size": 4, "records": 2}
    ]  # fmt: skip
    assert told["distinct_balls"] == 5
    assert "witness" not in told
    text = str(verdict)
    assert text.startswith("k-eps-l (k = 2, eps = 2, l = 0.5, nulls = strict, 1 sensitive item)")
    assert "exact knowledge of ratings may single one out" in text
    assert "is disclosed" not in text
    assert "is disclosed" in str(KEpsAnonymity(2, 2, SENSITIVE).check(TABLE_3))
    assert "distinct_balls" not in KEpsAnonymity(2, 2, SENSITIVE).check(TABLE_3).to_dict()


def test_dates_are_not_looked_at_and_that_is_said() -> None:
    dated = table([{0: 3}, {0: 3}], STARS, days=[{0: 4}, {0: 90}])
    verdict = KEpsAnonymity(2, 0).check(dated)
    assert verdict.satisfied
    assert "dates" in verdict.warnings[0]


def test_a_release_is_read_record_by_record() -> None:
    release = release_of(cells_of(TABLE_3))
    assert KEpsLAnonymity(2, 2, 0.5, SENSITIVE).check(release).satisfied
    verdict = KEpsLAnonymity(2, 2, 1, SENSITIVE).check(release)
    assert [e["row"] for e in verdict.worst] == [6, 7]
    assert verdict.explain()[0].startswith("record 6 of the release")
    classes = one_column(Symbols.exact(STARS, STARS.levels), [0, 1, 4, None], [1, 2, 3, 1])
    verdict = KEpsAnonymity(4, 1).check(release_of(classes))
    assert verdict.records == 7
    assert verdict.failing_records == 7
    assert [e["row"] for e in verdict.worst] == [6, 0, 1, 2, 3]


def test_a_release_with_sets_of_ratings_is_refused() -> None:
    sets = Symbols.sets(STARS, [np.array([1.0, 2.0]), np.array([3.0])], np.zeros(2, np.bool_))
    cells: Cells = one_column(sets, [0, 1, 1], [2, 2, 2])
    with pytest.raises(ConfigError, match=r"several members \(33.3%.*\n.*k-anonymity"):
        KEpsAnonymity(2, 1).check(release_of(cells))


def test_what_is_no_data_is_refused() -> None:
    for model in (KEpsAnonymity(2, 1), KEpsLAnonymity(2, 1, 0, ()), KAnonymity(2)):
        for data in (5, "x", None):
            with pytest.raises(ConfigError, match="neither ratings nor a release"):
                model.check(data)  # type: ignore[arg-type]


def test_no_minus_stands_before_a_zero() -> None:
    ratings = table([{0: 1}, {0: 1}, {0: 5}], STARS)
    for model in (KEpsAnonymity(2, -0.0), KEpsLAnonymity(2, -0.0, -0.0, ())):
        verdict = model.check(ratings)
        assert "eps = 0" in str(verdict)
        assert "-0" not in f"{verdict} {json.dumps(verdict.to_dict()['parameters'])}"


def test_failing_records_are_counted_in_english() -> None:
    lonely = KEpsAnonymity(2, 0).check(table([{0: 1}, {0: 1}, {0: 3}, {0: 5}], STARS))
    assert "Fewer than 2 lie around each of 2 records, itself included" in str(lonely)
