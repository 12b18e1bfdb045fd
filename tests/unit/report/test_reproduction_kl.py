"""The folder of Riyana & Natwichai's study."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from starshade.audit.reproduction.kl.study import GeneralizationStudy, reproduce_kl
from starshade.chart import colours
from starshade.errors import OutputError
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.vocabulary import Vocabulary
from starshade.report.charts import chart
from starshade.report.studies import save_kl
from tests.unit.report.test_reproduction import data_of, encodings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> GeneralizationStudy:
    ratings = synthesize(n_users=60, n_items=8, n_ratings=200, rng=1)
    ratings = replace(
        ratings,
        users=Vocabulary.of([f"person-{i:03d}" for i in range(ratings.n_users)]),
        items=Vocabulary.of([f"film-{i:04d}" for i in range(ratings.n_items)]),
    )
    return reproduce_kl(ratings, ks=[2, 61], runs=2, draws=2, rng=5)


@pytest.fixture(scope="module")
def folder(found: GeneralizationStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kl") / "kl"
    names = save_kl(found, place)
    assert sorted(path.name for path in place.iterdir()) == sorted(names)
    return place


def test_the_folder_holds_everything(folder: Path, found: GeneralizationStudy) -> None:
    drawn = [*(str(number) for number in range(10, 17)), "16a"]
    expected = {"kl.json", "README.md", "losses.csv", "queries.csv"} | {
        f"figure-{name}.{end}" for name in drawn for end in ("vl.json", "svg")
    }
    assert {path.name for path in folder.iterdir()} == expected
    assert json.loads((folder / "kl.json").read_text("utf-8")) == found.to_dict()
    for name in drawn:
        picture = (folder / f"figure-{name}.svg").read_text("utf-8")
        assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_the_tables_hold_every_run(folder: Path, found: GeneralizationStudy) -> None:
    for name, expected in (("losses", found.losses), ("queries", found.queries)):
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows == [
            {key: "" if value is None else str(value) for key, value in row.items()}
            for row in expected
        ]


def test_the_page_has_claims_tables_and_what_is_left_out(
    folder: Path, found: GeneralizationStudy
) -> None:
    page = (folder / "README.md").read_text("utf-8")
    for each in found.claims:
        claim = each.claim
        row = (claim.number, claim.place, claim.says, claim.holds_if, each.ours, each.verdict)
        assert f"| {' | '.join(row)} | {each.cause or each.reason} |" in page
    assert str(found) in page
    for grid in found.grids:
        assert f"## {grid.title}" in page
        assert f"| {' | '.join(grid.rows[-1])} |" in page
    assert found.skipped
    for entry in found.skipped:
        assert entry.reason in page
    assert "### Fig. 10: Discernibility (DM)\n" in page
    assert "### Fig. 12: Generalization loss (GenILoss)" in page
    assert "![Fig. 16" in page


def test_nobody_and_nothing_is_named(folder: Path) -> None:
    for path in folder.iterdir():
        text = path.read_text("utf-8")
        assert "person-" not in text, path.name
        assert "film-" not in text, path.name


def test_without_queries_there_is_no_such_table(found: GeneralizationStudy, tmp_path: Path) -> None:
    names = save_kl(replace(found, queries=[], figures=found.figures[:1]), tmp_path / "kl")
    assert "queries.csv" not in names


def test_every_line_has_a_colour_of_its_own(found: GeneralizationStudy) -> None:
    spec = chart(found.figures[0], "")
    scale = next(e["color"]["scale"] for e in encodings(spec) if "color" in e)
    assert len(set(scale["range"])) == len(scale["domain"]) == 8
    assert colours(9)[8] == colours(1)[0]
    first = [row for row in data_of(spec) if row.get("x") == 1]
    assert len({row["y"] for row in first}) == 1


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: GeneralizationStudy) -> None:
    with pytest.raises(OutputError, match="exists already"):
        save_kl(found, tmp_path)
