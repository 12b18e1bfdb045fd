"""Attacks that compare releases of random halves of the people."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.facts import Told, of_use
from starshade.attack.shadows.halves import (
    Half,
    Halves,
    Method,
    catalogue_of,
    on_catalogue,
    shadows_for,
)
from starshade.attack.shown import Found
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.attack.view import look
from starshade.engine.job import Tables
from starshade.engine.journal import Journal
from starshade.errors import ConfigError
from starshade.progress import task
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.release.match.match import refuse_another_making
from starshade.release.table import Release
from starshade.rng import resolve_seed
from starshade.setting import settings_of

Result = TypeVar("Result", bound=Found, covariant=True)


@dataclass(frozen=True, eq=False)
class Asked:
    """Who is asked about, with what known of them, and how many shadows a target has.

    `users` (people,): ascending, of the table that `told` has. `everybody`: users of the original.
    """

    told: Told
    users: NDArray[np.int64]
    shadows: int
    everybody: int

    def enough(self, known: int | None) -> NDArray[np.int64]:
        """Return those who are asked about and of whom so much can be known."""
        return self.users[self.told.enough(known)[self.users]]


class Game(Protocol[Result]):
    """An attack on halves: what is asked of each, and what that comes to."""

    def ask(self, half: Half) -> Tables:
        """Attack one release; returns what it comes to, for whoever sums up."""

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> Result:
        """Sum up all releases; `facts`: the fields that results of all attacks have in common.

        Each answer also has the ``status`` of all people (`Half.status`).
        """


class ShadowAttack(Attack[Result]):
    """An attack by shadow releases; it is given the method that makes them."""

    shadows: int | None
    method: Method | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method is not None and not hasattr(self.method, "anonymize"):
            raise ConfigError(
                f"method of type {type(self.method).__name__}: is not an anonymizer",
                advice="Give the anonymizer that made the release, with its settings.",
            )

    @abstractmethod
    def begin(self, asked: Asked) -> Game[Result]:
        """Return what asks the releases, and sums up."""

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> Result:
        (found,) = play([self], data, knowledge, request)
        if isinstance(found, ConfigError):
            raise found
        result: Result = found
        return result


def play(
    attacks: Sequence[ShadowAttack[Any]],
    data: Ratings | Release,
    knowledge: Knowledge,
    request: Request,
    journal: Journal | None = None,
) -> list[Any]:
    """Run attacks of one method and number of shadows on the same releases of halves.

    Returns the result of each, or a ConfigError where no people can be tested. `journal`:
    stores the results of each release.

    Raises
    ------
    ConfigError
        The releases cannot be made, or no people can be tested.
    """
    started, seed, first = perf_counter(), resolve_seed(request.rng), attacks[0]
    if isinstance(data, Release):
        refuse_without_method(first)
        refuse_another_making(data)
    view = look(data, request.original, request.link)
    truth = view.truth()
    if not truth.n_ratings:
        raise nobody_rated()
    rated = int(np.count_nonzero(view.original.user_support))
    stays = catalogue_of(first.method, truth.items, truth.item_support, rated)
    people = view.original.keep_items(view.original.items.indices(truth.items.take(stays)))
    told = Told(people, of_use(knowledge, first.name), seed)
    users = sample_users(people, np.arange(people.n_users), request.targets, seed)
    asked = Asked(told, users, shadows_for(first.shadows, people.n_ratings), view.original.n_users)
    games = Games.begin(attacks, asked)
    digest = digest_of(view.original)
    halves = Halves(people, first.method and on_catalogue(first.method), seed)
    items = hashlib.sha256(people.items.fingerprints.tobytes()).hexdigest()
    key = f"{first.method} {attacks} {knowledge} {request.targets} {seed} {digest} {items}"
    answers = games.play(halves, journal or Journal(None), key)
    return games.found(
        answers,
        request.targets,
        records=view.cells.n_records,
        credit=view.credit,
        seconds=perf_counter() - started,
        digest=digest,
    )


def refuse_without_method(attack: ShadowAttack[Any]) -> None:
    """Refuse to attack a release without its method."""
    if attack.method is None:
        raise ConfigError(
            f"{attack.name}: shadow releases need the method and the settings of this release",
            advice="Give the private key file; in Python the method, with its settings.",
        )


class Made(Protocol):
    """What makes halves."""

    def made(self, numbers: Sequence[int], spread: float | None) -> Iterator[Half]:
        """Make the halves of these numbers; `spread`: as far as it is known."""


@dataclass(frozen=True, eq=False)
class Games:
    """Attacks that ask the same people about the same releases."""

    attacks: Sequence[ShadowAttack[Any]]
    asked: Asked
    games: Sequence[Game[Any]]

    @classmethod
    def begin(cls, attacks: Sequence[ShadowAttack[Any]], asked: Asked) -> Games:
        """Begin each."""
        return cls(attacks, asked, [attack.begin(asked) for attack in attacks])

    def play(self, halves: Made, journal: Journal, key: str) -> list[Tables]:
        """Ask one release after the other; returns what each comes to.

        `key`: what was asked, by which the answers are found again in the journal.
        """
        numbers = range(self.asked.shadows + 1)
        names = {
            n: hashlib.sha256(f"{__version__} {key} {n}".encode()).hexdigest() for n in numbers
        }
        answers = {n: kept for n in numbers if (kept := journal.find(names[n])) is not None}
        spreads = [float(each["spread"][0]) for each in answers.values()]
        left = [number for number in numbers if number not in answers]
        with task("making shadow releases", len(numbers)) as step:
            step(len(answers))
            spread = next((each for each in spreads if not np.isnan(each)), None)
            for half in halves.made(left, spread):
                answers[half.number] = answer = self._ask(half)
                journal.keep(names[half.number], answer)  # before what it stands for goes
                step(1)
                del half  # the next is made in its place
        return [answers[number] for number in numbers]

    def _ask(self, half: Half) -> Tables:
        answer: dict[str, NDArray[Any]] = {
            f"{place} {name}": column
            for place, game in enumerate(self.games)
            for name, column in game.ask(half).items()
        }
        spread = np.nan if half.seen.spread is None else half.seen.spread
        return answer | {"status": half.status, "spread": np.array([spread])}

    def found(self, answers: Sequence[Tables], targets: int | None, **facts: Any) -> list[Any]:
        """Sum up each, or say why nobody can be asked; `facts`: of what was attacked."""
        told = self.asked.told
        facts |= {
            "knowledge": {"name": told.knowledge.name} | asdict(told.knowledge),
            "seed": told.seed,
            "shadows": self.asked.shadows,
            "catalogue": told.truth.n_items,
        }
        out = []
        for place, (attack, game) in enumerate(zip(self.attacks, self.games, strict=True)):
            own = f"{place} "
            of_game = [
                {name.removeprefix(own): column for name, column in each.items()}
                for each in answers
            ]
            named = {"attack": attack.name, "config": _config(attack, targets)}
            out.append(_summed_up(game, of_game, facts | named))
        return out


def _summed_up(game: Game[Any], answers: Sequence[Tables], facts: dict[str, Any]) -> Any:
    try:
        return game.found(answers, facts)
    except ConfigError as error:
        return error


def _config(attack: ShadowAttack[Any], targets: int | None) -> dict[str, Any]:
    declaration: type = attack.__class__
    own = {setting.name: getattr(attack, setting.name) for setting in settings_of(declaration)}
    return own | {"targets": targets}
