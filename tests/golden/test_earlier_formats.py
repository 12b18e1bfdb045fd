"""Releases, key files, a store and a project of format 3, as the version before wrote them.

Each is read today, and every command gives the figures of the same release made today.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import starshade as ss
from starshade.errors import ReleaseError
from starshade.release.folder.forget import forget
from starshade.release.folder.receipt import load
from tests.system.conftest import call, refused, told
from tests.unit.release.damage import signed

STORED = Path(__file__).parent / "format_3"
MADE: dict[str, tuple[object, ...]] = {
    "release": ("--method", "k-exchange", "--k", 5),
    "continued": ("--method", "k-exchange", "--k", 4),
    "profiles": ("--method", "predictive", "--k", 5, "--factors", 3),
}
EXACT = ("records.parquet", "cells.parquet", "profiles.parquet", "items.parquet")
READABLE = ("table.parquet", "table.csv")
EACH = pytest.mark.parametrize("name", MADE)
ATTACKS = ("scoreboard-rh", "homogeneity", "likelihood", "link-existence")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what an earlier version wrote."""
    place = tmp_path_factory.mktemp("stored") / "stored"
    shutil.copytree(STORED, place)
    for key in place.glob("*-key.json"):
        key.chmod(0o600)
    return place


@pytest.fixture(scope="module")
def today(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same releases made today; `continued` continues the stored release."""
    place = tmp_path_factory.mktemp("today")
    after = ("--after", stored / "release", "--after-private", stored / "release-key.json")
    for name, words in MADE.items():
        result = call(
            *("anonymize", stored / "store", *words, "--seed", 1),
            *(after if name == "continued" else ()),
            *("--out", place / name, "--private", place / f"{name}-key.json"),
        )
        assert result.exit_code == 0, result.stderr
    return place


def same(stored: Path, today: Path, *words: object) -> dict[str, Any]:
    """Return the JSON of a command on either release, which is the same."""
    found = []
    for place in (stored, today):
        result = call(*(str(word).replace("HERE", str(place)) for word in words), "--json")
        assert result.exit_code in (0, 1, 4), result.stderr
        shown = json.loads(result.stdout.replace(str(place), "HERE").replace(str(stored), "HERE"))
        found.append((result.exit_code, plain(shown)))
    assert found[0] == found[1]
    shown: dict[str, Any] = found[0][1]
    return shown


def plain(value: Any) -> Any:
    """Return a result without times and without what names a release."""
    if isinstance(value, dict):
        left_out = {key for key in value if "second" in key} | {"sha256"}
        return {key: plain(each) for key, each in value.items() if key not in left_out}
    return [plain(each) for each in value] if isinstance(value, list) else value


@EACH
def test_today_s_files_hold_the_same(stored: Path, today: Path, name: str) -> None:
    for file in {*EXACT, *READABLE} & {path.name for path in (stored / name).iterdir()}:
        assert (stored / name / file).read_bytes() == (today / name / file).read_bytes()
    before, now = (ss.read_release(place / name).manifest for place in (stored, today))
    assert (before.format, now.format) == (3, 4)
    told_apart = {"format", "files", "config"}
    assert before.model_dump(exclude=told_apart) == now.model_dump(exclude=told_apart)


@EACH
def test_key_files_hold_the_same(stored: Path, today: Path, name: str) -> None:
    before, now = (load(place / f"{name}-key.json") for place in (stored, today))
    own = {"release", "source", "config"}
    assert {k: v for k, v in before.items() if k not in own} == {
        k: v for k, v in now.items() if k not in own
    }


@EACH
def test_describe(stored: Path, today: Path, name: str) -> None:
    same(stored, today, "data", "describe", f"HERE/{name}")


@EACH
def test_verify(stored: Path, today: Path, name: str) -> None:
    before = told("verify", stored / name, code=4)
    now = told("verify", today / name)
    assert (before["status"], now["status"]) == ("INCOMPLETE", "PASS")
    (descriptions,) = [each for each in before["checks"] if each not in now["checks"]]
    assert descriptions == {
        "name": "descriptions",
        "status": "NOT VERIFIED",
        "detail": "written by an earlier version: format 3, now 4",
    }


@EACH
def test_check(stored: Path, today: Path, name: str) -> None:
    same(stored, today, "check", f"HERE/{name}")
    same(stored, today, "check", f"HERE/{name}", "--model", "k-anonymity", "--k", 5)


@EACH
def test_audit(stored: Path, today: Path, name: str) -> None:
    same(
        *(stored, today, "audit", stored / "store", f"HERE/{name}"),
        *("--private", f"HERE/{name}-key.json", "--threshold", "class-size=2"),
        *("--shadows", 2, "--targets", 10, "--seed", 1),
    )


@EACH
def test_measure(stored: Path, today: Path, name: str) -> None:
    words = ("measure", stored / "store", f"HERE/{name}")
    same(stored, today, *words, "--private", f"HERE/{name}-key.json")
    same(stored, today, *words)


@EACH
@pytest.mark.parametrize("attack", ATTACKS)
def test_attack(stored: Path, today: Path, name: str, attack: str) -> None:
    targets = () if attack == "link-existence" else ("--targets", 10, "--seed", 1)
    same(
        *(stored, today, "attack", f"HERE/{name}", "--original", stored / "store"),
        *("--private", f"HERE/{name}-key.json", "--attack", attack, *targets),
    )


def test_composition(stored: Path, today: Path) -> None:
    same(
        *(stored, today, "audit", stored / "store", "HERE/continued"),
        *("--private", "HERE/continued-key.json", "--threshold", "class-size=2", "--shadows", 0),
        *("--earlier", stored / "release", "--earlier-private", stored / "release-key.json"),
        *("--targets", 10, "--seed", 1),
    )


def test_query(stored: Path, today: Path) -> None:
    found = same(stored, today, "query", "HERE/release", "SELECT COUNT(*)")
    assert 60 in found.values()


@EACH
@pytest.mark.parametrize("file", ["x.csv", "x.parquet", "x.inter"])
def test_convert(stored: Path, today: Path, tmp_path: Path, name: str, file: str) -> None:
    out = []
    for place in (stored, today):
        (tmp_path / place.name).mkdir()
        out.append(tmp_path / place.name / file)
        told("data", "convert", place / name, "--out", out[-1])
    assert out[0].read_bytes() == out[1].read_bytes()


def test_continue(stored: Path, today: Path, tmp_path: Path) -> None:
    """A release that continues one of format 3 is the one that continues today's."""
    for place in (stored, today):
        result = call(
            *("anonymize", stored / "store", "--method", "predictive", "--k", 5, "--seed", 1),
            *("--factors", 3, "--after", place / "profiles"),
            *("--after-private", place / "profiles-key.json"),
            *("--out", tmp_path / place.name, "--private", tmp_path / f"{place.name}.json"),
        )
        assert result.exit_code == 0, result.stderr
    files = [file.name for file in (tmp_path / stored.name).iterdir()]
    for file in files:
        own, other = (tmp_path / place.name / file for place in (stored, today))
        assert own.read_bytes() == other.read_bytes()


@EACH
def test_erase(stored: Path, today: Path, tmp_path: Path, name: str) -> None:
    """A key file of format 3 is rewritten as one of today's; its release stays."""
    facts = []
    for place in (stored, today):
        key = tmp_path / f"{place.name}.json"
        shutil.copy(place / f"{name}-key.json", key)
        found = forget(["7", "12"], [key], releases=[place / name])
        assert [(held.records, held.folders) for held in found.key_files] == [
            (2, (str(place / name),))
        ]
        facts.append(json.loads(key.read_text()))
        assert ss.read_release(place / name, private=key).n_people == 58
    own = {"release", "source", "config", "checksum"}
    before, now = ({k: v for k, v in each.items() if k not in own} for each in facts)
    assert before == now
    assert before["key_file"] == 4


def test_a_store_and_a_project(stored: Path) -> None:
    assert told("data", "describe", stored / "store")["ratings"] == 400
    with contextlib.chdir(stored):
        checked = call("check-config")
    assert checked.exit_code == 0, checked.stderr


@EACH
def test_a_changed_byte_is_found(stored: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / name
    shutil.copytree(stored / name, copy)
    for file in sorted(copy.iterdir()):
        whole = file.read_bytes()
        at = len(whole) // 2
        while not chr(whole[at]).isdigit() and file.suffix != ".parquet":
            at += 1
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ReleaseError):
            ss.read_release(copy)
        assert told("verify", copy, code=1)["status"] == "FAIL"
        file.write_bytes(whole)
    assert told("verify", copy, code=4)["status"] == "INCOMPLETE"


@EACH
def test_a_changed_byte_of_a_key_file_is_found(stored: Path, tmp_path: Path, name: str) -> None:
    whole = (stored / f"{name}-key.json").read_text()
    key = tmp_path / "key.json"
    key.write_text(whole.replace('"seed": 1', '"seed": 2'))
    with pytest.raises(ReleaseError, match="its checksum does not fit its content"):
        ss.read_release(stored / name, private=key)


@pytest.mark.parametrize(
    "change",
    [
        {"imputed_cells": None},
        {"format": 4},
        {"format": 2},
        {"format": 1},
        {"invented_cells": "under 5 %"},
        {"claims": [{"model": "k-anonymity", "parameters": {"k": 5}, "verified": {}}]},
        {
            "claims": [
                {
                    "model": "k-anonymity",
                    "parameters": {"k": 5},
                    "verified": {"smallest_group": 5, "smallest_class": 5},
                }
            ]
        },
    ],
    ids=lambda change: json.dumps(change)[:40],
)
def test_no_key_is_read_in_two_ways(stored: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(stored / "release", copy)
    facts = json.loads((copy / "release.json").read_text())
    (copy / "release.json").write_text(signed(facts | change))
    with pytest.raises(ReleaseError):
        ss.read_release(copy, private=stored / "release-key.json")
    if change.get("format") in (1, 2):
        assert f"format {change['format']}" in refused("verify", copy)
