"""Prediction of a personal attribute from ratings, before and after anonymization (SR §7.3).

A holder of ratings with a personal attribute of their raters can train a classifier and predict the
attribute of others from their ratings. Here that is naive Bayes. As a measure of *utility* the
release should predict as well as the original; as a measure of *risk* it is the prediction that
anonymized ratings still allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.arguments import typed
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.sr.attribute import Labels, labels_of
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, dot_chart
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.markup import block, paragraph, table
from starshade.naming import called, named
from starshade.plain import counted
from starshade.progress import announced, silence, task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.rng import Rng, generator, resolve_seed, stream_key
from starshade.utility.naive_bayes import (
    accuracy,
    balanced_and_auc,
    class_scores,
    require_scikit_learn,
)

Floats = NDArray[np.float64]

_MOST_USERS = 2000  # in training, and in testing (the paper's number)
_DRAWS = 1000  # of the bootstrap, as in `starshade.stats`


@dataclass(frozen=True)
class Prediction:
    """Accuracy of predicting an attribute from original and from anonymized ratings.

    Attributes
    ----------
    attribute : str
    classes : tuple of str
    trials : int
    users : int
        In training; as many others in testing.
    original, anonymized : Rate
        Mean accuracy; the interval (95 %) is a bootstrap over trials.
    difference : Rate
        Mean of anonymized minus original, trial by trial, in [-1, 1].
    majority : Rate
        Accuracy of always guessing the class that is most frequent in training.
    balanced, auc : pair of Rate
        Balanced accuracy, and the area under the ROC curve (of each class against the others,
        the mean), from the original and from anonymized ratings. A guess by chance has 1 /
        classes and 0.5, however frequent a class is.
    released : float
        Share of the users left after anonymization; the others are in neither training nor
        testing.
    seconds : float
    seed : int
    """

    attribute: str
    classes: tuple[str, ...]
    trials: int
    users: int
    original: Rate
    anonymized: Rate
    difference: Rate
    majority: Rate
    balanced: tuple[Rate, Rate]
    auc: tuple[Rate, Rate]
    released: float
    seconds: float
    seed: int

    def within(self, points: float = 3.0) -> bool:
        """Tell whether the whole interval of the difference is within so many points of 0."""
        return max(-self.difference.low, self.difference.high) <= points / 100

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        rates = ("original", "anonymized", "difference", "majority")
        plain = ("attribute", "trials", "users", "released", "seconds", "seed")
        return {
            **{name: getattr(self, name) for name in plain},
            "classes": list(self.classes),
            **{name: getattr(self, name).to_dict() for name in rates},
            **{
                name: [rate.to_dict() for rate in getattr(self, name)]
                for name in ("balanced", "auc")
            },
        }

    def __str__(self) -> str:
        d = self.difference
        return (
            f"{self.attribute} ({len(self.classes)} classes): predicted correctly from original "
            f"ratings in {self.original}, from anonymized ones in {self.anonymized} "
            f"({100 * d.rate:+.1f} points [{100 * d.low:+.1f}, {100 * d.high:+.1f}]); baseline "
            f"(most frequent class) {self.majority}. Means of {counted(self.trials, 'trial')}, "
            f"{counted(self.users, 'user')} in training and as many in testing; "
            "intervals over trials."
        )

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{rate.rate:.1%}", f"{rate.low:.1%} to {rate.high:.1%}")
            for name, rate in self._rates()
        ]
        head = ("predicted correctly from", "share", "95 % interval")
        shown = table(head, rows, numbers=(1, 2))
        return block(f"Predicting {self.attribute} from ratings", shown, paragraph(str(self)))

    def plot(self) -> Chart:
        """Draw the share of correct predictions before and after."""
        return dot_chart(
            f"Predicting {self.attribute} from ratings",
            f"{counted(self.trials, 'trial')} of {counted(self.users, 'user')}",
            [Dot(name, rate.rate, rate.low, rate.high) for name, rate in self._rates()],
            Axis("predicted correctly, share of users", share=True),
        )

    def _rates(self) -> tuple[tuple[str, Rate], ...]:
        return (
            ("the original ratings", self.original),
            ("the anonymized ratings", self.anonymized),
            ("no ratings: the most frequent class", self.majority),
        )


@dataclass(frozen=True, eq=False)
class Trials:
    """Splits of the users, and what the original ratings predict on each."""

    ratings: Ratings
    labels: Labels
    # rows, ascending; the two have no user in common
    halves: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    original: Floats  # (trials, 3): accuracy, balanced accuracy, AUC
    majority: Floats  # accuracy
    seed: int
    dense: Floats = field(repr=False)

    def scores(self, method: Anonymizer, *others: Trials) -> tuple[Floats, float]:
        """Anonymize the two halves of each trial, separately, and predict from those.

        `others`: the same splits for other attributes. Returns what `original` is for each of them,
        (1 + len(others), trials, 3), and the share of users who were released.
        """
        scores, released = np.empty((1 + len(others), len(self.halves), 3)), 0
        with task("predicting after anonymization", len(self.halves)) as step:
            for trial, (train, test) in enumerate(self.halves):
                with silence():
                    known = self._anonymized(method, train, trial, "train")
                    tested = self._anonymized(method, test, trial, "test")
                for place, each in enumerate((self, *others)):
                    scores[place, trial] = _scores(each, *known, *tested)
                released += len(known[0]) + len(tested[0])
                step(1)
        return scores, released / (2 * len(self.halves[0][0]) * len(self.halves))

    def predict(self, method: Anonymizer) -> Prediction:
        """Anonymize, predict, and compare with the original."""
        started = perf_counter()
        (scores,), released = self.scores(method)
        accuracies, before = scores[:, 0], self.original[:, 0]
        balanced, auc = (
            (_mean(self.original[:, i], self.seed), _mean(scores[:, i], self.seed)) for i in (1, 2)
        )
        return Prediction(
            attribute=self.labels.attribute,
            classes=self.labels.names,
            trials=len(self.halves),
            users=len(self.halves[0][0]),
            original=_mean(before, self.seed),
            anonymized=_mean(accuracies, self.seed),
            difference=_mean(accuracies - before, self.seed),
            majority=_mean(self.majority, self.seed),
            balanced=balanced,
            auc=auc,
            released=released,
            seconds=perf_counter() - started,
            seed=self.seed,
        )

    def _anonymized(
        self, method: Anonymizer, rows: NDArray[np.int64], trial: int, half: str
    ) -> tuple[NDArray[np.int64], Floats]:
        seed = stream_key(self.seed, f"anonymize {half} {trial}") >> 1
        part = self.ratings.keep_users(rows)
        own, values = released_values(method.anonymize(part, rng=seed), part)
        return rows[own], values


@typed
@announced("what ratings tell of an attribute")
def predict_attribute(
    ratings: Ratings,
    method: Anonymizer,
    attribute: str,
    *,
    edges: Sequence[float] = (),
    trials: int = 50,
    rng: Rng = None,
) -> Prediction:
    """Compare the prediction of a personal attribute from original and anonymized ratings.

    Parameters
    ----------
    ratings : Ratings
        With personal attributes; on the items that the method releases.
    method : a method
        Anonymizes training and test data separately.
    attribute, edges
        See `labels_of`.
    trials : int
        At least 1. In each, min(2000, half) of the users to learn from and as many others to
        predict are drawn.
    rng : int, Generator or None

    Raises
    ------
    ConfigError
        scikit-learn is absent, the attribute cannot be predicted, fewer than two users, or the
        method refuses.
    UnmetError
        The method cannot meet its guarantee on a part of the users.
    """
    return draw_trials(ratings, attribute, edges=edges, trials=trials, rng=rng).predict(method)


def draw_trials(
    ratings: Ratings,
    attribute: str,
    *,
    edges: Sequence[float] = (),
    trials: int = 50,
    rng: Rng = None,
) -> Trials:
    """Draw the splits and predict from the original ratings; see `predict_attribute`."""
    require_scikit_learn()
    if isinstance(trials, bool) or trials != trials // 1 or trials < 1:
        raise ConfigError(f"{called('trials')} {trials}: a whole number, at least 1")
    labels = labels_of(ratings, attribute, edges)
    size = min(_MOST_USERS, ratings.n_users // 2)
    if size < 1:
        raise ConfigError("one user: no user left to predict")
    _check_memory(ratings)
    seed, halves = resolve_seed(rng), []
    for trial in range(int(trials)):
        order = generator(seed, f"prediction {trial}").permutation(ratings.n_users)
        halves.append((np.sort(order[:size]), np.sort(order[size : 2 * size])))
    blank = np.empty((len(halves), 3)), np.empty(len(halves))
    drawn = Trials(ratings, labels, tuple(halves), *blank, seed, ratings.dense())
    with task("predicting from the original", len(halves)) as step:
        for trial, (train, test) in enumerate(halves):
            values, others = drawn.dense[train], drawn.dense[test]
            drawn.original[trial] = _scores(drawn, train, values, test, others)
            drawn.majority[trial] = _scores(drawn, train, values[:, :0], test, others[:, :0])[0]
            step(1)
    return drawn


def released_values(release: Release, ratings: Ratings) -> tuple[NDArray[np.int64], Floats]:
    """Return the released ratings of each user, as numbers.

    The release was just made from `ratings`: it still knows who is who. Rows of the users who are
    in it, ascending, and their values, one column per item of `ratings`: NaN for null and for an
    item that was left out. A cell with several members counts as their mean (a null among them left
    aside), a range as its middle.
    """
    assert release.private is not None
    link, cells = release.private.link, release.cells()
    symbols = cells.symbols
    of_record = release.class_of_record[link.record]
    sums = np.concatenate([[0.0], np.cumsum(symbols.members)])
    low, high = symbols.bounds
    # one member: itself, without the dust of a sum
    mean = np.where(symbols.n_members == 1, high, (low + high) / 2)
    several = symbols.n_members > 1
    totals = sums[symbols.offsets[1:]] - sums[symbols.offsets[:-1]]
    mean[several] = totals[several] / symbols.n_members[several]
    mean[~symbols.has_rating] = np.nan
    table = np.full((cells.n_groups, ratings.n_items), np.nan)
    place = ratings.items.indices(list(cells.items))
    rows = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
    table[rows, place[cells.columns]] = mean[cells.codes]
    users = ratings.users.indices(list(link.users))
    order = np.argsort(users)
    return users[order], table[of_record[order]]


def _scores(
    trials: Trials,
    train: NDArray[np.int64],
    values: Floats,
    test: NDArray[np.int64],
    others: Floats,
) -> tuple[float, float, float]:
    """Return accuracy, balanced accuracy and AUC of a class from these ratings."""
    codes, step = trials.labels.codes, trials.ratings.scale.step
    gap = trials.ratings.scale.width / 20 if step is None else step
    scored = class_scores(values, codes[train], others, step=gap)
    return accuracy(*scored, codes[test]), *balanced_and_auc(*scored, codes[test])


def _mean(figures: Floats, seed: int) -> Rate:
    """Return the mean over trials with its bootstrap interval.

    Without width where all trials give the same: trials draw on the same people, and a release
    that changes nothing differs in none of them.
    """
    n = len(figures)
    picks = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=_DRAWS)
    low, high = np.quantile(picks @ figures / n, [0.025, 0.975])
    mean = float(figures.mean())
    return Rate(mean, min(float(low), mean), max(float(high), mean))


def _check_memory(ratings: Ratings) -> None:
    need = 3 * 8 * ratings.n_users * ratings.n_items
    if need > budget.memory():
        raise ConfigError(
            f"{counted(ratings.n_users, 'user')} x "
            f"{counted(ratings.n_items, 'item')} as a full table take "
            f"{budget.amount(need)}; the budget is {budget.amount(budget.memory())}",
            advice=f"Choose fewer items, e.g. {named('items', 'top:100')}, or allow more with "
            f"{named('memory')}.",
        )
