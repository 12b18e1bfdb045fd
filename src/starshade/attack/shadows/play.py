"""Attacks that compare a release with one without some of the people, round by round."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.facts import Told, of_use
from starshade.attack.shadows.shadows import Method, Round, Shadows
from starshade.attack.shown import Found
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.attack.view import look
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.release.match.match import refuse_another_making
from starshade.release.table import Release
from starshade.rng import resolve_seed
from starshade.setting import settings_of

Result = TypeVar("Result", bound=Found, covariant=True)


class Collected(Protocol[Result]):
    """What an attack finds, round by round."""

    def ask(self, one: Round) -> Tables:
        """Attack one round; returns what came of it, to be taken by whoever sums up."""

    def take(self, number: int, answer: Tables) -> None:
        """Add what came of a round."""

    def found(self, facts: dict[str, Any]) -> Result:
        """Sum up; `facts` are the fields that results of all attacks have in common."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Who is asked about (users of the original), and with what known of them."""

    told: Told
    asked: NDArray[np.bool_]
    rounds: int

    def among(self, users: NDArray[np.int64], known: int | None) -> NDArray[np.int64]:
        """Return those of some users who are asked about and of whom so much can be known."""
        return users[(self.asked & self.told.enough(known))[users]]


class ShadowAttack(Attack[Result]):
    """An attack on what a release says because of somebody; it is given who makes releases."""

    rounds: int
    method: Method | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method is not None and not hasattr(self.method, "anonymize"):
            raise ConfigError(
                f"method of type {type(self.method).__name__}: makes no releases",
                advice="Give the anonymizer that made the release, with its settings.",
            )

    @abstractmethod
    def begin(self, asked: Asked) -> Collected[Result]:
        """Return what the rounds are added to."""

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
) -> list[Any]:
    """Run attacks of one method and number of rounds on the same shadow releases.

    Returns the result of each, or a ConfigError of one that nobody can be asked about.

    Raises
    ------
    ConfigError
        The releases cannot be made, or nobody can be asked about.
    """
    started, seed, first = perf_counter(), resolve_seed(request.rng), attacks[0]
    if isinstance(data, Release):
        refuse_without_method(first)
        refuse_another_making(data)
    view = look(data, request.original, request.link)
    truth = view.truth()
    told = Told(
        truth,
        view.original.items.indices(truth.items).astype(np.int32),
        of_use(knowledge, first.name),
        seed,
    )
    people = np.flatnonzero(truth.user_support)
    asked = np.zeros(truth.n_users, dtype=np.bool_)
    asked[sample_users(truth, people, request.targets, seed)] = True
    if not len(people):
        raise nobody_rated()
    games = Games.begin(attacks, Asked(told, asked, first.rounds))
    for one in Shadows(view.original, people, first.method, seed).rounds(first.rounds):
        games.take(one.number, games.ask(one))
        del one  # the next is made in its place
    return games.found(
        request.targets,
        records=view.cells.n_records,
        credit=view.credit,
        seconds=perf_counter() - started,
        digest=digest_of(view.original),
    )


def refuse_without_method(attack: ShadowAttack[Any]) -> None:
    """Refuse to attack a release of which nobody says how it was made."""
    if attack.method is None:
        raise ConfigError(
            f"{attack.name}: releases without some of the people are to be made, and nobody says "
            "how this one was made",
            advice="Give the private receipt; in Python the method, with its settings.",
        )


@dataclass(frozen=True, eq=False)
class Games:
    """Attacks that ask the same people about the same rounds."""

    attacks: Sequence[ShadowAttack[Any]]
    asked: Asked
    collected: Sequence[Collected[Any]]

    @classmethod
    def begin(cls, attacks: Sequence[ShadowAttack[Any]], asked: Asked) -> Games:
        """Begin each."""
        return cls(attacks, asked, [attack.begin(asked) for attack in attacks])

    def ask(self, one: Round) -> Tables:
        """Attack one round; returns what came of it, the columns of each attack."""
        return {
            f"{place} {name}": column
            for place, each in enumerate(self.collected)
            for name, column in each.ask(one).items()
        }

    def take(self, number: int, answer: Tables) -> None:
        """Add what came of a round."""
        for place, each in enumerate(self.collected):
            own = f"{place} "
            columns = {n.removeprefix(own): c for n, c in answer.items() if n.startswith(own)}
            each.take(number, columns)

    def found(self, targets: int | None, **facts: Any) -> list[Any]:
        """Sum up each, or say why nobody can be asked; `facts`: of what was attacked."""
        told = self.asked.told
        facts |= {
            "knowledge": {"name": told.knowledge.name} | asdict(told.knowledge),
            "seed": told.seed,
        }
        return [
            _summed_up(each, facts | {"attack": attack.name, "config": _config(attack, targets)})
            for attack, each in zip(self.attacks, self.collected, strict=True)
        ]


def _summed_up(game: Collected[Any], facts: dict[str, Any]) -> Any:
    try:
        return game.found(facts)
    except ConfigError as error:
        return error


def _config(attack: ShadowAttack[Any], targets: int | None) -> dict[str, Any]:
    declaration: type = attack.__class__
    own = {setting.name: getattr(attack, setting.name) for setting in settings_of(declaration)}
    return own | {"targets": targets}
