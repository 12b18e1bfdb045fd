"""One job from five kinds of sources: the same release, byte for byte."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from starshade.ratings.readers.addresses import buckets
from tests.system.conftest import call, small_csv
from tests.system.sources.conftest import Server, Store


def release(source: str, out: Path, *options: str) -> tuple[dict[str, bytes], str]:
    """Return the files of a release, and the digest of what it was made from."""
    words = ["--method", "k-exchange", "--k", "5", "--scale", "1:5:1", "--seed", "7", *options]
    call("anonymize", source, *words, "--out", out, "--private", f"{out}.json")
    receipt = json.loads(Path(f"{out}.json").read_text())
    files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.*"))}
    return files, receipt["digest"]


def tables(tmp_path: Path) -> tuple[Path, pa.Table]:
    file = small_csv(tmp_path / "ratings.csv")
    return file, csv.read_csv(file)


def sqlite_of(table: pa.Table, path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE seen (userId, movieId, rating, timestamp)")
        rows = zip(*table.to_pydict().values(), strict=True)
        connection.executemany("INSERT INTO seen VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return path


def test_csv_parquet_and_sqlite(tmp_path: Path) -> None:
    file, table = tables(tmp_path)
    expected = release(str(file), tmp_path / "csv")
    parquet.write_table(table, tmp_path / "ratings.parquet")
    database = sqlite_of(table, tmp_path / "ratings.db")
    assert release(str(tmp_path / "ratings.parquet"), tmp_path / "parquet") == expected
    assert release(str(database), tmp_path / "sqlite") == expected
    query = ("--query", "SELECT rating, movieId, userId, timestamp FROM seen ORDER BY 1, 2, 3")
    assert release(f"sqlite:///{database}", tmp_path / "query", *query) == expected


def test_folders_that_say_columns(tmp_path: Path) -> None:
    file, table = tables(tmp_path)
    expected = release(str(file), tmp_path / "csv")
    parquet.write_to_dataset(table, tmp_path / "by-stars", partition_cols=["rating"])
    assert release(str(tmp_path / "by-stars"), tmp_path / "parquet") == expected


def test_postgresql(tmp_path: Path, postgres: Server) -> None:
    file, table = tables(tmp_path)
    expected = release(str(file), tmp_path / "csv")
    postgres.load("seen", table)
    query = ("--query", "SELECT * FROM seen ORDER BY random()")
    assert release(postgres.address, tmp_path / "query", *query) == expected
    assert release(postgres.address, tmp_path / "table", "--query", "seen") == expected


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder", "pattern"])
def test_bucket(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(buckets, "_BLOCK", 999)
    file, table = tables(tmp_path)
    expected = release(str(file), tmp_path / "csv")
    place = f"same-{kind}"
    if kind == "csv":
        address = store.put(f"{place}/ratings.csv", file.read_bytes())
    else:
        for part, start in enumerate(range(0, len(table), 200)):
            parquet.write_table(table.slice(start, 200), tmp_path / "part")
            content = (tmp_path / "part").read_bytes()
            address = store.put(f"{place}/part-{part}.parquet", content)
        if kind != "parquet":
            address = store.at(place if kind == "folder" else f"{place}/part-*.parquet")
        else:
            parquet.write_table(table, tmp_path / "all")
            address = store.put(f"{place}/all.parquet", (tmp_path / "all").read_bytes())
    assert release(address, tmp_path / "bucket") == expected
