"""One job from five kinds of sources: the same release, byte for byte."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from starshade.ratings.readers.addresses import buckets
from tests.policies import in_toml
from tests.system.conftest import call, small_csv
from tests.system.sources.conftest import KEY, PASSWORD, Server, Store


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


PROJECT = """\
[data]
ratings = "{ratings}"
scale = "1:5:1"
{query}
[release]
k = 5
[audit]
shadows = 0
targets = 20
known = [2]
{thresholds}
"""


def published(home: Path, ratings: str, monkeypatch: pytest.MonkeyPatch, query: str = "") -> Any:
    """Do the job of a project file; return what it published, and all that it said."""
    home.mkdir()
    (home / "starshade.toml").write_text(
        PROJECT.format(ratings=ratings, query=query, thresholds=in_toml())
    )
    with monkeypatch.context() as here:
        here.chdir(home)
        ran = call("run", "--seed", "7")
        assert ran.exit_code == 0, ran.stderr
        assert json.loads(call("run", "--json").stdout)["unchanged"]
    out = home / "published" / "release-1"
    kept = [path for path in home.rglob("*") if path.is_file() and path.name != "starshade.toml"]
    said = b"".join([ran.output.encode(), *(path.read_bytes() for path in kept)])
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}, said


def test_the_job_of_a_project_file(
    tmp_path: Path, postgres: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a file, a database and a bucket it publishes the same bytes, and tells no secret."""
    file, table = tables(tmp_path)
    expected, _ = published(tmp_path / "of-file", str(file), monkeypatch)
    postgres.load("nightly", table)
    address = store.put("nightly/ratings.csv", file.read_bytes())
    query = 'query = "SELECT * FROM nightly ORDER BY random()"'
    for home, ratings, asked in (("db", postgres.address, query), ("bucket", address, "")):
        found, said = published(tmp_path / home, ratings, monkeypatch, asked)
        assert found == expected
        for secret in (PASSWORD, unquote(PASSWORD), KEY):
            assert secret.encode() not in said
