"""Folders that somebody made to confuse: links, names that are no text, depths, odd claims."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import starshade
from starshade.errors import ConfigError, InputError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.release.cells import Symbols
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import read_receipt
from starshade.release.verify.verify import verify_folder
from tests.unit.release.damage import change, say
from tests.unit.release.test_store import small

FILES = ("release.json", "cells.parquet", "records.parquet", "items.parquet", "README.md")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    release = small().release(attributes="exact")
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    return tmp_path / "out"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_only_regular_files(saved: Path, tmp_path: Path, name: str, kind: str) -> None:
    shutil.move(saved / name, tmp_path / "elsewhere")
    if kind == "link":
        (saved / name).symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(saved / name)  # whoever opens it waits for ever
    with pytest.raises(ReleaseError, match="not a regular file"):
        read_release(saved)
    with pytest.raises(ReleaseError, match="not a regular file"):
        verify_folder(saved)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0]] * 5, "neither number nor text"),
        ([{"low": 1.0, "high": 2.0, "null": False}] * 5, "neither number nor text"),
        ([True] * 5, "neither number nor text"),
        ([float("inf")] * 5, "not finite"),
        ([1.0, None, 2.0, 3.0, float("nan")], "not finite"),
    ],
)
def test_attributes_are_numbers_or_texts(saved: Path, values: list, message: str) -> None:
    def how(_columns: dict[str, list]) -> pa.Table:
        before = pq.read_table(saved / "records.parquet")
        return before.set_column(2, before.column_names[2], pa.array(values))

    change(saved, "records.parquet", how)
    with pytest.raises(ReleaseError, match=message):
        read_release(saved)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([1, 2, 3, 4, 2**53 + 1]), "exactly .type int64"),
        (pa.array([[1], [2], [3], [4], [5]]), "must be text, or numbers"),
        (pa.array([1.0, 2.0, 3.0, None, float("-inf")]), "a number is not finite"),
    ],
)
def test_attributes_that_cannot_be_released(values: pa.Array, message: str) -> None:
    grouping = small()
    people = replace(grouping.original, attributes=pa.table({"Age": values}))
    with pytest.raises(ConfigError, match=f"attribute 'Age': .*{message}"):
        replace(grouping, original=people).release(attributes="exact")


def test_the_folder_itself_may_be_a_link(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(saved)
    assert read_release(tmp_path / "link").n_records == 5
    assert verify_folder(tmp_path / "link")["records"] == 5


@pytest.mark.parametrize("k", ["x", "5", 5.5, 5.0, True, 0, -1])
def test_a_claim_whose_k_is_no_number_of_people(saved: Path, k: object) -> None:
    say(saved, claims=[{"model": "k-anonymity", "parameters": {"k": k}, "verified": {}}])
    with pytest.raises(ReleaseError, match=r"release\.json: claims"):
        read_release(saved)
    if type(k) is not int:
        with pytest.raises(ReleaseError, match="not a whole number"):
            verify_folder(saved)


@pytest.mark.parametrize("claim", [7, {"parameters": {}}])
def test_a_claim_that_is_none(saved: Path, claim: object) -> None:
    say(saved, claims=[claim])
    for read in (read_release, verify_folder):
        with pytest.raises(ReleaseError, match="claim"):
            read(saved)


def test_a_claim_without_k_does_not_hold(saved: Path) -> None:
    say(saved, claims=[{"model": "k-anonymity", "parameters": {}, "verified": {}}])
    assert not verify_folder(saved)["claims"][0]["holds"]


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_json_that_is_too_deep(saved: Path, tmp_path: Path, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    facts = json.dumps(json.loads((saved / "release.json").read_text()) | {"config": {"a": 0}})
    (saved / "release.json").write_text(facts.replace('{"a": 0}', '{"a": ' + deep + "}"))
    (tmp_path / "receipt").write_text(deep)
    os.chmod(tmp_path / "receipt", 0o600)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.json").write_text(deep)
    for read in (read_release, verify_folder):
        try:
            read(saved)  # a depth that can be read is no error
        except ReleaseError:
            continue
        assert depth < 1000
    with pytest.raises(ReleaseError, match="not a private key file"):
        read_receipt(tmp_path / "receipt")
    with pytest.raises(InputError, match="not a starshade store"):
        starshade.read_ratings(tmp_path / "store")


def test_places_whose_names_are_no_text(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff"))
    folder.mkdir()
    grouping = small()
    release = grouping.release(attributes="exact")
    release.save(folder / "out", private=folder / "receipt")
    assert read_release(folder / "out", private=folder / "receipt").n_records == 5
    assert verify_folder(folder / "out", release.private)["records"] == 5
    original = grouping.original
    original.save(folder / "store")
    assert starshade.read_ratings(folder / "store").n_users == original.n_users
    (folder / "ratings.csv").write_text("user,item,rating\n1,1,3\n2,1,4\n")
    read = starshade.read_ratings(folder / "ratings.csv", scale="1:5:1")
    starshade.write_ratings(read, folder / "x.parquet")
    read.save(folder / "again")
    assert starshade.read_ratings(folder / "again").n_users == 2
    assert (folder / "x.parquet").is_file()


def test_a_tiny_rho0_warns_of_nothing() -> None:
    members = Symbols.exact(Scale(1, 5, 1), np.array([1.0, 3.0]))
    ends = (np.array([0, 0]), np.empty(0), np.array([False]))
    line = Symbols(Scale(-10, 10), *ends, np.array([-1.0]), np.array([2.0]))
    point = Symbols(Scale(-10, 10), *ends, np.array([2.0]), np.array([2.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sets = members.similarity(np.array([1.0, 3.5]), 1e-320)
        ranges = line.similarity(np.array([-5.0, 0.5, 2.0, 7.0]), 1e-320)
        points = point.similarity(np.array([2.0, 7.0]), 1e-320)
    assert sets.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert np.all(np.abs(ranges) <= 1e-300)
    assert points.tolist() == [[1.0], [0.0]]


def test_a_release_is_no_ratings(saved: Path) -> None:
    release = starshade.read_release(saved)
    for given, said in (
        (saved, f"{saved}: is a release"),
        ([str(saved)], f"{saved}: is a release"),
        (saved / "table.csv", f"{saved}/table.csv: is part of a release"),
        (saved / "cells.parquet", f"{saved}/cells.parquet: is part of a release"),
        (release, "this is a release"),
    ):
        with pytest.raises(InputError, match=f"^{said}, not ratings\n.*to_pandas"):
            starshade.read_ratings(given)


def test_exact_attributes_are_not_published(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "none")
    say(saved, audience="publish")
    with pytest.raises(
        ReleaseError, match=r"release\.json: attributes exact do not fit audience publish"
    ):
        read_release(saved)
    say(saved, audience="query", attributes="none")
    with pytest.raises(
        ReleaseError, match=r"release\.json: attributes none do not fit audience query"
    ):
        read_release(saved)


def test_the_columns_of_a_matrix(saved: Path) -> None:
    release = read_release(saved)
    assert list(release.items) == pq.read_table(saved / "items.parquet")["item"].to_pylist()
    assert release.to_csr()[0].shape == (release.manifest.classes, len(release.items))
