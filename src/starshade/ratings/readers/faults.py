"""What is wrong with the rows of an input: counted whole, the first five remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import named
from starshade.plain import percent
from starshade.ratings.rows.wrong import NAMED, Wrong
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import is_sum

_LONGEST = 40  # characters of a value that a message repeats


@dataclass(frozen=True)
class Fault:
    """One kind of mistake: what it is, with the values allowed, and what to do about it."""

    what: str
    advice: str


class Faults:
    """Collects the mistakes of one input while all of it is read.

    `locate`: row number (from 0 over the whole input) → where that row stands. `of`: what they are.
    """

    def __init__(self, locate: Callable[[int], str], of: str = "rows") -> None:
        self._locate, self._of = locate, of
        self.noted: dict[Fault, Wrong] = {}

    def __bool__(self) -> bool:
        return bool(self.noted)

    @property
    def total(self) -> int:
        """How many mistakes were noted."""
        return sum(wrong.total for wrong in self.noted.values())

    def add(self, fault: Fault, rows: NDArray[np.integer], text_of: Callable[[int], str]) -> None:
        """Note a mistake in some rows, ascending; `text_of(k)` describes the k-th of them."""
        if not len(rows):
            return
        first = [(int(rows[k]), text_of(k)) for k in range(min(len(rows), NAMED))]
        here = Wrong(len(rows), tuple(first))
        # a wide table's cells come column by column: the first are those of lowest number
        self.noted[fault] = self.noted.get(fault, Wrong()) + here

    def refuse(self) -> None:
        """Raise one InputError about everything that was added, if anything was."""
        if not self:
            return
        parts = [
            f"{each.what}\n{wrong.named(self._locate, self._of)}"
            for each, wrong in self.noted.items()
        ]
        advice = dict.fromkeys(fault.advice for fault in self.noted)
        raise InputError("\n".join(parts), advice=" ".join(advice))


def quoted(value: object) -> str:
    r"""Repeat a value in a message as it can be typed: quoted, cut when long.

    >>> print(quoted("\\N"), quoted("a'b"))
    '\N' "a'b"
    """
    text = str(value)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return f"'{text}'" if text.isprintable() and "'" not in text else repr(text)


_KNOWN = (66.0, 77.0, 88.0, *range(95, 100), 888.0, *range(995, 1000), 9999.0)
_KNOWN_LOW = (-1.0, -8.0, -9.0, -88.0, -98.0, -99.0, -999.0, -9999.0)
_FAR = 3  # times the highest other rating, or the widest other gap
_FEW = 6  # levels at most that are taken for codes
_DENSE = 4  # levels at least that make a scale
_MOST_LEVELS = 21  # of a scale on which 0 is questioned
_TOP = 3  # a scale below that may have a negative end
_RARE = 0.02  # share of 0, which may be an end of the scale by mistake
_DIGIT = (6.0, 7.0, 8.0, 9.0)  # codes of one digit, above a shorter scale
_LAST_DIGITS = 8  # a scale that ends here or at 9 is rare
_LONGEST_SCALE = 100  # of whole numbers; beyond it they are counts, if they are skewed
_SKEWED = 10  # times what half of the values reach
_OFTEN = 10  # ratings of a level beside one that is unused by no chance


def suspect_codes(ratings: Ratings) -> tuple[str, ...]:
    """Say in a note which ratings look like codes, where the scale was found in the data.

    A wide table is judged by its columns too: one of them may be an attribute that was not declared
    as such. Rows that sum up others are left aside.

    Returns: one sentence, or none.
    """
    if not ratings.report.scale_inferred:
        return ()
    levels, by_item = ratings.levels, ratings.by_item
    wide = ratings.report.format == "wide"
    columns = np.split(by_item.codes, by_item.indptr[1:-1]) if wide else [by_item.codes]
    first = len(ratings.users.integers)
    if sums := [i for i, user in enumerate(ratings.users.texts, first) if is_sum(user)]:
        own = ~np.isin(by_item.users, sums)
        parts = np.split(own, by_item.indptr[1:-1]) if wide else [own]
        columns = [codes[kept] for codes, kept in zip(columns, parts, strict=True)]
    filled = wide and ratings.n_ratings == ratings.n_users * ratings.n_items
    counts = [np.bincount(each, minlength=len(levels)) for each in columns]
    return suspected(levels, counts, filled=filled)


def suspected(
    levels: NDArray[np.float64], columns: Sequence[NDArray[np.int64]], *, filled: bool = False
) -> tuple[str, ...]:
    """Say which ratings look like codes; `columns`: how often each level stands there.

    Of several columns, most of those in which a code stands must have it outside what else they
    hold. `filled`: whether every cell of a wide table has a rating.
    """
    together = np.asarray(np.sum(columns, axis=0))
    whole = outlying(levels, together)
    alone = [outlying(levels, counts) for counts in columns]
    flagged = np.logical_or.reduce([whole, *alone])
    votes = np.zeros(len(levels), dtype=np.int64)
    # what stands in one column of several may be an attribute
    several = np.sum([counts > 0 for counts in columns], axis=0) > min(1, len(columns) - 1)
    for counts, own in zip(columns, alone, strict=True):
        present = counts > 0
        rest = levels[present & ~flagged]
        if not len(rest):
            continue
        beyond = whole & several & ((levels > rest.max()) | ((levels < rest.min()) & (levels < 0)))
        votes += np.where(own | beyond, 1, -1) * present
    codes = [f"{value:.12g}" for value in levels[flagged & (votes > 0)]]
    share = _share_of_zero(levels, np.where(flagged, 0, together), filled=filled)
    if share:
        values = ["0", *codes]
        return (
            f"0 is {100 * share:.0f} % of the ratings and may mean 'not rated'"
            + (f"; {', '.join(codes)} may mean 'no answer'" if codes else "")
            + f": if so, add {named('null_values', values)}",
        )
    if not codes:
        return ()
    looks = "may be a code" if len(codes) == 1 else "may be codes"
    listed = " and ".join([", ".join(codes[:-1]), codes[-1]] if codes[1:] else codes)
    return (f"{listed} {looks} for 'no answer': if so, add {named('null_values', codes)}",)


def _share_of_zero(
    levels: NDArray[np.float64], counts: NDArray[np.int64], *, filled: bool
) -> float:
    """Return the share of 0 where it looks like "not rated", else 0.

    It is the lowest and most frequent level, far above the next one, of a scale of few levels; or
    it prevails in a wide table whose every cell has a rating.
    """
    places = np.flatnonzero(counts)
    if len(places) < 2 or levels[places[0]] != 0:
        return 0.0
    present, top = counts[places], levels[places[-1]]
    share = float(present[0] / present.sum())
    if filled and share > 0.5 and top >= _TOP:
        return share
    few = _DENSE < len(places) <= _MOST_LEVELS and top >= _TOP
    far = present[0] == present.max() and present[0] >= _FAR * present[1]
    return share if few and far and not _is_tail(present[1:]) else 0.0


def remark(levels: NDArray[np.float64], counts: NDArray[np.int64], scale: Scale) -> str:
    """Say in a note what is odd about the scale found, but may well be right; else nothing.

    `counts`: how often each level stands.
    """
    return _rare_zero(levels, counts, scale) or _counts_of_something(levels, counts)


def _counts_of_something(levels: NDArray[np.float64], counts: NDArray[np.int64]) -> str:
    """Say that the values look like counts: whole, many, and far beyond what half of them reach."""
    places = np.flatnonzero(counts)
    present, often = levels[places], counts[places]
    if len(places) <= _MOST_LEVELS or present[0] < 0 or (present != np.floor(present)).any():
        return ""
    half = present[int(np.searchsorted(np.cumsum(often), often.sum() / 2))]
    top = present[-1]
    if top <= _LONGEST_SCALE or top < _SKEWED * max(half, 1):
        return ""
    return (
        f"these look like counts, not ratings on a scale: whole numbers up to {top:.12g}, half "
        f"of them at most {half:.12g}. Bands, their logarithm, or 1 in every row are easier to "
        "release"
    )


def _rare_zero(levels: NDArray[np.float64], counts: NDArray[np.int64], scale: Scale) -> str:
    """Say that 0 is the rare end of the scale found; nothing where it is not.

    It may well be a rating: so this is no question.
    """
    places = np.flatnonzero(counts)
    if not _DENSE < len(places) <= _MOST_LEVELS or levels[places[0]] != 0 or scale.maximum < _TOP:
        return ""
    share = float(counts[places[0]] / counts.sum())
    if share > _RARE or _FAR * counts[places[0]] > counts[places[1]]:
        return ""
    return (
        f"0 is {percent(share)} of the ratings and an end of the inferred scale, {scale}: if it "
        f"means 'not rated', add {named('null_values', ['0'])}"
    )


def outlying(levels: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the levels that look like codes: few, whole, and apart from all others.

    High ones lie beyond an empty gap; low ones are negative while the scale is not, or lie below
    an empty gap. `counts`: how often each level stands; of an absent level 0.
    """
    codes = np.zeros(len(levels), dtype=np.bool_)
    places = np.flatnonzero(counts)
    # numbers far below any scale would pass for its negative half
    low = _beyond(-levels[places[::-1]], counts[places[::-1]])
    codes[places[:low]] = low > 0 and levels[places[0]] < 0
    places = places[low if codes.any() else 0 :]
    high = _beyond(levels[places], counts[places])
    codes[places[len(places) - high :]] = True
    places = places[: len(places) - high]
    negative = places[levels[places] < 0]
    if _is_low_group(levels[negative], levels[places[len(negative) :]]):
        codes[negative] = True
    return codes


def _beyond(values: NDArray[np.float64], counts: NDArray[np.int64]) -> int:
    """Count the levels above an empty gap that look like codes; `values`: ascending."""
    for n in range(min(_FEW, len(values) - 1), 0, -1):
        body, group = values[:-n], values[-n:]
        known = bool(np.isin(group, _KNOWN).all())
        if (n > len(body) and not known) or (group != np.floor(group)).any():
            continue
        gap, inner = group[0] - body[-1], np.diff(body).max(initial=1)
        if _is_above_unused(body, group, counts[:-n]):
            return n
        if gap < _FAR * inner:
            continue
        size = max(abs(body[0]), abs(body[-1]), 1)
        near = len(body) >= _DENSE and body[0] >= 0 and np.isin(group, _DIGIT).all()
        often = (
            len(body) >= _DENSE
            and (
                counts[-n:].sum() > 1
                # 55 for 5: once, above levels without a gap of which each is frequent
                or (inner == 1 and counts[:-n].min() >= _FAR)
            )
        )
        if not (near or (group[0] >= _FAR * size and (known or often))):
            continue
        upper = counts[:-n][len(body) // 2 :].max()
        if not _is_tail(counts[:-n]) or counts[-n:].sum() >= _FAR * n * upper:
            return n
    return 0


def _is_above_unused(
    body: NDArray[np.float64], group: NDArray[np.float64], counts: NDArray[np.int64]
) -> bool:
    """Tell whether 7, 8 and 9 lie above 1 to 5, or 9 above 1 to 7, but for one level unused.

    The level below it is frequent, and it is no chance that one is unused; `counts`: of the body.
    """
    whole = len(body) >= _DENSE and body[0] in (0, 1) and (np.diff(body) == 1).all()
    if not whole or group[0] - body[-1] != 2 or not np.isin(group, _DIGIT).all():
        return False
    return bool(group[-1] >= _LAST_DIGITS and counts[-1] >= _OFTEN and not _is_tail(counts))


def _is_tail(counts: NDArray[np.int64]) -> bool:
    """Tell whether high levels are so much rarer than low ones that these are counts."""
    half = len(counts) // 2
    return len(counts) >= _DENSE and bool(_FAR * counts[half:].sum() <= counts[:half].sum())


def _is_low_group(negative: NDArray[np.float64], rest: NDArray[np.float64]) -> bool:
    """Tell whether a few negative levels are no part of a scale that has two signs."""
    few = 0 < len(negative) <= _FEW and (negative == np.floor(negative)).all()
    if not few or not len(rest) or rest[-1] < _TOP:
        return False
    if len(rest) < _DENSE and not np.isin(negative, _KNOWN_LOW).all():
        return False
    # two signs: as dense below zero as above, and about as far
    dense = len(negative) >= -negative[0]
    reach = 0.5 if rest[0] == 0 else 0.9
    return not (dense and len(negative) > 1 and -negative[0] >= reach * rest[-1])
