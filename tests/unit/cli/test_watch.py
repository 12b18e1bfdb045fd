"""Bars on a terminal: what, how far, how long still; nothing where nobody sees them."""

from __future__ import annotations

import io
import re
import sys
from time import sleep

import pytest

from starshade import progress
from starshade.cli.running import errors, watch
from starshade.cli.running.watch import Log, Terminal

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def words(self) -> str:
        return _CONTROL.sub("", self.getvalue())

    def shows(self, *words: str) -> bool:
        """Wait for words: rich draws on a thread of its own."""
        for _ in range(1500):
            if all(word in self.words for word in words):
                return True
            sleep(0.01)
        return False


def look(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Be a terminal from here on; no fixture, as pytest has a stderr for each phase of a test."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return screen


def test_it_says_what_how_far_and_how_long_still(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)
    with progress.watch(Terminal()), progress.task("reading [stars]", 4) as step:
        for _ in range(3):
            sleep(0.06)
            step(1)
        assert screen.shows("reading [stars]", "75%", "0:00:00")
        assert "left" in screen.words or "almost done" in screen.words
    assert screen.getvalue().rstrip("\r\n").endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A"))


def test_where_nothing_is_announced_it_says_that_there_is_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = look(monkeypatch)
    monkeypatch.setattr(watch, "_PATIENCE", 0.01)
    terminal = Terminal()
    assert screen.shows("starting")
    with progress.watch(terminal), progress.task("reading", 2):
        assert screen.shows("reading")
    assert screen.shows("working")
    terminal.close()
    shown = screen.getvalue()
    sleep(0.1)
    assert screen.getvalue() == shown, "closed is closed"


def test_what_is_quick_shows_no_bar_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)
    monkeypatch.setattr(watch, "_PATIENCE", 600)  # however busy the machine is
    Terminal().close()
    assert screen.getvalue() == ""


def test_of_many_bars_the_outermost_with_steps_and_the_innermost_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = look(monkeypatch)
    task = progress.task
    with progress.watch(Terminal()), task("auditing"), task("comparing", 9), task("attack", 6):
        with task("ranking", 900):
            screen.truncate(0)
            assert screen.shows("comparing", "ranking")
        screen.truncate(0)
        assert screen.shows("comparing", "attack")
        screen.truncate(0)
        assert screen.shows("attack")
        assert "auditing" not in screen.words
        assert "ranking" not in screen.words


def test_notes_stand_above_the_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)
    with progress.watch(Terminal()), progress.task("reading", 2):
        progress.note("a [red]note[/red] of ours")
        assert screen.shows("a [red]note[/red] of ours")


def test_quiet_announces_a_first_compilation_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = io.StringIO()
    with progress.watch(Terminal(quiet=True, log=Log(kept))), progress.silence():
        progress.insist("compiling 3 kernels")
        progress.insist("compiling the attack")
        progress.note("seed 7")
    assert capsys.readouterr().err == "compiling 3 kernels\n"
    assert kept.getvalue().count("compiling") == 2  # the log keeps every note


def test_quiet_is_quiet_and_the_log_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)
    kept = io.StringIO()
    with progress.watch(Terminal(quiet=True, log=Log(kept))), progress.task("reading", 1) as step:
        progress.note("two rows merged")
        step(1)
    assert screen.getvalue() == ""
    assert kept.getvalue().endswith(" note two rows merged\n")


def test_elsewhere_there_are_notes_and_no_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress.watch(Terminal()), progress.task("reading", 1) as step:
        progress.note("two rows merged")
        step(1)
    assert file.getvalue() == "two rows merged\n"


def test_no_message_steers_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal().note("nix\x1b[31m.csv:\nread\u202e")
    kept = io.StringIO()
    Log(kept).write("note", "a\r\x1b[31mb")
    errors._say("no such file: nix\x1b[31m.csv\nName another.")
    err = capsys.readouterr().err
    assert err.splitlines() == [
        *("nix\\x1b[31m.csv:", "read\\u202e"),
        *("no such file: nix\\x1b[31m.csv", "Name another."),
    ]
    assert kept.getvalue().endswith("note a\\r\\x1b[31mb\n")
    screen = look(monkeypatch)
    terminal = Terminal()
    terminal.stop(terminal.start("reading \x1b[31mx", 2))
    terminal.close()
    assert "\x1b[31mx" not in screen.getvalue()
