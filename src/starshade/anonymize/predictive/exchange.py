"""Groups of at least k users with as little squared error as exchanges reach.

The error of a group is the squared distance of its members' predictions from their mean, each
member's counted, in the sum and in the mean, with their weight. Of *predictions* that distance is
Euclidean in f + 1 numbers (`Padded.coordinates`), so the error of a whole partition is known
exactly, and a user can be moved to another group, or exchanged for one of another group, whenever
that lessens it.

That mean is not the released profile. Under "support" `PredictiveAnonymizer` gives a user of n
ratings the weight n^¾: what a profile will be compared with is its members' ratings, and most of
them are of members who rated much. Errors count where ratings are. But in the profiles `padded`
and `model` all members count alike, so it is not said that no exchange would lessen *their*
error; in `pooled` who rated more counts more, in another way. With equal weights the mean is the
profile `model` before it is clipped and rounded.

First groups are formed by cutting the users in two along the direction of most spread, again and
again, down to k. Then, in each of some turns, whole groups that are near each other become a
leaf, and users are exchanged within it; each turn cuts the leaves in other directions, so borders
of one turn are within leaves of the next. Small tables are one leaf.
"""

from __future__ import annotations

import numpy as np

from starshade.anonymize.order import put_back, seeded_order
from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.predictive.exchange import cut, exchange_leaves
from starshade.progress import task
from starshade.rng import stream_key

__all__ = ["exchange_users"]

_SMALL = 2048  # users that are one leaf
_LEAF = (256, 1024)  # users of a leaf, at least and at most, about: sixteen groups if possible
_ROUNDS = (6, 4, 4)  # in each turn with other leaves
_SETTLED = 64  # rounds that one leaf hardly needs
_GLANCES = 2  # steps towards the direction of most spread, for leaves cut otherwise each time


def exchange_users(points: Floats, weights: Floats, k: int, seed: int) -> Ints:
    """Put all users into groups of at least k."""
    order = seeded_order(len(points), seed, "exchange")
    x, w = np.ascontiguousarray(points[order]), np.ascontiguousarray(weights[order])
    m = len(x)
    members = np.arange(m)
    ends = cut(x, members, k, 1, stream_key(seed, "exchange groups"))
    groups = put_back(members, np.repeat(np.arange(len(ends) - 1), np.diff(ends)))
    n_groups = len(ends) - 1
    rounds = (_SETTLED,) if m <= _SMALL or n_groups <= 2 else _ROUNDS
    in_leaf = n_groups if m <= _SMALL else max(2, min(max(16 * k, _LEAF[0]), _LEAF[1]) // k)
    with task("exchanging users", len(rounds)) as step:
        for turn, most in enumerate(rounds):
            key = stream_key(seed, f"exchange {turn}")
            exchange_leaves(
                x, w, groups, _leaves(x, groups, n_groups, in_leaf, key, turn),
                k=k, rounds=most, partners=_SMALL, key=key,
            )  # fmt: skip
            step(1)
    return put_back(order, groups)


def _leaves(
    points: Floats, groups: Ints, n_groups: int, in_leaf: int, key: int, turn: int
) -> tuple[Ints, Ints]:
    """Cut whole groups into leaves: where the users of each end, and the users."""
    sizes = np.bincount(groups, minlength=n_groups)
    centres = np.column_stack(
        [np.bincount(groups, column, n_groups) / sizes for column in points.T]
    )
    order = np.arange(n_groups)
    powers = {} if turn == 0 else {"powers": _GLANCES}
    ends = cut(np.ascontiguousarray(centres), order, 1, in_leaf, key, **powers)
    members = np.argsort(put_back(order, np.arange(n_groups))[groups], kind="stable")
    users = np.concatenate([[0], np.cumsum(sizes[order])])
    return users[ends], members
