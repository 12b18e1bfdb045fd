"""``starshade reproduce``: what it explains, what a killed run leaves, and a site of all papers."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.reproduction.everything import COLUMNS
from starshade.audit.reproduction.papers import PAPERS
from starshade.errors import OutputError
from tests.system.conftest import call, refused, told
from tests.unit.report.stub_study import PAPER, WAYS

KILLED = """
import os, signal, sys
from starshade.audit.reproduction import papers
from starshade.audit.reproduction.parts import Parts
from starshade.cli import main
if {stub}:
    from tests.unit.report.stub_study import PAPER, WAYS
    papers.PAPERS["kl"] = PAPER
made, kept = [], Parts._kept
def keep(self, name, make):
    if len(made) == {after}:
        os.kill(os.getpid(), signal.{signal})
    made.append(name)
    return kept(self, name, make)
Parts._kept = keep
main()
"""
#: small, but more than one part
QUICK: dict[str, tuple[object, ...]] = {
    "ns": ("--targets", 10),
    "kl": ("--most-k", 3, "--draws", 2),
    "pa": ("--k", "3"),
    "sr": ("--trials", 1, "--repeats", 1, "--top", 5),
}


@pytest.fixture
def stubbed() -> Iterator[None]:
    """Let `reproduce kl` run a study that computes nothing."""
    papers: Any = PAPERS
    before = papers["kl"]
    papers["kl"] = PAPER
    yield
    papers["kl"] = before


def killed(
    out: Path, *args: object, stub: bool = True, after: int = 2, by: str = "SIGKILL"
) -> subprocess.CompletedProcess[str]:
    """Run a study that is killed, or interrupted, before its third part."""
    code = KILLED.format(stub=stub, after=after, signal=by)
    return subprocess.run(
        [sys.executable, "-c", code, "reproduce", *map(str, args), "--out", str(out)],
        capture_output=True,
        text=True,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith("times")}


@pytest.mark.usefixtures("stubbed")
def test_it_explains_without_data() -> None:
    found = told("reproduce", "kl", "--explain")
    assert found["explains"] == "xx"
    assert [c["claim"] for c in found["claims"]] == [f"xx-0{i}" for i in range(1, 9)]
    assert found["claims"][2]["ways"] == list(WAYS.values())
    assert found["claims"][2]["holds_if"] == "least step of the error: at least 0"
    assert found["choices"][0]["as_printed"] is None
    shown = " ".join(call("reproduce", "kl", "--explain").stdout.split())
    for said in (
        "Nobody & Sons, On Nothing (1999)",
        "cannot be run",
        "erratum: Eq. 6",
        "xx-03 Abstract, §5: the error rises",
        "holds if share found: at least 0.8",
        "tried with half stars made whole",
        "judged on the Netflix Prize's ratings alone",
        "cannot be tested stands in a figure",
    ):
        assert said in shown, said


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_every_paper_is_explained(key: str) -> None:
    found = told("reproduce", key, "--explain")
    assert set(found) == {"explains", "authors", "title", "choices", "claims"}
    assert len(found["claims"]) == len(PAPERS[key].claims)


@pytest.mark.usefixtures("stubbed")
def test_a_person_reads_what_holds_and_why_not(ratings_csv: Path) -> None:
    result = call("reproduce", "kl", "--data", ratings_csv, "--seed", 3)
    shown = " ".join(result.stdout.split())
    assert "7 claims of the paper decided by data: 1 holds, 2 do not, 4 cannot be tested." in shown
    assert "Our claims about our own methods" in shown
    assert re.search(r"Table 4 +3 of 4 cells", result.stdout)
    assert re.search(r"\n  verdict +does not hold *\n  cause +holds with half", result.stdout)
    for number in range(1, 9):
        assert f"xx-0{number}" in shown


@pytest.mark.usefixtures("stubbed")
@pytest.mark.parametrize("by", ["SIGKILL", "SIGINT"])
def test_a_run_that_was_cut_short_goes_on(ratings_csv: Path, tmp_path: Path, by: str) -> None:
    request = ("kl", "--data", ratings_csv)
    assert told("reproduce", *request, "--seed", 7, "--out", tmp_path / "whole")["seed"] == 7
    out, kept = tmp_path / "out", tmp_path / "out.parts"
    cut = killed(out, *request, "--seed", 7, by=by)
    assert cut.returncode == (-signal.SIGKILL if by == "SIGKILL" else 130)
    assert by == "SIGKILL" or "--resume continues" in cut.stderr
    assert not out.exists()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert len(list(kept.glob("*.part"))) == 2
    message = refused("reproduce", *request, "--out", out)
    assert "--resume" in message
    assert "delete that folder" in message
    message = refused("reproduce", *request, "--out", out, "--resume", "--seed", 8)
    assert "parts of another run, unlike this one in seed\n" in message
    message = refused("reproduce", *request, "--out", out, "--resume", "--runs", 4, "--draws", 3)
    assert "parts of another run, unlike this one in draws, runs\n" in message
    message = refused("reproduce", "kl", "--out", out, "--resume")
    assert "parts of another run, unlike this one in data\n" in message
    found = told("reproduce", *request, "--out", out, "--resume")
    assert found["seed"] == 7
    assert contents(out) == contents(tmp_path / "whole")
    assert not kept.exists()


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(QUICK))
def test_a_real_study_goes_on_and_writes_the_same(
    key: str, ratings_csv: Path, tmp_path: Path
) -> None:
    request = (key, "--data", ratings_csv, "--seed", 7, "--runs", 2, *QUICK[key])
    told("reproduce", *request, "--out", tmp_path / "whole")
    out = tmp_path / "out"
    cut = killed(out, *request, stub=False)
    if cut.returncode == 0:
        pytest.skip("it keeps no parts")
    assert cut.returncode == -signal.SIGKILL
    told("reproduce", *request, "--out", out, "--resume")
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.usefixtures("stubbed")
def test_what_is_no_parts_is_left_alone(ratings_csv: Path, tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "out.parts"
    request = ("reproduce", "kl", "--data", ratings_csv, "--out", out)
    assert "requires --out" in refused("reproduce", "kl", "--resume")
    assert "--data is missing" in refused("reproduce", "ns")
    kept.mkdir()
    (kept / "letter.txt").write_text("dear")
    for more in ((), ("--resume",)):
        assert "has no parts" in refused(*request, *more)
    (kept / "request.json").write_text("{")
    assert "damaged" in refused(*request, "--resume")
    assert (kept / "letter.txt").read_text() == "dear"
    shutil.rmtree(kept)
    for lay in (kept.touch, lambda: kept.symlink_to(tmp_path / "nowhere")):
        lay()
        assert "no parts of a run" in refused(*request, "--resume")
        assert os.path.lexists(kept)
        kept.unlink()
    kept.mkdir()  # as by a run that was killed when it had removed its parts
    told(*request, "--resume", "--seed", 1)
    assert not kept.exists()


@pytest.mark.usefixtures("stubbed")
def test_to_resume_where_nothing_was_begun_begins(tmp_path: Path) -> None:
    assert told("reproduce", "kl", "--out", tmp_path / "out", "--resume", "--seed", 1)["seed"] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_a_refused_demo_sweeps_reports_that_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / f".tmp-d-report.html-{'0' * 16}").touch()
    assert "exists already" in refused("demo", "--out", tmp_path / "d")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@pytest.fixture
def alone(stubbed: None) -> Iterator[None]:
    """Let there be one paper, that nobody wrote."""
    papers: Any = PAPERS
    before = dict(papers)
    papers.clear()
    papers["xx"] = PAPER
    yield
    papers.clear()
    papers.update(before)


@pytest.mark.usefixtures("alone")
def test_a_site_of_all_papers(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    found = told("reproduce", "all", "--data", ratings_csv, "--out", out, "--seed", 3, "--runs", 2)
    names = {"index.html", "xx.html", "times.html", "claims.csv"}
    assert {path.name for path in out.iterdir()} == names
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert set(found["studies"]) == {"xx"}
    assert found["summary"][0].startswith("7 claims of 1 paper decided by data: 1 holds")
    assert json.loads(json.dumps(found["studies"]["xx"]["runs"])) == 2
    shown = call("reproduce", "all", "--data", ratings_csv, "--out", tmp_path / "b", "--seed", 3)
    assert "begin with index.html" in " ".join(shown.stdout.split())
    assert "exists already" in refused("reproduce", "all", "--data", ratings_csv, "--out", out)


@pytest.mark.usefixtures("alone")
def test_a_site_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starshade.cli.report.find_spec", lambda name: None)
    message = refused("reproduce", "all", "--out", tmp_path / "site")
    assert "pip install 'starshade[report]'" in message


@pytest.mark.usefixtures("alone")
def test_a_paper_that_the_data_cannot_serve_is_left_out(
    ratings_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starshade.errors import ConfigError

    def cannot(*args: Any, **settings: Any) -> None:
        raise ConfigError("these data have no dates at all")

    monkeypatch.setattr("tests.unit.report.stub_study.reproduce", cannot)
    found = told("reproduce", "all", "--data", ratings_csv, "--out", tmp_path / "site")
    assert found["skipped"] == [
        {"paper": "Nobody & Sons", "reason": "these data have no dates at all"}
    ]
    assert "no dates at all" in (tmp_path / "site" / "index.html").read_text("utf-8")


@pytest.mark.usefixtures("stubbed")
def test_claims_on_several_data_sets(ratings_csv: Path, tmp_path: Path) -> None:
    data, made_up, out = tmp_path / "data", tmp_path / "made-up", tmp_path / "out"
    told("reproduce", "kl", "--data", ratings_csv, "--seed", 3, "--out", data)
    told("reproduce", "kl", "--seed", 3, "--out", made_up)
    found = told("reproduce", "compare", data, made_up, "--out", out)
    assert len(found["data"]) == 2
    assert len(found["claims"]) == 2 * len(PAPER.claims)
    assert found["claims"][0]["says"] == PAPER.claims[0].says
    assert {row["low"] for row in found["claims"] if row["claim"] == "xx-04"} == {None}
    with (out / "claims.csv").open(newline="") as file:
        rows = {row["claim"]: row for row in csv.DictReader(file)}
    assert rows["xx-01"]["says"] == PAPER.claims[0].says
    assert rows["xx-01"][found["data"][0]].startswith("holds: 0.9")
    assert rows["xx-04"][found["data"][1]].startswith("cannot be tested: stands in a figure")
    with (out / "failures.csv").open(newline="") as file:
        failed = list(csv.DictReader(file))
    assert [row["claim"] for row in failed] == ["xx-02", "xx-02", "xx-03", "xx-03"]
    assert failed[0]["cause"].startswith("unknown")
    assert "1 / 2 / 4" in (out / "README.md").read_text("utf-8")
    assert "a folder is given twice" in refused("reproduce", "compare", data, data)


@pytest.mark.usefixtures("stubbed")
def test_data_of_equal_size_are_told_apart_where_they_have_a_claim_in_common(
    tmp_path: Path,
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, seed in ((one, 3), (other, 4)):
        told("reproduce", "kl", "--seed", seed, "--out", folder)
    found = told("reproduce", "compare", one, other)
    assert [data.partition(" (")[2] for data in found["data"]] == [f"{one})", f"{other})"]
    assert {row["data"] for row in found["claims"]} == {*found["data"]}
    # studies of two papers on the same data are one column
    content = (other / "claims.csv").read_text("utf-8")
    (other / "claims.csv").write_text(content.replace("xx-", "yy-"), "utf-8")
    assert len(told("reproduce", "compare", one, other)["data"]) == 1
    assert "differ" not in call("reproduce", "compare", one, other).stdout
    (other / "claims.csv").write_text(content + content.splitlines()[1], "utf-8")
    assert "claim xx-01 occurs twice" in refused("reproduce", "compare", other)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        ("", "the file is empty"),
        ("paper,claim\nkl,1\n", "the columns must be paper, claim, says, whose"),
        ("{head}\nkl,kl-1,it is,ours,data,if,perhaps,,,,,,,,x\n", "'perhaps' is not a verdict"),
        ("{head}\nkl,kl-1,it is,ours,data,if,holds,much,,,,,,,x\n", "could not convert"),
        ("{head}\nkl,kl-1,it is,ours,holds\n", "the columns"),
        ("{head}\nkl,kl-1,it is,ours,data,if,holds,1,,1,,,,,x\n", "could not convert"),
        ("{head}\nkl,kl-1,it is,ours,data,if,holds,nan,nan,nan,,,,,x\n", "not an interval"),
        ("{head}\nkl,kl-1,it is,ours,data,if,holds,1,2,3,,,,,x\n", "not an interval"),
    ],
)
def test_a_folder_without_claims_is_refused(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        text = content.replace("{head}", ",".join(COLUMNS))
        (tmp_path / "claims.csv").write_text(text)
    message = refused("reproduce", "compare", tmp_path)
    assert said in message
    assert "starshade reproduce" in message


@pytest.mark.usefixtures("alone")
def test_a_run_goes_on_from_its_parts_and_makes_a_damaged_one_again(
    ratings_csv: Path, tmp_path: Path
) -> None:
    out, kept = tmp_path / "site", tmp_path / "site.parts"
    request = ("reproduce", "all", "--data", ratings_csv, "--out", out, "--seed", 3)
    refused(*request, "--runs", 0)
    assert not kept.exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.report.site.save_site", _no_room)
        message = refused(*request, "--runs", 2)
    assert "no space left" in message
    assert f"finished parts are kept in {kept}; --resume" in message
    parts = sorted(kept.glob("*.part"))
    assert len(parts) == 2
    page = kept / "xx.html"  # written when that paper was done
    assert "index.html" not in page.read_text("utf-8")
    parts[0].write_bytes(b"hello")
    assert told(*request, "--runs", 2, "--resume")["skipped"] == []
    assert not kept.exists()


def _no_room(*args: object) -> None:
    raise OutputError("no space left")


def test_what_is_refused_leaves_no_folder_of_parts(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    request = ("reproduce", "sr", "--data", ratings_csv, "--sensitive", "nothing", "--out", out)
    assert "not among the items" in refused(*request)
    assert list(tmp_path.iterdir()) == []
