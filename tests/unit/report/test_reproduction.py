"""Charts of a reproduction, and its folder."""

from __future__ import annotations

import json
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from starshade.audit.reproduction.figures import Figure, Level, Mark, Point, Series
from starshade.audit.reproduction.ns.study import Reproduction, reproduce_ns
from starshade.chart import svg_of
from starshade.errors import ConfigError, OutputError
from starshade.progress import watch
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.vocabulary import Vocabulary
from starshade.report.charts import chart
from starshade.report.reproduction import save_reproduction

pytestmark = pytest.mark.slow

ATTACK = Figure(
    "4", "A title", "known cells", "share of targets", "share",
    (
        Series("days ±3", "right", (Point(2, 0.5, 0.4, 0.6), Point(4, 0.7, 0.6, 0.8)), "all right"),
        Series("days ±3", "right", (Point(4, 0.3, 0.2, 0.4),), "2 wrong"),
        Series("days ±3", "bits", (Point(4, 3.0, 2.5, 3.5),), "2 wrong"),
    ),
    (Mark(2, 0.68, "68 % there", ("right",)),),
    (Level(0.9, "before"),),
)  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Reproduction:
    ratings = synthesize(n_users=80, n_items=150, n_ratings=3000, rng=1)
    ratings = replace(
        ratings,
        users=Vocabulary.of([f"person-{i:03d}" for i in range(ratings.n_users)]),
        items=Vocabulary.of([f"film-{i:04d}" for i in range(ratings.n_items)]),
    )
    return reproduce_ns(ratings, targets=20, runs=1, rng=5)


def data_of(spec: Any) -> list[dict[str, Any]]:
    """All data in a specification, wherever they stand."""
    if isinstance(spec, list):
        return [row for part in spec for row in data_of(part)]
    if not isinstance(spec, dict):
        return []
    own = spec["data"]["values"] if "data" in spec else []
    return own + [row for key, part in spec.items() if key != "data" for row in data_of(part)]


def test_a_chart_holds_points_intervals_marks_and_levels() -> None:
    spec = chart(ATTACK, "80 users")
    rows = data_of(spec)
    assert spec["title"]["subtitle"] == "80 users"
    assert len(spec["hconcat"]) == 2, "one panel per measure"
    points = [(row["x"], row["y"], row["low"], row["high"]) for row in rows if "low" in row]
    assert points == [
        (2, 0.5, 0.4, 0.6),
        (4, 0.7, 0.6, 0.8),
        (4, 0.3, 0.2, 0.4),
        (4, 3.0, 2.5, 3.5),
    ]
    assert sum(row.get("label") == "68 % there" for row in rows) == 1, "only in its own panel"
    assert sum(row.get("label") == "before" for row in rows) == 2
    assert json.loads(json.dumps(spec)) == spec


def encodings(spec: Any) -> list[dict[str, Any]]:
    if isinstance(spec, list):
        return [found for part in spec for found in encodings(part)]
    if not isinstance(spec, dict):
        return []
    own = [spec["encoding"]] if "encoding" in spec else []
    return own + [found for part in spec.values() for found in encodings(part)]


def test_intervals_are_drawn_from_low_to_high() -> None:
    drawn = [e for e in encodings(chart(ATTACK, "")) if "y2" in e]
    assert [(e["y"]["field"], e["y2"]["field"]) for e in drawn] == [("low", "high")] * 2


def test_lines_that_share_a_point_stand_side_by_side() -> None:
    shown = [row["shown"] for row in data_of(chart(ATTACK, "")) if row.get("x") == 4]
    assert len(set(shown[:2])) == 2
    assert all(abs(x - 4) < 0.5 for x in shown)


@pytest.mark.parametrize("name", ["4", "2", "7"])
def test_charts_render(name: str, found: Reproduction) -> None:
    figure = next(figure for figure in found.figures if figure.number == name)
    picture = svg_of(chart(figure, "80 users"))
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert f"Fig. {name}" in picture
    assert "80 users" in picture
    assert figure.x_title in picture
    for series in figure.series:
        assert series.name in picture or figure.unit == "users"


def test_marks_of_the_paper_are_in_the_legend() -> None:
    picture = svg_of(chart(ATTACK, ""))
    assert "the paper (Netflix)" in picture
    assert "68 % there" in picture


def test_the_folder_holds_everything(tmp_path: Path, found: Reproduction) -> None:
    names = save_reproduction(found, tmp_path / "ns")
    ours = ("01b", "04b", "05b", "05c", "12b")
    drawn = [*(f"figure-{n:02d}" for n in range(1, 13)), *(f"figure-{n}" for n in ours)]
    assert set(names) == {"ns.json", "README.md"} | {
        f"{name}.{end}" for name in drawn for end in ("vl.json", "svg")
    }
    assert sorted(path.name for path in (tmp_path / "ns").iterdir()) == sorted(names)
    assert json.loads((tmp_path / "ns" / "ns.json").read_text("utf-8")) == found.to_dict()
    assert stat.S_IMODE((tmp_path / "ns").stat().st_mode) == 0o700
    page = (tmp_path / "ns" / "README.md").read_text("utf-8")
    for said in ("around 3 bits", "§5, Fig. 4 |", "99 %", "![Fig. 12", "IMDb", "as-printed"):
        assert said in page
    for told in found.claims:
        assert told.claim.says in page


def test_nobody_and_nothing_is_named(tmp_path: Path, found: Reproduction) -> None:
    save_reproduction(found, tmp_path / "ns")
    for path in (tmp_path / "ns").iterdir():
        text = path.read_text("utf-8")
        assert "person-" not in text, path.name
        assert "film-" not in text, path.name


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: Reproduction) -> None:
    (tmp_path / "ns").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        save_reproduction(found, tmp_path / "ns")
    assert not list((tmp_path / "ns").iterdir())


def test_a_chart_that_fails_leaves_nothing(
    tmp_path: Path, found: Reproduction, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(spec: Any) -> str:
        raise ConfigError("no")

    monkeypatch.setattr("starshade.report.folder.svg_of", fail)
    with pytest.raises(ConfigError):
        save_reproduction(found, tmp_path / "ns")
    assert not list(tmp_path.iterdir())


class Notes:
    def __init__(self) -> None:
        self.said: list[str] = []

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None: ...

    def stop(self, handle: int) -> None: ...

    def note(self, message: str) -> None:
        self.said.append(message)


def test_without_the_extra_there_are_no_pictures_and_a_note(
    tmp_path: Path, found: Reproduction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    notes = Notes()
    with watch(notes):
        names = save_reproduction(found, tmp_path / "ns")
    assert not [name for name in names if name.endswith(".svg")]
    assert "figure-04.vl.json" in names
    assert notes.said == ["no SVG: pip install 'starshade[report]'"]
    assert ".svg" not in (tmp_path / "ns" / "README.md").read_text("utf-8")
    with pytest.raises(ConfigError, match=r"pip install 'starshade\[report\]'"):
        svg_of(chart(ATTACK, ""))
