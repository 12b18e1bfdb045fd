"""``starshade reproduce sr`` as it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.conftest import call, refused, told

QUICK = ("--trials", 1, "--repeats", 1, "--seed", 3)


@pytest.mark.slow
def test_ratings_without_attributes(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    found = told("reproduce", "sr", "--data", ratings_csv, "--top", 5, "--out", out, *QUICK)
    assert json.loads((out / "sr.json").read_text("utf-8"))["claims"] == found["claims"]
    assert [part["name"] for part in found["data"]["parts"]] == ["top 5 items", "all 15 items"]
    assert "8" not in [figure["figure"] for figure in found["figures"]]
    assert found["seed"] == 3


@pytest.mark.slow
def test_a_person_reads_what_holds(ratings_csv: Path) -> None:
    result = call("reproduce", "sr", "--data", ratings_csv, "--sensitive", 15, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "Sun and Sun" in result.stdout
    assert "holds" in result.stdout
    assert "sr-27" in result.stdout


def test_what_is_wrong_is_told_before_the_long_work(ratings_csv: Path, tmp_path: Path) -> None:
    assert "--data" in refused("reproduce", "sr", "--scale", "1:5:1")
    assert "exists already" in refused("reproduce", "sr", "--out", tmp_path)
    data = ("--data", ratings_csv)
    assert "no personal attributes" in refused("reproduce", "sr", *data, "--attribute", "Gender")
    assert "not among the items" in refused("reproduce", "sr", *data, "--sensitive", "nothing")
    assert "top" in call("reproduce", "sr", *data, "--top", 1).stderr


@pytest.mark.slow
def test_without_data_a_survey_is_made_up() -> None:
    found = told("reproduce", "sr", "--top", 5, *QUICK)
    assert found["data"]["synthetic"] is True
    assert found["data"]["users"] == 1000
    assert found["data"]["parts"][0]["sensitive_items"] == 4
    assert any("accuracy of predicting an attribute" in g["title"].lower() for g in found["grids"])
    assert {figure["figure"] for figure in found["figures"]} >= {"3a", "4a", "5a", "6a", "7a", "8"}
