"""Inference: attribute inference attributable to participation (starshade's own)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import older_names
from starshade.attack.low_rank import draw_profiles, fit_low_rank, shown_profiles
from starshade.attack.settings import InferenceAttackSettings
from starshade.attack.shadows.facts import Told
from starshade.attack.shadows.halves import Half, Method
from starshade.attack.shadows.inference_result import Compared, InferenceResult, Way
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.attack.shadows.resampled import FEWEST, drawn_again, mean_of
from starshade.attack.shadows.seen import TIE, Facts, Seen, Wanted
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.kernels.fingerprint import keyed_numbers
from starshade.plain import counted
from starshade.ratings.scale import Scale
from starshade.release.columns import Columns
from starshade.rng import stream_key

Floats = NDArray[np.float64]
WAYS: tuple[Literal["all", "best", "residual"], ...] = ("all", "best", "residual")
MARKS = ("rated", "value", "error")


@older_names
@dataclass(frozen=True)
class InferenceAttack(InferenceAttackSettings, ShadowAttack[InferenceResult]):
    """Infer unknown ratings from releases with and without the person; the gain counts.

    The adversary knows some of a person's ratings and infers others. What releases without the
    person allow to infer is not attributable to participation; what releases with the person
    allow in addition is. So the same inferences, from the same facts, are made from all of them.

    Parameters
    ----------
    shadows : int, optional
        Shadow releases per target release, at least 1; None: 16, and 4 above 20 million ratings.
    questions : int
        Maximum number of ratings to infer per person.
    method : Anonymizer, optional
        Method of the release, with its settings; required for a release.
    known : int, optional
        Known ratings per person; None: as in the knowledge.

    Raises
    ------
    ConfigError
        A value outside its range, or a method that makes no releases.

    Notes
    -----
    The releases are those of the membership attack. Tested are people with a rating of the
    catalogue beyond the known ones and with an unrated item. "Rated?": of a rated
    item that is not known and the unrated one of nearest support (ties to the earlier key), which
    did they rate? The one that is shown as rated with the larger chance; ½ where these are equal,
    as where both or neither show. "Which value?": of a rated item; the mean of what the cells
    show, and where they show nothing the item's mean in the release, or the mean of all its
    ratings. Two adversaries infer: one weights all classes or profiles by posterior given the
    facts and their size (the likelihood attack's model), the other uses the most likely alone.
    Where profiles are filled, a cell shows nothing of who rated the item; a third adversary takes
    the item at which the most likely profile lies farther from a model of rank 4
    (`starshade.attack.low_rank`).
    A person's gain is their share of correct inferences, averaged over the releases with them,
    minus that over the releases without them.

    Examples
    --------
    >>> from starshade.anonymize.k_likeness import KLikeness
    >>> from starshade.ratings.synth.synth import synthesize
    >>> from starshade.attack.knowledge import Knowledge
    >>> ratings = synthesize(n_users=60, n_items=6, n_ratings=240, rng=0)
    >>> method = KLikeness(k=3)
    >>> attack = InferenceAttack(shadows=2, method=method)
    >>> release = method.anonymize(ratings, rng=0)
    >>> result = attack.run(release, Knowledge(known=2), original=ratings, rng=0)
    >>> [way.by for way in result.adversaries]
    ['all', 'best']
    """

    name: ClassVar[str] = "inference"
    method: Method | None = None
    known: int | None = None

    def begin(self, asked: Asked) -> Inference:
        """Return the attack on these releases and its summary."""
        return Inference(asked, self.questions, self.known or asked.told.knowledge.known)


class Questions(NamedTuple):
    """What is asked: `person` ascending, places among those asked about; `rated`, `unrated` items.

    `ratings`: of the rated items. -1: nothing is left unrated.
    """

    person: NDArray[np.int64]
    rated: NDArray[np.int64]
    ratings: Floats
    unrated: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Inference:
    """Inference of up to `questions` ratings of each person, with `known` ratings."""

    asked: Asked
    questions: int
    known: int

    @cached_property
    def users(self) -> NDArray[np.int64]:
        """People tested: those with more ratings than are known."""
        told = self.asked.told
        some = self.asked.enough(self.known)
        return some[told.truth.user_support[some] > self.known]

    @cached_property
    def facts(self) -> Facts:
        """Their known ratings."""
        return self.asked.told.of(self.users, self.known)

    @cached_property
    def put(self) -> Questions:
        """The ratings to infer."""
        return questions(self.asked.told, self.facts, self.questions)

    def ask(self, half: Half) -> Tables:
        """Mark the answers: shape (ways + 1, people, marks), the crowd's last."""
        put, told, people = self.put, self.asked.told, len(self.users)
        ways = [*answers(half.seen, self.facts, put), by_crowd(half.seen, half.support, put)]
        marks = [marked(put, *each, told.truth.scale, people) for each in ways]
        far = by_residual(half.seen, self.facts, put, told.seed)
        if far is not None:
            rated = marked(put, *far, np.zeros(len(put.person)), told.truth.scale, people)
            rated[:, 1:] = np.nan  # it names no ratings
            marks.insert(-1, rated)
        return {"marks": np.array(marks)}

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> InferenceResult:
        """Summarize all releases."""
        known, people = self.known, len(self.users)
        if not people:
            raise ConfigError(
                f"no people to attack: no person has more than {counted(known, 'rating')}",
                advice="Lower the number of known ratings.",
                setting="known",
            )
        status = np.array([each["status"][self.users] for each in answers])
        marks = _in_common([each["marks"] for each in answers])
        sides = [_mean_where(marks, status == which) for which in (1, 0)]
        there = ~np.isnan(sides[0][0, :, 2] + sides[1][0, :, 2])  # both with them and without
        if there.sum() < FEWEST:
            raise ConfigError(
                f"{there.sum():,} people can be tested in releases with and without them; "
                f"{FEWEST} are needed",
                advice="Lower the number of known ratings, or make more shadow releases.",
            )
        some = [side[:, there] for side in sides]
        ways = tuple(
            Way(by, **{name: _compared(some, w, m, facts["seed"]) for m, name in enumerate(MARKS)})
            for w, by in enumerate(WAYS[: marks.shape[1] - 1])
        )
        return InferenceResult(
            known=known,
            adversaries=ways,
            targets=int(there.sum()),
            ineligible=self.asked.everybody - int(there.sum()),
            **facts,
        )


def _in_common(marks: Sequence[Floats]) -> Floats:
    """Join the marks of releases, without those by residuals where not every release has them."""
    fewest = min(len(each) for each in marks)
    return np.array([each if len(each) == fewest else np.delete(each, -2, 0) for each in marks])


def _mean_where(marks: Floats, which: NDArray[np.bool_]) -> Floats:
    """Return the mean marks over some releases, shape (ways + 1, people, marks); NaN: none."""
    times = which.sum(0)[None, :, None]
    sums = np.where(which[:, None, :, None], marks, 0.0).sum(0)
    return np.where(times > 0, sums / np.maximum(times, 1), np.nan)


def _compared(sides: Sequence[Floats], way: int, mark: int, seed: int) -> Compared | None:
    """Compare a mark of each person with and without them, and with the crowd's; None: none."""
    inside, outside = (side[way, :, mark] for side in sides)
    gain, crowd = inside - outside, sides[1][-1, :, mark]
    there = ~np.isnan(gain)  # who left nothing unrated, and on scales without steps, nobody
    if there.sum() < FEWEST:
        return None
    mean = mean_of(np.where(there, gain, 0.0), there.astype(np.float64))
    (drawn,) = drawn_again(mean, len(gain), seed)
    rate = drawn.difference(int(there.sum()))
    return Compared(
        with_person=float(inside[there].mean()),
        without_person=float(outside[there].mean()),
        baseline=float(crowd[there].mean()),
        gain=rate.rate,
        low=rate.low,
        high=rate.high,
    )


def questions(told: Told, facts: Facts, most: int) -> Questions:
    """Choose what is asked about people of whom these facts are known."""
    parts = [_of_person(told, facts, place, most) for place in range(len(facts))]
    person = np.repeat(np.arange(len(parts)), [len(rated) for rated, *_ in parts])
    empty = [np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64)]
    columns = (np.concatenate(each) for each in zip(empty, *parts, strict=True))
    return Questions(person, *columns)


def _of_person(
    told: Told, facts: Facts, place: int, most: int
) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    truth, user = told.truth, int(facts.users[place])
    known = facts.items[facts.indptr[place] : facts.indptr[place + 1]]
    cells = slice(truth.indptr[user], truth.indptr[user + 1])
    columns, ratings = truth.columns[cells], truth.levels[truth.codes[cells]]
    rest = np.delete(np.arange(len(columns)), np.searchsorted(columns, known))
    if len(rest) > most:
        own = int(truth.users.fingerprints[user])
        key = np.uint64(stream_key(told.seed, f"questions {own}"))
        numbers = keyed_numbers(truth.items.fingerprints[columns[rest]], key)
        rest = np.sort(rest[np.argsort(numbers, kind="stable")[:most]])
    rated = columns[rest].astype(np.int64)
    others = np.delete(np.arange(truth.n_items), columns)
    if not len(others):
        return rated, ratings[rest], np.full(len(rated), -1)
    away = np.abs(told.support[others][None, :] - told.support[rated][:, None])
    return rated, ratings[rest], others[away.argmin(axis=1)]  # the first: the earlier key


def answers(seen: Seen, facts: Facts, put: Questions) -> list[tuple[Floats, Floats, Floats]]:
    """Answer the questions by a release, in each way.

    The chances that the rated and the unrated item show as rated, and the rating of the former.
    """
    n = len(put.person)
    out = np.zeros((2, 3, n))
    ends = np.searchsorted(put.person, np.arange(len(facts) + 1))
    most = int(np.diff(ends).max(initial=0))
    for people, part in facts.blocks(seen.at_once(2 * most), len(facts.items)):
        here = slice(ends[people.start], ends[people.stop])
        person = put.person[here] - people.start
        order = np.argsort(np.append(person, person), kind="stable")
        items = np.append(put.rated[here], put.unrated[here])[order]
        chance, value = seen.shown(part, Wanted(np.append(person, person)[order], items))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        for way in range(2):
            both = chance[way][back].reshape(2, -1)
            out[way, :2, here] = both
            out[way, 2, here] = value[way][back].reshape(2, -1)[0]
    return [tuple(each) for each in out]


def by_residual(
    seen: Seen, facts: Facts, put: Questions, seed: int
) -> tuple[Floats, Floats] | None:
    """Say how far the likeliest profile of each person lies from a model of low rank.

    At the rated and at the unrated item of each question. None: cells are no means, or some are
    null.
    """
    cells = seen.view.cells
    if not isinstance(cells, Columns) or not len(facts) or not cells.levels.all():
        return None
    fit = fit_low_rank(shown_profiles(cells, draw_profiles(cells, seed)))
    best = np.concatenate([logs.argmax(axis=1) for _, logs, _ in seen.fits(facts)])
    rows, place = np.unique(best, return_inverse=True)
    weights, row = fit.weights(shown_profiles(cells, rows)), place[put.person]

    def away(items: NDArray[np.int64]) -> Floats:
        item = seen.view.places(items.astype(np.int32))
        shown = cells.symbols.members[cells.levels[item, rows[row]] - 1]
        expected = fit.mean[item] + (weights[row] * fit.right[:, item].T).sum(axis=1)
        return np.where(item >= 0, np.abs(shown - expected), 0.0)

    return away(put.rated), away(put.unrated)


def by_crowd(
    seen: Seen, support: NDArray[np.int64], put: Questions
) -> tuple[Floats, Floats, Floats]:
    """Answer by how popular items are in a release's half, and by their mean ratings there."""
    value = seen.item_means[seen.view.places(put.rated.astype(np.int32))]
    # the last mean, of all, where the item is not released
    return support[put.rated].astype(float), support[put.unrated].astype(float), value


def marked(
    put: Questions, chance: Floats, other: Floats, value: Floats, scale: Scale, people: int
) -> Floats:
    """Mark answers; returns each person's means, shape (people, marks), NaN where none is asked.

    `chance`, `other`: that the rated item of a pair, and the unrated one, was. Marks are the share
    of pairs in which the rated one is named, the share of ratings named (NaN without steps), and
    the error in ratings.
    """
    equal = np.abs(chance - other) <= TIE * np.maximum(chance, other)
    won = np.where(put.unrated < 0, np.nan, np.where(equal, 0.5, chance > other))
    right = np.full(len(value), np.nan)
    if scale.step is not None and scale.width:
        steps = np.floor((value - scale.minimum) / scale.step + 0.5 + TIE)
        named = scale.minimum + steps * scale.step
        right = (np.abs(named - put.ratings) < 1e-6).astype(np.float64)
    error = np.abs(value - put.ratings)
    times = np.bincount(put.person, minlength=people)
    sums = [np.bincount(put.person, each, people) for each in (won, right, error)]
    return np.stack([each / np.where(times > 0, times, np.nan) for each in sums], axis=1)
