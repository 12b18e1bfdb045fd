"""Scales that no float can hold are refused, not computed with."""

from __future__ import annotations

import numpy as np
import pytest

from starshade.errors import ConfigError
from starshade.ratings.scale import Scale


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-1e308:1e308:1", "too wide"),
        ("-1e308:1e308", "too wide"),
        ("-1.79e308:0", "too wide"),  # null would lie at minus infinity
        ("1:1e308:1e-300", "more than 65,535 levels"),
        ("0:1e-10:1e-11", "step 1e-11: too small"),  # levels closer than 1e-9 are one
        ("1e17:1.000000000000001e17:1", "step 1: too small"),  # 1e17 + 1 is 1e17
        ("0:1e-6:1e-8", "step 1e-08: too small"),
        ("-4e-9:4e-9", "8e-09 wide, too narrow"),  # null would lie within 1e-9 of the ratings
        ("1:1.0000002", "2e-07 wide, too narrow"),
        ("999999999999999:1e15", "1 wide, too narrow"),
        ("-1e306:1e306", r"beyond 1e\+15 are too large"),
        ("1e306:1e306", r"beyond 1e\+15 are too large"),
        ("0:2e15", r"beyond 1e\+15 are too large"),
        ("1:5:nan", "must be above 0"),
        ("1:٥:1", "expected min:max:step"),
        ("1:1_0", "expected min:max:step"),
        ("1:5:0", r"must be above 0\nA scale without steps has two parts: 1:5\."),
        ("nan:5", "finite"),
    ],
)
def test_impossible_scales_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Scale.parse(text)


def test_the_largest_scales_still_work() -> None:
    assert Scale.parse("1:65535:1").levels[-1] == 65_535
    assert Scale.parse("-1e15:1e15").width == 2e15


def test_the_narrowest_scales_still_work() -> None:
    assert Scale.parse("0:1e-6:2e-8").null_level == -2e-8
    assert Scale.parse("-4e-7:4e-7").null_level == pytest.approx(-4.4e-7)
    assert Scale.parse("3.14159:3.14159").null_level == pytest.approx(2.14159)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([0.0, 1e-310], "within 1e-09 of 0, but not 0"),
        ([-1e-9], "within 1e-09 of 0, but not 0"),
        ([-4e-9, 4e-9], "8e-09 wide, too narrow"),
        ([1e306], "too large to compute with"),
        ([-1.7e308, 1e308], "too wide"),
        ([1e15, 1e16], "too large to compute with"),
    ],
)
def test_ratings_that_no_scale_tells_apart_are_refused(ratings, message) -> None:
    with pytest.raises(ConfigError, match=message):
        Scale.infer(np.array(ratings))


def test_dust_beside_ratings_is_read_as_the_rating() -> None:
    assert Scale.infer(np.array([0.0])) == Scale(0, 0, 1)
    assert Scale.infer(np.array([0.0, 1e-310, 2.0])) == Scale(0, 2, 1)


@pytest.mark.parametrize("scale", [Scale(1, 5, 1), Scale(0, 1, 0.01), Scale(0, 1000, 10)], ids=str)
@pytest.mark.parametrize(
    ("away", "inside"), [(0.0, True), (0.5e-9, True), (2e-9, False), (5e-9, False), (2e-8, False)]
)
def test_ratings_next_to_a_level(scale: Scale, away: float, inside: bool) -> None:
    """The slack is 1e-9 in ratings, whatever the step."""
    level = scale.levels[3]
    for sign in (-1, 1):
        assert scale.contains(np.array([level + sign * away])).tolist() == [inside]


@pytest.mark.parametrize("scale", [Scale(1, 5, 1), Scale(-10, 10)], ids=str)
def test_ratings_next_to_the_ends(scale: Scale) -> None:
    low, high = scale.minimum, scale.maximum
    tried = [low - 2e-9, low - 0.5e-9, low, high, high + 0.5e-9, high + 2e-9, np.nan, np.inf]
    assert scale.contains(np.array(tried)).tolist() == [False, *[True] * 4, False, False, False]
    steps = [low + (scale.step or 1) / 2, low + (scale.step or 1)]
    assert scale.contains(np.array(steps)).tolist() == [scale.step is None, True]
