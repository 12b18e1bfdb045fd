"""What PA's tables, figures and claims are made of: releases measured, each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.pa.configurations import COMPARED, LINES, Kept, Line, Studied
from starshade.audit.reproduction.pa.released import measure_release
from starshade.audit.reproduction.parts import Part, Parts
from starshade.audit.reproduction.study import NETFLIX_ITEMS, NETFLIX_RATINGS, NETFLIX_USERS
from starshade.errors import ConfigError, UnmetError, UserError
from starshade.naming import speak
from starshade.plain import counted
from starshade.progress import note, silence
from starshade.ratings.holdout import hold_out, sample_users
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.rng import generator

Run: TypeAlias = dict[str, NDArray[np.float64]]
_DRAWN = 50_000  # users of a line that compares every cell
_FEW_ITEMS = 100
FEWEST = 10  # groups that a k must leave for claims over k to be judged at it
_LONG = 20  # seconds from which on it is said that something is finished


@dataclass(eq=False)
class Bench:
    """Ratings, what is drawn of them, and the parts measured so far.

    `name`: of what was changed about the ratings; empty: nothing.
    """

    ratings: Ratings
    ks: tuple[int, ...]
    seeds: tuple[int, ...]
    share: float
    parts: Parts
    lines: Sequence[str]
    name: str = ""

    def __post_init__(self) -> None:
        self._held: tuple[Any, tuple[Ratings, Ratings], Kept] | None = None
        self._changed: dict[str, Bench] = {}

    def of(self, name: str, make: Callable[[], Part]) -> Part:
        """Return a part of these ratings; a refusal, which is kept as one, is raised."""

        def made() -> Part:
            try:
                return make()
            except (ConfigError, UnmetError) as error:
                return {"refused": np.array(error.message)}

        part = self.parts.of(f"{self.name or 'all'}: {name}", made)
        if "refused" in part:
            raise Untestable(str(part["refused"]))
        return part

    def held(self, seed: int, most_users: int | None = None) -> tuple[Ratings, Ratings]:
        """Return what a run learns from, and what it predicts; the last is kept.

        `most_users`: of so many users, drawn.
        """
        key = seed, most_users
        if self._held is None or self._held[0] != key:
            self._held = None
            ratings = self.ratings
            if most_users is not None and ratings.n_users > most_users:
                users = np.arange(ratings.n_users)
                ratings = ratings.keep_users(sample_users(ratings, users, most_users, seed))
            self._held = key, hold_out(ratings, self.share, rng=seed), Kept({}, self.of)
        return self._held[1]

    def method(self, name: str, k: int, seed: int, **settings: Any) -> Studied:
        """Return a line's method; what it has in common with others is made once."""
        line = LINES[name]
        self.held(seed, self.drawn(line))
        assert self._held is not None
        return replace(line.at(k, self._held[2]), **settings)

    def drawn(self, line: Line) -> int | None:
        """Return how many users are drawn for a line; None: all of them."""
        return _DRAWN if line.cells and self.ratings.n_users > _DRAWN else None

    def release(self, name: str, k: int, seed: int) -> Part:
        """Return what was measured of a line's release.

        Raises
        ------
        Untestable
            It was refused, or takes too long here.
        """
        line = LINES[name]
        if name not in self.lines:
            raise Untestable(f"{name}: not run on this many ratings")
        if line.most_users is not None and self.ratings.n_users > line.most_users:
            raise Untestable(f"{name}: only on up to {line.most_users:,} users")
        return self.of(f"{name}, k = {k}, seed {seed}", lambda: self._release(name, k, seed))

    def _release(self, name: str, k: int, seed: int) -> Part:
        train, probe = self.held(seed, self.drawn(LINES[name]))
        method, started = self.method(name, k, seed), perf_counter()
        try:
            release = anonymized(method, train, name, seed)
        except Untestable as why:
            return {"refused": np.array(str(why))}
        with silence():
            found = measure_release(release, train, probe, method, seed, near=name in COMPARED)
        if (seconds := perf_counter() - started) > _LONG:
            note(f"{name}, k = {k}: made and measured in {seconds:.0f} s")
        return found

    def runs(self, name: str, k: int, *columns: str) -> list[Run]:
        """Return arrays of a line's releases, a dict for each seed."""
        return [
            {each: self.release(name, k, seed)[each] for each in columns} for seed in self.seeds
        ]

    def changed(self, way: str) -> Bench:
        """Return the bench of ratings of which one property is another."""
        if len(self.lines) < len(LINES):
            raise Untestable("too many ratings for interventions")
        if way not in self._changed:
            seed = self.seeds[0]
            changed = CHANGES[way](self.ratings, seed)
            self._changed[way] = replace(self, ratings=changed, name=way)
        return self._changed[way]

    @property
    def least_k(self) -> int:
        """The least k."""
        return self.ks[0]

    @property
    def judged_ks(self) -> tuple[int, ...]:
        """The k at which claims over k are judged.

        The paper groups *similar* users, of some 480,000 in 9,294 groups and more; where one in
        `FEWEST` users is in the same group, it is of whoever is there.
        """
        return tuple(k for k in self.ks if self.ratings.n_users // k >= FEWEST)

    def ks_of(self, name: str) -> tuple[int, ...]:
        """Return the k at which a line is run."""
        return self.ks[:1] if LINES[name].least_k else self.ks


def anonymized(method: Studied, train: Ratings, name: str, seed: int) -> Release:
    """Make a line's release; what refuses it is told without the words of any door.

    Raises
    ------
    Untestable
        It was refused.
    """
    try:
        with silence(), speak(lambda setting, value: ""):
            return method.anonymize(train, rng=seed)
    except UserError as error:
        own = f"k = {method.k}"
        told = error.message.removeprefix(f"{own}, ")
        raise Untestable(f"{name}, {own}: {told}") from None


def _thinned(ratings: Ratings, seed: int) -> Ratings:
    return hold_out(ratings, 0.5, rng=generator(seed, "thinned"))[0]


def _sparse(ratings: Ratings, seed: int) -> Ratings:
    wanted = NETFLIX_RATINGS / (NETFLIX_USERS * NETFLIX_ITEMS)
    share = wanted * ratings.n_users * ratings.n_items / ratings.n_ratings
    if share >= 1:
        raise Untestable("these ratings are as sparse as Netflix's")
    return hold_out(ratings, 1 - share, rng=generator(seed, "thinned"))[0]


def _dense(ratings: Ratings, seed: int) -> Ratings:
    support = ratings.user_support
    return ratings.keep_users(np.flatnonzero(support >= np.median(support)))


def _few_items(ratings: Ratings, seed: int) -> Ratings:
    if ratings.n_items <= _FEW_ITEMS:
        raise Untestable(f"the data have {counted(ratings.n_items, 'item')} in all")
    return top_items(_FEW_ITEMS).apply(ratings).drop_empty_users()


#: what may be changed about the ratings alone
CHANGES = {"thinned": _thinned, "sparse": _sparse, "dense": _dense, "few items": _few_items}
