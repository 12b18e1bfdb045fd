"""How often public ratings agree with their own record: fitted where nobody says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from starshade.attack.auxiliary.compared import PATTERNS, Compared, Errors, plain_errors
from starshade.progress import task

_STEPS = 200
_ENOUGH = 1e-9  # of the penalized likelihood's logarithm, relatively


@dataclass(frozen=True)
class Fitted:
    """`errors`, and the logarithm of the penalized likelihood before each step, never falling."""

    errors: Errors
    trace: tuple[float, ...]


def fit(names: Sequence[Compared], records: int) -> Fitted:
    """Fit the errors by expectation and maximization (Fellegi & Sunter's mixture).

    A name's facts come from one of the records, each as likely, or from a stranger. The chances of
    agreement and disagreement start from the fixed weights, which also count as one fact more, and
    whether somebody is there at all as one name more: nothing is ever held impossible.
    """
    fixed = plain_errors(records)
    errors, trace = Errors(fixed.found, fixed.near, 0.5), list[float]()
    with task("fitting how often public ratings agree", _STEPS) as step:
        for _ in range(_STEPS):
            likelihood = _penalty(errors, fixed)
            found, days = fixed.found.copy(), np.array([1 - fixed.near, fixed.near])
            there = 0.5
            for name in names:
                log, present = _expect(name, errors, records, found, days)
                likelihood += log
                there += present
            trace.append(float(likelihood))
            step(1)
            if len(trace) > 1 and trace[-1] - trace[-2] <= _ENOUGH * (1 + abs(trace[-1])):
                break
            errors = Errors(
                found / found.sum(), float(days[1] / days.sum()), float(there / (len(names) + 1))
            )
    return Fitted(errors, tuple(trace))


def _penalty(errors: Errors, fixed: Errors) -> float:
    days = (1 - fixed.near) * np.log(1 - errors.near) + fixed.near * np.log(errors.near)
    there = (np.log(errors.there) + np.log(1 - errors.there)) / 2
    return float(fixed.found @ np.log(errors.found) + days + there)


def _expect(
    name: Compared, errors: Errors, records: int, found: np.ndarray, days: np.ndarray
) -> tuple[float, float]:
    """Add up how a name's facts agree, over whose they may be.

    Returns the likelihood's logarithm and the chance that they have a record.
    """
    each = name.agreement(errors)
    total = each.sum(2)
    with np.errstate(divide="ignore"):
        logs = np.log(total).sum(0) + np.log(name.sizes)
    stranger, one = np.log(1 - errors.there), np.log(errors.there / records)
    whole = float(np.logaddexp.reduce(np.concatenate([logs + one, [name.rest + one, stranger]])))
    chance = np.exp(logs + one - whole)
    of_fact = chance / np.where(total > 0, total, 1.0)
    found += (each * of_fact[..., None]).reshape(-1, PATTERNS).sum(0)
    rated = each[..., :-1].sum(2) * of_fact
    for near in (0, 1):
        days[near] += rated[name.near == near].sum()
    return whole, 1 - float(np.exp(stranger - whole))
