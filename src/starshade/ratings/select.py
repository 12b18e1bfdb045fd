"""Which items to work on: the most rated ones, or a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.files.side import ITEM_LIST, read_side_text
from starshade.plain import counted
from starshade.progress import announced, note
from starshade.ratings.table import Ratings

_SHOWN = 5  # places listed in a message


@dataclass(frozen=True)
class ItemSelection:
    """A choice of items; build one with `top_items`, `listed_items` or `parse_items`.

    Attributes
    ----------
    top : int or None
        The number of most rated items, or None for a list.
    keys : tuple of str
        Item ids of a list; kept out of `repr` and `str`.
    lines : tuple of int
        Where each key stood: its line in the file, or its position (from 1) in the list.
    place : {"line", "position"}
        What `lines` count.
    """

    top: int | None = None
    keys: tuple[str, ...] = field(default=(), repr=False)
    lines: tuple[int, ...] = field(default=(), repr=False)
    place: str = "position"

    @typed
    @announced("selecting items")
    def apply(self, ratings: Ratings, *, show_values: bool = False) -> Ratings:
        """Return the table of these items; users left without a rating are dropped and counted.

        Parameters
        ----------
        ratings : Ratings
        show_values : bool
            Let an error name the ids, not only where they stood.

        Raises
        ------
        ConfigError
            More items asked for than there are, an unknown item, or nobody rated any of them.
        """
        if self.top is not None:
            if self.top > ratings.n_items:
                raise ConfigError(
                    f"items top:{self.top}: the data have {counted(ratings.n_items, 'item')}",
                    advice=f"Choose 1 to {ratings.n_items}.",
                    setting="items",
                )
            indices = ratings.most_rated(self.top)
        else:
            indices = ratings.items.indices(self.keys)
            self._refuse_unknown(ratings, indices < 0, show_values)
        kept = ratings.keep_items(indices)
        if kept.n_users == 0:
            raise ConfigError(f"items {self}: no user rated any of them", setting="items")
        dropped = ratings.n_users - kept.n_users
        note(
            f"items {self}: {counted(kept.n_items, 'item')}, {counted(kept.n_users, 'user')}, "
            f"{counted(kept.n_ratings, 'rating')}; dropped {counted(dropped, 'user')} who rated "
            "none of them"
        )
        return kept

    def _refuse_unknown(
        self, ratings: Ratings, unknown: np.ndarray[tuple[int], np.dtype[np.bool_]], show: bool
    ) -> None:
        where = np.flatnonzero(unknown).tolist()
        if not where:
            return
        padded = any(ratings.items.index(self.keys[i].strip()) >= 0 for i in where)
        raise ConfigError(
            f"items: {len(where)} of {len(self.keys)} are not in the data, "
            + _places(self.place, [self.lines[i] for i in where])
            + (f" ({', '.join(repr(self.keys[i]) for i in where[:_SHOWN])})" if show else ""),
            advice="Blanks around an id are part of it: remove them."
            if padded
            else "Ids are text: 7 and 007 are two items; give the id, not the name.",
            setting="items",
        )

    def __str__(self) -> str:
        return f"top:{self.top}" if self.top is not None else f"listed:{len(self.keys)}"


@typed
def top_items(n: int) -> ItemSelection:
    """Choose the n most rated items (ties by item key).

    Raises
    ------
    ConfigError
        n is below 1.

    Examples
    --------
    >>> str(top_items(10))
    'top:10'
    """
    if n < 1:
        raise ConfigError(f"items top:{n}: at least 1 item is needed", setting="items")
    return ItemSelection(top=int(n))


@typed
def listed_items(keys: Iterable[str], *, show_values: bool = False) -> ItemSelection:
    """Choose items by id, in any order, each once.

    Raises
    ------
    ConfigError
        No id, or one given twice.

    Examples
    --------
    >>> str(listed_items(["50", "258"]))
    'listed:2'
    """
    listed = tuple(str(key) for key in keys)
    return _listed(listed, range(1, len(listed) + 1), "position", "", show_values)


def parse_items(text: str, *, show_values: bool = False) -> ItemSelection:
    """Read ``top:N`` or the path of a file of item ids.

    The file is UTF-8, one id per line; blank lines are ignored, all else on a line is the id.
    """
    if text.startswith("top:"):
        number = text.removeprefix("top:")
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise ConfigError(
                f"items {text!r}: a whole number must follow top:, e.g. top:10", setting="items"
            )
        return top_items(int(number))
    if not text:
        raise ConfigError(
            "items: an empty path", advice="Give top:N, or the path of a file.", setting="items"
        )
    content = read_side_text(text, ITEM_LIST)
    # universal newlines made every line end a single \n; other separators belong to the id
    lines = [(i, line) for i, line in enumerate(content.split("\n"), 1) if line.strip()]
    keys = tuple(line for _, line in lines)
    return _listed(keys, [i for i, _ in lines], "line", f" file {text}", show_values)


def _listed(
    keys: tuple[str, ...], lines: Sequence[int], place: str, source: str, show: bool
) -> ItemSelection:
    if not keys:
        raise ConfigError(f"items{source}: it contains no item id")
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    repeats = [i for i, key in enumerate(keys) if first[key] != i]
    if repeats:
        raise ConfigError(
            f"items{source}: {len(repeats)} ids occur more than once, again on "
            + _places(place, [lines[i] for i in repeats])
            + (f" ({', '.join(repr(keys[i]) for i in repeats[:_SHOWN])})" if show else ""),
            advice="Name each item once.",
        )
    return ItemSelection(keys=keys, lines=tuple(lines), place=place)


def _places(place: str, numbers: list[int]) -> str:
    listed = ", ".join(str(n) for n in numbers[:_SHOWN])
    return f"{place}{'s' if len(numbers) > 1 else ''} {listed}" + (
        ", …" if len(numbers) > _SHOWN else ""
    )
