"""Jobs over shards on Spark: the answers, and the bytes, of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from starshade.anonymize.sharded.anonymize import anonymized_shards
from starshade.engine.job import Engine
from starshade.engine.journal import journal_in
from starshade.engine.local import Local
from starshade.engine.session import session_at
from starshade.engine.spark import Spark
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from tests.contract.test_shards import METHOD, RATINGS, WORKS, files_of, going_on

pytest.importorskip("pyspark", reason="needs pyspark and Java: make test-spark")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with session_at("local[2]") as found:
        yield found


@pytest.fixture(scope="module", params=[1, 7])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(RATINGS, path, request.param)
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


def test_what_was_killed_here_goes_on_there(session: Any, store: Path) -> None:
    work = WORKS["scoreboard-rh"]
    deaths = 0

    def here_then_there(shards: Any, engine: Local) -> Any:
        nonlocal deaths
        deaths += 1
        return work.of_shards(shards, engine if deaths == 1 else Spark(session, engine.journal))

    found, _ = going_on(store, here_then_there, 3)
    assert deaths == 2 or len(open_shards(store)) == 1
    assert found == work.of_table(RATINGS)
