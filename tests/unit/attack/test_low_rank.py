"""The low-rank model of profiles against its slow twin, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.attack import low_rank
from starshade.attack.low_rank import draw_profiles, fit_low_rank, shown_profiles
from starshade.attack.view import released_cells
from starshade.release.columns import Columns
from tests.naive import low_rank as naive
from tests.strategies import table
from tests.unit.attack.profiles import FIVE, averaged

ENDS = 1.0, 5.0


def exact(rank: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 3 + rng.normal(0, 0.6, (30, rank)) @ rng.normal(0, 0.6, (rank, 40))


@given(st.integers(0, 2**31), st.floats(0, 0.4), st.sampled_from([None, ENDS]), st.booleans())
def test_the_fit_is_the_twins(
    seed: int, empty: float, ends: tuple[float, float] | None, tall: bool
) -> None:
    rng = np.random.default_rng(seed)
    shown = np.clip(rng.normal(3, 1.5, (9, 6) if tall else (6, 9)), *ENDS)
    shown[rng.random(shown.shape) < empty] = np.nan
    if np.isnan(shown).all():
        return
    found = fit_low_rank(shown, 2, ends)
    assert found.rms == pytest.approx(naive.fitted(shown, 2, ends, found.rounds)[1], abs=1e-6)
    if found.rounds < 50:  # it ends as soon as it is stable
        before = naive.fitted(shown, 2, ends, max(1, found.rounds - 1))[1]
        assert abs(before - found.rms) <= 1.001e-3 * found.rms + 1e-9


@pytest.mark.parametrize("rank", [0, 1, 2, 4])
def test_what_has_a_low_rank_is_explained(rank: int) -> None:
    shown = exact(rank)
    found = fit_low_rank(shown)
    assert (len(found.right), found.rounds) == (rank, 1)
    assert found.rms < 1e-6
    assert np.allclose(found.of(shown[:3]), shown[:3], atol=1e-6)
    assert np.allclose(found.right @ found.right.T, np.eye(rank), atol=1e-6)


def test_nulls_are_fitted_by_the_means_where_there_is_no_direction() -> None:
    shown = np.where(np.eye(4) > 0, np.nan, 3.0)
    assert np.allclose(fit_low_rank(shown).of(shown), 3.0)
    empty = np.full((2, 1), np.nan)
    assert fit_low_rank(empty).of(empty).shape == (2, 1)


def test_a_fifth_direction_is_left() -> None:
    shown = exact(5)
    values = np.linalg.svd(shown - shown.mean(axis=0), compute_uv=False)
    assert fit_low_rank(shown).rms == pytest.approx(values[4] / np.sqrt(shown.size))


def test_a_profile_with_nulls_is_fitted_by_what_it_shows() -> None:
    shown = exact(3)
    found, some = fit_low_rank(shown), shown[:5].copy()
    some[:, ::2] = np.nan  # 20 cells for 3 unknowns
    assert np.allclose(found.of(some), shown[:5], atol=1e-6)
    assert np.allclose(found.of(np.full((1, 40), np.nan)), found.mean)


def test_clipped_profiles_of_low_rank_are_explained_when_clipping_is_allowed_for() -> None:
    shown = np.clip(exact(3), 2.5, 3.5)
    assert ((shown == 2.5) | (shown == 3.5)).mean() > 0.1
    assert fit_low_rank(shown, ends=(2.5, 3.5)).rms < 0.3 * fit_low_rank(shown).rms


def test_profiles_are_drawn_by_the_seed_when_they_are_many() -> None:
    rng = np.random.default_rng(1)
    people = table([dict(enumerate(row)) for row in rng.integers(1, 6, (60, 8))], FIVE)
    release = averaged(people, np.arange(60) // 2, "simple", step=0.5)
    cells = released_cells(release)
    assert isinstance(cells, Columns)
    assert draw_profiles(cells, 1).tolist() == list(range(30))
    with budget.limits(memory=10 * 8 * 8 * 8):
        drawn = draw_profiles(cells, 1)
        assert len(drawn) == 10
        assert drawn.tolist() == draw_profiles(cells, 1).tolist()
        assert drawn.tolist() != draw_profiles(cells, 2).tolist()
    shown = shown_profiles(cells, drawn)
    assert shown.shape == (10, 8)
    assert np.isin(shown[~np.isnan(shown)], np.arange(1, 5.1, 0.5)).all()


@pytest.mark.parametrize("shape", [(40, 60), (60, 40)])
@pytest.mark.parametrize("once", [True, False])
def test_directions_are_those_of_a_whole_decomposition(
    shape: tuple[int, int], *, once: bool
) -> None:
    centred = np.random.default_rng(1).normal(size=shape)
    found = low_rank._directions(centred, 3, once=once)
    expected = np.linalg.svd(centred)[2][:3]
    assert np.abs(found @ expected.T) == pytest.approx(np.eye(3), abs=1e-9)
