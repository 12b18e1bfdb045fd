"""From public ratings to what is known in the data's own terms: items, ratings, days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Known
from starshade.errors import ConfigError, InputError
from starshade.naming import aside, called, named
from starshade.progress import note
from starshade.ratings.auxiliary.auxiliary import Auxiliary
from starshade.ratings.auxiliary.repeats import one_row_each
from starshade.ratings.rows.wrong import NAMED, Wrong, allowed_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.staging import NO_DAY
from starshade.release.cells import Cells
from starshade.release.columns import Columns

_AMBIGUOUS = -2  # a name that several items of the data bear


@dataclass(frozen=True, eq=False)
class Matched:
    """What is known of each person, in the data's terms.

    `indptr` (names + 1,): a person's cells are ``indptr[i]:indptr[i + 1]``; at least one. `items`
    (cells,): items of the data; -1 where they do not have it. `ratings` (cells,): on the data's
    scale; NaN where unknown. `days` (cells,): counted as the data do; NO_DAY where unknown, and
    everywhere if the data have no days. `unknown`, `ambiguous`: cells on items that the data lack;
    cells whose item's name several items bear. `repeated`: rows that repeated a person's item and
    were made one. `dated`: whether any day is of use.
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    ratings: NDArray[np.float64]
    days: NDArray[np.int32]
    unknown: int
    ambiguous: int
    repeated: int
    dated: bool

    def of(self, person: int) -> Known:
        """Return what is known of one person, whoever that is in the data."""
        cells = slice(self.indptr[person], self.indptr[person + 1])
        return Known(
            np.zeros(1, dtype=np.int64),
            self.items[None, cells],
            self.ratings[None, cells],
            self.days[None, cells],
        )

    def different_ratings(self) -> list[int]:
        """Return how many different ratings each person gave."""
        n_people = len(self.indptr) - 1
        rated = ~np.isnan(self.ratings)
        person = np.repeat(np.arange(n_people), np.diff(self.indptr))[rated]
        order = np.lexsort((self.ratings[rated], person))
        person, ratings = person[order], self.ratings[rated][order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(person) != 0) | (np.diff(ratings) != 0)
        counts: list[int] = np.bincount(person[new], minlength=n_people).tolist()
        return counts


def match(
    auxiliary: Auxiliary,
    cells: Cells | Columns,
    *,
    item_names: Sequence[str] | None,
    mapping: Mapping[str, str] | None,
    by_name: bool,
    aux_scale: Scale | None,
) -> Matched:
    """Say what public ratings mean in the data.

    `cells`: the data. `item_names`: published names, in item order. `mapping`: the other source's
    item → item of the data; what is not in it is unknown. `by_name`: what items are called (by the
    mapping, if there is one) are names, not ids. `aux_scale`: the scale of the public ratings,
    mapped onto the data's; None: the data's own.
    """
    scale = cells.symbols.scale
    place = _places(auxiliary.items, cells, item_names, mapping, by_name)
    if not (place >= 0).any():
        raise _none_known(auxiliary, place, cells, item_names, mapping, by_name)
    _refuse_off_scale(auxiliary, aux_scale, scale)
    item = place[auxiliary.item]
    # items that the data lack stay apart: each is a thing that is known
    rows, ratings, days = one_row_each(
        auxiliary, np.where(item >= 0, item, len(cells.items) + auxiliary.item)
    )
    dated = cells.days is not None and auxiliary.has_days
    if auxiliary.has_days and cells.days is None:
        note("the attacked data have no dates: those of the public ratings are of no use")
    known = np.bincount(auxiliary.person[rows], minlength=len(auxiliary.names))
    item = item[rows]
    return Matched(
        np.concatenate([[0], np.cumsum(known)]).astype(np.int64),
        np.maximum(item, -1).astype(np.int32),
        _mapped(ratings, aux_scale, scale),
        np.where((days == NO_DAY) | (not dated), NO_DAY, days - cells.first_day).astype(np.int32),
        unknown=int((item == -1).sum()),
        ambiguous=int((item == _AMBIGUOUS).sum()),
        repeated=len(auxiliary) - len(rows),
        dated=dated,
    )


def _places(
    items: Sequence[str],
    cells: Cells | Columns,
    item_names: Sequence[str] | None,
    mapping: Mapping[str, str] | None,
    by_name: bool,
) -> NDArray[np.int64]:
    """Return each item's index in the data, -1 where they lack it, _AMBIGUOUS by its name."""
    called = items if mapping is None else [mapping.get(item, "") for item in items]
    if not by_name:
        return cells.items.indices(called)
    if item_names is None:
        raise ConfigError(
            "the attacked data have no item names to match by",
            advice=f"Read ratings with item names{aside('item_names', 'FILE')}; a release has the "
            "names of its ratings. Or match by id, or by a mapping to ids"
            f"{aside('aux.mapping', 'FILE')}.",
        )
    bearers = Counter(item_names)
    index = {name: i for i, name in enumerate(item_names) if name}
    places = (
        _AMBIGUOUS if name and bearers[name] > 1 else index.get(name, -1)
        for name in (text.strip() for text in called)
    )
    return np.fromiter(places, dtype=np.int64, count=len(items))


def _none_known(
    auxiliary: Auxiliary,
    place: NDArray[np.int64],
    cells: Cells | Columns,
    item_names: Sequence[str] | None,
    mapping: Mapping[str, str] | None,
    by_name: bool,
) -> ConfigError:
    """Say what may be wrong where nothing fits, by looking whether the other way would fit."""
    if (place == _AMBIGUOUS).any():
        advice = "Their names are ambiguous (several items each): map them to ids."
    elif mapping is not None and not any(item in mapping for item in auxiliary.items):
        advice = (
            "None of them is in the mapping. Its first column must be the public item (else set "
            f"{named('aux.aux_col')}, {named('aux.data_col')}). Ids are text: 7, 007 and tt007 "
            "are three items."
        )
    elif by_name and (_places(auxiliary.items, cells, None, mapping, False) >= 0).any():
        advice = "They are ids of the data, not names: match by id (no "
        advice += f"{named('aux.by_name')})."
    elif not by_name and item_names is not None and set(item_names) & set(auxiliary.items):
        advice = "They are names of the data's items, not ids: match by name"
        advice += f"{aside('aux.by_name')}."
    else:
        advice = (
            "Ids are text: 7 and 007 are two items. Give a mapping of items"
            f"{aside('aux.mapping', 'FILE')}."
        )
    return ConfigError(
        f"{auxiliary.source}: none of its {len(auxiliary.items):,} items is in the attacked data",
        advice=advice,
    )


def _refuse_off_scale(auxiliary: Auxiliary, aux_scale: Scale | None, scale: Scale) -> None:
    theirs = scale if aux_scale is None else aux_scale
    if theirs.width == 0 and scale.width > 0:
        raise ConfigError(
            f"{called('aux_scale')} {theirs}: one rating only cannot be mapped onto {scale}",
            advice="Give the bounds of the scale, e.g. 1:10.",
        )
    known = np.flatnonzero(~np.isnan(auxiliary.ratings))
    off = known[~theirs.contains(auxiliary.ratings[known])]
    if not len(off):
        return
    first = ((int(row), f"rating {auxiliary.ratings[row]:.12g}") for row in off[:NAMED])
    whose = "the attacked data's scale" if aux_scale is None else "aux_scale"
    raise InputError(
        f"public ratings outside {whose} {theirs} (allowed: {allowed_ratings(theirs)})\n"
        + Wrong(len(off), tuple(first)).named(auxiliary.locate),
        advice=f"Give their scale ({named('aux_scale')}, e.g. 1:10 or 0.5:5:0.5); it is mapped "
        f"linearly onto {scale}."
        if aux_scale is None
        else "Correct the ratings or the scale.",
    )


def _mapped(
    ratings: NDArray[np.float64], aux_scale: Scale | None, scale: Scale
) -> NDArray[np.float64]:
    if aux_scale is None or aux_scale == scale or aux_scale.width == 0:
        return ratings
    share = (ratings - aux_scale.minimum) / aux_scale.width
    return np.asarray(scale.minimum + share * scale.width)
