"""A release as rows: what its files say, at every door."""

from __future__ import annotations

import csv
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError, OutputError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Symbols
from starshade.release.readable import rows as rows_module
from starshade.release.readable.describe import describe_release
from starshade.release.readable.matrix import expected
from starshade.release.readable.write import FORMATS, write_readable
from starshade.release.table import Release
from tests.naive import readable_release as naive
from tests.strategies import table
from tests.unit.release.changes import moved_tables, released
from tests.unit.release.profiled import profiled
from tests.unit.release.samples import covering, groupings, plain_rows

FEW = settings(max_examples=15)
BLOCK = st.sampled_from([1, 3, 1 << 20])
STARS = Scale(1, 5, 1)
ROWS = [{0: 1, 1: 2}, {0: 1, 1: 5}, {0: 4}, {0: 5, 1: 3}, {1: 3}]


def small(*names: str, **more: Any) -> Release:
    original = table(ROWS, STARS)
    original = replace(original, item_names=names or None)
    return covering(original, np.array([0, 0, 1, 1, 1]), ranges=False).release(**more)


def agrees(release: Release, folder: Path, block: int) -> None:
    release.save(folder / "release")
    expected = naive.rows(folder / "release")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows_module, "ROWS", block)
        found = release.to_arrow().to_pylist()
    assert pq.read_table(folder / "release" / "table.parquet").to_pylist() == found
    told = []
    for row in found:
        said = [row.pop("rating")] if "rating" in row else naive.parsed(row.pop("values"))
        if "lowest" in row:
            numbers = [end for v in said if v != naive.NULL for end in np.atleast_1d(v).tolist()]
            bounds = row.pop("lowest"), row.pop("highest")
            assert bounds == ((min(numbers), max(numbers)) if numbers else (None, None))
            assert row.pop("null_possible") == (naive.NULL in said)
        told.append({**row, "item": str(row["item"]), "said": said})
    assert told == expected
    n, n_items = release.n_records, release.classes.n_items
    shares = describe_release(release).cells
    assert shares == pytest.approx(
        {k: v for k, v in naive.shares(expected, n, n_items).items() if k in shares}
    )
    assert sum(shares.values()) == pytest.approx(1)


@FEW
@given(groupings(), BLOCK)
def test_generalized_rows_are_what_the_files_say(tmp_path_factory, grouping, block):
    agrees(grouping.release(), tmp_path_factory.mktemp("readable"), block)


@FEW
@given(profiled(), BLOCK)
def test_profiles_are_what_the_files_say(tmp_path_factory, drawn, block):
    agrees(drawn.release(), tmp_path_factory.mktemp("readable"), block)


@FEW
@given(moved_tables(), BLOCK)
def test_records_are_what_the_files_say(tmp_path_factory, drawn, block):
    agrees(released(*drawn), tmp_path_factory.mktemp("readable"), block)


def test_by_hand():
    assert small("One", "Two").to_arrow().to_pydict() == {
        "class": [0, 0, 1, 1],
        "size": [3, 3, 2, 2],
        "item": [1, 2, 1, 2],
        "name": ["One", "Two", "One", "Two"],
        "lowest": [4.0, 3.0, 1.0, 2.0],
        "highest": [5.0, 3.0, 1.0, 5.0],
        "values": ["4 or 5 or not rated", "3 or not rated", "1", "2 or 5"],
        "null_possible": [True, True, False, False],
    }


def test_every_library_takes_it():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    release = small("a", "a")
    plain = release.to_arrow().to_pylist()
    assert release.to_polars().to_dicts() == plain
    assert polars.DataFrame(release).to_dicts() == plain
    assert pa.table(release).to_pylist() == plain
    assert isinstance(release.to_pandas(), pandas.DataFrame)
    assert release.to_pandas().to_dict("records") == plain
    assert duckdb.sql("select sum(size) from release").fetchall() == [(10,)]
    assert duckdb.sql("select * from release").fetchall() == [tuple(r.values()) for r in plain]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_not_there(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ConfigError, match=rf"needs the package {name}, which is not installed\npip install {name}"
    ):
        getattr(small(), f"to_{name}")()


def test_memory_is_planned(tmp_path):
    release = small()
    with (
        budget.limits(memory=20),
        pytest.raises(ConfigError, match="need more memory than the 20 bytes"),
    ):
        release.to_arrow()
    with budget.limits(memory=20):  # block by block
        assert pa.RecordBatchReader.from_stream(release).schema.names[0] == "class"
        for ending in FORMATS:
            assert write_readable(release, tmp_path / f"x{ending}") == (4, 0)


@FEW
@given(groupings(), BLOCK)
def test_files_hold_the_same_rows(tmp_path_factory, grouping, block):
    folder, release = tmp_path_factory.mktemp("written"), grouping.release()
    expected = release.to_arrow().to_pylist()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows_module, "ROWS", block)
        assert write_readable(release, folder / "x.parquet") == (len(expected), 0)
        n, _ = write_readable(release, folder / "x.csv")
    assert pq.read_table(folder / "x.parquet").to_pylist() == expected
    assert n == len(expected)
    with (folder / "x.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for line, row in zip(lines, expected, strict=True):
        text = {key: line[key] for key in ("item", "name", "values") if key in line}
        assert text == {
            key: ("'" if str(row[key]).startswith("-") else "") + str(row[key]) for key in text
        }
        numbers = [float(line[k]) if line[k] else None for k in ("class", "lowest", "highest")]
        assert numbers == [row[key] for key in ("class", "lowest", "highest")]
        assert line["null_possible"] == str(row["null_possible"]).lower()


def test_formulas_are_made_harmless_and_counted(tmp_path):
    release = small("=1+1", "@SUM(A1)")
    assert write_readable(release, tmp_path / "x.csv") == (4, 2)
    assert write_readable(release, tmp_path / "x.parquet") == (4, 0)
    assert release.to_csv(tmp_path / "same") == 2
    assert (tmp_path / "same").read_bytes() == (tmp_path / "x.csv").read_bytes()
    with (tmp_path / "x.csv").open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["'=1+1", "'@SUM(A1)"] * 2
    assert set(pq.read_table(tmp_path / "x.parquet")["name"].to_pylist()) == {"=1+1", "@SUM(A1)"}
    for start in ("+", "-", "\t", "\r"):
        place = tmp_path / f"{ord(start)}.csv"
        assert write_readable(small(f"{start}x", "x"), place) == (4, 1)
        assert f'"\'{start}x"' in place.read_bytes().decode()


def test_what_is_for_queries_stays_with_its_owner(tmp_path):
    people = pa.table({"age": [40.0, 30.0, 20.0, 20.0, 20.0]})
    original = replace(table(ROWS, STARS), attributes=people)
    made = covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)
    for attributes, mode in (("exact", 0o600), ("none", 0o644)):
        release, place = made.release(attributes=attributes), tmp_path / f"{attributes}.csv"
        write_readable(release, place)
        assert stat.S_IMODE(place.stat().st_mode) & 0o644 == mode


def test_another_ending_and_a_place_that_is_taken(tmp_path):
    with pytest.raises(ConfigError, match="converted to csv or parquet or recbole"):
        write_readable(small(), tmp_path / "x.xlsx")
    (tmp_path / "x.csv").touch()
    with pytest.raises(OutputError):
        write_readable(small(), tmp_path / "x.csv")


def test_atomic_files_by_hand(tmp_path):
    write_readable(small("One", "Two"), tmp_path / "x.inter")
    assert (tmp_path / "x.inter").read_text().splitlines() == [
        "user_id:token\titem_id:token\trating:float\tweight:float",
        "0\t1\t4.5\t2",  # 4 or 5 or not rated, by three
        "0\t2\t3\t1.5",
        "1\t1\t1\t2",
        "1\t2\t3.5\t2",
    ]


@FEW
@given(st.one_of(groupings(), profiled()), BLOCK)
def test_atomic_files_hold_what_is_expected(tmp_path_factory, drawn, block):
    folder, release = tmp_path_factory.mktemp("inter"), drawn.release()
    ratings, weights = release.to_csr()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows_module, "ROWS", block)
        write_readable(release, folder / "x.inter")
    lines = [line.split("\t") for line in (folder / "x.inter").read_text().splitlines()[1:]]
    keys = list(release.classes.items)
    assert [(int(row), keys.index(key)) for row, key, *_ in lines] == [
        (row, item) for row in range(ratings.shape[0]) for item in ratings[[row]].indices.tolist()
    ]
    assert [float(rating) for *_, rating, _ in lines] == ratings.data.tolist()
    assert [float(weight) for *_, weight in lines] == pytest.approx(weights.data.tolist())


@FEW
@given(moved_tables())
def test_records_are_ratings_to_recbole(tmp_path_factory, drawn):
    release = released(*drawn)
    folder = tmp_path_factory.mktemp("inter")
    write_readable(release, folder / "x.inter")
    plain = release.to_arrow().to_pylist()
    head, *lines = (folder / "x.inter").read_text().splitlines()
    assert head == "user_id:token\titem_id:token\trating:float"
    assert [tuple(line.split("\t")[:2]) for line in lines] == [
        (str(row["record"]), str(row["item"])) for row in plain
    ]
    assert [float(line.split("\t")[2]) for line in lines] == [row["rating"] for row in plain]


def test_a_key_with_a_tab_is_quoted_in_atomic_files(tmp_path):
    release = small()
    classes = replace(release.classes, items=Vocabulary.of(["a\tb", "c"]))
    write_readable(replace(release, classes=classes), tmp_path / "x.inter")
    assert '0\t"a\tb"\t4.5\t2' in (tmp_path / "x.inter").read_text().splitlines()


@given(groupings())
def test_expected_ratings_and_weights(grouping):
    release = grouping.release()
    minimum = release.scale.minimum
    ratings, weights = release.to_csr()
    means, weighed = np.zeros(ratings.shape), np.zeros(ratings.shape)
    for row, contents in enumerate(plain_rows(release.classes)):
        for item, content in enumerate(contents):
            if content is None:
                continue
            if content[0] == "range":
                start, end = max(content[1], minimum), content[2]
                means[row, item] = (start + end) / 2
                chance = (end - start) / (end - content[1])
            else:
                known = [v for v in content[1] if v > float("-inf")]
                means[row, item] = sum(known) / len(known)
                chance = len(known) / len(content[1])
            weighed[row, item] = chance * release.classes.sizes[row]
    assert ratings.toarray() == pytest.approx(means)
    assert weights.toarray() == pytest.approx(weighed)
    assert ratings.nnz == weights.nnz == len(release.classes.codes)


@given(profiled())
def test_what_is_sure_weighs_as_many_as_there_are(drawn):
    release = drawn.release()
    ratings, weights = release.to_csr()
    plain, sizes = release.to_scipy()
    assert (ratings != plain).nnz == 0
    assert weights.toarray().tolist() == ((release.classes.levels > 0) * sizes[:, None]).tolist()


def test_expected_of_ranges():
    # what lies below the scale's minimum stands for null
    low, high = np.array([-11.0, 0.0, 2.5]), np.array([0.0, 5.0, 2.5])
    means, chances = expected(Symbols.ranges(Scale(-10, 10), low, high))
    assert means.tolist() == [-5, 2.5, 2.5]
    assert chances.tolist() == [10 / 11, 1, 1]
