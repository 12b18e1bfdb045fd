"""The two errors over φ, against a twin that tries every φ."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.scoreboard_rh.tradeoff import TradeOff, trade_off
from starshade.ratings.synth.synth import synthesize
from tests.naive import tradeoff as naive

ECCENTRICITY = st.sampled_from([0.0, 0.1, 0.3, 1.5, 1.5 + 1e-12, 2.0]) | st.floats(0.01, 40)


@given(
    st.lists(st.tuples(ECCENTRICITY, ECCENTRICITY), min_size=1, max_size=30),
    st.sampled_from([None, 0.0, 1.5, 2.0, 50.0]),
)
def test_the_curve_is_the_twin_s(pairs: list[tuple[float, float]], phi: float | None) -> None:
    found, absent = (list(side) for side in zip(*pairs, strict=True))
    curve = trade_off(np.array(found), np.array(absent), phi)
    assert curve.phi == tuple(sorted(set(curve.phi)))
    assert {0.0, *found, *absent} <= set(curve.phi)  # so few points are never thinned
    assert phi is None or phi in curve.phi
    for p, missed, matched in zip(
        curve.phi, curve.false_negative, curve.false_match_absent, strict=True
    ):
        expected = [float(share) for share in naive.errors(found, absent, p)]
        assert [missed, matched] == pytest.approx(expected, abs=1e-12)
    assert (curve.false_negative[-1], curve.false_match_absent[-1]) == (1, 0)
    expected_equal = naive.equal_error(found, absent, list(curve.phi))
    if expected_equal is None:
        assert curve.equal_error_phi is curve.equal_error_rate is None
        assert curve.reason in str(curve)
    else:
        assert (curve.equal_error_phi, curve.equal_error_rate) == pytest.approx(expected_equal)
        assert curve.reason is None


def test_a_crossing_by_hand() -> None:
    # missed: 1/4 up to 1, 1/4 to 2, 2/4 to 3; matched: 4/4 up to 1, 2/4 to 2, none to 3
    curve = trade_off(np.array([0.0, 2.0, 3.0, 3.0]), np.array([1.0, 1.0, 2.0, 2.0]))
    assert curve.phi == (0, 1, 2, 3, 3.1)
    assert curve.false_negative == (0.25, 0.25, 0.25, 0.5, 1)
    assert curve.false_match_absent == (1, 1, 0.5, 0, 0)
    # 1/4 + t/4 = 1/2 - t/2 at t = 1/3 between 2 and 3
    assert curve.equal_error_phi == pytest.approx(7 / 3)
    assert curve.equal_error_rate == pytest.approx(1 / 3)
    assert "φ = 2.33" in str(curve)
    assert "33.3%" in str(curve)


def test_errors_that_do_not_meet_say_why() -> None:
    curve = trade_off(np.array([0.0, 0.0, 2.0]), np.array([0.0, 0.0, 1.0]))
    assert curve.equal_error_phi is None
    assert curve.reason == (
        "at φ = 0 already 66.7% of targets are missed, and only 33.3% of absent ones are matched."
    )
    assert curve.to_dict()["equal_error"] is None
    # at φ = 0 they are equal: that is where they meet
    assert trade_off(np.zeros(3), np.ones(3)).equal_error_phi == 0


def test_equal_shares_are_equal_however_they_are_written() -> None:
    # 3 of 30 missed, 27 of 30 found: 1 - 27/30 is not 3/30 in floating point
    found = np.array([0.0] * 3 + [5.0] * 27)
    absent = np.array([1.0] * 3 + [0.0] * 27)
    assert trade_off(found, absent).equal_error_phi == 0


def test_a_long_curve_is_thinned_and_keeps_what_matters() -> None:
    rng = np.random.default_rng(1)
    found, absent = rng.uniform(0.5, 9, 3000), rng.uniform(0, 3, 3000)
    curve = trade_off(found, absent, 1.5)
    assert 150 <= len(curve.phi) <= 200
    assert curve.phi[0] == 0
    assert curve.false_negative[-1] == 1
    assert 1.5 in curve.phi
    whole = np.unique(np.concatenate([found, absent, [1.5]]))
    after = np.searchsorted(whole, curve.equal_error_phi)
    assert {whole[after - 1], whole[after]} <= set(curve.phi)
    # uniform eccentricities: (φ - 0.5)/8.5 = (3 - φ)/3 at φ = 27/11.5
    assert curve.equal_error_phi == pytest.approx(27 / 11.5, abs=0.05)


def run(**settings: float | bool) -> tuple[TradeOff | None, dict[str, object], str]:
    ratings = synthesize(n_users=400, n_items=300, rng=3)
    knowledge = Knowledge(known=6, wrong=2, wrong_kind="item")  # some answers are wrong
    result = ScoreboardRH(**settings).run(ratings, knowledge, targets=150, rng=0)  # type: ignore[arg-type]
    told = result.to_dict()
    curve = result.tradeoff
    if curve is not None:
        assert result.false_match_absent is not None
        at = curve.phi.index(float(settings.get("phi", 1.5)))
        assert curve.false_negative[at] == pytest.approx(1 - result.success.rate, abs=1e-12)
        assert curve.false_match_absent[at] == result.false_match_absent.rate
    return curve, told, str(result)


def test_a_result_carries_the_curve_when_absence_is_asked_for() -> None:
    curve, told, text = run(absent=True)
    assert curve is not None
    assert curve.equal_error_rate is not None
    json.dumps(told, allow_nan=False)
    assert told["tradeoff"] == curve.to_dict()
    assert str(curve) in text
    other, _, _ = run(absent=True, phi=0.7)
    assert other is not None
    # the curve is the same whatever the attack's own φ, but for that one more point
    assert other.equal_error_phi == pytest.approx(curve.equal_error_phi, abs=0.02)
    # at the equal error, attacking with that φ misses about as many as it matches wrongly
    assert curve.equal_error_phi is not None
    phi = float(np.round(curve.equal_error_phi, 3))
    third, _, _ = run(absent=True, phi=phi)
    assert third is not None
    at = third.phi.index(phi)
    assert third.false_negative[at] == pytest.approx(third.false_match_absent[at], abs=0.02)


def test_without_absence_there_is_no_curve() -> None:
    curve, told, text = run()
    assert curve is None
    assert told["tradeoff"] is None
    assert "both errors" not in text
