"""The folder of the predictive paper's study."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.pa.reproduce import reproduce_pa
from starshade.audit.reproduction.pa.result import PredictiveStudy
from starshade.errors import OutputError
from starshade.ratings.synth.synth import synthesize
from starshade.report.studies import save_pa

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> PredictiveStudy:
    ratings = synthesize(n_users=40, n_items=20, n_ratings=400, rng=1)
    study = reproduce_pa(ratings, ks=[4], runs=1, rng=7)
    return replace(study, skipped=(Skipped("1, 3", "padded, k = 50", "40 users are too few"),))


@pytest.fixture(scope="module")
def folder(found: PredictiveStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pa") / "pa"
    names = save_pa(found, place)
    assert sorted(path.name for path in place.iterdir()) == sorted(names)
    return place


def test_the_folder_holds_everything(folder: Path, found: PredictiveStudy) -> None:
    numbers = ("03", "04", "05", "06")
    assert {path.name for path in folder.iterdir()} == {
        "pa.json", "README.md", "tables.csv", "histogram.csv", "releases.csv",
        *(f"figure-{number}.{end}" for number in numbers for end in ("vl.json", "svg")),
    }  # fmt: skip
    assert json.loads((folder / "pa.json").read_text("utf-8")) == json.loads(
        json.dumps(found.to_dict())
    )
    for number in numbers:
        picture = (folder / f"figure-{number}.svg").read_text("utf-8")
        assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_the_tables_stand_beside_the_paper_s(folder: Path, found: PredictiveStudy) -> None:
    with (folder / "tables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["line"] for row in rows] == [row.line for row in found.tables]
    assert rows[0]["paper"] == "0.951849"
    page = (folder / "README.md").read_text("utf-8")
    assert page.index("## Table 1") < page.index("## Table 2") < page.index("## Table 3")


def test_the_page_has_claims_grids_and_what_is_left_out(
    folder: Path, found: PredictiveStudy
) -> None:
    page = (folder / "README.md").read_text("utf-8")
    for judged in found.claims:
        assert f"| {judged.claim.number} |" in page
    for grid in found.grids:
        assert f"## {grid.title}" in page
    assert "40 users are too few" in page


def test_it_says_in_a_sentence_what_it_is(found: PredictiveStudy) -> None:
    assert "figures 3, 4, 5, 6" in str(found)
    assert "10% of the ratings were held out" in str(found)
    assert "claims of the paper" in str(found)
    assert "<p>" in found._repr_html_()


def test_without_a_histogram_there_is_no_table_2(found: PredictiveStudy, tmp_path: Path) -> None:
    save_pa(replace(found, histogram=(), releases=[]), tmp_path / "pa")
    page = (tmp_path / "pa" / "README.md").read_text("utf-8")
    assert "Table 2:" not in page
    assert "## The releases" not in page


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: PredictiveStudy) -> None:
    with pytest.raises(OutputError, match="exists already"):
        save_pa(found, tmp_path)
