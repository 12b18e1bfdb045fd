"""Attacks under a way (a reading, or data of which one property was changed), and statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.tradeoff import SLACK, TradeOff, trade_off
from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.audit.reproduction.ns.bench import PHI, Bench, Runs, beside
from starshade.audit.reproduction.ns.samples import CHANGED

Measure: TypeAlias = Callable[[Bench, str], Estimate]

FEWEST_CASES = 10  # cases that a ratio is taken to: of fewer one more or less decides it

# what is known; ratings in stars of five, see `scaled`
WELL = Knowledge(known=8, wrong=2, day_error=14)
LITTLE = Knowledge(known=2, day_error=3)
RARE = Knowledge(known=8, wrong=2, day_error=None, outside_top=500)
UNDATED = Knowledge(known=8, day_error=None)
NOISY = replace(WELL, rating_error=1)  # Figs 9, 10 and 12
MISTAKEN = replace(NOISY, wrong_kind="item")


def scaled(bench: Bench, knowledge: Knowledge) -> Knowledge:
    """Return what is known, on the scale of the data."""
    return replace(knowledge, rating_error=knowledge.rating_error * bench.star)


def known_under(bench: Bench, knowledge: Knowledge, way: str) -> Knowledge:
    """Return what is known under a way that changes this."""
    if way == "top-share":
        return replace(knowledge, outside_top=bench.as_large(knowledge.outside_top))
    if way == "all-right":
        return replace(knowledge, wrong=0)
    return replace(knowledge, day_error=None) if way == "no-dates" else knowledge


def present(
    bench: Bench,
    knowledge: Knowledge,
    way: str = "",
    among: Knowledge | None = None,
    *,
    absent: bool = False,
) -> Runs:
    """Attack people under a way; `absent`: with their records taken out."""
    knowledge = known_under(bench, knowledge, way)
    if way == "threshold":
        reading = bench.reading(similarity="threshold")
        return bench.lettered(knowledge, reading, among, absent=absent)
    attack = bench.absent if absent else bench.attacked
    return attack(knowledge, way if way in CHANGED else "", among)


def error_curve(bench: Bench, knowledge: Knowledge) -> TradeOff:
    """Return both errors over φ, of all runs together."""
    there, gone = eccentricities(bench, knowledge)
    return trade_off(np.concatenate(there), np.concatenate(gone), PHI)


def eccentricities(bench: Bench, knowledge: Knowledge) -> tuple[list[NDArray[Any]], ...]:
    """Return those of rightly named people who are there, and of absent ones, run by run."""
    there, gone = bench.attacked(knowledge), bench.absent(knowledge)
    return [r["eccentricity"] * r["right"] for r in there], [r["eccentricity"] for r in gone]


def equal_phi(curve: TradeOff) -> float:
    """Return the φ at which both errors are equal."""
    if curve.equal_error_phi is None:
        raise Untestable(f"both errors are nowhere equal: {curve.reason}")
    return curve.equal_error_phi


def reaching(eccentricity: NDArray[Any], phi: float) -> NDArray[np.bool_]:
    """Tell which reach a φ; who does not stand out at all has 0."""
    return np.asarray((eccentricity > 0) & (eccentricity >= phi * (1 - SLACK)))


def key_of(way: str) -> str:
    """Return which outcome counts."""
    return "top1" if way == "answer" else "success"


def found(bench: Bench, way: str, among: Knowledge | None = None, **settings: Knowledge) -> Runs:
    """Return success under a way, by setting; `among`: the same people in all of them."""
    of: dict[str, tuple[Runs, str]] = {}
    for name, knowledge in settings.items():
        own = scaled(bench, knowledge)
        runs = present(bench, own, way, among)
        if way == "equal-phi":
            phi = equal_phi(error_curve(bench, own))
            runs = [{"success": reaching(run["eccentricity"], phi) & run["right"]} for run in runs]
        of[name] = runs, key_of(way)
    return beside(**of)


def widest(*settings: Knowledge) -> Knowledge:
    """Return what asks most of a person: who can be attacked so can be in every setting."""
    items = [knowledge.wrong for knowledge in settings if knowledge.wrong_kind == "item"]
    return Knowledge(
        known=max(knowledge.known for knowledge in settings),
        outside_top=max(knowledge.outside_top for knowledge in settings),
        wrong=max(items, default=0),
        wrong_kind="item" if items else "value",
    )


def mean_of(bench: Bench, runs: Runs, name: str) -> Estimate:
    """Return a mean over people."""
    return bench.estimate(beside(it=(runs, name)), lambda mean: mean["it"])


def ratio_of(bench: Bench, runs: Runs, none: str) -> Estimate:
    """Return the mean "above" over the mean "below"; `none`: that there is nothing below."""
    some = sum(int(np.count_nonzero(run["below"])) for run in runs)
    if some < FEWEST_CASES:
        many = sum(len(run["below"]) for run in runs)
        raise Untestable(
            f"only {some:,} of {many:,} in the denominator: {FEWEST_CASES} at least"
            if some
            else none
        )
    return bench.estimate(runs, lambda mean: mean["above"] / mean["below"])


def least_of(bench: Bench, runs: Runs, pairs: Sequence[tuple[str, str]]) -> Estimate:
    """Return the least of the first mean less the second, each pair of the same people.

    Whom one alone finds, and whom the other, are outcomes of their own: where nobody is, a
    difference of nothing has an interval with width all the same.
    """
    apart = [
        {
            f"{way} {n}": _outcome(np.maximum(sign * (1.0 * run[one] - run[other]), 0))
            for n, (one, other) in enumerate(pairs)
            for way, sign in (("won", 1), ("lost", -1))
        }
        for run in runs
    ]
    return bench.estimate(
        apart, lambda mean: min(mean[f"won {n}"] - mean[f"lost {n}"] for n in range(len(pairs)))
    )


def _outcome(of_people: NDArray[np.float64]) -> NDArray[Any]:
    alike = np.isin(of_people, (0, 1)).all()
    return of_people.astype(np.bool_) if alike else of_people


def less_of(bench: Bench, runs: Runs) -> Estimate:
    """Return the mean "one" less the mean "other"."""
    return least_of(bench, runs, [("one", "other")])


def success(knowledge: Knowledge) -> Measure:
    """Measure how often an attack succeeds."""
    return lambda bench, way: mean_of(bench, found(bench, way, success=knowledge), "success")


def ratio(above: Knowledge, below: Knowledge) -> Measure:
    """Measure how many times as often the first succeeds, the same people asked."""
    among, none = widest(above, below), "no target is found in the reference setting"
    return lambda bench, way: ratio_of(
        bench, found(bench, way, among, above=above, below=below), none
    )


def less(one: Knowledge, other: Knowledge) -> Measure:
    """Measure how much more often the first succeeds, the same people asked."""
    among = widest(one, other)
    return lambda bench, way: less_of(bench, found(bench, way, among, one=one, other=other))
