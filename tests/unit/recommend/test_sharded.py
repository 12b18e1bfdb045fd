"""The regularized SVD over shards: of one shard the bits of the table's, of several near it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.engine.local import Local
from starshade.ratings.shards.write import edges_of
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend import regularized_svd
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.recommend.sharded import ItemFit, fit_over, sample_over
from tests.strategies import ratings_tables


@dataclass(frozen=True, eq=False)
class Cut:
    """A table cut into ranges of its users."""

    whole: Ratings
    n: int

    def __getattr__(self, name):
        return getattr(self.whole, name)

    @property
    def _edges(self):
        return edges_of(self.whole.indptr, self.n)

    @property
    def first_users(self):
        return self._edges[:-1]

    @property
    def keys(self):
        return [str(i) for i in range(len(self))]

    def __len__(self):
        return len(self._edges) - 1

    def bytes_of(self, number):
        return 1

    def shard(self, number):
        first, last = self._edges[number : number + 2]
        return self.whole.keep_users(np.arange(first, last))


def records(ratings: Ratings) -> Ratings:
    """The same rows, named by their places, as an anonymizer has them."""
    return replace(ratings, users=Vocabulary(np.arange(ratings.n_users)))


def fitted(svd: RegularizedSVD, table: Ratings, n: int, seed: int) -> ItemFit:
    shards = Cut(table, n)
    sample = sample_over(shards, Local(), seed)
    counts = np.bincount(table.codes, minlength=len(table.levels))
    return fit_over(svd, shards, sample, table.item_support, counts, Local(), seed)


def assert_same(found, whole):
    assert found.mean == whole.mean
    for name in ("user_bias", "item_bias", "user_factors", "item_factors"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)), name


@given(ratings_tables(), st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_one_shard_is_the_table(ratings, factors, biases, holdout):
    assume(ratings.n_ratings > 0)
    table = records(ratings)
    svd = RegularizedSVD(factors, sweeps=3, biases=biases, holdout=holdout)
    assert_same(fitted(svd, table, 1, 5).factors(table), svd.fit(table, rng=5))


@pytest.mark.parametrize("threads", [1, 2])
def test_several_shards_are_near_it(threads, monkeypatch):
    monkeypatch.setattr(regularized_svd, "_SEARCHED", 5000)
    table = records(synthesize(n_users=900, n_items=70, n_ratings=12_000, rng=2))
    svd = RegularizedSVD(factors=3)
    with budget.limits(threads=threads):
        one, several = (fitted(svd, table, n, 5) for n in (1, 7))
        again = fitted(svd, table, 7, 5)
        whole = svd.fit(table, rng=5)
    assert_same(one.factors(table), whole)
    assert np.array_equal(several.items, again.items)
    assert np.array_equal(several.before, again.before)
    found = several.factors(table)
    assert np.allclose(found.rows(np.arange(900)), whole.rows(np.arange(900)), atol=1e-8)
    part = several.factors(table.keep_users(np.arange(300, 500)))
    assert np.array_equal(part.user_factors, found.user_factors[300:500])


def test_the_sample_is_drawn_over_all_shards(monkeypatch):
    monkeypatch.setattr(regularized_svd, "_SEARCHED", 3000)
    table = records(synthesize(n_users=900, n_items=70, n_ratings=12_000, rng=2))
    whole = regularized_svd._some_users(table, 4)
    assert whole.n_users == 225
    for n in (1, 7):
        found = sample_over(Cut(table, n), Local(), 4)
        assert list(found.users) == list(whole.users)
        for name in ("indptr", "columns", "codes"):
            assert np.array_equal(getattr(found, name), getattr(whole, name))
