"""Membership: is this person in the release? (starshade's own, after Shokri et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.settings import MembershipAttackSettings
from starshade.attack.shadows.membership_result import Alarm, MembershipAt, MembershipResult
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import Ranking, Resampled, least_epsilon
from starshade.attack.shadows.seen import Facts, Seen
from starshade.attack.shadows.shadows import Method, Round
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Rate

_KNOWN = (4, 8, 20)
_ALARMS = (0.01, 0.05, 0.1)
_FEWEST = 10  # false alarms that a share of them must rest on
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MembershipAttack(MembershipAttackSettings, ShadowAttack[MembershipResult]):
    """Tell who is in a release from who is not, by how well they fit it.

    The adversary knows some of a person's ratings, has a release, and knows the method well
    enough to make another of the same people without this one. Whoever fits the release better
    than the reference was probably in it.

    Parameters
    ----------
    rounds : int
        Of leaving people out, from 1 to 10; after ten everybody was once in it and once not.
    method : Anonymizer, optional
        What made the release, with its settings; a release needs it.

    Raises
    ------
    ConfigError
        A value outside its range, or a method that makes no releases.

    Notes
    -----
    The people are put into ten folds by the seed. In round j a release T is made without fold j
    and its reference without the folds j and j + 1 (modulo 10), both by the method with its
    settings and one seed. Members are fold j + 1, in T and not in the reference; outsiders are
    fold j, in neither. The fit of a person to a release is the logarithm of the chance that
    somebody of any of its classes or profiles, each as likely as it has records, gave those of
    their known ratings that are of its items, over how many these are (see the likelihood attack;
    around the cells of profiles by one spread, that of the reference); the score is the fit to T
    less the fit to the reference, 0 where nothing can be compared. Of 4, 8, 20 and all ratings
    known, and of as many as the knowledge says.

    It is the method at nine tenths of the people that is measured, and an adversary who can make
    the reference; one who cannot knows less. After Shokri, Stronati, Song & Shmatikov (2017), on
    recommenders Zhang et al. (2021).

    Examples
    --------
    >>> from starshade.anonymize.k_likeness import KLikeness
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=60, n_items=5, n_ratings=200, rng=0)
    >>> method = KLikeness(k=3)
    >>> attack = MembershipAttack(rounds=2, method=method)
    >>> result = attack.run(method.anonymize(ratings, rng=0), original=ratings, rng=0)
    >>> [each.known for each in result.by_known]
    [4, 8, 20, None]
    """

    name: ClassVar[str] = "membership"
    method: Method | None = None

    def begin(self, asked: Asked) -> _Scored:
        """Return what the rounds are added to."""
        tries = sorted({*_KNOWN, asked.told.knowledge.known})
        return _Scored(asked, (*tries, None))


@dataclass
class _Scored:
    asked: Asked
    tries: tuple[int | None, ...]
    #: by number of known ratings: of each round who was asked about, who is in it, and the scores
    scores: dict[int | None, list[Scores]] = field(default_factory=dict)

    def ask(self, one: Round) -> Tables:
        answer: dict[str, NDArray[Any]] = {}
        for known in self.tries:
            members = self.asked.among(one.members, known)
            outsiders = self.asked.among(one.outsiders, known)
            users = np.concatenate([members, outsiders])
            facts = self.asked.told.of(users, known)
            member = np.arange(len(users)) < len(members)
            scores = membership_scores(one.release, one.reference, facts)
            answer |= {f"{known}.users": users, f"{known}.member": member}
            answer[f"{known}.scores"] = scores
        return answer

    def take(self, number: int, answer: Tables) -> None:
        for known in self.tries:
            columns = (answer[f"{known}.{name}"] for name in ("users", "member", "scores"))
            self.scores.setdefault(known, []).append(Scores(number, *columns))

    def found(self, facts: dict[str, Any]) -> MembershipResult:
        at = tuple(summed_up(known, self.scores[known], facts["seed"]) for known in self.tries)
        asked = {int(user) for each in self.scores[None] for user in each.users}
        if not asked:
            raise ConfigError("nobody can be attacked: nobody asked about is in any of the rounds")
        return MembershipResult(
            rounds=self.asked.rounds,
            by_known=at,
            targets=len(asked),
            ineligible=self.asked.told.n_users - len(asked),
            **facts,
        )


@dataclass(frozen=True, eq=False)
class Scores:
    """Of one round: who was asked about, whether they are members, and their scores."""

    round: int
    users: NDArray[np.int64]
    member: NDArray[np.bool_]
    score: Floats


def membership_scores(release: Seen, reference: Seen, facts: Facts) -> Floats:
    """Return each person's fit to a release less that to its reference, shape (people,).

    A fit is the logarithm of the chance of the facts that can be compared, from any record, over
    how many they are. 0 where there is no such fact in one of the two.
    """
    sides = [each.chances(facts) for each in (release, reference)]
    inside, outside = (logs / np.maximum(compared, 1) for logs, compared in sides)
    return np.where((sides[0][1] > 0) & (sides[1][1] > 0), inside - outside, 0.0)


def summed_up(known: int | None, rounds: Sequence[Scores], seed: int) -> MembershipAt:
    """Sum up what the rounds came to with so much known; None: all ratings."""
    users, member, score = (
        np.concatenate([getattr(each, name) for each in rounds])
        for name in ("users", "member", "score")
    )
    round_of = np.repeat([each.round for each in rounds], [len(each.users) for each in rounds])
    insiders, outsiders = (len(np.unique(users[which])) for which in (member, ~member))
    by_round = tuple(_auc(each) for each in rounds)
    if not insiders or not outsiders:
        return MembershipAt(
            known, insiders, outsiders, None, by_round, (), None, "so much is known of too few"
        )
    ranking, resampled = Ranking(score, member), Resampled(users, round_of, seed)
    fewest = min(insiders, outsiders)
    return MembershipAt(
        known=known,
        members=insiders,
        outsiders=outsiders,
        auc=resampled.interval(ranking.auc, fewest),
        by_round=by_round,
        found=tuple(_alarm(alarms, ranking, resampled, insiders, outsiders) for alarms in _ALARMS),
        epsilon=least_epsilon(ranking, round_of),
        reason="",
    )


def _auc(one: Scores) -> float | None:
    if one.member.all() or not one.member.any():
        return None
    return float(Ranking(one.score, one.member).auc(np.ones((1, len(one.score))))[0])


def _alarm(
    alarms: float, ranking: Ranking, resampled: Resampled, members: int, outsiders: int
) -> Alarm:
    if alarms * outsiders < _FEWEST - 1e-9:
        wanted = math.ceil(_FEWEST / alarms - 1e-9)
        reason = (
            f"{outsiders:,} outsiders are too few for {_FEWEST} false alarms among them; "
            f"{wanted:,} are needed"
        )
        return Alarm(alarms, None, reason)
    found: Rate = resampled.interval(ranking.found(alarms), members)
    return Alarm(alarms, found, "")
