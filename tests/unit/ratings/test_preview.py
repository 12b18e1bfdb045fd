from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import starshade as ss
from starshade.errors import InputError
from starshade.ratings.readers import preview as room
from starshade.ratings.readers.preview import Preview, preview

EXPORT = (
    "email,film,stars,rated_on\nann@x.example,F1,3.5,2021-04-01\nben@x.example,F1,0.5,2021-04-02\n"
)
COLUMNS = ("email", "film", "stars", "rated_on")


def looked(folder: Path, text: str, name: str = "a.csv", **options: Any) -> Preview:
    (folder / name).write_text(text, encoding="utf-8")
    found = preview(folder / name, **options)
    assert found is not None
    return found


def packed(folder: Path, how: str) -> Path:
    place = folder / f"a.{how}"
    if how == "gz":
        place.write_bytes(gzip.compress(EXPORT.encode()))
    elif how == "zip":
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("a.csv", EXPORT)
    elif how == "parquet":
        rows = [line.split(",") for line in EXPORT.splitlines()[1:]]
        pq.write_table(pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))), place)
    else:
        place.write_text(EXPORT)
    return place


@pytest.mark.parametrize("how", ["csv", "gz", "zip", "parquet"])
def test_rows_and_roles_are_those_that_reading_takes(tmp_path: Path, how: str) -> None:
    place = packed(tmp_path, how)
    found = preview(place)
    assert found is not None
    assert found.complete
    assert found.rows[0] == ("ann@x.example", "F1", "3.5", "2021-04-01")
    assert found.roles == {
        role: column
        for role, column in ss.read_ratings(place).report.mapping.items()
        if role != "delimiter"
    }
    assert found.why["user"].startswith("e-mail addresses, one value per user; 2 different")


def test_a_column_of_mail_is_the_people_only_where_no_other_is(tmp_path: Path) -> None:
    both = (
        EXPORT.replace("email", "user_id,email").replace("ann@", "7,ann@").replace("ben@", "8,ben@")
    )
    assert looked(tmp_path, both).roles["user"] == "user_id"
    two = EXPORT.replace("email", "email,mail").replace("ann@", "7,ann@").replace("ben@", "8,ben@")
    found = looked(tmp_path, two)
    assert "user" not in found.roles
    assert found.why["user"] == "'email', 'mail' all fit: choose one"


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("kunde,titel,note\nA,B,4\n", {}),
        ("1,2,3\n1,3,4\n", {"user": "1", "item": "2", "rating": "3"}),
        ("1::2::3::9\n", {"user": "1", "item": "2", "rating": "3", "day": "4"}),
        ("customer,title,stars\n1,2,3\n", {"user": "customer", "item": "title", "rating": "stars"}),
        ("a,b,c,d,e\n1,2,3,4,5\n", {}),
    ],
)
def test_what_is_not_known_is_asked_for(tmp_path: Path, text: str, roles: dict[str, str]) -> None:
    found = looked(tmp_path, text)
    assert found.roles == roles
    assert found.complete == bool(roles)
    assert set(found.why) == {"user", "item", "rating", "day"}


def test_what_is_no_table_has_no_first_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "letter.txt").write_text("Dear all,\nno ratings\n")
    assert preview(tmp_path / "letter.txt") is None
    monkeypatch.setattr(room, "_LARGE", 10)  # of an archive that is long to unpack
    assert preview(packed(tmp_path, "gz")) is None
    assert preview(packed(tmp_path, "csv")) is not None
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
    with pytest.raises(InputError, match="a workbook"):
        ss.read_ratings(tmp_path / "book.xlsx")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\0\0")
    with pytest.raises(InputError, match="this is a picture"):
        preview(tmp_path / "picture.png")


def test_a_wide_table_has_rows_and_no_roles(tmp_path: Path) -> None:
    found = looked(tmp_path, "id,q1,q2\nann,1,2\n", wide=True)
    assert (found.roles, found.rows) == ({}, (("ann", "1", "2"),))
