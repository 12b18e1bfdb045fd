"""Naive Bayes: against a twin without scikit-learn, on nasty tables, and on visible answers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.utility.naive_bayes import accuracy, class_scores, naive_bayes_accuracy
from tests.naive.naive_bayes import naive_scores

NAN = np.nan
cell = st.sampled_from([NAN, NAN, 1.0, 2.0, 2.5, 3.0, 5.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, list[str], Any, float]:
    n, m, items = draw(st.integers(1, 8)), draw(st.integers(0, 4)), draw(st.integers(1, 4))

    def rows(count: int) -> np.ndarray[Any, Any]:
        drawn = [[draw(cell) for _ in range(items)] for _ in range(count)]
        return np.array(drawn, dtype=np.float64).reshape(count, items)

    labels = draw(st.lists(st.sampled_from(["", "f", "m"]), min_size=n, max_size=n))
    return rows(n), labels, rows(m), draw(st.sampled_from([0.0, 0.5, 1.0]))


@given(cases())
def test_scores_are_the_twins(case: tuple[Any, list[str], Any, float]) -> None:
    train, labels, test, step = case
    classes, scores = class_scores(train, np.array(labels), test, step=step)
    expected_classes, expected = naive_scores(train, labels, test, step)
    assert classes.tolist() == expected_classes
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-7)


def test_by_hand() -> None:
    train = np.array([[1.0], [3.0], [4.0], [6.0]])
    _, scores = class_scores(train, np.array(["a", "a", "b", "b"]), np.array([[2.0]]), step=0)
    # means 2 and 5, variance 1 each: the difference of the scores is (2 - 5)² / 2
    assert scores[0, 0] - scores[0, 1] == pytest.approx(4.5, abs=1e-6)
    assert scores[0, 0] == pytest.approx(np.log(0.5) - 0.5 * np.log(2 * np.pi), abs=1e-6)


def test_the_shares_of_the_classes_count_once_and_among_all() -> None:
    # three of four are "a", but of those who rated each is half: two items, no preference
    train = np.array([[1.0, 1.0], [5.0, 5.0], [1.0, 1.0], [5.0, 5.0], [NAN, NAN], [NAN, NAN]])
    labels = np.array(["a", "a", "b", "b", "a", "a"])
    _, scores = class_scores(train, labels, np.array([[3.0, 4.0], [NAN, NAN]]))
    np.testing.assert_allclose(scores[:, 0] - scores[:, 1], np.log(2))


def test_a_class_without_ratings_of_an_item_counts_there_as_everybody() -> None:
    train = np.array([[1.0], [3.0], [NAN], [2.0]])
    labels = np.array(["a", "a", "b", "c"])
    _, scores = class_scores(train, labels, np.array([[5.0]]))
    assert scores[0, 1] == scores[0, 2]  # none, or one alone: no spread of their own
    assert scores[0, 1] != scores[0, 0] - np.log(2)


def test_an_item_that_tells_nothing_is_left_out() -> None:
    train = np.array([[3.0, NAN, 1.0], [3.0, NAN, 5.0]])
    labels = np.array(["a", "b"])
    test = np.array([[5.0, 2.0, NAN], [NAN, NAN, NAN]])
    _, scores = class_scores(train, labels, test)
    np.testing.assert_array_equal(scores, np.log(0.5))


def test_one_rating_given_twice_rules_nobody_out() -> None:
    # "a" rated the first item 3 twice: without the half step, a 4 there would be impossible
    train = np.array([[3.0, 1.0], [3.0, 2.0], [4.0, 5.0], [3.0, 5.0], [5.0, 4.0]])
    labels = np.array(["a", "a", "b", "b", "b"])
    near_a = np.array([[4.0, 1.0]])
    assert naive_bayes_accuracy(train, labels, near_a, np.array(["b"]), step=0) == 1.0
    _, scores = class_scores(train, labels, near_a)
    assert abs(scores).max() < 100


def test_ties_are_shared_and_unseen_classes_are_wrong() -> None:
    train, labels = np.array([[2.0], [2.0]]), np.array(["a", "b"])
    test = np.array([[2.0], [NAN], [1.0]])
    assert naive_bayes_accuracy(train, labels, test, np.array(["a", "b", "c"])) == pytest.approx(
        (0.5 + 0.5 + 0) / 3
    )


def test_two_plain_kinds_of_people_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    rows = np.clip(np.round(rng.normal(2 + 2 * labels[:, None], 1, (400, 5))), 1, 5)
    rows[rng.random(rows.shape) < 0.5] = NAN
    found = naive_bayes_accuracy(rows[:200], labels[:200], rows[200:], labels[200:])
    assert found > 0.85
    shuffled = naive_bayes_accuracy(
        rows[:200], rng.permutation(labels[:200]), rows[200:], labels[200:]
    )
    assert 0.35 < shuffled < 0.65


def test_nobody_to_predict() -> None:
    empty = np.empty((0, 1))
    assert np.isnan(accuracy(np.array(["a"]), empty, np.array([])))
    rows, labels = np.array([[1.0], [2.0]]), np.array(["a", "b"])
    assert np.isnan(naive_bayes_accuracy(rows, labels, empty, np.array([])))


@pytest.mark.parametrize(
    ("train", "labels", "test", "step", "message"),
    [
        (np.ones((2, 3)), ["a", "b"], np.ones((2, 2)), 1, "same items"),
        (np.ones(2), ["a", "b"], np.ones((2, 2)), 1, "same items"),
        (np.ones((2, 2)), ["a"], np.ones((2, 2)), 1, r"labels of shape \(1,\) for 2 records"),
        (np.ones((0, 2)), [], np.ones((2, 2)), 1, "no record to train on"),
        (np.ones((2, 2)), ["a", "b"], np.ones((2, 2)), -1, "step -1"),
    ],
)
def test_what_does_not_fit_is_refused(
    train: Any, labels: list[str], test: Any, step: float, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        class_scores(train, np.array(labels), test, step=step)


def test_without_scikit_learn_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.naive_bayes", None)
    rows, labels = np.array([[1.0], [2.0]]), np.array(["a", "b"])
    with pytest.raises(ConfigError, match=r"pip install 'starshade\[compare\]'"):
        naive_bayes_accuracy(rows, labels, rows, labels)
