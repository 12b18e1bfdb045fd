"""Who is attacked: all users of whom enough can be known, or a seeded sample of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.view import View
from starshade.errors import ConfigError
from starshade.naming import aside, named
from starshade.plain import counted
from starshade.progress import note
from starshade.ratings.sample import check_targets, sample_users

__all__ = ["choose_targets", "usable"]


def choose_targets(
    view: View, knowledge: Knowledge, targets: int | None, seed: int
) -> tuple[NDArray[np.int64], int]:
    """Return the targets, ascending, and how many users are ineligible.

    Ineligible are users of whom so much cannot be known and, where the link says who is who,
    users of the original who have no record: there is nobody to find. A sample takes the
    eligible users whose ids hash lowest under the seed, whatever their order.

    `targets`: how many to attack; None: all.
    """
    check_targets(targets)
    if knowledge.about_count and not view.ungeneralized:
        note(
            "the number of ratings that a release shows is not the number that was given: what is "
            f"known of it{aside('about_count')} may shut out the target's own record"
        )
    eligible = knowledge.eligible_users(view.original)
    if view.credit == "linked":
        unreleased = eligible & (view.row_of_user < 0)
        if unreleased.any():
            note(f"{counted(unreleased.sum(), 'user')} without a record in the release: ineligible")
        eligible &= view.row_of_user >= 0
    users = np.flatnonzero(eligible)
    if not len(users):
        raise ConfigError(
            f"nobody can be attacked: no user has what the adversary is to know ({knowledge.name})",
            advice=f"Lower {named('known')}, or {named('outside_top')}.",
            setting="known",
        )
    ineligible = len(eligible) - len(users)
    return sample_users(view.original, users, targets, seed), ineligible


def usable(knowledge: Knowledge, view: View) -> Knowledge:
    """Return what the adversary can make use of: no days where none are shown.

    Days have draws of their own, so nothing else that is known changes.
    """
    return replace(knowledge, dates=False) if view.cells.days is None else knowledge
