"""The folder and the charts of Sun & Sun's study."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.sr.study import Study, reproduce_sr
from starshade.chart import svg_of
from starshade.errors import OutputError
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.vocabulary import Vocabulary
from starshade.report.charts import chart
from starshade.report.studies import save_sr
from tests.unit.report.test_reproduction import data_of, encodings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> Study:
    ratings = synthesize(n_users=90, n_items=40, n_ratings=1500, rng=1)
    ratings = replace(
        ratings,
        users=Vocabulary.of([f"person-{i:03d}" for i in range(ratings.n_users)]),
        items=Vocabulary.of([f"film-{i:04d}" for i in range(ratings.n_items)]),
    )
    return reproduce_sr(ratings, top=5, trials=2, repeats=1, runs=2, rng=5)


@pytest.fixture(scope="module")
def folder(found: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sr") / "sr"
    names = save_sr(found, place)
    assert sorted(path.name for path in place.iterdir()) == sorted(names)
    return place


TIMES = Figure(
    "3a", "A title", "% of the records", "seconds", "seconds",
    (Series("strict", "top", (Point(10, 0.5, 0.4, 0.6), Point(20, 0.7, 0.6, 0.8))),
     Series("zero", "top", (Point(10, 0.3, 0.2, 0.4),))),
    y_log=True, dotted=True,
)  # fmt: skip


def test_measured_points_have_dots_and_bars_and_no_dashes() -> None:
    spec = chart(TIMES, "")
    rows = [row for row in data_of(spec) if "low" in row]
    assert [(row["x"], row["y"], row["low"], row["high"]) for row in rows] == [
        (10, 0.5, 0.4, 0.6),
        (20, 0.7, 0.6, 0.8),
        (10, 0.3, 0.2, 0.4),
    ]
    kinds = [layer["mark"]["type"] for layer in spec["hconcat"][0]["layer"][0]["layer"]]
    assert kinds == ["rule", "line", "circle"]
    drawn = encodings(spec)
    assert not any("strokeDash" in encoding for encoding in drawn)
    assert all(e["y"]["scale"] == {"type": "log"} for e in drawn if "y" in e)
    axis = next(e["x"] for e in drawn if "x" in e)
    assert axis["axis"]["values"] == [10, 20]
    low, high = axis["scale"]["domain"]
    shown = [row["shown"] for row in rows]
    assert low < min(shown) < max(shown) < high
    assert len(set(shown)) == 3


def test_a_time_of_twenty_is_written_as_twenty() -> None:
    picture = svg_of(chart(TIMES, "three runs"))
    assert ">20<" in picture
    assert "three runs" in picture


def test_the_folder_holds_everything(folder: Path, found: Study) -> None:
    drawn = ["03a", "03b", "04a", "04b", "05a", "05ac", "05b", "05bc"]
    drawn += ["06a", "06ac", "06b", "06bc", "07a", "07b", "08"]
    expected = {"sr.json", "README.md"} | {
        f"figure-{name}.{end}" for name in drawn for end in ("vl.json", "svg")
    }
    assert {path.name for path in folder.iterdir()} == expected
    assert json.loads((folder / "sr.json").read_text("utf-8")) == found.to_dict()
    for name in drawn:
        picture = (folder / f"figure-{name}.svg").read_text("utf-8")
        assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_the_page_has_claims_tables_and_what_is_left_out(folder: Path, found: Study) -> None:
    page = (folder / "README.md").read_text("utf-8")
    for each in found.claims:
        assert f"| {each.claim.number} | {each.claim.place} |" in page
    for worked in found.worked:
        assert f"{worked.equal} of {worked.cells} cells" in page
    for entry in found.skipped:
        assert entry.reason in page
    assert "another one gives others" in page
    point = found.figures[0].series[0].points[0]
    assert f"| {point.x:g} | {point.y:.4g} |" in page
    assert "![Fig. 8" in page
    widths = [line.count("|") for line in page.splitlines() if line.startswith("|---")]
    heads = [
        before.count("|")
        for before, line in zip(page.splitlines(), page.splitlines()[1:], strict=False)
        if line.startswith("|---")
    ]
    assert widths == heads


def test_nobody_and_nothing_is_named(folder: Path) -> None:
    for path in folder.iterdir():
        text = path.read_text("utf-8")
        assert "person-" not in text, path.name
        assert "film-" not in text, path.name


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: Study) -> None:
    (tmp_path / "sr").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        save_sr(found, tmp_path / "sr")


def test_a_made_up_survey_is_called_so(found: Study, tmp_path: Path) -> None:
    data: dict[str, Any] = found.data | {"synthetic": True}
    save_sr(replace(found, data=data), tmp_path / "sr")
    assert "made-up survey" in (tmp_path / "sr" / "README.md").read_text("utf-8")
