from __future__ import annotations

import math

import numpy as np
import pytest

from starshade.figure import Rate
from starshade.stats import bootstrap, wilson, worst_tenth


def numbers(rate: Rate) -> tuple[float, float, float]:
    return rate.rate, rate.low, rate.high


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_credits_that_are_all_0_or_all_1_get_wilsons_interval(n: int) -> None:
    for credit in (0, 1):
        found = bootstrap(np.full(n, float(credit)), seed=0)
        assert numbers(found) == pytest.approx(numbers(wilson(credit * n, n)))
    assert bootstrap(np.ones(n), seed=0).low < 1  # n equal observations prove no certainty


def test_equal_credits_leave_room_for_what_was_not_seen() -> None:
    # 1.96**2 / (1000 + 1.96**2) of the targets may earn something else, from nothing to all
    unseen = 3.8415 / 1003.8415
    found = bootstrap(np.full(1000, 0.25), seed=0)
    assert found.rate == 0.25
    assert found.low == pytest.approx(0.25 * (1 - unseen), abs=1e-6)
    assert found.high == pytest.approx(0.25 + 0.75 * unseen, abs=1e-6)


def test_unequal_credits_are_resampled() -> None:
    shares = np.repeat([0.0, 0.5, 1.0], 100)
    found = bootstrap(shares, seed=1)
    half = 1.96 * shares.std() / math.sqrt(300)
    assert found.low == pytest.approx(0.5 - half, abs=0.006)
    assert found.high == pytest.approx(0.5 + half, abs=0.006)
    assert found == bootstrap(shares, seed=1)
    assert found != bootstrap(shares, seed=2)


def test_without_targets_everything_is_possible() -> None:
    for found in (wilson(0, 0), bootstrap(np.empty(0), seed=0)):
        assert math.isnan(found.rate)
        assert (found.low, found.high) == (0, 1)


def test_the_worst_tenth_is_chosen_by_other_draws() -> None:
    rng = np.random.default_rng(0)
    alike = (rng.random((10, 4000)) < 0.3).astype(float)
    assert worst_tenth(alike) == pytest.approx(0.3, abs=0.03)
    assert np.sort(alike.mean(0))[-400:].mean() > 0.5  # what choosing by the same draws would say
    apart = alike.copy()
    apart[:, :400] = 1
    assert worst_tenth(apart) == pytest.approx(1, abs=0.01)


def test_the_worst_tenth_by_hand() -> None:
    # of fifteen one and a half are wanted: by the first draw the first, and half of the next two
    first, second = np.zeros(15), np.zeros(15)
    first[:3], second[:3] = (1, 0.5, 0.5), (0.8, 0.2, 0.6)
    there = (0.8 + 0.5 * (0.2 + 0.6) / 2) / 1.5
    back = (1 + 0.5 * 0.5) / 1.5
    assert worst_tenth(np.stack([first, second])) == pytest.approx((there + back) / 2)
    assert worst_tenth(np.full((2, 3), 0.4)) == pytest.approx(0.4)
