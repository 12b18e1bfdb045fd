"""A predictive release of a store of shards, behind one function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.anonymize.predictive.making import (
    claims_of,
    refuse_one_group,
    refuse_one_profile,
    resolved,
    step_of,
)
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.groups import group
from starshade.anonymize.sharded.merge import counted, link, merged
from starshade.anonymize.sharded.prepare import prepare_shards
from starshade.anonymize.sharded.records import in_order
from starshade.anonymize.sharded.split import send
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.naming import aside, called
from starshade.plain import plain
from starshade.progress import task
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.shards.manifest import PER_RATING
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.regularized_svd import RegularizedSVD, check_factors
from starshade.recommend.sharded import fit_over, sample_over
from starshade.release.profile_release import released
from starshade.release.profiles import Profiles
from starshade.release.table import Link, Release
from starshade.rng import Rng, resolve_seed
from starshade.scratch import scratch_folder

_PER_RATING = 32  # bytes of memory that grouping a bucket takes for each of its ratings, about


def takes_one_table(method: Any) -> str:
    """Return the setting for which a method does not work shard by shard; empty: it does."""
    if not isinstance(method, PredictiveAnonymizer):
        return "method"
    plain_only = {"l": 0, "min_raters": 1, "items": None, "recommender": "regularized-svd"}
    return next((name for name, value in plain_only.items() if getattr(method, name) != value), "")


def settings_of_run(method: PredictiveAnonymizer) -> dict[str, Any]:
    """Return what a run is known again by, of its method."""
    said: dict[str, Any] = plain({each.name: getattr(method, each.name) for each in fields(method)})
    return said


@contextmanager
def anonymized_shards(
    method: PredictiveAnonymizer,
    shards: AnyShards,
    rng: Rng = None,
    engine: Engine | None = None,
) -> Iterator[Release]:
    """Make a release of a partitioned store, to be saved within the block.

    Of one shard it is that of the same ratings as one table, byte for byte; of several it is fixed
    by how they are cut. Neither ratings nor users nor the link are held as a whole; the profiles
    are mapped from a file.

    Parameters
    ----------
    method : PredictiveAnonymizer
        One that `takes_one_table` lets pass.
    shards : Shards or KeptShards
        A store, or some of its users with all items.
    rng : int, Generator or None
    engine : Engine, optional
        Who works on the shards; None: this process, without a journal.

    Yields
    ------
    Release
        Not yet saved, and therefore not yet verified.

    Raises
    ------
    ConfigError, UnmetError
        As of `PredictiveAnonymizer.anonymize`, or settings that take one table.
    """
    if setting := takes_one_table(method):
        found = getattr(method, setting, getattr(method, "name", ""))
        raise ConfigError(
            f"{called(setting)} {found}: not supported for partitioned stores",
            advice="Anonymize the ratings as one table if they fit into memory. Partitioned "
            "stores support predictive without l, min_raters, chosen items or another "
            "recommender.",
            setting=setting,
        )
    engine = engine or Local()
    with ExitStack() as held, task("anonymizing by predictive"):
        place = engine.folder or held.enter_context(scratch_folder())
        seed = resolve_seed(rng)
        _check_memory(shards)
        ready, counts = prepare_shards(
            shards, engine, method.k, method.rare_items, method.slack, method.item_support
        )
        table = ready.ratings
        refuse_one_group(method, table.n_users)
        step = step_of(method, table.scale)
        if method.factors not in (None, PredictiveAnonymizer.factors):
            check_factors(int(method.factors), table)
        records = in_order(table, engine, place, seed)
        sample = sample_over(records, engine, seed)
        svd = method.padding()
        assert isinstance(svd, RegularizedSVD)
        support = counts.items
        levels = _counts_of(counts.levels, table.codes, len(table.levels))
        fit = fit_over(svd, records, sample, support, levels, engine, seed)
        asked: dict[str, Any] = {
            "method": settings_of_run(method),
            "fit": fit.settings,
            "seed": seed,
            "step": step,
            "least": int(method.profile == "simple"),
        }
        tables: dict[str, NDArray[Any]] = {**fit.tables, "support": support}
        buckets = send(records, sample, method, asked, tables, engine, place)
        grouped = group(buckets, asked, tables, engine, place)
        classes = merged(grouped)
        refuse_one_profile(len(classes.sizes))
        yield released(
            table,
            Profiles(table.items, classes.sizes, classes.levels, table.scale, step),
            Link(Vocabulary(np.empty(0, dtype=np.int64)), np.empty(0, dtype=np.int64)),
            grouped.groups,
            counted(grouped, classes, asked),
            ready.provenance(method, seed, claims_of(method), **resolved(method, step)),
            method.profile,
            divided=link(grouped, classes, place),
        )


def _counts_of(levels: NDArray[np.int64], codes: NDArray[Any] | None, n: int) -> NDArray[np.int64]:
    """Return how often each level of a release's scale was given."""
    if codes is None:
        return levels
    return np.bincount(codes, levels, n).astype(np.int64)


def _check_memory(shards: AnyShards) -> None:
    """Refuse shards of which one does not fit, before any work."""
    largest = max(map(shards.bytes_of, range(len(shards))), default=0) // PER_RATING
    needs = _PER_RATING * largest
    if needs > budget.memory():
        raise ConfigError(
            f"{shards.path}: its largest partition, of {largest:,} ratings, takes "
            f"{budget.amount(needs)}; {budget.amount(budget.memory())} may be used",
            advice=f"Allow more memory{aside('memory')}, or write the store with more partitions.",
        )
