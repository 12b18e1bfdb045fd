"""What a message says about a file that is something else, and rows given in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from starshade.errors import InputError
from starshade.ratings.read import read_ratings
from tests.unit.ratings.samples import values, write


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"$FL2@(#) SPSS DATA FILE\0\0", "an SPSS file"),
        (b"<stata_dta><header>\0\0", "a Stata file"),
        (b"\x73\x02\x01\0\0", "a Stata file"),
        (b"\x80\x05\x95\xc5\x3f\0\0", "a Python pickle"),
        (b"\x80\x02}q\0", "a Python pickle"),
        (b"MATLAB 5.0 MAT-file\0", "a MATLAB file"),
        (b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 4\n", "a Matrix Market file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a picture"),
    ],
)
def test_a_file_of_another_format_is_recognised(head: bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"this is {what}"):
        read_ratings(write(tmp_path / "ratings.dat", head + b" " * 64))


@pytest.mark.parametrize("header", ["user,item,rating,", "user,item,rating,extra"])
def test_a_header_with_one_field_too_many_is_named(header: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(write(tmp_path / "r.csv", f"{header}\nu,i,3\nu,j,4\n"))
    assert "The header has one field more than these rows" in (caught.value.advice or "")


def test_a_line_for_excel_alone_is_named(tmp_path: Path) -> None:
    for start in ("", "\ufeff"):
        text = f"{start}sep=;\r\nuser;item;rating\r\nu;i;3\r\nv;i;4\r\n"
        with pytest.raises(InputError, match="its first line is a separator line for Excel"):
            read_ratings(write(tmp_path / "r.csv", text))


def test_a_token_of_a_database_is_repeated(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "user,item,rating\nu,i,\\N\nu,j,n/a\nv,i,4\n")
    with pytest.raises(InputError) as caught:
        read_ratings(path)
    assert "rating 'n/a' is not a number" in caught.value.message
    assert r"rating '\N' is not a number" in caught.value.message


def test_rows_are_read_in_python() -> None:
    rows = [("u", "i", 3.0), ("v", "i", 4.0)]
    assert values(read_ratings(rows)) == {("u", "i"): 3, ("v", "i"): 4}
    dated = read_ratings([("u", "i", 3, "2020-01-01"), ("u", "i", 5, None)], on_duplicate="last")
    assert values(dated) == {("u", "i"): 3}
    with pytest.raises(InputError, match="rows of 3 and of 4 values"):
        read_ratings([("u", "i", 3.0), ("v", "i", 4.0, None)])
    with pytest.raises(InputError, match="cannot be read as columns"):
        read_ratings([("u", "i", 3.0), (1, "i", 4.0)])
