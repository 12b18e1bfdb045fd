"""Files that are nearly tables of ratings, and those of other programs."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile

import numpy as np
import pytest

from starshade.errors import ConfigError, InputError
from starshade.ratings.read import read_ratings
from tests.unit.ratings.samples import values, write

ALIGNED = "  1    10   4\n 20     7   3\n  1     7   5\n"
CELLS = {("1", "10"): 4.0, ("20", "7"): 3.0, ("1", "7"): 5.0}


@pytest.mark.parametrize(
    "text",
    [
        ALIGNED,
        ALIGNED.replace("\n", "\r\n"),
        "1 10 4 \n20 7 3 \n1 7 5 \n",
        "user  item rating\n" + ALIGNED,
        "\n" + ALIGNED + "\n",
    ],
)
@pytest.mark.parametrize("options", [{}, {"delimiter": " "}])
def test_columns_aligned_by_blanks(tmp_path, text: str, options) -> None:
    ratings = read_ratings(write(tmp_path / "x.txt", text), **options)
    assert values(ratings) == CELLS
    assert "day" not in ratings.report.mapping


def test_a_row_of_aligned_columns_is_named_by_its_line(tmp_path) -> None:
    path = write(tmp_path / "x.txt", "\n" + ALIGNED + "  2     7   x\n")
    with pytest.raises(InputError, match="line 5: rating 'x' is not a number"):
        read_ratings(path)
    with pytest.raises(InputError, match="line 3: rating 3"):
        read_ratings(write(path, "\n" + ALIGNED), scale="4:5:1")


def test_blanks_within_fields_are_no_delimiters(tmp_path) -> None:
    text = 'user,item,rating\n"a  b", c  d ,4\n'
    assert values(read_ratings(write(tmp_path / "x.csv", text))) == {("a  b", " c  d "): 4.0}
    with pytest.raises(InputError, match=r"it has 1 column\n.*\(delimiter\)"):
        read_ratings(write(tmp_path / "x.csv", "who_what_stars\na^b^4\n"))


NAMED = {
    "a NumPy archive": lambda: npz(),
    "an R data file": lambda: gzip.compress(b"RDX3\nX\n\0\0\0\x03"),
    "a SAS file": lambda: bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf" + bytes(40),
    "a DuckDB database": lambda: bytes(8) + b"DUCK" + bytes(40),
    "a Weka file": lambda: b"@relation r\n@attribute user numeric\n@data\n1\n",
    "a web page": lambda: b"\n<table><tr><td>user</td></tr></table>",
    "an SPSS file": lambda: b"$FL2@(#) SPSS DATA FILE" + bytes(40),
}


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, ratings=np.eye(3))
    return file.getvalue()


@pytest.mark.parametrize("what", NAMED)
def test_files_of_other_programs_are_named(tmp_path, what: str) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(NAMED[what]())
    with pytest.raises(InputError, match=f"ratings.csv: this is {what}") as caught:
        read_ratings(path)
    assert caught.value.advice == "Save it as CSV or Parquet."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,x,Title one,4\nb,x,Title two,5\n", "no number in column 3"),
        ("5,a,x\n4,b,y\n", "no number in column 3"),
        ("1,2,978300760,5\n1,3,978302109,4\n", "numbers as large as dates in column 3"),
    ],
)
def test_columns_in_another_order_are_asked_about(tmp_path, text: str, why: str) -> None:
    path = write(tmp_path / "x.csv", text)
    with pytest.raises(InputError, match=f"no header, and {why}: the columns of user") as caught:
        read_ratings(path)
    assert "user_col=1, item_col=2, rating_col=3" in caught.value.advice
    order = {"user_col": 1, "item_col": 2, "rating_col": 4, "dates": False}
    if text.count(",") == 6:
        assert read_ratings(path, **order).n_ratings == 2


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("user,item\na,x\n", "add a column that is 1 in every row"),
        ("user,item,rating\na,x,True\n", "1 for true, yes or like, 0 for false"),
        ("user,item,rating\na,x,dislike\n", "0 for false, no or dislike"),
        ("user,item,rating\n1,a,x,4\n2,b,y,5\n", "one field more than the header"),
        ("user,item,rating\n1,a,4,\n2,b,5,\n", "^(?s:.*)Every row ends with a delimiter"),
        ("user;item;rating\r\n1;a;4;\r\n2;b;5;\r\n\r\n", "Every row ends with a delimiter"),
        ("user,item,rating\n1,a,4,\n2,b,y,5\n", "add a name for their first column"),
        ("user,item,rating,date\na,x,4,2020-01-01\nb,x,4,0000-00-00\n", r"\(null_values\)"),
    ],
)
def test_advice(tmp_path, text: str, advice: str) -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(write(tmp_path / "x.csv", text))
    assert caught.match(advice)


def test_an_unknown_date_may_be_declared(tmp_path) -> None:
    text = "user,item,rating,date\na,x,4,2020-01-01\nb,x,4,0000-00-00\n"
    ratings = read_ratings(write(tmp_path / "x.csv", text), null_values=["0000-00-00"])
    assert ratings.n_ratings == 2
    assert "1 row without a date" in ratings.report.notes


def test_how_many_files_are_read(tmp_path) -> None:
    for name, user in (("a.csv", "u"), ("b.csv", "v")):
        write(tmp_path / name, f"user,item,rating\n{user},x,4\n")
    assert "2 files read as one table" in read_ratings(tmp_path).report.notes
    assert read_ratings(tmp_path / "a.csv").report.notes == ()
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.write(tmp_path / "a.csv", "a.csv")
        archive.write(tmp_path / "b.csv", "b.csv")
    assert "2 files read as one table" in read_ratings(tmp_path / "both.zip").report.notes


@pytest.mark.parametrize(
    ("ids", "note"),
    [
        (("NULL", "NULL", "u"), "some user ids are a word for a missing value"),
        (("nan", "v", "u"), "some user ids are a word for a missing value"),
        (("\\N", "v", "u"), "some user ids are a word for a missing value"),
        (("1.0", "1", "u"), "some user ids end with .0 and others are whole numbers"),
        (("v\u200b", "v", "u"), "some user ids begin or end with a blank"),
        (("Nancy", "none of us", "1.05"), ""),
        (("1.0", "2.0", "3.0"), ""),
    ],
)
def test_ids_that_may_not_be_ids_are_noted(tmp_path, ids, note: str) -> None:
    rows = [f"{user},m{i},4" for i, user in enumerate(ids)]
    ratings = read_ratings(write(tmp_path / "x.csv", "\n".join(["user,item,rating", *rows])))
    assert ratings.n_users == len(set(ids))
    assert len(ratings.report.notes) == bool(note)
    assert "".join(ratings.report.notes).startswith(note)


@pytest.mark.parametrize(
    ("text", "why", "advice"),
    [
        ('user,item,n\nu,a,"1,234"\n', "a comma before three digits", "comma between thousands"),
        ('user,item,n\nu,a,"1,234,567"\n', "a comma before three digits", "between thousands"),
        ("user;item;n\nu;a;4,5\n", "a decimal comma", "comma by a point"),
        ("My shop\nuser,item,n\nu,a,4\nv,a,3\n", "it has 1 field, the lines below have 3", "above"),
        ("My shop,,\nuser,item,n\nu,a,4\n", "several columns have no name", "above the header"),
        ("user,item,n\nu,a,4\nv,a\n", "line 3: 2 fields", "^Correct those rows"),
        ("user;item;r\ufffdting\nu;a;4\n", "no column is recognised", "as UTF-8"),
    ],
)
def test_what_is_wrong_and_what_to_do(tmp_path, text: str, why: str, advice: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        read_ratings(
            write(tmp_path / "x.csv", text),
            rating_col="n" if "item" in text and "n\n" in text else None,
        )
    assert re.search(advice, caught.value.advice)


def test_a_file_is_unpacked_by_its_content(tmp_path) -> None:
    table = b"user,item,rating\nu,a,4\n"
    path = tmp_path / "x.csv.gz"
    path.write_bytes(table)
    assert values(read_ratings(path)) == {("u", "a"): 4.0}
    path.write_bytes(gzip.compress(gzip.compress(table)))
    with pytest.raises(InputError, match="is compressed twice"):
        read_ratings(path)
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.add(path, "x.csv")
    with pytest.raises(InputError, match="unpack others"):
        read_ratings(tmp_path / "x.tar.gz")


def test_rows_in_memory() -> None:
    rows = [("u", "a", 4.0), ("v", "a", 3.0)]
    for given in (rows, [list(row) for row in rows]):
        assert values(read_ratings(given)) == {("u", "a"): 4.0, ("v", "a"): 3.0}
    for wrong in ([{"user": "u"}], [3], [("u", "a")], (rows[0],), [None]):
        with pytest.raises(ConfigError, match="ratings cannot be read from") as caught:
            read_ratings(wrong)
        assert "a list of rows (user, item, rating)" in caught.value.advice
