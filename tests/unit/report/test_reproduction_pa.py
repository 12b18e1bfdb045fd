"""The folder of the predictive paper's study."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.pa.checks import check_all
from starshade.audit.reproduction.pa.figures import (
    bins_figure,
    error_figure,
    pair_figure,
    rank_figure,
)
from starshade.audit.reproduction.pa.measured import MODEL
from starshade.audit.reproduction.pa.result import PredictiveStudy, Row
from starshade.errors import OutputError
from starshade.report.studies import save_pa
from tests.unit.audit.test_pa_checks import (
    paper_bins,
    paper_histogram,
    paper_pairs,
    paper_rows,
    ranks_at,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> PredictiveStudy:
    rows = [*paper_rows(), Row("1", MODEL, 5, "refit", (0.95, 0.96), (0.94, 0.95))]
    ranks = [ranks_at(0.75)]
    release = {
        "line": "simple", "k": 50, "groups": 9294.0, "nulls": 0.8, "one_rater": 0.25,
        "seconds": 1.5, "paper_groups": 9294, "paper_nulls": 0.8,
    }  # fmt: skip
    data = {"users": 40, "items": 9, "ratings": 100, "scale": "1:5:1", "synthetic": True}
    return PredictiveStudy(
        data=data,
        tables=tuple(rows),
        histogram=tuple(paper_histogram()),
        releases=[release, release | {"line": "model", "paper_nulls": None, "one_rater": None}],
        figures=(
            *bins_figure(paper_bins()),
            *pair_figure(paper_pairs()),
            *rank_figure(ranks),
            *error_figure(rows),
        ),
        checks=check_all(rows, paper_histogram(), paper_bins(), paper_pairs(), ranks),
        skipped=(Skipped("1, 3", "padded, k = 50", "40 users are too few"),),
        runs=2,
        share=0.1,
        seconds=3.0,
        seed=7,
        digest="d",
    )


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
    assert json.loads((folder / "pa.json").read_text("utf-8")) == found.to_dict()
    for number in numbers:
        picture = (folder / f"figure-{number}.svg").read_text("utf-8")
        assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_the_tables_stand_beside_the_paper_s(folder: Path, found: PredictiveStudy) -> None:
    with (folder / "tables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["line"] for row in rows] == [row.line for row in found.tables]
    assert rows[0]["rmse"] == rows[0]["paper"] == "0.9597"
    page = (folder / "README.md").read_text("utf-8")
    first = "| padded | 5 | read from the release | 0.9597 | 0.9597 | 0.9597 to 0.9597 | 1.0082 |"
    assert first in page
    ours = f"| {MODEL} | 5 | recommender trained on the release | – | 0.9550 |"
    assert ours in page
    assert page.index("## Table 1") < page.index("## Table 2") < page.index("## Table 3")
    assert "| 4 | – | 0.39 % | – | 33.5 % |" in page
    assert "| simple | 50 | 9,294 | 9,294 | 80 % | 80 % | 25 % | 1.50 |" in page


def test_the_page_has_checks_and_what_is_left_out(folder: Path, found: PredictiveStudy) -> None:
    page = (folder / "README.md").read_text("utf-8")
    assert f"{len(found.checks)} of {len(found.checks)} hold." in page
    assert "40 users are too few" in page
    assert "### Fig. 4: Dissimilarity of two users on padded rows" in page
    assert "made-up ratings, 40 users" in page


def test_it_says_in_a_sentence_what_it_is(found: PredictiveStudy) -> None:
    assert "figures 3, 4, 5, 6" in str(found)
    assert "10% of the ratings were held out" in str(found)
    assert "means of 2 runs" in str(found)
    assert "<p>" in found._repr_html_()


def test_without_a_histogram_there_is_no_table_2(found: PredictiveStudy, tmp_path: Path) -> None:
    save_pa(replace(found, histogram=(), releases=[]), tmp_path / "pa")
    page = (tmp_path / "pa" / "README.md").read_text("utf-8")
    assert "Table 2:" not in page
    assert "## The releases" not in page


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: PredictiveStudy) -> None:
    with pytest.raises(OutputError, match="exists already"):
        save_pa(found, tmp_path)
