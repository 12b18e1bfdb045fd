"""Layout "record": built, written, read back, counted, described."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, InternalError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.build import Provenance, record_release
from starshade.release.folder.read import read_release
from starshade.release.verify.verify import verify_folder
from tests.naive import record_release as naive
from tests.strategies import SCALES, table
from tests.unit.release.changes import (
    files_of,
    k_eps,
    moved_tables,
    records_of,
    released,
    rows_of,
)
from tests.unit.release.test_card import ran

STARS = Scale(1, 5, 1)
ROWS = [{0: 5, 1: 3}, {0: 4, 1: 3}, {1: 2}, {1: 2}, {0: 4, 1: 3}]


@given(moved_tables())
def test_records_stand_in_the_order_of_their_content(drawn) -> None:
    original, rows = drawn
    release = released(original, rows)
    shown = records_of(release)
    assert shown == naive.rows(rows, original.n_items)
    assert release.groups.tolist() == naive.groups(shown)
    assert release.manifest.classes == release.exact.groups == len(set(release.groups.tolist()))
    assert release.classes.sizes.tolist() == [1] * original.n_users
    record = release.private.link.record
    assert sorted(record.tolist()) == list(range(original.n_users))
    assert [shown[r] for r in record] == rows
    cells = sum(len(row) for row in rows)
    invented = sum(i not in old for old, row in zip(rows_of(original), rows, strict=True)
                   for i in row)  # fmt: skip
    assert release.exact.imputed_cells == pytest.approx(invented / max(cells, 1))
    some = sum(bool(row) for row in rows) / len(rows)
    assert release.manifest.users_rating_disclosed == pytest.approx(some)
    assert release.manifest.users_rating_exists == pytest.approx(some)
    real = release.scale.step is None and release.scale.width > 0
    alone = sum(bool(row) and shown.count(row) == 1 for row in shown) / len(rows)
    assert release.manifest.users_exact_values_listed == pytest.approx(some if real else alone)


@given(moved_tables(), st.randoms(use_true_random=False))
def test_neither_ids_nor_order_nor_seed_decide(tmp_path_factory, drawn, random) -> None:
    original, rows = drawn
    people = list(range(original.n_users))
    random.shuffle(people)
    other = original.keep_users(np.array(people))
    other = replace(other, users=Vocabulary(np.arange(original.n_users) + 1000))
    attributes = "none" if original.attributes is None else "exact"
    place = tmp_path_factory.mktemp("r")
    first = files_of(released(original, rows, attributes=attributes), place / "a")
    again = released(other, [rows[u] for u in people], attributes=attributes, seed=99)
    assert files_of(again, place / "b") == first
    told = b"".join(first.values())
    assert b"4077112233" not in told


@given(moved_tables(), st.sampled_from(["strict", "ignore", "zero"]))
def test_what_was_written_is_read_back(tmp_path_factory, drawn, nulls) -> None:
    original, rows = drawn
    place = tmp_path_factory.mktemp("r")
    release = released(original, rows, claims=(k_eps(1, 1, nulls),))
    release.save(place / "out", private=place / "receipt")
    back = read_release(place / "out", private=place / "receipt")
    assert records_of(back) == records_of(release)
    assert back.groups.tolist() == release.groups.tolist()
    assert back.private.link.record.tolist() == release.private.link.record.tolist()
    found = verify_folder(place / "out", replace(back.private, original=original))
    assert found["claims"][0]["verified"] == {"smallest_class_at_least": 1}
    assert release.to_csv(place / "out.csv") == 0
    lines = (place / "out.csv").read_text().splitlines()
    assert len(lines) == 1 + sum(len(row) for row in rows)


def test_records_of_a_class_are_sorted_by_released_attributes() -> None:
    original = replace(table(ROWS, STARS), attributes=pa.table({"job": ["b", "d", "c", "a", "c"]}))
    release = released(original, attributes="exact")
    assert release.groups.tolist() == [0, 0, 1, 1, 2]
    assert release.attributes.column("job").to_pylist() == ["a", "c", "c", "d", "b"]
    assert release.manifest.audience == "query"
    with pytest.raises(ConfigError, match="no personal attributes"):
        released(table(ROWS, STARS), attributes="exact")


def test_suppression_invents_nothing_and_says_who_is_gone(tmp_path) -> None:
    release = released(table(ROWS, STARS), method="suppress", users_deleted=3)
    assert release.manifest.imputed_cells is None
    assert release.exact.users_deleted == 3
    release.save(tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "People suppressed by the method: 20 % or more" in card
    assert "Each record holds one person's ratings, unchanged" in card
    moved = [{**ROWS[0], 1: 4}, *ROWS[1:]]
    with pytest.raises(InternalError, match="a rating changed by a method that changes none"):
        released(table(ROWS, STARS), moved, method="suppress").save(tmp_path / "b")


def test_tables_must_belong_together() -> None:
    original = table(ROWS, STARS)
    for other in (original.keep_users(np.arange(4)), original.keep_items(np.array([1]))):
        with pytest.raises(InternalError, match="have other"):
            record_release(
                original,
                other,
                Provenance(method="m", seed=0),
            )


def test_a_claim_holds_a_list_of_item_keys(tmp_path) -> None:
    claim = k_eps(2, 0, sensitive=["2"])
    shown = [{0: 5, 1: 3}, {0: 5, 1: 1}, {1: 2}, {1: 3}, {0: 5}]
    released(table(shown, STARS), claims=(claim,)).save(tmp_path / "out")
    said = json.loads((tmp_path / "out" / "release.json").read_text())["claims"]
    assert said[0]["parameters"]["sensitive"] == ["2"]
    assert said[0]["verified"] == {"smallest_class_at_least": 2}
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert 'sensitive = ["2"]' in card
    assert "at least 1 other whose rating of every item that is not sensitive is within 0" in card
    assert "Near is not equal" in card
    assert "Ratings of the sensitive items are unchanged and do not count as known" in card
    assert read_release(tmp_path / "out").manifest.claims[0].parameters["sensitive"] == ["2"]


def test_a_claim_that_does_not_hold_is_not_saved(tmp_path) -> None:
    claim = k_eps(3, 1)
    with pytest.raises(InternalError, match=r"claim k-eps: .*_at_least': 2"):
        released(table(ROWS, STARS), claims=(claim,)).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("scale", SCALES[1:3], ids=str)
def test_the_card_says_how_to_read_it(tmp_path, monkeypatch, scale) -> None:
    released(table([{0: 2.5}, {0: 0.5, 1: 3.5}], scale)).save(tmp_path / "out")
    cells = ran(tmp_path / "out", monkeypatch)["cells"]
    assert [(c["record"], c["group"], c["item"], c["rating"]) for c in cells] == [
        (0, 0, "1", 0.5),
        (0, 0, "2", 3.5),
        (1, 1, "1", 2.5),
    ]


@pytest.mark.filterwarnings("ignore")  # the libraries that mlcroissant stands on deprecate much
def test_croissant_reads_it(tmp_path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install 'starshade[dev]'")
    released(table(ROWS, STARS)).save(tmp_path / "out")
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.issues.errors
    rows = list(dataset.records("cells"))
    assert [r["cells/record"] for r in rows] == [0, 1, 2, 2, 3, 3, 4, 4]
