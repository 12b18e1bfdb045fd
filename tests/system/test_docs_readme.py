"""``README.md`` is short, quotes what is printed, and its commands and lines run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import starshade as ss
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.write import write_ratings
from tests.system import pages
from tests.system.conftest import call

PAGE = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_it_is_short_and_begins_with_two_commands() -> None:
    assert len(PAGE.splitlines()) <= 140
    block = PAGE[PAGE.index("## Set up") :].split("```console\n")[1].split("```")[0]
    assert re.findall(r"^\$ (\S+)", block, re.M) == ["python3", "."]
    targets = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "docs"):
        assert f"`make {target}`" in PAGE
        assert f"\n{target}: " in targets


def test_the_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    code, read = re.subn(r"^ratings = .*$", "", block, flags=re.M)
    assert read == 1
    names: dict[str, Any] = {"ratings": synthesize(n_users=60, n_items=20, n_ratings=600, rng=0)}
    exec(code, names)
    assert sum(names["release"].to_scipy()[1]) <= 60
    assert names["table"].classes.n_items == 10


@pytest.mark.real
def test_what_it_quotes_is_printed(
    ml100k_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ratings.csv").symlink_to(ml100k_dir / "u.data")
    section = PAGE[PAGE.index("## Your own file") :]
    commands = re.findall(r"^\$ starshade (.*)$", section.split("```")[1], re.M)
    (quoted,) = re.findall(r"```text\n(.*?)```", section, re.S)
    assert [command.split()[0] for command in commands] == ["data", "anonymize", "audit"]
    for command in commands[1:]:
        result = call(*shlex.split(command), "--seed", 1)
    pages.compare(quoted, result.stdout, commands[-1])


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize(("column", "options"), [(1, ()), (2, ("--items", "top:10"))])
def test_the_figures_of_its_table_are_measured(
    column: int, options: tuple[str, ...], ml100k_dir: Path, tmp_path: Path
) -> None:
    rows = [
        [cell.strip() for cell in line.strip("| \n").split("|")]
        for line in PAGE[: PAGE.index("## Set up")].splitlines()
        if line.startswith("| ") and not line.startswith("| MovieLens")
    ]
    table = {cells[0].split(",")[0].split(" (")[0]: cells[1:][column] for cells in rows}
    data, out, key = ml100k_dir / "u.data", tmp_path / "release", tmp_path / "key.json"
    call("anonymize", data, "--k", 5, *options, "--out", out, "--private", key, "--seed", 1)
    printed = call("audit", data, out, "--private", key, "--seed", 1, "--json").stdout
    audit = json.loads(printed)
    checks = {
        check["name"]: check for check in reversed(audit["checks"]) if check["known"] in (8, None)
    }
    utility = audit["utility_round"]

    def percent(value: float) -> str:
        return f"{100 * value:.1f} %"

    assert table["Re-identification"] == percent(checks["re-identification"]["value"])
    assert table["Class linkage"] == percent(checks["class-linkage"]["value"])
    aucs = [cells[1:][column] for cells in rows if cells[0].startswith("Membership inference")]
    assert aucs == [
        percent(checks[name]["other_values"]["AUC"]["rate"])
        for name in ("membership", "membership-all")
    ]
    assert table["Inference gain"] == percent(checks["inference"]["value"])
    within = utility["recoverable_within_step"]
    assert table["Utility: ratings recoverable within ±1 step"] == percent(within)
    read, original = utility["held_out_read"], utility["held_out_original"]
    shown = f"{read:.3f}" if read < 1 else f"{read:.2f}"
    errors = f"{shown} ({original:.3f})".replace("0.", ".")
    covered = percent(utility["held_out_covered"])
    assert table["RMSE on held-out ratings"] == f"{errors} on {covered} of them"
    assert percent(utility["utility_suppressed"]) in table["Changed"]
    assert table["Verdict by the policy `partner`"] == audit["verdict"]


#: set-up, and the studio's server, which other tests start
ELSEWHERE = ("python3", ". .venv", "starshade studio")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["made up", pytest.param("MovieLens", marks=pytest.mark.real)])
def test_every_command_runs_in_order(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """A check may fail (1); no command may be refused (2)."""
    if kind == "MovieLens":
        folder = request.getfixturevalue("ml100k_dir")
        ratings = ss.read_ratings(folder / "u.data", users=folder / "u.user")
    else:
        ratings = synthesize(n_users=200, n_items=100, n_ratings=6000, rng=1)
    monkeypatch.chdir(tmp_path)
    for name in ("ratings.csv", "u.data"):
        write_ratings(ratings, name)
    steps = [each for each in pages.steps("../README.md") if not each.command.startswith(ELSEWHERE)]
    assert len(steps) > 6
    for step in steps:
        words = shlex.split(step.command, comments=True)
        assert words[0] == "starshade", step.command
        unattended = ["--yes"] if words[1] == "init" else []
        result = call(*words[1:], *unattended)
        assert result.exit_code in (0, 1), f"{step.command}\n{result.stderr}"
