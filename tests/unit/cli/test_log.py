from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from starshade import progress
from starshade.cli import Door
from starshade.cli import main as starshade
from starshade.cli.options.shared import Reading, reading
from starshade.cli.running.run import Run, running
from starshade.cli.running.watch import Log
from starshade.errors import ConfigError, OutputError


@pytest.fixture
def main() -> click.Group:
    @click.group(cls=Door)
    def main() -> None: ...

    @click.command()
    @reading()
    @click.argument("argument", default="")
    @running(seed=True)
    def do(argument: str, reading: Reading, run: Run) -> None:
        progress.note("row 7 of user Ada")
        if run.seed:
            raise ConfigError("item Alien twice")

    main.get_command = lambda context, name: do  # type: ignore[method-assign]
    return main


def test_neither_arguments_nor_seeds_are_kept(main: click.Group, tmp_path: Path) -> None:
    log = tmp_path / "log"
    given = CliRunner().invoke(main, ["do", "/home/ada/x", "--seed", "734", "--log-file", str(log)])
    drawn = CliRunner().invoke(main, ["do", "--log-file", str(log)])
    assert given.exit_code == drawn.exit_code == 2
    text = log.read_text()
    assert text.count("error Error: item Alien twice\n") == 2
    assert text.count(": do\n") == 2
    seed = drawn.stderr.split("seed ")[1].split()[0]
    assert int(seed) > 0
    for kept_apart in ("/home/ada", "734", seed, "--"):
        assert kept_apart not in text


def test_values_that_may_be_shown_are_not_kept(main: click.Group, tmp_path: Path) -> None:
    log = tmp_path / "log"
    told = CliRunner().invoke(main, ["do", "--show-values", "--log-file", str(log)])
    assert "Ada" in told.stderr
    assert "Alien" in told.stderr
    text = log.read_text()
    assert " note (" in text
    assert " error (" in text
    assert "Ada" not in text
    assert "Alien" not in text


def test_names_that_are_no_text_are_kept_as_escapes(main: click.Group, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as file:
        file.write("before\n")

    @click.command()
    @running()
    def do(run: Run) -> None:
        progress.note("b\udcffd")

    main.get_command = lambda context, name: do  # type: ignore[method-assign]
    assert CliRunner().invoke(main, ["do", "--quiet", "--log-file", str(log)]).exit_code == 0
    assert "note b\\udcffd\n" in log.read_text()


def test_no_password_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "log"
    given = ("data", "describe", "host=db user=eve password='Kiwi Fig'", "--log-file", str(log))
    said = CliRunner().invoke(starshade, given)
    assert said.exit_code == 2
    for text in (said.stderr, log.read_text()):
        assert "host=db user=eve password=***" in text
        assert "Kiwi" not in text
        assert "Fig" not in text


def test_a_full_disk_is_an_error_of_the_log() -> None:
    with open("/dev/full", "w") as full:
        log = Log(full)
        with pytest.raises(OutputError, match="--log-file /dev/full: No space left on device"):
            log.write("note", "row 7")
        log.write("error", "row 8")  # closed: it says nothing more
