"""Small made-up releases of every layout, with their key files, for campaigns to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.manifest import Claim
from starshade.release.table import Release
from tests.strategies import table
from tests.unit.release import test_profile_files, test_quasi
from tests.unit.release.changes import k_eps, released
from tests.unit.release.samples import covering

STARS = Scale(1, 5, 1)
ROWS = [{0: 1, 1: 2, 2: 4}, {0: 1, 1: 5}, {0: 4}, {0: 5, 1: 3}, {1: 3, 2: 2}]
REAL = [{0: -3.5, 1: 2.0}, {0: 4.25}, {0: 1.0, 1: 1.0}, {1: 2.5}]
PAIRS = [{0: 1, 1: 2, 2: 4}, {0: 2, 1: 2, 2: 5}, {0: 4, 2: 5}, {0: 4, 2: 4}]


@dataclass(frozen=True)
class Sample:
    """A saved release, its key file, and the ratings that it was made of."""

    name: str
    folder: Path
    key: Path
    original: Ratings


def _by(method: str, attributes: str = "none", **config: Any) -> dict[str, Any]:
    """Return what a release says of its method, and what its key file says."""
    config = {"k": 2, "items": "all"} | config
    more = {"item_keys": [], "rare_items": "keep", "attributes": attributes}
    return {
        "method": method,
        "config": config,
        "private_config": {"method": method} | config | more,
    }


def _sets() -> Release:
    original = replace(table(ROWS, STARS), item_names=("=One", "Two", "Three"))
    made = covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)
    return made.release(**_by("k-likeness", hierarchy="ndgh"))


def _real(ranges: bool) -> Release:
    return covering(table(REAL, Scale(-10, 10)), np.array([0, 0, 1, 1]), ranges=ranges).release()


def _exact() -> Release:
    people = pa.table({"age": [40.0, 30.0, 20.0, 20.0, None], "job": ["c", "a", "-b", "a", "b"]})
    original = replace(table(ROWS, STARS), attributes=people)
    made = covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)
    by = _by("k-likeness", "exact", hierarchy="ndgh")
    return made.release(**by, attributes="exact")


def _records() -> Release:
    claims = (k_eps(2, 1.0), k_eps(2, 1.0, l=0.4, sensitive=["3"]))
    return released(table(PAIRS, STARS), claims=claims, **_by("interval", eps=1.0, nulls="strict"))


def _real_records() -> Release:
    rows = [{0: 0.5, 1: 2.0}, {0: 0.75, 1: 2.0}, {0: 4.0, 1: 9.5}, {0: 4.25, 1: 9.5}]
    by = _by("interval", eps=0.5, nulls="strict")
    return released(table(rows, Scale(0, 10)), claims=(k_eps(2, 0.5),), **by)


def _profiles(kind: str) -> Release:
    made = test_profile_files.small(kind)
    claim = Claim(model="review-graph", parameters={"k": 2})
    return made.release(claims=(claim,), config={"k": 2, "min_raters": 1})


MAKERS: dict[str, Callable[[], Release]] = {
    "sets": _sets,
    "value lists": lambda: _real(False),
    "ranges": lambda: _real(True),
    "generalized attributes": test_quasi.made,
    "exact attributes": _exact,
    "records": _records,
    "real records": _real_records,
    "simple profiles": lambda: _profiles("simple"),
    "padded profiles": lambda: _profiles("padded"),
}


def make(place: Path) -> list[Sample]:
    """Save every sample below a folder."""
    made = []
    for n, (name, maker) in enumerate(MAKERS.items()):
        release = maker()
        assert release.private is not None
        assert release.private.original is not None
        folder, key = place / f"release-{n}", place / f"key-{n}.json"
        release.save(folder, private=key)
        made.append(Sample(name, folder, key, release.private.original))
    return made
