"""`starshade erase`: people who ask to be forgotten, to the audit of what follows."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from starshade.cli import main
from tests.policies import as_options, in_toml
from tests.system.conftest import Made, call, refused, told


@pytest.fixture
def own(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The release's receipt, to be rewritten, and a list of three, of whom one is in none."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(made.receipt, tmp_path / "receipt.json")
    (tmp_path / "ids").write_text("7\n\nsecret-name\r\n12\n")
    return tmp_path


def test_the_whole_story(own: Path, made: Made, ratings_csv: Path) -> None:
    found = told("erase", "ids", "receipt.json", "--release", made.folder)
    assert (found["people"], found["unknown"], found["rewritten"]) == (3, [3], True)
    [held] = found["key_files"]
    assert (held["key_file"], held["records"], held["left_before"]) == ("receipt.json", 2, 0)
    assert held["folders"] == [str(made.folder)]
    users = json.loads((own / "receipt.json").read_text())["users"]
    assert not {"7", "12"} & set(users)
    head, *lines = ratings_csv.read_text().splitlines()
    rest = [line for line in lines if line.split(",")[0] not in {"7", "12"}]
    (own / "next.csv").write_text("\n".join([head, *rest]) + "\n")
    again = told(
        *("anonymize", "next.csv", "--k", 4, "--after", made.folder, "--seed", 2),
        *("--after-private", "receipt.json", "--out", "out", "--private", "private.json"),
    )
    assert again["dummy_records"] == 2
    assert not {"7", "12"} & set(
        json.loads((own / "private.json").read_text())["chain"]["left_before"]
    )
    options = ["--scale", "1:5:1", "--targets", 20, "--seed", 1, "--shadows", 1]
    earlier = ["--earlier", made.folder, "--earlier-private", "receipt.json"]
    verdict = call(
        *("audit", "next.csv", "out", "--private", "private.json", *earlier, *options, "--json"),
        *as_options("class-size=4"),
    )
    assert verdict.exit_code == 0, verdict.stdout
    checks = {each["name"]: each for each in json.loads(verdict.stdout)["checks"]}
    assert checks["composition"]["value"] == 0  # nobody hides among fewer than k
    for ratings in (ratings_csv, "next.csv"):  # the first one, by ratings with and without them
        alone = call("audit", ratings, made.folder, "--private", "receipt.json", *options)
        assert alone.exit_code in (0, 1), alone.stderr


def test_what_is_said_names_nobody(own: Path) -> None:
    result = call("erase", "ids", "receipt.json", "--dry-run")
    assert result.exit_code == 0, result.stderr
    told_of = "would be rewritten", "the id of line 3.", "cannot be recalled", "report.html"
    for text in told_of:
        assert text in " ".join(result.stdout.split())
    assert "secret-name" not in result.stdout + result.stderr
    assert "7" in json.loads((own / "receipt.json").read_text())["users"]
    (own / "ids").write_text("secret-name\n")
    assert "No key file holds" in call("erase", "ids", "receipt.json").stdout


def test_a_project_s_receipts_and_the_reports_that_name_them(
    made: Made, ratings_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two nights, with ids that a page has to escape."""
    monkeypatch.chdir(tmp_path)
    assert "no KEY-FILE" in refused("erase", "-")
    head, *lines = ratings_csv.read_text().splitlines()
    named = [re.sub(r"^(\d+),", r"<&u\1>,", line) for line in lines]
    (tmp_path / "ratings.csv").write_text("\n".join([head, *named]) + "\n")
    text = '[data]\nratings = "ratings.csv"\n[release]\nk = 4\n'
    (tmp_path / "starshade.toml").write_text(
        f"{text}[audit]\nshadows = 0\ntargets = 20\nknown=[2]\n{in_toml()}\n"
    )
    assert told("run", "--seed", 1)["pass"]
    place = tmp_path / ".starshade" / "reports" / "release-1-at-risk.csv"
    [listed, *_] = re.findall(r"^<&(u\d+)>,", place.read_text(), re.M)
    earlier = f'<table class="people"><tr><th scope="row">&lt;&amp;{listed}&gt;</th></tr></table>'
    (place.parent / "release-0.html").write_text(earlier)  # as earlier versions wrote reports
    (tmp_path / "ids").write_text(f"<&{listed}>\n")
    found = told("erase", "ids", "--dry-run")
    assert [held["key_file"] for held in found["key_files"]] == [
        ".starshade/receipts/release-1.json"
    ]
    reports = [f".starshade/reports/{name}" for name in ("release-0.html", place.name)]
    assert found["reports"] == reports
    said = " ".join(call("erase", "ids").stdout.split())
    assert f"Still named in {', '.join(reports)}: delete" in said
    assert listed not in said
    for report in reports:
        (tmp_path / report).unlink()
    again = told("erase", "ids")
    assert (again["reports"], again["rewritten"]) == ([], False)


def test_ids_from_standard_input(own: Path) -> None:
    words = ["erase", "-", "receipt.json", "--json"]
    result = CliRunner().invoke(main, words, input="7\n")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["key_files"][0]["records"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nowhere receipt.json", "nowhere: cannot be read"),
        ("empty receipt.json", "no user given"),
        ("binary receipt.json", "not UTF-8"),
        ("ids receipt.json receipt.json", "a key file twice"),
        ("ids receipt.json nowhere", "cannot be read"),
        ("ids receipt.json ids", "not a private key file"),
        ("ids receipt.json --release .", "not a release"),
        ("ids", "KEY-FILE"),
    ],
)
def test_what_is_refused(words: str, message: str, own: Path) -> None:
    (own / "empty").write_text("\n\n")
    (own / "binary").write_bytes(b"7\n\xff")
    before = (own / "receipt.json").read_bytes()
    said = refused("erase", *words.split())
    assert message in said
    assert "secret-name" not in said
    assert (own / "receipt.json").read_bytes() == before
