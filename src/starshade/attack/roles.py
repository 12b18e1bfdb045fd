"""Who became which row of a release, and which of the original's items are in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.csr import keep_columns
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.match.match import Match
from starshade.release.table import Link, Release

__all__ = ["Roles", "roles_of", "truth_on"]


@dataclass(frozen=True, eq=False)
class Roles:
    """The truth behind what an adversary sees.

    `original`: the true table; targets are its users. `row_of_user` (n_users,): the row of each
    user of the original; -1 where it is unknown or they have none. `credit`: whether `row_of_user`
    is known.
    """

    original: Ratings
    row_of_user: NDArray[np.int64]
    credit: Literal["linked", "compatible"]


def roles_of(data: Ratings | Release, original: Ratings | None, link: Link | None) -> Roles:
    """Say who is who; parameters and errors as in `starshade.attack.view.look`."""
    if isinstance(data, Ratings):
        if (original is not None and original is not data) or link is not None:
            raise ConfigError(
                "a rating table is attacked with its own truth",
                advice="Leave out the original and the link; they belong to a release.",
            )
        return Roles(data, np.arange(data.n_users), "linked")
    if original is None:
        raise ConfigError(
            "an attack on a release needs the original ratings",
            advice="Knowledge is drawn from them, and answers are judged by them.",
        )
    origin = Match(data, original, link)
    origin.refuse_unknown_users()
    rows = origin.row_of_user
    if rows is None:
        return Roles(original, np.full(original.n_users, -1, dtype=np.int64), "compatible")
    return Roles(original, rows, "linked")


def truth_on(original: Ratings, items: Vocabulary, item_of: NDArray[np.int32]) -> Ratings:
    """Return the original on released items, numbered as there; no user is dropped.

    `item_of` says where each item of the original is among the released ones, -1: it is not.
    """
    released = item_of >= 0
    if released.all() and len(released) == len(items):
        return original
    indptr, columns, codes, days = keep_columns(
        original.indptr, original.columns, original.codes, original.days, released
    )
    return replace(
        original,
        items=items,
        indptr=indptr,
        # both numberings are canonical, so columns stay ascending
        columns=item_of[released][columns],
        codes=codes,
        days=days,
        item_names=None,
    )
