"""From scores to figures: the matching criterion, target by target (NS §4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.scoreboard_rh.tradeoff import SLACK
from starshade.attack.view import View
from starshade.kernels.attack.summary import mass_unit, sigmas

__all__ = ["Outcomes", "eccentricity_of", "outcomes_of", "stands_out"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What came of each target; every array has shape (targets,).

    `users`: rows of the original. `eccentricity`, `profile_eccentricity`: (max - max2)/σ over
    records, and over distinct profiles; 0 where the top is tied and where all scores are equal.
    `tied`: records that share the highest score. `expected_top1`: above 0 where the target's record
    (or a compatible one) is among those that score highest. `matched_absent`: whether a record
    stands out when the target's is not there. `eccentricity_absent`: as `eccentricity`, when the
    target's record is not there.
    """

    users: NDArray[np.int64]
    eccentricity: NDArray[np.float64]
    profile_eccentricity: NDArray[np.float64]
    tied: NDArray[np.int64]
    matched: NDArray[np.bool_]
    success: NDArray[np.bool_]
    false_match: NDArray[np.bool_]
    disclosed: NDArray[np.bool_]
    expected_top1: NDArray[np.float64]
    entropy_bits: NDArray[np.float64]
    entropy_bits_profile: NDArray[np.float64]
    matched_absent: NDArray[np.bool_] | None = None
    eccentricity_absent: NDArray[np.float64] | None = None


def outcomes_of(
    view: View,
    users: NDArray[np.int64],
    summaries: NDArray[Any],
    masses: NDArray[Any],
    phi: float,
    absent: NDArray[Any] | None,
) -> Outcomes:
    """Judge every target's scores.

    `summaries`, `masses` (targets,). `absent`: the summaries without the target's record.
    """
    top = summaries["top"]
    theirs = summaries["own" if view.credit == "linked" else "best"]
    right = (theirs >= 0) & (theirs == top)
    eccentricity = eccentricity_of(summaries)
    of_profiles = eccentricity_of(summaries, profiles=True)
    matched = stands_out(summaries, phi)
    agreeing = (summaries["best"] >= 0) & (summaries["best"] == top)
    bits, bits_profile = _entropies(summaries, masses, view.cells.n_records)
    return Outcomes(
        users=users,
        eccentricity=eccentricity,
        profile_eccentricity=of_profiles,
        tied=summaries["top_records"],
        matched=matched,
        success=matched & right,
        false_match=matched & ~right,
        disclosed=stands_out(summaries, phi, profiles=True) & agreeing,
        expected_top1=np.where(right, 1 / np.maximum(summaries["top_records"], 1), 0.0),
        entropy_bits=bits,
        entropy_bits_profile=bits_profile,
        matched_absent=None if absent is None else stands_out(absent, phi),
        eccentricity_absent=None if absent is None else eccentricity_of(absent),
    )


def stands_out(summaries: NDArray[Any], phi: float, *, profiles: bool = False) -> NDArray[np.bool_]:
    """Tell where one record (or profile) alone has the highest score, by φ standard deviations.

    A tie, equal scores throughout and a single record never match, whatever φ.
    """
    alone = summaries["top_profiles" if profiles else "top_records"] == 1
    spread = summaries["runner_up"] >= 0
    enough = eccentricity_of(summaries, profiles=profiles) >= phi * (1 - SLACK)
    return np.asarray(alone & spread & enough)


def eccentricity_of(summaries: NDArray[Any], *, profiles: bool = False) -> NDArray[np.float64]:
    """Return (max - max2)/σ over records, or over distinct profiles; 0 where the top is tied."""
    alone = summaries["top_profiles" if profiles else "top_records"] == 1
    gap = np.where(alone, summaries["top"] - summaries["runner_up"], 0)
    sigma = sigmas(summaries, profiles=profiles)
    return np.where(sigma > 0, gap / np.where(sigma > 0, sigma, 1.0), 0.0)


def _entropies(
    summaries: NDArray[Any], masses: NDArray[Any], records: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bits to the best agreeing record, and to all agreeing ones together.

    The masses are sums of e^((Score - reference)/σ), the references being the top and the best
    agreeing score.
    """
    sigma = sigmas(summaries)
    present = summaries["best"] >= 0
    gap = np.where(present & (sigma > 0), summaries["top"] - summaries["best"], 0)
    below_top = gap / np.where(sigma > 0, sigma, 1.0) * math.log2(math.e)
    unit = mass_unit(records)
    bits = np.log2(np.where(present, masses["total"] / unit, 1.0)) + below_top
    profile = bits - np.log2(np.where(present, masses["agreeing"] / unit, 1.0))
    prior = math.log2(records)
    return np.where(present, bits, prior), np.where(present, profile, prior)
