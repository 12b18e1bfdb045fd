"""PA §4.2's "sim", and its neighbours, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from starshade.ratings.scale import Scale
from starshade.recommend.padded import dissimilarities

STARS = Scale(1, 5, 1)
NULL = np.nan


def one(x: list[float], y: list[float], name: str, scale: Scale = STARS) -> float:
    return float(dissimilarities(np.array([x], float), np.array([y], float), name, scale)[0, 0])


def test_the_papers_sim():
    assert one([1, 5], [2, 5], "weighted-sq") == 0.21875
    assert one([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], "weighted-sq") == pytest.approx(0.7, abs=1e-12)
    assert one([1, 5, 1], [5, 1, 5], "weighted-sq") == 1
    assert one([1, 5, 1], [1, 5, 1], "weighted-sq") == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("closeness-0.5", 3 / 5),  # differences 0, 0.5, 1, 1.5, 4
        ("closeness-1.0", 2 / 5),
        ("weighted", 7 / 20),
        ("weighted-sq", 1 - (1 + 0.875**2 + 0.75**2 + 0.625**2 + 0) / 5),
        ("euclidean", np.sqrt((0.25 + 1 + 2.25 + 16) / 16 / 5)),
    ],
)
def test_five_items_and_a_null_on_either_side(name: str, expected: float):
    x, y = [1, 1, 1, 1, 1, NULL, 2], [1, 1.5, 2, 2.5, 5, 3, NULL]
    assert one(x, y, name) == pytest.approx(expected, abs=1e-12)
    assert one([NULL, 2], [3, NULL], name) == 1
    assert one([5], [5], name, Scale(5, 5, 1)) == 0
