"""Attacks under a way: the reading or the data of which one property was changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.tradeoff import SLACK, TradeOff, trade_off
from starshade.audit.reproduction.claims import Estimate, Untestable
from starshade.audit.reproduction.ns.bench import PHI, Bench, Run, Runs, beside
from starshade.audit.reproduction.ns.samples import CHANGED

WELL = Knowledge(known=8, wrong=2, day_error=14)
LITTLE = Knowledge(known=2, day_error=3)
RARE = Knowledge(known=8, wrong=2, day_error=None, outside_top=500)
UNDATED = Knowledge(known=8, day_error=None)


def noisy(bench: Bench) -> Knowledge:
    """Return ratings ±1, days ±14, 6 of 8 right: Figs 9, 10 and 12."""
    return replace(WELL, rating_error=bench.star)


def error_curve(bench: Bench, knowledge: Knowledge, way: str = "") -> TradeOff:
    """Return both errors over φ, of all runs together."""
    there, taken_out = present(bench, knowledge, way), gone(bench, knowledge, way)
    right = np.concatenate([run["eccentricity"] * run["right"] for run in there])
    named = np.concatenate([run["eccentricity"] for run in taken_out])
    return trade_off(right, named, PHI)


def equal_phi(curve: TradeOff) -> float:
    """Return the φ at which both errors are equal."""
    if curve.equal_error_phi is None:
        raise Untestable(f"both errors are nowhere equal: {curve.reason}")
    return curve.equal_error_phi


def over(run: Run, phi: float) -> NDArray[np.bool_]:
    """Tell who stands out at another φ."""
    eccentricity = run["eccentricity"]
    return np.asarray((eccentricity > 0) & (eccentricity >= phi * (1 - SLACK)))


def known_under(bench: Bench, knowledge: Knowledge, way: str) -> Knowledge:
    """Return what is known under a way that changes this."""
    if way == "top-share":
        return replace(knowledge, outside_top=bench.as_large(knowledge.outside_top))
    if way == "all-right":
        return replace(knowledge, wrong=0)
    return replace(knowledge, day_error=None) if way == "no-dates" else knowledge


def present(
    bench: Bench, knowledge: Knowledge, way: str = "", among: Knowledge | None = None
) -> Runs:
    """Attack those who are there, under a way."""
    knowledge = known_under(bench, knowledge, way)
    if way == "threshold":
        return bench.lettered(knowledge, bench.reading(similarity="threshold"), among)
    return bench.attacked(knowledge, way if way in CHANGED else "", among)


def gone(bench: Bench, knowledge: Knowledge, way: str = "") -> Runs:
    """Attack those whose records were taken out, under a way."""
    knowledge = known_under(bench, knowledge, way)
    if way == "threshold":
        return bench.lettered(knowledge, bench.reading(similarity="threshold"), absent=True)
    return bench.absent(knowledge, way if way in CHANGED else "")


def key_of(way: str) -> str:
    """Return which outcome counts."""
    return "top1" if way == "answer" else "success"


def found(bench: Bench, way: str, among: Knowledge | None = None, **settings: Knowledge) -> Runs:
    """Return success under a way, by setting; `among`: the same people in all of them."""
    of: dict[str, tuple[Runs, str]] = {}
    for name, knowledge in settings.items():
        found: Runs = present(bench, knowledge, way, among)
        if way == "equal-phi":
            phi = equal_phi(error_curve(bench, knowledge))
            found = [{"success": over(run, phi) * run["right"]} for run in found]
        of[name] = found, key_of(way)
    return beside(**of)


def ratio(bench: Bench, way: str, above: Knowledge, below: Knowledge) -> Estimate:
    """Return how many times as often the first succeeds, the same people asked."""
    runs = found(bench, way, widest(above, below), above=above, below=below)
    if not any(run["below"].any() for run in runs):
        raise Untestable("nobody is found with what it is compared to")
    return bench.estimate(runs, lambda mean: mean["above"] / max(mean["below"], 1e-9))


def less(bench: Bench, way: str, one: Knowledge, other: Knowledge) -> Estimate:
    """Return how much more often the first succeeds, the same people asked."""
    runs = found(bench, way, widest(one, other), one=one, other=other)
    return bench.estimate(runs, lambda mean: mean["one"] - mean["other"])


def widest(*settings: Knowledge) -> Knowledge:
    """Return what asks most of a person: who can be attacked so can be in every setting."""
    items = [knowledge.wrong for knowledge in settings if knowledge.wrong_kind == "item"]
    return Knowledge(
        known=max(knowledge.known for knowledge in settings),
        outside_top=max(knowledge.outside_top for knowledge in settings),
        wrong=max(items, default=0),
        wrong_kind="item" if items else "value",
    )


def success(bench: Bench, way: str, knowledge: Knowledge) -> Estimate:
    """Return how often an attack succeeds."""
    return bench.estimate(found(bench, way, it=knowledge), lambda mean: mean["it"])
