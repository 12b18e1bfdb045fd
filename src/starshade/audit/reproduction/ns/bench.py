"""Everything that NS's figures and claims rest on, measured once each, as parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.candidates import Hunt, judge
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH, eccentricity_of, stands_out
from starshade.attack.scoreboard_rh.scoring import Pricing, score_all
from starshade.attack.sparsity.few_facts import FewFacts, few_facts
from starshade.attack.sparsity.sparsity import (
    Neighbours,
    Sparsity,
    SparsityResult,
    about_one_star,
)
from starshade.attack.view import View, look
from starshade.audit.reproduction.configurations import Name, settings_of
from starshade.audit.reproduction.estimates import Estimate, Floats, Untestable, estimate
from starshade.audit.reproduction.ns.configurations import CHOICES, READ
from starshade.audit.reproduction.ns.samples import CHANGED, FEWEST, Tenth, drawn
from starshade.audit.reproduction.ns.scorer import Narrow, Reading, scored
from starshade.audit.reproduction.parts import Part, Parts
from starshade.audit.reproduction.study import NETFLIX_ITEMS
from starshade.figure import Rate
from starshade.kernels.attack.candidates import Thresholds
from starshade.kernels.fingerprint import keyed_numbers
from starshade.plain import counted
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.release.folder.digest import digest_of
from starshade.rng import stream_key
from starshade.stats import bootstrap

Run: TypeAlias = Part
Runs: TypeAlias = Sequence[Run]
PHI = 1.5
_MANY = 20_000_000  # of more ratings than this one changed copy is held at a time
_DRAWS = 200  # of a figure's interval; a claim's has more
_CREDITS = frozenset({"top1", "credit", "like", "covering"})  # of a target, from 0 to 1


@dataclass(eq=False)
class Bench:
    """Ratings, and what was measured on them; `targets`: attacked in each run, None: all."""

    ratings: Ratings
    targets: int | None
    runs: int
    seed: int
    parts: Parts = field(default_factory=Parts)
    _views: dict[str, View] = field(default_factory=dict)
    _tenths: dict[str, Tenth] = field(default_factory=dict)  # one at a time
    _people: dict[tuple[Any, ...], NDArray[np.int64]] = field(default_factory=dict)

    @cached_property
    def star(self) -> float:
        """What ±1 on 1-5 comes to on this scale."""
        return about_one_star(self.ratings.scale)

    @cached_property
    def dated(self) -> bool:
        """Whether any rating has a known day."""
        days = self.ratings.days
        return days is not None and bool((days != UNKNOWN_DAY).any())

    def seed_of(self, run: int) -> int:
        """Return the seed of a run."""
        return stream_key(self.seed, f"run {run}") >> 1

    def view(self, way: str = "") -> View:
        """Show the data under a way."""
        if way not in self._views:
            changed = CHANGED[way](self.ratings, self.seed) if way else self.ratings
            if self.ratings.n_ratings > _MANY:
                self._views = {name: view for name, view in self._views.items() if not name}
            self._views[way] = look(changed, None, None)
        return self._views[way]

    def as_large(self, top: int) -> int:
        """Return how many of these items are as large a share as `top` of the paper's."""
        return round(top / NETFLIX_ITEMS * self.ratings.n_items)

    @property
    def can_sample(self) -> bool:
        """Whether there are people enough to draw some."""
        return self.ratings.n_users >= FEWEST

    def able(self, among: Knowledge, way: str = "") -> NDArray[np.int64]:
        """Return everybody of whom so much can be known, in the order in which they are drawn."""
        table = self.view(way).original
        items = among.wrong if among.wrong_kind == "item" else 0
        key = (way, among.known, among.outside_top, items)
        if key not in self._people:
            self._people[key] = self._order(table, among)
        return self._people[key]

    def people(self, among: Knowledge, run: int, way: str = "") -> NDArray[np.int64]:
        """Return the targets of a run, of whom so much can be known: others in every run.

        Where there are not enough for that, people come again, with other cells known.
        """
        order = self.able(among, way)
        if not len(order):
            raise Untestable(why_impossible(self.view(way).original, among))
        size = min(len(order), self.targets or len(order))
        return np.sort(order[(run * size + np.arange(size)) % len(order)])

    def _order(self, table: Ratings, among: Knowledge) -> NDArray[np.int64]:
        if among.outside_top >= table.n_items:
            return np.empty(0, np.int64)
        eligible = np.flatnonzero(among.eligible_users(table))
        key = np.uint64(stream_key(self.seed, "targets"))
        with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
            numbers = keyed_numbers(table.users.fingerprints[eligible], key)
        return eligible[np.argsort(numbers, kind="stable")]

    def each(
        self,
        kind: str,
        knowledge: Knowledge,
        among: Knowledge | None,
        way: str,
        make: Callable[[View, Known, int], Part],
    ) -> Runs:
        """Measure something of the targets of every run, with what is known of them."""
        if knowledge.knows_days and not self.dated:
            raise Untestable("the data have no dates")
        runs: list[Run] = []
        for run in range(self.runs):
            who = self.people(among or knowledge, run, way)
            told = blake2b(who.tobytes(), digest_size=8).hexdigest()
            name = f"{kind}: {knowledge.name}; {way or 'as they are'}; run {run}, {told}"
            runs.append(self.parts.of(name, partial(self._made, way, knowledge, who, run, make)))
        return runs

    def _made(
        self,
        way: str,
        knowledge: Knowledge,
        who: NDArray[np.int64],
        run: int,
        make: Callable[[View, Known, int], Part],
    ) -> Part:
        view = self.view(way)
        return make(view, knowledge.draw(view.original, who, self.seed_of(run)), run)

    def attacked(self, knowledge: Knowledge, way: str = "", among: Knowledge | None = None) -> Runs:
        """Attack by Scoreboard-RH as read."""
        return self.each(
            "scoreboard-rh", knowledge, among, way, lambda view, known, _: found_in(view, known)
        )

    def absent(self, knowledge: Knowledge, way: str = "", among: Knowledge | None = None) -> Runs:
        """Attack the same targets, their records taken out."""

        def make(view: View, known: Known, run: int) -> Part:
            pricing = Pricing.of(ScoreboardRH(), view)
            summaries, _, postings = score_all(view, known, pricing, theta=1.0, absent=True)
            return {
                "named": stands_out(summaries, PHI),
                "eccentricity": eccentricity_of(summaries),
                "postings": np.array([float(postings)]),
            }

        return self.each("scoreboard-rh, absent", knowledge, among, way, make)

    def scoreboard(
        self, knowledge: Knowledge, way: str = "", among: Knowledge | None = None
    ) -> Runs:
        """Attack by Scoreboard with the thresholds of the knowledge."""
        day = knowledge.day_error if knowledge.knows_days else None
        near = Thresholds(
            knowledge.rating_error if knowledge.ratings else math.inf,
            -1 if day is None else int(day),
        )

        def make(view: View, known: Known, run: int) -> Part:
            found, postings = judge(Hunt.of(view, known, near, absent=True))
            assert found.some_absent is not None
            return {
                "top1": found.credit,
                "success": found.credit == 1,
                "candidates": found.candidates.astype(np.float64),
                "bits": found.entropy_bits,
                "named": found.some_absent,
                "postings": np.array([float(postings)]),
            }

        return self.each("scoreboard", knowledge, among, way, make)

    def reading(self, name: Name = READ, **changed: Any) -> Reading:
        """Return what a configuration scores by, on this scale."""
        wanted = ("similarity", "strict", "rho0", "d0", "phi")
        settings = {key: settings_of(CHOICES, name)[key] for key in wanted} | changed
        rho0 = settings["rho0"] * self.star or math.inf  # one rating alone: all are right
        return Reading(**settings | {"rho0": rho0})

    def lettered(
        self,
        knowledge: Knowledge,
        reading: Reading,
        among: Knowledge | None = None,
        *,
        absent: bool = False,
        narrow: tuple[str, Callable[[Known, int], Narrow]] | None = None,
        after: bool = False,
    ) -> Runs:
        """Attack under any reading; `narrow`: a name, and who comes into question."""
        reading = within(reading, knowledge)
        who = f"{'absent' if absent else 'present'}, {narrow[0] if narrow else 'all'}"
        kind = f"to the letter: {reading}, {who}"
        kind += " afterwards" * after

        def make(view: View, known: Known, run: int) -> Part:
            some = None if narrow is None else narrow[1](known, run)
            return scored(view.original, known, reading, absent=absent, narrow=some, after=after)

        return self.each(kind, knowledge, among, "", make)

    def tenth(
        self, knowledge: Knowledge, reading: Reading | None = None, way: str = ""
    ) -> list[dict[str, Part]]:
        """Attack people in a real random tenth, those outside it, and the former among all."""
        if knowledge.knows_days and not self.dated:
            raise Untestable("the data have no dates")
        under = f"{knowledge.name}; {way or 'as they are'}; {reading or READ}"
        return [
            {
                who: self.parts.of(
                    f"tenth, {who}: {under}; run {run}",
                    partial(self._tenth, knowledge, who, run, reading, way),
                )
                for who in ("in it", "among all", "outside")
            }
            for run in range(self.runs)
        ]

    def _tenth(
        self, knowledge: Knowledge, who: str, run: int, reading: Reading | None, way: str
    ) -> Part:
        everyone, name = self.view(way).original, f"{way} {run}"
        if name not in self._tenths:
            self._tenths = {name: Tenth.of(everyone, self.seed_of(run))}
        sample = self._tenths[name]
        able = np.flatnonzero(knowledge.eligible_users(everyone))
        inside = np.isin(able, sample.users)
        users = able[~inside if who == "outside" else inside]
        if not len(users):
            raise Untestable("no eligible target on this side of the sample")
        rng = np.random.default_rng(self.seed_of(run))
        users = np.sort(rng.permutation(users)[: self.targets])
        known = knowledge.draw(everyone, users, self.seed_of(run))
        if who == "among all":
            return self._found(self.view(way), everyone, known, reading)
        table, rows = sample.view.original, sample.rows(users)
        if reading is not None:  # the scorer has -1 for nobody
            rows = np.where(rows < table.n_users, rows, -1)
        return self._found(sample.view, table, replace(known, users=rows), reading)

    @staticmethod
    def _found(view: View, table: Ratings, known: Known, reading: Reading | None) -> Part:
        return found_in(view, known) if reading is None else scored(table, known, reading)

    @cached_property
    def sparsity(self) -> SparsityResult:
        """How like its nearest neighbour a record is."""
        several = None if self.targets is None else self.targets * self.runs
        return self._sparsity("sparsity", lambda: self.ratings, several)

    @cached_property
    def few_facts(self) -> tuple[FewFacts, ...]:
        """What this sparsity makes of the theorems."""
        return few_facts(self.ratings, self.sparsity)

    def sparsity_of_tenth(self, draw: int) -> Floats:
        """Return the highest Sim to any other of some records in a random tenth, items alone."""
        seed = stream_key(self.seed, f"tenth {draw}") >> 1
        table = partial(drawn, self.ratings, 0.1, seed)
        found = self._sparsity(f"sparsity of tenth {draw}", table, self.targets)
        return found.neighbours[0].similarity

    def _sparsity(
        self, name: str, table: Callable[[], Ratings], several: int | None
    ) -> SparsityResult:
        def make() -> Part:
            found = Sparsity(targets=several).run(table(), rng=self.seed)
            curves = found.neighbours if self.dated else found.neighbours[:2]
            return {
                "names": np.array([curve.name for curve in curves]),
                "similarity": np.stack([curve.similarity for curve in curves]),
                "covered": np.stack([curve.covered for curve in curves]),
                "records": np.array(found.records),
            }

        part = self.parts.of(name, make)
        rows = zip(part["names"].tolist(), part["similarity"], part["covered"], strict=True)
        return SparsityResult(
            records=int(part["records"]),
            targets=part["similarity"].shape[1],
            neighbours=tuple(Neighbours(*row) for row in rows),
            rating_error=self.star,
            day_error=14 if self.dated else None,
            seconds=0.0,
            seed=self.seed,
            digest=digest_of(self.ratings),
        )

    def estimate(
        self,
        runs: Sequence[Run],
        statistic: Callable[[Mapping[str, float]], float],
        of: str = "user",
    ) -> Estimate:
        """Return a statistic of means with its interval over runs and people; `of`: not people."""
        return estimate(runs, statistic, seed=self.seed, of=of)

    def rate(self, runs: Sequence[Run], name: str) -> Rate:
        """Return a mean with its interval, for a figure."""
        everyone = np.concatenate([run[name] for run in runs]).astype(np.float64)
        if len(np.unique(everyone)) == 1 and 0 <= everyone[0] <= 1:
            return bootstrap(everyone, seed=self.seed)  # equal ones have an interval all the same
        own = [{name: run[name]} for run in runs]
        found = estimate(own, lambda mean: mean[name], seed=self.seed, draws=_DRAWS)
        return Rate(found.value, found.low, found.high)


def within(reading: Reading, knowledge: Knowledge) -> Reading:
    """Return a reading with the thresholds of what is known."""
    day = math.inf if knowledge.day_error is None else float(knowledge.day_error)
    return replace(reading, within=(knowledge.rating_error, day))


def found_in(view: View, known: Known) -> Part:
    """Attack by Scoreboard-RH; what came of each target, as numbers."""
    found, postings = ScoreboardRH().judge(view, known)
    return {
        "success": found.success,
        "named": found.matched,
        "top1": found.expected_top1,
        "right": found.expected_top1 > 0,
        "eccentricity": found.eccentricity,
        "bits": found.entropy_bits,
        "postings": np.array([float(postings)]),
    }


def why_impossible(ratings: Ratings, knowledge: Knowledge) -> str:
    """Say why nobody can be attacked so; empty if somebody can."""
    if knowledge.outside_top >= ratings.n_items:
        return f"the data have only {counted(ratings.n_items, 'item')}"
    if knowledge.eligible_users(ratings).any():
        return ""
    return f"no user has what is to be known ({knowledge.name})"


def beside(**of: tuple[Runs, str]) -> Runs:
    """Put figures of the same targets beside each other, run by run.

    Credits that are all 0, or all 1, are outcomes, whose interval has width.
    """
    runs = zip(*(each for each, _ in of.values()), strict=True)
    names = {key: name for key, (_, name) in of.items()}
    return [
        {key: _outcomes(run, name) for (key, name), run in zip(names.items(), row, strict=True)}
        for row in runs
    ]


def _outcomes(run: Run, name: str) -> NDArray[Any]:
    figures = run[name]
    alike = name in _CREDITS and any((figures == end).all() for end in (0, 1))
    return figures.astype(np.bool_) if alike else figures
