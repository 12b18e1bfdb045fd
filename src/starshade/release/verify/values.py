"""The verifier's own count of l-diversity and t-closeness, from the written values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.claims import Judged
from starshade.release.verify.rows import Failed, Written

__all__ = ["judge_values"]

_SLACK = 1e-9
_BLOCK = 2**22  # numbers laid out together

Floats = NDArray[np.float64]


def judge_values(claim: dict[str, Any], written: Written, sensitive: list[str]) -> Judged:
    """Count a claim of l-diversity or t-closeness.

    `smallest_l` is the least number of different values in a class, null being one; `largest_t`
    the greatest distance of a class from the whole table.
    """
    name = claim["parameters"]["attribute"]
    if name not in sensitive:
        raise Failed("claim", f"{claim['model']}: an attribute that is not released as sensitive")
    if not len(written.group_of_record):
        return Judged({}, False)
    values, numeric = _numbered(written, name)
    group = written.group_of_record
    if claim["model"] == "l-diversity":
        pairs = np.unique(np.stack([group, values]), axis=1)
        least = int(np.bincount(pairs[0]).min())
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
