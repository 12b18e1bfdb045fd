"""What a nightly `starshade run` leaves for programs: a log, checks, a link, one line a step."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.project.file import FOLDER
from starshade.ratings.holdout import hold_out
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.write import write_ratings
from tests.system.conftest import call, refused, told
from tests.system.test_cli_project import PROJECT, judged_by, snapshot

STEPS = ["1/5 read: ", "2/5 anonymize: ", "3/5 audit: ", "4/5 report: ", "5/5 publish: "]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    snapshot(tmp_path / "ratings.csv", range(60))
    (tmp_path / "starshade.toml").write_text(PROJECT)
    return tmp_path


def judge(project: Path, *thresholds: str) -> None:
    (project / "starshade.toml").write_text(judged_by(*thresholds))


def reports(project: Path) -> list[str]:
    return sorted(path.name for path in (project / FOLDER / "reports").iterdir())


def last_line(log: Path) -> str:
    return log.read_text().splitlines()[-1].partition(" ")[2]


def test_the_log_ends_with_verdict_exit_code_and_duration(project: Path) -> None:
    log = project / "log"

    def run(code: int) -> str:
        assert call("run", "--quiet", "--seed", 1, "--log-file", log).exit_code == code
        return last_line(log)

    ends = r"; exit code {}; \d+\.\d s"
    passes = r"end PASS \(7 checks without effective threshold\).*" + ends.format(0)
    assert re.fullmatch(passes, run(0))
    assert re.fullmatch(passes, run(0))  # a night without a change
    judge(project, "class-linkage=0")
    found = r"Class linkage \(6 known\): \d+\.\d% \(threshold 0%\)"
    loose = r"\(7 checks without effective threshold\)"
    failed = f"end FAIL {loose}: {found}" + ends.format(1)
    assert re.fullmatch(failed, run(1))
    (project / "ratings.csv").unlink()
    assert re.fullmatch("end" + ends.format(2).removeprefix(";"), run(2))
    assert " error Error: ratings.csv: no such file" in log.read_text()


def test_the_log_of_a_command_that_is_ended_says_so(project: Path) -> None:
    code = "import os, signal; from starshade.project import run as job\n"
    code += f"job.inputs_of = lambda project: os.kill(os.getpid(), {signal.SIGTERM:d})\n"
    code += "from starshade.cli import main; main(['run', '--log-file', 'log'])"
    ended = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True)
    assert ended.returncode == 143
    assert "exit code 143" in last_line(project / "log")


def test_one_line_a_step(project: Path) -> None:
    lines = call("run", "--seed", 1).stderr.splitlines()
    steps = [line for line in lines if re.match(r"\d/5 ", line)]
    assert [step[: len(head)] for step, head in zip(steps, STEPS, strict=True)] == STEPS
    assert all(re.search(r" \(\d+\.\d s\)$", step) for step in steps)
    assert "60 people, 12 items" in steps[0]
    again = call("run").stderr
    assert "nothing has changed" in again
    assert "/5 " not in again


def test_checks_are_those_of_the_audit(project: Path) -> None:
    judge(project, "class-linkage=0", "membership=0.1")
    first = told("run", "--seed", 1, code=1)
    checks: dict[str, dict[str, Any]] = {each["name"]: each for each in first["checks"]}
    status = {name: each["status"] for name, each in checks.items()}
    assert status["class-size"] == status["re-identification"] == "accepted without limit"
    assert status["class-linkage"] == "fail"
    assert (status["membership"], checks["membership"]["value"]) == ("not measured", None)
    assert checks["membership"]["threshold"] == 0.1
    assert status["composition"] == "not applicable"
    linked = checks["class-linkage"]
    assert linked["low"] <= linked["value"] <= linked["high"]
    assert told("run", code=1)["checks"] == first["checks"]  # also where nothing is done

    words = ("--private", Path(first["out"]).parent / "receipt.json", "--seed", 1)
    audited = told("audit", "ratings.csv", first["out"], *words, code=1)
    in_words = {"advice": None}  # names settings as each door does
    pairs = zip(audited["checks"], first["checks"], strict=True)
    assert all(one | in_words == other | in_words for one, other in pairs)


def test_the_link_leads_to_the_newest_release(project: Path) -> None:
    latest = project / "published" / "latest"
    judge(project, "class-linkage=0")
    told("run", "--seed", 1, code=1)
    assert not latest.exists()
    (project / "starshade.toml").write_text(PROJECT)
    for name, people in (("release-1", range(60)), ("release-2", range(2, 64))):
        snapshot(project / "ratings.csv", people)
        assert told("run", "--seed", 1)["release"] == name
        assert os.readlink(latest) == name  # within the folder: it may be copied
    assert sorted(path.name for path in latest.parent.iterdir()) == [
        "latest",
        "release-1",
        "release-2",
    ]
    seen, newest = (told("data", "describe", latest.parent / each) for each in ("latest", name))
    assert {**seen, "seconds": 0} == {**newest, "seconds": 0}


def nightly(project: Path, ratings: Ratings, night: int) -> None:
    """Write what nine of ten rated by the first night, and each night twenty people more."""
    part = ratings.keep_users(np.arange(ratings.n_users - 20 * (3 - night)))
    rest, _ = hold_out(part, 0.05 * (3 - night), rng=0) if night < 3 else (part, None)
    (project / "ratings.csv").unlink(missing_ok=True)
    write_ratings(replace(rest, attributes=None, item_names=None), project / "ratings.csv")


def test_a_release_that_continues_the_last_is_measured(project: Path) -> None:
    ratings = synthesize(n_users=160, n_items=25, n_ratings=3200, rng=4)
    text = PROJECT[PROJECT.index("[release]") :].replace("k-exchange", "predictive")
    head = 'version = 2\n[data]\nratings = "ratings.csv"\nscale = "1:5:1"\n'
    (project / "starshade.toml").write_text(head + text)
    nightly(project, ratings, 2)
    assert told("run", "--seed", 1)["published_by"] == "policy"
    decided = '[audit]\npolicy = "partner"\n'
    (project / "starshade.toml").write_text(head + text[: text.index("[audit]")] + decided)
    nightly(project, ratings, 3)
    last = told("run", "--seed", 3)
    assert (last["release"], last["verdict"]) == ("release-2", "PASS")
    assert {each["status"] for each in last["checks"]} == {"pass", "no threshold"}


@pytest.mark.slow
def test_every_night_of_the_default_method_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ratings = synthesize(n_users=300, n_items=60, n_ratings=6000, rng=1)
    for night in (1, 2, 3):
        nightly(tmp_path, ratings, night)
        if night == 1:
            assert call("init", "ratings.csv", "--yes").exit_code == 0
        done = told("run", "--seed", night)
        assert (done["release"], done["verdict"]) == (f"release-{night}", "PASS")
        rates = {each["name"]: each["value"] for each in done["checks"]}
        for name in ("singling-out", "linkability", "membership", "inference"):
            assert rates[name] is not None


def test_what_lies_in_the_place_of_the_link_stays(project: Path) -> None:
    (project / "published" / "latest").mkdir(parents=True)
    assert "published/latest: contains something" in refused("run")
    assert not (project / "published" / "release-1").exists()


def test_a_run_that_fails_leaves_no_public_report(project: Path) -> None:
    judge(project, "class-linkage=0")
    assert "/5 publish: no" in call("run", "--seed", 1).stderr
    assert reports(project) == ["release-1-at-risk.csv", "release-1.html"]
    assert not list((project / FOLDER / "work").rglob("*public*"))
    (project / "starshade.toml").write_text(PROJECT)
    told("run", "--seed", 1)
    assert reports(project) == [
        "release-1-at-risk.csv",
        "release-1-public.html",
        "release-1.html",
    ]
    judge(project, "class-linkage=0")  # what is published is judged again
    told("run", "--seed", 1, code=1)
    assert reports(project) == ["release-1-at-risk.csv", "release-1.html"]


def test_a_release_that_cannot_be_moved_leaves_no_public_report(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starshade.errors import OutputError
    from starshade.project import work

    def full(source: Path, place: Path) -> None:
        raise OutputError(f"{place}: no space left")

    with monkeypatch.context() as patch:
        patch.setattr(work, "move", full)
        assert "no space left" in refused("run", "--seed", 1)
    assert reports(project) == ["release-1-at-risk.csv", "release-1.html"]
    told("run", "--seed", 1)
    assert reports(project) == [
        "release-1-at-risk.csv",
        "release-1-public.html",
        "release-1.html",
    ]


WITHOUT_READING = """
import resource, sys
from starshade.cli import main
try:
    main(["run"])
except SystemExit as left:
    assert not left.code
heavy = {"starshade.project.work", "starshade.audit.verdict", "pyarrow", "pandas"}
print(sorted(heavy & set(sys.modules)))
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""


def test_a_night_without_a_change_reads_nothing(project: Path) -> None:
    told("run", "--seed", 1)
    words = [sys.executable, "-c", WITHOUT_READING]
    said = subprocess.run(words, cwd=project, capture_output=True, text=True, check=True)
    loaded, seconds = said.stdout.splitlines()[-2:]
    assert loaded == "[]"
    assert float(seconds) <= 2


def test_any_change_of_what_is_read_is_noticed(project: Path) -> None:
    told("run", "--seed", 1)
    ratings = project / "ratings.csv"
    lines = ratings.read_text().splitlines()
    ratings.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    reordered = call("run")
    assert "1/5 read: 60 people" in reordered.stderr  # other bytes, and the same ratings
    assert "Nothing has changed" in reordered.stdout
    assert "nothing has changed" in call("run").stderr
    shutil.copy(ratings, project / "moved.csv")
    text = PROJECT.replace("ratings.csv", "moved.csv")
    (project / "starshade.toml").write_text(text)
    assert "1/5 read: 60 people" in call("run").stderr
