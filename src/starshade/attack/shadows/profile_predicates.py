"""Singling out by profiles: predicates written from a release, counted on people in and outside.

Generalized cells are conditions that a person meets or not (`starshade.attack.shadows.predicates`).
A profile consists of means or predictions, so the predicate of its class is that a statistic of
the class and a person's ratings exceeds a cut-off: the likelihood ratio of the class against all
others, or, where ratings are averaged, the evidence in the profile's residuals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from starshade.attack.low_rank import LowRankFit, draw_profiles, fit_low_rank, shown_profiles
from starshade.attack.shadows.seen import Facts, Seen
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.kernels.columns import add_evidence
from starshade.plain import counted
from starshade.ratings.scale import SLACK
from starshade.release import MEANS, ProfileKind
from starshade.release.columns import Columns
from starshade.rng import generator

Floats = NDArray[np.float64]
Statistic = Literal["likelihood ratio", "residuals"]
STATISTICS: tuple[Statistic, ...] = ("likelihood ratio", "residuals")
TAUS = 1e-2, 1e-4, 1e-6, 1e-8  # a likelihood ratio exceeds people / tau
#: cut-offs of both statistics, where ratings are averaged: 2 to 4,096, sixteen for each doubling
CUTOFFS = tuple((2.0 ** (np.arange(16, 193) / 16)).tolist())
HASHES = 1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 7, 1 / 11
LIGHT = 0.1  # people times weight at most, or isolating one of them is luck
MOST_CLASSES = 128  # of a release whose predicates are counted; of more, so many are drawn
SPREAD = 0.215  # of ratings around cells, in widths of the scale: releases do not publish it
_NULL = -11.5  # evidence of a rating whose cell is null
_BLOCK = 2**23  # cells, and people times classes, held together


@dataclass(frozen=True)
class Choice:
    """The predicates counted on a release.

    `cutoff`: of the statistic, a logarithm. `hashed`: share of the people whose hash a predicate
    admits, 1 for a predicate without a hash.
    """

    statistic: Statistic
    cutoff: float
    hashed: float


@dataclass(frozen=True, eq=False)
class Counted:
    """How many classes of releases of profiles single out one person.

    Attributes
    ----------
    isolates, outsiders : ndarray of float64, shape (releases,)
        Share of the classes whose predicate exactly one member, and exactly one outsider,
        satisfies.
    weights : ndarray of float64, shape (releases,)
        Members times the share of outsiders who satisfy a predicate.
    by_weight : float
        n·w·(1 - w)^(n - 1), mean over the releases: how often exactly one of n people satisfies a
        predicate of weight w.
    predicates, classes : int
        Classes of all releases together: those whose predicates were counted, and all.
    tau : float or None
        Of `TAUS`, one for all releases; None where ratings are averaged.
    choices : tuple of Choice
        Of each release, where ratings are averaged: made on the next release.
    """

    isolates: Floats
    outsiders: Floats
    weights: Floats
    by_weight: float
    predicates: int
    classes: int
    tau: float | None
    choices: tuple[Choice, ...]

    @property
    def how(self) -> str:
        """A sentence on these predicates."""
        return self._condition + self._sample

    @property
    def _sample(self) -> str:
        if self.predicates == self.classes:
            return ""
        return (
            f" The test covers the predicates of {self.predicates:,} of {self.classes:,} classes, "
            "drawn by the seed."
        )

    @property
    def _condition(self) -> str:
        if self.tau is not None:
            return (
                "Predicate: the likelihood ratio of a class against all others exceeds the "
                f"number of people divided by τ = {self.tau:g}."
            )
        residuals = sum(each.statistic == "residuals" for each in self.choices)
        return (
            "Predicate: a person's fit to a class exceeds a cut-off, and a hash admits them. "
            f"The fit uses residuals of profiles in {residuals:,} of "
            f"{counted(len(self.choices), 'release')}, else the likelihood ratio of the class. "
            "Fit, cut-off and hash are chosen on another release."
        )


class Residuals(NamedTuple):
    """What a low-rank model says of the cells of a release, and the spread of what it leaves."""

    fit: LowRankFit
    spread: float

    @classmethod
    def of(cls, cells: Columns, seed: int) -> Residuals:
        """Fit the model to all profiles, or to some that the seed draws."""
        fit = fit_low_rank(shown_profiles(cells, draw_profiles(cells, seed)))
        return cls(fit, _residual_spread(cells, fit))


@dataclass(frozen=True, eq=False)
class ClassPredicates:
    """Predicates of some classes of a release.

    `seen`: the release; its spread is not used. `classes`: which of its classes, ascending.
    `cutoffs`: of a statistic, ascending. `residuals`: None where ratings are not averaged.
    """

    seen: Seen
    classes: NDArray[np.int64]
    cutoffs: Floats
    residuals: Residuals | None

    @property
    def tables(self) -> dict[str, NDArray[Any]]:
        """Lay out all but the release as columns, for a job."""
        out: dict[str, NDArray[Any]] = {"classes": self.classes, "cutoffs": self.cutoffs}
        if self.residuals is None:
            return out
        fit, spread = self.residuals
        return out | {"mean": fit.mean, "right": fit.right, "spread": np.array([spread])}

    @classmethod
    def read(cls, tables: Tables, seen: Seen) -> ClassPredicates:
        """Read what `tables` laid out."""
        residuals = None
        if "mean" in tables:
            fit = LowRankFit(tables["mean"], tables["right"], np.nan, 0)
            residuals = Residuals(fit, float(tables["spread"][0]))
        return cls(seen, tables["classes"], tables["cutoffs"], residuals)

    def satisfied(self, facts: Facts, member: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count people who satisfy each: (statistics, 2, classes, cut-offs), members first."""
        least = float(self.cutoffs[0])
        statistics = [likelihood_ratios(self.seen, facts, self.classes, least)]
        if self.residuals is not None:
            statistics.append(residual_evidence(self.seen, facts, self.classes, self.residuals))
        given = member, self.cutoffs, len(self.classes)
        return np.stack([_satisfied(each, *given) for each in statistics])


class People(Protocol):
    """Members of a release and as many outsiders, or all where there are fewer."""

    @property
    def members(self) -> int:
        """How many are in the release."""

    @property
    def outsiders(self) -> int:
        """How many are not."""

    def satisfied(self, predicates: ClassPredicates) -> NDArray[np.int64]:
        """Count them; see `ClassPredicates.satisfied`."""


@dataclass(frozen=True, eq=False)
class OneTable:
    """`People` of one table: all their ratings; `member` (people,): who is in the release."""

    facts: Facts
    member: NDArray[np.bool_]

    @property
    def members(self) -> int:
        """How many are in the release."""
        return int(self.member.sum())

    @property
    def outsiders(self) -> int:
        """How many are not."""
        return len(self.member) - self.members

    def satisfied(self, predicates: ClassPredicates) -> NDArray[np.int64]:
        """Count them; see `ClassPredicates.satisfied`."""
        return predicates.satisfied(self.facts, self.member)


def count_isolated(seen: Seen, people: People, profile: ProfileKind, seed: int) -> Tables:
    """Count the classes of a release that single out one person, at each cut-off.

    Of more than `MOST_CLASSES` classes the seed draws those whose predicates are counted. They are
    the same predicates as if all were counted, each of its class against all others: the sample
    makes the adversary no weaker, and figures differ from those of all classes by chance. (Of
    MovieLens 100K, 64 classes of about 94 in each of 17 releases: excess 8.8 % in place of 9.2 %
    on `pooled` profiles, 42.0 % in place of 41.2 % on `padded`; of 32 classes `padded` has 36.2 %,
    as cut-offs are chosen worse.) A half costs .09 s of a processor at 1 million ratings and 600
    classes (all classes: .38 s), 2.2 s at 10 million and 5,002, 18 s at 40 million and 20,028.

    Parameters
    ----------
    seen : Seen
        A release of profiles; its spread is not used.
    people : People
    profile : {"padded", "simple", "model", "pooled"}
        What its cells are.
    seed : int
        Draws classes, and the profiles that a low-rank model is fitted to, where there are many.

    Returns
    -------
    Tables
        "isolated", "baseline" (statistics, cut-offs, hashes): share of the classes that exactly
        one member, or outsider, satisfies. "weight" (statistics, cut-offs): share of the outsiders
        who satisfy a predicate, mean over the classes. "counts": members, outsiders, classes that
        have predicates, all classes. Where ratings are averaged these are of `STATISTICS`,
        `CUTOFFS` and `HASHES`, otherwise of the likelihood ratio and `TAUS` alone.

    Raises
    ------
    ConfigError
        There is one class alone, or there are no members or no outsiders.
    """
    members, outsiders, classes = people.members, people.outsiders, len(seen.sizes)
    if not members or not outsiders:
        lacks = "members" if outsiders else "non-members"
        raise ConfigError(f"singling out: a shadow release has no {lacks}")
    if classes < 2:
        raise ConfigError("singling out: a shadow release has one class, so none to compare it to")
    hashes, cutoffs, residuals = np.ones(1), np.log(members) - np.log(TAUS), None
    cells = cast(Columns, seen.view.cells)
    if profile in MEANS:
        hashes, cutoffs, residuals = np.array(HASHES), np.array(CUTOFFS), Residuals.of(cells, seed)
    some = draw_classes(classes, seed)
    satisfied = people.satisfied(ClassPredicates(seen, some, cutoffs, residuals))
    return {
        "isolated": _isolated(satisfied[:, 0], hashes),
        "baseline": _isolated(satisfied[:, 1], hashes),
        "weight": satisfied[:, 1].mean(axis=1) / outsiders,
        "counts": np.array([members, outsiders, len(some), classes]),
    }


def draw_classes(classes: int, seed: int) -> NDArray[np.int64]:
    """Return which classes have their predicates counted, ascending: all, or as many as may be."""
    if classes <= MOST_CLASSES:
        return np.arange(classes)
    stream = generator(seed, "classes with predicates")
    return np.sort(stream.choice(classes, MOST_CLASSES, replace=False))


def summarize(answers: Sequence[Tables], profile: ProfileKind) -> Counted:
    """Choose the predicates of each release, of what `count_isolated` gave of all.

    Where ratings are averaged, the statistic, cut-off and hash of each release are those of the
    greatest excess on the next (of the last: on the first) whose weight is at most `LIGHT`, the
    lightest where none is. Otherwise one tau serves all releases: the largest at which the mean
    weight is at most `LIGHT`, the smallest of `TAUS` where it never is.

    Raises
    ------
    ConfigError
        Ratings are averaged and there is one release alone, or there is no release.
    """
    means = profile in MEANS
    if len(answers) < 1 + means:
        needed = counted(1 + means, "shadow release")
        raise ConfigError(f"singling out: needs {needed}, {len(answers):,} given")
    isolated, baseline, weight, counts = (
        np.stack([answer[name] for answer in answers])
        for name in ("isolated", "baseline", "weight", "counts")
    )
    people = counts[:, 0]
    weight = weight[..., None] * np.array(HASHES if means else (1.0,))
    mass = people[:, None, None, None] * weight
    tau = 0
    if means:
        excess = (isolated - baseline) / np.where(baseline < 1, 1 - baseline, np.inf)
        chosen = np.roll([_choose(*each) for each in zip(excess, mass, strict=True)], -1, axis=0)
    else:
        light = np.flatnonzero(mass.mean(axis=0).ravel() <= LIGHT)
        tau = int(light[0]) if len(light) else len(TAUS) - 1
        chosen = np.tile([0, tau, 0], (len(answers), 1))
    at = np.arange(len(answers)), *chosen.T
    choices = [Choice(STATISTICS[s], CUTOFFS[t], HASHES[h]) for s, t, h in chosen if means]
    return Counted(
        isolates=isolated[at],
        outsiders=baseline[at],
        weights=mass[at],
        by_weight=float((mass[at] * (1 - weight[at]) ** (people - 1)).mean()),
        predicates=int(counts[:, 2].sum()),
        classes=int(counts[:, 3].sum()),
        tau=None if means else TAUS[tau],
        choices=tuple(choices),
    )


def _choose(excess: Floats, mass: Floats) -> tuple[int, ...]:
    """Return the place of the greatest excess among light predicates, else of the lightest."""
    light = mass <= LIGHT
    best = np.where(light, excess, -np.inf).argmax() if light.any() else mass.argmin()
    return tuple(int(place) for place in np.unravel_index(best, mass.shape))


def _satisfied(
    statistic: Iterator[tuple[slice, slice, Floats]],
    member: NDArray[np.bool_],
    cutoffs: Floats,
    classes: int,
) -> NDArray[np.int64]:
    """Count members, and outsiders, above each cut-off (ascending): (2, classes, cut-offs)."""
    counts = np.zeros((2, classes, len(cutoffs) + 1), dtype=np.int64)
    for people, some, values in statistic:
        person, place = np.nonzero(values > cutoffs[0])
        exceeded = np.searchsorted(cutoffs, values[person, place])
        side = (~member[people][person]).astype(np.int64)
        np.add.at(counts[:, some], (side, place, exceeded), 1)
    return np.cumsum(counts[:, :, :0:-1], axis=2)[:, :, ::-1]


def _isolated(satisfied: NDArray[np.int64], hashes: Floats) -> Floats:
    """Return the chance, mean over classes, that one person satisfies a predicate and its hash.

    `satisfied` (statistics, classes, cut-offs): of N people one is left with N·h·(1 - h)^(N - 1).
    Shape (statistics, cut-offs, hashes).
    """
    others = np.maximum(satisfied - 1, 0)
    return np.stack([(satisfied * h * (1 - h) ** others).mean(axis=1) for h in hashes], axis=-1)


def likelihood_ratios(
    seen: Seen, facts: Facts, classes: NDArray[np.int64], least: float
) -> Iterator[tuple[slice, slice, Floats]]:
    """Compare some classes with all others, which count by their sizes: logarithms of ratios.

    Other classes are added up only for people who still have a ratio above `least`. The ratios of
    the rest are upper bounds, at most `least`. Few people are left soon: most fit a class better
    that is added early.
    """
    scale = seen.view.cells.symbols.scale
    seen = replace(seen, spread=SPREAD * scale.width)
    sizes, chosen = seen.sizes[classes], _only(seen, classes)
    prior = np.log(seen.sizes.sum() - sizes) - np.log(sizes)
    for people, part in facts.blocks(max(1, _BLOCK // len(classes)), len(facts.items)):
        logs = np.concatenate([fits for _, fits, _ in chosen.fits(part)])
        sums = log_sums_of_others(logs)
        ratios = logs - sums + prior
        for rest in _rest(seen, classes):
            left = np.flatnonzero((ratios > least).any(axis=1))
            if not len(left):
                break
            fitted = _only(seen, rest).fits(part.take(left))
            more = np.concatenate([_log_sums(fits) for _, fits, _ in fitted])
            sums[left] = np.logaddexp(sums[left], more)
            ratios[left] = logs[left] - sums[left] + prior
        yield people, slice(None), ratios


def _log_sums(logs: Floats) -> Floats:
    """Return the logarithm of the sum of each row, as logarithms, as a column."""
    top = logs.max(axis=1, keepdims=True)
    out: Floats = np.log(np.exp(logs - top).sum(axis=1, keepdims=True)) + top
    return out


def _only(seen: Seen, classes: NDArray[np.int64]) -> Seen:
    """Return what is seen of some classes."""
    if len(classes) == len(seen.sizes):
        return seen
    cells = cast(Columns, seen.view.cells).keep_rows(classes)
    out = Seen(replace(seen.view, cells=cells), seen.spread)
    out.__dict__["_model"] = seen._model  # of what cells can say, which stays the same
    return out


def _rest(seen: Seen, classes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield all other classes, of which each part is as large as all before it, or as may be."""
    others = np.setdiff1d(np.arange(len(seen.sizes)), classes, assume_unique=True)
    start, most = 0, max(1, _BLOCK // max(1, seen.view.cells.n_items))
    while start < len(others):
        stop = start + min(most, len(classes) + start)
        yield others[start:stop]
        start = stop


def log_sums_of_others(logs: Floats) -> Floats:
    """Return for each entry the logarithm of the sum of the others of its row, as logarithms.

    Without the largest entry the sum is of what is left: a difference would leave nothing of it.
    """
    each, best = np.arange(len(logs)), logs.argmax(axis=1)
    top = logs[each, best]
    odds = np.exp(logs - top[:, None])
    odds = odds.sum(axis=1, keepdims=True) - odds
    odds[each, best] = 1.0
    out: Floats = np.log(odds) + top[:, None]
    rest = logs.copy()
    rest[each, best] = -np.inf
    out[each, best] = _log_sums(rest)[:, 0]
    return out


def residual_evidence(
    seen: Seen, facts: Facts, classes: NDArray[np.int64], residuals: Residuals
) -> Iterator[tuple[slice, slice, Floats]]:
    """Add up over ratings how far cells of some classes deviate towards them from a low-rank model.

    The logarithm of the chance of the residuals with the person in the class, less that without.
    Yields nothing where the model explains every cell.
    """
    place, (fit, spread) = seen.view.places(facts.items), residuals
    seen = _only(seen, classes)
    cells = cast(Columns, seen.view.cells)
    if spread <= SLACK:
        return
    there = (place >= 0) & ~np.isnan(facts.ratings)
    ends = np.append(0, np.cumsum(there))[facts.indptr]
    items, ratings = place[there].astype(np.int64), facts.ratings[there]
    for here, shown, expected in _expected(cells, fit):
        columns = (
            np.ascontiguousarray((shown - expected).T) / spread,
            np.ascontiguousarray(expected.T),
        )
        scales = 1 / (seen.sizes[here] * spread)
        step = max(1, _BLOCK // len(scales))
        for start in range(0, len(facts), step):
            people = slice(start, min(start + step, len(facts)))
            out = np.zeros((people.stop - start, len(scales)))
            some = ends[start : people.stop + 1], items, ratings
            add_evidence(columns, scales, some, _NULL, out)
            yield people, here, out


def _expected(cells: Columns, fit: LowRankFit) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield some classes, what they show and what the model expects there, (classes, items)."""
    step = max(1, _BLOCK // max(1, cells.n_items))
    for start in range(0, cells.n_groups, step):
        classes = slice(start, min(start + step, cells.n_groups))
        shown = shown_profiles(cells, np.arange(classes.start, classes.stop))
        yield classes, shown, fit.of(shown)


def _residual_spread(cells: Columns, fit: LowRankFit) -> float:
    """Return the standard deviation of the residuals of all cells that are not null."""
    residuals = (shown - expected for _, shown, expected in _expected(cells, fit))
    sums = [
        [np.nansum(each, axis=1), np.nansum(each**2, axis=1), (~np.isnan(each)).sum(axis=1)]
        for each in residuals
    ]
    total, squares, count = np.concatenate(sums, axis=1).sum(axis=1)
    return float(np.sqrt(max(0.0, squares - total**2 / max(1, count)) / max(1, count)))
