"""The numbers of PA's tables: Netflix, 480,189 users, 17,770 movies."""

from __future__ import annotations

from types import MappingProxyType

__all__ = [
    "BIN_SIZES",
    "GROUPS",
    "HISTOGRAM",
    "KS",
    "NULLS_IN_SIMPLE",
    "ORIGINAL_RMSE",
    "SIMILAR_USER",
    "TARGET",
]

KS = (5, 50)
ORIGINAL_RMSE = 0.951849  # Table 1; of the recommender on the data before anonymization

#: Table 1: (profile, k) → target deviation
TARGET = MappingProxyType(
    {
        ("padded", 5): 0.95970,
        ("padded", 50): 0.95871,
        ("simple", 5): 2.36947,
        ("simple", 50): 2.3771,
    }
)
#: Table 3: (profile, k) → similar-user deviation
SIMILAR_USER = MappingProxyType({("padded", 50): 1.00563, ("simple", 50): 1.17525})
#: Table 2: rating (0: null) → % of all cells before and after padding
HISTOGRAM = MappingProxyType(
    {
        0: (98.84, 0.0),
        1: (0.053, 0.79),
        2: (0.117, 14.12),
        3: (0.334, 46.71),
        4: (0.390, 33.49),
        5: (0.267, 4.89),
    }
)
GROUPS = MappingProxyType({50: 9_294})  # §7.2
NULLS_IN_SIMPLE = MappingProxyType({50: 0.80})  # §7.2; share of the cells
#: Fig 3, by the text of §4.2: the least and the greatest size of a cluster, about
BIN_SIZES = MappingProxyType({"virtual": (200, 900), "real": (50, 2000)})
