"""Records as words of one-hot fields: who is near whom is asked of many items at once.

Each item of a record has a field of a few bits. A record *stands* on one bit of each field, that
of its own code, and *accepts* the bits of all codes that are near its own. So b is near a on
every item when no bit on which b stands lies outside what a accepts: ``U(b) & ~A(a) == 0`` for
every word. Twenty items of six codes are two words. What a null is near to is a bit like any
other, which is why the null rules need no code of their own.

The bits of a *group* of records are OR-ed: where nothing that a accepts is stood on in some field,
no record of the group is near a; where a accepts everything that is stood on, all of them are.

A scale of many levels would need wide fields. There neighbouring levels share a bit, a *bucket*;
a record then accepts at most (`outer`) and at least (`inner`) so many buckets, and what lies
between is compared code by code. Where every code has a bit to itself, outer and inner agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import Bools, Int32s, Ints, Words, inner

_MOST_EXACT = 21  # codes with a bit each: three items to a word
_BUCKETS = 31  # of rated levels, where they are more; and one for null
_ONE = np.uint64(1)

APART, MIXED, INSIDE = 0, 1, 2


class Fields(NamedTuple):
    """How codes become bits; 0 is null, codes that do not occur are not told apart.

    `bucket` (n_codes,): which bit of a field a code stands on. `outer`, `inner` (n_codes,): the
    bits of one field on which a near code may stand; on which none but near codes stand. `touch`
    (width,): the union of `outer` over the codes of a bucket. `width`, `per_word`: bits of a field;
    fields in a word. `exact`: whether outer and inner agree, so that no code need be compared.
    `folds`: shifts that bring all bits of a field together in its lowest. `low`, `high`, `null`:
    the rule, code by code (`ratings.proximity.rule.Rule`).
    """

    bucket: Words
    outer: Words
    inner: Words
    touch: Words
    width: int
    per_word: int
    exact: bool
    folds: Words
    low: Int32s
    high: Int32s
    null: Bools


def fields_of(low: Int32s, high: Int32s, null: Bools, counts: NDArray[np.integer]) -> Fields:
    """Choose the fields for a rule and the codes that occur."""
    used = np.flatnonzero(counts)
    rated = used[used > 0]
    bit_of_null = int(counts[0] > 0)
    bucket = np.zeros(len(low), np.int64)
    if len(used) <= _MOST_EXACT:
        bucket[rated] = np.arange(len(rated)) + bit_of_null
    else:  # about equally many ratings in each
        before = np.cumsum(counts[rated]) - counts[rated]
        share = before * _BUCKETS // counts[rated].sum()
        bucket[rated] = np.unique(share, return_inverse=True)[1] + bit_of_null
    width = int(bucket.max(initial=0)) + 1
    outer, inner = _ranges(low, high, rated, bucket)
    if bit_of_null:
        for masks in (outer, inner):
            masks[null] |= _ONE
    touch = np.zeros(width, np.uint64)
    np.bitwise_or.at(touch, bucket[used], outer[used])
    return Fields(
        bucket=bucket.astype(np.uint64),
        outer=outer,
        inner=inner,
        touch=touch,
        width=width,
        per_word=64 // width,
        exact=bool((outer[used] == inner[used]).all()),
        folds=_folds(width),
        low=low,
        high=high,
        null=null,
    )


def _ranges(low: Int32s, high: Int32s, rated: Ints, bucket: Ints) -> tuple[Words, Words]:
    """Return the buckets that each code's near ratings touch, and those they fill."""
    if not len(rated):
        return np.zeros(len(low), np.uint64), np.zeros(len(low), np.uint64)
    own = bucket[rated]  # ascending
    first, last = np.searchsorted(rated, low), np.searchsorted(rated, high, side="right") - 1
    none = first > last
    first, last = np.minimum(first, len(rated) - 1), np.maximum(last, 0)
    starts, ends = np.searchsorted(own, own), np.searchsorted(own, own, side="right") - 1
    outer = _run(own[first], own[last])
    inner = _run(own[first] + (starts[first] < first), own[last] - (ends[last] > last))
    outer[none] = inner[none] = 0
    return outer, inner


def _run(first: Ints, last: Ints) -> Words:
    length = np.maximum(last - first + 1, 0).astype(np.uint64)
    return np.asarray(((_ONE << length) - _ONE) << first.astype(np.uint64))


def _folds(width: int) -> Words:
    spans = []
    span = 1
    while span < width:
        spans.append(min(span, width - span))
        span += spans[-1]
    return np.array(spans, dtype=np.uint64)


def low_bits(fields: Fields, items: Ints) -> Words:
    """Return the lowest bits of the fields in the last word of a record of so many items."""
    marks = np.zeros(fields.per_word + 1, np.uint64)
    for place in range(fields.per_word):
        marks[place + 1] = marks[place] | _ONE << np.uint64(place * fields.width)
    return np.asarray(marks[(items - 1) % fields.per_word + 1])


@inner
def accept(masks, row, fields, out):  # type: ignore[no-untyped-def]
    """Write the words that a row of codes accepts; `masks` is outer or inner."""
    out[:] = 0
    for j in range(len(row)):
        shift = np.uint64((j % fields.per_word) * fields.width)
        out[j // fields.per_word] |= masks[row[j]] << shift


@inner
def relation(stood, at, n_words, outer, inner, q, folds, lows, last_lows):  # type: ignore[no-untyped-def]
    """Tell how a group of records lies to query q: APART, MIXED or INSIDE.

    The group's words are ``stood[at:at + n_words]``, what the query accepts is ``outer[q]`` and
    ``inner[q]``; `lows` and `last_lows` mark the lowest bit of each field in a word, and in the
    last one.
    """
    inside = True
    for w in range(n_words):
        own = stood[at + w]
        met = own & outer[q, w]
        for fold in folds:
            met |= met >> fold
        marks = last_lows if w == n_words - 1 else lows
        if met & marks != marks:
            return APART
        if own & ~inner[q, w] != 0:
            inside = False
    return INSIDE if inside else MIXED
