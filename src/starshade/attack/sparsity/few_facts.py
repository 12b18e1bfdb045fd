"""Numbers of facts that suffice by Theorems 2 and 3 for the sparsity of these data (NS §4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import numbers, typed
from starshade.attack.sparsity.sparsity import Neighbours, SparsityResult
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.figure import payload
from starshade.progress import announced
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of_any
from starshade.stats import wilson

_LINEUP = 10
_SLACK = 1e-12
#: numbers of ratings that users have, and how many have so many
Support = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class FewFacts:
    """Number of facts for one strictness and one ε.

    `strictness`: what counts as one attribute agreeing; a fact must be as close to the truth.
    `eps`: the adversary fails with at most this probability. `threshold`: t = 1-ε-δ: at most a
    share ε of the records have a neighbour with Sim > t. `crowded`: the share that has one (the
    upper end of its interval, where records were sampled). `delta`: δ = 1-ε-t; None where it would
    not be above 0: the theorems say nothing. `facts`: theorem 2 as printed: so many facts single
    out the record with probability at least 1-ε. `users_with_printed_facts`: share of users who
    have at least `facts` ratings. `lineup_facts`: theorem 3 as printed: so many leave a lineup of
    ten. `covered_threshold`: the least c such that at most a share ε of the records are covered by
    another one to more than c of their own cells. `proven_facts`: at most a share 2ε of all users
    have so many ratings and are not singled out by so many facts drawn from them; None where too
    many records are covered whole. `users_with_facts`: share of users who have at least
    `proven_facts` ratings.

    The proof of Theorem 1 takes it that a record which agrees with the target on a share 1-δ of
    the *target's* cells is like it; but Sim divides by the items that *either* rated, so a long
    record can agree on all of a short one's and have a small Sim. And Theorem 2 counts the two
    ways to fail (a near twin; a false match) once. `proven_facts` mends both: other records'
    share of the target's own cells stands for Sim (δ = 1-c), and both ways to fail are counted.
    Both figures are for facts that are right, compared as loosely as `strictness` says.
    """

    strictness: str
    records: int
    eps: float
    threshold: float
    crowded: float
    delta: float | None
    facts: int | None
    users_with_printed_facts: float | None
    lineup_facts: int | None
    covered_threshold: float
    proven_facts: int | None
    users_with_facts: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return payload(self) | {"lineup": _LINEUP}

    def __str__(self) -> str:
        if self.facts is None:
            printed = (
                f"Strictness {self.strictness}: more than {self.eps:.0%} of records have a near "
                "twin, so Theorem 2 does not apply."
            )
        else:
            printed = (
                f"Strictness {self.strictness}: at most {self.crowded:.1%} of records have a "
                f"neighbour with Sim above {self.threshold:.3f}, so the data are "
                f"({self.threshold:.3f}, {self.eps:g})-sparse. By Theorem 2 as printed, "
                f"{self.facts:,} facts single out a record among {self.records:,} with probability "
                f"{1 - self.eps:.0%} or more; by Theorem 3, {self.lineup_facts:,} leave a lineup "
                f"of {_LINEUP}; {_who_has(self.users_with_printed_facts, self.facts)}."
            )
        if self.proven_facts is None:
            return f"{printed} Too many records are covered by a longer one for a proof."
        return (
            f"{printed} Proven, even if long records cover short ones: {self.proven_facts:,} facts "
            f"single out all but {2 * self.eps:.0%} of users; "
            f"{_who_has(self.users_with_facts, self.proven_facts)}. Attacks need fewer."
        )


def _who_has(share: float | None, facts: int) -> str:
    return (
        f"{share:.1%} of the users have {facts:,} ratings or more"
        if share
        else f"but no user has {facts:,} ratings, so this does not apply"
    )


@typed
@announced("computing the number of facts")
def few_facts(
    ratings: Ratings | Shards,
    sparsity: SparsityResult,
    *,
    eps: tuple[float, ...] = (0.01, 0.05, 0.1),
    engine: Engine | None = None,
) -> tuple[FewFacts, ...]:
    """Return the numbers of facts that the theorems require on these ratings.

    For each strictness and ε the largest δ is taken with which the data are (1-ε-δ, ε)-sparse:
    it requires the fewest facts.

    Parameters
    ----------
    ratings : Ratings or Shards
    sparsity : SparsityResult
        Of these ratings. Where it looked at a sample, the upper end of the 95 % interval of the
        share of crowded records must stay within ε.
    eps : tuple of float
        Each above 0 and below 1.
    engine : Engine, optional
        Execution engine for partitions; None: this process, without a journal.

    Raises
    ------
    ConfigError
        An ε out of range, or the sparsity of other ratings.

    Examples
    --------
    >>> from starshade.attack.sparsity.sparsity import Sparsity
    >>> table = Ratings.from_arrays(
    ...     ["a", "a", "b", "b", "c"], ["x", "y", "x", "z", "x"], [5, 3, 4, 2, 1], scale="1:5:1")
    >>> few_facts(table, Sparsity().run(table, rng=0), eps=(0.1,))[0].facts
    7
    """
    for value in np.atleast_1d(numbers("eps", eps)).tolist():
        if not 0 < value < 1:
            raise ConfigError(f"eps {value}: must be above 0 and below 1")
    if sparsity.digest != digest_of_any(ratings):
        raise ConfigError(
            f"the sparsity belongs to other ratings ({sparsity.records:,} records; these have "
            f"{ratings.n_users:,} users)",
            advice="Measure it on the same table: Sparsity().run(ratings).",
        )
    if isinstance(ratings, Shards):
        counts = counts_of(ratings, engine or Local())
        support = counts.support, counts.users
    else:
        support = np.unique(ratings.user_support, return_counts=True)
    return tuple(
        _few_facts_of(support, sparsity, curve, value)
        for curve in sparsity.neighbours
        for value in eps
    )


def _few_facts_of(
    support: Support, sparsity: SparsityResult, curve: Neighbours, eps: float
) -> FewFacts:
    records = sparsity.records
    threshold, crowded = _threshold(curve.similarity, eps, exact=sparsity.exact)
    covered, _ = _threshold(curve.covered, eps, exact=sparsity.exact)
    delta = 1 - eps - threshold
    printed = delta > _SLACK
    proven = facts_needed(records, eps, min(1 - covered, 1 - _SLACK)) if covered < 1 else None
    facts = facts_needed(records, eps, delta) if printed else None
    return FewFacts(
        strictness=curve.name,
        records=records,
        eps=eps,
        threshold=threshold,
        crowded=crowded,
        delta=delta if printed else None,
        facts=facts,
        users_with_printed_facts=_having(support, facts),
        lineup_facts=lineup_facts(records, _LINEUP, delta) if printed else None,
        covered_threshold=covered,
        proven_facts=proven,
        users_with_facts=_having(support, proven),
    )


def _having(support: Support, facts: int | None) -> float | None:
    if facts is None:
        return None
    numbers, users = support
    return int(users[numbers >= facts].sum()) / int(users.sum())


def _threshold(likeness: NDArray[np.float64], eps: float, *, exact: bool) -> tuple[float, float]:
    """Return the least t with a share of at most ε above it, and that share (or its bound)."""
    descending = np.sort(likeness)[::-1]
    n = len(descending)
    for value in np.unique(np.append(descending, 0.0)):  # ascending
        above = int(np.searchsorted(-descending, -value))
        share = above / n if exact else wilson(above, n).high
        if share <= eps:
            return float(value), share
    return 1.0, wilson(0, n).high  # so small a sample bounds nothing


def facts_bound(records: int, eps: float, delta: float) -> float:
    """Return the bound of Theorems 1, 2 and 4, m = (ln N - ln ε) / -ln(1-δ), unrounded.

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


@typed
def facts_needed(records: int, eps: float, delta: float) -> int:
    """Return the facts that suffice by Theorems 1, 2 and 4: `facts_bound` rounded up.

    Examples
    --------
    >>> facts_needed(480_189, 0.05, 0.2), facts_needed(480_189, 0.05, 0.5)
    (73, 24)
    """
    return math.ceil(facts_bound(records, eps, delta))


def lineup_bound(records: int, lineup: int, delta: float) -> float:
    """Return the bound of Theorem 3, m = ln(N/(k-1)) / ln(1/(1-δ)), unrounded.

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


@typed
def lineup_facts(records: int, lineup: int, delta: float) -> int:
    """Return the facts that suffice by Theorem 3: `lineup_bound` rounded up.

    Examples
    --------
    >>> lineup_facts(480_189, 10, 0.2), lineup_facts(480_189, 10, 0.5)
    (49, 16)
    """
    return math.ceil(lineup_bound(records, lineup, delta))


@typed
def sample_sparsity(delta: float, share: float, gamma: float) -> float:
    """Return the δ' = δγ/λ of Theorem 5, for random samples of a share 1/λ.

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
        raise ConfigError(f"delta {delta}: must be from 0 to 1")
    for name, value in (("share", share), ("gamma", gamma)):
        if not 0 < value <= 1:
            raise ConfigError(f"{name} {value}: must be above 0 and at most 1")
    return delta * gamma * share


def _inside(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ConfigError(f"{name} {value}: must be above 0 and below 1")


def _whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not float(value).is_integer() or value < least:
        raise ConfigError(f"{name} {value}: must be a whole number, at least {least}")
