"""What a release tells of private data from the inside: bands, and never a figure."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import InternalError
from starshade.ratings.scale import Scale
from starshade.release.band import Band, Exact, band, in_words, left_out
from starshade.release.folder.read import read_release
from starshade.release.manifest import Manifest
from starshade.release.table import Release
from tests.strategies import table
from tests.unit.release.changes import released
from tests.unit.release.profiled import profile
from tests.unit.release.samples import contents_of, covering

STARS = Scale(1, 5, 1)
ENDS = {"under 1 %": Fraction(1, 100), "under 5 %": Fraction(1, 20), "under 20 %": Fraction(1, 5)}


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_band_is_what_it_says(left: int, kept: int) -> None:
    share = Fraction(left, max(left + kept, 1))
    found = left_out(left, kept)
    assert (found == "none") == (left == 0)
    if found in ENDS:
        assert share < ENDS[found]
    lower = [name for name in ENDS if share >= ENDS[name]]
    assert found not in lower
    assert (found == "more") == (len(lower) == 3)


@pytest.mark.parametrize("n", [100, 300, 700, 1900, 12_300, 10**6])
def test_each_band_begins_where_the_one_before_ends(n: int) -> None:
    for (said, end), after in zip(ENDS.items(), ["under 5 %", "under 20 %", "more"], strict=True):
        at = n * end.numerator // end.denominator
        assert [left_out(at - 1, n - at + 1), left_out(at, n - at)] == (
            [said if at > 1 else "none", after]
        )


def test_no_share_is_so_small_that_it_is_none() -> None:
    assert [band(0.0), band(1e-300), band(1.0)] == ["none", "under 1 %", "more"]
    assert [in_words(each) for each in get_args(Band)][-1] == "20 % or more"


def test_bands_are_of_the_released_and_those_left_out() -> None:
    told = Exact(9, 1, 5, 1, 0.0, None).bands(records=99, items=4)
    assert told == {
        "users_without_rating": "under 5 %",
        "users_deleted": "under 5 %",
        "rare_items_dropped": "more",
        "imputed_cells": "none",
        "single_rater_cells": None,
        "dummy_records": None,
    }
    assert Exact(dummy_records=1).bands(records=100, items=4)["dummy_records"] == "under 5 %"


def generalized(**left: int) -> Release:
    """Five in two classes; `left` and the number of groups are in no file."""
    rows: list[dict[int, float]] = [{0: 4, 1: 3}, {0: 4, 1: 3}, {1: 2}, {1: 2}, {1: 2}]
    split = np.array([0, 0, 1, 1, 1])
    return covering(table(rows, STARS), split, ranges=False).release(**left)


def moved(first: int) -> Release:
    """A hundred records of one and the same rating, of which `first` are nobody's."""
    rows: list[dict[int, float]] = [{0: 4}] * 100
    true: list[dict[int, float]] = [{1: 2}] * first + [{0: 4}] * (100 - first)
    return released(table(true, STARS, n_items=2), rows)


def averaged(other: float) -> Release:
    """Two groups of equal profiles; `other` is what stood behind one mean."""
    rows: list[dict[int, float]] = [{0: 3, 1: 3}, {0: 3, 1: 3}, {0: other, 1: 3}, {0: 6 - other}]
    return profile(table(rows, STARS), [0, 0, 1, 1], "simple", 0.5).release()


PAIRS: dict[str, tuple[Release, Release]] = {
    "people left out": (
        generalized(users_without_rating=1, users_deleted=300, rare_items_dropped=0),
        generalized(users_without_rating=1, users_deleted=4, rare_items_dropped=0),
    ),
    "items left out": (generalized(rare_items_dropped=2), generalized(rare_items_dropped=77)),
    "cells invented": (moved(6), moved(19)),
    "ratings behind a mean": (averaged(1), averaged(2)),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_equal_cells_and_equal_bands_are_equal_bytes(pair: str, tmp_path: Path) -> None:
    folders = []
    for place, release in zip("ab", PAIRS[pair], strict=True):
        release.save(tmp_path / place, private=tmp_path / f"{place}.json")
        folders.append(contents_of(tmp_path / place))
    assert folders[0] == folders[1]
    receipts = [json.loads((tmp_path / f"{place}.json").read_text()) for place in "ab"]
    assert receipts[0] != receipts[1]
    for place, release in zip("ab", PAIRS[pair], strict=True):
        back = read_release(tmp_path / place, private=tmp_path / f"{place}.json")
        assert back.exact == release.exact


def test_how_many_groups_there_were_is_the_owners(tmp_path: Path) -> None:
    rows: list[dict[int, float]] = [{0: 4}] * 4
    for place, groups in (("a", [0, 0, 1, 1]), ("b", [0, 0, 0, 0])):
        made = covering(table(rows, STARS), np.array(groups), ranges=False)
        told: Any = {"config": {"k": 2}, "claims": ()}
        made.release(**told).save(tmp_path / place)
    assert contents_of(tmp_path / "a") == contents_of(tmp_path / "b")


def test_no_field_of_the_manifest_takes_a_figure_from_the_inside(tmp_path: Path) -> None:
    bands = Exact().bands(1, 1)
    for name in bands:
        said = str(Manifest.model_fields[name].annotation)
        assert not {"int", "float"} & set(said.replace("[", " ").split())
    assert set(Exact.__dataclass_fields__) - set(bands) == {"groups"}
    assert "groups" not in Manifest.model_fields


@pytest.mark.parametrize("name", Exact().bands(1, 1))
def test_a_band_that_the_owners_figures_are_not_in_is_not_written(
    name: str, tmp_path: Path
) -> None:
    release = moved(6)
    lie = release.manifest.model_copy(update={name: "under 1 %"})
    with pytest.raises(InternalError, match=f"band: {name}: under 1 % stated"):
        replace(release, manifest=lie).save(tmp_path / "out")
