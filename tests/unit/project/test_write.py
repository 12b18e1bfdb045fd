"""What a project file says of ratings that were read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.project.write import outwards
from starshade.ratings.scale import Scale


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (0.3141, 4.9871, "0:5"),
        (-9.95, 9.17, "-10:10"),
        (3.7, 3.7, "3:4"),
        (0.00012, 0.00087, "0.0001:0.0009"),
        (1234567.25, 1234567.75, "1234567.2:1234567.8"),
        (0, 5, "0:5"),
        (12, 9876.5, "0:10000"),
    ],
)
def test_ends_are_moved_outwards_to_round_numbers(low: float, high: float, says: str) -> None:
    assert outwards(Scale(low, high)) == says


def test_a_scale_with_steps_stays() -> None:
    assert outwards(Scale(0.5, 4.5, 0.5)) == "0.5:4.5:0.5"


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e6))
def test_every_rating_found_is_on_it(low: float, width: float) -> None:
    found = Scale(low, low + width)
    told = Scale.parse(outwards(found))
    assert told.step is None
    assert told.minimum <= found.minimum
    assert found.maximum <= told.maximum
    assert told.width <= 4 * found.width
