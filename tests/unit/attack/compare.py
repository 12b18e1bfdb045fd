"""When do two attacks agree? The fine print, and it is tested itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from starshade.attack.scoreboard_rh.scoreboard_rh import Outcomes
from tests.naive import scoreboard_rh as naive

ANSWERS = ("matched", "success", "false_match", "disclosed", "expected_top1")
FIGURES = ("entropy_bits", "entropy_bits_profile", "eccentricity", "profile_eccentricity")


def differences(fast: Outcomes, t: int, slow: naive.Found, phi: float) -> list[str]:
    """Name what differs for target t.

    Answers must be equal, except where an eccentricity is φ but for rounding: there the two
    may part. Bits and eccentricities may differ by 1e-6 of themselves.
    """
    out = []
    on_edge = any(
        math.isclose(e, phi, rel_tol=1e-9) for e in (slow.eccentricity, slow.profile_eccentricity)
    )
    for name in ANSWERS:
        if name != "expected_top1" and on_edge:
            continue
        mine: Any = getattr(fast, name)[t]
        if not np.isclose(float(mine), float(getattr(slow, name)), rtol=1e-12, atol=0):
            out.append(name)
    return out + [
        name
        for name in FIGURES
        if not np.isclose(getattr(fast, name)[t], getattr(slow, name), rtol=1e-6, atol=1e-6)
    ]
