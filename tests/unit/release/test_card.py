from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from starshade.ratings.scale import Scale
from starshade.release.card import dataset_card
from starshade.release.folder.read import read_release
from starshade.release.manifest import Manifest
from tests.strategies import table
from tests.unit.release.samples import NULL, covering
from tests.unit.release.test_read import facts_of, profiles, write
from tests.unit.release.test_store import small


def snippet(card: str) -> str:
    return re.search(r"```python\n(.*?)```", card, re.DOTALL).group(1)


def ran(folder: Path, monkeypatch) -> dict:
    """Run the card's own instructions inside the release."""
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(snippet((folder / "README.md").read_text(encoding="utf-8")), names)
    return names


def test_names_of_attributes_are_no_markup(tmp_path: Path) -> None:
    names = ["<img src=x>", "[a](https://e.org)", "a|b\nc"]
    people = pa.table({name: ["a", "b"] for name in names})
    original = replace(table([{0: 4}, {0: 4}], Scale(1, 5, 1)), attributes=people)
    made = covering(original, np.array([0, 0]), ranges=False).release(attributes="exact")
    made.save(tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "<img" not in card
    assert "](" not in card
    assert "://" not in card
    for shown in ("&#60;img src=x&#62;", "[a]&#40;https&#58;//e.org)", "a\\|b c"):
        assert f"| records.parquet | {shown} |" in card


def test_the_card_says_how_to_read_masks(tmp_path, monkeypatch):
    scale = Scale(0.5, 5, 0.5)
    original = table([{0: 0.5}, {0: 5.0, 1: 2.5}], scale)
    covering(original, np.array([0, 0]), ranges=False).release().save(tmp_path / "out")
    cells = ran(tmp_path / "out", monkeypatch)["cells"]
    assert [(c["group"], c["item"], c["members"]) for c in cells] == [
        (0, "1", [0.5, 5.0]),
        (0, "2", [None, 2.5]),
    ]


@pytest.mark.parametrize("ranges", [False, True])
def test_the_card_says_how_to_read_a_real_scale(tmp_path, monkeypatch, ranges):
    original = table([{0: -3.5}, {0: 4.25, 1: 2.0}], Scale(-10, 10))
    covering(original, np.array([0, 0]), ranges=ranges).release().save(tmp_path / "out")
    cells = ran(tmp_path / "out", monkeypatch)["cells"]
    assert [c["null"] for c in cells] == [False, True]
    assert cells[0]["members"] == ([(-3.5, 4.25)] if ranges else [-3.5, 4.25])
    assert cells[1]["members"] == ([None, (-10.0, 2.0)] if ranges else [None, 2.0])
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "by 2 people on the scale from -10 to 10, any value between, anonymized" in card


def test_the_card_says_how_to_read_profiles(tmp_path, monkeypatch):
    folder = write(tmp_path / "p", profiles(), **facts_of("profile", profile_step=0.5))
    manifest = read_release(folder).manifest
    (folder / "README.md").write_text(dataset_card(manifest))
    names = ran(folder, monkeypatch)
    found = names["ratings"][names["codes"]]
    assert np.nan_to_num(found, nan=NULL).tolist() == [[NULL, 1.5], [5.0, 1.0]]


def test_what_the_card_promises(tmp_path):
    small().release(users_without_rating=7).save(tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Anonymized ratings\n")
    assert 'some-method (k = 2, hierarchy = "ndgh")' in card
    assert "every record equals at least 1 other in every cell" in card
    assert "smallest class 2" in card
    assert "- Attribute disclosure (certain): 40.0%." in card
    assert "- Existence disclosure: 40.0%." in card
    assert "- People without a rating on the released items: 20 % or more." in card
    assert "do not cover a second release" in card
    assert "does not prevent attribute disclosure" in card
    assert "Licence" in card
    for name in ("records.parquet", "cells.parquet", "items.parquet", "members"):
        assert name in card


def test_a_release_for_queries_says_so_first(tmp_path):
    small().release(attributes="exact").save(tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.splitlines()[0].startswith("**Not for publication")
    assert "| records.parquet | age | personal attribute, unchanged |" in card
    described = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    assert "Not for publication" in described["description"]


def test_what_was_left_out_is_said():
    facts = {"records": 1, "items": 1, "classes": 1}
    scale = {"minimum": 1, "maximum": 5, "step": 1}
    dropped = Manifest(method="m", scale=scale, rare_items_dropped="under 5 %", **facts)
    assert "- Items suppressed for too few raters: under 5 %." in dataset_card(dropped)
    card = dataset_card(dropped.model_copy(update={"users_without_rating": "more"}))
    assert "Ratings of 1 item by 1 person on the scale from 1 to 5 in steps of 1," in card
    assert "- 1 equivalence class: records that are equal in every cell\n" in card
    assert "- People without a rating on the released items: 20 % or more." in card
    facts |= {"rare_items": "keep", "imputed_cells": "under 20 %"}
    kept = Manifest(method="m", scale=scale, **facts)
    assert "rated are kept" in dataset_card(kept)
    assert "- Imputed cells: under 20 %." in dataset_card(kept)
    assert "No privacy model is claimed" in dataset_card(kept)


@pytest.mark.filterwarnings("ignore")  # the libraries that mlcroissant stands on deprecate much
@pytest.mark.parametrize("real", [False, True])
def test_croissant_is_valid_and_reads_the_cells(tmp_path, real):
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install 'starshade[dev]'")
    if real:
        original = table([{0: -3.5}, {0: 4.25, 1: 2.0}], Scale(-10, 10))
        release = covering(original, np.array([0, 0]), ranges=False).release()
    else:
        release = small().release(attributes="exact")
    release.save(tmp_path / "out")
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.issues.errors
    assert str(dataset.metadata.ctx.conforms_to.value) == "http://mlcommons.org/croissant/1.1"
    rows = list(dataset.records("cells"))
    found = [(r["cells/group"], r["cells/item"].decode()) for r in rows]
    if real:
        assert found == [(0, "1"), (0, "2")]
        assert [list(r["cells/values"]) for r in rows] == [[-3.5, 4.25], [2.0]]
        assert [r["cells/null"] for r in rows] == [False, True]
    else:
        assert found == [(0, "1"), (0, "2"), (1, "1"), (1, "2")]
        people = list(dataset.records("records"))
        assert [r["records/age"] for r in people] == [20.0, 20.0, 20.0, 30.0, 40.0]
        assert [r["records/job"].decode() for r in people] == ["a", "b", "b", "a", "c"]
