"""``starshade reproduce pa`` as it is called."""

from __future__ import annotations

import json
from pathlib import Path

from tests.system.conftest import call, refused, told

QUICK = ("--k", "3", "--runs", 1, "--seed", 3)


def test_tables_stand_beside_the_paper_s(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    found = told("reproduce", "pa", "--data", ratings_csv, "--out", out, *QUICK)
    assert json.loads((out / "pa.json").read_text("utf-8"))["tables"] == found["tables"]
    assert {row["k"] for row in found["tables"]} == {None, 3}
    assert found["tables"][0]["paper"] == 0.951849
    assert (found["runs"], found["seed"], found["out"]) == (1, 3, str(out))


def test_a_person_reads_what_holds(ratings_csv: Path) -> None:
    result = call("reproduce", "pa", "--data", ratings_csv, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "Chang, Thompson, Wang and Yao" in result.stdout
    assert "claims of the paper" in " ".join(result.stdout.split())
    assert "as-printed" in result.stdout


def test_what_is_wrong_is_told_before_the_long_work(ratings_csv: Path, tmp_path: Path) -> None:
    assert "--data" in refused("reproduce", "pa", "--scale", "1:5:1")
    assert "exists already" in refused("reproduce", "pa", "--out", tmp_path)
    data = ("--data", ratings_csv)
    assert "Omit either" in refused("reproduce", "pa", *data, "--n-users", 50)
    assert "whole numbers" in refused("reproduce", "pa", *data, "--k", "five")
    assert "--k: 5 given more than once" in refused("reproduce", "pa", *data, "--k", "5,3,5")
    assert "2 or more" in refused("reproduce", "pa", *data, "--k", "1")


def test_without_data_ratings_are_made_up() -> None:
    found = told("reproduce", "pa", "--n-users", 100, "--n-items", 60, *QUICK)
    assert found["data"]["synthetic"] is True
    assert (found["data"]["users"], found["data"]["items"]) == (100, 60)
