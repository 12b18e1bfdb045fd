from __future__ import annotations

import datetime
import gzip

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.columns import NullValues
from starshade.ratings.readers.dates import DayColumn
from starshade.ratings.readers.faults import Faults
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.staging import NO_DAY
from tests.naive import dates as naive
from tests.unit.ratings.samples import write

FIRST, LAST = datetime.datetime(1900, 1, 2), datetime.datetime(2100, 1, 1)
ZONES = st.integers(-14 * 60, 14 * 60).map(
    lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
)
MOMENTS = st.datetimes(FIRST, LAST)
ZONED = st.datetimes(FIRST, LAST, timezones=ZONES)


def days(column: pa.Array | list[str], nulls: tuple[str, ...] = ()) -> list[int]:
    array = column if isinstance(column, pa.Array) else pa.array(column)
    faults = Faults(lambda row: f"row {row}")
    found = DayColumn(NullValues(nulls), faults).take(array, np.arange(len(array)))
    faults.refuse()
    return found.tolist()


@given(st.lists(MOMENTS, min_size=1, max_size=5), st.sampled_from([" ", "T"]), st.booleans())
def test_datetimes_without_a_zone(moments, between: str, with_null: bool) -> None:
    texts = [moment.isoformat(between) for moment in moments]
    expected = [naive.day(moment) for moment in moments]
    if with_null:  # the slow way, one by one
        texts, expected = ["", *texts], [NO_DAY, *expected]
    assert days(texts) == expected


@given(st.lists(ZONED, min_size=1, max_size=5), st.booleans())
def test_datetimes_with_a_zone(moments, with_null: bool) -> None:
    texts = [moment.isoformat() for moment in moments]
    expected = [naive.day(moment) for moment in moments]
    if with_null:
        texts, expected = [*texts, ""], [*expected, NO_DAY]
    assert days(texts) == expected


DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31))


@given(st.lists(DATES, min_size=1, max_size=5))
def test_plain_and_compact_dates(found) -> None:
    expected = [(one - datetime.date(1970, 1, 1)).days for one in found]
    assert days([one.isoformat() for one in found]) == expected
    assert days([one.strftime("%Y%m%d") for one in found]) == expected
    assert days([*(one.isoformat() for one in found), " "]) == [*expected, NO_DAY]


@given(
    st.lists(st.integers(-(10**9), 4 * 10**9), min_size=1, max_size=5).filter(
        lambda values: len(str(values[0])) != 8
    )
)
def test_seconds(seconds) -> None:
    expected = [one // 86_400 for one in seconds]
    assert days([str(one) for one in seconds]) == expected
    assert days([f"{one}.0" for one in seconds]) == expected
    assert days(pa.array(seconds)) == expected
    assert days(pa.array([float(one) for one in seconds])) == expected
    assert days(pa.array([*seconds, None])) == [*expected, NO_DAY]


@given(st.lists(st.integers(10**11 + 1, 4 * 10**12), min_size=1, max_size=5))
def test_milliseconds(milliseconds) -> None:
    expected = [one // 86_400_000 for one in milliseconds]
    assert days([str(one) for one in milliseconds]) == expected
    assert days(pa.array(milliseconds)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2016-12-31T23:59:60Z", 17166),  # a leap second belongs to its day
        ("2017-01-01 00:30 +01", 17166),
        ("2016-12-31T23:30:00,5-01:00", 17167),
        ("2016-12-31 12:00 UTC", 17166),
        ("20161231", 17166),
        ("0001-01-01", -719162),
        ("8.64e4", 1),
        (" 86400\t", 1),
        ("-1", -1),
    ],
)
def test_single_forms(text: str, expected: int) -> None:
    assert days([text]) == [expected]


@pytest.mark.parametrize(
    "text",
    ["soon", "2021-02-29", "2020-13-01", "31.12.2003", "12/31/2003", "2003-1-2", "2003-W01-1",
     "2003-12-31T25:00", "2003-12-31T12:00:61", "2003-12-31T12:00+99:00", "0x7", "1_0", "inf",
     "nan", "٢٠٢٠-٠١-٠١", "1e300", "2003-12-31T12:00Z x", "20031301 "],
)  # fmt: skip
def test_no_dates(text: str) -> None:
    if text == "20031301 ":  # no date, but a number of seconds
        assert days([text]) == [20031301 // 86_400]
        return
    with pytest.raises(InputError, match="row 0: date"):
        days([text])


@pytest.mark.parametrize(
    "column",
    [
        ["2003-12-31", "20031231"],
        ["20031231", "964982703"],
        ["2003-12-31", "2003-12-31T00:00Z"],
        ["964982703", "2003-12-31"],
        ["964982703", "964982703000"],
        ["964982703000", "5"],
        ["964982703", "0x7"],
    ],
)
def test_one_form_per_column(column: list[str]) -> None:
    with pytest.raises(InputError, match="row 1: date") as caught:
        days(column)
    assert "of another form than the first one" in str(caught.value)
    with pytest.raises(InputError, match="row 2: date"):
        days(["", *column])


def test_the_form_is_kept_from_block_to_block() -> None:
    faults = Faults(lambda row: f"row {row}")
    column = DayColumn(NullValues(), faults)
    column.take(pa.array(["", ""]), np.arange(2))
    column.take(pa.array(["2003-12-31"]), np.arange(2, 3))
    column.take(pa.array(["964982703"]), np.arange(3, 4))
    with pytest.raises(InputError, match="row 3"):
        faults.refuse()
    assert column.n_missing == 3  # two blanks and the one refused


def test_declared_nulls() -> None:
    assert days(["0", "86400", "0.0"], nulls=("0",)) == [NO_DAY, 1, NO_DAY]
    assert days(pa.array([0, 86400]), nulls=("0",)) == [NO_DAY, 1]


def test_dates_that_are_all_in_1970_are_suspicious() -> None:
    for seconds, suspicious in (([3, 20_000], True), ([3, 10**9], False)):
        column = DayColumn(NullValues(), Faults(str))
        column.take(pa.array(seconds), np.arange(2))
        assert column.all_in_1970 == suspicious


@pytest.mark.parametrize("text", ["19.04.2022", "4/19/2022"])
def test_a_date_in_another_order_is_told_how_to_be_written(text: str) -> None:
    with pytest.raises(InputError) as caught:
        days([text, text])
    assert "as YYYY-MM-DD (2022-04-19 for 19.04.2022 or 4/19/2022)" in caught.value.advice
    assert "dates=False" in caught.value.advice


@pytest.mark.parametrize("values", [(44000, 43000), (2019, 2020), (43831.5, 43832.25), (0, 5)])
@pytest.mark.parametrize("packed", [False, True])
def test_numbers_that_are_no_seconds_are_noted(values, packed: bool, tmp_path) -> None:
    rows = "".join(f"{i},{i},{i % 5 + 1},{values[i % 2]}\n" for i in range(1, 20))
    text = f"user,item,rating,date\n{rows}"
    path = write(tmp_path / "r.csv", text)
    if packed:
        path = write(tmp_path / "r.csv.gz", gzip.compress(text.encode()))
    (said,) = read_ratings(path).report.notes
    assert "fall in 1970: if they are Excel's day numbers (44000) or years (2020)" in said
    convert_to_shards(path, tmp_path / "shards", 2)
    assert read_ratings(tmp_path / "shards").report.notes == (said,)
    later = write(tmp_path / "s.csv", text + "30,1,1,1577908800\n")
    assert read_ratings(later).report.notes == ()
