"""The models that are checked shard by shard, behind one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph, judged_by_size
from starshade.privacy.verdict import Verdict, check_records, checking
from starshade.ratings.shards.equal import class_sizes
from starshade.ratings.shards.shards import Shards


def check_shards(model: Any, shards: Shards, *, engine: Engine | None = None) -> Verdict:
    """Check a store of shards; the verdict is that on the same ratings as one table.

    Parameters
    ----------
    model : KAnonymity or ReviewGraph
    shards : Shards
    engine : Engine, optional
        Who works on the shards; None: this process, without a journal.

    Raises
    ------
    ConfigError
        What the model's `check` refuses, or a model that takes one table.
    """
    if setting := takes_one_table(model):
        found = getattr(model, setting, type(model).__name__)
        raise ConfigError(
            f"{called(setting)} {found}: is not checked shard by shard",
            advice="Check the ratings as one table, where memory holds them.",
            setting=setting,
        )
    return _CHECKS[type(model)](model, shards, engine or Local())


def takes_one_table(model: Any) -> str:
    """Return the setting for which a model is not checked shard by shard; empty: it is."""
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


_CHECKS: Mapping[type, Callable[[Any, Shards, Engine], Verdict]] = {
    KAnonymity: _k_anonymity,
    ReviewGraph: _review_graph,
}
