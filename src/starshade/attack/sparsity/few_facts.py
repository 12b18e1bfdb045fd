"""How few facts suffice on *this* data: what its sparsity makes of Theorems 2 and 3 (NS §4.2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.sparsity.bounds import facts_needed, lineup_facts
from starshade.attack.sparsity.sparsity import Neighbours, SparsityResult
from starshade.errors import ConfigError
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.stats import wilson

__all__ = ["FewFacts", "few_facts"]

_LINEUP = 10
_SLACK = 1e-12


@dataclass(frozen=True)
class FewFacts:
    """What one strictness and one ε come to.

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
        return asdict(self) | {"lineup": _LINEUP}

    def __str__(self) -> str:
        if self.facts is None:
            printed = (
                f"Counting {self.strictness}, more than {self.eps:.0%} of the records have a near "
                "twin: Theorem 2 says nothing."
            )
        else:
            printed = (
                f"Counting {self.strictness}, at most {self.crowded:.1%} of the records have "
                f"another one with Sim above {self.threshold:.3f}, so the data are "
                f"({self.threshold:.3f}, {self.eps:g})-sparse: by Theorem 2 as printed "
                f"{self.facts:,} facts about a person single out their record among "
                f"{self.records:,} with probability {1 - self.eps:.0%} or more, and by Theorem 3 "
                f"{self.lineup_facts:,} leave a lineup of {_LINEUP}; "
                f"{_who_has(self.users_with_printed_facts, self.facts)}."
            )
        if self.proven_facts is None:
            return f"{printed} Too many records are covered by a longer one to prove as much."
        return (
            f"{printed} Proven, as long records may cover short ones, is that "
            f"{self.proven_facts:,} facts single out all but {2 * self.eps:.0%} (of all users); "
            f"{_who_has(self.users_with_facts, self.proven_facts)}. Attacks need fewer."
        )


def _who_has(share: float | None, facts: int) -> str:
    return (
        f"{share:.1%} of the users have {facts:,} ratings or more"
        if share
        else (f"but nobody has {facts:,} ratings, so this says nothing here")
    )


@announced("how few facts suffice")
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
    >>> from starshade.attack.sparsity.sparsity import Sparsity
    >>> table = Ratings.from_arrays(
    ...     ["a", "a", "b", "b", "c"], ["x", "y", "x", "z", "x"], [5, 3, 4, 2, 1], scale="1:5:1")
    >>> few_facts(table, Sparsity().run(table, rng=0), eps=(0.1,))[0].facts
    7
    """
    for value in eps:
        if not 0 < value < 1:
            raise ConfigError(f"eps {value}: above 0 and below 1")
    if sparsity.digest != digest_of(ratings):
        raise ConfigError(
            f"the sparsity is that of other ratings ({sparsity.records:,} records) than these "
            f"({ratings.n_users:,} users)",
            advice="Measure it on the same table: Sparsity().run(ratings).",
        )
    return tuple(
        _few_facts_of(ratings, sparsity, curve, value)
        for curve in sparsity.neighbours
        for value in eps
    )


def _few_facts_of(
    ratings: Ratings, sparsity: SparsityResult, curve: Neighbours, eps: float
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
        users_with_printed_facts=_having(ratings, facts),
        lineup_facts=lineup_facts(records, _LINEUP, delta) if printed else None,
        covered_threshold=covered,
        proven_facts=proven,
        users_with_facts=_having(ratings, proven),
    )


def _having(ratings: Ratings, facts: int | None) -> float | None:
    return None if facts is None else float((ratings.user_support >= facts).mean())


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
