"""Tables 1 to 3 of Riyana & Natwichai 2018, typed in from the paper."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from starshade.ratings.scale import Scale
from tests.strategies import table

_ = None  # null

#: Warcross, Joy Ride, Egomaniac, Pachinko, Geekerella
TABLE_1 = [
    (4, _, 4, 1, 3),
    (5, _, 4, _, 3),
    (4, _, 3, _, 4),
    (_, 5, 5, 1, 2),
    (_, 5, 5, 1, 2),
    (_, 5, 4, 2, 1),
    (1, 5, 4, _, 2),
    (2, 4, 3, _, _),
    (2, 4, 3, _, _),
    (2, 4, 3, _, _),
]

#: the classes of Tables 2 and 3: tuples 1-3, 4-7, 8-10
CLASSES = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])

_02, _35 = {_, 1, 2}, {3, 4, 5}

#: one row per class; [0,2] and [3,5] as the sets of their values, 0 being null
TABLE_2 = [
    (_35, {_}, _35, _02, _35),
    (_02, {5}, _35, _02, _02),
    ({2}, {4}, {3}, {_}, {_}),
]

TABLE_3 = [
    ({4, 5}, {_}, {3, 4}, {_, 1}, {3, 4}),
    ({_, 1}, {5}, {4, 5}, {_, 1, 2}, {1, 2}),
    ({2}, {4}, {3}, {_}, {_}),
]


def ratings():
    """Table 1's artifact columns, scale 1-5."""
    rows = [{i: v for i, v in enumerate(row) if v is not None} for row in TABLE_1]
    return table(rows, Scale(1, 5, 1))


def matrix() -> np.ndarray:
    """Table 1 with null = 0."""
    return np.array([[v or 0 for v in row] for row in TABLE_1], dtype=np.uint8)


ATTRIBUTES = ("Salary", "Age", "Marital status", "City", "Education")

#: Table 1's personal attributes
PEOPLE = [
    (42000, 25, "Married", "New York", "Bachelor"),
    (45000, 23, "Married", "Los Angeles", "Bachelor"),
    (50000, 27, "Single", "New York", "Master"),
    (35000, 31, "Married", "San Antonio", "Bachelor"),
    (40000, 35, "Single", "New York", "Doctoral"),
    (50000, 25, "Single", "Los Angeles", "Master"),
    (45000, 32, "Married", "Los Angeles", "Bachelor"),
    (47000, 29, "Married", "Los Angeles", "Doctoral"),
    (49000, 24, "Single", "Columbus", "Master"),
    (51000, 29, "Married", "Columbus", "Doctoral"),
]


def people() -> pa.Table:
    """Table 1's personal attributes, numbers as float64."""
    columns = [
        pa.array(values, pa.string() if isinstance(values[0], str) else pa.float64())
        for values in zip(*PEOPLE, strict=True)
    ]
    return pa.table(columns, names=ATTRIBUTES)
