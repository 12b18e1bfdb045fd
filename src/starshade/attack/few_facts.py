"""How few facts suffice on *this* data: what its sparsity makes of Theorems 2 and 3 (NS §4.2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from starshade.attack.bounds import facts_needed, lineup_facts
from starshade.attack.sparsity import Neighbours, SparsityResult
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.stats import wilson

__all__ = ["FewFacts", "few_facts"]

_LINEUP = 10


@dataclass(frozen=True)
class FewFacts:
    """What one strictness and one ε come to.

    Attributes
    ----------
    strictness : str
        What counts as one attribute agreeing; a fact must be as close to the truth.
    records : int
    eps : float
        The adversary fails with at most this probability.
    threshold : float
        t = 1-ε-δ: at most a share ε of the records have a neighbour with Sim > t.
    crowded : float
        The share that has one (the upper end of its interval, where records were sampled).
    delta : float or None
        δ = 1-ε-t; None where it would not be above 0: the theorems say nothing.
    facts : int or None
        Theorem 2: so many facts, as close as `strictness` says, single out the record with
        probability at least 1-ε.
    lineup_facts : int or None
        Theorem 3: so many leave a lineup of ten.
    users_with_facts : float or None
        Share of users who have so many ratings at all.
    """

    strictness: str
    records: int
    eps: float
    threshold: float
    crowded: float
    delta: float | None
    facts: int | None
    lineup_facts: int | None
    users_with_facts: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return asdict(self) | {"lineup": _LINEUP}

    def __str__(self) -> str:
        if self.facts is None:
            return (
                f"More than {self.eps:.0%} of the records ({self.strictness}) have a near twin: "
                "the theorems promise the adversary nothing, and the owner nothing either."
            )
        return (
            f"Counting {self.strictness}, at most {self.crowded:.1%} of the records have another "
            f"one with Sim above {self.threshold:.3f}, so the data are ({self.threshold:.3f}, "
            f"{self.eps:g})-sparse; by Theorem 2, {self.facts:,} facts about a person (which "
            f"{self.users_with_facts:.1%} of the users have ratings for) single out their record "
            f"among {self.records:,} with probability {1 - self.eps:.0%} or more, and by Theorem "
            f"3, {self.lineup_facts:,} leave a lineup of {_LINEUP}. Attacks need fewer."
        )


def few_facts(
    ratings: Ratings, sparsity: SparsityResult, *, eps: tuple[float, ...] = (0.01, 0.05, 0.1)
) -> tuple[FewFacts, ...]:
    """Tell how many facts the theorems ask for on these ratings.

    For each strictness and ε the largest δ is taken with which the data are (1-ε-δ, ε)-sparse:
    it asks for the fewest facts.

    Parameters
    ----------
    ratings : Ratings
    sparsity : SparsityResult
        Of these ratings. Where it looked at a sample, the upper end of the 95 % interval of the
        share of crowded records must stay within ε.
    eps : tuple of float
        Each above 0 and below 1.

    Raises
    ------
    ConfigError
        An ε out of range, or the sparsity of other ratings.

    Examples
    --------
    >>> from starshade.attack.sparsity import Sparsity
    >>> table = Ratings.from_arrays(
    ...     ["a", "a", "b", "b", "c"], ["x", "y", "x", "z", "x"], [5, 3, 4, 2, 1], scale="1:5:1")
    >>> few_facts(table, Sparsity().run(table, rng=0), eps=(0.1,))[0].facts
    7
    """
    for value in eps:
        if not 0 < value < 1:
            raise ConfigError(f"eps {value}: above 0 and below 1")
    if sparsity.records != ratings.n_users:
        raise ConfigError(
            f"the sparsity is that of {sparsity.records:,} records, the ratings have "
            f"{ratings.n_users:,} users: they do not belong together"
        )
    return tuple(
        _few(ratings, sparsity, curve, value) for curve in sparsity.neighbours for value in eps
    )


def _few(ratings: Ratings, sparsity: SparsityResult, curve: Neighbours, eps: float) -> FewFacts:
    threshold, crowded = _threshold(curve, eps, exact=sparsity.exact)
    delta = 1 - eps - threshold
    if delta <= 1e-12:
        return FewFacts(
            curve.name, sparsity.records, eps, threshold, crowded, None, None, None, None
        )
    facts = facts_needed(sparsity.records, eps, delta)
    return FewFacts(
        strictness=curve.name,
        records=sparsity.records,
        eps=eps,
        threshold=threshold,
        crowded=crowded,
        delta=delta,
        facts=facts,
        lineup_facts=lineup_facts(sparsity.records, _LINEUP, delta),
        users_with_facts=float((ratings.user_support >= facts).mean()),
    )


def _threshold(curve: Neighbours, eps: float, *, exact: bool) -> tuple[float, float]:
    """Return the least t with a share of at most ε above it, and that share (or its bound)."""
    descending = np.sort(curve.similarity)[::-1]
    n = len(descending)
    for value in np.unique(np.append(descending, 0.0)):  # ascending
        above = int(np.searchsorted(-descending, -value))
        share = above / n if exact else wilson(above, n).high
        if share <= eps:
            return float(value), share
    return 1.0, wilson(0, n).high  # so small a sample bounds nothing
