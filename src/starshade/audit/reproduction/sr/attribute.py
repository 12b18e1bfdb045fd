"""A personal attribute as classes to be predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import named
from starshade.ratings.table import Ratings

MOST_CLASSES = 25  # more are no classes but names
_UNKNOWN = "not given"


@dataclass(frozen=True, eq=False)
class Labels:
    """Who belongs to which class."""

    attribute: str
    names: tuple[str, ...]  # of the classes; a null is a class of its own, "not given", the last
    codes: NDArray[np.int64]  # positions in `names`


def default_attribute(ratings: Ratings) -> str | None:
    """Return gender where there is one, else the first attribute with 2 to 25 classes."""
    if ratings.attributes is None:
        return None
    names = sorted(
        ratings.attributes.column_names, key=lambda name: name.casefold() not in ("gender", "sex")
    )
    for name in names:
        try:
            labels_of(ratings, name)
        except ConfigError:
            continue
        return str(name)
    return None


def labels_of(ratings: Ratings, attribute: str, edges: Sequence[float] = ()) -> Labels:
    """Return the classes of an attribute.

    A numeric one is cut into bands, each begun by one of the edges; without edges at its quartiles.
    """
    table = ratings.attributes
    names = [] if table is None else list(table.column_names)
    if table is None or attribute not in names:
        raise ConfigError(
            f"attribute {attribute!r}: the data have "
            + (", ".join(names) if names else "no personal attributes"),
            advice=f"Give one of them with {named('attribute')}."
            if names
            else f"They are read from a second file, with {named('users')}.",
        )
    column = table.column(attribute)
    if str(column.type) == "double":
        # None becomes NaN
        classes, codes = _bands(attribute, np.array(column.to_pylist(), np.float64), edges)
    elif len(edges):
        raise ConfigError(f"attribute {attribute}: edges are for numbers, and this one is text")
    else:
        texts = column.to_pylist()
        classes = sorted({text for text in texts if text is not None})
        code = {text: i for i, text in enumerate(classes)}
        codes = np.array([code.get(text, len(classes)) for text in texts], dtype=np.int64)
    if (codes == len(classes)).any():
        classes = [*classes, _UNKNOWN]
    if (distinct := len(np.unique(codes))) < 2 or len(classes) > MOST_CLASSES:
        raise ConfigError(
            f"attribute {attribute}: {distinct:,} different value{'s' * (distinct != 1)}; "
            f"allowed are 2 to {MOST_CLASSES}"
        )
    return Labels(attribute, tuple(classes), codes)


def _bands(
    attribute: str, values: NDArray[np.float64], edges: Sequence[float]
) -> tuple[list[str], NDArray[np.int64]]:
    """Cut numbers into bands; those that are not known get the code after the last."""
    known = values[~np.isnan(values)]
    cuts = np.asarray(edges, dtype=np.float64)
    if not len(edges) and len(known):
        # a value that occurs, so that it can be said in words
        quartiles = np.quantile(known, [0.25, 0.5, 0.75], method="higher")
        cuts = np.unique(quartiles[quartiles > known.min()])
    if not (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
        raise ConfigError(f"attribute {attribute}: edges must be finite, ascending numbers")
    edge_texts = [f"{cut:g}" for cut in cuts]
    names = ["all"] if not edge_texts else [f"below {edge_texts[0]}"]
    names += [f"{a} to below {b}" for a, b in pairwise(edge_texts)]
    names += [f"{edge_texts[-1]} or more"] if edge_texts else []
    codes = np.searchsorted(cuts, values, side="right")
    return names, np.where(np.isnan(values), len(names), codes).astype(np.int64)
