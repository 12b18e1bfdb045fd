"""What is registered is everywhere: four toys, a line each, are found wherever such things are."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.house.floors import SRC

pytestmark = pytest.mark.slow
TOYS = ("attack", "model", "method", "measure")
COMMANDS = {"attack": "attack", "model": "check", "method": "anonymize"}
SETTINGS = {"attack": "doubt", "model": "toys", "method": "pace", "measure": "weight"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("toys")
    done = subprocess.run(
        [sys.executable, "-m", "tests.house.toys", folder],
        cwd=SRC.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def answer(said: str) -> dict[str, Any]:
    """What a command printed with --json."""
    code, _, rest = said.partition("\n")
    assert code in "014", said  # INCOMPLETE, of so few people
    told: dict[str, Any] = json.JSONDecoder().raw_decode(rest[rest.index("{") :])[0]
    return told


@pytest.mark.parametrize("toy", TOYS)
def test_it_is_listed(found: dict[str, Any], toy: str) -> None:
    assert f"toy-{toy}" in found[f"list {toy}s"]
    assert f"A toy {toy}." in " ".join(found[f"list {toy}s"].split())


@pytest.mark.parametrize(("toy", "command"), COMMANDS.items())
def test_help_has_a_line_for_it_and_its_settings_alone(
    found: dict[str, Any], toy: str, command: str
) -> None:
    assert f"  toy-{toy} " in found[f"{command} all"]
    assert f"--{SETTINGS[toy]} " in found[f"{command} all"]
    assert f"--{SETTINGS[toy]}" not in found[command]
    own = found[f"{command} help"]
    assert f"Settings of toy-{toy}:" in own
    assert f"--{SETTINGS[toy]} " in own
    assert "--phi" not in own


@pytest.mark.parametrize("toy", TOYS)
def test_its_settings_have_a_schema(found: dict[str, Any], toy: str) -> None:
    schema = answer(found["list settings"])["settings"][f"{toy}s"][f"toy-{toy}"]
    assert SETTINGS[toy] in schema["properties"]


def test_the_command_line_runs_it(found: dict[str, Any]) -> None:
    assert answer(found["attack run"])["attack"] == "toy-attack"
    assert found["attack refused"].startswith("2\n")
    assert "--doubt = 3: must be a number from 0 to 1" in found["attack refused"]
    assert answer(found["check run"])["model"] == "toy-model"
    assert "Add --toys 3, for example" in found["check lacks"]
    assert found["anonymize run"].startswith("0\n")
    assert answer(found["measure run"])["toy_load"] > 0


def test_its_figures_are_told_with_name_unit_and_meaning(found: dict[str, Any]) -> None:
    load = answer(found["measure run"])["toy_load"]
    for told in ("measure shown", "audit shown"):
        assert f"Toy load {load:g}" in " ".join(found[told].split()), told
    assert "load" in found["compare shown"]
    for told in ("Toy load", "Low is light"):
        assert told in found["report"]
    assert {row["toy_load"] for row in answer(found["compare run"])["rows"]} != {None}
    assert "Toy luck 7.5" in " ".join(found["attack shown"].split())
    assert ["Toy luck", "7.5", "High: toys are lucky."] in found["outcome"]


def test_an_audit_tries_an_attack_that_says_how(found: dict[str, Any]) -> None:
    assert "toy-attack" in json.dumps(answer(found["audit run"])["attack_after"])
    assert "toy-attack" in found["audit shown"]
    assert "toy-attack" in found["report"]


def test_it_is_a_public_name(found: dict[str, Any]) -> None:
    assert found["public"] == ["ToyAttack", "ToyMeasure", "ToyMethod", "ToyModel"]
    assert found["imported"] == ["ToyAttack", "ToyModel", "ToyMethod", "ToyMeasure"]


def test_methods_are_compared_and_audited(found: dict[str, Any]) -> None:
    rows = answer(found["compare run"])["rows"]
    assert [row["refused"] for row in rows if row["method"] == "toy-method"] == [None]
    audit = answer(found["audit run"])
    assert [claim["model"] for claim in audit["claims"]] == ["k-anonymity"]
    assert all(claim["holds"] for claim in audit["claims"])


def test_release_and_receipt_record_its_settings(found: dict[str, Any]) -> None:
    assert found["manifest"]["pace"] == found["receipt"]["pace"] == 5
    assert "--pace 5" in found["report"]  # how to do it again


def test_the_report_names_it(found: dict[str, Any]) -> None:
    assert "toy-method" in found["report"]


def test_the_studio_offers_it(found: dict[str, Any]) -> None:
    attack, release = found["forms"]["attack"], found["forms"]["release"]
    assert "toy-attack" in attack["attack"]
    assert attack["doubt"] == ["toy-attack"]
    assert "toy-method" in release["method"]
    assert release["pace"] == ["toy-method"]
    assert "toy-method" in release["hierarchy"]
    assert "toy-method" in found["forms"]["compare"]["methods"]


@pytest.mark.parametrize("toy", TOYS)
def test_the_reference_shows_it(found: dict[str, Any], toy: str) -> None:
    assert f"::: starshade.Toy{toy.title()}" in found["reference"]
    table = found["settings"].partition(f"### `toy-{toy}`\n")[2].partition("###")[0]
    assert f"| `{SETTINGS[toy]}` |" in table
