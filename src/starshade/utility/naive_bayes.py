"""What ratings tell of a person: Gaussian Naive Bayes, nulls ignored (SR §7.3).

Works on arrays, so that whoever has ratings and labels, original or anonymized, can ask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError

Floats = NDArray[np.float64]

_TIE = 1e-9  # scores closer than this, relatively, are equal
_LEAST = 1e-9  # of an item's variance, added at the least: scikit-learn's own default


def naive_bayes_accuracy(
    train: Floats,
    train_labels: NDArray[Any],
    test: Floats,
    test_labels: NDArray[Any],
    *,
    step: float = 1.0,
) -> float:
    """Learn a class from ratings, predict it for others, and return the share that is right.

    Parameters
    ----------
    train, test : ndarray of float64, shape (n, n_items) and (m, n_items)
        Ratings, NaN for null.
    train_labels, test_labels : ndarray, shape (n,) and (m,)
        The class of each record: text or numbers.
    step : float
        See `class_scores`.

    Returns
    -------
    float
        In [0, 1]; NaN where nobody is to be predicted. Where t classes tie at the top and the
        right one is among them, the record counts 1/t.

    Raises
    ------
    ConfigError
        scikit-learn (``starshade[compare]``) is absent, or the arrays do not fit together.

    Examples
    --------
    >>> rows = np.array([[1.0, np.nan], [2.0, 5.0], [5.0, 1.0], [4.0, np.nan]])
    >>> labels = np.array(["a", "a", "b", "b"])
    >>> naive_bayes_accuracy(rows, labels, rows, labels)
    1.0
    """
    classes, scores = class_scores(train, train_labels, test, step=step)
    return accuracy(classes, scores, np.asarray(test_labels))


def class_scores(
    train: Floats, labels: NDArray[Any], test: Floats, *, step: float = 1.0
) -> tuple[NDArray[Any], Floats]:
    """Return how much each record's ratings speak for each class.

    The score of class c is ln P(c) + Σ ln p(x_i | c) over the items that the record rated: the
    densities are normal, with the mean and variance of the class's own ratings of the item.

    `train`, `test` (float64 (n, n_items) and (m, n_items)): ratings, NaN for null. n at least 1.
    `labels` (n,). `step`: the distance of neighbouring ratings, 0 or more. A rating was rounded by
    up to half a step, so step²/12 is added to every variance; without it, a class that gave an item
    the same rating twice would rule out all others for good. Returns `classes` (n_classes,): those
    in `labels`, ascending. A class that is not among them is never predicted. `scores` (float64 (m,
    n_classes)).

    A class with fewer than two ratings of an item has no spread that could be estimated: it
    counts there as everybody together. An item that nobody rated in training, or that all who
    did rated alike, tells no class from another and is left out. On each item, `GaussianNB`
    would begin with the shares of the classes *among those who rated it*; these are taken out
    again, and ln P(c), the share among all of `train`, is added once.
    """
    require_scikit_learn()
    train, test = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    labels = np.asarray(labels)
    _check(train, labels, test, step)
    classes, of_row, counts = np.unique(labels, return_inverse=True, return_counts=True)
    scores = np.tile(np.log(counts / len(train)), (len(test), 1))
    for item in range(train.shape[1]):
        rated, scored = ~np.isnan(train[:, item]), ~np.isnan(test[:, item])
        values = train[rated, item]
        if scored.any() and len(values) and values.min() < values.max():
            scores[scored] += _densities(
                values, of_row[rated], test[scored, item], len(classes), step
            )
    return classes, scores


def accuracy(classes: NDArray[Any], scores: Floats, labels: NDArray[Any]) -> float:
    """Return the share of records whose class has the highest score; see `naive_bayes_accuracy`.

    `classes` (n_classes,). `scores` (float64 (m, n_classes)). `labels` (m,).

    >>> accuracy(np.array(["a", "b"]), np.array([[1.0, 2.0], [3.0, 3.0]]), np.array(["b", "b"]))
    0.75
    """
    if not len(labels):
        return float("nan")
    best = scores.max(axis=1, keepdims=True)
    top = scores >= best - _TIE * np.maximum(np.abs(best), 1)
    right = top & (classes[None, :] == labels[:, None])
    return float((right.any(axis=1) / top.sum(axis=1)).mean())


def balanced_and_auc(
    classes: NDArray[Any], scores: Floats, labels: NDArray[Any]
) -> tuple[float, float]:
    """Return the mean over classes of the share that is right, and of the area under the ROC curve.

    Of those classes that some record is of; the area is that of a class against all others, by how
    probable the class is of a record, and has no say where all records are of one class (0.5).

    >>> scores = np.log([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]])
    >>> balanced_and_auc(np.array(["a", "b"]), scores, np.array(["a", "b", "a"]))
    (0.5, 1.0)
    """
    from scipy.stats import rankdata

    present = np.unique(labels)
    if not len(present):
        return float("nan"), float("nan")
    balanced = [
        accuracy(classes, scores[labels == one], labels[labels == one]) for one in present.tolist()
    ]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    areas = []
    for one in present if len(present) > 1 else ():
        own, n = labels == one, len(labels)
        m = int(own.sum())
        column = shares[:, classes == one]
        # a class that nobody in training was of is as probable of all
        ranks = rankdata(np.round(column[:, 0], 12)) if column.shape[1] else np.full(n, (n + 1) / 2)
        areas.append((ranks[own].sum() - m * (m + 1) / 2) / (m * (n - m)))
    return float(np.mean(balanced)), float(np.mean(areas)) if areas else 0.5


def require_scikit_learn() -> None:
    """Refuse to go on without scikit-learn."""
    try:
        import sklearn.naive_bayes  # noqa: F401 (only whether it is there)
    except ImportError as error:
        raise ConfigError(
            "naive Bayes needs an optional package that is not installed (scikit-learn)",
            advice="pip install 'starshade[compare]'",
        ) from error


def _check(train: Floats, labels: NDArray[Any], test: Floats, step: float) -> None:
    if train.ndim != 2 or test.ndim != 2 or train.shape[1] != test.shape[1]:
        raise ConfigError(
            f"ratings of shape {train.shape} and {test.shape}: both must be records x items, "
            "on the same items"
        )
    if labels.shape != (len(train),):
        raise ConfigError(f"labels of shape {labels.shape} for {len(train)} records")
    if not len(train):
        raise ConfigError("naive Bayes: no record to train on")
    if not step >= 0:
        raise ConfigError(f"step {step:g}: must be 0 or more")


def _densities(
    values: Floats, classes: NDArray[np.int64], points: Floats, n_classes: int, step: float
) -> Floats:
    """Return ln p(x | class) on one item, shape (len(asked), n_classes); not all `values` equal."""
    from sklearn import config_context
    from sklearn.naive_bayes import GaussianNB

    # everybody together is one class more, for those that have no spread of their own
    both = np.concatenate([values, values])
    marks = np.concatenate([classes, np.full(len(classes), n_classes)])
    smoothing = max(step**2 / 12 / float(both.var()), _LEAST)
    model = GaussianNB(var_smoothing=smoothing)
    with config_context(assume_finite=True, skip_parameter_validation=True):
        joint = model.fit(both[:, None], marks).predict_joint_log_proba(points[:, None])
    densities = joint - np.log(model.class_prior_)
    out = np.repeat(densities[:, -1:], n_classes, axis=1)
    own = np.flatnonzero(np.bincount(classes, minlength=n_classes) >= 2)
    out[:, own] = densities[:, np.searchsorted(model.classes_, own)]
    return np.asarray(out)
