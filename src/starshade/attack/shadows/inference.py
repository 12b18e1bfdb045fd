"""Inference: what does a release tell of somebody because they are in it? (starshade's own)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.attack.settings import InferenceAttackSettings
from starshade.attack.shadows.facts import Told
from starshade.attack.shadows.inference_result import Compared, InferenceResult, Way
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import Resampled
from starshade.attack.shadows.seen import TIE, Facts, Seen, Wanted
from starshade.attack.shadows.shadows import Method, Round
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.kernels.fingerprint import keyed_numbers
from starshade.ratings.scale import Scale
from starshade.rng import stream_key

Floats = NDArray[np.float64]
WAYS: tuple[Literal["all", "best"], ...] = ("all", "best")


@dataclass(frozen=True)
class InferenceAttack(InferenceAttackSettings, ShadowAttack[InferenceResult]):
    """Ask a release about ratings that are not known, and the release without this person too.

    The adversary knows some of a person's ratings and wants to know others. What anybody's
    taste tells of them is no fault of the release; what it tells more than one in which the
    person is not is. So the same questions, by the same facts, are asked of both.

    Parameters
    ----------
    rounds : int
        Of leaving people out, from 1 to 10; after ten everybody was asked about.
    questions : int
        About each person, at most.
    method : Anonymizer, optional
        What made the release, with its settings; a release needs it.

    Raises
    ------
    ConfigError
        A value outside its range, or a method that makes no releases.

    Notes
    -----
    The rounds are those of the membership attack; asked about is fold j + 1, who are in T and not
    in its reference. "Rated?": of a rated item that is not known and the unrated one of nearest
    support (ties to the earlier key), which did they rate? The one that is shown as rated with
    the larger chance; ½ where these are equal, as where both or neither show. "Which value?": of
    a rated item; the mean of what the cells show, and where they show nothing the item's mean in
    the release, or the mean of all its ratings. Two adversaries answer: one weighs all classes or
    profiles by their chance given the facts and their size (the likelihood attack's model), the
    other believes the most likely alone. Differences are paired by person.

    Examples
    --------
    >>> from starshade.anonymize.k_likeness import KLikeness
    >>> from starshade.ratings.synth.synth import synthesize
    >>> from starshade.attack.knowledge import Knowledge
    >>> ratings = synthesize(n_users=60, n_items=6, n_ratings=240, rng=0)
    >>> method = KLikeness(k=3)
    >>> attack = InferenceAttack(rounds=2, method=method)
    >>> release = method.anonymize(ratings, rng=0)
    >>> result = attack.run(release, Knowledge(known=2), original=ratings, rng=0)
    >>> [way.by for way in result.ways]
    ['all', 'best']
    """

    name: ClassVar[str] = "inference"
    method: Method | None = None

    def begin(self, asked: Asked) -> _Answered:
        """Return what the rounds are added to."""
        return _Answered(asked, self.questions)


class Questions(NamedTuple):
    """What is asked about one person: items of the original.

    `rated`, `ratings`: what they rated and how; `unrated`: of each an item that they did not rate,
    -1: there is none.
    """

    rated: NDArray[np.int64]
    ratings: Floats
    unrated: NDArray[np.int64]


class Marks(NamedTuple):
    """How one person's questions were answered: means, NaN where nothing was asked.

    `rated`: the rated one of two items named; `value`: the rating named, NaN without steps;
    `error`: in ratings.
    """

    rated: float
    value: float
    error: float


@dataclass
class _Answered:
    asked: Asked
    questions: int
    users: list[NDArray[np.int64]] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    #: of each round, shape (people, releases and the crowd, ways, marks)
    marks: list[Floats] = field(default_factory=list)

    def ask(self, one: Round) -> Tables:
        told = self.asked.told
        known = told.knowledge.known
        users = self.asked.among(one.members, known)
        facts = told.of(users, known)
        asked = [self._questions(int(user), facts, u) for u, user in enumerate(users)]
        some = np.array([len(each.rated) > 0 for each in asked], dtype=np.bool_)
        scale = told.truth.scale
        sides = [answers(seen, facts, asked, scale) for seen in (one.release, one.reference)]
        crowd = by_crowd(one.reference, one.support, asked, scale)
        marks = np.array([*sides, [crowd] * len(WAYS)]).reshape(3, len(WAYS), len(users), 3)
        return {"users": users[some], "marks": np.moveaxis(marks, 2, 0)[some]}

    def take(self, number: int, answer: Tables) -> None:
        self.users.append(answer["users"])
        self.rounds.append(number)
        self.marks.append(answer["marks"])

    def _questions(self, user: int, facts: Facts, place: int) -> Questions:
        told, own = self.asked.told, facts.items[facts.indptr[place] : facts.indptr[place + 1]]
        return questions(told, user, own, self.questions)

    def found(self, facts: dict[str, Any]) -> InferenceResult:
        users, marks = np.concatenate(self.users), np.concatenate(self.marks)
        known = self.asked.told.knowledge.known
        if not len(users):
            raise ConfigError(
                f"nobody can be asked about: nobody has a rating beyond {known} known ones",
                advice="Let fewer be known.",
                setting="known",
            )
        round_of = np.repeat(self.rounds, [len(each) for each in self.users])
        resampled = Resampled(users, round_of, facts["seed"])
        return InferenceResult(
            rounds=self.asked.rounds,
            known=known,
            ways=tuple(
                Way(by, *(compared(marks[:, :, w, m], resampled) for m in range(3)))
                for w, by in enumerate(WAYS)
            ),
            targets=len(np.unique(users)),
            ineligible=self.asked.told.n_users - len(np.unique(users)),
            **facts,
        )


def questions(told: Told, user: int, known: NDArray[np.int32], most: int) -> Questions:
    """Choose what is asked about a user, of whom the ratings of some items are `known`."""
    truth, item = told.truth, told.item
    cells = slice(truth.indptr[user], truth.indptr[user + 1])
    columns, ratings = truth.columns[cells], truth.levels[truth.codes[cells]]
    rest = np.flatnonzero(~np.isin(item[columns], known))
    if len(rest) > most:
        own = int(truth.users.fingerprints[user])
        key = np.uint64(stream_key(told.seed, f"questions {own}"))
        numbers = keyed_numbers(truth.items.fingerprints[columns[rest]], key)
        rest = np.sort(rest[np.argsort(numbers, kind="stable")[:most]])
    rated = columns[rest]
    others = np.setdiff1d(np.arange(truth.n_items), columns)
    nearest = np.full(len(rated), -1, dtype=np.int64)
    if len(others):
        support = told.support
        away = np.abs(support[others][None, :] - support[rated][:, None])
        nearest = item[others[away.argmin(axis=1)]].astype(np.int64)  # the first: the earlier key
    return Questions(item[rated].astype(np.int64), ratings[rest], nearest)


def answers(
    seen: Seen, facts: Facts, asked: list[Questions], scale: Scale
) -> tuple[list[Marks], list[Marks]]:
    """Let each person's questions be answered by a release, in both ways, and mark the answers."""
    out: tuple[list[Marks], list[Marks]] = [], []
    most = max((len(each.rated) for each in asked), default=0)
    for people, part in facts.blocks(seen.at_once(2 * most), len(facts.items)):
        some = asked[people]
        wanted = Wanted.by([np.concatenate([each.rated, each.unrated]) for each in some])
        ends = np.cumsum([len(each.rated) for each in some for _ in range(2)])
        for marks, *both in zip(out, *seen.shown(part, wanted), strict=True):
            chances, values = (np.split(column, ends)[:-1] for column in both)
            pairs = zip(some, chances[::2], chances[1::2], values[::2], strict=True)
            marks += [marked(*told, scale) for told in pairs]
    return out


def by_crowd(
    seen: Seen, support: NDArray[np.int64], asked: list[Questions], scale: Scale
) -> list[Marks]:
    """Answer by how popular items are, and by their mean ratings in the reference."""
    out = []
    for each in asked:
        place = seen.view.places(each.rated.astype(np.int32))
        value = seen.item_means[place]  # the last, of all, where the item is not released
        chance, other = support[each.rated], support[each.unrated]
        out.append(marked(each, chance.astype(float), other.astype(float), value, scale))
    return out


def marked(asked: Questions, chance: Floats, other: Floats, value: Floats, scale: Scale) -> Marks:
    """Mark answers; `chance`, `other`: that the item of a pair that is rated, and not, was."""
    if not len(asked.rated):
        return Marks(np.nan, np.nan, np.nan)
    pair = asked.unrated >= 0
    equal = np.abs(chance - other) <= TIE * np.maximum(chance, other)
    won = np.where(equal, 0.5, chance > other)[pair]
    right = np.nan
    if scale.step is not None and scale.width:
        steps = np.floor((value - scale.minimum) / scale.step + 0.5 + TIE)
        right = float((np.abs(scale.minimum + steps * scale.step - asked.ratings) < 1e-6).mean())
    error = float(np.abs(value - asked.ratings).mean())
    return Marks(float(won.mean()) if len(won) else np.nan, right, error)


def compared(marks: Floats, resampled: Resampled) -> Compared | None:
    """Compare a mark of each person by release, reference and crowd, shape (people, 3)."""
    there = ~np.isnan(marks).any(axis=1)
    if not there.any():
        return None
    gains = np.where(there, marks[:, 0] - marks[:, 1], 0.0)

    def mean(weights: Floats) -> Floats:
        total = (weights * there).sum(axis=1)
        sums = (weights * gains).sum(axis=1)
        return np.where(total > 0, sums / np.where(total > 0, total, 1), np.nan)

    difference, low, high = resampled.ends(mean)
    release, reference, crowd = marks[there].mean(axis=0).tolist()
    return Compared(release, reference, crowd, difference, low, high)
