from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade.errors import ConfigError, OutputError
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings
from starshade.ratings.write import write_ratings
from tests.unit.ratings.samples import cells, listening, values, write

D = datetime.date


def some(**columns) -> Ratings:
    frame = {
        "user": ["2", "10", "10"],
        "item": ["a,b", "a,b", "c"],
        "rating": [4, 3.5, 5],
        "day": pa.array([D(2020, 2, 29), None, D(1970, 1, 1)]),
    }
    return read_ratings(pa.table(frame | columns))


def text(path) -> str:
    return path.read_bytes().decode()


def test_generic_csv_has_a_header_and_iso_dates(tmp_path) -> None:
    assert write_ratings(some(), tmp_path / "x.csv") == "csv"
    assert text(tmp_path / "x.csv") == (
        'user,item,rating,date\n2,"a,b",4,2020-02-29\n10,"a,b",3.5,\n10,c,5,1970-01-01\n'
    )


def test_recbole_has_types_and_seconds(tmp_path) -> None:
    assert write_ratings(some(), tmp_path / "x.inter") == "recbole"
    assert text(tmp_path / "x.inter") == (
        "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
        "2\ta,b\t4\t1582934400\n10\ta,b\t3.5\t\n10\tc\t5\t0\n"
    )


def test_without_dates_there_is_no_column_for_them(tmp_path) -> None:
    frame = pa.table({"user": [1], "item": [2], "rating": [3]})
    write_ratings(read_ratings(frame), tmp_path / "x.csv")
    assert text(tmp_path / "x.csv") == "user,item,rating\n1,2,3\n"


DIALECTS = [
    ("u.data", "1\t9\t3\t891734400\n1\t10\t4\t881193600\n2\t10\t5\t878860800\n", "movielens-100k"),
    ("ratings.dat", "1::9::3::978307200\n1::10::4.5::978307200\n", "movielens-dat"),
    (
        "ratings.csv",
        "userId,movieId,rating,timestamp\n1,9,3.0,978307200\n1,10,0.5,978307200\n",
        "movielens-csv",
    ),
    ("b.csv", "B000F83SZQ,A1F6404F1VG29J,5,1390435200\n", "amazon"),
    ("x.csv", "Stars;who;Book\n3;1;9\n4;1;10\n", "csv"),
    ("x.txt", "when\tUser\tIsbn\tScore\n2020-01-31\ta\tx\t3\n", "tsv"),
    ("x.csv", "u1,i1,3\nu1,i2,4\n", "csv"),
    ("survey.csv", "nr,x,y\n1,2,\n2,3,4\n", "wide"),
]


@pytest.mark.parametrize(("name", "content", "form"), DIALECTS)
def test_csv_is_the_dialect_that_was_read(tmp_path, name: str, content: str, form: str) -> None:
    named = {"user_col": "who"} if "who" in content else {}
    named = {"day_col": "when"} if "when" in content else named
    options = {"wide": True, "id_col": "nr"} if form == "wide" else named
    ratings = read_ratings(write(tmp_path / name, content), **options)
    assert write_ratings(ratings, tmp_path / "again.csv", "csv") == form
    assert text(tmp_path / "again.csv") == content


def test_parquet_keeps_types_and_names(tmp_path) -> None:
    frame = pa.table({"userId": [7, 8], "asin": ["x", "y"], "stars": [1, 2], "date": [0, 86_400]})
    write_ratings(read_ratings(frame), tmp_path / "x.parquet")
    found = pq.read_table(tmp_path / "x.parquet")
    assert found.schema.names == ["userId", "asin", "stars", "date"]
    assert [str(t) for t in found.schema.types] == ["int64", "string", "double", "date32[day]"]
    assert found.column("date").to_pylist() == [D(1970, 1, 1), D(1970, 1, 2)]


@pytest.mark.parametrize(
    ("name", "users", "items"),
    [
        ("x.csv", "x.users.csv", "x.items.csv"),
        ("x.parquet", "x.users.parquet", "x.items.parquet"),
        ("x.inter", "x.user", "x.item"),
    ],
)
def test_attributes_and_names_go_beside(tmp_path, name: str, users: str, items: str) -> None:
    people = pa.table({"user": ["10", "2"], "age": [31.5, None], "city": ['New "York"', None]})
    ratings = read_ratings(
        write(tmp_path / "in.csv", "user,item,rating\n2,a,4\n10,b,5\n"),
        users=people,
        item_names={"a": "Alpha, the\tfirst", "b": "B"},
    )
    listener, watching = listening()
    with watching:
        write_ratings(ratings, tmp_path / name)
    assert listener.notes[-2:] == [f"personal attributes: {users}", f"item names: {items}"]
    for beside in (name, users, items):
        assert (tmp_path / beside).stat().st_mode & 0o777 == 0o600
    again = read_ratings(tmp_path / name, users=tmp_path / users, item_names=tmp_path / items)
    assert again.attributes.equals(ratings.attributes)
    assert again.item_names == ratings.item_names
    assert cells(again) == cells(ratings)


def test_a_wide_table_holds_the_attributes_itself_and_no_dates(tmp_path) -> None:
    people = pa.table({"user": ["10"], "age": [31]})
    ratings = read_ratings(
        write(tmp_path / "in.csv", "user,item,rating,date\n2,a,4,2020-01-01\n10,b,0.5,\n"),
        users=people,
    )
    listener, watching = listening()
    with watching:
        write_ratings(ratings, tmp_path / "x.csv", "wide")
    assert text(tmp_path / "x.csv") == "id,age,a,b\n2,,4,\n10,31,,0.5\n"
    assert "a wide table has no dates: they are left out" in listener.notes
    again = read_ratings(tmp_path / "x.csv", wide=True, attribute_cols=["age"])
    assert values(again) == values(ratings)
    assert again.attributes.equals(ratings.attributes)


def test_nothing_is_overwritten_and_nothing_half_written_stays(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "mine")
    with pytest.raises(OutputError, match="exists already"):
        write_ratings(some(), path)
    assert text(path) == "mine"
    ratings = read_ratings(
        write(tmp_path / "in.csv", "user,item,rating\n2,a,4\n"), item_names={"a": "A"}
    )
    mine = write(tmp_path / "y.items.csv", "mine too")
    with pytest.raises(OutputError, match="exists already"):
        write_ratings(ratings, tmp_path / "y.csv")
    assert text(mine) == "mine too"
    assert not (tmp_path / "y.csv").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "x.csv", "y.items.csv"]


def test_a_file_that_came_first_goes_when_a_later_one_fails(tmp_path, monkeypatch) -> None:
    ratings = read_ratings(
        write(tmp_path / "in.csv", "user,item,rating\n2,a,4\n"), item_names={"a": "A"}
    )

    def meanwhile(*_: object) -> None:
        write(tmp_path / "y.items.csv", "somebody else's")

    monkeypatch.setattr("starshade.ratings.write.write_long", meanwhile)
    with pytest.raises(OutputError, match="exists already"):
        write_ratings(ratings, tmp_path / "y.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "y.items.csv"]
    assert text(tmp_path / "y.items.csv") == "somebody else's"


def test_a_first_id_like_a_byte_order_mark(tmp_path) -> None:
    ratings = some(user=["\ufeffx", "\ufeffy", "\ufeffy"])
    write_ratings(ratings, tmp_path / "x.csv", "amazon")
    assert cells(read_ratings(tmp_path / "x.csv")) == cells(ratings)


@pytest.mark.parametrize("form", ["movielens-100k", "movielens-dat"])
def test_ids_that_a_format_cannot_hold_are_refused(tmp_path, form: str) -> None:
    ratings = some(item=["a\tb", "a::b", "c"])
    with pytest.raises(ConfigError, match="which this format cannot store"):
        write_ratings(ratings, tmp_path / "x", form)
    assert not list(tmp_path.iterdir())


def test_a_wide_table_that_cannot_be(tmp_path, monkeypatch) -> None:
    with pytest.raises(ConfigError, match="the same name"):
        write_ratings(some(item=["id", "id", "c"]), tmp_path / "x.csv", "wide")
    monkeypatch.setattr("starshade.ratings.write._MOST_CELLS", 3)
    with pytest.raises(ConfigError, match="too large"):
        write_ratings(some(), tmp_path / "x.csv", "wide")


def test_unknown_format(tmp_path) -> None:
    with pytest.raises(ConfigError, match="format 'xlsx': cannot be written; allowed: store"):
        write_ratings(some(), tmp_path / "x", "xlsx")


@pytest.mark.real
def test_movielens_100k_there_and_back(ml100k_dir, tmp_path) -> None:
    ratings = read_ratings(ml100k_dir)
    write_ratings(ratings, tmp_path / "x.csv", "csv")
    again = read_ratings(tmp_path / "x.csv", users=tmp_path / "x.users.csv", scale="1:5:1")
    assert cells(again) == cells(ratings)
    assert again.attributes.equals(ratings.attributes)
