"""The real command line, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.system.conftest import Demo, Made, refused

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.slow
def test_demo_tells_the_story(shell: Shell, tmp_path: Path) -> None:
    out = shell("demo", "--seed", 1)
    assert out.returncode == 0, out.stderr
    for text in (
        "Attack on the original data",
        "PASS  policy partner v1",
        "held-out RMSE",
        "starshade-demo/",
    ):
        assert text in out.stdout
    assert (tmp_path / "starshade-demo" / "release.json").is_file()
    assert "4/4" in out.stderr
    again = shell("demo")
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert "1/4" not in again.stderr  # told before the work
    assert again.stdout == ""


def test_demo_in_figures(demo: Demo) -> None:
    found = demo.found
    assert demo.result.stderr == ""
    assert found["attack_before"]["expected_top1"] > 0.9
    assert found["audit"]["verdict"] == "PASS"
    assert found["audit"]["attack_after"]["credit"] == "linked"
    assert found["audit"]["attack_after"]["expected_top1"] <= 1 / 5
    assert found["seconds"] < 60


def test_nothing_but_the_object_is_on_stdout(shell: Shell, ratings_csv: Path) -> None:
    out = shell("data", "describe", ratings_csv, "--json")
    assert json.loads(out.stdout)["users"] == 120
    assert out.stderr  # the notes are there, and only there
    quiet = shell("data", "describe", ratings_csv, "--json", "--quiet")
    assert quiet.stderr == ""


def test_exit_codes(shell: Shell, made: Made, ratings_csv: Path) -> None:
    assert shell("check", made.folder).returncode == 0
    assert shell("check", made.folder, "--k", 60).returncode == 1
    out = shell("check", "nothing")
    assert (out.returncode, out.stdout) == (2, "")
    assert "Traceback" not in out.stderr
    for args in (["check", "nothing"], ["check"], ["no-such-command"], ["check", "x", "--what"]):
        assert refused(*args).startswith("Error: ")


def test_version(shell: Shell) -> None:
    import starshade

    assert shell("--version").stdout.split()[-1] == starshade.__version__


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "starshade", "demo", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("2/4"):
            break
    process.send_signal(number)
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 128 + number
    assert errors.rstrip().endswith("Interrupted; nothing was written.")
    assert "Traceback" not in errors
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told(shell: Shell, ratings_csv: Path, tmp_path: Path) -> None:
    import resource

    def small_files_only() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    # what is compiled before would be cached on the "full" disk too
    shell("data", "convert", ratings_csv, "--out", "before.csv")
    out = shell(
        *("data", "convert", ratings_csv, "--out", "after.csv"),
        preexec_fn=small_files_only,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert out.returncode == 2
    assert "exceeds the largest file size allowed here" in out.stderr
    assert "Traceback" not in out.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"before.csv"}


@pytest.mark.slow
def test_a_killed_save_leaves_nothing_that_looks_like_a_release(
    ratings_csv: Path, tmp_path: Path, shell: Shell
) -> None:
    made = ["--k", "3", "--items", "top:10", "--out", str(tmp_path / "out")]
    command = ["anonymize", str(ratings_csv), *made]
    process = subprocess.Popen([sys.executable, "-m", "starshade", *command, "--quiet"])
    while process.poll() is None and not os.listdir(tmp_path):
        time.sleep(0.001)  # until the save has begun
    process.kill()
    process.wait()
    left = os.listdir(tmp_path)
    if "out" not in left:  # else the machine was faster than the signal: then it must be whole
        assert all(name.startswith(".tmp-") for name in left)
        assert shell(*command).returncode == 0
    assert os.listdir(tmp_path) == ["out"]  # what was left behind has been swept away
    assert shell("check", tmp_path / "out").returncode == 0
