"""A study's folder: what is in it, and what does not depend on the clock."""

from __future__ import annotations

import csv
import json
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.errors import ConfigError, OutputError
from starshade.progress import watch
from starshade.report.reproduction import panel_tables, save_study, time_rows
from tests.unit.report.stub_study import StubStudy, reproduce

FILES = {"README.md", "xx.json", "points.csv", "claims.csv", "table-01.csv", "times.json"}
FILES |= {"times.md", "figure-04.vl.json", "figure-04.svg"}
FILES |= {"times-figure-16.vl.json", "times-figure-16.svg"}


@pytest.fixture(scope="module")
def found() -> StubStudy:
    return reproduce()


@pytest.fixture(scope="module")
def folder(found: StubStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study") / "xx"
    assert save_study(found, place) == tuple(sorted(FILES))
    return place


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_the_folder_holds_everything(folder: Path, found: StubStudy) -> None:
    assert {path.name for path in folder.iterdir()} == FILES
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    steady, times = (json.loads((folder / f"{n}.json").read_text("utf-8")) for n in ("xx", "times"))
    whole = json.loads(json.dumps(found.to_dict()))
    assert steady["figures"] + times["figures"] == whole["figures"]
    assert times["times"] == whole["times"]
    assert {k: v for k, v in whole.items() if k not in ("figures", "times")} == {
        k: v for k, v in steady.items() if k != "figures"
    }
    for name in ("figure-04.svg", "times-figure-16.svg"):
        assert ElementTree.fromstring((folder / name).read_text("utf-8")).tag.endswith("svg")


def test_only_times_depend_on_the_clock(folder: Path, tmp_path: Path) -> None:
    save_study(reproduce(seconds=7.5), tmp_path / "slow")
    differ = {n for n in FILES if (folder / n).read_bytes() != (tmp_path / "slow" / n).read_bytes()}
    assert differ == {name for name in FILES if name.startswith("times")}


def test_the_page_has_claims_tables_and_what_is_left_out(folder: Path) -> None:
    page = (folder / "README.md").read_text("utf-8")
    assert "7 claims of the paper decided by data: 1 holds, 2 do not, 4 cannot be tested." in page
    row = next(line for line in page.splitlines() if line.startswith("| xx-03"))
    assert row.startswith("| xx-03 | Abstract, §5 | the error rises with k \\| steeply |")
    assert row.endswith(
        "| as-printed | -0.4997 | does not hold | holds with half stars made whole: 0.2503 |"
    )
    assert "| xx-08 (ours) |" in page
    assert "| biases | no | no | yes | §4.2 | none in the text; erratum: Eq. 6 |" in page
    assert "3 of 4 cells equal the paper's. the paper counts t2 twice" in page
    assert "| t2 | **5** (the paper: 4) |" in page
    assert "| a\\|b | 1 | 2 |" in page
    assert "### Fig. 4: What is lost (error)" in page
    assert "| 7 | days | the data have no dates |" in page
    assert "![Fig. 4" in page
    assert "Fig. 16" not in page
    times = (folder / "times.md").read_text("utf-8")
    assert "| whole | 1.5 |" in times
    assert "![Fig. 16" in times


def test_claims_and_points_are_rows(folder: Path, found: StubStudy) -> None:
    claims = rows_of(folder / "claims.csv")
    assert [row["claim"] for row in claims] == [each.claim.number for each in found.claims]
    assert claims[2]["cause"] == "holds with half stars made whole: 0.2503"
    assert (claims[3]["value"], claims[7]["whose"]) == ("", "ours")
    points = rows_of(folder / "points.csv")
    assert {row["configuration"] for row in points} == {
        "", "as-printed", "as-read, but groups by exchange"
    }  # fmt: skip
    assert len(points) == 12


def test_great_numbers_are_written_out() -> None:
    points = (Point(2, 17_712.4, 17_650.0, 17_790.6), Point(3, 0.34567))
    figure = Figure("10", "Loss", "k", "DM", "number", (Series("a", "m", points),))
    (panel,) = panel_tables(figure)
    assert panel.rows == (("2", "17,712 [17,650, 17,791]"), ("3", "0.3457"))
    (shares,) = panel_tables(replace(figure, unit="share"))
    assert shares.rows[1] == ("3", "34.6%")


def test_a_study_without_claims_and_tables_has_none(found: StubStudy, tmp_path: Path) -> None:
    bare = replace(found, claims=(), worked=(), choices=(), grids=(), skipped=(), times={})
    names = save_study(bare, tmp_path / "xx")
    assert "claims.csv" not in names
    page = (tmp_path / "xx" / "README.md").read_text("utf-8")
    for title in ("How the paper is read", "Claims and verdicts", "Worked examples", "Left out"):
        assert title not in page


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, found: StubStudy) -> None:
    with pytest.raises(OutputError, match="exists already"):
        save_study(found, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_chart_that_fails_leaves_nothing(
    tmp_path: Path, found: StubStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(spec: Any) -> str:
        raise ConfigError("no")

    monkeypatch.setattr("starshade.report.folder.svg_of", fail)
    with pytest.raises(ConfigError):
        save_study(found, tmp_path / "xx")
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
    tmp_path: Path, found: StubStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    notes = Notes()
    with watch(notes):
        names = save_study(found, tmp_path / "xx")
    assert set(names) == {name for name in FILES if not name.endswith(".svg")}
    assert notes.said == ["no SVG: pip install 'starshade[report]'"]
    assert ".svg" not in (tmp_path / "xx" / "README.md").read_text("utf-8")


def test_times_within_times_are_rows() -> None:
    times = {"a": 1.0, "b": [{"k": 5, "seconds": 0.25}]}
    assert time_rows(times) == [("a", "1"), ("b, 1, k", "5"), ("b, 1, seconds", "0.25")]
    assert time_rows({}) == []
