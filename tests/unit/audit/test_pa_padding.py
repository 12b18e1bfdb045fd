"""The padded table of small data, counted once more on rows written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from starshade.anonymize.predictive.bins import bins_of
from starshade.anonymize.predictive.clusters import factored
from starshade.audit.reproduction.pa.padding import (
    BinSizes,
    histogram_of,
    level_rows,
    sizes_of_bins,
)
from starshade.audit.reproduction.pa.result import LevelRow
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.recommend.padded import Padded
from starshade.recommend.regularized_svd import RegularizedSVD
from tests.strategies import table


@pytest.fixture(scope="module")
def padded() -> Padded:
    return pad(synthesize(n_users=120, n_items=40, n_ratings=1200, rng=1))


def levels(padded: Padded, seed: int) -> tuple[LevelRow, ...]:
    return tuple(level_rows(histogram_of(padded, seed), padded.ratings.scale))


def sizes(padded: Padded, seed: int) -> tuple[BinSizes, ...]:
    bins = bins_of(factored(padded), padded.n_users, seed, padded)
    return sizes_of_bins(padded, bins)


def pad(ratings: Ratings) -> Padded:
    return Padded(ratings, RegularizedSVD(factors=3, sweeps=3, holdout=0).fit(ratings, rng=2))


def test_the_histogram_counts_every_cell_once(padded: Padded) -> None:
    rows = levels(padded, 0)
    dense = np.clip(padded.block(np.arange(120)), 1, 5)
    stars = np.floor(dense + 0.5 + 1e-9)
    true = np.nan_to_num(padded.ratings.dense())
    assert [row.level for row in rows] == [None, 1, 2, 3, 4, 5]
    for row in rows:
        assert row.before == pytest.approx(np.mean(true == (row.level or 0)))
        assert row.after == np.mean(stars == (row.level or 0))
    assert sum(row.after for row in rows) == pytest.approx(1)
    assert (rows[0].paper_before, rows[5].paper_after) == (0.9884, 0.0489)


def test_other_scales_have_no_numbers_of_the_paper() -> None:
    half = pad(table([{0: 0.5, 1: 4.5}, {0: 3.0}, {1: 5.0, 0: 2.5}], Scale(0.5, 5, 0.5)))
    rows = levels(half, 0)
    assert [row.level for row in rows] == [None, *np.arange(0.5, 5.1, 0.5)]
    assert rows[0].before == pytest.approx(1 / 6)
    assert {row.paper_before for row in rows} == {None}
    real = pad(table([{0: 0.3, 1: -4.5}, {0: 3.0}], Scale(-10, 10)))
    assert histogram_of(real, 0) == {}


def test_many_users_are_sampled(padded: Padded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starshade.audit.reproduction.pa.padding._CELLS", 30 * 40)
    monkeypatch.setattr("starshade.audit.reproduction.pa.padding._BLOCK", 7 * 40)
    some, whole = levels(padded, 3), levels(padded, 4)
    assert sum(row.after for row in some) == pytest.approx(1)
    assert [row.before for row in some] == [row.before for row in whole]
    assert [row.after for row in some] != [row.after for row in whole]
    assert all(round(row.after * 1200, 6) == round(row.after * 1200) for row in some)


def test_every_user_is_in_the_bin_of_the_nearest_centre(padded: Padded) -> None:
    virtual, real = sizes(padded, 5)
    assert (virtual.centres, real.centres) == ("virtual", "real")
    for bins in (virtual, real):
        assert len(bins.sizes) == 10  # √120, rounded down
        assert bins.sizes.sum() == 120
        assert (np.diff(bins.sizes) >= 0).all()
    assert virtual.spread == pytest.approx(virtual.sizes.std() / 12)
    assert sizes(padded, 5)[1].sizes.tolist() == real.sizes.tolist()


def test_real_centres_are_members_of_their_clusters(padded: Padded) -> None:
    # everybody is drawn; rows far apart in pairs: each pair has its own centre either way
    rows = [{0: level, 1: level, 2: 6.0 - level} for level in (1.0, 1.0, 5.0, 5.0)]
    pairs = replace(pad(table(rows, Scale(1, 5, 1))), weights=None)
    virtual, real = sizes(pairs, 1)
    assert virtual.sizes.tolist() == real.sizes.tolist() == [2, 2]


def test_users_who_are_all_alike_make_one_bin() -> None:
    alike = pad(table([{0: 3.0, 1: 4.0}] * 9, Scale(1, 5, 1)))
    for bins in sizes(alike, 1):
        assert bins.sizes.sum() == 9
