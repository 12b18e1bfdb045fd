"""Releases built by hand and by Hypothesis: rows of sets or ranges, with multiplicity."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols
from starshade.release.manifest import Manifest, ScaleModel
from starshade.release.table import Link, Private, Release
from tests.strategies import table


def release(
    rows: list[dict[int, int]],
    sizes: list[int],
    symbols: Symbols,
    items: Vocabulary,
    link: Link | None = None,
) -> Release:
    """Build a release from rows item position -> symbol."""
    cells = [(g, i) for g, row in enumerate(rows) for i in sorted(row)]
    classes = Cells(
        items=items,
        sizes=np.array(sizes, dtype=np.int64),
        indptr=np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        columns=np.array([i for _, i in cells], dtype=np.int32),
        codes=np.array([rows[g][i] for g, i in cells], dtype=np.uint8),
        symbols=symbols,
    )
    manifest = Manifest(
        method="by hand",
        layout="profile",  # of a method that moves ratings: the truth need not fit its cells
        scale=ScaleModel.of(symbols.scale),
        records=sum(sizes),
        items=len(items),
        classes=len(rows),
    )
    private = None if link is None else Private(link=link, seed=0, config={})
    return Release(manifest, classes, private=private)


@st.composite
def symbol_tables(draw: st.DrawFn) -> Symbols:
    """Some distinct contents: sets with and without null, or ranges on a real scale."""
    if draw(st.booleans()):
        scale = draw(st.sampled_from([Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(3, 3, 1)]))
        level = st.sampled_from(scale.levels.tolist())
        content = st.tuples(st.frozensets(level, min_size=1, max_size=4), st.booleans())
        contents = draw(st.lists(content, min_size=1, max_size=5, unique=True))
        members = [np.array(sorted(members)) for members, _ in contents]
        return Symbols.sets(scale, members, np.array([null for _, null in contents]))
    scale = Scale(-10, 10)
    bound = st.sampled_from([-11.0, -10.5, -10.0, -7.5, 0.0, 0.25, 3.0, 10.0])
    pairs = st.tuples(bound, bound).map(lambda p: (min(p), max(p)))
    ranges = draw(st.lists(pairs.filter(lambda p: p[1] > -11), min_size=1, max_size=5, unique=True))
    low, high = np.array(ranges).T
    return Symbols.ranges(scale, low, high)


@st.composite
def releases(draw: st.DrawFn, *, linked: bool) -> tuple[Ratings, Release]:
    """A release of some records beside an original that fits it more or less.

    The original has items that were not released and users who have no record, the release
    perhaps an item that the original lacks; ratings are members of their record's cells more
    often than not.
    """
    symbols = draw(symbol_tables())
    scale = symbols.scale
    n_items = draw(st.integers(1, 4))
    row = st.dictionaries(st.integers(0, n_items - 1), st.integers(0, len(symbols) - 1))
    rows = draw(st.lists(row, min_size=1, max_size=4))
    sizes = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    n_records = sum(sizes)
    n_users = n_records + draw(st.integers(0, 2))
    original_items = sorted(draw(st.permutations(range(n_items + 2)))[:n_items])
    place = draw(st.permutations(range(n_records)))
    class_of = np.repeat(np.arange(len(rows)), sizes)
    truth: list[dict[int, float]] = []
    for u in range(n_users):
        ratings: dict[int, float] = {}
        released = rows[class_of[place[u]]] if u < n_records else {}
        for position, item in enumerate(original_items):
            symbol = released.get(position)
            rating = _draw_rating(draw, scale, symbols, symbol)
            if rating is not None:
                ratings[item] = rating
        for item in set(range(n_items + 2)) - set(original_items):
            if draw(st.booleans()):
                ratings[item] = scale.maximum
        truth.append(ratings)
    original = table(truth, scale, n_items=n_items + 2)
    link = None
    if linked:
        link = Link(original.users.take(np.arange(n_records)), np.array(place, dtype=np.int64))
    items = original.items.take(np.array(original_items))
    if draw(st.booleans()):  # an item that the original does not know, first in key order
        items = Vocabulary(np.append(0, items.integers))
        extra = st.none() | st.integers(0, len(symbols) - 1)
        rows = [{i + 1: symbol for i, symbol in row.items()} for row in rows]
        for row in rows:
            if (symbol := draw(extra)) is not None:
                row[0] = symbol
    return original, release(rows, sizes, symbols, items, link)


def _draw_rating(
    draw: st.DrawFn, scale: Scale, symbols: Symbols, symbol: int | None
) -> float | None:
    levels = (
        scale.levels if scale.step is not None else np.array([-10.0, -7.5, 0.0, 0.1, 3.0, 10.0])
    )
    if symbol is None:
        fitting: list[float | None] = [None]
    else:
        inside = symbols.contains(levels)[:, symbol]
        fitting = [*levels[inside].tolist(), *([None] if symbols.null[symbol] else [])]
    if fitting and draw(st.integers(0, 3)):
        return draw(st.sampled_from(fitting))
    return draw(st.sampled_from([None, *levels.tolist()]))
