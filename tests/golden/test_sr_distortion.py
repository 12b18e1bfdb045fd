"""Distortion as in Sun & Sun 2013, Def. 4, 5."""

from __future__ import annotations

from starshade.ratings.scale import Scale
from starshade.utility.losses import Distortion
from tests.strategies import table
from tests.unit.release.changes import released

# the paper's 7-point scale; it writes null as 0
BEFORE = [{0: 5, 1: 6}, {0: 2, 1: 5}, {0: 4, 1: 7}, {0: 5, 1: 6}]
AFTER = [{0: 5, 1: 5}, {0: 3, 1: 5}, {0: 3, 1: 7}, {0: 5, 1: 7}]


def test_the_paper_s_example() -> None:
    original = table(BEFORE, Scale(1, 7, 1), n_items=3)
    figures = Distortion().measure(released(original, AFTER), original).to_dict()
    assert figures == {
        "distortion": 4.0,
        "distortion_per_record": 1.0,
        "ratings_moved": 4,
        "ratings_suppressed": 0,
        "ratings_imputed": 0,
    }


def test_a_null_costs_the_whole_scale() -> None:
    original = table(BEFORE, Scale(1, 7, 1), n_items=3)
    after = [{0: 5}, {0: 2, 1: 5, 2: 1}, *BEFORE[2:]]
    figures = Distortion().measure(released(original, after), original).to_dict()
    assert figures["distortion"] == 14.0
    assert figures["ratings_suppressed"] == figures["ratings_imputed"] == 1
