"""The real command on a real terminal: bars there, the result on stdout; --quiet, --log-file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(*args: str, folder: Path) -> tuple[str, str]:
    """Run a command with a terminal as its stderr; return stdout and what the terminal got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "starshade", *args],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # the other side was closed
        pass
    os.close(ours)
    out, _ = process.communicate(timeout=240)
    assert process.returncode == 0, seen
    return out.decode(), _CONTROL.sub("", seen.decode())


SYNTH = ("data", "synth", "--n-users", "300", "--n-items", "40", "--n-ratings", "6000", "--json")


def test_bars_go_to_the_terminal_and_the_result_to_stdout(tmp_path: Path) -> None:
    out, seen = on_a_terminal(*SYNTH, "--out", "store", folder=tmp_path)
    assert json.loads(out)["ratings"] == 6000
    assert "generating ratings" in seen
    assert "seed " in seen
    assert "{" not in seen


def test_quiet_is_silent_and_the_log_says_what_was_to_be_said(tmp_path: Path) -> None:
    out, seen = on_a_terminal(
        *SYNTH, "--out", "store", "--quiet", "--log-file", "log", folder=tmp_path
    )
    assert json.loads(out)["ratings"] == 6000
    assert seen == ""
    log = (tmp_path / "log").read_text()
    assert " start starshade " in log
    assert "generating ratings" not in log, "bars are for people who watch"
