"""`starshade anonymize` with personal attributes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.system.conftest import call, refused, told

ASKED = ("--attributes", "generalized", "--quasi", "age", "--quasi", "town")
JOB = ("--sensitive-attribute", "job")


def test_attributes_are_generalized(ratings_csv: Path, people_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told(
        *("anonymize", ratings_csv, "--users", people_csv, "--k", 3, "--out", out, "--seed", 1),
        *(*ASKED, *JOB, "--l", 2),
    )
    facts = json.loads((out / "release.json").read_text())
    assert facts["attributes"] == "generalized"
    assert facts["quasi_identifiers"] == ["age", "town"]
    assert facts["sensitive_attributes"] == ["job"]
    jobs: dict[int, set[str | None]] = {}
    for row in pq.read_table(out / "records.parquet").to_pylist():
        jobs.setdefault(row["group"], set()).add(row["job"])
        assert 20 <= row["age"]["low"] <= row["age"]["high"] <= 59
        assert set(row["town"]) <= {"A", "B"}
    assert min(map(len, jobs.values())) >= 2
    assert told("check", out, "--model", "l-diversity")["parameters"] == {
        **{"l": 2, "attribute": "job", "kind": "distinct"}
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*ASKED, "--sensitive-attribute", "jobs"], "'jobs' not among the personal attributes"),
        ([*ASKED, "--sensitive-attribute", "age"], "age named both"),
        ([*ASKED, *JOB, "--l", "5"], "has 4 different values"),
        ([*ASKED, *JOB, "--t", "2"], "t = 2"),
        ([*ASKED, "--l", "2"], "--sensitive-attribute NAME"),
        (["--quasi", "age"], "--attributes generalized"),
        ([*ASKED, "--attribute-hierarchy", "age"], "NAME=FILE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_refused(
    ratings_csv: Path, people_csv: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    code = 1 if "--l 5" in " ".join(options) else 2
    place = ("anonymize", ratings_csv, "--users", people_csv, "--k", 3, "--out", tmp_path / "out")
    assert said in refused(*place, *options, code=code)
    assert list(tmp_path.iterdir()) == []
