"""Which items are sensitive, and which the distance is taken over (SR §4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import called, named
from starshade.ratings.vocabulary import Vocabulary

__all__ = ["item_keys", "split_items"]


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
        raise ConfigError(f"{called('sensitive')}: an item is given twice", setting="sensitive")
    rest = np.setdiff1d(np.arange(len(items)), chosen)
    if not len(rest):
        raise ConfigError(
            f"{called('sensitive')}: every item is, so there is none to tell people apart by",
            advice="Leave at least one item that is not sensitive.",
        )
    return rest, chosen
