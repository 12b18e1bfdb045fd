"""How few facts suffice: Theorems 1 to 5 of NS §4, as plain functions.

A *fact* is one attribute value of the target that the adversary knows, close to the truth (on
all of them, Sim ≥ 1-ε). The theorems hold for Scoreboard, any data and any target; they are
upper bounds, and real attacks need far less.
"""

from __future__ import annotations

import math

from starshade.errors import ConfigError

__all__ = ["facts_bound", "facts_needed", "lineup_bound", "lineup_facts", "sample_sparsity"]


def facts_bound(records: int, eps: float, delta: float) -> float:
    """Theorems 1, 2 and 4: m = (ln N - ln ε) / -ln(1-δ), before rounding up.

    With so many facts, with probability at least 1-ε no record that matches them all differs
    from the target's in more than Sim 1-ε-δ allows (Theorem 1). Where the data are
    (1-ε-δ, ε)-sparse it is the target's own (Theorem 2). From a sample that the target is not
    in, the answer is ⊥ with probability at least 1-ε (Theorem 4).

    `records`: N, at least 1. `eps`, `delta`: ε and δ, above 0 and below 1.

    NS §4.1. The proof there prints m without ε; the theorem's own m is meant.

    >>> round(facts_bound(480_189, 0.05, 0.2), 2)
    72.05
    """
    _whole("records", records, 1)
    _inside("eps", eps)
    _inside("delta", delta)
    return (math.log(records) - math.log(eps)) / -math.log1p(-delta)


def facts_needed(records: int, eps: float, delta: float) -> int:
    """Theorems 1, 2 and 4: the facts that suffice; `facts_bound` rounded up.

    Examples
    --------
    >>> facts_needed(480_189, 0.05, 0.2), facts_needed(480_189, 0.05, 0.5)
    (73, 24)
    """
    return math.ceil(facts_bound(records, eps, delta))


def lineup_bound(records: int, lineup: int, delta: float) -> float:
    """Theorem 3: m = ln(N/(k-1)) / ln(1/(1-δ)), before rounding up.

    On (1-ε-δ, ε)-sparse data so many facts leave at most k-1 false matches on average: the
    target is one of a lineup of k, named rightly with probability 1/k, and at most log2(k) bits
    are missing.

    `records`: N, at least 1. `lineup`: k, at least 2. A lineup of more than N records takes no
    facts: 0. `delta`: δ, above 0 and below 1.

    >>> round(lineup_bound(480_189, 10, 0.2), 2)
    48.78
    """
    _whole("records", records, 1)
    _whole("lineup", lineup, 2)
    _inside("delta", delta)
    return max(0.0, math.log(records / (lineup - 1)) / -math.log1p(-delta))


def lineup_facts(records: int, lineup: int, delta: float) -> int:
    """Theorem 3: the facts that suffice; `lineup_bound` rounded up.

    Examples
    --------
    >>> lineup_facts(480_189, 10, 0.2), lineup_facts(480_189, 10, 0.5)
    (49, 16)
    """
    return math.ceil(lineup_bound(records, lineup, delta))


def sample_sparsity(delta: float, share: float, gamma: float) -> float:
    """Theorem 5: the δ' = δγ/λ that a random 1/λ of data that are not (ε,δ)-sparse fails.

    Data that are not (ε,δ)-sparse have random samples of a share 1/λ that are not
    (ε, δγ/λ)-sparse, with probability at least 1-γ. Read backwards: a sparse sample was very
    unlikely, or the whole data are sparse.

    Parameters
    ----------
    delta : float
        δ of the whole data, in [0, 1].
    share : float
        1/λ, above 0 and at most 1.
    gamma : float
        γ, above 0 and at most 1.

    Raises
    ------
    ConfigError
        A value out of range.

    Examples
    --------
    >>> round(sample_sparsity(0.5, 0.1, 0.05), 4)
    0.0025
    """
    if not 0 <= delta <= 1:
        raise ConfigError(f"delta {delta}: from 0 to 1")
    for name, value in (("share", share), ("gamma", gamma)):
        if not 0 < value <= 1:
            raise ConfigError(f"{name} {value}: above 0, at most 1")
    return delta * gamma * share


def _inside(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ConfigError(f"{name} {value}: above 0 and below 1")


def _whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not float(value).is_integer() or value < least:
        raise ConfigError(f"{name} {value}: a whole number, at least {least}")
