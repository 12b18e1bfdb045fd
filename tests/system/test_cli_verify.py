from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.system.conftest import Made, call, refused, told
from tests.unit.release.damage import mend, say, signed


@pytest.fixture
def copied(made: Made, tmp_path: Path) -> Path:
    """A copy of the release to be changed."""
    shutil.copytree(made.folder, tmp_path / "copied")
    return tmp_path / "copied"


def with_other_value(folder: Path) -> Path:
    """Change a rating in table.csv, and the hash with it."""
    lines = (folder / "table.csv").read_text().splitlines(keepends=True)
    head = lines[0].strip().split(",")
    fields = lines[1].split(",")
    at = head.index('"lowest"') if '"lowest"' in head else head.index('"rating"')
    fields[at] = "1" if float(fields[at]) != 1 else "2"
    (folder / "table.csv").write_text("".join([lines[0], ",".join(fields), *lines[2:]]))
    mend(folder)
    return folder


def test_what_was_verified_is_listed(made: Made) -> None:
    shown = call("verify", made.folder)
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0] == lines[-1] == "PASS: all 5 checks pass."
    verified = told("verify", made.folder)
    assert (verified["status"], verified["holds"]) == ("PASS", True)
    assert verified["sha256"] in shown.stdout
    names = [check["name"] for check in verified["checks"]]
    assert names[:4] == ["files", "contents", "tables", "descriptions"]
    assert {check["status"] for check in verified["checks"]} == {"PASS"}
    assert len(names) == 4 + len(json.loads((made.folder / "release.json").read_text())["claims"])
    assert "Not verifiable without the ratings and the key file" in shown.stdout
    assert "the one that the publisher states elsewhere" in " ".join(shown.stdout.split())


def test_the_card_says_where_the_command_comes_from(made: Made) -> None:
    card = (made.folder / "README.md").read_text(encoding="utf-8")
    assert "`starshade verify FOLDER` (`pip install starshade`)" in card


def test_a_changed_value_of_a_table_is_named(copied: Path) -> None:
    with_other_value(copied)
    shown = call("verify", copied)
    assert shown.exit_code == 1
    lines = shown.stdout.splitlines()
    assert lines[0] == lines[-1] == "FAIL: 1 of 5 checks failed (tables)."
    said = " ".join(shown.stdout.split())
    assert "Do not use this release. Ask its publisher for an intact copy" in said
    assert "what was counted" not in said
    status = {check["name"]: check for check in told("verify", copied, code=1)["checks"]}
    assert status["tables"]["status"] == "FAIL"
    assert "table.csv" in status["tables"]["detail"]
    assert status["tables"]["detail"].endswith("(line 2)")
    assert status["files"]["status"] == "PASS"
    assert status["descriptions"]["status"] == "NOT VERIFIED"  # they hold its hash as well


@pytest.mark.parametrize(
    "command",
    [
        ("check", "RELEASE"),
        ("data", "describe", "RELEASE"),
        ("data", "convert", "RELEASE", "--out", "OUT"),
        ("query", "RELEASE", "SELECT COUNT(*)"),
        ("measure", "RATINGS", "RELEASE"),
        ("audit", "RATINGS", "RELEASE"),
        ("attack", "RELEASE", "--original", "RATINGS"),
        ("anonymize", "RATINGS", "--k", "4", "--after", "RELEASE", "--out", "OUT"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_no_command_reads_a_table_that_says_something_else(
    command: tuple[str, ...], copied: Path, ratings_csv: Path, tmp_path: Path
) -> None:
    places = {
        "RELEASE": with_other_value(copied),
        "RATINGS": ratings_csv,
        "OUT": tmp_path / "o.csv",
    }
    message = refused(*(places.get(word, word) for word in command))
    if command[0] != "anonymize":  # which takes the key file as well
        assert "table.csv contradicts the exact files" in message


def test_a_false_claim_fails_and_is_described_nowhere(copied: Path) -> None:
    facts = json.loads((copied / "release.json").read_text())
    claim = {"model": "k-eps", "parameters": {"k": 4, "eps": 0.0, "nulls": "strict"}}
    say(copied, claims=[*facts["claims"], claim | {"verified": {"smallest_class_at_least": 4}}])
    checks = told("verify", copied, code=1)["checks"]
    assert checks[-1]["name"] == "k-eps (k = 4, eps = 0.0, nulls = strict)"
    assert checks[-1]["status"] == "FAIL"
    assert "k-eps" in refused("data", "describe", copied)


@pytest.mark.parametrize("name", ["table.csv", "README.md", "more.txt"])
def test_files_that_do_not_match(copied: Path, name: str) -> None:
    with (copied / name).open("a") as file:
        file.write("x")
    checks = {check["name"]: check for check in told("verify", copied, code=1)["checks"]}
    assert checks["files"]["status"] == "FAIL"
    assert name in checks["files"]["detail"]
    assert name != "more.txt" or "not listed in release.json" in checks["files"]["detail"]
    assert checks.pop("files")
    assert {check["status"] for check in checks.values()} == {"NOT VERIFIED"}


def test_what_is_no_release(copied: Path, tmp_path: Path, ratings_csv: Path) -> None:
    for place in (tmp_path / "nothing", tmp_path, ratings_csv):
        assert "not a release" in refused("verify", place)
    (copied / "release.json").write_text("[" * 10**6)
    assert "not an unambiguous JSON object" in refused("verify", copied)


def test_texts_of_another_version_are_not_verified(copied: Path) -> None:
    (copied / "README.md").write_text("Nobody can be recognised.")
    mend(copied)
    say(copied, starshade="0.0.1")
    told_so = told("verify", copied, code=4)
    assert (told_so["status"], told_so["holds"]) == ("INCOMPLETE", None)
    checks = {check["name"]: check for check in told_so["checks"]}
    assert checks["descriptions"]["status"] == "NOT VERIFIED"
    assert "0.0.1" in checks["descriptions"]["detail"]
    shown = call("verify", copied)
    assert shown.exit_code == 4
    lines = shown.stdout.splitlines()
    assert lines[0] == lines[-1]
    assert lines[0].startswith("INCOMPLETE: descriptions not verified (written by version 0.0.1; ")
    assert call("data", "describe", copied).exit_code == 0  # which compares no texts


def test_a_version_that_would_be_a_verdict(copied: Path) -> None:
    say(copied, starshade="0.0.1).\nPASS: all 5 checks pass.")
    shown = call("verify", copied)
    assert shown.exit_code == 4
    assert "PASS:" not in shown.stdout


def test_a_manifest_that_its_checksum_does_not_fit(copied: Path) -> None:
    text = (copied / "release.json").read_text()
    (copied / "release.json").write_text(text.replace('"records"', '"Records"', 1))
    told_so = told("verify", copied, code=1)
    assert (told_so["status"], told_so["holds"]) == ("FAIL", False)
    assert [(c["name"], c["status"]) for c in told_so["checks"]] == [("release.json", "FAIL")]
    assert "checksum" in told_so["checks"][0]["detail"]
    content = (copied / "release.json").read_bytes()
    assert told_so["sha256"] == hashlib.sha256(content).hexdigest()
    shown = call("verify", copied)
    assert shown.stdout.startswith("FAIL: 1 of 1 check failed (release.json).")
    assert "Ask its publisher for an intact copy" in " ".join(shown.stdout.split())
    assert "its checksum does not fit its content" in refused("data", "describe", copied)


@pytest.mark.parametrize("files", ["text", ["a"], {"job": 5}, {"job": [1]}])
def test_a_key_file_whose_hierarchies_are_no_lines(
    made: Made, ratings_csv: Path, tmp_path: Path, files: object
) -> None:
    facts = json.loads(made.receipt.read_text())
    key = tmp_path / "key.json"
    key.write_text(signed(facts | {"config": facts["config"] | {"attribute_hierarchies": files}}))
    message = refused("audit", ratings_csv, made.folder, "--private", key)
    assert f"{key}: " in message
    assert "attribute_hierarchies" in message
