"""Ratings held out, and some of the users: seeded, the same whatever the order of the file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.fingerprint import draw_cells, drawing_bytes, keyed_numbers
from starshade.naming import called
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.rng import Rng, resolve_seed, stream_key


def cell_bytes(ratings: Ratings) -> int:
    """Return the bytes that a table holds of each rating."""
    dated = 0 if ratings.days is None else ratings.days.itemsize
    return ratings.columns.itemsize + ratings.codes.itemsize + dated


def check_share(share: float) -> None:
    """Refuse a share that leaves nothing on one side, before anything is read."""
    if isinstance(share, bool) or not 0 < share < 1:
        raise ConfigError(
            f"{called('share')} {share}: above 0 and below 1", advice="For example 0.1."
        )


@typed
@announced("holding out ratings")
def hold_out(ratings: Ratings, share: float = 0.1, rng: Rng = None) -> tuple[Ratings, Ratings]:
    """Hold out a share of the ratings.

    Whether a rating is set aside depends on the seed and on the ids of its user and item alone,
    so neither the order of a file nor threads change it. A user's, or an item's, only rating may
    be set aside; the user and the item stay, without a rating.

    Parameters
    ----------
    ratings : Ratings
    share : float
        Above 0, below 1; the number set aside is the nearest whole number, halves to even.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    train, probe : Ratings
        Both of all users and items, and of the same levels; every rating is in one of them.

    Raises
    ------
    ConfigError
        A share out of range or that leaves either side without a rating, or more memory needed
        than may be used.

    Examples
    --------
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=10, n_items=5, n_ratings=20, rng=0)
    >>> for part in hold_out(ratings, 0.1, rng=0):
    ...     print(part)
    Ratings(10 users x 5 items, 18 ratings, scale 1:5:1)
    Ratings(10 users x 5 items, 2 ratings, scale 1:5:1)
    """
    check_share(share)
    seed = resolve_seed(rng)
    count = round(share * ratings.n_ratings)
    if not 0 < count < ratings.n_ratings:
        raise ConfigError(
            f"{called('share')} {share:g} of {ratings.n_ratings:,} ratings: {count:,} would be "
            "held out, and both parts need at least one rating"
        )
    _check_memory(ratings)
    drawn, per_row = draw_cells(
        fixed(ratings.indptr),
        fixed(ratings.columns),
        ratings.users.fingerprints,
        ratings.items.fingerprints,
        np.uint64(stream_key(seed, "holdout")),
        count,
    )
    probe = _cells(ratings, drawn, per_row)
    np.logical_not(drawn, out=drawn)
    return _cells(ratings, drawn, ratings.user_support - per_row), probe


def _check_memory(ratings: Ratings) -> None:
    held = ratings.n_ratings * cell_bytes(ratings)
    need = held + ratings.n_ratings + ratings.n_users * 40 + drawing_bytes(ratings.user_support)
    allowed = budget.left(held)
    if need > allowed:
        raise ConfigError(
            f"holding out of {ratings.n_ratings:,} ratings needs {budget.amount(need)} of memory; "
            f"{budget.amount(max(0, allowed))} may be used",
            advice="Allow more memory if the machine has it.",
        )


def _cells(ratings: Ratings, keep: NDArray[np.bool_], per_row: NDArray[np.int64]) -> Ratings:
    return replace(
        ratings,
        indptr=np.concatenate([[0], np.cumsum(per_row)]).astype(np.int64),
        columns=ratings.columns[keep],
        codes=ratings.codes[keep],
        days=None if ratings.days is None else ratings.days[keep],
    )


def check_targets(targets: int | None) -> None:
    """Refuse a number of targets that is none."""
    if targets is None:
        return
    if isinstance(targets, bool) or targets != targets // 1 or targets < 1:
        raise ConfigError(f"{called('targets')} {targets}: a whole number, at least 1")


def sample_users(
    ratings: Ratings, among: NDArray[np.int64], targets: int | None, seed: int
) -> NDArray[np.int64]:
    """Take the users whose ids hash lowest under the seed.

    `among`: rows to choose from. `targets`: how many, at least 1; None, or more than there are:
    all. Returns: rows, ascending.
    """
    check_targets(targets)
    if targets is None or targets >= len(among):
        return np.sort(among)
    return np.sort(lowest(among, sample_numbers(ratings, among, seed), int(targets)))


def sample_numbers(ratings: Ratings, among: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return what the users' ids hash to under the seed."""
    key = np.uint64(stream_key(seed, "targets"))
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        return keyed_numbers(ratings.users.fingerprints[among], key)


def lowest(among: NDArray[np.int64], numbers: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Take those with the `n` lowest numbers; of equal ones those that come first."""
    return among[np.argsort(numbers, kind="stable")[:n]]
