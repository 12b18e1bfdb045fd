"""The PDF of a report: what a browser is asked for, and what becomes of what it does."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from starshade.errors import OutputError
from starshade.report import pdf
from starshade.report.pdf import BROWSERS, find_browser, pdf_command, save_pdf
from starshade.scratch import sweep_scratch

Browser = Callable[..., str]
_PRINTS = 'for a in "$@"; do case $a in --print-to-pdf=*) {};; esac; done'


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "a report.html"
    file.write_text("<p>A page.</p>")
    return file


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """Write a stand-in for a browser that does what a line of shell says."""

    def write(line: str, name: str = "chromium") -> str:
        place = tmp_path / "bin"
        place.mkdir(exist_ok=True)
        (place / name).write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\n{line}\n')
        (place / name).chmod(0o755)
        return str(place / name)

    return write


def printing(text: str) -> str:
    return _PRINTS.format(f"printf '{text}' > \"${{a#--print-to-pdf=}}\"")


def test_what_a_killed_command_leaves_is_removed_by_the_next(
    report: Path, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "temporary"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    kill = browser(f"{printing('%%PDF-1.4')}; kill -9 $PPID")
    code = f"from starshade.report.pdf import save_pdf; save_pdf({str(report)!r}, "
    code += f"{str(tmp_path / 'r.pdf')!r}, {kill!r}, public=False)"
    killed = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(room)})
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "r.pdf").exists()
    assert list(room.rglob("report.pdf"))
    sweep_scratch()
    assert not list(room.iterdir())


@pytest.mark.parametrize(("public", "mode"), [(True, 0o644), (False, 0o600)])
def test_it_is_printed_with_the_rights_of_its_report(
    public: bool, mode: int, report: Path, browser: Browser, tmp_path: Path
) -> None:
    command = browser(printing("%%PDF-1.4"))
    out = save_pdf(report, tmp_path / "r.pdf", command, public=public)
    assert out.read_bytes() == b"%PDF-1.4"
    assert stat.S_IMODE(out.stat().st_mode) & ~0o022 == mode & ~0o022
    words = (tmp_path / "words").read_text()
    assert "--headless --no-pdf-header-footer" in words
    assert words.strip().endswith("/a%20report.html")
    assert ("--no-sandbox" in words) == (os.geteuid() == 0)
    [profile] = [word for word in words.split() if word.startswith("--user-data-dir=")]
    assert not Path(profile.partition("=")[2]).parent.exists()


FAILURES = {
    "echo 'line one'; echo 'no display' >&2; exit 7": "exit code 7: no display",
    "exit 0": "no PDF was written",
    printing("<html>"): "no PDF was written",
}


@pytest.mark.parametrize("line", FAILURES)
def test_a_browser_that_fails(line: str, report: Path, browser: Browser, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=FAILURES[line]) as refused:
        save_pdf(report, tmp_path / "r.pdf", browser(line), public=False)
    assert f"The report itself is written: {report}" in refused.value.advice
    assert report.exists()
    assert not [path for path in tmp_path.iterdir() if "pdf" in path.name]


def test_a_browser_that_hangs(
    report: Path, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "_SECONDS", 0.2)
    begun = time.monotonic()
    with pytest.raises(OutputError, match=r"not finished after 0\.2 seconds"):
        save_pdf(report, tmp_path / "r.pdf", browser("exec sleep 60"), public=False)
    assert time.monotonic() - begun < 30


def test_a_browser_that_hangs_ends_with_what_it_started(
    report: Path, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "_SECONDS", 1)
    line = f"sleep 300 & echo $! > {tmp_path}/child; wait"
    with pytest.raises(OutputError, match="not finished"):
        save_pdf(report, tmp_path / "r.pdf", browser(line), public=False)
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_one_that_cannot_be_started(report: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file"):
        save_pdf(report, tmp_path / "r.pdf", str(tmp_path / "none"), public=False)


def test_a_pdf_never_enters_a_release_nor_overwrites(
    report: Path, browser: Browser, tmp_path: Path
) -> None:
    release = tmp_path / "release"
    release.mkdir()
    for name in ("release.json", "cells.parquet"):
        (release / name).write_text("{}")
    command = browser(printing("%%PDF-1.4"))
    with pytest.raises(OutputError, match="inside the release"):
        save_pdf(report, release / "r.pdf", command, public=True)
    (tmp_path / "r.pdf").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        save_pdf(report, tmp_path / "r.pdf", command, public=True)
    assert (tmp_path / "r.pdf").read_text() == "mine"
    assert len(list(release.iterdir())) == 2


def test_the_first_browser_that_is_installed_is_taken(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_browser() is None
    for name in reversed(BROWSERS):
        command = browser("exit 0", name)
        assert find_browser() == command


def test_the_command_to_type_quotes_names() -> None:
    words = shlex.split(pdf_command("my report.html", "my report.pdf"))
    assert words[0] == BROWSERS[0]
    assert words[-2:] == ["--print-to-pdf=my report.pdf", "my report.html"]
