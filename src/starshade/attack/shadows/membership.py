"""Membership inference by LiRA (Carlini et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import older_names
from starshade.attack.settings import MembershipAttackSettings
from starshade.attack.shadows.halves import Half, Method
from starshade.attack.shadows.lira import Scored, scored
from starshade.attack.shadows.membership_result import (
    HEADLINE,
    Alarm,
    MembershipAt,
    MembershipResult,
    OfPeople,
)
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import Drawn, Ranking, drawn_again, least_epsilon
from starshade.attack.shadows.seen import Facts, Seen
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings

_KNOWN = (4, 8, 20)
_DRAWS = 3  # of the known ratings of a person
_ALARMS = (0.001, HEADLINE, 0.1)
_FEWEST = 10  # false positives; with fewer a rate is rough
Floats = NDArray[np.float64]


@older_names
@dataclass(frozen=True)
class MembershipAttack(MembershipAttackSettings, ShadowAttack[MembershipResult]):
    """Distinguish members from non-members of a release by shadow releases.

    The adversary knows some of a person's ratings, has a release, and knows the method well
    enough to make shadow releases of similar people: of random halves, each person in about half
    of them. The fit of a person to releases with and without them calibrates their fit to the
    attacked release.

    Parameters
    ----------
    shadows : int, optional
        Shadow releases per target release, at least 1; None: 16, and 4 above 20 million ratings.
        The figures are lower bounds that grow with it.
    method : Anonymizer, optional
        Method of the release, with its settings; required for a release.
    known : sequence of int
        Further numbers of known ratings.

    Raises
    ------
    ConfigError
        A value outside its range, or a method that makes no releases.

    Notes
    -----
    N + 1 releases are made, each of a random half of the people by the method with its settings,
    on one public catalogue: the released items that at least twice as many people rated as a
    released item needed. Each is the target once, the others are its shadows. The fit of a person
    to a release is the logarithm of the chance that a member of any of its classes or profiles,
    each as likely as it has records, gave those of their known ratings that are of its items, over
    how many these are (see the likelihood attack; around the cells of profiles by one spread, that
    of the first three halves); 0 where nothing can be compared. Scores are those of LiRA
    (`starshade.attack.shadows.lira`): *offline* for who knows some ratings and cannot put the
    person into a shadow, and of all ratings known the better of *offline* and *online*. With 4, 8
    and 20 ratings known (and as many as the knowledge says) figures are means over three draws of
    what is known. Thresholds are pooled over all targets and people.

    The method is measured at half of the people. Half of them are shared between a target and a
    shadow: an adversary who knows more of the others finds more.

    Sources: Carlini, Chien, Nasr, Song, Terzis & Tramèr (2022), sections V and VI; Shokri et al.
    (2017); on recommenders Zhang et al. (2021).

    Examples
    --------
    >>> from starshade.anonymize.k_likeness import KLikeness
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=60, n_items=5, n_ratings=200, rng=0)
    >>> method = KLikeness(k=3)
    >>> attack = MembershipAttack(shadows=2, method=method)
    >>> result = attack.run(method.anonymize(ratings, rng=0), original=ratings, rng=0)
    >>> [each.known for each in result.by_known]
    [4, 8, 20, None]
    """

    name: ClassVar[str] = "membership"
    method: Method | None = None
    known: Sequence[int] = ()

    def begin(self, asked: Asked) -> Membership:
        """Return the attack on these releases and its summary."""
        tries = sorted({*_KNOWN, *self.known, asked.told.knowledge.known})
        return Membership(asked, (*tries, None))


@dataclass(frozen=True, eq=False)
class Membership:
    """Fit of people to each release, by number of `known` ratings; None: all."""

    asked: Asked
    known: tuple[int | None, ...]

    @cached_property
    def facts(self) -> dict[int | None, list[Facts]]:
        """What is known: of each number known the draws of it."""
        told, out = self.asked.told, {}
        for known in self.known:
            users = self.asked.enough(known)
            draws = _DRAWS if known else 1
            out[known] = [told.of(users, known, draw) for draw in range(draws)]
        return out

    @cached_property
    def _together(self) -> Facts:
        """All of these, looked up at once: single look-ups are small."""
        return Facts.joined([facts for draws in self.facts.values() for facts in draws])

    def ask(self, half: Half) -> Tables:
        """Return the fit of all tested people."""
        fits = fit(half.seen, self._together)
        sizes = [len(facts) for draws in self.facts.values() for facts in draws]
        parts = iter(np.split(fits, np.cumsum(sizes)[:-1]))
        return {
            _name(known): np.array([next(parts) for _ in draws])
            for known, draws in self.facts.items()
        }

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> MembershipResult:
        """Summarize all releases."""
        status = np.array([each["status"] for each in answers])
        told, users = self.asked.told, self.asked.enough(None)
        if not len(users):
            raise ConfigError("no people to attack: no tested person has ratings that can be known")
        at = []
        for known, draws in self.facts.items():
            who = draws[0].users
            fits = np.array([each[_name(known)] for each in answers]).swapaxes(0, 1)
            entries = [scored(each, status[:, who]) for each in fits]
            at.append(summed_up(known, entries, told.truth, who, facts["seed"]))
        return MembershipResult(
            by_known=tuple(at),
            targets=len(users),
            ineligible=self.asked.everybody - len(users),
            **facts,
        )


def _name(known: int | None) -> str:
    return f"fits, {known} known"


def fit(seen: Seen, facts: Facts) -> Floats:
    """Return how well each person fits a release, shape (people,).

    The logarithm of the chance of the facts that can be compared, from any record, over how many
    they are; 0 where there is none.
    """
    logs, compared = seen.chances(facts)
    return np.where(compared > 0, logs / np.maximum(compared, 1), 0.0)


def summed_up(
    known: int | None,
    draws: Sequence[Scored],
    truth: Ratings,
    users: NDArray[np.int64],
    seed: int,
) -> MembershipAt:
    """Sum up the scores with so much known; None: all ratings.

    `draws`: of what is known. `users` (people,): of the truth, who was asked about.
    """
    first = draws[0]
    members = len(np.unique(first.person[first.member]))
    outsiders = len(np.unique(first.person[~first.member]))
    if not members or not outsiders:
        return MembershipAt(
            known, members, outsiders, None, reason="too few people have enough ratings"
        )
    by: Literal["offline", "online"] = "offline"
    drawn = _figures(draws, [each.offline for each in draws], len(users), seed)
    scores = [each.offline for each in draws]
    online = [each.online for each in draws if each.online is not None]
    if known is None and online:
        other = _figures(draws, online, len(users), seed)
        place = 1 + _ALARMS.index(HEADLINE)
        if (other[place].value, other[0].value) > (drawn[place].value, drawn[0].value):
            by, drawn, scores = "online", other, online
    rankings = _rankings(draws, scores)
    alarms = int((~first.member).sum())
    return MembershipAt(
        known=known,
        members=members,
        non_members=outsiders,
        auc=drawn[0].rate(min(members, outsiders)),
        by=by,
        tpr_at_fpr=tuple(
            Alarm(share, each.rate(members), rough=share * alarms < _FEWEST - 1e-9)
            for share, each in zip(_ALARMS, drawn[1:], strict=True)
        ),
        epsilon=least_epsilon(rankings[0], first.target) if known is None else None,
        curve=rankings[0].curve() if known is None else (),
        own=OfPeople.of(rankings, truth, users),
    )


def _rankings(draws: Sequence[Scored], scores: Sequence[Floats]) -> list[Ranking]:
    return [
        Ranking(score, each.person, each.member) for each, score in zip(draws, scores, strict=True)
    ]


def _figures(
    draws: Sequence[Scored], scores: Sequence[Floats], people: int, seed: int
) -> list[Drawn]:
    """Return the AUC and the members found at each share of false alarms: means over draws."""
    rankings = _rankings(draws, scores)

    def figures(weights: Floats) -> Floats:
        return np.asarray(np.mean([each.figures(weights, _ALARMS) for each in rankings], axis=0))

    return drawn_again(figures, people, seed)
