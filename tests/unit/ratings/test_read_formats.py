"""Every format by a sample small enough to check by eye."""

from __future__ import annotations

import bz2
import datetime
import gzip
import lzma
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade.errors import ConfigError, InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings
from tests.unit.ratings.samples import cells, listening, values, write

D = datetime.date
THREE = {("1", "10"): 4.0, ("1", "9"): 3.0, ("2", "10"): 5.0}
U_DATA = "1\t10\t4\t881250949\n1\t9\t3\t891717742\n2\t10\t5\t878887116\n"
U_USER = "1|24|M|technician|85711\n2|53|F|other|02139\n3|9|M|writer|1\n"
U_ITEM = "9|Caf\xe9 (1994)|01-Jan-1995||http://x|0\n10|Toy Story (1995)|01-Jan-1995||http://y|0\n"


def test_movielens_100k_file_alone_brings_the_items_names(tmp_path) -> None:
    path = write(tmp_path / "u.data", U_DATA)
    write(tmp_path / "u.user", U_USER)
    write(tmp_path / "u.item", U_ITEM, "latin-1")
    ratings = read_ratings(path)
    assert cells(ratings)["1", "10"] == (4.0, D(1997, 12, 4))
    assert values(ratings) == THREE
    assert ratings.report.format == "movielens-100k"
    assert ratings.item_names == ("Café (1994)", "Toy Story (1995)")
    assert ratings.attributes is None


def test_movielens_100k_folder_brings_the_users_too(tmp_path) -> None:
    write(tmp_path / "u.data", U_DATA)
    write(tmp_path / "u.user", U_USER)
    ratings = read_ratings(tmp_path)
    assert ratings.attributes.to_pydict() == {
        "Age": [24.0, 53.0],
        "Gender": ["M", "F"],
        "Occupation": ["technician", "other"],
        "Zip code": ["85711", "02139"],
    }
    assert "1 user with attributes but without ratings skipped" in ratings.report.notes


def test_users_file_beside_a_single_file(tmp_path) -> None:
    path = write(tmp_path / "u.data", U_DATA)
    users = write(tmp_path / "elsewhere" / "people.txt", "1|24|M|technician|85711\n")
    ratings = read_ratings(path, users=users)
    assert ratings.attributes.column("Age").to_pylist() == [24.0, None]
    assert "1 user without attributes: set to null" in ratings.report.notes


def test_movielens_1m(tmp_path) -> None:
    write(
        tmp_path / "ratings.dat", "1::10::4::978300760\n1::9::3::978302109\n2::10::5::978301968\n"
    )
    write(tmp_path / "users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n")
    write(tmp_path / "movies.dat", "9::Les Mis\xe9rables: A::Drama\n10::Z::War\n", "latin-1")
    ratings = read_ratings(tmp_path)
    assert values(ratings) == THREE
    assert ratings.report.format == "movielens-dat"
    assert ratings.item_names == ("Les Misérables: A", "Z")
    assert ratings.attributes.column_names == ["Gender", "Age", "Occupation", "Zip code"]
    assert ratings.attributes.column("Age").to_pylist() == [1.0, 56.0]


def test_double_colon_with_half_stars_and_text_ids(tmp_path) -> None:
    path = write(tmp_path / "ratings.dat", "u1::m1::4.5::978300760\nu2::m\x0c2::0.5::978302109\n")
    ratings = read_ratings(path)
    assert values(ratings) == {("u1", "m1"): 4.5, ("u2", "m\x0c2"): 0.5}


CSV = "userId,movieId,rating,timestamp\n1,10,4.0,964982703\n1,9,3.0,964981247\n2,10,5.0,1\n"
MOVIES = 'movieId,title,genres\n9,"American President, The (1995)",Drama\n10,"""Great""",\n'


@pytest.mark.parametrize("form", ["file", "folder", "zip"])
def test_movielens_20m_and_latest(tmp_path, form: str) -> None:
    folder = tmp_path / "ml-latest"
    source = write(folder / "ratings.csv", CSV)
    write(folder / "movies.csv", MOVIES)
    write(folder / "tags.csv", "userId,movieId,tag,timestamp\n1,9,x,1\n")
    write(folder / "README.txt", "Summary\n")
    if form == "folder":
        source = folder
    elif form == "zip":
        source = tmp_path / "ml-latest.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for path in folder.iterdir():
                archive.write(path, f"ml-latest/{path.name}")
            archive.writestr("__MACOSX/ml-latest/ratings.csv", b"\0\5\26\7")
            archive.writestr("ml-latest/._movies.csv", b"\0\5\26\7")
    ratings = read_ratings(source)
    assert values(ratings) == THREE
    assert ratings.report.format == "movielens-csv"
    assert ratings.item_names == ("American President, The (1995)", '"Great"')
    assert cells(ratings)["2", "10"][1] == D(1970, 1, 1)


def test_ratings_csv_of_another_kind_has_no_movielens_siblings(tmp_path) -> None:
    path = write(tmp_path / "ratings.csv", "user;item;stars\na;x;4\n")
    write(tmp_path / "movies.csv", "nothing of the sort\n")
    ratings = read_ratings(path)
    assert values(ratings) == {("a", "x"): 4.0}
    assert ratings.item_names is None


INTER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n1\t10\t4\t964982703\n"


def test_recbole(tmp_path) -> None:
    path = write(tmp_path / "ml.inter", INTER + "1\t9\t3.0\t964981247.0\n2\t10\t5\t9.64981247e8\n")
    write(tmp_path / "ml.item", "item_id:token\tmovie_title:token_seq\tyear:float\n9\tA b\t1994\n")
    write(tmp_path / "ml.user", "user_id:token\tage:float\tzip_code:token\n1\t24\t85711\n")
    for source in (path, tmp_path):
        ratings = read_ratings(source)
        assert values(ratings) == THREE
        assert ratings.report.format == "recbole"
        assert ratings.report.mapping["day"] == "timestamp"
        assert cells(ratings)["2", "10"][1] == D(2000, 7, 30)
        assert ratings.item_names == ("A b", "10")
        assert ratings.attributes.to_pydict() == {"age": [24.0, None], "zip_code": ["85711", None]}


def test_recbole_items_without_a_name_column(tmp_path) -> None:
    path = write(tmp_path / "ml.inter", INTER)
    write(tmp_path / "ml.item", "item_id:token\tyear:float\n10\t1994\n")
    assert read_ratings(path).item_names is None


AMAZON = [("A2Z", "B000F83SZQ"), ("A1F6404F1VG29J", "B000F83SZQ"), ("AXXXXXXXXX1", "0439893577")]


def test_amazon_in_either_order_is_told_by_its_ids(tmp_path) -> None:
    user_first = "".join(f"{u},{i},5.0,1390435200\n" for u, i in AMAZON[1:])
    item_first = "".join(f"{i},{u},5.0,1390435200\n" for u, i in AMAZON[1:])
    expected = dict.fromkeys(AMAZON[1:], 5.0)
    for text in (user_first, item_first):
        ratings = read_ratings(write(tmp_path / "Books.csv", text))
        assert values(ratings) == expected
        assert ratings.report.format == "amazon"
        assert not ratings.report.notes


def test_no_header_and_ids_that_tell_nothing_are_taken_in_order_and_said(tmp_path) -> None:
    listener, watching = listening()
    with watching:
        ratings = read_ratings(
            write(tmp_path / "x.csv", "u1,i1,5,1390435200\nu2,i1,4,1390435200\n")
        )
    assert values(ratings) == {("u1", "i1"): 5.0, ("u2", "i1"): 4.0}
    said = "no header: columns taken as user, item, rating, date"
    assert said in listener.notes
    assert any("user = column 1, item = column 2" in note for note in listener.notes)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_generic_text_with_named_columns_in_any_order(tmp_path, delimiter: str) -> None:
    rows = [
        ["Review-Date", "STARS", "extra", "Product ID", "customer_id"],
        ["2020-02-29", "3.5", "x", "007", "a"],
        ["2020-03-01", "-2", "", "7", "b"],
    ]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    if delimiter == " ":
        text = text.replace("Product ID", "ProductID")
    ratings = read_ratings(write(tmp_path / "x.txt", text))
    assert cells(ratings) == {
        ("a", "007"): (3.5, D(2020, 2, 29)),
        ("b", "7"): (-2.0, D(2020, 3, 1)),
    }


def test_named_columns_overrule_known_names(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating,who,what,how,when\na,x,1,b,y,5,2001-01-01\n")
    ratings = read_ratings(path, user_col="who", item_col="What", rating_col="how", day_col="when")
    assert cells(ratings) == {("b", "y"): (5.0, D(2001, 1, 1))}


def test_columns_by_number_without_a_header(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "5,zz,10,1,7\n4,zz,10,2,7\n")
    ratings = read_ratings(path, user_col="4", item_col="3", rating_col="1")
    assert values(ratings) == {("1", "10"): 5.0, ("2", "10"): 4.0}


def test_dates_of_eight_digits_are_no_seconds(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating,date\n1,10,4,20031231\n2,10,4,20040101\n")
    assert [day for _, day in cells(read_ratings(path)).values()] == [
        D(2003, 12, 31),
        D(2004, 1, 1),
    ]


def test_the_delimiter_splits_all_rows_alike(tmp_path) -> None:
    text = "user;item;rating;note, free, in, a, few, words\n1;10;4;x\n1;9;3;y\n2;10;5;z\n"
    assert values(read_ratings(write(tmp_path / "x.csv", text))) == THREE


@pytest.mark.parametrize("block", [64, 100, 1000])
def test_rows_are_read_whole_across_blocks(tmp_path, monkeypatch, block: int) -> None:
    monkeypatch.setattr("starshade.ratings.readers.text._BLOCK", block)
    rows = {(f"u\n{i}", f"i{i % 7}"): float(i % 5) for i in range(200)}
    text = "".join(f'"{user}",{item},{rating}\n' for (user, item), rating in rows.items())
    path = write(tmp_path / "x.csv", "user,item,rating\n" + text)
    assert values(read_ratings(path)) == rows


def test_header_can_be_denied_and_demanded(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,5\na,b,4\n")
    assert ("user", "item") in values(read_ratings(path, header=False))
    with pytest.raises(InputError, match="no column is recognised as the rating"):
        read_ratings(path, header=True)


def test_ids_are_text_to_the_last_blank(tmp_path) -> None:
    ids = [
        "7",
        "007",
        "0x7",
        " 7",
        "7 ",
        "-7",
        "7.0",
        "٧",
        "NA",
        "null",
        "1e3",
        "a,b",
        'a"b',
        "a\nb",
    ]
    quoted = ['"' + text.replace('"', '""') + '"' for text in ids]
    text = "user,item,rating\n" + "".join(f"{q},i,1\n" for q in quoted)
    listener, watching = listening()
    with watching:
        ratings = read_ratings(write(tmp_path / "x.csv", text))
    assert set(ratings.users) == set(ids)
    assert "some user ids begin or end with a blank, which is part of the id" in listener.notes


def test_a_late_text_id_does_not_change_earlier_ones(tmp_path) -> None:
    text = "user,item,rating\n" + "".join(f"{i},1,4\n" for i in range(1, 3000)) + "007,1,5\n"
    ratings = read_ratings(write(tmp_path / "x.csv", text))
    assert ratings.n_users == 3000
    assert values(ratings)["007", "1"] == 5.0
    assert values(ratings)["7", "1"] == 4.0


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("x.csv.gz", gzip.compress),
        ("x.csv.bz2", bz2.compress),
        ("x.csv.xz", lzma.compress),
        ("x.csv.zst", lambda raw: pa.compress(raw, codec="zstd", asbytes=True)),
        ("wrongly-named.csv", gzip.compress),
        ("x.csv", lambda raw: b"\xef\xbb\xbf" + raw),
        ("x.csv", lambda raw: raw.decode().encode("utf-16")),
        ("x.csv", lambda raw: b"\xfe\xff" + raw.decode().encode("utf-16-be")),
        ("x.csv.gz", lambda raw: gzip.compress(raw.decode().encode("utf-16"))),
        ("x.csv", lambda raw: raw.replace(b"\n", b"\r\n")),
        ("x.csv", lambda raw: raw.replace(b"\n", b"\r")),
        ("x.csv", lambda raw: raw.replace(b"\n", b"\n\n").replace(b"5", b"5\r\n")),
        ("x.csv", lambda raw: raw.rstrip(b"\n")),
    ],
)
def test_compressions_encodings_and_line_ends(tmp_path, name: str, pack) -> None:
    raw = b"user,item,rating\n1,10,4\n1,9,3\n2,10,5\n"
    assert values(read_ratings(write(tmp_path / name, pack(raw)))) == THREE


def test_a_byte_order_mark_is_no_part_of_the_first_id(tmp_path) -> None:
    assert values(read_ratings(write(tmp_path / "u.data", "\ufeff" + U_DATA))) == THREE
    quoted = "\ufeff" + U_DATA.replace("1\t", '"1"\t', 1)
    assert values(read_ratings(write(tmp_path / "x.tsv", quoted))) == THREE


def test_a_header_of_megabytes(tmp_path) -> None:
    items = [f"{i:06d}" + "x" * 200 for i in range(6000)]
    text = ",".join(["id", *items]) + "\n" + ",".join(["a", "4", *[""] * 5999]) + "\n"
    ratings = read_ratings(write(tmp_path / "x.csv", text), wide=True)
    assert values(ratings) == {("a", items[0]): 4.0}
    assert ratings.report.dropped_items == 5999


@pytest.mark.parametrize("quote", ["", '"'])
def test_line_ends_within_quotes(tmp_path, quote: str) -> None:
    text = f'user,item,rating\r\n"a\r\nb",{quote}x{quote},4\r\n'
    assert values(read_ratings(write(tmp_path / "x.csv", text))) == {("a\r\nb", "x"): 4.0}


def test_lists_patterns_and_folders_of_parts(tmp_path) -> None:
    one = write(tmp_path / "part-0.csv", "user,item,rating\n1,10,4\n")
    two = write(tmp_path / "part-1.csv", "user,item,rating\n1,9,3\n2,10,5\n")
    write(tmp_path / "part-2.csv", "")
    write(tmp_path / "_SUCCESS", "")
    write(tmp_path / ".part-0.csv.crc", b"\0\0")
    for source in ([one, two], (str(one), two), tmp_path, str(tmp_path / "part-*.csv")):
        assert values(read_ratings(source)) == THREE
    assert "1 empty file skipped" in read_ratings(tmp_path).report.notes


def test_a_file_name_full_of_pattern_characters(tmp_path) -> None:
    path = write(tmp_path / "a[1]*?.csv", "user,item,rating\n1,10,4\n")
    assert values(read_ratings(path)) == {("1", "10"): 4.0}
    assert values(read_ratings(str(path))) == {("1", "10"): 4.0}


@pytest.mark.parametrize(
    ("user", "item", "rating"),
    [
        (pa.array([1, 1, 2]), pa.array([10, 9, 10]), pa.array([4, 3, 5])),
        (pa.array([1, 1, 2], pa.uint8()), pa.array(["10", "9", "10"]), pa.array([4.0, 3, 5])),
        (pa.array([1.0, 1, 2]), pa.array([10, 9, 10], pa.int16()), pa.array(["4", "3 ", "5.0"])),
        (
            pa.array(["1", "1", "2"]).dictionary_encode(),
            pa.array(["10", "9", "10"], pa.large_string()),
            pa.array([4, 3, 5], pa.decimal128(5, 2)),
        ),
        (
            pa.array(["1", "1", "2"], pa.string_view()),
            pa.array([b"10", b"9", b"10"]),
            pa.array([4, 3, 5]).dictionary_encode(),
        ),
    ],
)
def test_parquet_and_frames_of_any_type(tmp_path, user, item, rating) -> None:
    table = pa.table({"user_id": user, "extra": [None] * 3, "item_id": item, "score": rating})
    assert values(read_ratings(table)) == THREE
    pq.write_table(table, tmp_path / "x.parquet")
    pq.write_table(table.slice(0, 1), tmp_path / "a.pq")
    pq.write_table(table.slice(1), tmp_path / "b.pq")
    assert values(read_ratings(tmp_path / "x.parquet")) == THREE
    assert values(read_ratings([tmp_path / "a.pq", tmp_path / "b.pq"])) == THREE


def test_types_that_do_not_hold_decimals_exactly() -> None:
    table = pa.table({"user": [1, 2], "item": [1, 1], "rating": pa.array([0.1, 3.7], pa.float32())})
    ratings = read_ratings(table)
    assert str(ratings.scale) == "0.1:3.7:0.1"
    assert ratings.values().tolist() == [0.1, 3.7]


def test_integers_beyond_int64_and_below_zero_are_text() -> None:
    users = pa.array([2**64 - 1, 3], pa.uint64())
    ratings = read_ratings(pa.table({"user": users, "item": [-7, 7], "rating": [1, 2]}))
    assert list(ratings.users) == ["3", "18446744073709551615"]
    assert list(ratings.items) == ["7", "-7"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (pa.array([0, 86_400]), [D(1970, 1, 1), D(1970, 1, 2)]),
        (pa.array([1.5e9, None]), [D(2017, 7, 14), None]),
        (pa.array([10**12, 10**12 + 86_400_000]), [D(2001, 9, 9), D(2001, 9, 10)]),
        (pa.array([D(2020, 2, 29), None]), [D(2020, 2, 29), None]),
        (
            pa.array(np.array(["2020-02-29T23:59:59", "NaT"], dtype="datetime64[ns]")),
            [D(2020, 2, 29), None],
        ),
        (
            pa.array([0, 3600_000], pa.timestamp("ms", "Asia/Tokyo")),
            [D(1970, 1, 1), D(1970, 1, 1)],
        ),
        (pa.array([-1, 0], pa.timestamp("us")), [D(1969, 12, 31), D(1970, 1, 1)]),
    ],
)
def test_typed_dates(dates, expected) -> None:
    table = pa.table({"user": [1, 2], "item": [1, 1], "rating": [1, 2], "date": dates})
    assert [day for _, day in cells(read_ratings(table)).values()] == expected


def test_frames_of_other_libraries() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns = {"userId": [1, 1, 2], "movieId": ["10", "9", "10"], "rating": [4.0, 3.0, 5.0]}
    frame = pandas.DataFrame(columns, index=[5, 6, 7])
    frame["userId"] = frame["userId"].astype("category")
    assert values(read_ratings(frame)) == THREE
    assert values(read_ratings(polars.DataFrame(columns))) == THREE
    stream = pa.table(columns).to_reader()
    assert values(read_ratings(stream)) == THREE


def test_scipy_explicit_zeros_are_ratings() -> None:
    from scipy.sparse import coo_array, csr_array

    matrix = csr_array((np.array([0.0, 2.0]), (np.array([0, 2]), np.array([1, 1]))), shape=(3, 4))
    ratings = read_ratings(matrix)
    assert values(ratings) == {("0", "1"): 0.0, ("2", "1"): 2.0}
    assert (ratings.report.dropped_users, ratings.report.dropped_items) == (1, 3)
    twice = coo_array((np.array([1.0, 2.0]), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    with pytest.raises(InputError, match="sparse matrix, entry"):
        read_ratings(twice)
    with pytest.raises(InputError, match="two axes"):
        read_ratings(coo_array([1.0, 2.0]))


def test_declared_nulls_are_left_out_and_counted(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,0\na,y,5\nb,x,0.0\nb,y,NA\nb,z,4\n")
    ratings = read_ratings(path, null_values=["0", "NA"])
    assert values(ratings) == {("a", "y"): 5.0, ("b", "z"): 4.0}
    assert "3 rows not rated: skipped" in ratings.report.notes
    assert str(ratings.scale) == "4:5:1"


def test_dates_can_be_left_out_even_if_bad(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating,date\na,x,4,soon\n")
    ratings = read_ratings(path, dates=False)
    assert not ratings.has_days
    assert "day" not in ratings.report.mapping


def test_attributes_may_be_a_frame_or_parquet(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\nb,x,5\n")
    people = pa.table(
        {"user": ["b", "a"], "salary": [1, None], "city": ["B", ""], "ok": [True, None]}
    )
    pq.write_table(people, tmp_path / "people.parquet")
    for users in (people, tmp_path / "people.parquet"):
        ratings = read_ratings(path, users=users)
        assert ratings.attributes.to_pydict() == {
            "salary": [None, 1.0],
            "city": [None, "B"],
            "ok": [None, "true"],
        }


def test_attributes_find_their_users_in_any_order_and_codes_stay_text(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\nb,x,5\n")
    people = write(tmp_path / "p.csv", "code,user,n\n1,unknown,7\n007,b,1e1\n12,a,-2.5\n")
    assert read_ratings(path, users=people).attributes.to_pydict() == {
        "code": ["12", "007"],
        "n": [-2.5, 10.0],
    }


@pytest.mark.parametrize("frame", [True, False])
def test_numbers_too_long_to_be_kept_exactly_stay_text(tmp_path, frame: bool) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\nb,x,5\n")
    people = write(
        tmp_path / "p.csv", f"user,n,m,big\na,9007199254740993,{2**60},1e999\nb,-1,{2**53},2\n"
    )
    if frame:
        columns = {"user": ["a", "b"], "n": [2**53 + 1, -1], "m": [2**60, 2**53]}
        people = pa.table(columns | {"big": ["1e999", "2"]})
    ratings = read_ratings(path, users=people, null_values=["-1"])
    assert ratings.attributes.to_pydict() == {
        "n": ["9007199254740993", None],
        "m": [2.0**60, 2.0**53],
        "big": ["1e999", "2"],
    }
    for name in ("n", "big"):
        told = f"attribute {name!r} has numbers too long to be stored exactly: kept as text"
        assert told in ratings.report.notes


@pytest.mark.parametrize("names", [{"x": None}, {"x": 5}, pa.table({"x": ["a"]}), ["a", "b"], 5])
def test_item_names_of_another_kind(tmp_path, names) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\nb,y,5\n")
    with pytest.raises(ConfigError, match="item_names: neither a file nor a mapping"):
        read_ratings(path, item_names=names)


def test_a_file_whose_name_is_not_utf_8(tmp_path) -> None:
    path = tmp_path / os.fsdecode(b"l\xe9.csv")
    path.write_text("user,item,rating\na,x,4\nb,y,5\n")
    assert read_ratings(path).n_ratings == 2


def test_item_names_from_a_file_or_a_mapping(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\nb,y,5\n")
    names = write(tmp_path / "names.csv", "isbn,Book-Title\nx,The X\nz,Unknown\n")
    for given in (names, {"x": "The X"}):
        ratings = read_ratings(path, item_names=given)
        assert ratings.item_names == ("The X", "y")
        assert "1 item without a name: the id is used" in ratings.report.notes


def test_declared_scale_as_text(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\nb,y,5\n")
    ratings = read_ratings(path, scale="1:10:1")
    assert str(ratings.scale) == "1:10:1"
    assert not ratings.report.scale_inferred


def test_arrays() -> None:
    ratings = Ratings.from_arrays([1, 1, 2], np.array(["10", "9", "10"]), [4, 3.0, 5], [0, 1, 2])
    assert values(ratings) == THREE
    assert cells(ratings)["2", "10"][1] == D(1970, 1, 3)
    dates = np.array(["2020-02-29", "NaT", "2020-03-01"], dtype="datetime64[D]")
    dated = Ratings.from_arrays([1, 1, 2], [10, 9, 10], [4, 3, 5], dates, scale="1:5:1")
    assert [day for _, day in cells(dated).values()] == [None, D(2020, 2, 29), D(2020, 3, 1)]
    with pytest.raises(InputError, match="unequal length: user 2, item 1"):
        Ratings.from_arrays([1, 2], [1], [1])
    with pytest.raises(InputError, match="arrays: cannot be read"):
        Ratings.from_arrays([1, "x"], [1, 2], [1, 2])
    with pytest.raises(InputError, match="row 1"):
        Ratings.from_arrays([1, 1], [1, 1], [1, 2])
    assert Ratings.from_arrays([1, 1], [1, 1], [1, 2], on_duplicate="last").values() == [2.0]


def test_a_column_is_named_by_its_number(tmp_path) -> None:
    path = write(tmp_path / "x.csv", b"5,a,1\n4,b,1\n")
    by_number = read_ratings(path, user_col=2, item_col=3, rating_col=1, header=False)
    by_text = read_ratings(path, user_col="2", item_col="3", rating_col="1", header=False)
    assert cells(by_number) == cells(by_text) == {("a", "1"): (5.0, None), ("b", "1"): (4.0, None)}


def test_an_id_may_begin_with_a_brace(tmp_path) -> None:
    path = write(tmp_path / "u.data", b"{\t7\t4\t0\n[{\t7\t5\t0\n")
    found = read_ratings(path, format="movielens-100k", dates=False)
    assert sorted(user for user, _ in cells(found)) == ["[{", "{"]


@pytest.mark.parametrize("source", [{"user": [1]}, 5, None, np.eye(2), b"x"])
def test_sources_that_hold_no_ratings(source) -> None:
    with pytest.raises(ConfigError, match="ratings cannot be read from"):
        read_ratings(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "csvv"}, "format 'csvv': unknown"),
        ({"on_duplicate": "median"}, "on_duplicate = 'median'"),
        ({"wide": True, "user_col": "x"}, "user_col names a column of a long table"),
        ({"wide": True, "format": "csv"}, "not wide"),
        ({"id_col": "x"}, "apply to wide tables only"),
        ({"attribute_cols": ["x"]}, "apply to wide tables only"),
        ({"delimiter": "ab"}, "delimiter 'ab'"),
        ({"delimiter": "a"}, "delimiter 'a'"),
        ({"delimiter": "é"}, "delimiter 'é'"),
        ({"scale": "1-5"}, "scale '1-5'"),
        ({"scale": (1, 5, 1)}, "scale of type tuple: must be a Scale"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, message: str) -> None:
    path = write(tmp_path / "x.csv", "user,item,rating\na,x,4\n")
    with pytest.raises(ConfigError, match=message):
        read_ratings(path, **options)


@pytest.mark.real
def test_movielens_100k_whole(ml100k_dir) -> None:
    ratings = read_ratings(ml100k_dir)
    assert (ratings.n_users, ratings.n_items, ratings.n_ratings) == (943, 1682, 100_000)
    assert str(ratings.scale) == "1:5:1"
    assert ratings.report.scale_inferred
    assert ratings.attributes.num_rows == 943
    assert ratings.item_names[49] == "Star Wars (1977)"
    assert cells(ratings)["196", "242"] == (3.0, D(1997, 12, 4))


@pytest.mark.real
def test_movielens_latest_small_whole(ml_latest_small_dir) -> None:
    ratings = read_ratings(ml_latest_small_dir)
    assert ratings.n_ratings == 100_836
    assert str(ratings.scale) == "0.5:5:0.5"
    assert ratings.report.format == "movielens-csv"


def test_the_fast_path_and_the_general_reader_agree(tmp_path) -> None:
    rng = np.random.default_rng(0)
    pairs = {(int(u), int(i)) for u, i in rng.integers(0, 60, (800, 2))}
    rows = [f"{u},{i},{rng.integers(1, 11) / 2},{rng.integers(9e8, 1e9)}\n" for u, i in pairs]
    header = "user,item,rating,timestamp\n"
    fast = read_ratings(write(tmp_path / "a.csv", header + "".join(rows)))
    quoted = "".join(f'"{row[: row.index(",")]}"{row[row.index(",") :]}' for row in rows)
    general = read_ratings(write(tmp_path / "b.csv", header + quoted))
    assert cells(fast) == cells(general)
    assert Path(general.report.source).name == "b.csv"


def test_a_store_says_all_itself(tmp_path) -> None:
    ratings = read_ratings(write(tmp_path / "x.csv", "user,item,rating,date\na,x,4,2020-01-02\n"))
    ratings.save(tmp_path / "store")
    people = write(tmp_path / "people.csv", "user,age\na,3\n")
    again = read_ratings(tmp_path / "store", users=people)
    assert cells(again) == cells(ratings)
    assert again.attributes.to_pydict() == {"age": [3.0]}
    assert again.lineage is not None
    assert not read_ratings(tmp_path / "store", dates=False).has_days
    (tmp_path / "store" / "levels.npy").write_bytes(b"")
    with pytest.raises(InputError, match="damaged"):
        read_ratings(tmp_path / "store")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"user_col": "u"}, "is a store, whose columns are fixed"),
        ({"null_values": ["9"]}, "is a store, whose columns are fixed"),
        ({"scale": "1:10:1"}, "the store's scale is 4:4:1, not 1:10:1"),
    ],
)
def test_a_store_cannot_be_read_in_another_way(tmp_path, options, message: str) -> None:
    read_ratings(write(tmp_path / "x.csv", "user,item,rating\na,x,4\n")).save(tmp_path / "store")
    with pytest.raises(ConfigError, match=message):
        read_ratings(tmp_path / "store", **options)


def test_netflix_files_are_found_alone_in_a_folder_and_in_a_zip(tmp_path) -> None:
    folder = tmp_path / "netflix"
    write(folder / "mv_0000009.txt", "9:\n1,3,2005-09-06\n")
    write(folder / "mv_0000010.txt", "10:\n1,4,2005-09-06\n2,5,2005-05-13\n")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    for source in (folder, tmp_path / "archive.zip"):
        ratings = read_ratings(source)
        assert values(ratings) == THREE
        assert ratings.report.format == "netflix"
    assert values(read_ratings(folder / "mv_0000009.txt")) == {("1", "9"): 3.0}
    with pytest.raises(InputError, match="Name the folder"):
        read_ratings(folder / "mv_*.txt")


def test_columns_that_nobody_took_are_named(tmp_path) -> None:
    text = "user,item,rating,when_seen_at,city\na,b,4,2020-01-02,Rome\n"
    said = "columns not read: 'when_seen_at', 'city' (if 'when_seen_at' contains the dates, "
    path = write(tmp_path / "x.csv", text)
    assert read_ratings(path).report.notes == (said + "name it: day_col)",)
    pq.write_table(pa.table({"user": [1], "item": [1], "rating": [4], "k": [1]}), tmp_path / "p")
    assert read_ratings(tmp_path / "p").report.notes == ("columns not read: 'k'",)
    taken = read_ratings(path, day_col="when_seen_at")
    assert taken.report.notes == ("columns not read: 'city'",)
    declined = write(tmp_path / "y.csv", "user,item,rating,date\na,b,4,2020-01-02\n")
    assert read_ratings(declined, dates=False).report.notes == ()


@pytest.mark.parametrize(
    "name", ["reviewed_at", "created_at", "rated_at", "review_date", "date_rated", "dateReviewed"]
)
def test_more_names_of_dates(tmp_path, name: str) -> None:
    path = write(tmp_path / "x.csv", f"user,item,rating,{name}\na,b,4,2020-01-02\n")
    assert read_ratings(path).report.mapping["day"] == name


def test_a_title_serves_where_no_column_has_item_ids(tmp_path) -> None:
    rows = "customer,title,stars\nann,Up,4\nann,Jaws,2\nbob,Up,5\n"
    found = read_ratings(write(tmp_path / "a.csv", rows))
    assert values(found) == {("ann", "Up"): 4.0, ("ann", "Jaws"): 2.0, ("bob", "Up"): 5.0}
    said = "no column has item ids: 'title' is used, and one title is one item"
    assert said in found.report.notes
    ids = "customer,title,film,stars\nann,Up,7,4\nbob,Up,7,5\n"
    found = read_ratings(write(tmp_path / "b.csv", ids))
    assert found.items[0] == "7"
    assert said not in found.report.notes
    asked = read_ratings(tmp_path / "a.csv", item_col="title")
    assert said not in asked.report.notes
    for unclear in ("customer,title,movieTitle,stars", "customer,name,city,stars"):
        path = write(tmp_path / "c.csv", f"{unclear}\nann,Up,Up,4\nbob,Up,Up,5\n")
        with pytest.raises(InputError, match="no column is recognised as the item"):
            read_ratings(path)


@pytest.mark.parametrize("names", [1, 2])
def test_a_zip_with_broken_names_is_damaged(tmp_path, names):
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("é.csv", "user,item,rating\n1,2,3\n")
    # one stands before the member, the other in the list at the end
    broken = file.read_bytes().replace("é".encode(), b"\xff\xff", names)
    file.write_bytes(broken)
    with pytest.raises(InputError, match=r"cannot be unpacked|archive is damaged"):
        read_ratings(file)


@pytest.mark.parametrize("kind", ["text", "Categorical", "Enum"])
def test_texts_of_polars_are_read_in_every_column(kind):
    polars = pytest.importorskip("polars")
    types = {
        "text": polars.String,
        "Categorical": polars.Categorical,
        "Enum": polars.Enum(["m", "f"]),
    }
    people = polars.DataFrame({"user": ["1", "2"], "sex": ["m", "f"]})
    people = people.with_columns(polars.col("sex").cast(types[kind]))
    rated = polars.DataFrame({"user": ["1", "2"], "item": ["a", "b"], "rating": [1, 2]})
    assert read_ratings(rated, users=people).attributes["sex"].to_pylist() == ["m", "f"]
    wide = people.with_columns(q1=polars.Series([1, 2]), q2=polars.Series([2, 1]))
    read = read_ratings(wide, wide=True, id_col="user", attribute_cols=["sex"])
    assert read.attributes["sex"].to_pylist() == ["m", "f"]
    with pytest.raises(InputError, match="rows without user id"):
        read_ratings(rated.with_columns(user=polars.Series([None, "2"])))
