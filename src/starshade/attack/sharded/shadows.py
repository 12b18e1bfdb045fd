"""Attacks on who is in a release of ratings in shards: it is made again, by shard, of fewer people.

Who is left out is a matter of each person's own number (`starshade.attack.shadows.folds`), so a
shard knows it by itself. The people asked about are fetched, as a table of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from time import perf_counter
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.facts import Told, of_use
from starshade.attack.shadows.folds import FOLDS, Numbers, fold_of, numbers_of, places_of_edges
from starshade.attack.shadows.play import Asked, Games, ShadowAttack, refuse_without_method
from starshade.attack.shadows.seen import Seen
from starshade.attack.shadows.shadows import Round, cannot_be_made, seed_of
from starshade.attack.sharded.drawing import chosen_over
from starshade.attack.sharded.released import spread_over
from starshade.attack.sharded.truth import rows_of_targets, rows_of_users
from starshade.attack.targets import nobody_rated
from starshade.attack.view import known_items, released_cells, truth_on, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.engine.journal import Journal
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.knowledge import count_marked
from starshade.progress import silence, task
from starshade.ratings.holdout import check_targets
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.kept import KeptShards, those_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.columns import Columns
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShards, MadeShards, RecordFiles, people_of
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import Rng
from starshade.scratch import put_down

_BITS = 16  # of a number, by which people are counted before those at the edges are looked at


class ShardMethod(Protocol):
    """What makes releases of shards: an anonymizer with its settings."""

    def anonymize_shards(
        self, shards: KeptShards, rng: Rng = None, engine: Engine | None = None
    ) -> AbstractContextManager[Release]:
        """Make a release, of which each user's record lies in files."""


def by_rounds_on_release(
    attack: ShadowAttack[Any],
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> Any:
    """Attack a release by others without some of the people."""
    (found,) = play_shards([attack], store, engine, knowledge, targets, seed)
    if isinstance(found, ConfigError):
        raise found
    return found


def play_shards(
    attacks: Sequence[ShadowAttack[Any]],
    store: LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> list[Any]:
    """Run attacks on the same shadow releases, made shard by shard; as `play` on one table."""
    started, first, shards = perf_counter(), attacks[0], store.shards
    refuse_without_method(first)
    if not (isinstance(shards, Shards) and hasattr(first.method, "anonymize_shards")):
        raise ConfigError(
            f"{first.name}: the method makes no releases of ratings in shards",
            advice="Give a PredictiveAnonymizer, or attack the ratings as one table.",
        )
    check_targets(targets)
    people_of(store, engine)
    release, everybody = store.release, counts_of(shards, engine)
    items = known_items(cast(Profiles, release.classes), shards.items).items
    item = shards.items.indices(items).astype(np.int32)
    released = np.zeros(shards.n_items, dtype=np.bool_)
    released[item] = True
    settings = {
        "knowledge": asdict(Knowledge(known=1)),
        "seed": seed,
        "targets": targets and int(targets),
    }
    users, able = chosen_over(shards, engine, settings, released)
    if not able:
        raise nobody_rated()
    rows = rows_of_targets(shards, engine, users)
    truth = truth_on(rows, items, items.indices(shards.items).astype(np.int32))
    told = Told(truth, item, of_use(knowledge, first.name), seed, everybody)
    asked = Asked(told, np.ones(len(users), dtype=np.bool_), first.rounds)
    games = Games.begin(attacks, asked)
    people = _People(released, seed, _edges_over(shards, engine, seed, released))
    shadows = _Shadows(shards, engine, cast(ShardMethod, first.method), people, rows, users)
    journal, said = Journal(engine.folder), f"{attacks} {knowledge} {targets} {seed} {store.keys}"
    with task("making releases without some of the people", first.rounds) as step:
        for number in range(first.rounds):
            key = _name_of(f"{said} {number}")
            answer = journal.find(key)
            if answer is None:
                with shadows.round(number) as one:
                    answer = games.ask(one)
                    journal.keep(key, answer)  # before what it stands for goes
                del one  # the next is made in its place
            games.take(number, answer)
            step(1)
    return games.found(
        targets,
        records=release.n_records,
        credit="linked",
        seconds=perf_counter() - started,
        digest=digest_of_shards(shards),
    )


def _name_of(said: str) -> str:
    """Return a name for what was asked: another question has another one."""
    return hashlib.sha256(f"{__version__} {said}".encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class _People:
    """In which fold people are. `released` (n_items,): whoever rated one of these is one."""

    released: NDArray[np.bool_]
    seed: int
    edges: Numbers

    def fold(self, users: Ratings) -> NDArray[np.int64]:
        """Return the fold of each user, 0 to 9; -1: not among the people."""
        folds = fold_of(numbers_of(users.users.fingerprints, self.seed), self.edges)
        return np.where(_rated(users, self.released), folds, -1)


@dataclass(frozen=True, eq=False)
class _Without:
    """Everybody but the people of some folds: a `starshade.ratings.shards.kept.Choice`."""

    people: _People
    out: tuple[int, ...]

    @property
    def key(self) -> str:
        """What it is known again by."""
        people = self.people
        said = hashlib.sha256(f"{people.seed} {self.out}".encode())
        said.update(people.released.data)
        said.update(people.edges.data)
        return said.hexdigest()

    def __call__(self, shard: Ratings, /) -> NDArray[np.bool_]:
        """Mark who stays."""
        return ~np.isin(self.people.fold(shard), self.out)


@dataclass(frozen=True, eq=False)
class _Shadows:
    """How shadow releases are made; `rows`: the ratings of those `users` who are asked about."""

    shards: Shards
    engine: Engine
    method: ShardMethod
    people: _People
    rows: Ratings
    users: NDArray[np.int64]

    @cached_property
    def _fold(self) -> NDArray[np.int64]:
        return self.people.fold(self.rows)

    @contextmanager
    def round(self, number: int) -> Iterator[Round]:
        """Make the two releases of a round, which are there as long as this lasts."""
        following = (number + 1) % FOLDS
        with (
            self._made((number, following), number, None) as (reference, people),
            self._made((number,), number, reference.spread) as (release, _),
        ):
            inside = release.view.row_of_user >= 0
            yield Round(
                number,
                np.flatnonzero((self._fold == following) & inside),
                np.flatnonzero(self._fold == number),
                None,
                release,
                reference,
                counts_of(people, self.engine).items,
            )

    @contextmanager
    def _made(
        self, out: tuple[int, ...], number: int, spread: float | None
    ) -> Iterator[tuple[Seen, KeptShards]]:
        """Make the release of everybody but some folds; yields how it is seen, and these people."""
        put_down()  # what was made before takes no memory meanwhile
        seed = seed_of(self.people.seed, number)
        with ExitStack() as held:
            chosen = _Without(self.people, out)
            name = _name_of(f"{self.method} {seed} {chosen.key} {self.shards.keys}")
            engine = held.enter_context(self.engine.within(name))
            people = those_of(self.shards, chosen, engine)
            try:
                with silence():
                    release = held.enter_context(self.method.anonymize_shards(people, seed, engine))
            except (ConfigError, UnmetError) as error:
                raise cannot_be_made(error) from None
            assert release.private is not None
            made = MadeShards(release, cast(RecordFiles, release.private.divided))
            yield self._seen(made, engine, spread), people

    def _seen(self, made: MadeShards, engine: Engine, spread: float | None) -> Seen:
        cells = released_cells(made.release, self.shards.items)
        rows = rows_of_users(made, engine, self.users)
        view = view_of(self.rows, cells, rows, "linked")
        if spread is None:
            spread = spread_over(made, engine, self.shards, cast(Columns, cells))
        return Seen(view, spread)


def _edges_over(shards: Shards, engine: Engine, seed: int, released: NDArray[np.bool_]) -> Numbers:
    """Return what `edges_of` says of the numbers of all people.

    They are counted by their first bits; then those at the edges alone are looked at.
    """
    settings, tables = {"seed": seed}, {"released": released}
    job = Job("putting people into folds", _count_numbers, settings)
    counts = sum(part["counts"] for part in engine.run(job, shards, tables))
    ends = np.cumsum(counts)
    places = places_of_edges(int(ends[-1]))
    at = np.searchsorted(ends, places, side="right")
    job = Job("finding the edges of folds", _list_numbers, settings)
    parts = engine.run(job, shards, tables | {"at": np.unique(at)})
    numbers = np.sort(np.concatenate([part["numbers"] for part in parts]))
    first = np.searchsorted(_bits(numbers), at)  # of all numbers of as many first bits
    return np.asarray(numbers[first + places - np.append(0, ends)[at]])


def _count_numbers(
    shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables
) -> Tables:
    numbers = _numbers(shard, settings["seed"], tables["released"])
    return {"counts": np.bincount(_bits(numbers), minlength=1 << _BITS)}


def _list_numbers(
    shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables
) -> Tables:
    numbers = _numbers(shard, settings["seed"], tables["released"])
    return {"numbers": numbers[np.isin(_bits(numbers), tables["at"])]}


def _numbers(shard: Ratings, seed: int, released: NDArray[np.bool_]) -> Numbers:
    return numbers_of(shard.users.fingerprints[_rated(shard, released)], seed)


def _bits(numbers: Numbers) -> NDArray[np.int64]:
    return (numbers >> np.uint64(64 - _BITS)).astype(np.int64)


def _rated(users: Ratings, released: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(count_marked(fixed(users.indptr), fixed(users.columns), released) > 0)
