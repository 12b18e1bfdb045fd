"""Which items are sensitive, and which the distance is taken over (SR §4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import called, named
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary


def item_keys(sensitive: Sequence[str]) -> tuple[str, ...]:
    """Return the ids as given; one text, or a number, is no list of them."""
    if isinstance(sensitive, (str, bytes)) or not isinstance(sensitive, Iterable):
        kind = "one text" if isinstance(sensitive, str) else type(sensitive).__name__
        raise ConfigError(
            f"{called('sensitive')}: give a list of item ids, not {kind}",
            advice='Write sensitive=["50"] for the item 50, () for none.',
            setting="sensitive",
        )
    return tuple(str(key) for key in sensitive)


def split_items(
    items: Vocabulary, sensitive: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split item indices into those that the distance is taken over and the sensitive ones.

    `sensitive`: item ids, each once. Returns `open, sensitive`: `open` ascending; `sensitive` in
    the order given.

    >>> parts = split_items(Vocabulary.of(["a", "b", "c"]), ["b"])
    >>> [part.tolist() for part in parts]
    [[0, 2], [1]]
    """
    chosen = items.indices([str(key) for key in sensitive])
    for place in np.flatnonzero(chosen < 0).tolist():
        raise ConfigError(
            f"sensitive item {place + 1} of the {len(chosen)} given is not among the items",
            advice="Ids are text: 7 and 007 are two items; give the id, not the name. With "
            f"{named('items')}, a sensitive item must be one of those chosen.",
            setting="sensitive",
        )
    if len(np.unique(chosen)) < len(chosen):
        raise ConfigError(
            f"{called('sensitive')}: an item is given more than once", setting="sensitive"
        )
    rest = np.setdiff1d(np.arange(len(items)), chosen)
    if not len(rest):
        raise ConfigError(
            f"{called('sensitive')}: all items are sensitive, so none is left to "
            "compare records by",
            advice="Leave at least one item that is not sensitive.",
        )
    return rest, chosen


_FLAT = 1e-6  # of a real scale's width: a smaller standard deviation of ratings counts as none


def moments(ratings: Ratings, sensitive: NDArray[np.integer]) -> NDArray[Any]:
    """Return the numbers whose sums over a ball give `spreads`.

    `sensitive` (q,): item indices. Returns (n_users, 3q): for each item: whether it was rated, the
    rating, and its square, 0 where it was not. On a stepped scale int64, ratings in steps above the
    minimum; on a real scale float64, ratings as they differ from the scale's middle.
    """
    place = np.full(ratings.n_items, -1)
    place[sensitive] = np.arange(len(sensitive))
    user = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    own = place[ratings.columns]
    cells = np.flatnonzero(own >= 0)
    if ratings.scale.step is not None:
        value: NDArray[Any] = ratings.codes[cells].astype(np.int64)
    else:
        value = ratings.levels[ratings.codes[cells]] - _origin(ratings.scale)
    out = np.zeros((ratings.n_users, len(sensitive), 3), dtype=value.dtype)
    out[user[cells], own[cells]] = np.stack([np.ones_like(value), value, value**2], axis=1)
    return out.reshape(ratings.n_users, 3 * len(sensitive))


def spreads(sizes: NDArray[np.integer], sums: NDArray[Any], scale: Scale) -> NDArray[np.float64]:
    """Return the standard deviation of each sensitive item in each ball.

    `sizes` (n,): records in each ball, nulls and the record itself included. `sums` (n, 3q):
    `moments`, summed over each ball. Returns (n, q): NaN where nobody in the ball rated the item.

    The paper's (6, null): the mean is 6, the null deviates by it.

    >>> spreads(np.array([2]), np.array([[1, 5, 25]]), Scale(1, 6, 1)).round(4).tolist()
    [[4.2426]]
    """
    parts = sums.reshape(len(sums), -1, 3)
    rated, total, squares = parts[..., 0], parts[..., 1], parts[..., 2]
    some = np.where(rated > 0, rated, 1)
    if scale.step is not None:
        # about the whole number next to the mean: exact where squares of sums would not fit
        centre = total // some
        rest = total - centre * some
        deviation = (squares - 2 * centre * total + centre * centre * some) - rest * (rest / some)
        mean = scale.minimum + scale.step * (total / some)
        deviation = deviation * scale.step**2
    else:
        mean = _origin(scale) + total / some
        deviation = squares - total * (total / some)
        # what is left of large squares that cancel is rounding: nobody differs
        deviation[deviation <= some * (_FLAT * scale.width) ** 2] = 0.0
    size = sizes[:, None]
    deviations = np.sqrt((deviation + (size - rated) * mean**2) / np.maximum(size, 1))
    return np.asarray(np.where(rated > 0, deviations, np.nan))


def too_low(deviations: NDArray[np.float64], l: float) -> NDArray[np.bool_]:  # noqa: E741
    """Tell which spreads are below l (by more than 1e-9); never one that does not exist."""
    return np.asarray(deviations < l - SLACK)


def spread_bound(ratings: Ratings, sensitive: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return half the range of each sensitive item's ratings: no spread is above it (Thm 1).

    The theorem holds only where every record has a rating: (6, null) has a spread of 4.24 and no
    range at all. Infinity where a record has a null, or where there is no record.

    `sensitive` (q,). Returns (q,).
    """
    bound = np.full(len(sensitive), np.inf)
    for place, item in enumerate(np.asarray(sensitive).tolist()):
        codes = ratings.codes[ratings.columns == item]
        if len(codes) == ratings.n_users and len(codes):
            bound[place] = (ratings.levels[codes.max()] - ratings.levels[codes.min()]) / 2
    return bound


def refuse_above_bound(ratings: Ratings, sensitive: NDArray[np.integer], l: float) -> None:  # noqa: E741
    """Refuse an l that no data with these ratings can reach."""
    refuse_above(spread_bound(ratings, sensitive), l)


def refuse_above(bound: NDArray[np.float64], l: float) -> None:  # noqa: E741 - the paper's name
    """Refuse an l above the `spread_bound` of a sensitive item."""
    for place in np.flatnonzero(bound < l - SLACK).tolist():
        raise ConfigError(
            f"{called('l')} = {l:g}: the ratings of sensitive item {place + 1} of the "
            f"{len(bound)} given span "
            f"{2 * bound[place]:g}, and no standard deviation is above half of that, "
            f"{bound[place]:g} (Theorem 1)",
            advice=f"Choose l from 0 to {bound.min():g}.",
        )


def _origin(scale: Scale) -> float:
    """Return what ratings of a real scale are measured from: small numbers, small rounding."""
    return scale.minimum + scale.width / 2
