"""`anonymize --policy`: a release that passes is written, or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from starshade.audit.checks.policy import CHECKED
from tests.policies import NO_LIMITS
from tests.system.conftest import call, refused, small_csv, told

#: everything is accepted but the class size, and nothing takes long
QUICK = ["--shadows", "0", "--targets", "5"]
for _name in NO_LIMITS:
    if _name != "class-size":
        QUICK += ["--threshold", f"{_name}=1"]


@pytest.fixture
def searched(ratings_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return ["anonymize", ratings_csv, "--policy", "partner", *QUICK, "--seed", "1"]


def test_the_first_that_passes_is_written(searched: list[object], tmp_path: Path) -> None:
    out, key = tmp_path / "release", tmp_path / "key.json"
    found = told(*searched, "--threshold", "class-size=6", "--out", out, "--private", key)
    assert (found["verdict"], found["k"], found["method"]) == ("PASS", 7, "predictive")
    assert found["chosen"] == found["attempts"][0]
    assert [each["k"] for each in found["skipped"]] == [5]
    assert json.loads((out / "release.json").read_text())["config"]["k"] == 7
    # an audit of what was written comes to the checks that counted
    again = ["audit", searched[1], out, "--private", key, *QUICK, "--threshold", "class-size=6"]
    audited = told(*again, "--seed", found["chosen"]["seed"])
    values = {each["name"]: each["value"] for each in audited["checks"]}
    assert values == {each["name"]: each["value"] for each in found["chosen"]["checks"]}
    assert values.keys() <= CHECKED.keys()


def test_what_is_printed(searched: list[object], tmp_path: Path) -> None:
    place = ("--out", tmp_path / "release", "--private", tmp_path / "key.json")
    result = call(*searched, *place)
    assert result.exit_code == 0, result.stderr
    assert "predictive with k = 5 passes policy partner v1" in " ".join(result.stdout.split())
    (line,) = (line for line in result.stderr.splitlines() if line.startswith("k = 5"))
    assert line.startswith("k = 5: PASS")
    assert "--policy partner" in result.stdout.splitlines()[-1]


def test_nothing_is_written_where_none_passes(searched: list[object], tmp_path: Path) -> None:
    place = ("--out", tmp_path / "release", "--private", tmp_path / "key.json")
    never = ("--threshold", "class-linkage=0", "--threshold", "class-size=40", *place)
    result = call(*searched, *never)
    assert result.exit_code == 1
    flat = " ".join(result.stdout.split())
    assert "No release passes policy partner v1" in flat
    assert "Checks that no release passes: Class linkage" in flat
    found = told(*searched, *never, code=1)
    assert (found["chosen"], found["out"], found["verdict"]) == (None, None, "FAIL")
    assert found["attempts"][0]["k"] == 50
    assert {each["reason"] for each in found["skipped"]} >= {
        "the policy requires classes of 40 or more"
    }
    assert not (tmp_path / "release").exists()
    assert not (tmp_path / "key.json").exists()
    assert not list((tmp_path / "state" / "starshade").glob("run-*"))


def test_a_search_is_resumed_with_its_seed(searched: list[object], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for out, more in ((first, ()), (second, ("--resume",))):
        found = call(*searched, "--out", out, "--private", f"{out}.json", *more)
        assert found.exit_code == 0, found.stderr
    files = {path.name: path.read_bytes() for path in first.iterdir()}
    assert files == {path.name: path.read_bytes() for path in second.iterdir()}
    unseeded = searched[:-2]
    out = ("--out", tmp_path / "x", "--no-key-file")
    assert "--resume: requires the seed" in refused(*unseeded, *out, "--resume")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "parner"], "Did you mean partner?"),
        (["--policy", "no.toml"], "cannot be read"),
        (["--policy", "partner", "--k", "5"], "--k: not applicable with --policy"),
        (["--policy", "partner", "--item-support", "2%"], "--item-support: not applicable"),
        (["--policy", "partner", "--after", "x", "--after-private", "y"], "keeps its k"),
        (["--policy", "partner", "--threshold", "membership=2"], "must be a share"),
        (["--policy", "partner", "--threshold", "class-size=0"], "must be a share"),
        (["--policy", "partner", "--method", "suppress"], "--eps is missing"),
        (["--policy", "partner", "--method", "k-exchange", "--attributes", "exact"], "queries"),
        (["--k", "5", "--shadows", "3"], "--shadows: not applicable without --policy"),
    ],
)
def test_what_is_refused(
    options: list[str], message: str, ratings_csv: Path, tmp_path: Path
) -> None:
    out = ("--out", tmp_path / "release", "--no-key-file")
    assert message in refused("anonymize", ratings_csv, *options, *out)
    assert not (tmp_path / "release").exists()


def test_a_broken_policy_file_is_refused_by_line(ratings_csv: Path, tmp_path: Path) -> None:
    policy = tmp_path / "own.toml"
    policy.write_text('name = "own"\nversion = 1\n\n[adversary]\nknown = "8"\n[checks]\n')
    out = ("--out", tmp_path / "release", "--no-key-file")
    assert "own.toml, line 5: known" in refused("anonymize", ratings_csv, "--policy", policy, *out)


def test_fewer_people_than_any_k(tmp_path: Path) -> None:
    few = small_csv(tmp_path / "few.csv", users=4)
    out = ("--out", tmp_path / "release", "--no-key-file", "--seed", "1")
    assert "records = 4" in refused("anonymize", few, "--policy", "partner", *out)
