"""Who is attacked: all users of whom enough can be known, or a seeded sample of them."""

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
    """Who could be attacked: people of the ratings, or of a release.

    `total`: how many they are. `median_ratings`: the largest number of ratings that half of
    them have;
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
        """Return the fields of a result that are found alike whatever the attack and the data.

        `looked_at`: cells, from the moment `since` on. `most`: how often the right record can be
        named at most. The others: as in the result.
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
        """Return the fields of a result that are found alike whatever the attack.

        `looked_at`: cells, from the moment `since` on.
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
    """What an attack is run with, beside data and knowledge; see `Attack.run`."""

    original: Ratings | None
    targets: int | None
    rng: Rng
    link: Link | None

    def refuse_targets(self, why: str, advice: str = "") -> None:
        """Raise ConfigError where targets were chosen of an attack that has none."""
        if self.targets is not None:
            advice = advice or f"Leave {named('targets')} out."
            raise ConfigError(f"{called('targets')} {self.targets}: {why}", advice=advice)


class Attack(Generic[Result]):
    """What all attacks have: a name, settings that are checked, and `run`."""

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
            What the adversary sees.
        knowledge : Knowledge, optional
            What they know of each target; the result names what of it was of use: no days
            where `data` have none.
        original : Ratings, optional
            The truth behind a release (required there). Targets are people of the release, and
            known are ratings of its items: who knows others leaves them out.
        targets : int, optional
            How many users to attack, a seeded sample; None: all.
        rng : int, Generator or None
        link : Link, optional
            Who became which record; a release just made carries its own. Without one, an
            answer counts when it is compatible with the target's true row.

        Raises
        ------
        ConfigError
            Arguments that do not fit together, or nobody to attack.
        """
        with task(f"attacking: {self.name}"):
            request = Request(original, targets, rng, link)
            return self._run(data, knowledge or Knowledge(), request)

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> Result:
        raise NotImplementedError


def draw(data: Ratings | Release, knowledge: Knowledge, request: Request, *, absent: bool) -> Drawn:
    """Look at the data, choose the targets and draw what is known of them."""
    seed, started = resolve_seed(request.rng), perf_counter()
    view = look(data, request.original, request.link)
    if absent and view.credit == "compatible":
        raise ConfigError(
            f"{called('absent')}: without a link nobody can say which record to take out",
            advice="Give the private receipt, or leave absent out.",
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
    """Narrow the truth to what was released (`of_released`); say how many have no record.

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

    Ineligible are users of whom so much cannot be known and, where the link says who is who,
    users of the original who have no record: there is nobody to find. A sample takes the
    eligible users whose ids hash lowest under the seed, whatever their order.

    `targets`: how many to attack; None: all.
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
    """Say what numbers of ratings are worth beside a release."""
    if knowledge.about_count:
        note(
            "the number of ratings that a release shows is not the number that was given: what is "
            f"known of it{aside('about_count')} may shut out the target's own record"
        )


def without_a_record(users: int) -> str:
    """Say of how many users there is nobody to find."""
    return f"{counted(users, 'user')} without a record in the release: not attacked"


def nobody_rated() -> ConfigError:
    """Return that nobody has a record and a rating."""
    return ConfigError("nobody can be attacked: no user has a record and a rating")


def nobody(knowledge: Knowledge) -> ConfigError:
    """Return the error that so much can be known of nobody."""
    return ConfigError(
        f"nobody can be attacked: no user has what the adversary is to know ({knowledge.name})",
        advice=f"Lower {named('known')}, or {named('outside_top')}.",
        setting="known",
    )


def usable(knowledge: Knowledge, view: View) -> Knowledge:
    """Return what the adversary can make use of: no days where none are shown.

    Days have draws of their own, so nothing else that is known changes.
    """
    return replace(knowledge, dates=False) if view.cells.days is None else knowledge
