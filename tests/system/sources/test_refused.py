"""What goes wrong while a database or a bucket is read: one sentence, and nothing half-read."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from starshade.errors import ConfigError, InputError, UserError
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.addresses import databases
from starshade.ratings.readers.addresses.buckets import Bucket, Remote
from tests.system.sources.conftest import Server, Store
from tests.unit.ratings.samples import values

FEW = pa.table({"user": ["zoe", "bob", "bob"], "item": [1, 1, 2], "rating": [4.0, 5.0, 3.5]})


def said(source: Any, kind: type[UserError] = InputError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        read_ratings(source, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("nope", 'relation "nope" does not exist'),
        ("SELECT nope FROM few", 'column "nope" does not exist'),
        ("SELECT FROM WHERE", "syntax error"),
        ("SELECT 1; DROP TABLE few", "cannot insert multiple commands"),
        ("WITH x AS (DELETE FROM few RETURNING *) SELECT * FROM x", "read-only transaction"),
        ('SELECT "user"::int AS user, item, rating FROM few', "invalid input syntax for type"),
        ("SELECT * FROM few WHERE item > 9", "it contains no ratings"),
        ("SELECT item, rating FROM few", "user"),
        ('SELECT "user", item, 4 AS rating, 5 AS rating FROM few', "rating"),
    ],
)
def test_queries_that_fail(postgres: Server, query: str, expected: str) -> None:
    postgres.load("few", FEW)
    message = said(postgres.address, query=query)
    assert expected in message
    assert "***@127.0.0.1" in message
    assert not any(word in message for word in ("zoe", "bob", "Query was"))
    assert len(values(read_ratings(postgres.address, query="few"))) == 3


@pytest.mark.parametrize("query", ["DELETE FROM few", "-- SELECT\nDROP TABLE few", "a b", " "])
def test_no_select(postgres: Server, query: str) -> None:
    assert "neither a SELECT" in said(postgres.address, ConfigError, query=query)


def test_rows_are_named(postgres: Server) -> None:
    postgres.load("few", pa.concat_tables([FEW, FEW.slice(2)]))
    assert "row 4 of the table few: the user already rated" in said(postgres.address, query="few")
    query = "SELECT item, rating, NULLIF(\"user\", 'zoe') AS user FROM few"
    assert "row 1 of the query's result: no user id" in said(postgres.address, query=query)


def test_types_of_columns(postgres: Server) -> None:
    query = """SELECT md5(u::text)::uuid AS user, u AS item, (u / 2.0)::numeric(3, 1) AS rating,
               timestamptz '2024-01-02 23:30+02' AS date FROM generate_series(1, 4) u"""
    ratings = read_ratings(postgres.address, query=query, scale="0.5:2:0.5")
    assert "c4ca4238-a0b9-2382-0dcc-509a6f75849b" in list(ratings.users)
    assert sorted(values(ratings).values()) == [0.5, 1, 1.5, 2]
    assert ratings.first_day == 19_724  # 2 January 2024, in UTC


def test_which_row_counts_is_said_to_be_chance(postgres: Server) -> None:
    postgres.load("few", pa.concat_tables([FEW, FEW]))
    ratings = read_ratings(postgres.address, query="few", on_duplicate="last")
    assert any("no ORDER BY" in note for note in ratings.report.notes)


def test_connections_that_fail(postgres: Server) -> None:
    address = postgres.address
    assert "password authentication failed" in said(address.replace("fig@", "plum@"))
    assert "Connection refused" in said(address.replace(f":{postgres.port}", ":1"))
    assert 'database "nope" does not exist' in said(address.replace("/postgres", "/nope"))
    assert "no connection" in said(address + "?pass=x")


def interrupted(monkeypatch: pytest.MonkeyPatch, then: Any) -> None:
    """Do something after the first block was read; blocks are small."""
    monkeypatch.setattr(databases, "_BYTES", 1 << 14)
    whole = databases.PostgresSource.batches

    def batches(self: Any, columns: Any) -> Any:
        for place, batch in enumerate(whole(self, columns)):
            yield batch
            if place == 0:
                then()

    monkeypatch.setattr(databases.PostgresSource, "batches", batches)


MANY = "SELECT u AS user, 1 AS item, 3 AS rating FROM generate_series(1, 400000) u"


def test_a_connection_lost_half_way(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    interrupted(monkeypatch, lambda: postgres.do(f"{kill} AND usename = 'eve'"))
    message = said(postgres.address, query=MANY)
    assert re.search(
        "before the end: (terminating connection|server closed the connection)", message
    )


def test_a_query_that_fails_half_way(postgres: Server) -> None:
    query = f"SELECT user, item, 1 / (user - 300000) AS rating FROM ({MANY}) x"
    message = said(postgres.address, query=query.replace("user", '"user"'))
    assert "reading stopped before the end: division by zero" in message


def test_what_is_written_meanwhile_is_not_read(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.do("DROP TABLE IF EXISTS many", f"CREATE TABLE many AS {MANY}")
    interrupted(monkeypatch, lambda: postgres.do("UPDATE many SET rating = 1"))
    ratings = read_ratings(postgres.address, query="SELECT * FROM many", scale="1:5:1")
    assert (ratings.n_users, set(ratings.values().tolist())) == (400_000, {3.0})


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    message = said("postgresql://eve:fig@127.0.0.1:1/x", ConfigError)
    assert "needs the extra postgres" in message
    assert "starshade[postgres]" in message
    assert "fig" not in message


def test_nothing_at_an_address_of_a_bucket(store: Store) -> None:
    assert "no such file or folder" in said(store.at("nope.csv"))
    assert "no such file or folder" in said(store.at("x").replace("@data/", "@nope/"))
    assert "no file matches" in said(store.at("nope-*.csv"))
    assert "Unexpected query parameter" in said(store.at("x") + "&nope=1")


def parquet_of(table: pa.Table, path: Path) -> bytes:
    parquet.write_table(table, path)
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_changed_while_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    text = b"user,item,rating\n" + b"".join(b"%d,1,3\n" % user for user in range(9))
    content = text if kind == "csv" else parquet_of(FEW, tmp_path / "x")
    address = store.put(f"changing.{kind}", content)
    whole = Remote.refuse_changed

    def refuse_changed(self: Remote) -> None:
        store.put(f"changing.{kind}", content + b"10,1,3\n")
        whole(self)

    monkeypatch.setattr(Remote, "refuse_changed", refuse_changed)
    assert "changed while it was read" in said(address)


def test_a_bucket_that_fails_half_way(store: Store, tmp_path: Path) -> None:
    address = store.put("half.parquet", parquet_of(FEW, tmp_path / "x")[:-9])
    assert "damaged or truncated Parquet file" in said(address)
    [file], _ = Bucket(store.put("gone.csv", b"user,item,rating\n1,1,3\n")).files()
    store.system.delete_file("data/gone.csv")
    with pytest.raises(InputError, match=r"s3://\*\*\*@data/gone.csv: cannot be read"):
        list(file.blocks())


def test_folders_and_what_lies_beside_in_a_bucket(store: Store) -> None:
    store.put("ml/u.data", b"1\t1\t3\t881250949\n2\t1\t4\t881250949\n")
    store.put("ml/u.item", b"1|Toy Story (1995)|\n")
    store.put("parts/year=2023/a.csv", b"user,item,rating\nann,1,3\n")
    store.put("parts/year=2024/b.csv", b"user,item,rating\nann,2,4\n")
    assert read_ratings(store.at("ml")).item_names == ("Toy Story (1995)",)
    assert read_ratings(store.at("ml/u.data")).item_names == ("Toy Story (1995)",)
    parts = read_ratings(store.at("parts"), day_col="year", dates=False)
    assert values(parts) == {("ann", "1"): 3, ("ann", "2"): 4}
    assert read_ratings(store.at("parts/*/*.csv"), item_col="year").items[1] == "2024"
