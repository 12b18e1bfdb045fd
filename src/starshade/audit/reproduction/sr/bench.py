"""What SR's claims and figures rest on, measured once each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.audit.reproduction.estimates import Estimate, Untestable, estimate
from starshade.audit.reproduction.parts import Part, Parts
from starshade.audit.reproduction.sr.measured import Grid, Partition, Workload, plainly, some_of
from starshade.audit.reproduction.sr.prediction import Trials, draw_trials, released_values
from starshade.audit.reproduction.sr.work import PRINTED, Reading, count_cells, count_tree
from starshade.errors import ConfigError, StarshadeError
from starshade.kernels.balls.cliques import seek_cliques
from starshade.privacy.k_eps import KEpsAnonymity
from starshade.privacy.proximity.balls import check_edges
from starshade.progress import silence
from starshade.ratings.proximity.balls import ball_members, ball_sizes
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.proximity.space import Space, space_of
from starshade.ratings.table import Ratings
from starshade.rng import generator

Floats = NDArray[np.float64]


@contextmanager
def fits() -> Iterator[None]:
    """Make what does not fit the memory budget untestable, in the budget's words."""
    try:
        with plainly():
            yield
    except ConfigError as error:
        raise Untestable(error.message) from error


@dataclass(frozen=True, eq=False)
class Bench:
    """Ratings, and what is measured on them."""

    ratings: Ratings
    workloads: tuple[Workload, ...]  # the most rated items first, then all, if they are more
    grid: Grid
    seeds: tuple[int, ...]
    trials: int
    attributes: tuple[str, ...]
    parts: Parts = field(default_factory=Parts)
    synthetic: bool = False  # whether the ratings are made up

    @property
    def top(self) -> Workload:
        """The most rated items."""
        return self.workloads[0]

    @property
    def places(self) -> list[tuple[Workload, Reading]]:
        """Each part of the data under each of its null rules."""
        return [
            (part, Reading("top" if part is self.top and len(self.workloads) > 1 else "all", nulls))
            for part in self.workloads
            for nulls in part.rules
        ]

    def over(
        self, runs: Sequence[Mapping[str, Floats]], statistic: Callable[[Any], float]
    ) -> Estimate:
        """Return a statistic with its interval over runs and users."""
        return estimate(runs, statistic, seed=self.seeds[0])

    def part(self, items: str) -> Workload:
        """Return the part of the data that these items are of; see `space`."""
        return self.top if items == "top" else self.workloads[-1]

    @cached_property
    def ranking(self) -> NDArray[np.int64]:
        """Items that are not sensitive, the most rated first."""
        ratings = self.workloads[-1].ratings
        ranked = ratings.most_rated(ratings.n_items)
        rest, _ = split_items(ratings.items, self.workloads[-1].sensitive)
        return ranked[np.isin(ranked, rest)]

    def space(
        self, items: str, nulls: NullRule, eps: float, share: int = 100, seed: int = 0
    ) -> Space:
        """Make records ready; `items`: "all", "top", or how many of the most rated."""
        workload = self.part(items)
        ratings = some_of(workload.ratings, share, seed)
        rest, _ = split_items(ratings.items, workload.sensitive)
        chosen = self.ranking[: int(items)] if items.isdigit() else rest
        return space_of(ratings, np.sort(chosen), eps, nulls)

    def near(self, space: Space) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return who is near whom, as lists; untestable where they do not fit."""
        with fits():
            check_edges(int(ball_sizes(space).sum()))
            return ball_members(space, np.arange(space.n_records))

    def cells(self, reading: Reading, eps: float, seed: int, share: int = 100) -> Part:
        """Return what `count_cells` counts, and the number of attributes."""

        def make() -> Part:
            space = self.space(reading.items, reading.nulls, eps, share, seed)
            drawn = generator(seed, "order of attributes").permutation(space.n_items)
            with fits():
                return count_cells(space, drawn) | {"items": np.array(space.n_items)}

        return self.parts.of(f"cells {reading.items} {reading.nulls} {eps:g} {share} {seed}", make)

    def tree(self, reading: Reading, eps: float, seed: int, share: int = 100) -> float:
        """Return the words that our tree touches, as cells; equal records are joined beforehand."""

        def make() -> Part:
            space = self.space(reading.items, reading.nulls, eps, share, seed)
            with fits():
                cells = count_tree(space) * space.index.fields.per_word + len(space.codes)
            return {"cells": np.array(cells)}

        name = f"tree {reading.items} {reading.nulls} {eps:g} {share} {seed}"
        return float(self.parts.of(name, make)["cells"])

    def asked(self, reading: Reading, eps: float, k: int) -> NDArray[np.int64]:
        """Return who asks where nobody does who is in a group that was found."""

        def make() -> Part:
            near = self.near(self.space(reading.items, reading.nulls, eps))
            return {"asked": seek_cliques(*near, k)[1]}

        return self.parts.of(f"cliques {reading.items} {reading.nulls} {eps:g} {k}", make)["asked"]

    def work(
        self,
        search: str,
        eps: float,
        seed: int,
        *,
        reading: Reading = PRINTED,
        k: int = 20,
        l: float = 0,  # noqa: E741
        share: int = 100,
    ) -> Floats:
        """Return the cells that each record makes a search touch ("tree": all of them at once)."""
        part = self.cells(reading, eps, seed, share)
        p = int(part["items"])
        slab, cells, ball = (part[name].astype(np.float64) for name in ("slab", "cells", "ball"))
        n, enough = len(ball), ball >= k
        if reading.short_cut and (ball == n).all() and eps >= self.grid.eps[-1]:
            return np.ones(n)
        sensitive = len(self.top.sensitive) if l > 0 else 0
        spread = np.where(enough, ball * sensitive, 0.0)
        if search == "pairwise":
            work = (n + cells) / 2 if reading.early else np.full(n, (n - 1) / 2 * p)
            return np.asarray(work + spread)
        if search == "tree":
            return np.array([self.tree(reading, eps, seed, share) + spread.sum()])
        work = slab + cells + spread
        if reading.cliques:
            work = work + np.where(enough, ball * (ball - 1) / 2 * p, 0.0)
        if reading.covered:
            work = work * self.asked(reading, eps, k)
        if reading.first and not enough.all():
            work = np.where(np.arange(n) <= int(np.argmin(enough)), work, 0.0)
        return np.asarray(work)

    def release(self, nulls: NullRule, partition: Partition, k: int, eps: float, seed: int) -> Part:
        """Anonymize the most rated items: each user's distortion, and what became of the rest."""
        name = f"release {nulls} {partition} {k} {eps:g} {seed}"
        return self.parts.of(name, lambda: self._release(nulls, partition, k, eps, seed))

    def _release(
        self, nulls: NullRule, partition: Partition, k: int, eps: float, seed: int
    ) -> Mapping[str, Any]:
        ratings = self.top.ratings
        try:
            with silence(), plainly():
                release = self.method(nulls, partition, k, eps).anonymize(ratings, rng=seed)
                model = KEpsAnonymity(k, eps, self.top.sensitive, nulls, full=True)
                verdict = model.check(release)
        except StarshadeError as error:
            return {"refused": np.array(error.message)}
        rows, after = released_values(release, ratings)
        before = ratings.dense()[rows]
        apart = np.isnan(before) != np.isnan(after)
        moved = np.nansum(np.abs(before - after), axis=1)
        with np.errstate(invalid="ignore"):
            means = np.nansum(before, 0) / (~np.isnan(before)).sum(0)
            others = np.nansum(after, 0) / np.maximum((~np.isnan(after)).sum(0), 1)
        return {
            "distortion": moved + ratings.scale.cost_of_null * apart.sum(axis=1),
            "means": np.sqrt(np.nanmean((means - others) ** 2, keepdims=True)),
            "ball": np.array([verdict.smallest_class]),
            "failing": np.array([verdict.failing_records]),
        }

    def method(
        self, nulls: NullRule, partition: Partition, k: int, eps: float
    ) -> IntervalAnonymizer:
        """Return the anonymizer of the most rated items."""
        return IntervalAnonymizer(
            k=k,
            eps=eps,
            sensitive=self.top.sensitive,
            nulls=nulls,
            partition=partition,
            rare_items="keep",
        )

    def _drawn(self, attribute: str, seed: int) -> Trials:
        """Draw the splits of a run, and predict from the original."""
        key = (attribute, seed)
        if key not in self._trials:
            each = max(1, self.trials // len(self.seeds))
            self._trials[key] = draw_trials(self.top.ratings, attribute, trials=each, rng=seed)
        return self._trials[key]

    @cached_property
    def _trials(self) -> dict[tuple[str, int], Trials]:
        return {}

    def predicted(self, nulls: NullRule, partition: Partition, k: int, seed: int) -> Part:
        """Return accuracy, balanced accuracy and AUC of each attribute and trial.

        "before" and "after" are (attributes, trials, 3).
        """

        def make() -> Part:
            method = self.method(nulls, partition, k, 2 * self.grid.star)
            try:
                with plainly():
                    first, *others = (self._drawn(each, seed) for each in self.attributes)
                    scores, released = first.scores(method, *others)
            except StarshadeError as error:
                return {"refused": np.array(". ".join(filter(None, (error.message, error.advice))))}
            return {
                "before": np.array([each.original for each in (first, *others)]),
                "after": scores,
                "majority": np.array([each.majority for each in (first, *others)]),
                "released": np.array([released]),
            }

        return self.parts.of(f"predicted {nulls} {partition} {k} {seed}", make)
