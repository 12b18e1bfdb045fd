"""The folder and the chart of a comparison."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from starshade.audit.compare.compare import compare
from starshade.audit.compare.frontier import compared, frontier_chart
from starshade.audit.compare.result import Comparison, Row
from starshade.errors import OutputError
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.vocabulary import Vocabulary
from starshade.report.folder import save_comparison

FIGURES = [figure.key for figure in compared()]


@pytest.fixture(scope="module")
def found() -> Comparison:
    ratings = synthesize(n_users=60, n_items=8, n_ratings=200, rng=1)
    ratings = replace(
        ratings,
        users=Vocabulary.of([f"person-{i:03d}" for i in range(ratings.n_users)]),
        items=Vocabulary.of([f"film-{i:04d}" for i in range(ratings.n_items)]),
    )
    return compare(ratings, ["k-likeness", "mondrian", "interval"], [2, 5, 61], eps=2, rng=1)


@pytest.fixture(scope="module")
def folder(found: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("compare") / "compare"
    names = save_comparison(found, place)
    assert sorted(path.name for path in place.iterdir()) == sorted(names)
    return place


def test_the_folder_holds_everything(folder: Path, found: Comparison) -> None:
    ends = {"README.md", "compare.json", "compare.csv", "frontier.vl.json", "frontier.svg"}
    assert {path.name for path in folder.iterdir()} == ends
    assert json.loads((folder / "compare.json").read_text("utf-8")) == found.to_dict()
    picture = ElementTree.fromstring((folder / "frontier.svg").read_text("utf-8"))
    assert picture.tag.endswith("svg")


def test_the_table_has_a_line_per_row(folder: Path, found: Comparison) -> None:
    with (folder / "compare.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "method",
        "k",
        "eps",
        "profile",
        "disclosure_weight",
        "slack",
        "attack",
        *FIGURES,
        "frontier",
        "verdict",
        "decisive",
        "refused",
    ]
    for row, told in zip(rows, found.whole_table(), strict=True):
        assert row == {key: "" if value is None else str(value) for key, value in told.items()}
    assert rows[0]["method"] == "original"
    assert rows[3]["refused"].startswith("k = 61")
    assert rows[3]["gen_iloss"] == ""


def test_the_page_names_losses_and_refusals(folder: Path, found: Comparison) -> None:
    page = (folder / "README.md").read_text("utf-8")
    row = found.rows[0]
    (line,) = [line for line in page.splitlines() if line.startswith("| k-likeness | 2 |")]
    assert f" {row.figures['gen_iloss']:.4g} " in line.split("|")
    assert f"| {row.attack} | yes |" in page or f"| {row.attack} | no |" in page
    (line,) = [line for line in page.splitlines() if line.startswith("| original | 1 |")]
    assert " 0 " in line.split("|")
    assert f"of {found.original['targets']} targets; {found.attack} re-identifies " in page
    assert "peak" not in page  # of the whole process: about the same in every row
    assert "| mondrian (k = 61) | k = 61" in page
    assert "![Utility loss against re-identification" in page
    assert "AVG(Age)" in page
    heads = page.splitlines()
    for before, line in pairwise(heads):
        if line.startswith("|---"):
            assert before.count("|") == line.count("|")


def test_nobody_and_nothing_is_named(folder: Path) -> None:
    for path in folder.iterdir():
        text = path.read_text("utf-8")
        assert "person-" not in text, path.name
        assert "film-" not in text, path.name


def test_losses_of_two_kinds_are_never_in_one_panel(found: Comparison) -> None:
    spec = frontier_chart(found, "60 users")
    assert spec["title"]["subtitle"] == "60 users"
    drawn = []
    for row in spec["vconcat"]:
        against, over_k = row["hconcat"]
        points = against["layer"][1]["data"]["values"]
        assert points == over_k["data"]["values"]
        drawn.append({value["method"] for value in points})
        assert {value["attack"] for value in points} <= {"scoreboard-rh", "label", "likelihood"}
        best = against["layer"][0]["data"]["values"]
        assert best == [value for value in points if value["frontier"]]
        assert best
    assert drawn == [{"k-likeness", "mondrian"}, {"interval"}]


def test_without_a_release_there_is_no_chart(found: Comparison, tmp_path: Path) -> None:
    refused = (Row("k-likeness", 61, None, dict.fromkeys(FIGURES), "too many"),)
    names = save_comparison(replace(found, rows=refused, attribute=None), tmp_path / "out")
    assert names == ("README.md", "compare.csv", "compare.json")
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "too many" in page
    assert "No query error" in page


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: Comparison) -> None:
    with pytest.raises(OutputError, match="exists already"):
        save_comparison(found, tmp_path)
