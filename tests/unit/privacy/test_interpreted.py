"""Kernels that run as plain Python say nothing about numbers that wrap around on purpose."""

from __future__ import annotations

import os
import subprocess
import sys

_CODE = """
import numpy as np
from starshade.anonymize.order import seeded_order
from starshade.privacy.k_eps import KEpsAnonymity
from starshade.privacy.k_eps import KEpsLAnonymity
from starshade.ratings.table import Ratings

rng = np.random.default_rng(0)
ratings = Ratings.from_arrays(
    np.repeat(np.arange(60), 3), np.tile(np.arange(3), 60), rng.integers(1, 6, 180), scale="1:5:1"
)
for nulls in ("strict", "ignore", "zero"):
    for search in ("tree", "slicing", "pairwise"):
        KEpsAnonymity(2, 1, nulls=nulls, search=search, full=True).check(ratings)
        KEpsLAnonymity(2, 1, 1, ["2"], nulls=nulls, search=search, full=True).check(ratings)
seeded_order(ratings.n_users, 1, "test")
"""


def test_nothing_is_warned_of() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _CODE],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
