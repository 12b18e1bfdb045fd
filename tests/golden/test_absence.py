"""When the target is not there: what an independent implementation found on MovieLens 100K.

The figures are those of the project's issue on the attack: 8 known cells, φ = 1.5, SD over seeds
about 0.01 (943 users are few).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings

SEEDS = range(5)


@pytest.fixture(scope="module")
def ml100k(ml100k_dir: Path) -> Ratings:
    return read_ratings(ml100k_dir / "u.data")


@pytest.mark.real
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"wrong": 2, "day_error": 14}, 0.11),
        ({"wrong": 2, "wrong_kind": "item", "day_error": 14}, 0.21),
        ({"dates": False}, 0.07),
    ],
    ids=["wrong values", "wrong items", "exact, no days"],
)
def test_a_removed_target_is_matched_falsely_so_often(
    ml100k: Ratings, settings: dict[str, Any], expected: float
) -> None:
    attack, knowledge = ScoreboardRH(absent=True), Knowledge(known=8, **settings)
    runs = [attack.run(ml100k, knowledge, rng=seed) for seed in SEEDS]
    rates = [run.false_match_absent.rate for run in runs if run.false_match_absent]
    assert len(rates) == len(SEEDS)
    assert np.mean(rates) == pytest.approx(expected, abs=0.03)
    assert np.std(rates) < 0.03
    for run in runs:  # the curve over φ, and where both errors are equal
        curve = run.tradeoff
        assert curve is not None
        assert curve.equal_error_phi is not None
        assert curve.equal_error_rate is not None
        missed = np.interp(curve.equal_error_phi, curve.phi, curve.false_negative)
        matched = np.interp(curve.equal_error_phi, curve.phi, curve.false_match_absent)
        assert missed == pytest.approx(curve.equal_error_rate, abs=1e-9)
        assert matched == pytest.approx(curve.equal_error_rate, abs=1e-9)
        assert np.diff(curve.false_negative).min() >= 0 >= np.diff(curve.false_match_absent).max()
