from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from starshade.errors import ConfigError
from starshade.ratings.holdout import hold_out
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.registry import ENTRIES
from tests.strategies import table

LIBRARIES = {
    "implicit-als": ("implicit.cpu.als", "compare"),
    "surprise-svd": ("surprise", "compare"),
    "lenskit-biased-mf": ("lenskit.als", "lenskit"),
}
BY_NAME = {entry.name: entry for entry in ENTRIES}


def adapter(name: str, **settings: Any) -> Any:
    """The class of this name, or skip where its library is not installed."""
    pytest.importorskip(LIBRARIES[name][0], exc_type=ImportError)
    return BY_NAME[name].load()(**settings)


def rmse(model: Factors, probe: Ratings) -> float:
    users = np.repeat(np.arange(probe.n_users), probe.user_support)
    return float(np.sqrt(np.mean((model.predict(users, probe.columns) - probe.values()) ** 2)))


def test_every_recommender_bears_its_name() -> None:
    for name, entry in BY_NAME.items():
        assert entry.load()().name == name
    assert set(BY_NAME) == {"regularized-svd", *LIBRARIES}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, extra = LIBRARIES[name]
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match="optional package that is not installed") as caught:
        BY_NAME[name].load()().fit(table([{0: 1.0}], Scale(1, 5, 1)))
    assert f"starshade[{extra}]" in caught.value.advice


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("settings", [{"factors": 0}, {"regularization": -1}, {"factors": 1.5}])
def test_settings_that_are_none(name: str, settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        BY_NAME[name].load()(**settings)


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_to_learn_from(name: str) -> None:
    with pytest.raises(ConfigError, match="no ratings to fit to"):
        adapter(name).fit(table([{}], Scale(1, 5, 1)), rng=0)


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_a_library_learned_predicts(name: str) -> None:
    ratings = synthesize(n_users=200, n_items=80, n_ratings=5000, rng=0)
    train, probe = hold_out(ratings, 0.1, rng=0)
    recommender = adapter(name, factors=4)
    model = recommender.fit(train, rng=1)
    again = recommender.fit(train, rng=1)
    assert np.allclose(model.rows(np.arange(9)), again.rows(np.arange(9)), atol=1e-3)
    users = np.repeat(np.arange(probe.n_users), probe.user_support)
    constant = np.full(len(users), train.values().mean())
    alone = float(np.sqrt(np.mean((constant - probe.values()) ** 2)))
    assert rmse(model, probe) < alone


@pytest.mark.parametrize("name", LIBRARIES)
def test_users_and_items_without_ratings(name: str) -> None:
    ratings = table([{0: 4.0, 1: 2.0}, {}, {1: 4.0, 3: 5.0}], Scale(1, 5, 1))
    model = adapter(name, factors=2).fit(ratings, rng=0)
    assert not model.user_factors[1].any()
    assert not model.item_factors[2].any()
    assert model.user_bias[1] == model.item_bias[2] == 0.0
    assert np.isfinite(model.rows(np.arange(3))).all()


def test_surprise_predicts_what_we_took_over() -> None:
    recommender = adapter("surprise-svd", factors=3)
    import surprise

    from starshade.recommend.adapters import _trainset, small_seed

    ratings = synthesize(n_users=50, n_items=30, n_ratings=600, rng=0)
    own = surprise.SVD(n_factors=3, random_state=small_seed(5, "surprise"))
    own.fit(_trainset(ratings, surprise.Trainset))
    model = recommender.fit(ratings, rng=5)
    for user, item in ((0, 0), (7, 3), (49, 29)):
        assert model.predict([user], [item])[0] == pytest.approx(own.predict(user, item).est)
