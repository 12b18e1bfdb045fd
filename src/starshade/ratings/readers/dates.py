"""Dates: the day of a rating, in UTC.

Allowed are seconds since 1970-01-01, milliseconds (told by all of them being above 10^11), ISO
dates and datetimes (one without a zone is taken as UTC), eight digits YYYYMMDD, and the date types
of Arrow. A column keeps to one form: the first date decides, another form is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import aside, named
from starshade.ratings.readers.columns import NUMBER, NullValues, as_text
from starshade.ratings.readers.faults import Fault, Faults, quoted
from starshade.ratings.staging import NO_DAY

if TYPE_CHECKING:
    import pyarrow as pa

_MILLISECONDS_ABOVE = 10**11  # as seconds this would be the year 5138
_TOO_LATE = 10**14  # in milliseconds the same year: finer units are not read
_SECONDS_A_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_FORMS = {
    "seconds": "seconds since 1970-01-01",
    "milliseconds": "milliseconds since 1970-01-01 (above 10^11)",
    "compact": "dates YYYYMMDD",
    "iso": "ISO dates or datetimes (2003-12-31, 2003-12-31 23:59:59), without a zone",
    "zoned": "ISO datetimes with a zone (2003-12-31T23:59:59Z)",
}
_COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,]\d+)?)?"
    r"(?: ?(Z|UTC|[+-]\d\d(?::?\d\d)?))?)?",
    re.ASCII,
)


def all_in_1970(form: str | None, latest: int) -> bool:
    """Tell by the form of dates and the latest day: most likely these are no seconds at all."""
    return form == "seconds" and latest < 365


class DayColumn:
    """Turns a column of dates into day numbers, block after block."""

    def __init__(self, nulls: NullValues, faults: Faults) -> None:
        self._nulls = nulls
        self._faults = faults
        self.form: str | None = None
        self.n_missing = 0
        self.latest = NO_DAY

    @property
    def all_in_1970(self) -> bool:
        """Whether every date lies in 1970: most likely these are no seconds at all."""
        return all_in_1970(self.form, self.latest)

    def take(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return days since 1970-01-01, `NO_DAY` where there is none."""
        import pyarrow as pa

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = array.type
        if pa.types.is_null(kind):
            days = np.full(len(array), NO_DAY, dtype=np.int32)
        elif pa.types.is_temporal(kind):
            days = _typed_days(array)
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            days = self._of_numbers(array, rows)
        else:
            text = as_text(array)
            if text is None:
                raise InputError(f"dates of type {kind}: {_allowed()}")
            days = self._of_texts(text, rows)
        self.n_missing += int(np.count_nonzero(days == NO_DAY))
        self.latest = max(self.latest, int(days.max(initial=NO_DAY)))
        return days

    def _of_numbers(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        values = array.to_numpy(zero_copy_only=False).astype(np.float64)
        values[np.isin(values, self._nulls.numbers)] = np.nan
        known = values[~np.isnan(values)]
        if self.form is None and len(known):
            self.form = _number_form(float(known[0]))
        days, wrong = _epoch_days(values, self.form)
        self._add(rows, wrong, lambda i: repr(array[i].as_py()))
        return days

    def _of_texts(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        import pyarrow.compute as pc

        trimmed = pc.ascii_trim(array.fill_null(""), " \t")
        if self.form is None:
            self.form = next((_form(text) for text in trimmed.to_pylist() if text), None)
        fast = _fast(trimmed, self.form) if not self._nulls else None
        if fast is not None:
            return fast
        encoded = trimmed.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        places = encoded.indices.to_numpy(zero_copy_only=False)
        parsed = [
            NO_DAY if text == "" or self._nulls.has(text) else _day(text, self.form)
            for text in texts
        ]
        bad = np.array([day is None for day in parsed], dtype=np.bool_)
        days = np.array([NO_DAY if day is None else day for day in parsed], dtype=np.int32)
        self._add(rows, bad[places], lambda i: quoted(array[i].as_py()))
        return np.asarray(days[places])

    def _add(
        self, rows: NDArray[np.int64], bad: NDArray[np.bool_], value: Callable[[int], str]
    ) -> None:
        where = np.flatnonzero(bad)
        what = "dates that cannot be read"
        if self.form is not None and self.form in _FORMS:
            what = f"dates of another form than the first one ({_FORMS[self.form]})"
        fault = Fault(
            f"{what}; {_allowed()}",
            "Write all dates as YYYY-MM-DD (2022-04-19 for 19.04.2022 or 4/19/2022); declare "
            f"the value that means no date{aside('null_values')}; or use "
            f"{named('dates', False)}, as a release never contains dates.",
        )
        self._faults.add(fault, rows[where], lambda k: f"date {value(int(where[k]))}")


def _allowed() -> str:
    return "allowed: " + "; ".join(_FORMS.values())


def _form(text: str) -> str:
    if _COMPACT.fullmatch(text):
        return "compact"
    if NUMBER.fullmatch(text):
        return _number_form(float(text))
    match = _ISO.fullmatch(text)
    if match is None:
        return "unknown"
    return "zoned" if match[5] else "iso"


def _number_form(value: float) -> str:
    return "milliseconds" if value > _MILLISECONDS_ABOVE else "seconds"


def _day(text: str, form: str | None) -> int | None:
    """Return the day number of one text of the column's form, else None."""
    if form == "compact":
        match = _COMPACT.fullmatch(text)
        return _calendar_day(f"{text[:4]}-{text[4:6]}-{text[6:]}") if match else None
    if form in ("seconds", "milliseconds"):
        if not NUMBER.fullmatch(text):
            return None
        days, wrong = _epoch_days(np.array([float(text)]), form)
        return None if wrong[0] else int(days[0])
    match = _ISO.fullmatch(text)
    if match is None or form != ("zoned" if match[5] else "iso"):
        return None
    day = _calendar_day(match[1])
    if day is None or not match[5] or match[5] in ("Z", "UTC"):
        return day
    hours, minutes = int(match[5][1:3]), int(match[5].replace(":", "")[3:] or 0)
    if hours > 23 or minutes > 59:
        return None
    ahead = timedelta(hours=hours, minutes=minutes) * (-1 if match[5][0] == "-" else 1)
    clock = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return day + (clock - ahead) // timedelta(days=1)


def _calendar_day(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        return None


def _epoch_days(
    values: NDArray[np.float64], form: str | None
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return days, and where the value is not of the form; NaN has no day."""
    missing = np.isnan(values)
    if form == "milliseconds":
        fits = (values > _MILLISECONDS_ABOVE) & (values < _TOO_LATE)
        scale = _SECONDS_A_DAY * 1000
    else:
        fits = (np.abs(values) <= _MILLISECONDS_ABOVE) & (form == "seconds")
        scale = _SECONDS_A_DAY
    fits &= ~missing
    days = np.where(fits, np.floor_divide(np.where(fits, values, 0), scale), NO_DAY)
    return days.astype(np.int32), ~fits & ~missing


def _fast(texts: pa.Array, form: str | None) -> NDArray[np.int32] | None:
    """Convert a whole block by Arrow; None where it has to be looked at one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if form in ("seconds", "milliseconds"):
            # Arrow also reads 0x7
            if not pc.all(pc.ascii_is_decimal(texts)).as_py():
                return None
            values = pc.cast(texts, pa.int64()).to_numpy(zero_copy_only=False)
            days, wrong = _epoch_days(values.astype(np.float64), form)
            return None if wrong.any() else days
        if form == "iso" and pc.all(pc.match_substring_regex(texts, r"^\d{4}-")).as_py():
            return _typed_days(pc.cast(texts, pa.timestamp("us")))
        if form == "zoned":
            return _typed_days(pc.cast(texts, pa.timestamp("us", "UTC")))
    except pa.ArrowInvalid:
        return None
    return None


def _typed_days(array: pa.Array) -> NDArray[np.int32]:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        raise InputError(f"dates of type {kind}: {_allowed()}")
    missing = array.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_date(kind):
        days = array.cast(pa.date32()).cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False)
    else:
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        ticks = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        days = np.floor_divide(ticks, _SECONDS_A_DAY * per_second)
    return np.where(missing, NO_DAY, days).astype(np.int32)
