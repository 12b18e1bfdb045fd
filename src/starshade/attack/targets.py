"""Targets of an attack: all eligible users, or a seeded sample of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.result import Bits, KnownFrom
from starshade.attack.shown import Found
from starshade.attack.view import View, look, of_released
from starshade.errors import ConfigError
from starshade.naming import aside, called, named
from starshade.plain import counted
from starshade.progress import note, task
from starshade.ratings.holdout import check_targets, sample_users
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.release.table import Link, Release
from starshade.rng import Rng, resolve_seed
from starshade.setting import check
from starshade.stats import bootstrap, share

Result = TypeVar("Result", bound=Found, covariant=True)


@dataclass(frozen=True)
class People:
    """People of the ratings, or of a release.

    `total`: their number. `median_ratings`: the largest number of ratings that half of them have;
    of a release, on its items.
    """

    total: int
    median_ratings: int

    @classmethod
    def of(cls, support: NDArray[np.int64], users: NDArray[np.int64]) -> People:
        """Sum up numbers of ratings, ascending, and how many people have so many."""
        total = int(users.sum())
        at_least = np.cumsum(users[::-1])[::-1]
        most = support[2 * at_least >= total]
        return cls(total, int(most[-1]) if len(most) else 0)


@dataclass(frozen=True, eq=False)
class Attacked:
    """Who is attacked, and with what: `known` by `knowledge`, of `targets` users (None: all)."""

    knowledge: Knowledge
    known: Known
    targets: int | None
    ineligible: int
    seed: int
    started: float
    people: People

    def facts_with(
        self,
        outcomes: Any,
        config: dict[str, Any],
        looked_at: int,
        since: float,
        *,
        records: int,
        credit: str,
        known_from: KnownFrom,
        digest: str,
        most: float = 1.0,
    ) -> dict[str, Any]:
        """Return the fields of a result that all attacks share, for any data.

        `looked_at`: cells read since `since`. `most`: upper bound of re-identification. The others:
        as in the result.
        """
        ended = perf_counter()
        return {
            "records": records,
            "targets": len(outcomes.users),
            "people": self.people.total,
            "median_ratings": self.people.median_ratings,
            "ineligible": self.ineligible,
            "credit": credit,
            "expected_top1": bootstrap(credit_of(outcomes), seed=self.seed).up_to(most),
            "class_contents_known": share(outcomes.disclosed),
            "false_match": share(outcomes.false_match),
            "entropy_bits": Bits.of(outcomes.entropy_bits),
            "entropy_bits_profile": Bits.of(outcomes.entropy_bits_profile),
            "seconds": ended - self.started,
            "postings_per_second": looked_at / max(ended - since, 1e-9),
            "config": config | {"targets": self.targets},
            "knowledge": {"name": self.knowledge.name} | asdict(self.knowledge),
            "known_from": known_from,
            "most": most,
            "seed": self.seed,
            "digest": digest,
            "per_target": outcomes,
        }


@dataclass(frozen=True, eq=False)
class Drawn(Attacked):
    """Who is attacked, with what, and on what.

    `users` (n_users,): rows of the original of the users of the view's. `original`: as given.
    """

    view: View
    users: NDArray[np.int64]
    original: Ratings

    def facts(
        self, outcomes: Any, config: dict[str, Any], looked_at: int, since: float
    ) -> dict[str, Any]:
        """Return the fields of a result that all attacks share.

        `looked_at`: cells read since `since`.
        """
        view = self.view
        return self.facts_with(
            replace(outcomes, users=self.users[outcomes.users]),
            config,
            looked_at,
            since,
            records=view.cells.n_records,
            credit=view.credit,
            known_from="all items" if view.ungeneralized else "released items",
            digest=digest_of(self.original),
            most=view.most,
        )


def credit_of(outcomes: Any) -> NDArray[np.float64]:
    """Return how much each target's answer counts: 1/t where the right record is one of t."""
    credit: NDArray[np.float64] = (
        outcomes.credit if hasattr(outcomes, "credit") else outcomes.expected_top1
    )
    return credit


@dataclass(frozen=True)
class Request:
    """Arguments of an attack besides data and knowledge; see `Attack.run`."""

    original: Ratings | None
    targets: int | None
    rng: Rng
    link: Link | None

    def refuse_targets(self, why: str, advice: str = "") -> None:
        """Raise ConfigError where targets were chosen of an attack that has none."""
        if self.targets is not None:
            advice = advice or f"Omit {named('targets')}."
            raise ConfigError(f"{called('targets')} {self.targets}: {why}", advice=advice)


class Attack(Generic[Result]):
    """Base class of attacks: a name, checked settings, and `run`."""

    name: ClassVar[str]  # as ``starshade list attacks`` has it

    def __post_init__(self) -> None:
        check(self)

    @typed
    def run(
        self,
        data: Ratings | Release,
        knowledge: Knowledge | None = None,
        *,
        original: Ratings | None = None,
        targets: int | None = None,
        rng: Rng = None,
        link: Link | None = None,
    ) -> Result:
        """Attack ratings or a release.

        Parameters
        ----------
        data : Ratings or Release
            Data that the adversary sees.
        knowledge : Knowledge, optional
            Auxiliary knowledge of each target; the result names the part that was used: no days
            where `data` have none.
        original : Ratings, optional
            The original ratings of a release (required there). Targets are people of the release,
            known ratings are of its items.
        targets : int, optional
            Number of users to attack, a seeded sample; None: all.
        rng : int, Generator or None
        link : Link, optional
            Link from users to records; a release just made carries its own. Without one, an
            answer counts when it is compatible with the target's true row.

        Raises
        ------
        ConfigError
            Arguments that contradict each other, or no people to attack.
        """
        with task(f"attacking: {self.name}"):
            request = Request(original, targets, rng, link)
            return self._run(data, knowledge or Knowledge(), request)

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> Result:
        raise NotImplementedError


def draw(data: Ratings | Release, knowledge: Knowledge, request: Request, *, absent: bool) -> Drawn:
    """Build the view of the data, choose the targets and draw their known facts."""
    seed, started = resolve_seed(request.rng), perf_counter()
    view = look(data, request.original, request.link)
    if absent and view.credit == "compatible":
        raise ConfigError(
            f"{called('absent')}: needs the link to know which record to remove",
            advice="Give the private key file, or omit absent.",
        )
    original = view.original
    view, released = on_release(view)
    knowledge = usable(knowledge, view)
    users, ineligible = choose_targets(view, knowledge, request.targets, seed)
    known = knowledge.draw(view.original, users, seed)
    people = People.of(*np.unique(view.original.user_support, return_counts=True))
    who = request.targets, ineligible, seed, started, people
    return Drawn(knowledge, known, *who, view, released, original)


def on_release(view: View) -> tuple[View, NDArray[np.int64]]:
    """Restrict the truth to the release (`of_released`); note how many users have no record.

    Ratings stay as they are. Also returns the row of each user in the original.
    """
    users = view.original.n_users
    if view.ungeneralized:
        return view, np.arange(users)
    view, released = of_released(view)
    if view.credit == "linked" and len(released) < users:
        note(without_a_record(users - len(released)))
    return view, released


def choose_targets(
    view: View, knowledge: Knowledge, targets: int | None, seed: int
) -> tuple[NDArray[np.int64], int]:
    """Return the targets, ascending, and how many users are ineligible.

    Ineligible are users with too few ratings and, with a link, users of the original without a
    record. A sample takes the eligible users whose ids hash lowest under the seed, regardless of
    their order.

    `targets`: number of users to attack; None: all.
    """
    check_targets(targets)
    if not view.ungeneralized:
        warn_of_counts(knowledge)
    eligible = knowledge.eligible_users(view.original)
    if view.credit == "linked":
        unreleased = eligible & (view.row_of_user < 0)
        if unreleased.any():
            note(without_a_record(int(unreleased.sum())))
        eligible &= view.row_of_user >= 0
    users = np.flatnonzero(eligible)
    if not len(users):
        raise nobody(knowledge)
    ineligible = len(eligible) - len(users)
    return sample_users(view.original, users, targets, seed), ineligible


def warn_of_counts(knowledge: Knowledge) -> None:
    """Note that known numbers of ratings may mislead on a release."""
    if knowledge.about_count:
        note(
            "a release does not show the original number of ratings: a known number"
            f"{aside('about_count')} may exclude the target's own record"
        )


def without_a_record(users: int) -> str:
    """Return the note on users without a record."""
    return f"{counted(users, 'user')} without a record in the release: not attacked"


def nobody_rated() -> ConfigError:
    """Return the error that no user has a record and a rating."""
    return ConfigError("no people to attack: no user has a record and a rating")


def nobody(knowledge: Knowledge) -> ConfigError:
    """Return the error that no user is eligible."""
    return ConfigError(
        f"no people to attack: no user has enough ratings ({knowledge.name})",
        advice=f"Lower {named('known')}, or {named('outside_top')}.",
        setting="known",
    )


def usable(knowledge: Knowledge, view: View) -> Knowledge:
    """Return the usable part of the knowledge: no days where the data have none.

    Days have draws of their own, so nothing else that is known changes.
    """
    return replace(knowledge, dates=False) if view.cells.days is None else knowledge
