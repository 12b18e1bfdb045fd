"""A few bytes of Parquet can stand for gigabytes of texts: these are refused unread."""

from __future__ import annotations

import io
import json
import random
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import starshade
from starshade.errors import InputError, ReleaseError
from starshade.files import parquet
from starshade.ratings.places.checked import _checksum
from starshade.ratings.scale import Scale
from starshade.ratings.store import open_store, write_store
from starshade.release.folder import read
from starshade.release.folder.read import read_release
from tests.hostile.release_samples import MAKERS
from tests.strategies import table
from tests.unit.release.damage import mend

LONG = 2**20 + 1


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    MAKERS["sets"]().save(tmp_path / "out")
    return tmp_path / "out"


def repeated(path: Path, column: str, text: str) -> None:
    """Write one text in all rows of a column, new or known; it stands in the file once."""
    before = pq.read_table(path)
    zeros = pa.array([0] * len(before), pa.int32())
    texts = pa.DictionaryArray.from_arrays(zeros, pa.array([text]))
    columns = dict(zip(before.column_names, before.columns, strict=True)) | {column: texts}
    pq.write_table(
        pa.table(columns),
        path,
        compression="zstd",
        store_schema=False,
        dictionary_pagesize_limit=2**31 - 1,
    )


def failing(folder: Path) -> str:
    """Return what `verify` says of the first check that fails."""
    return next(check.detail for check in starshade.verify(folder).checks if check.status == "FAIL")


@pytest.mark.parametrize(("file", "column"), [("items", "name"), ("cells", "item")])
def test_one_long_text_in_all_rows(saved: Path, file: str, column: str) -> None:
    repeated(saved / f"{file}.parquet", column, "x" * LONG)
    mend(saved)
    assert f"{file}.parquet: a text of 1,048,577 bytes" in failing(saved)
    with pytest.raises(ReleaseError, match=f"{file}.parquet: a text of 1,048,577 bytes"):
        read_release(saved)


def test_a_column_that_is_not_declared_is_not_decoded(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []

    def noted(stored: pq.ParquetFile, schema: pa.Schema, name: str, error: type) -> pa.Table:
        decoded.append(name)
        return parquet.read_texts(stored, schema, name, error)

    monkeypatch.setattr(read, "read_texts", noted)
    repeated(saved / "records.parquet", "age", "x" * LONG)
    mend(saved)
    assert failing(saved).endswith("personal attributes differ from release.json")
    assert decoded == ["items.parquet"]


def test_many_texts_that_are_short_of_too_long(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MOST_TEXT", 2**12)
    repeated(saved / "items.parquet", "name", "x" * 4000)
    mend(saved)
    assert "bytes of texts in a column; at most 4,096 are read" in failing(saved)


def test_what_stands_of_columns_does_not_end_the_process(tmp_path: Path) -> None:
    """Arrow aborts where it is asked for a column whose metadata are damaged in some ways."""
    content = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", "y"] * 50, "b": range(100)}), content, row_group_size=50)
    whole = content.getvalue()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for seed in range(300):
        draw, damaged = random.Random(seed), bytearray(whole)
        damaged[draw.randrange(start, len(whole) - 8)] ^= 1 << draw.randrange(8)
        with suppress(Exception):
            parquet.open_texts(io.BytesIO(damaged), "a", InputError)


def test_texts_of_a_readable_table(saved: Path) -> None:
    repeated(saved / "table.parquet", "values", "x" * LONG)
    mend(saved)
    assert "table.parquet contradicts the exact files" in failing(saved)


def test_texts_in_lists_count_as_often_as_they_stand_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MOST_TEXT", 2**16)
    lists = pa.array([["x" * 2**12] * 2**5])
    pq.write_table(pa.table({"job": lists}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as file:
        stored, schema = parquet.open_texts(file, "a", InputError)
        with pytest.raises(InputError, match="131,072 bytes of texts in a column"):
            parquet.read_texts(stored, schema, "a", InputError)


def test_attributes_of_a_store(tmp_path: Path) -> None:
    people = pa.table({"job": ["a", "b"], "age": [1.0, 2.0]})
    ratings = table([{0: 4.0}, {0: 3.0}], Scale(1, 5, 1))
    object.__setattr__(ratings, "attributes", people)
    place = tmp_path / "store"
    write_store(ratings, place)
    assert open_store(place).attributes.equals(people)
    repeated(place / "attributes.parquet", "job", "x" * LONG)
    facts = json.loads((place / "store.json").read_text())
    del facts["crc32"]
    content = (place / "attributes.parquet").read_bytes()
    size = {"bytes": len(content), "crc32": zlib.crc32(content)}
    facts["files"]["attributes.parquet"] = size
    (place / "store.json").write_text(json.dumps({**facts, "crc32": _checksum(facts)}))
    with pytest.raises(InputError, match=r"attributes\.parquet: a text of 1,048,577 bytes"):
        open_store(place)


def test_a_store_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    ratings = table([{0: 4.0}, {0: 3.0}], Scale(1, 5, 1))
    object.__setattr__(ratings, "attributes", pa.table({"job": ["a", "x" * LONG]}))
    with pytest.raises(InputError, match=r"attributes\.parquet: a text of 1,048,577 bytes"):
        write_store(ratings, tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("items", {"item_names": ("a", "x" * LONG, "c")}),
        ("records", {"attributes": pa.table({"town": ["x" * LONG] * 5})}),
        ("records", {"attributes": pa.table({"town": [["a"], ["x" * LONG], [], ["b"], None]})}),
    ],
)
def test_a_release_that_could_not_be_read_is_not_written(
    tmp_path: Path, file: str, changes: dict[str, object]
) -> None:
    release = replace(MAKERS["sets"](), **changes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{file}.parquet: a text of 1,048,577 bytes"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
