"""Shadow-release attacks on partitioned ratings, or on a release of them.

Ratings that are released as they are stay where they are: a shard leaves out those who are not to
be in it. The people asked about are fetched, as a table of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.facts import Told, of_use
from starshade.attack.shadows.halves import (
    OF_SPREAD,
    Half,
    catalogue_of,
    common_spread,
    making,
    nobody_in_it,
    on_catalogue,
    seed_of,
    shadows_for,
)
from starshade.attack.shadows.play import Asked, Games, ShadowAttack, refuse_without_method
from starshade.attack.shadows.seen import Seen
from starshade.attack.sharded.drawing import chosen_over
from starshade.attack.sharded.half import InHalf, PeopleInShards
from starshade.attack.sharded.released import spread_over
from starshade.attack.sharded.truth import rows_of_targets, rows_of_users
from starshade.attack.sharded.view import SeenShards
from starshade.attack.targets import nobody_rated
from starshade.attack.view import known_items, released_cells, truth_on, view_of
from starshade.engine.job import Engine
from starshade.errors import ConfigError
from starshade.ratings.holdout import check_targets
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.kept import AnyShards, KeptShards, those_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.columns import Columns
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import (
    LinkedShards,
    MadeShards,
    RecordFiles,
    people_of,
    refuse_another_making,
)
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import Rng
from starshade.scratch import put_down


class ShardMethod(Protocol):
    """What makes releases of shards: an anonymizer with its settings."""

    def anonymize_shards(
        self, shards: KeptShards, rng: Rng = None, engine: Engine | None = None
    ) -> AbstractContextManager[Release]:
        """Make a release, of which each user's record lies in files."""


def by_halves(
    attack: ShadowAttack[Any],
    store: AnyShards | LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> Any:
    """Attack ratings, or a release of them, by releases of random halves of the people."""
    (found,) = play_shards([attack], store, engine, knowledge, targets, seed)
    if isinstance(found, ConfigError):
        raise found
    return found


def play_shards(
    attacks: Sequence[ShadowAttack[Any]],
    store: AnyShards | LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> list[Any]:
    """Run attacks on the same releases of halves, shard by shard; as `play` on one table."""
    started, first = perf_counter(), attacks[0]
    shards = store.shards if isinstance(store, LinkedShards) else store
    items, records = shards.items, shards.n_users
    _refuse_unmade(first, store)
    if isinstance(store, LinkedShards):
        refuse_another_making(store.release, people_of(store, engine).ends)
        items = known_items(cast(Profiles, store.release.classes), items).items
        records = store.release.n_records
    check_targets(targets)
    everybody = counts_of(shards, engine)
    support = everybody.items[shards.items.indices(items)]
    rated = int(everybody.users[everybody.support > 0].sum())
    items = items.take(catalogue_of(first.method, items, support, rated))
    kept = shards.items.indices(items)
    marked = np.zeros(shards.n_items, dtype=np.bool_)
    marked[kept] = True
    settings = {
        "knowledge": asdict(Knowledge(known=1)),
        "seed": seed,
        "targets": targets and int(targets),
    }
    users, able = chosen_over(shards, engine, settings, marked)
    if not able:
        raise nobody_rated()
    rows = rows_of_targets(shards, engine, users)
    people = truth_on(rows, items, items.indices(shards.items).astype(np.int32))
    told = Told(people, of_use(knowledge, first.name), seed, everybody.items[kept])
    ratings = int(everybody.items[kept].sum())
    asked = Asked(told, np.arange(len(users)), shadows_for(first.shadows, ratings), shards.n_users)
    games = Games.begin(attacks, asked)
    halves: _Halves = _AsTheyAre(shards, kept, engine, told)
    if isinstance(store, LinkedShards):
        method = cast(ShardMethod, on_catalogue(first.method))
        halves = _OfMethod(cast(Shards, shards), kept, engine, told, method, users)
    key = f"{attacks} {knowledge} {targets} {seed} {store.keys} {kept.tolist()}"
    return games.found(
        games.play(halves, engine.journal, key),
        targets,
        records=records,
        credit="linked",
        seconds=perf_counter() - started,
        digest=digest_of_shards(shards),
    )


def _refuse_unmade(attack: ShadowAttack[Any], store: AnyShards | LinkedShards) -> None:
    """Refuse attacks whose shadow releases are not made partition by partition."""
    if not isinstance(store, LinkedShards):
        if attack.method is None:
            return
        raise ConfigError(
            f"{attack.name}: partitioned ratings are attacked without a method",
            advice="Attack a release of them, or the ratings as one table.",
            setting="method",
        )
    refuse_without_method(attack)
    if not (isinstance(store.shards, Shards) and hasattr(attack.method, "anonymize_shards")):
        raise ConfigError(
            f"{attack.name}: the method does not support partitioned ratings",
            advice="Give a PredictiveAnonymizer, or attack the ratings as one table.",
        )


def _name_of(said: str) -> str:
    """Return a name for what was asked: another question has another one."""
    return hashlib.sha256(f"{__version__} {said}".encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class _Halves:
    """How halves of a store are made.

    `kept`: the items of the catalogue. `told`: of those who are asked about, on these.
    """

    shards: AnyShards
    kept: NDArray[np.int64]
    engine: Engine
    told: Told

    @property
    def people(self) -> Ratings:
        """The ratings of those who are asked about."""
        return self.told.truth

    @property
    def seed(self) -> int:
        """What draws the halves."""
        return self.told.seed

    def made(self, numbers: Sequence[int], spread: float | None) -> Iterator[Half]:
        """Make the halves of these numbers, each of which is there until the next is asked for."""
        first: dict[int, tuple[ExitStack, Half]] = {}
        with ExitStack() as every:
            for number in numbers[:OF_SPREAD] if spread is None else ():
                held = every.enter_context(ExitStack())
                first[number] = held, held.enter_context(self._half(number))
            if first:
                spread = common_spread([half.seen.spread for _, half in first.values()])
            for number in numbers:
                with ExitStack() as own:
                    if number in first:
                        held, half = first.pop(number)
                        own.push(held.pop_all())
                    else:
                        half = own.enter_context(self._half(number))
                    yield replace(half, seen=replace(half.seen, spread=spread))
                    del half  # its files go

    def _half(self, number: int) -> AbstractContextManager[Half]:
        """Make one, which is there as long as this lasts."""
        raise NotImplementedError


class _AsTheyAre(_Halves):
    """Ratings that are released as they are."""

    @contextmanager
    def _half(self, number: int) -> Iterator[Half]:
        chosen = InHalf(self.seed, number)
        rows = np.arange(self.people.n_users)
        view = view_of(self.people, cells_of(self.people), rows, "linked", ungeneralized=True)
        name = _name_of(f"{number} {chosen.key} {self.shards.keys}")
        with self.engine.within(name) as engine:
            seen = SeenShards(view, None, self.shards, engine, chosen)
            if not seen.counted.n_users:
                raise nobody_in_it()
            inside = chosen(self.people)
            yield Half(number, inside, ~inside, seen, seen.counted.items)


@dataclass(frozen=True, eq=False)
class _OfMethod(_Halves):
    """Releases by a method; `users`: who is asked about, by number in the store."""

    method: ShardMethod
    users: NDArray[np.int64]

    @contextmanager
    def _half(self, number: int) -> Iterator[Half]:
        put_down()  # what was made before takes no memory meanwhile
        seed, shards = seed_of(self.seed, number), cast(Shards, self.shards)
        with ExitStack() as held:
            chosen = InHalf(self.seed, number)
            name = _name_of(f"{self.method} {seed} {chosen.key} {self.kept.tolist()} {shards.keys}")
            engine = held.enter_context(self.engine.within(name))
            people = those_of(shards, chosen, engine, self.kept)
            with making():
                release = held.enter_context(self.method.anonymize_shards(people, seed, engine))
            assert release.private is not None
            made = MadeShards(release, cast(RecordFiles, release.private.divided))
            cells = released_cells(release, self.people.items)
            rows = rows_of_users(made, engine, self.users)
            view = view_of(self.people, cells, rows, "linked")
            spread = spread_over(made, engine, people, cast(Columns, cells))
            support = counts_of(people, engine).items
            outside = ~chosen(self.people)
            everyone = PeopleInShards(made, engine, self.told, self.kept, chosen)
            yield Half(number, rows >= 0, outside, Seen(view, spread), support, everyone)
