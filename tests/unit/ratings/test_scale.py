"""Scales that no float can hold are refused, not computed with."""

from __future__ import annotations

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
        ("1:5:nan", "must be above 0"),
        ("1:5:0", "must be above 0"),
        ("nan:5", "finite"),
    ],
)
def test_impossible_scales_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Scale.parse(text)


def test_the_largest_scales_still_work() -> None:
    assert Scale.parse("1:65535:1").levels[-1] == 65_535
    assert Scale.parse("-1e15:1e15").width == 2e15
