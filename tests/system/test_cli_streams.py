"""Streams that are closed or narrow, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_COMMAND = f'"{sys.executable}" -m starshade'


def bash(script: str, folder: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", script.replace("starshade", _COMMAND, 1)],
        capture_output=True,
        cwd=folder,
        env={**os.environ, **env},
    )


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams(ratings_csv: Path, tmp_path: Path, closed: str) -> None:
    done = bash(f"starshade data describe {ratings_csv} --json {closed}", tmp_path)
    lost = ">&-" in closed.replace("2>&-", "")
    assert done.returncode == (2 if lost else 0), done.stderr
    assert bool(done.stdout) == (not lost)
    assert (b"--json: standard output is closed" in done.stderr) == (closed == ">&-")
    refused = bash(f"starshade data describe nothing {closed}", tmp_path)
    assert refused.returncode == 2
    assert refused.stdout == b""  # what belongs on stderr goes nowhere else
    made = bash(f"starshade data convert {ratings_csv} --out made.csv {closed}", tmp_path)
    assert made.returncode == 0
    assert (tmp_path / "made.csv").read_bytes().startswith(b"userId,")


def test_a_full_disk_is_told_of_the_stream_that_met_it(ratings_csv: Path, tmp_path: Path) -> None:
    made = bash(f"starshade data convert {ratings_csv} --out made.csv > /dev/full", tmp_path)
    assert made.returncode == 2
    assert b"Error: standard output: the result could not be printed, no space left" in made.stderr
    assert b"complete before: made.csv" in made.stderr
    assert (tmp_path / "made.csv").exists()
    logged = bash(f"starshade data describe {ratings_csv} --log-file /dev/full", tmp_path)
    assert logged.returncode == 2
    assert b"Error: --log-file /dev/full: is a device, not a regular file\n" in logged.stderr


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_streams_that_know_ascii_only(
    ratings_csv: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    told = bash(f"starshade data describe {ratings_csv}", tmp_path, **env)  # has bars
    assert told.returncode == 0, told.stderr
    assert "\\u2588" in told.stdout.decode("ascii")


def test_json_stays_json_in_ascii(ratings_csv: Path, tmp_path: Path) -> None:
    script = f"starshade data convert {ratings_csv} --out d\xe9 --json"
    out = bash(script, tmp_path, PYTHONIOENCODING="ascii")
    assert out.returncode == 0, out.stderr
    assert json.loads(out.stdout.decode("ascii"))["out"] == "d\xe9"


def test_a_folder_whose_name_is_no_text(ratings_csv: Path, tmp_path: Path) -> None:
    script = f"starshade anonymize {ratings_csv} --method k-exchange --k 4 --seed 1 --out $'b\\xff'"
    for kind in ("", " --json"):
        out = bash(script.replace("xff'", f"xff{kind[3:4]}'") + kind, tmp_path)
        assert out.returncode == 0, out.stderr
        assert b"\\udcff" in out.stdout
    assert json.loads(out.stdout)["out"] == "b\udcffj"
    checked = bash("starshade check $'b\\xff'", tmp_path)
    assert checked.returncode == 0, checked.stderr
    again = bash(script, tmp_path)
    assert again.returncode == 2
    assert b"b\\udcff: exists already" in again.stderr
