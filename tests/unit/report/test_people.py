"""The list of people at risk: a private file of all of them, the most exposed first."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import pytest

from starshade.audit.dossier.dossier import Dossier
from starshade.errors import OutputError
from starshade.report.people import COLUMNS, lists_any, save_people
from tests.unit.report.dossiers import Shown, small_dossier


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dossier")


@pytest.fixture(scope="module")
def dossier(place: Path) -> Dossier:
    return small_dossier(place)


def test_each_person_at_risk_has_a_row(dossier: Dossier, tmp_path: Path) -> None:
    file = save_people(dossier, tmp_path / "people.csv")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    people = dossier.internal()["people"]
    assert len(rows) == people["total"] == people["listed"] > 0
    assert [row["user"] for row in rows] == [row["user"] for row in people["rows"]]
    for row, own in zip(rows, people["rows"], strict=True):
        assert set(row) == set(COLUMNS.values())
        assert int(row["least_known"]) == own["known"]
        for key in ("class_size", "disclosed", "exists"):
            assert row[COLUMNS[key]] == ("" if own[key] is None else str(own[key]))
    assert lists_any(file, {people["rows"][-1]["user"], "somebody else"})
    assert not lists_any(file, {"user", "somebody else"})


@pytest.mark.parametrize("people", [None, {"rows": []}])
def test_a_list_of_no_people_has_a_head(people: object, tmp_path: Path) -> None:
    file = save_people(Shown({"people": people}), tmp_path / "people.csv")  # type: ignore[arg-type]
    assert file.read_text() == ",".join(COLUMNS.values()) + "\n"
    assert not lists_any(file, {"user"})


def test_a_list_never_enters_a_release_nor_overwrites(
    dossier: Dossier, place: Path, tmp_path: Path
) -> None:
    release = place / "release"
    before = sorted(release.iterdir())
    with pytest.raises(OutputError, match="inside the release"):
        save_people(dossier, release / "people.csv")
    assert sorted(release.iterdir()) == before
    (tmp_path / "people.csv").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        save_people(dossier, tmp_path / "people.csv")
    assert (tmp_path / "people.csv").read_text() == "mine"
