"""The models that are checked shard by shard, behind one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.privacy.item_diversity import Diversity
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph, judged_by_size
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.k_m import KM
from starshade.privacy.sharded.facts import single_items_shown, single_ratings_fit
from starshade.privacy.sharded.proximity import by_proximity
from starshade.privacy.verdict import Verdict, check_records, checking
from starshade.ratings.scale import Scale
from starshade.ratings.shards.equal import class_sizes
from starshade.ratings.shards.shards import Shards


def check_shards(model: Any, shards: Shards, *, engine: Engine | None = None) -> Verdict:
    """Check a store of shards; the verdict is that on the same ratings as one table.

    Parameters
    ----------
    model : KAnonymity, ReviewGraph, KEpsAnonymity, KEpsLAnonymity, KM or Diversity
        Of balls, not cliques; with an `l` of a spread on a stepped scale; with an `m` or `b` of 1.
    shards : Shards
    engine : Engine, optional
        Who works on the shards; None: this process, without a journal.

    Raises
    ------
    ConfigError
        What the model's `check` refuses, or a model that takes one table.
    """
    if setting := takes_one_table(model, shards.scale):
        found = getattr(model, setting, type(model).__name__)
        raise ConfigError(
            f"{called(setting)} {found}: is not checked shard by shard",
            advice="Check the ratings as one table, where memory holds them.",
            setting=setting,
        )
    return _CHECKS[type(model)](model, shards, engine or Local())


def takes_one_table(model: Any, scale: Scale) -> str:
    """Return the setting for which a model is not checked shard by shard; empty: it is."""
    if getattr(model, "groups", "ball") == "clique":
        return "groups"
    if isinstance(model, KEpsLAnonymity) and model.l > 0 and scale.step is None:
        return "l"  # sums of real numbers depend on the order
    for setting in ("b", "m"):  # items, ratings known together
        if getattr(model, setting, 1) > 1:
            return setting
    return "" if type(model) in _CHECKS else "model"


@checking("k-anonymity")
def _k_anonymity(model: KAnonymity, shards: Shards, engine: Engine) -> Verdict:
    check_records(model.k, shards.n_users)
    classes = class_sizes(shards, engine, days=shards.has_days)
    return judged_by_size("k-anonymity", model.k, classes)


@checking("review-graph")
def _review_graph(model: ReviewGraph, shards: Shards, engine: Engine) -> Verdict:
    check_records(model.k, shards.n_users)
    return judged_by_size("review-graph", model.k, class_sizes(shards, engine, days=False))


@checking("k-eps")
def _k_eps(model: KEpsAnonymity, shards: Shards, engine: Engine) -> Verdict:
    return by_proximity(model, shards, engine)


@checking("k-eps-l")
def _k_eps_l(model: KEpsLAnonymity, shards: Shards, engine: Engine) -> Verdict:
    return by_proximity(model, shards, engine)


@checking("k-m")
def _k_m(model: KM, shards: Shards, engine: Engine) -> Verdict:
    return single_ratings_fit(model, shards, engine)


@checking("diversity")
def _diversity(model: Diversity, shards: Shards, engine: Engine) -> Verdict:
    return single_items_shown(model, shards, engine)


_CHECKS: Mapping[type, Callable[[Any, Shards, Engine], Verdict]] = {
    KAnonymity: _k_anonymity,
    KEpsAnonymity: _k_eps,
    KEpsLAnonymity: _k_eps_l,
    ReviewGraph: _review_graph,
    KM: _k_m,
    Diversity: _diversity,
}
