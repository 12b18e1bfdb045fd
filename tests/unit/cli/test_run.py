from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from starshade import budget, progress
from starshade.cli import Door
from starshade.cli.options.shared import Reading, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, page, words
from starshade.cli.show import command as show_command
from starshade.errors import ConfigError
from starshade.figure import Figure, number
from starshade.plain import percent


def invoke(command: Any, *args: str, seed: bool = False) -> Result:
    @click.group(cls=Door)
    def main() -> None: ...

    shared = click.command(name="do")(running(seed=seed)(command))
    main.table = {"do": ""}
    main.get_command = lambda context, name: shared  # type: ignore[method-assign]
    return CliRunner().invoke(main, ["do", *args])


def emit(**figures_: Any) -> Any:
    def command(run: Run) -> None:
        progress.note("something worth knowing")
        run.emit(figures_, lambda: words("a summary [25, 35] of it"))

    return command


def test_json_is_one_object_and_nothing_else() -> None:
    result = invoke(
        emit(
            a=np.int64(3),
            b=np.float64("nan"),
            c=math.inf,
            d=[np.bool_(True), (1, None)],
            e={"x": np.array([1.5])},
            f=Path("out"),
        ),
        "--json",
    )
    expected = {
        "schema": 2,
        "a": 3,
        "b": None,
        "c": None,
        "d": [True, [1, None]],
        "e": {"x": [1.5]},
        "f": "out",
    }
    assert json.loads(result.stdout) == expected
    assert result.stdout.count("\n") == 1


def test_a_result_of_another_kind_is_our_bug() -> None:
    assert invoke(emit(a=object()), "--json").exit_code == 3


def test_without_json_a_summary_stands_on_stdout_as_it_is() -> None:
    result = invoke(emit(a=1))
    assert result.stdout == "a summary [25, 35] of it\n"
    assert result.stderr == "something worth knowing\n"


def test_quiet_is_quiet() -> None:
    assert invoke(emit(a=1), "--quiet").stderr == ""


def test_the_limits_hold_while_the_command_runs() -> None:
    def command(run: Run) -> None:
        run.emit({"memory": budget.memory(), "threads": budget.threads()}, lambda: None)

    result = invoke(command, "--json", "--memory", "3G", "--threads", "1")
    assert json.loads(result.stdout) == {"schema": 2, "memory": 3_000_000_000, "threads": 1}


@pytest.mark.parametrize(
    "bad",
    [["--memory", "much"], ["--threads", "0"], ["--threads", "many"], ["--seed", "-1"]],
)
def test_bad_shared_options(bad: list[str]) -> None:
    result = invoke(emit(a=1), *bad, seed=True)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_seed_is_drawn_and_told() -> None:
    def command(run: Run) -> None:
        run.emit({"seed": run.seed}, lambda: None)

    assert json.loads(invoke(command, "--json", "--seed", "7", seed=True).stdout)["seed"] == 7
    drawn = invoke(command, "--json", seed=True)
    seed = json.loads(drawn.stdout)["seed"]
    assert f"--seed {seed} " in drawn.stderr
    assert json.loads(invoke(command, "--json", seed=True).stdout)["seed"] != seed


def test_a_seed_that_nobody_asked_for_is_not_told() -> None:
    def command(run: Run) -> None:
        raise ConfigError("refused before anything was drawn")

    result = invoke(command, seed=True)
    assert result.exit_code == 2
    assert "seed" not in result.stderr


def test_figures_are_shown_by_their_titles() -> None:
    found = [
        Figure("dm", "Discernibility (DM)", "count").of(1200),
        Figure("c_avg", "Average class size (C_AVG)", "ratio"),
        Figure("users_rating_exists", "People", "share").of(0.0),
    ]

    def command(run: Run) -> None:
        run.emit({}, lambda: figures(found))

    rows = dict(line.split("  ") for line in _packed(invoke(command).stdout))
    assert rows == {"Discernibility (DM)": "1,200", "People": "0.0%"}


def _packed(shown: str) -> list[str]:
    return [re.sub(r" {2,}", "  ", line.strip()) for line in shown.splitlines()]


def test_a_command_to_be_copied_is_one_quoted_line() -> None:
    def shown(run: Run) -> None:
        run.emit({}, lambda: page(words("Next:"), show_command("do", "a b", "x" * 200)))

    assert invoke(shown).stdout.splitlines()[-1] == f"  do 'a b' {'x' * 200}"


def test_reading_options_can_be_said_again() -> None:
    said = ["--null", "99", "--null=-1", "--scale=-10:10", "--no-header", "--wide", "--items", "x"]
    again: list[list[str]] = []

    @click.command()
    @reading()
    def do(reading: Reading) -> None:
        again.append(reading.arguments())

    assert CliRunner().invoke(do, said).exit_code == 0
    assert sorted(again[0]) == sorted([x for x in said if x not in ("--items", "x")])
    assert CliRunner().invoke(do, again[0]).exit_code == 0
    assert again[1] == again[0]
    assert CliRunner().invoke(do, []).exit_code == 0
    assert again[2] == []


def test_the_log_file_keeps_notes_and_errors(tmp_path: Path) -> None:
    def command(run: Run) -> None:
        progress.note("a note")
        raise ConfigError("a mistake", advice="an advice")

    log = tmp_path / "log"
    for _ in range(2):
        assert invoke(command, "--quiet", "--log-file", str(log)).exit_code == 2
    text = log.read_text()
    assert text.count(" note a note\n") == 2
    assert text.count(" error Error: a mistake | an advice\n") == 2
    assert text.count(" start starshade ") == 2


def test_a_log_file_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    result = invoke(emit(a=1), "--log-file", str(tmp_path / "no" / "log"))
    assert result.exit_code == 2
    assert "--log-file" in result.stderr
    assert result.stdout == ""


def test_a_reader_that_has_gone_is_no_error() -> None:
    code = (
        "import click\n"
        "from starshade.cli.running.run import Run, running\n"
        "from starshade.cli import Door\n"
        "@click.group(cls=Door)\n"
        "def main(): ...\n"
        "@click.command()\n"
        "@click.pass_context\n"
        "@running()\n"
        "def do(context, run):\n"
        "    run.emit({'a': 'x' * 1000000}, lambda: None)\n"
        "    context.exit(5)\n"
        "main.get_command = lambda context, name: do\n"
        "main()\n"
    )
    shell = f'{sys.executable} -c "$CODE" do --json | head -c 1; exit ${{PIPESTATUS[0]}}'
    out = subprocess.run(
        ["bash", "-c", shell], env={**os.environ, "CODE": code}, capture_output=True, text=True
    )
    assert (out.stdout, out.stderr, out.returncode) == ("{", "", 5)


def test_names_from_data_are_no_markup() -> None:
    def command(run: Run) -> None:
        parts = page(
            figures([("[red]name", "[bold]x"), ("absent", None), ("count", 1234)]),
            columns(["[i]head"], [["[b]cell"]], title="[u]title"),
            None,
            words(
                f"{percent(0.5)} {percent(None)} {percent(math.nan)} {number(None)} {number(0.5)}"
            ),
        )
        run.emit({}, lambda: parts)

    out = invoke(command).stdout
    for text in ("[red]name", "[bold]x", "1,234", "[i]head", "[b]cell", "[u]title"):
        assert text in out
    assert "50.0% – – – 0.5" in out
    assert "absent" not in out


def test_errors_have_four_decimals() -> None:
    told = [Figure("e", "E", "error").of(value).text for value in (1.01039, 0.7, None)]
    assert told == ["1.0104", "0.7000", "–"]
    assert Figure("gen_iloss", "Loss", "ratio").of(0.3273).text == "0.3273"
