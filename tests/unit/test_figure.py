"""A figure is written in its unit, and never rounder than it is."""

from __future__ import annotations

import math

import pytest

from starshade.attack.predicate.predicate import PredicateAttack
from starshade.attack.shown import found_chart
from starshade.figure import Figure, Rate, Unit, Value
from starshade.ratings.synth.synth import synthesize
from starshade.renamed import older_keys

LOSS = Figure("loss", "Loss of detail", "share", True, "0 loses nothing.", short="loss")


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("share", 0.25, "25.0%"),
        ("share", 0.0002, "< 0.1%"),
        ("share", 0.9999, "> 99.9%"),
        ("share", Rate(0.5, 0.4, 0.6), "50.0% [40.0%, 60.0%]"),
        ("share", None, "–"),
        ("share", math.nan, "–"),
        ("percent", 7.25, "7.25%"),
        ("count", 4647, "4,647"),
        ("count", 0, "0"),
        ("error", 0.7, "0.7000"),
        ("error", 1.01039, "1.0104"),
        ("ratio", 0.327349, "0.3273"),
        ("bits", 12345.6, "12,346"),
        ("text", "linked", "linked"),
        ("count", "under 5 %", "under 5 %"),
    ],
)
def test_a_value_is_written_in_its_unit(unit: Unit, value: Value, text: str) -> None:
    assert Figure("key", "Title", unit).of(value).text == text


def test_what_is_declared_stays_when_a_value_is_found() -> None:
    found = LOSS.of(0.25, people=10)
    assert (found.title, found.head, found.people, found.mean) == (
        "Loss of detail",
        "loss",
        10,
        0.25,
    )
    assert LOSS.value is None
    assert LOSS.of(None, reason="nobody rated anything").reason == "nobody rated anything"
    assert LOSS.of("under 5 %").mean is None


def test_a_page_gets_plain_values() -> None:
    assert LOSS.of(Rate(0.5, 0.4, 0.6)).to_dict() == {
        "key": "loss",
        "title": "Loss of detail",
        "text": "50.0% [40.0%, 60.0%]",
        "meaning": "0 loses nothing.",
        "value": 0.5,
        "unit": "share",
    }


def test_a_chart_draws_the_shares_with_an_interval() -> None:
    known, unknown = LOSS.of(Rate(0.5, 0.4, 0.6)), LOSS.of(0.5)
    drawn = found_chart("", "", [unknown, known])
    assert drawn == found_chart("", "", [known])
    assert "50.0% [40.0%, 60.0%]" in str(drawn)


def test_older_names_of_attributes_work_with_a_warning() -> None:
    result = PredicateAttack().run(synthesize(n_users=12, n_items=4, rng=0), rng=0)
    with pytest.warns(DeprecationWarning, match="PredicateResult.isolates is now called"):
        assert result.isolates == result.singling_out  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="Forced.nobody is now called no_member"):
        assert result.forced.nobody == result.forced.no_member  # type: ignore[union-attr]
    with pytest.raises(AttributeError, match="'PredicateResult' object has no attribute 'pinned'"):
        assert result.pinned  # type: ignore[attr-defined]
    newer = {"by_known": [{"tpr_at_fpr": [{"fpr": 0.1, "tpr": 0.2}]}]}
    older = {"by_known": [{"found": [{"alarms": 0.1, "found": 0.2}]}]}
    assert older_keys("attack membership", newer) == older
