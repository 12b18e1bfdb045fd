"""Personal attributes as queries need them: sorted once, added up by class once.

An attribute of one record may be half known: a generalized one is a range or a set, perhaps with a
null among its members. So each record has a low and a high end, and two answers to "has it a
value": surely (`known`) and perhaps (`maybe`). All that a record may have is equally likely, null
being one member of a set, and as likely as a value beside a range. An exact attribute has equal
ends and answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, ReleaseError
from starshade.naming import aside
from starshade.release.quasi import is_range

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_GREATEST_SUM = 1e300


@dataclass(frozen=True, eq=False)
class Ranked:
    """One value per record, by rank.

    `values`: the distinct values, ascending: an array of numbers, or a list of text by code point.
    `codes` (n_records,): the place in `values`; 0 where there is no value.
    """

    values: Any
    codes: NDArray[np.int32]

    def counts(self, records: Bools) -> Ints:
        """Count each value among some records that have one, shape (len(values),)."""
        return np.bincount(self.codes[records], minlength=len(self.values))


@dataclass(frozen=True, eq=False)
class Column:
    """One personal attribute.

    `kind` ({"number", "text", "set"}): a set is a generalized category: it can be counted, and
    nothing else. `exact`: whether values are those of single people rather than what a class has in
    common. `known`, `maybe` (bool (n_records,)). `low`, `high`, `middle`: the ends and the middle
    of what each record may have; the same object where exact. `counts` (n_classes,): expected
    number of records with a value, int64 where exact. `totals` (float64 (n_classes,)): expected sum
    of their middles; zeros for text. `open_ended`: whether some range has no low or no high end: it
    can be counted, and nothing else.
    """

    name: str
    kind: str
    exact: bool
    known: Bools
    maybe: Bools
    low: Ranked | None
    high: Ranked | None
    middle: Ranked | None
    counts: Any
    totals: Floats
    open_ended: bool = False


def column_of(
    name: str, data: pa.ChunkedArray, starts: Ints, bounds: tuple[float, float] | None = None
) -> Column:
    """Prepare one attribute.

    `data`: a value per record, records in the order of their classes. `starts` (int64
    (n_classes,)): first record of each class. `bounds` (float, float), optional: declared ends of
    ranges that have none of their own.
    """
    import pyarrow as pa

    kind = data.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        missing = data.is_null(nan_is_null=True).to_numpy()
        numbers = _numbers(name, data, missing)
        return _numeric(name, numbers, numbers, ~missing, ~missing, starts, exact=True)
    if _is_text(kind):
        known = data.is_valid().to_numpy()
        ranked = _ranked_text(data)
        counts = _per_class(known.astype(np.int64), starts)
        totals = np.zeros(len(starts))
        return Column(name, "text", True, known, known, ranked, ranked, ranked, counts, totals)
    if pa.types.is_struct(kind):
        return _ranges(name, data.combine_chunks(), starts, bounds)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _sets(name, data.combine_chunks(), starts)
    raise ReleaseError(f"the personal attribute {name!r} has type {kind}, which no release has")


def check_released(name: str, data: pa.ChunkedArray, shared: bool) -> None:
    """Refuse an attribute of a form that no release has.

    `shared`: whether the manifest states it as generalized, the same for a whole class.
    """
    import pyarrow as pa

    kind = data.type
    if shared and is_range(kind):
        ends = [data.combine_chunks().field(end) for end in ("low", "high")]
        if not all(pa.types.is_floating(end.type) for end in ends):
            raise _unfit(name, kind, shared)
        low, high = (end.to_numpy(zero_copy_only=False) for end in ends)
        valid = [end.is_valid().to_numpy(zero_copy_only=False) for end in ends]
        if data.null_count or (valid[0] != valid[1]).any() or (low > high).any():
            raise ReleaseError(f"the personal attribute {name!r} has a range without two ends")
        closed = valid[0] & (low != -np.inf), valid[1] & (high != np.inf)  # an end may be open
        numbers = np.concatenate([low[closed[0]], high[closed[1]]])
    elif shared:
        listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if not listed or not _is_text(kind.value_type):
            raise _unfit(name, kind, shared)
        return
    else:
        if _is_text(kind):
            return
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise _unfit(name, kind, shared)
        numbers = data.drop_null().to_numpy()
    if not np.isfinite(numbers).all():
        raise ReleaseError(
            f"the personal attribute {name!r} has a number that is not finite",
            advice="Inspect the release with `starshade check`.",
        )


def _unfit(name: str, kind: Any, shared: bool) -> ReleaseError:
    allowed = "ranges low, high, null or lists of text" if shared else "numbers or text"
    return ReleaseError(
        f"the personal attribute {name!r} has type {kind}; a release has {allowed}",
        advice="Inspect the release with `starshade check`.",
    )


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers(name: str, data: pa.ChunkedArray, missing: Bools) -> Floats:
    import pyarrow as pa

    try:
        numbers = data.cast(pa.float64()).fill_null(0.0).to_numpy()
    except pa.ArrowInvalid:
        raise ConfigError(
            f"the personal attribute {name!r} has whole numbers beyond 2^53, which cannot be "
            "summed exactly",
            advice="Use a larger unit, or text for numbers that are names.",
        ) from None
    return np.where(missing, 0.0, numbers)


def _numeric(
    name: str, low: Floats, high: Floats, known: Bools, maybe: Bools, starts: Ints, *, exact: bool
) -> Column:
    for end in (low, high):
        if not float(np.abs(end).max(initial=0.0)) * len(end) <= _GREATEST_SUM:
            raise ConfigError(
                f"the personal attribute {name!r} has infinite values or values too large to sum "
                f"(sums must stay below {_GREATEST_SUM:g})",
                advice="Correct them, replace them by null, or use a larger unit.",
            )
    lows = _ranked(low)
    highs = lows if exact else _ranked(high)
    middle = low if exact else (low + high) / 2
    chance = maybe.astype(np.int64) if exact else (known.astype(np.float64) + maybe) / 2
    return Column(
        name=name,
        kind="number",
        exact=exact,
        known=known,
        maybe=maybe,
        low=lows,
        high=highs,
        middle=lows if exact else _ranked(middle),
        counts=_per_class(chance, starts),
        totals=_per_class(np.where(maybe, chance * middle, 0.0), starts),
    )


def _ranges(
    name: str, data: pa.StructArray, starts: Ints, bounds: tuple[float, float] | None
) -> Column:
    """Read ``struct<low, high, null>``: low and high are null where all members are."""
    low, high = data.field("low"), data.field("high")
    maybe = low.is_valid().to_numpy(zero_copy_only=False)
    null = data.field("null").fill_null(True).to_numpy(zero_copy_only=False)
    ends = [end.fill_null(0.0).to_numpy(zero_copy_only=False) for end in (low, high)]
    open_ended = bounds is None and bool(np.isinf(ends).any())
    least, most = bounds or (0.0, 0.0)
    low, high = (np.where(np.isinf(e), b, e) for e, b in zip(ends, (least, most), strict=True))
    if bounds is not None and ((low < least) | (high > most))[maybe].any():
        raise ConfigError(
            f"bounds of {name}: some ranges begin or end outside {least:g}:{most:g}",
            advice="Declare bounds that hold for every possible value; if the ratings set them, "
            f"give the personal attributes of the released people{aside('users', 'FILE')}.",
        )
    column = _numeric(name, low, high, maybe & ~null, maybe, starts, exact=False)
    return replace(column, open_ended=open_ended)


def _sets(name: str, data: pa.ListArray, starts: Ints) -> Column:
    """Read ``list<string>``: a null among the members stands at the front."""
    members = data.to_pylist()
    known = np.array([bool(m) and m[0] is not None for m in members], dtype=np.bool_)
    maybe = np.array([bool(m) and m[-1] is not None for m in members], dtype=np.bool_)
    chance = [(len(m) - (m[0] is None)) / len(m) if m else 0.0 for m in members]
    counts = _per_class(np.array(chance, dtype=np.float64), starts)
    totals = np.zeros(len(starts))
    return Column(name, "set", False, known, maybe, None, None, None, counts, totals)


def _ranked(numbers: Floats) -> Ranked:
    values, codes = np.unique(numbers, return_inverse=True)
    return Ranked(values, codes.astype(np.int32))


def _ranked_text(data: pa.ChunkedArray) -> Ranked:
    coded = data.combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.zeros(max(len(texts), 1), dtype=np.int32)
    rank[order] = np.arange(len(order))
    codes = rank[coded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    return Ranked([texts[i] for i in order], codes)


def _per_class(values: NDArray[Any], starts: Ints) -> NDArray[Any]:
    return np.add.reduceat(values, starts) if len(starts) else values[:0]
