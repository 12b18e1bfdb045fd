"""A corpus of damaged inputs: one clear message each, never a traceback, never a lost row."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, InputError, UserError
from starshade.ratings.read import read_ratings
from starshade.ratings.select import parse_items
from tests.unit.ratings.samples import write

HEAD = "user,item,rating,date\n"
GOOD = "anna,alien,4,2020-01-02\n"
SECRETS = ("anna", "alien", "berta", "brazil")

TEXTS = {
    # name: (content, parts of the message)
    "empty": ("", ["empty: it contains no ratings"]),
    "only line ends": ("\n\n\r\n", ["empty: it contains no ratings"]),
    "header only": (HEAD, ["it contains no ratings"]),
    "header without a line end": (HEAD.strip(), ["it contains no ratings"]),
    "short row": (HEAD + GOOD + "berta,brazil,3\n", ["wrong number of fields", "line 3: 3 fields"]),
    "long row": (HEAD + "berta,brazil,3,2020-01-02,x\n", ["expected 4", "line 2: 5 fields"]),
    "several bad rows": (
        HEAD + GOOD + "a\n" * 7,
        ["line 3: 1 field", "line 7: 1 field", "… 7 rows in all"],
    ),
    "bad row after a quoted line end": (
        HEAD + '"an\nna",alien,4,2020-01-02\nberta,brazil,3\n',
        ["line 4: 3 fields"],
    ),
    "a late unclosed quote": (
        HEAD + GOOD * 1 + 'berta,"brazil,3,2020-01-02\n' + GOOD,
        ["line 3", "never closed"],
    ),
    "a quote in the last field that never closes": (
        HEAD + 'berta,brazil,3,"2020-01-02\n',
        ["line 2", "never closed"],
    ),
    "two unclosed quotes that seem a pair": (
        HEAD + 'berta,"brazil,3,2020-01-02\n' + GOOD + 'berta,"x,3,2020-01-02\n',
        ["closing quote is followed by more text", "line 2"],
    ),
    "no rating": (
        HEAD + GOOD + "berta,brazil,,2020-01-02\n",
        ["without a rating", "line 3", "no rating"],
    ),
    "word as rating": (
        HEAD + GOOD + "berta,brazil,good,2020-01-02\n",
        ["line 3: rating 'good' is not a number", "not finite numbers", "such as 4 or 3.5"],
    ),
    "nan": (HEAD + "berta,brazil,nan,2020-01-02\n", ["line 2: rating 'nan'"]),
    "infinity": (HEAD + "berta,brazil,inf,2020-01-02\n", ["line 2: rating 'inf'"]),
    "beyond a double": (HEAD + "berta,brazil,1e999,2020-01-02\n", ["rating '1e999'"]),
    "hexadecimal": (HEAD + "berta,brazil,0x4,2020-01-02\n", ["rating '0x4'"]),
    "underscore": (HEAD + "berta,brazil,1_0,2020-01-02\n", ["rating '1_0'"]),
    "an id in its place": (
        HEAD + "berta,brazil,person17,2020-01-02\n",
        ["line 2: the rating is not a number"],
    ),
    "a title in its place": (
        HEAD + "berta,brazil,Star Wars,2020-01-02\n",
        ["line 2: the rating is not a number"],
    ),
    "true": (HEAD + "berta,brazil,true,2020-01-02\n", ["rating 'true'"]),
    "other digits": (HEAD + "berta,brazil,٤,2020-01-02\n", ["not finite numbers"]),
    "line end in a rating": (HEAD + 'berta,brazil,"4\n",2020-01-02\n', ["line 2", "not finite"]),
    "decimal comma": (
        HEAD.replace(",", ";") + "berta;brazil;3,5;2020-01-02\n",
        ["decimal comma", "line 2: rating '3,5'", "point"],
    ),
    "off the scale": (
        HEAD + GOOD + "berta,brazil,6,2020-01-02\n",
        ["off the scale 1:5:1", "line 3: rating 6"],
    ),
    "no user": (HEAD + GOOD + ",brazil,4,2020-01-02\n", ["without user id", "line 3"]),
    "blank user": (HEAD + '" ",brazil,4,2020-01-02\n', ["without user id", "line 2"]),
    "quoted nothing as item": (HEAD + 'berta,"",4,2020-01-02\n', ["without item id", "line 2"]),
    "duplicate": (HEAD + GOOD + "berta,x,1,2020-01-02\n" + GOOD, ["line 2", "line 4"]),
    "no such date": (
        HEAD + GOOD + "berta,brazil,4,2021-02-29\n",
        ["line 3: date '2021-02-29'", "allowed: seconds"],
    ),
    "mixed dates": (
        HEAD + GOOD + "berta,brazil,4,964982703\n",
        ["line 3: date '964982703'", "of another form than the first one (ISO"],
    ),
    "seconds and milliseconds": (
        "user,item,rating,ts\na,b,4,964982703\na,c,4,964982703000\n",
        ["line 3: date '964982703000'", "seconds since"],
    ),
    "microseconds": ("user,item,rating,ts\na,b,4,964982703000000\n", ["line 2", "milliseconds"]),
    "dates of the wrong order": (
        HEAD + "a,b,4,31.12.2003\n",
        ["date '31.12.2003'", "cannot be read"],
    ),
    "zone and no zone": (
        HEAD + "a,b,4,2020-01-02T03:04:05Z\na,c,4,2020-01-02T03:04:05\n",
        ["line 3", "with a zone"],
    ),
    "several kinds at once": (
        HEAD + "berta,brazil,x,2020-01-02\n,b,4,2020-01-02\nc,d,4,soon\n",
        ["line 2: rating 'x'", "line 3", "line 4: date 'soon'"],
    ),
    "zero byte": (HEAD + "be\0rta,brazil,4,2020-01-02\n", ["zero bytes"]),
    "no rating column": (
        "user,item,date\na,b,2020-01-02\n",
        ["no column is recognised as the rating", "'user', 'item', 'date'"],
    ),
    "two user columns": (
        "user,userId,item,rating\na,b,c,4\n",
        ["several columns may be the user: 'user', 'userId'", "Name the user column (user_col)"],
    ),
    "column named twice": (
        "user,item,rating,rating\na,b,4,4\n",
        ["'rating' occur more than once"],
    ),
    "one column": ("justtext\nmore\n", ["no column is recognised as the user"]),
    "prose": (
        "Dear reader,\nthis is, as you see, no table.\n",
        ["no column is recognised as the user", "it has 2 columns"],
    ),
    "two columns without a header": ("1,2\n3,4\n", ["no header, and 2 fields in a row"]),
    "six columns without a header": (
        "1,2,3,4,5,6\n",
        ["no header, and 6 fields", "user_col=1, item_col=2, rating_col=3"],
    ),
    "a header that comes late": ("1,2,3\nuser,item,rating\n", ["line 2: rating 'rating'"]),
    "html": ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", ["this is a web page"]),
    "json": ('{"user": "anna", "item": "alien"}\n', ["this is JSON"]),
    "a list of JSON": ('[ {\n "user": "anna"}]\n', ["this is JSON"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_text(tmp_path, name: str) -> None:
    content, parts = TEXTS[name]
    path = write(tmp_path / "damaged.csv", content)
    with pytest.raises(InputError) as caught:
        read_ratings(path, scale="1:5:1")
    message = str(caught.value)
    for part in parts:
        assert part in message
    for secret in SECRETS:
        assert secret not in message
    assert "damaged.csv" in message


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", [0, 3])
def test_lines_are_counted_as_an_editor_counts_them(tmp_path, end: str, blank: int) -> None:
    lines = ["user,item,rating", *[""] * blank, "1,1,4", "", '"a""b",1,3', "7,7,bad"]
    path = write(tmp_path / "x.csv", end.join(lines))
    with pytest.raises(InputError, match=rf"x\.csv, line {len(lines)}: rating 'bad'"):
        read_ratings(path)


def test_lines_are_counted_per_file(tmp_path) -> None:
    one = write(tmp_path / "a.csv", "user,item,rating\n1,10,4\n1,11,4\n")
    two = write(tmp_path / "b.csv", "user,item,rating\n\n1,9,x\n1,10,4\n")
    with pytest.raises(InputError, match=r"b\.csv, line 3: rating 'x'"):
        read_ratings([one, two])
    two.write_text("user,item,rating\n\n1,9,3\n1,10,4\n")
    with pytest.raises(InputError) as caught:
        read_ratings([one, two])
    assert "a.csv, line 2" in str(caught.value)
    assert "b.csv, line 4" in str(caught.value)


def test_rows_left_out_as_null_do_not_shift_the_lines(tmp_path) -> None:
    text = "user,item,rating\n" + "a,b,99\n" * 3 + "a,c,4\n" + "a,d,99\n" + "a,c,3\n"
    with pytest.raises(InputError) as caught:
        read_ratings(write(tmp_path / "x.csv", text), null_values=["99"])
    assert "line 5" in str(caught.value)
    assert "line 7" in str(caught.value)


def test_values_are_shown_on_request_only(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\nanna,alien,4\nanna,alien,5\n")
    with pytest.raises(InputError) as caught:
        read_ratings(path)
    assert "anna" not in str(caught.value)
    with pytest.raises(InputError, match="anna"):
        read_ratings(path, show_values=True)


def test_a_scale_is_only_inferred_from_ratings_all_of_which_are_read(tmp_path) -> None:
    text = (
        "user,item,rating\n" + "".join(f"{i},1,{1 + i % 5}\n" for i in range(5000)) + "x,1,3.25\n"
    )
    assert str(read_ratings(write(tmp_path / "x.csv", text)).scale) == "1:5:0.25"


def test_bytes_that_are_not_utf8(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,b,4\nJos\xe9,b,5\n", "latin-1")
    with pytest.raises(InputError, match=r"x\.csv, line 3: not UTF-8"):
        read_ratings(path)
    titles = write(tmp_path / "y.csv", "user,item,title,rating\na,b,Caf\xe9,4\n", "latin-1")
    assert read_ratings(titles).n_ratings == 1  # a column that nobody asked for


def test_a_single_colon_among_double_ones(tmp_path) -> None:
    path = write(tmp_path / "ratings.dat", "u::i::5::9\na:b:c::5::9\n")
    with pytest.raises(InputError, match="a single ':' among the '::'"):
        read_ratings(path)


def test_one_column_for_two_roles(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,b,4\n")
    with pytest.raises(InputError, match="column 'user' cannot be user and item at once"):
        read_ratings(path, user_col="user", item_col="user")


def test_a_zero_byte_far_down(tmp_path) -> None:
    text = "user,item,rating\n" + "a,b,4\n" * 1 + "".join(f"u{i},b,4\n" for i in range(20_000))
    with pytest.raises(InputError, match="line 20003") as caught:
        read_ratings(write(tmp_path / "x.csv", text + "a\0b,b,4\n"))
    assert "contain a zero byte" in str(caught.value)


def _truncated(raw: bytes) -> bytes:
    return raw[: len(raw) * 2 // 3]


PLAIN = ("user,item,rating\n" + "".join(f"{i},{i % 97},4\n" for i in range(20_000))).encode()


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("x.csv.gz", _truncated(gzip.compress(PLAIN)), "truncated"),
        ("x.csv.gz", gzip.compress(PLAIN)[:-8] + b"\0" * 8, "damaged"),
        ("x.csv.zst", _truncated(pa.compress(PLAIN, codec="zstd", asbytes=True)), "truncated"),
        ("x.zip", b"PK\x03\x04" + b"x" * 100, "damaged"),
        ("x.csv", os.urandom(64) + b"\0" + os.urandom(4000), "x.csv"),
        ("x.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 100, "Excel"),
        ("x.npy", b"\x93NUMPY" + b"\0" * 100, "NumPy"),
        ("x.parquet", b"PAR1" + b"\0" * 100, "truncated Parquet"),
        ("x.csv", "user,item,rating\na,b,4\n".encode("utf-16-le"), "zero bytes"),
        ("x.csv", b"\xff\xfe" + b"a", "begins like UTF-16"),
        ("x.csv", b"a" * 3_000_000, "first row cannot be split"),
        ("x.csv", b"user,item,rating\na," + b"b" * 40_000_000 + b",4\n", "longer than 16 MB"),
    ],
)
def test_files_that_are_not_what_they_seem(tmp_path, name: str, raw: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_ratings(write(tmp_path / name, raw))


def test_truncated_parquet(tmp_path) -> None:
    n = 50_000
    table = pa.table({"user": np.arange(n), "item": np.arange(n) % 7, "rating": np.full(n, 4.0)})
    pq.write_table(table, tmp_path / "whole.parquet")
    raw = (tmp_path / "whole.parquet").read_bytes()
    with pytest.raises(InputError, match="damaged or truncated Parquet file"):
        read_ratings(write(tmp_path / "cut.parquet", _truncated(raw)))
    middle = bytearray(raw)
    middle[4:2000] = b"\xff" * 1996
    with pytest.raises(InputError, match="damaged or truncated Parquet file"):
        read_ratings(write(tmp_path / "scratched.parquet", bytes(middle)))


def test_places_that_hold_nothing(tmp_path) -> None:
    for source, message in [
        (tmp_path / "missing.csv", "no such file"),
        (str(tmp_path / "*.csv"), "no file matches"),
        ([], "empty list"),
        (tmp_path, "an empty folder"),
        ("nul\0byte.csv", "no such file"),
    ]:
        with pytest.raises(InputError, match=message):
            read_ratings(source)


def test_folders_and_zips_that_are_not_clear(tmp_path) -> None:
    folder = tmp_path / "folder"
    write(folder / "README.txt", "hello")
    with pytest.raises(InputError, match="no ratings in a known format"):
        read_ratings(folder)
    write(folder / "a.csv", "user,item,rating\n1,1,1\n")
    write(folder / "b.csv", "user,name\n1,x\n")
    with pytest.raises(InputError, match=r"b\.csv: its header differs from that of .*a\.csv"):
        read_ratings(folder)
    write(folder / "u.data", "1\t1\t1\t1\n")
    write(folder / "ratings.dat", "1::1::1::1\n")
    with pytest.raises(InputError, match=r"several data sets: u\.data, ratings\.dat"):
        read_ratings(folder)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.raises(InputError, match="it contains no file of ratings"):
        read_ratings(tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive:
        archive.writestr("a/ratings.csv", "user,item,rating\n1,1,1\n")
        archive.writestr("b/ratings.csv", "user,item,rating\n1,1,1\n")
    with pytest.raises(InputError, match=r"more than one ratings\.csv"):
        read_ratings(tmp_path / "y.zip")
    with pytest.raises(InputError, match="a folder among files"):
        read_ratings([folder])
    pq.write_table(pa.table({"user": [1], "item": [1], "rating": [1]}), folder / "b.parquet")
    pq.write_table(pa.table({"user": [1]}), folder / "c.parquet")
    with pytest.raises(
        InputError, match=r"c\.parquet: its columns differ from those of .*b\.parquet"
    ):
        read_ratings([folder / "b.parquet", folder / "c.parquet"])
    with pytest.raises(InputError, match="some files are Parquet"):
        read_ratings([folder / "a.csv", folder / "c.parquet"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\n1,1,1\n")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read_ratings(path)


FRAMES = {
    "null user": ({"user": [None, "a"], "item": [1, 2], "rating": [1, 2]}, "without user id"),
    "null item": ({"user": [1, 2], "item": [1, None], "rating": [1, 2]}, "row 2"),
    "half a user": ({"user": [1.5, 2.0], "item": [1, 2], "rating": [1, 2]}, "not whole"),
    "nan user": (
        {"user": [1.0, float("nan")], "item": [1, 2], "rating": [1, 2]},
        "without user id",
    ),
    "huge float": ({"user": [2.0**60, 1.0], "item": [1, 2], "rating": [1, 2]}, "rounded"),
    "boolean ids": ({"user": [True, False], "item": [1, 2], "rating": [1, 2]}, "type bool"),
    "boolean ratings": ({"user": [1, 2], "item": [1, 2], "rating": [True, False]}, "true to 1"),
    "no rating at all": (
        {"user": [1, 2], "item": [1, 2], "rating": [None, float("nan")]},
        "it contains no ratings",
    ),
    "infinite rating": (
        {"user": [1, 2], "item": [1, 2], "rating": [1, float("inf")]},
        "rating inf",
    ),
    "lists": ({"user": [[1], [2]], "item": [1, 2], "rating": [1, 2]}, "type list"),
    "no rows": ({"user": [], "item": [], "rating": []}, "it contains no ratings"),
    "no columns": ({}, "no column is recognised as the user"),
    "mixed epoch": (
        {"user": [1, 2], "item": [1, 2], "rating": [1, 2], "ts": [964982703, 964982703000]},
        "row 2: date 964982703000",
    ),
    "fractions of a day": (
        {"user": [1], "item": [1], "rating": [1], "ts": pa.array([1], pa.time32("s"))},
        "dates of type time32",
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_damaged_frames(name: str) -> None:
    columns, message = FRAMES[name]
    with pytest.raises(InputError, match=message):
        read_ratings(pa.table(columns))


USERS = {
    "twice": (
        "user,age\na,1\nb,2\na,1\n",
        ["users with more than one row of attributes", "people.csv, line 4"],
    ),
    "nobody known": ("user,age\nx,1\n", ["none of its users is in the ratings"]),
    "no user column": ("person_name,age\nx,1\n", ["no column is recognised as the user"]),
    "no header": ("a,1\nb,2\n", ["no header that names the columns"]),
    "ragged": ("user,age\na\n", ["line 2: 1 field"]),
    "no id": ("user,age\n,1\n", ["without user id", "line 2"]),
    "empty": ("", ["people.csv: empty"]),
    "header only": ("user,age\n", ["it contains no users"]),
}


@pytest.mark.parametrize("name", USERS)
def test_damaged_attributes(tmp_path, name: str) -> None:
    content, parts = USERS[name]
    path = write(tmp_path / "x.csv", "user,item,rating\na,i,1\nb,i,2\n")
    with pytest.raises(InputError) as caught:
        read_ratings(path, users=write(tmp_path / "people.csv", content))
    for part in parts:
        assert part in str(caught.value)


def test_damaged_item_names(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,i,1\nb,i,2\n")
    for content, message in [
        ("item,title\ni,A\ni,B\n", "line 3: an earlier row gives this item another name"),
        ("item,year\ni,1\n", "no column is recognised as the name"),
        ("1,2\n", "no header"),
    ]:
        with pytest.raises(InputError, match=message):
            read_ratings(path, item_names=write(tmp_path / "names.csv", content))
    with pytest.raises(InputError, match=r"u\.item, line 2: no '\|'"):
        read_ratings(path, item_names=write(tmp_path / "u.item", "i|A|\nx\n"))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path, raw: bytes) -> None:
    _read_or_refuse(write(tmp_path / "x.csv", raw))


@given(st.text(alphabet='ab1,;\t:"\n\r. -\0é', max_size=80), st.booleans())
def test_any_text_is_read_or_refused(tmp_path, text: str, with_header: bool) -> None:
    _read_or_refuse(write(tmp_path / "x.csv", ("user,item,rating\n" if with_header else "") + text))


def _read_or_refuse(path: Path) -> None:
    try:
        ratings = read_ratings(path)
    except UserError:
        return
    assert ratings.n_ratings > 0
    assert np.isfinite(ratings.values()).all()


def test_all_missing_columns_are_named_at_once(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "Nutzer;Buch;Note\n7;Faust;5\n")
    with pytest.raises(InputError) as caught:
        read_ratings(path)
    assert "no column is recognised as the user, the item, the rating; " in str(caught.value)
    assert "the columns are 'Nutzer', 'Buch', 'Note'" in str(caught.value)
    assert "(user_col, item_col, rating_col)" in str(caught.value)
    path = write(tmp_path / "y.csv", "user,uid,rating,x\n7,7,5,3\n")
    with pytest.raises(
        InputError, match=r"several columns may be the user.*recognised as the item"
    ):
        read_ratings(path)


def test_pipes_and_devices_are_refused_at_once(tmp_path) -> None:
    good = write(tmp_path / "x.csv", "user,item,rating\n1,1,1\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for source in (pipe, [pipe], [good, pipe]):
        with pytest.raises(InputError, match=r"pipe: is a pipe\nSave it to a file first"):
            read_ratings(source)
    for beside in ({"users": pipe}, {"item_names": pipe}):
        with pytest.raises(InputError, match="is a pipe"):
            read_ratings(good, **beside)
    with pytest.raises(InputError, match="/dev/zero: is a device"):
        read_ratings("/dev/zero")


@pytest.mark.parametrize("name", ["store", "netflix", "parquet", "recbole", "movielens-csv"])
def test_a_format_that_the_file_is_not_is_refused(tmp_path, name: str) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\n1,1,1\n")
    with pytest.raises(InputError, match=r"x\.csv"):
        read_ratings(path, format=name)
    with pytest.raises(UserError, match="in memory"):
        read_ratings(pa.table({"user": [1], "item": [1], "rating": [1]}), format=name)


def test_a_text_format_is_not_reported_of_parquet(tmp_path) -> None:
    pq.write_table(pa.table({"user": [1], "item": [1], "rating": [1]}), tmp_path / "x")
    with pytest.raises(InputError, match="is not of the format csv but looks like parquet"):
        read_ratings(tmp_path / "x", format="csv")


def test_a_format_is_honoured_whatever_the_name(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "7:\n1,3,2005-01-02\n")
    assert read_ratings(path, format="netflix").report.format == "netflix"
    path = write(tmp_path / "mv_x.txt", "user,item,rating\n1,1,1\n")
    assert read_ratings(path, format="csv").report.format == "csv"
    with pytest.raises(InputError, match="is not a starshade store"):
        read_ratings(path, format="store")


def test_zeros_and_empty_archives_are_called_what_they_are(tmp_path) -> None:
    with pytest.raises(InputError, match="zero bytes"):
        read_ratings(write(tmp_path / "x.csv", b"\0" * 10_240))
    with zipfile.ZipFile(tmp_path / "x.zip", "w"):
        pass
    with pytest.raises(InputError, match="an empty zip"):
        read_ratings(tmp_path / "x.zip")


def test_what_is_wrong_is_said_once_and_of_the_right_file(tmp_path) -> None:
    path = write(tmp_path / "x.csv", HEAD + ",brazil,4,2020-01-02\n")
    with pytest.raises(InputError, match=r"x\.csv, line 2: no user id\n"):
        read_ratings(path)
    good = write(tmp_path / "y.csv", HEAD + GOOD)
    empty = write(tmp_path / "empty.csv", "")
    with pytest.raises(InputError, match=r"empty\.csv: empty: it contains no personal attributes"):
        read_ratings(good, users=empty)
    with pytest.raises(InputError, match=r"empty\.csv: empty: it contains no item names"):
        read_ratings(good, item_names=empty)
    pq.write_table(pa.table({"user": [1], "item": [1], "rating": [True]}), tmp_path / "z.parquet")
    with pytest.raises(InputError, match=r"z\.parquet: ratings of type bool"):
        read_ratings(tmp_path / "z.parquet")
    with pytest.raises(InputError, match=r"mv_1\.txt: it contains no ratings"):
        read_ratings(write(tmp_path / "n" / "mv_1.txt", "7:\n"))
    german = write(tmp_path / "g.csv", HEAD + "a,b,4,31.12.2003\n")
    with pytest.raises(InputError, match="Write all dates as YYYY-MM-DD"):
        read_ratings(german)


@pytest.mark.parametrize(
    "options",
    [{name: ""} for name in ("user_col", "rating_col", "delimiter", "users", "item_names")],
)
def test_empty_options_are_refused(tmp_path, options) -> None:
    path = write(tmp_path / "x.csv", HEAD + GOOD)
    with pytest.raises(ConfigError, match="empty"):
        read_ratings(path, **options)


def test_an_empty_path_is_not_the_folder_one_is_in() -> None:
    with pytest.raises(ConfigError, match="empty path"):
        read_ratings("")
    with pytest.raises(ConfigError, match="empty path"):
        parse_items("")
