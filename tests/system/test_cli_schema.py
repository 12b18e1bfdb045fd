"""JSON of schema 1 has the keys of the version before the terms, key by key; schema 2 says so."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from starshade.renamed import SCHEMA
from tests.system.conftest import Made, call, refused, small_csv

#: the keys that this version's predecessor printed, at every depth; lists count as their entries
KEYS = json.loads((Path(__file__).parents[1] / "golden" / "schema_1.json").read_text())

_OF = "--original r.csv --seed 1 --attack"
_TEN = f"rel --private key.json --items top:10 {_OF}"
_PROFILES = f"prof --private prof.json {_OF}"
_AUDITED = "--known 2 --targets 20 --shadows 1 --seed 1"
#: in this order: later ones are about what earlier ones wrote
QUICK = {
    "data describe": "r.csv",
    "anonymize": "r.csv --method k-exchange --k 4 --items top:10 --seed 1 --out rel "
    "--private key.json",
    "anonymize predictive": "r.csv --profile simple --k 4 --l 2 --seed 1 --out prof "
    "--private prof.json",
    "anonymize after": "r.csv --k 4 --after rel --after-private key.json --seed 2 --out rel2 "
    "--private key2.json",
    "data describe release": "rel",
    "data convert release": "rel --out rel.csv",
    "attack": "r.csv --known 2 --seed 1 --risk-list risk.csv",
    "attack homogeneity": "r.csv --known 2 --seed 1 --attack homogeneity",
    "attack likelihood": "r.csv --known 2 --seed 1 --attack likelihood",
    "attack padding": f"{_PROFILES} padding",
    "attack link-existence": f"{_PROFILES} link-existence",
    "attack fake-edges": f"{_PROFILES} fake-edges",
    "attack predicate": f"{_TEN} predicate",
    "attack membership": f"{_TEN} membership --shadows 1 --targets 20 --known 2",
    "attack inference": f"{_TEN} inference --shadows 4 --known 1",
    "attack composition": f"rel2 --private key2.json --items top:10 {_OF} composition --known 2 "
    "--earlier rel --earlier-private key.json",
    "attack tracker": "r.csv --attack tracker --seed 1",
    "attack --aux": "r.csv --aux aux.csv --one-to-one",
    "check": "rel",
    "check ratings": "r.csv --model k-eps --k 2 --eps 1 --full --graph",
    "check diversity": "r.csv --model diversity --b 2 --l 2",
    "measure": "r.csv rel --private key.json",
    "verify": "rel",
    "query": "rel SELECT_COUNT(*)",
    "erase": "ids key.json --dry-run",
    "audit": f"r.csv rel --private key.json {_AUDITED}",
    "report": "r.csv rel --private key.json --known 2 --targets 20 --shadows 0 --seed 1 "
    "--out rep.html",
    "init": "r.csv --yes",
    "check-config": "",
}
SLOW = {
    "audit profiles": f"r.csv prof --private prof.json {_AUDITED}",
    "anonymize policy": "r.csv --policy controlled --targets 20 --shadows 0 --seed 1 --out pol "
    "--private pol.json",
    "compare": "r.csv --methods k-exchange,predictive --k 3 --known 2 --targets 20 --shadows 1 "
    "--policy partner --seed 1",
    "run": "--seed 1",
}
_COMMANDS = ("data describe", "data convert", "check-config")


def keys_of(value: Any) -> dict[str, Any]:
    """Return the keys of an object at every depth, those of a list's entries together."""
    tree: dict[str, Any] = {}
    if isinstance(value, list):
        for each in value:
            _join(tree, keys_of(each))
    elif isinstance(value, dict):
        for key, each in value.items():
            _join(tree.setdefault(key, {}), keys_of(each))
    return tree


def _join(tree: dict[str, Any], other: dict[str, Any]) -> None:
    for key, each in other.items():
        _join(tree.setdefault(key, {}), each)


def _paths(tree: dict[str, Any], at: str = "") -> Iterator[str]:
    for key, each in tree.items():
        yield f"{at}.{key}"
        yield from _paths(each, f"{at}.{key}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Ratings and what commands write about them, one after the other."""
    place = tmp_path_factory.mktemp("schema")
    small_csv(place / "r.csv")
    (place / "ids").write_text("7\n")
    rows = "".join(f"u{user},{item},4\n" for user in (1, 2) for item in (1, 2))
    (place / "aux.csv").write_text(f"name,item,rating\n{rows}")
    before = Path.cwd()
    os.chdir(place)
    yield place
    os.chdir(before)


def differences(name: str, words: str) -> list[str]:
    """Return the paths of keys that schema 1 has and the version before had not, or the reverse."""
    command = next((each for each in _COMMANDS if name.startswith(each)), name.split()[0])
    arguments = [word.replace("_", " ") for word in words.split()]
    result = call(*command.split(), *arguments, "--json-schema", 1)
    assert result.exit_code in (0, 1, 4), result.stderr
    assert result.stderr.startswith("--json-schema 1 is deprecated"), result.stderr
    printed, expected = set(_paths(keys_of(json.loads(result.stdout)))), set(_paths(KEYS[name]))
    return [f"{name}{path}" for path in sorted(printed ^ expected)]


def test_schema_1_has_the_keys_of_the_version_before(folder: Path) -> None:
    wrong = [path for name, words in QUICK.items() for path in differences(name, words)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_schema_1_of_long_commands(folder: Path) -> None:
    for name in ("anonymize", "anonymize predictive", "init"):
        if not (folder / {"anonymize": "rel", "init": "starshade.toml"}.get(name, "prof")).exists():
            assert not differences(name, QUICK[name])
    project = folder / "starshade.toml"
    text = project.read_text()
    project.unlink()
    wrong = [path for name in list(SLOW)[:-1] for path in differences(name, SLOW[name])]
    project.write_text(text.replace("[audit]", "[audit]\ntargets = 20\nshadows = 0\nknown = [2]"))
    wrong += differences("run", SLOW["run"])
    assert not wrong, "\n".join(wrong)


def test_every_command_is_compared() -> None:
    assert set(KEYS) == {*QUICK, *SLOW}


def test_the_current_schema_comes_first(made: Made) -> None:
    plain = call("verify", made.folder, "--json")
    assert plain.stdout.startswith(f'{{"schema": {SCHEMA}, ')
    chosen = call("verify", made.folder, "--json-schema", SCHEMA)
    assert chosen.stdout.partition('"seconds"')[0] == plain.stdout.partition('"seconds"')[0]
    assert "deprecated" not in plain.stderr + chosen.stderr
    older = call("verify", made.folder, "--json", "--json-schema", 1)
    assert "schema" not in json.loads(older.stdout)
    for number in (0, 3):
        said = refused("verify", made.folder, "--json-schema", number)
        assert f"--json-schema {number}: no such schema\nAllowed: 2" in said
