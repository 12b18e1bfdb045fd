"""The verifier's own check of each claim, and of its form."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.profiles import Shown
from starshade.release.verify.proximity import (
    Columns,
    ball_totals,
    certified,
    columns_of,
    points_of,
)
from starshade.release.verify.records import RatingRows
from starshade.release.verify.rows import Failed, Written

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings


_SLACK = 1e-9
#: The models that can be claimed are a closed list, not the registry's: what is claimed is
#: counted here by code of its own, so that no model vouches for itself; another needs its own too
_PARAMETERS = {
    "k-eps": {"k", "eps", "nulls"},
    "k-eps-l": {"k", "eps", "l", "nulls", "sensitive"},
}
_PARAMETER_OF_VALUES = {"l-diversity": "l", "t-closeness": "t"}
_PARAMETERS_OF_PROFILES = {"review-graph": {"k"}, "diversity": {"b", "l"}}

PROXIMITY_MODELS = frozenset(_PARAMETERS)
VALUE_MODELS = frozenset(_PARAMETER_OF_VALUES)


@dataclass(frozen=True)
class Judged:
    """The figures counted for a claim, and whether it holds."""

    verified: dict[str, float | int]
    holds: bool

    def agrees(self, stated: dict[str, Any]) -> bool:
        """Return whether a claim states exactly these figures.

        How far sets were counted depends on whether the original is available; it is ignored.
        """
        own, others = dict(self.verified), dict(stated)
        for each in (own, others):
            each.pop("sizes_counted", None)
        return own == others and not any(type(value) is bool for value in others.values())


def name_of(claim: dict[str, Any]) -> str:
    """Return a key that equal claims share."""
    return json.dumps([claim["model"], claim["parameters"]], sort_keys=True)


def check_claim(claim: Any) -> None:
    """Check the form of a claim, before anything is counted."""
    if not isinstance(claim, dict) or set(claim) != {"model", "parameters", "verified"}:
        raise Failed("release.json", "a claim has missing or unknown keys")
    parameters = claim["parameters"]
    if not isinstance(parameters, dict) or type(parameters.get("k", 1)) is not int:
        raise Failed("release.json", "a claim has a k that is not a whole number")
    if any(isinstance(v, (int, float)) and not abs(v) < 2**63 for v in parameters.values()):
        raise Failed("release.json", "a claim has a number out of range")
    model = claim["model"] if isinstance(claim["model"], str) else ""
    if model in _PARAMETERS:
        _check_near(model, parameters)
    if model in _PARAMETER_OF_VALUES:
        _check_of_values(model, parameters)
    if model in _PARAMETERS_OF_PROFILES and (
        set(parameters) != _PARAMETERS_OF_PROFILES[model]
        or any(type(v) is not int or v < 1 for v in parameters.values())
    ):
        raise Failed("release.json", f"a claim of {model} has other parameters than the model")


def _check_of_values(model: str, parameters: dict[str, Any]) -> None:
    name = _PARAMETER_OF_VALUES[model]
    stated = set(parameters) - ({"missing"} if model == "l-diversity" else set())
    if stated != {name, "attribute"} or type(parameters["attribute"]) is not str:
        raise Failed("release.json", f"a claim of {model} has missing or unknown parameters")
    number = parameters[name]
    if type(number) not in (int, float) or not number >= (1 if name == "l" else 0):
        raise Failed("release.json", f"a claim of {model}: {name} is out of range")
    if parameters.get("missing", "as-value") != "as-value":
        raise Failed("release.json", f"a claim of {model} has an unknown rule for missing values")


def _check_near(model: str, parameters: dict[str, Any]) -> None:
    lacking = _PARAMETERS[model] - set(parameters)
    if lacking or set(parameters) - _PARAMETERS[model] - {"sensitive"}:
        raise Failed("release.json", f"a claim of {model} has missing or unknown parameters")
    for name in ("eps", "l"):
        number = parameters.get(name, 0)
        if type(number) not in (int, float) or not math.isfinite(number) or number < 0:
            raise Failed("release.json", f"a claim of {model}: {name} is not a distance")
    if parameters["nulls"] not in ("strict", "ignore", "zero"):
        raise Failed("release.json", f"a claim of {model} has an unknown null rule")
    keys = parameters.get("sensitive", [])
    if not isinstance(keys, list) or any(type(key) is not str for key in keys):
        raise Failed("release.json", f"a claim of {model} has sensitive items that are not a list")
    if len(set(keys)) < len(keys):
        raise Failed("release.json", f"a claim of {model} names a sensitive item twice")


def judge_proximity(
    claim: dict[str, Any],
    rows: RatingRows,
    written: Written,
    groups: NDArray[np.integer] | None = None,
) -> Judged:
    """Count the balls of a claim of (k, ε) or (k, ε, l).

    Sizes are counted up to k where only k is claimed: ``smallest_class_at_least``. Where every
    ball is needed whole, `smallest_class` and `smallest_sd` are exact (the latter is absent
    where no record rates a sensitive item). `groups` of records, if given, are hints to where
    enough of a ball is to be found.
    """
    parameters = claim["parameters"]
    sensitive = [written.position.get(key, -1) for key in parameters.get("sensitive", [])]
    if -1 in sensitive:
        raise Failed("claim", f"{claim['model']}: a sensitive item is not among the items")
    open_items = [i for i in range(len(written.items)) if i not in sensitive]
    if not open_items:
        raise Failed("claim", f"{claim['model']}: every item is sensitive")
    scale = (written.minimum, written.maximum, written.step)
    n, k = len(written.group_of_record), parameters["k"]
    if not n:
        return Judged({}, False)
    table = columns_of(
        [rows.column(i) for i in open_items], scale, parameters["eps"], parameters["nulls"]
    )
    if claim["model"] == "k-eps":
        least = _least(table, n, k, groups)
        return Judged({"smallest_class_at_least": min(least, k)}, least >= k)
    points = points_of(table, n)
    ratings = [_ratings(rows.column(i), written) for i in sensitive]
    totals = ball_totals(points, _moments(points.of_record, ratings))
    least, sd = int(totals[:, 0].min()), _smallest_sd(totals, written)
    counted: dict[str, float | int] = {"smallest_class": least}
    if sd is not None:
        counted["smallest_sd"] = round(sd, 9)
    return Judged(counted, least >= k and (sd is None or sd >= parameters["l"] - _SLACK))


def _least(table: Columns, n: int, k: int, groups: NDArray[np.integer] | None) -> int:
    """Return the least size of a ball; where it is k or more, a number from k on."""
    sure = np.zeros(n, dtype=np.bool_)
    if groups is not None and groups.shape == (n,):
        sure = certified(table, groups, k)
    if sure.all():
        return k
    points = points_of(table, n)
    settled = np.zeros(len(points), dtype=np.bool_)
    settled[points.of_record[sure]] = True  # equal records have one ball
    weight = np.bincount(points.of_record).astype(np.float64)[:, None]
    return int(ball_totals(points, weight, float(k), settled)[:, 0].min())


def _ratings(column: NDArray[np.float64], written: Written) -> NDArray[np.float64]:
    """Return numbers whose sums are exact: levels from 1, or differences from the middle."""
    if written.step is not None:
        return column
    return column - (written.minimum + written.maximum) / 2


def _moments(
    of_record: NDArray[np.int64], ratings: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return each point's weight and, for each sensitive item, raters, sum and squares."""
    columns: list[NDArray[Any]] = [np.bincount(of_record)]
    for rating in ratings:
        rated = ~np.isnan(rating)
        value = np.where(rated, rating, 0.0)
        columns += [np.bincount(of_record, weights=part) for part in (rated, value, value**2)]
    return np.stack(columns, axis=1).astype(np.float64)


def _smallest_sd(totals: NDArray[np.float64], written: Written) -> float | None:
    """Return the least spread over balls and items: a null deviates by the mean of the others."""
    least = np.inf
    size = totals[:, 0]
    width = 1.0 if written.step is None else written.step
    middle = (written.minimum + written.maximum) / 2
    origin = middle if written.step is None else written.minimum - width
    for first in range(1, totals.shape[1], 3):
        raters, total, squares = totals[:, first : first + 3].T
        some = raters > 0
        mean = total[some] / raters[some]
        around = np.maximum(squares[some] - total[some] * mean, 0.0) * width**2
        if written.step is None:  # ratings a millionth of the width apart count as equal
            least_seen = raters[some] * (1e-6 * (written.maximum - written.minimum)) ** 2
            around[around <= least_seen] = 0.0
        absent = (size[some] - raters[some]) * (origin + width * mean) ** 2
        spread = np.sqrt((around + absent) / size[some])
        least = min(least, float(spread.min(initial=np.inf)))
    return None if least == np.inf else least


_BLOCK = 2**22  # numbers laid out together

Floats = NDArray[np.float64]


def judge_values(claim: dict[str, Any], written: Written, sensitive: list[str]) -> Judged:
    """Count a claim of l-diversity or t-closeness.

    `smallest_l` is the least number of different values in a class, null being one only where the
    claim says so; `largest_t` the greatest distance of a class from the whole table.
    """
    name = claim["parameters"]["attribute"]
    if name not in sensitive:
        raise Failed("claim", f"{claim['model']}: the attribute is not released as sensitive")
    if not len(written.group_of_record):
        return Judged({}, False)
    values, numeric = _numbered(written, name)
    group = written.group_of_record
    if claim["model"] == "l-diversity":
        pairs = np.unique(np.stack([group, values]), axis=1)
        null = written.attributes.column(name).is_null(nan_is_null=True).to_numpy().any()
        if null and "missing" not in claim["parameters"]:
            pairs = pairs[:, pairs[1] > 0]
        least = int(np.bincount(pairs[0], minlength=int(group.max()) + 1).min())
        return Judged({"smallest_l": least}, least >= claim["parameters"]["l"])
    most = _farthest(group, values, numeric)
    holds = most <= claim["parameters"]["t"] + _SLACK
    return Judged({"largest_t": round(most, 9)}, holds)


def _numbered(written: Written, name: str) -> tuple[NDArray[np.int64], bool]:
    """Give each value its place among all, null first; tell whether they are numbers."""
    column = written.attributes.column(name)
    values = [None if v is None or v != v else v for v in column.to_pylist()]
    places = sorted(set(values), key=lambda v: (v is not None, v if v is not None else 0))
    place = {value: i for i, value in enumerate(places)}
    return np.array([place[v] for v in values], dtype=np.int64), str(column.type) == "double"


def _farthest(group: NDArray[np.int64], values: NDArray[np.int64], numeric: bool) -> float:
    """Return the greatest earth mover's distance of a class from the table.

    Numbers: values next to each other lie 1/(v-1) apart. Texts: any two lie 1 apart.
    """
    v = int(values.max()) + 1
    if v == 1:
        return 0.0
    whole = np.bincount(values, minlength=v) / len(values)
    n_classes, most, step = int(group[-1]) + 1, 0.0, max(1, _BLOCK // v)
    for first in range(0, n_classes, step):
        last = min(first + step, n_classes)
        rows = slice(*np.searchsorted(group, [first, last]).tolist())
        cell = (group[rows] - first) * v + values[rows]
        counts = np.bincount(cell, minlength=(last - first) * v).reshape(-1, v)
        excess = counts / counts.sum(axis=1, keepdims=True) - whole
        if numeric:
            away = np.abs(np.cumsum(excess, axis=1)).sum(axis=1) / (v - 1)
        else:
            away = np.abs(excess).sum(axis=1) / 2
        most = max(most, float(away.max()))
    return most


_MOST_WORDS = 2 * 10**9  # bytes of bit rows that are compared for pairs
_MOST_SETS = 2 * 10**6  # of three items and more


def judge_diversity(claim: dict[str, Any], shown: Shown, original: Ratings | None) -> Judged:
    """Count the fewest classes that show a set of 1…b items that one person rated.

    From the files alone the single items are counted, of those that some class shows; with the
    original, which tells what was rated, all sets. Where the classes show nearly everything, the
    single items prove it for every set: b items are missing together in at most the sum of the
    classes that each is missing in. Where sets of some sizes could not be counted,
    ``sizes_counted`` says so.
    """
    b, l = claim["parameters"]["b"], claim["parameters"]["l"]  # noqa: E741 - as the paper
    times = shown.times[shown.times > 0]
    if original is not None:
        times = shown.times[np.bincount(original.columns, minlength=original.n_items) > 0]
    fewest = int(times.min(initial=l))
    sizes = 1
    if shown.classes - b * (shown.classes - fewest) >= l:
        sizes = b
    elif original is not None and shown.bits is not None:
        if b >= 2 and original.n_items**2 * shown.bits.shape[1] // 2 <= _MOST_WORDS:
            fewest, sizes = min(fewest, _fewest_of_pairs(shown.bits, original)), 2
        for size in range(3, b + 1):
            rated_sets = sum(comb(n, size) for n in np.diff(original.indptr).tolist())
            if sizes < size - 1 or rated_sets > _MOST_SETS:
                break
            fewest, sizes = min(fewest, _fewest_of_sets(shown.bits, original, size)), size
    counted: dict[str, float | int] = {"fewest_classes": min(fewest, l)}
    if sizes < b:
        counted["sizes_counted"] = sizes
    return Judged(counted, fewest >= l)


def _fewest_of_pairs(bits: NDArray[np.uint8], original: Ratings) -> int:
    users = np.repeat(np.arange(original.n_users), np.diff(original.indptr))
    by_item = np.argsort(original.columns, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(original.columns, minlength=len(bits)))])
    fewest: int = 8 * bits.shape[1]
    for item in range(len(bits)):
        raters = users[by_item[ends[item] : ends[item + 1]]]
        together = np.zeros(len(bits), dtype=np.bool_)
        for user in raters.tolist():
            together[original.columns[original.indptr[user] : original.indptr[user + 1]]] = True
        together[: item + 1] = False
        if together.any():
            both = np.bitwise_count(bits[together] & bits[item]).sum(axis=1, dtype=np.int64)
            fewest = min(fewest, int(both.min()))
    return fewest


def _fewest_of_sets(bits: NDArray[np.uint8], original: Ratings, size: int) -> int:
    fewest: int = 8 * bits.shape[1]
    seen = set[tuple[int, ...]]()
    for user in range(original.n_users):
        rated = original.columns[original.indptr[user] : original.indptr[user + 1]].tolist()
        for chosen in combinations(sorted(rated), size):
            if chosen not in seen:
                seen.add(chosen)
                all_ = np.bitwise_and.reduce(bits[list(chosen)], axis=0)
                fewest = min(fewest, int(np.bitwise_count(all_).sum()))
    return fewest
