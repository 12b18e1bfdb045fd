"""Attacks on who is in ratings in shards, or in a release of them, made again of fewer people.

Ratings that are released as they are stay where they are: a shard leaves out those who are not to
be in it. The people asked about are fetched, as a table of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
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
from starshade.attack.shadows.folds import FOLDS
from starshade.attack.shadows.play import Asked, Games, ShadowAttack, refuse_without_method
from starshade.attack.shadows.seen import Seen
from starshade.attack.shadows.shadows import Round, cannot_be_made, seed_of
from starshade.attack.sharded.drawing import chosen_over
from starshade.attack.sharded.folds import People, Without, edges_over
from starshade.attack.sharded.released import spread_over
from starshade.attack.sharded.truth import rows_of_targets, rows_of_users
from starshade.attack.sharded.view import SeenShards
from starshade.attack.targets import nobody_rated
from starshade.attack.view import known_items, released_cells, truth_on, view_of
from starshade.engine.job import Engine
from starshade.errors import ConfigError, UnmetError
from starshade.progress import silence, task
from starshade.ratings.holdout import check_targets
from starshade.ratings.shards.counts import Counts, counts_of
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


def by_rounds(
    attack: ShadowAttack[Any],
    store: AnyShards | LinkedShards,
    engine: Engine,
    knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> Any:
    """Attack ratings, or a release of them, by others without some of the people."""
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
    """Run attacks on the same shadow releases, shard by shard; as `play` on one table."""
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
    people = People(released, seed, edges_over(shards, engine, seed, released))
    shadows: _Shadows | _AsTheyAre = _AsTheyAre(shards, engine, people, rows)
    if isinstance(store, LinkedShards):
        method = cast(ShardMethod, first.method)
        shadows = _Shadows(cast(Shards, shards), engine, people, rows, method, users)
    journal, said = engine.journal, f"{attacks} {knowledge} {targets} {seed} {store.keys}"
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
        records=records,
        credit="linked",
        seconds=perf_counter() - started,
        digest=digest_of_shards(shards),
    )


def _refuse_unmade(attack: ShadowAttack[Any], store: AnyShards | LinkedShards) -> None:
    """Refuse what would need releases that are not made shard by shard."""
    if not isinstance(store, LinkedShards):
        if attack.method is None:
            return
        raise ConfigError(
            f"{attack.name}: ratings in shards are attacked as they are, without a method",
            advice="Attack a release of them, or the ratings as one table.",
            setting="method",
        )
    refuse_without_method(attack)
    if not (isinstance(store.shards, Shards) and hasattr(attack.method, "anonymize_shards")):
        raise ConfigError(
            f"{attack.name}: the method makes no releases of ratings in shards",
            advice="Give a PredictiveAnonymizer, or attack the ratings as one table.",
        )


def _name_of(said: str) -> str:
    """Return a name for what was asked: another question has another one."""
    return hashlib.sha256(f"{__version__} {said}".encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class _AsTheyAre:
    """Ratings that are released as they are; `rows`: of those who are asked about."""

    shards: AnyShards
    engine: Engine
    people: People
    rows: Ratings

    @cached_property
    def _fold(self) -> NDArray[np.int64]:
        return self.people.fold(self.rows)

    def _round(
        self, number: int, members: NDArray[np.bool_], sides: tuple[Seen, Seen], counted: Counts
    ) -> Round:
        """Lay out a round; `sides`: release and reference, of whose people there are counts."""
        following = self._fold == (number + 1) % FOLDS
        left_out = np.flatnonzero(self._fold == number)
        people = np.flatnonzero(following & members), left_out
        return Round(number, *people, None, *sides, counted.items)

    @contextmanager
    def round(self, number: int) -> Iterator[Round]:
        """Look at the shards without the people of a fold, and of two."""
        rows = np.arange(self.rows.n_users)
        view = view_of(self.rows, cells_of(self.rows), rows, "linked", ungeneralized=True)
        name = _name_of(f"{number} {Without(self.people, ()).key} {self.shards.keys}")
        with self.engine.within(name) as engine:
            release, reference = (
                SeenShards(view, None, self.shards, engine, Without(self.people, out))
                for out in ((number,), (number, (number + 1) % FOLDS))
            )
            yield self._round(number, rows >= 0, (release, reference), reference.counted)


@dataclass(frozen=True, eq=False)
class _Shadows(_AsTheyAre):
    """How shadow releases are made; `rows`: the ratings of those `users` who are asked about."""

    shards: Shards
    method: ShardMethod
    users: NDArray[np.int64]

    @contextmanager
    def round(self, number: int) -> Iterator[Round]:
        """Make the two releases of a round, which are there as long as this lasts."""
        following = (number + 1) % FOLDS
        with (
            self._made((number, following), number, None) as (reference, people),
            self._made((number,), number, reference.spread) as (release, _),
        ):
            members = release.view.row_of_user >= 0
            counted = counts_of(people, self.engine)
            yield self._round(number, members, (release, reference), counted)

    @contextmanager
    def _made(
        self, out: tuple[int, ...], number: int, spread: float | None
    ) -> Iterator[tuple[Seen, KeptShards]]:
        """Make the release of everybody but some folds; yields how it is seen, and these people."""
        put_down()  # what was made before takes no memory meanwhile
        seed = seed_of(self.people.seed, number)
        with ExitStack() as held:
            chosen = Without(self.people, out)
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
