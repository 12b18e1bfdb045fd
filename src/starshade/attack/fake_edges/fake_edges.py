"""Fake edges: detect cells of `simple` profiles imputed for (b, l)-diversity (starshade's own)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import comb
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.fake_edges.rankings import by_hindsight, fitting, places, rankings
from starshade.attack.fake_edges.result import FakeEdgesResult, OfRanking, SetsLeft
from starshade.attack.knowledge import Knowledge
from starshade.attack.padding.auc import among_top, auc, auc_interval
from starshade.attack.padding.padding import DrawnGroups, Judged, padded_cells
from starshade.attack.settings import FakeEdgesAttackSettings
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.attack.view import roles_of, truth_on
from starshade.errors import ConfigError
from starshade.kernels.arrays import Words
from starshade.kernels.predictive.diversity_repair import bits_of_levels
from starshade.kernels.predictive.rated_sets import count_sets, rated_table
from starshade.naming import named
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.digest import digest_of
from starshade.release.profiles import Profiles, refuse_large
from starshade.release.table import Release
from starshade.rng import resolve_seed
from starshade.stats import wilson

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_ARRAYS = 48  # float64 of the size of groups x items, held together
_ALL = "all rankings combined"
_SETS = 10**9  # sets of one person's items, added up, that are counted


@dataclass(frozen=True)
class FakeEdgesAttack(FakeEdgesAttackSettings, Attack[FakeEdgesResult]):
    """Detect the filled cells of a `simple` release that no member rated.

    (b, l)-diversity adds cells to classes whose members did not rate the item (or fewer than
    `min_raters` of them, where that is set). The adversary has the release alone. A value that is
    not the mean of at most as many ratings as the class has members is detected with certainty.
    Other cells are ranked by how likely they are imputed, in several ways.

    Raises
    ------
    ConfigError
        The release is not of simple profiles, there is no link, or too little memory.

    Notes
    -----
    Certain: r members who rate on a scale of steps give a mean that is one of few values, for r
    from `min_raters` to the size of the class, quantized as the release is. On a real scale this
    does not apply. Rankings: the residual of a low-rank fit to the values and to the filled cells,
    distance from the item's mean, the value, how many numbers of raters fit it, how many classes
    show the item, the spread of its values, how many items the class shows, how often they occur
    with this one, how many pairs it keeps at exactly l classes; and the mean rank over all of
    these. Each is taken in its better direction, and the best is reported: an oracle choice, an
    upper bound in favour of the adversary. `fitted` has weights fitted to the truth of half of the
    items, for the other half, which no adversary has.

    (b, l) is recounted without the detected cells.
    Knowledge has no influence, and no targets are chosen. `rng` draws the intervals.
    """

    name: ClassVar[str] = "fake-edges"

    def _run(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request
    ) -> FakeEdgesResult:
        self.refuse(request)
        started, seed = perf_counter(), resolve_seed(request.rng)
        drawn = every_group(data)
        assert isinstance(data, Release)
        roles = roles_of(data, request.original, request.link)
        if roles.credit == "compatible":
            raise ConfigError(
                "fake edges are not computable: they need the private key file",
                advice="Give the private key file.",
            )
        linked, original = int((roles.row_of_user >= 0).sum()), roles.original
        if not linked or not original.n_ratings:
            raise nobody_rated()
        rated = Rated(
            Judged.of(roles, drawn),
            *np.unique(original.user_support, return_counts=True),
            partial(_sets_left, original),
        )
        ineligible, digest = original.n_users - linked, digest_of(original)
        facts = {"targets": linked, "ineligible": ineligible, "digest": digest}
        return self.found(data, drawn, rated, facts, seed, started)

    @staticmethod
    def refuse(request: Request) -> None:
        """Raise ConfigError where targets were chosen."""
        request.refuse_targets(
            "fake edges concern classes, not single users", f"Omit {named('targets')}."
        )

    def found(
        self,
        release: Release,
        drawn: DrawnGroups,
        rated: Rated,
        facts: Mapping[str, Any],
        seed: int,
        started: float,
    ) -> FakeEdgesResult:
        """Strike and rank cells, wherever the ratings lie.

        `facts`: of the original, the fields of a result that tell of it; `started`: when the
        attack began.
        """
        found = _Found(release, drawn, rated, seed)
        with task("detecting fake edges") as step:
            figures = found.figures(step)
        return FakeEdgesResult(
            attack=self.name,
            records=found.profiles.n_records,
            classes=len(drawn.rows),
            **facts,
            **figures,
            seconds=perf_counter() - started,
            postings_per_second=found.cells.shown.size / max(perf_counter() - started, 1e-9),
            config=asdict(self),
            seed=seed,
        )


@dataclass(frozen=True, eq=False)
class Rated:
    """What is asked of the original.

    `judged`: who rated what, group by group. `support`, `users` (n,): numbers of ratings that users
    have, and how many have so many. `sets_left`: of some items (those judged), and of what groups
    show of them, once or more often, packed as `bits_of_levels` does, with b and l: for each, the
    sets of up to b of these items that somebody rated together.
    """

    judged: Judged
    support: NDArray[np.int64]
    users: NDArray[np.int64]
    sets_left: Callable[[Vocabulary, Sequence[Words], int, int], list[SetsLeft]]


def _sets_left(
    original: Ratings,
    items: Vocabulary,
    shown: Sequence[Words],
    b: int,
    l: int,  # noqa: E741
) -> list[SetsLeft]:
    item_of = items.indices(original.items).astype(np.int32)
    truth = truth_on(original, items, item_of)
    counted = [count_sets(rated_table(truth.indptr, truth.columns, bits), b, l) for bits in shown]
    return [SetsLeft(int(each.sets.sum()), int(each.short.sum())) for each in counted]


def every_group(data: Ratings | Release) -> DrawnGroups:
    """Return all classes of a release of simple profiles.

    Raises
    ------
    ConfigError
        The release has no simple profiles, or there is too little memory.
    """
    profiles = _simple(data)
    n_groups, n_items = profiles.levels.shape
    needed = 8 * (_ARRAYS * n_groups * n_items + n_items**2)
    refuse_large(f"fake edges of {n_groups:,} classes x {n_items:,} items", needed, 0)
    return DrawnGroups(profiles, np.arange(n_groups), profiles.sizes)


def _simple(data: Ratings | Release) -> Profiles:
    if isinstance(data, Ratings):
        raise ConfigError(
            "fake edges: the data are ratings, not a release",
            advice="Attack a release of simple profiles.",
        )
    if not isinstance(data.classes, Profiles) or data.manifest.profile != "simple":
        what = data.manifest.profile or data.manifest.layout
        raise ConfigError(
            f"fake edges: the release is {what!r}, which has none",
            advice="Attack a release of simple profiles (starshade anonymize --method predictive "
            "--profile simple --l 3).",
        )
    return data.classes


class _Found:
    """What is found out, and what of it is right."""

    def __init__(self, release: Release, drawn: DrawnGroups, rated: Rated, seed: int) -> None:
        assert isinstance(drawn.shown, Profiles)
        self.profiles, self.rated, self.seed = drawn.shown, rated, seed
        self.least = max(1, int(release.manifest.config.get("min_raters", 1)))
        self.asked = (0, 0)  # b and l
        for claim in release.manifest.claims:
            if claim.model == "diversity":
                self.asked = int(str(claim.parameters["b"])), int(str(claim.parameters["l"]))
        self.cells = padded_cells(drawn, rated.judged)
        judged = self.profiles.levels[:, self.cells.known] > 0
        self.filled = judged.ravel()
        self.fake = (self.cells.raters < self.least)[self.filled]
        self.item, self.group = self.cells.item[self.filled], self.cells.group[self.filled]

    def of(self, table: NDArray[np.float64 | np.int64]) -> Floats:
        """Return a table's numbers of the filled cells that are judged."""
        return np.ascontiguousarray(table[:, self.cells.known].ravel()[self.filled], np.float64)

    def figures(self, step: Callable[[float], None]) -> dict[str, Any]:
        """Strike, rank, and count sets again."""
        fits, profiles = self.fits(), self.profiles
        certain = np.zeros(len(self.fake), np.bool_)
        if fits is not None:
            certain = self.of(fits) == 0
        n = int(self.fake.sum())
        scores = {
            name: self.of(score)
            for name, score in rankings(
                self.cells.shown,
                profiles.sizes,
                profiles.n_rated(),
                fits,
                self.asked[1],
            )
        }
        step(1)
        told = {
            "cells": len(self.fake),
            "fakes": n,
            "certain": int(certain.sum()),
            "certain_share": wilson(int((certain & self.fake).sum()), n) if n else None,
            "certain_wrong": int((certain & ~self.fake).sum()),
            **self.ranked(scores),
        }
        step(1)
        return {**told, **self.again(certain)}

    def fits(self) -> NDArray[np.int64] | None:
        """Return how many numbers of raters fit each cell."""
        profiles = self.profiles
        table = fitting(profiles.scale, profiles.step, int(profiles.sizes.max()), self.least)
        return None if table is None else table[profiles.sizes[:, None], profiles.levels]

    def ranked(self, scores: dict[str, Floats]) -> dict[str, Any]:
        """Say how well each ranking does among all cells, and within items."""
        fake, real = self.fake.astype(float), (~self.fake).astype(float)
        nothing = {"auc": None, "best": None, "top": None}
        nothing |= {f"{name}_within_items": None for name in ("auc", "best", "fitted")}
        if not self.fake.any() or self.fake.all():
            return {**nothing, "by_ranking": ()}
        both: list[dict[str, Floats]] = []
        rates: list[dict[str, float | None]] = []
        for among in (np.zeros_like(self.item), self.item):
            turned, done = {}, {}
            for name, score in scores.items():
                rate = auc(score, fake, real, among)
                turned[name] = -score if rate is not None and rate < 0.5 else score
                done[name] = None if rate is None else max(rate, 1 - rate)
            placed = np.column_stack([places(score, among) for score in turned.values()])
            turned[_ALL] = placed.mean(axis=1)
            done[_ALL] = auc(turned[_ALL], fake, real, among)
            both.append(turned)
            rates.append(done)
        best, within = (max(done, key=lambda name: done[name] or 0.0) for done in rates)
        fitted = by_hindsight(placed, self.fake, self.item)
        none = np.zeros_like(self.item)
        return {
            "auc": auc_interval(both[0][best], fake, real, none, self.group, seed=self.seed),
            "best": best,
            "auc_within_items": auc_interval(
                both[1][within], fake, real, self.item, self.group, seed=self.seed
            ),
            "best_within_items": within,
            "fitted_within_items": auc_interval(
                fitted, fake, real, self.item, self.group, seed=self.seed
            ),
            "top": among_top(both[0][best], fake, float(self.fake.mean())),
            "by_ranking": tuple(
                OfRanking(name, rate, rates[1][name]) for name, rate in rates[0].items()
            ),
        }

    def again(self, certain: Bools) -> dict[str, Any]:
        """Count sets without the cells that were struck, and without all that are fake."""
        (b, l), rated = self.asked, self.rated  # noqa: E741
        counts = zip(rated.support.tolist(), rated.users.tolist(), strict=True)
        work = sum(many * comb(n, size) for n, many in counts for size in range(1, b + 1))
        if not b or work > _SETS:
            return {"left_certain": None, "left_all": None}
        items = self.profiles.items.take(np.flatnonzero(self.cells.known))
        shown = [self.without(certain), self.without(self.fake)]
        longest = int(rated.support.max(initial=0))  # no set is larger
        left_certain, left_all = rated.sets_left(items, shown, min(b, longest), l)
        return {"left_certain": left_certain, "left_all": left_all}

    def without(self, struck: Bools) -> Words:
        """Pack what profiles show besides the cells that were struck, equal ones being one."""
        levels = self.profiles.levels[:, self.cells.known].copy()
        levels.ravel()[np.flatnonzero(self.filled)[struck]] = 0
        return bits_of_levels(np.unique(levels, axis=0))
