"""What a verdict rests on: the same attacks before and after, with the same knowledge.

The adversary knows a few of a target's true cells among the released items: 2, 4 and 8 of them
(as many as some user has), once exactly, once as Narayanan & Shmatikov (2008, §5) blur them: a
quarter of the cells wrong, ratings to within a quarter of the scale. The targets and what is
known of each are drawn from the seed, and are the same on the ratings and on the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.attack.label import LabelAttack
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh import ScoreboardRH
from starshade.progress import task
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["Evidence", "attack_both", "knowledge_to_try"]


@dataclass(frozen=True)
class Evidence:
    """One attack with one kind of knowledge, and what it achieved.

    Attributes
    ----------
    knowledge : Knowledge
    before, after : AttackResult
        On the ratings and on the release.
    """

    knowledge: Knowledge
    before: AttackResult
    after: AttackResult


def knowledge_to_try(original: Ratings, known: Sequence[int]) -> list[Knowledge]:
    """Return what the adversary is tried with: each number of cells, exact and blurred.

    Parameters
    ----------
    original : Ratings
        The released items of the original.
    known : sequence of int
        Numbers of cells; those that no user has are left out. None left: one cell.
    """
    most = int(original.user_support.max(initial=0))
    possible = [m for m in known if m <= most] or [1]
    blur = _quarter(original.scale)
    exact = [Knowledge(known=m, dates=False) for m in possible]
    blurred = [
        Knowledge(known=m, wrong=m // 4, rating_error=blur, dates=False) for m in possible if blur
    ]
    return exact + blurred


def attack_both(
    original: Ratings,
    release: Release,
    tries: Sequence[Knowledge],
    *,
    targets: int,
    seed: int,
) -> list[Evidence]:
    """Run the attacks on the ratings and on the release.

    Parameters
    ----------
    original : Ratings
        The released items of the original.
    release : Release
    tries : sequence of Knowledge
    targets : int
        Users attacked at most.
    seed : int
    """
    runs = [(attack, knowledge) for knowledge in tries for attack in _attacks_with(knowledge)]
    found = []
    with task("attacking", 2 * len(runs)) as step:
        for attack, knowledge in runs:
            before = attack.run(original, knowledge, targets=targets, rng=seed)
            step(1)
            after = attack.run(release, knowledge, original=original, targets=targets, rng=seed)
            step(1)
            found.append(Evidence(knowledge, before, after))
    return found


def _attacks_with(knowledge: Knowledge) -> list[ScoreboardRH | LabelAttack]:
    """Return the attacks that can make use of such knowledge."""
    if knowledge.wrong:  # one wrong cell, and nobody fits
        return [ScoreboardRH()]
    return [ScoreboardRH(), LabelAttack(tolerance=knowledge.rating_error)]


def _quarter(scale: Scale) -> float:
    """Return a quarter of the scale's width, in whole steps: one star of 1 to 5."""
    quarter = scale.width / 4
    if scale.step is None:
        return quarter
    return float(np.round(floor(quarter / scale.step + 1e-9) * scale.step, 9))
