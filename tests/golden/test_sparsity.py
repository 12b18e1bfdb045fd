"""Nearest neighbours, gains, bounds and the table of NS §5: worked and reference values."""

from __future__ import annotations

from pathlib import Path

import pytest

from starshade.attack.sparsity.few_facts import (
    facts_bound,
    facts_needed,
    lineup_bound,
    lineup_facts,
    sample_sparsity,
)
from starshade.attack.sparsity.information_gain import information_gain
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.ratings.describe import rated_outside_top
from starshade.ratings.read import read_ratings
from tests.golden.test_scoreboard_rh import FIVE, close

NETFLIX = 480_189


def test_nearest_neighbours_of_five_users() -> None:
    rated, _, in_time = Sparsity().run(FIVE, rng=0).neighbours
    assert rated.similarity.tolist() == [close(v) for v in (0.6667, 0.6667, 0.6667, 0.5, 0)]
    assert in_time.similarity.tolist() == [close(v) for v in (0.3333, 0.3333, 0.3333, 0, 0)]


def test_gains_of_five_users() -> None:
    gain = information_gain(FIVE)
    # by support: A and C (3 raters), then B (2), then D (1)
    assert gain.support.tolist() == [3, 3, 2, 1]
    assert gain.with_day is not None
    for rank, expected in ((0, (0.7370, 0.7370, 1.6553)), (2, (1.3219,) * 3), (3, (2.3219,) * 3)):
        found = (gain.rated[rank], gain.with_rating[rank], gain.with_day[rank])
        assert found == tuple(close(v) for v in expected)


def test_bounds_at_netflix_size() -> None:
    assert facts_bound(NETFLIX, 0.05, 0.2) == pytest.approx(72.05, abs=5e-3)
    assert lineup_bound(NETFLIX, 10, 0.2) == pytest.approx(48.78, abs=5e-3)
    assert facts_needed(NETFLIX, 0.05, 0.2) == 73
    assert lineup_facts(NETFLIX, 10, 0.2) == 49
    assert facts_needed(NETFLIX, 0.05, 0.5) == 24
    assert lineup_facts(NETFLIX, 10, 0.5) == 16


def test_bounds_by_hand() -> None:
    # N = 8, ε = 1/2, δ = 1/2: log2(8) + 1 facts
    assert facts_bound(8, 0.5, 0.5) == pytest.approx(4, abs=1e-12)
    assert lineup_bound(8, 3, 0.5) == pytest.approx(2, abs=1e-12)
    assert lineup_bound(1, 2, 0.5) == 0
    # δγ/λ with λ = 10
    assert sample_sparsity(0.4, 0.1, 0.5) == pytest.approx(0.02, abs=1e-12)


@pytest.mark.real
def test_users_of_movielens_rate_items_off_the_top(ml100k_dir: Path) -> None:
    rows = rated_outside_top(read_ratings(ml100k_dir))
    shares = [[round(100 * share, 1) for share in row.at_least.values()] for row in rows]
    assert shares == [[100, 99.9, 96.9], [97.8, 74.2, 51.6], [64.9, 22.6, 10.9]]
