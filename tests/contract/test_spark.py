"""Jobs over shards on Spark: the answers, and the bytes, of this machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import starshade.spark
from starshade.anonymize.sharded.anonymize import anonymized_shards
from starshade.engine.job import Engine
from starshade.engine.journal import journal_in
from starshade.engine.local import Local
from starshade.engine.session import session_at
from starshade.engine.spark import Spark
from starshade.errors import ConfigError, InputError, UserError
from starshade.ratings.read import read_ratings
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.write import write_ratings
from tests.contract.test_shards import METHOD, RATINGS, WORKS, files_of, going_on, made_again
from tests.unit.ratings.test_store import assert_same

pytest.importorskip("pyspark", reason="needs pyspark and Java: make test-spark")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with session_at("local[2]") as found:
        yield found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "s"
    assert write_shards(RATINGS, path, 3) == 3
    return path


@pytest.mark.parametrize("name", WORKS)
def test_it_is_one_tables(session: Any, store: Path, name: str) -> None:
    work = WORKS[name]
    with journal_in(store, resume=False) as journal:
        found = work.of_shards(open_shards(store), Spark(session, journal))
    assert found == work.of_table(RATINGS)
    assert not list(store.glob(".journal-*"))


def test_a_release_has_the_bytes_of_this_machine(session: Any, store: Path, tmp_path: Path) -> None:
    def made(name: str, engine: Engine) -> dict[str, str]:
        with anonymized_shards(METHOD, open_shards(store), 1, engine) as release:
            release.save(tmp_path / name, private=tmp_path / f"{name}.json")
        return files_of(tmp_path / name)

    with journal_in(store, resume=False) as journal:
        assert made("spark", Spark(session, journal)) == made("local", Local())


def test_releases_made_again_tell_the_same(session: Any, store: Path) -> None:
    with journal_in(store, resume=False) as journal:
        found = made_again(open_shards(store), Spark(session, journal))
    assert found == made_again(open_shards(store), Local())
    assert not list(store.glob(".journal-*"))


def test_a_store_is_called_as_it_was_named(
    session: Any, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.parent)
    with starshade.spark.open(session, store.name) as (shards, _):
        assert shards.path.is_absolute()
        assert shards.report.source == open_shards(store.name).report.source == store.name


def test_what_was_killed_here_goes_on_there(session: Any, store: Path) -> None:
    work = WORKS["scoreboard-rh"]
    deaths = 0

    def here_then_there(shards: Any, engine: Local) -> Any:
        nonlocal deaths
        deaths += 1
        return work.of_shards(shards, engine if deaths == 1 else Spark(session, engine.journal))

    found, _ = going_on(store, here_then_there, 3)
    assert deaths == 2
    assert found == work.of_table(RATINGS)


FILE = r"\S+\.parquet|partition \d+ of the frame"
FRAMES: dict[str, tuple[Callable[[Any, Any], Any], dict[str, Any]]] = {
    "as it is": (lambda frame, F: frame, {}),
    "in another order": (lambda frame, F: frame.orderBy(F.desc("item"), "user"), {}),
    "timestamps": (lambda frame, F: frame.withColumn("date", F.to_timestamp("date")), {}),
    "decimals": (lambda f, F: f.withColumn("rating", F.col("rating").cast("decimal(3,1)")), {}),
    "given twice": (lambda frame, F: frame.unionByName(frame.limit(5)), {}),
    "the mean of two": (lambda f, F: f.unionByName(f.limit(5)), {"on_duplicate": "mean"}),
    "other names": (lambda frame, F: frame.withColumnRenamed("user", "who"), {}),
    "named": (lambda f, F: f.withColumnRenamed("user", "who"), {"user_col": "who"}),
    "nobody": (lambda f, F: f.withColumn("user", F.nullif("user", F.lit(3))), {}),
    "not rated": (lambda f, F: f.withColumn("rating", F.nullif("rating", F.lit(3.0))), {}),
    "lists": (lambda frame, F: frame.withColumn("rating", F.array("rating")), {}),
    "empty": (lambda frame, F: frame.limit(0), {}),
}


@pytest.mark.parametrize("what", FRAMES)
def test_a_frame_is_read_as_its_files_are(session: Any, tmp_path: Path, what: str) -> None:
    from pyspark.sql import functions

    write_ratings(RATINGS, tmp_path / "r.parquet")
    change, reading = FRAMES[what]
    frame = change(session.read.parquet(str(tmp_path / "r.parquet")), functions)
    frame.write.parquet(str(tmp_path / "files"))

    def said(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except UserError as error:
            return type(error), re.sub(FILE, "FILE", str(error)).replace("files", "FILE")

    def as_frame() -> Any:
        with starshade.spark.open(session, frame, out=tmp_path / "s", shards=2, **reading) as (
            shards,
            engine,
        ):
            assert engine.session is session
            return read_ratings(shards.path)

    found = said(as_frame)
    wanted = said(lambda: read_ratings(tmp_path / "files", **reading))
    if what == "empty":  # there is no file that could be named
        assert found[0] == wanted[0]
        assert "no ratings" in found[1]
    elif isinstance(wanted, tuple):
        assert found == wanted
    else:
        assert_same(found, wanted)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_parquet_that_spark_reads_is_written_as_a_store(session: Any, tmp_path: Path) -> None:
    write_ratings(RATINGS, tmp_path / "r.parquet")
    unsaid = starshade.spark.open(session, tmp_path / "r.parquet")
    with pytest.raises(ConfigError, match="out=FOLDER"), unsaid:
        pass
    absent = starshade.spark.open(session, tmp_path / "no.parquet", out=tmp_path / "s")
    with pytest.raises(InputError, match="no such file or folder"), absent:
        pass
    with starshade.spark.open(session, tmp_path / "r.parquet", out=tmp_path / "s") as (shards, _):
        assert_same(read_ratings(shards.path), read_ratings(tmp_path / "r.parquet"))
    with starshade.spark.open(session, tmp_path / "s") as (again, _):
        assert again.lineage == shards.lineage
