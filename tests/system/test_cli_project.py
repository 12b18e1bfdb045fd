"""A project from its first file to a nightly release, and what is refused on the way."""

from __future__ import annotations

import html
import json
import os
import pty
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from starshade.audit.dossier.dossier import Dossier
from starshade.project.file import FOLDER
from starshade.report.page import save_report
from tests.policies import in_toml
from tests.system.conftest import call, refused, told

ITEMS = 12


def snapshot(place: Path, people: range) -> None:
    """Write what some people rated, each by an own seed, so that they rate alike every time."""
    lines = ["email,film,stars,day"]
    for person in people:
        rng = np.random.default_rng(person)
        rated = rng.random(ITEMS) < 0.5
        stars = 1 + rng.integers(0, 9, ITEMS) / 2
        days = rng.integers(1, 28, ITEMS)
        lines += [
            f"p{person}@example.org,film {i},{stars[i]:g},2025-01-{days[i]:02d}"
            for i in np.flatnonzero(rated)
        ]
    place.write_text("\n".join(lines) + "\n")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    snapshot(tmp_path / "ratings.csv", range(60))
    return tmp_path


PROJECT = f"""\
version = 1
[data]
ratings = "ratings.csv"
user-col = "email"
item-col = "film"
rating-col = "stars"
day-col = "day"
scale = "1:5:0.5"
[release]
k = 5
method = "k-exchange"
[audit]
shadows = 0
targets = 20
known = [2]
{in_toml()}
"""


def judged_by(*thresholds: str) -> str:
    """The project with these thresholds, ``NAME=VALUE``."""
    return PROJECT.replace(in_toml(), in_toml(*thresholds))


@pytest.fixture
def project(home: Path) -> Path:
    (home / "starshade.toml").write_text(PROJECT)
    return home


def everything(folder: Path) -> dict[str, bytes]:
    """Read every file in a folder, those behind links left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_init_writes_what_run_does(home: Path) -> None:
    columns = ("--user-col", "email", "--rating-col", "stars")
    with (home / "ratings.csv").open("a") as file:
        file.write("p1@example.org,film 0,3,2025-02-01\n" * 3)
    said = call("init", "ratings.csv", "--yes", *columns)
    assert said.exit_code == 0, said.stderr
    text = (home / "starshade.toml").read_text()
    assert 'on-duplicate = "last"' in text
    assert '[release]\nmethod = "predictive"\nk = 5\n\n' in text
    assert "repeat a user and an item" in said.stderr
    assert told("check-config")["problems"] == []
    assert "60 people" in call("run", "--dry-run").stdout
    assert not (home / "published").exists()
    there = refused("init", "ratings.csv", "--yes")
    assert "delete it first" in there
    assert "--out" not in there
    assert (home / "starshade.toml").read_text() == text


def test_init_lists_what_may_be_stated_on_the_release(home: Path) -> None:
    columns = ("--user-col", "email", "--rating-col", "stars")
    assert call("init", "ratings.csv", "--yes", *columns).exit_code == 0
    text = (home / "starshade.toml").read_text()
    assert "\n# Purpose for which the data are released.\n# purpose = " in text
    (home / "starshade.toml").write_text(text.replace("# purpose = ", "purpose = "))
    assert told("check-config")["problems"] == []


def test_a_changed_context_writes_the_reports_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Dossier] = []

    def save(dossier: Dossier, out: Path, *, public: bool) -> None:
        written.append(dossier)
        save_report(dossier, out, public=public)

    monkeypatch.setattr("starshade.project.work.save_report", save)
    file = project / "starshade.toml"
    assert call("run", "--seed", "1").exit_code == 0
    assert {row["value"] for row in written[-1].internal()["context"].values()} == {"not stated"}
    ended = '[[accept]]\nrisk = "membership"\nup-to = "12%"\npolicy = "partner v1"\n'
    ended += 'reason = "A trial"\nby = "Jane"\nuntil = 2025-01-01\n'
    for more, purpose, notices in (
        ('[context]\npurpose = "Research"\n', "Research", []),
        ('[context]\npurpose = "A contest"\n', "A contest", []),
        (f'[context]\npurpose = "A contest"\n{ended}', "A contest", [EXPIRED]),
    ):
        file.write_text(PROJECT + more)
        before = everything(project / "published")
        assert told("run")["unchanged"] is False
        own, public = written[-1].internal(), written[-1].public()
        assert own["context"]["purpose"]["value"] == purpose
        assert public["context"]["purpose"]["value"] == purpose
        assert own["notices"] == public["notices"] == notices
        assert everything(project / "published") == before
        count = len(written)
        assert told("run")["unchanged"] is True
        assert len(written) == count
    reports = sorted(path.name for path in (project / FOLDER / "reports").iterdir())
    assert reports == ["release-1-at-risk.csv", "release-1-public.html", "release-1.html"]


EXPIRED = "The acceptance of membership expired on 2025-01-01."


def test_what_is_chosen_is_put_before_the_owner(home: Path) -> None:
    """By hand: twenty films of two people each, forty of one, and ten people who rated these.

    All ratings are equal, so profiles would be, and a choice of items is suggested.
    """
    rated = [(person, film) for film in range(20) for person in (film, film + 1)]
    rated += [(100 + film % 10, film) for film in range(20, 60)]
    lines = [f"p{person},film {film},3,2025-01-01" for person, film in rated]
    (home / "ratings.csv").write_text("\n".join(["email,film,stars,day", *lines]) + "\n")
    columns = ("--user-col", "email", "--rating-col", "stars")
    assert call("init", "ratings.csv", "--yes", *columns).exit_code == 0
    text = (home / "starshade.toml").read_text()
    # the first ten films have twenty of the eighty ratings, by people 0 to 10 or so
    films = sorted(f"film {film}" for film in range(20))[:10]
    people = {person for person, film in rated if f"film {film}" in films}
    assert 'method = "k-exchange"\nk = 5\nitems = "top:10"\ndisclosure-weight = 0.2\n' in text
    assert "0.2\n# 10 of 60 items keep 25.0% of the ratings.\n" in text
    assert (
        f"# {31 - len(people)} of 31 people rated none of these items and are left out.\n" in text
    )
    audit = text[text.index("[audit]") : text.index("[publish]")]
    for line in ('policy = "partner"', '# threshold = ["class-size=11", "membership=5%"]'):
        assert line in audit
    (home / "starshade.toml").write_text(text.replace("# threshold", "threshold"))
    assert told("check-config")["problems"] == []


def test_init_asks_only_on_a_terminal(home: Path) -> None:
    assert "--yes" in refused("init", "ratings.csv")
    assert not (home / "starshade.toml").exists()


def test_every_command_reads_it(project: Path) -> None:
    assert told("data", "describe")["users"] == 60
    made = told("anonymize", "--out", "made", "--private", "made.json")
    assert (made["method"], made["k"]) == ("k-exchange", 5)
    assert told("anonymize", "--out", "other", "--k", 6)["k"] == 6  # flags win
    found = told("audit", "made", "--private", "made.json", "--shadows", 0)
    assert found["config"]["targets"] == 20
    assert "starshade.toml" in call("data", "describe").stderr
    told("measure", "made", "--private", "made.json")


def test_the_environment_wins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STARSHADE_SET_RELEASE_K", "7")
    assert told("anonymize", "--out", "made")["k"] == 7
    for words in (["data", "describe"], ["run", "--dry-run"]):
        said = call(*words).stderr
        assert "starshade.toml: " in said
        assert "STARSHADE_SET_RELEASE_K" in said


def test_other_ratings_are_read_in_their_own_way(project: Path) -> None:
    (project / "other.csv").write_text("user,item,rating\na,x,1\nb,x,2\n")
    assert told("data", "describe", "other.csv")["users"] == 2


def test_settings_of_another_method_are_not_those_of_the_chosen(project: Path) -> None:
    (project / "starshade.toml").write_text(
        PROJECT.replace("k = 5", "k = 5\ndisclosure-weight = 1")
    )
    assert told("anonymize", "--method", "mondrian", "--out", "made")["method"] == "mondrian"


def test_a_wrong_file_stops_every_command_that_reads_it(project: Path) -> None:
    (project / "starshade.toml").write_text(PROJECT.replace("k = 5", "kk = 5"))
    assert "starshade.toml, line 9: [release] lacks k" in refused("anonymize", "--out", "made")
    result = call("check-config", "--json")
    assert result.exit_code == 2
    assert [each["line"] for each in json.loads(result.stdout)["problems"]] == [9, 10]
    assert call("anonymize", "--help").exit_code == 0
    told("list", "methods")


def test_nights(project: Path) -> None:
    """Two snapshots, one that must not be published, and one that may again."""
    snapshot(project / "ratings.csv", range(240))
    first = told("run", "--seed", 1)
    assert (first["release"], first["pass"], first["unchanged"]) == ("release-1", True, False)
    again = told("run", "--seed", 2)
    assert (again["release"], again["unchanged"]) == ("release-1", True)

    snapshot(project / "ratings.csv", range(12, 252))
    second = told("run")
    assert (second["release"], second["pass"]) == ("release-2", True)

    out = everything(project / "published")
    snapshot(project / "ratings.csv", range(12, 252, 3))  # two thirds have left
    dry, said = call("run", "--dry-run"), call("run")
    assert (dry.exit_code, said.exit_code) == (1, 1)
    reason = said.stderr[said.stderr.index("Error:") :]
    assert dry.stderr.endswith(reason)
    assert "who stayed" in reason
    assert "were in no earlier release" in reason  # what is possible now
    assert "first release" in reason
    assert "(slack = 2)" in reason  # as the file has it
    assert not list((project / FOLDER / "reports").glob("release-3*"))
    assert everything(project / "published") == out

    snapshot(project / "ratings.csv", range(15, 260))
    assert told("run")["release"] == "release-3"
    assert everything(project / "published").items() >= out.items()
    receipts = sorted(path.name for path in (project / FOLDER / "receipts").iterdir())
    assert receipts == [f"release-{n}.json" for n in (1, 2, 3)]
    assert list((project / FOLDER / "work").iterdir()) == []
    for path in (project / FOLDER, *(project / FOLDER).rglob("*.json")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077


def test_what_is_judged_no_stays_and_is_judged_once(project: Path) -> None:
    (project / "starshade.toml").write_text(judged_by("class-linkage=0"))
    first = told("run", code=1)
    assert first["pass"] is False
    assert first["reasons"]
    assert Path(first["out"], "release.json").exists()
    assert not (project / "published").exists()
    again = told("run", code=1)
    assert again["unchanged"]
    assert again["reasons"] == first["reasons"]
    (project / "starshade.toml").write_text(PROJECT)
    assert told("run")["pass"]


def test_a_larger_k_than_that_of_the_groups_is_told(project: Path) -> None:
    told("run", "--seed", 1)
    (project / "starshade.toml").write_text(PROJECT.replace("k = 5", "k = 6"))
    dry, said = call("run", "--dry-run"), call("run", "--seed", 2)
    receipt = json.loads((project / FOLDER / "receipts" / "release-2.json").read_text())
    many = receipt["dummy_records"]
    assert many > 0
    for result in (dry, said):
        assert "k = 6: 12 of the 12 groups that are kept" in result.stderr
        assert f"{many} of {60 + many} records are dummy records" in result.stderr
    assert f"60 people and {many} dummy records" in " ".join(dry.stdout.split())
    assert f"{many} of its {60 + many} records are dummy records" in " ".join(said.stdout.split())


def test_the_report_names_what_is_there(project: Path) -> None:
    """What a report says of how to do it again leads to the same bytes."""
    told("run", "--seed", 1)
    snapshot(project / "ratings.csv", range(2, 64))
    told("run", "--seed", 2)
    for name in ("release-1", "release-2"):
        page = html.unescape((project / FOLDER / "reports" / f"{name}.html").read_text())
        again = page[page.index('id="again"') :]
        assert "/work/" not in again
        people = project / FOLDER / "reports" / f"{name}-at-risk.csv"
        assert people.stat().st_mode & 0o777 == 0o600
        assert people.read_text().startswith("user,least_known,")
        for place in (f"published/{name}", f"{FOLDER}/receipts/{name}.json"):
            assert f"<dd>{place}</dd>" in again
            assert Path(place).exists()
    command = re.sub("<[^>]+>", "", re.search("<pre[^>]*>(.*?)</pre>", again, re.S)[1])
    made = call(*shlex.split(command)[1:])
    assert made.exit_code == 0, made.stderr
    assert everything(Path("release-2-again")) == everything(Path("published/release-2"))


def test_a_no_says_first_which_checks_and_each_reason_once(project: Path) -> None:
    text = judged_by("class-linkage=1%", "re-identification=1%")
    (project / "starshade.toml").write_text(text)
    result = call("run", "--seed", 1)
    assert result.exit_code == 1
    said = " ".join(result.stdout.split())
    assert said.startswith("FAIL (6 checks without effective threshold) policy partner v1 ")
    rows = [line.split("(")[0].strip() for line in result.stdout.splitlines() if "✗" in line]
    assert rows == ["Re-identification", "Class linkage"]
    audited = call("audit", told("run", code=1)["out"], "--details", "--seed", 1)
    assert audited.stdout.startswith("FAIL ")
    for text, least in ((said, 1), (" ".join(audited.stdout.split()), 6)):
        sentences = [each for each in re.split(r"(?<=[a-z%)\]])\. ", text) if len(each) > 60]
        assert len(sentences) >= least
        twice = {each for each in sentences if text.count(each) > 1}
        assert not twice


def test_what_is_out_is_judged_again_where_only_the_judging_changed(project: Path) -> None:
    """One release of one and the same ratings is enough."""
    told("run")
    out = everything(project / "published")

    def judged(said: str, code: int, text_of: str = PROJECT) -> str:
        text = text_of.replace("targets = 20\nknown = [2]", f"known = [2]\n{said}")
        (project / "starshade.toml").write_text(text)
        assert "would be audited again" in " ".join(call("run", "--dry-run").stdout.split())
        found = call("run")
        assert found.exit_code == code, found.stderr
        assert everything(project / "published") == out
        assert list((project / FOLDER / "work").iterdir()) == []
        return " ".join(found.stdout.split())

    said = judged("targets = 30", 0)
    assert "Internal report: .starshade/reports/release-1.html" in said
    assert "release-1 is published as published/release-1" in said
    assert told("run")["unchanged"]
    said = judged("targets = 30", 1, judged_by("class-linkage=0"))
    assert "It is published already, but the current [audit] settings" in said
    assert "Class linkage" in said
    again = told("run", code=1)
    assert again["unchanged"]
    assert again["reasons"]
    assert again["out"] == "published/release-1"
    judged("targets = 20", 0, f'{PROJECT}[publish]\nto = "elsewhere"\n')
    assert not (project / "elsewhere").exists()

    (project / "starshade.toml").write_text(PROJECT.replace("k = 5", "k = 4"))
    assert told("run")["release"] == "release-2"


#: kills the process with a signal that nothing hears, before a stage, or after
KILLED = """
import os, signal, sys
from starshade.project import work as job
from starshade.cli import main
stage, after = sys.argv[1], sys.argv[2] == "after"
real = getattr(job, stage)
def killed(*args, **kwargs):
    if after:
        real(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(job, stage, killed)
main(["run", "--seed", "5"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "when"),
    [
        ("read_ratings", "after"),
        ("make_release", "before"),
        ("make_release", "after"),
        ("gather", "after"),
        ("save_report", "after"),
        ("_ended", "before"),
        ("move", "before"),
        ("move", "after"),
        ("left", "after"),
    ],
)
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(
    stage: str, when: str, project: Path
) -> None:
    told("run", "--seed", 5)
    whole = everything(project / "published")
    shutil.rmtree(project / FOLDER)
    shutil.rmtree(project / "published")
    words = [sys.executable, "-c", KILLED, stage, when]
    assert subprocess.run(words, cwd=project, capture_output=True).returncode == -signal.SIGKILL
    out = project / "published"
    assert not out.exists() or everything(out) == whole  # all of it or nothing
    # what was drawn for the job counts; before it was drawn nothing was
    seed = 5 if stage == "read_ratings" else 77
    assert told("run", "--seed", seed)["release"] == "release-1"
    assert everything(out) == whole
    assert (out / "latest").resolve() == (out / "release-1").resolve()
    reports = {path.name for path in (project / FOLDER / "reports").iterdir()}
    assert reports == {"release-1.html", "release-1-at-risk.csv", "release-1-public.html"}
    assert told("run")["unchanged"]
    assert list((project / FOLDER / "work").iterdir()) == []


def test_two_at_once(project: Path) -> None:
    from starshade.project.state import kept

    with kept(project):
        assert "another run is in progress" in refused("run")


def test_a_place_that_is_taken(project: Path) -> None:
    (project / "published" / "release-1").mkdir(parents=True)
    (project / "published" / "release-1" / "mine").write_text("x")
    assert "did not publish" in refused("run")
    assert (project / "published" / "release-1" / "mine").read_text() == "x"


@pytest.mark.parametrize("to", [".", "..", ".starshade/out", "/"])
def test_a_place_that_would_give_the_receipts_away(to: str, project: Path) -> None:
    text = f'{PROJECT}[publish]\nto = "{to}"\n'
    (project / "starshade.toml").write_text(text)
    assert "line 18: to = " in refused("run")
    assert "private key files" in " ".join(call("check-config").stdout.split())


def test_what_is_out_is_watched(project: Path) -> None:
    told("run")
    snapshot(project / "ratings.csv", range(2, 64))
    moved = project / "moved"
    os.rename(project / "published" / "release-1", moved)
    assert "but it is missing" in refused("run")
    shutil.copytree(moved, project / "published" / "release-1")
    manifest = project / "published" / "release-1" / "release.json"
    manifest.write_text(manifest.read_text() + " ")
    assert "differs from what this project published" in refused("run")


def test_every_file_that_is_out_is_watched_when_nothing_is_new(project: Path) -> None:
    told("run")
    out, receipt = project / "published" / "release-1", project / FOLDER / "receipts"
    whole = shutil.copytree(out, project / "whole")

    def refuses(*said: str) -> None:
        for words in (["run"], ["run", "--dry-run"]):
            error = refused(*words)
            assert all(each in error for each in ("published/release-1", *said)), error

    shutil.copy("ratings.csv", out)
    refuses("ratings.csv: not listed in release.json", "remove what was added")
    (out / "ratings.csv").unlink()
    (out / "README.md").write_text("x")
    refuses("README.md: changed")
    (out / "README.md").unlink()
    refuses("README.md: missing")
    shutil.copy(whole / "README.md", out)
    assert told("run")["unchanged"]

    file = receipt / "release-1.json"
    text = file.read_text()
    file.write_text(text.replace('"seed": ', '"seed": 1'))
    assert "release-1.json" in refused("run")
    assert "backup" in refused("run")
    file.unlink()
    assert "release-1.json: cannot be read" in refused("run")
    assert "backup" in refused("run", "--dry-run")


def test_a_damaged_state_is_told(project: Path) -> None:
    told("run")
    state = project / FOLDER / "state.json"
    state.write_text(state.read_text().replace("release-1", "release-9", 1))
    assert "damaged" in refused("run")


def test_a_link_in_place_of_the_folder(project: Path, tmp_path: Path) -> None:
    (project / "elsewhere").mkdir()
    (project / FOLDER).symlink_to(project / "elsewhere")
    assert "is a link" in refused("run")


def test_a_link_in_place_of_what_is_published(project: Path) -> None:
    told("run")
    for name in ("published/release-1", "published"):
        os.rename(name, "elsewhere")
        Path(name).symlink_to(project / "elsewhere")
        error = refused("run")
        assert name in error
        assert "is a link" in error
        Path(name).unlink()
        os.rename("elsewhere", name)
    assert told("run")["unchanged"]
    os.rename("published", "elsewhere")
    Path("published").symlink_to("elsewhere")
    with Path("starshade.toml").open("a") as file:
        file.write('[publish]\nto = "new"\n')
    assert "published: is a link" in refused("run")  # it is not where the next goes, but is out


@pytest.mark.parametrize("name", ["work", "receipts", "reports"])
def test_a_link_in_the_folder_leads_nowhere(name: str, project: Path) -> None:
    (project / "mine" / "deep").mkdir(parents=True)
    (project / "mine" / "deep" / "file").write_text("x")
    (project / FOLDER).mkdir()
    (project / FOLDER / name).symlink_to(project / "mine")
    assert "is a link" in refused("run")
    assert (project / "mine" / "deep" / "file").read_text() == "x"


def test_what_others_left_in_the_folder_is_removed(project: Path) -> None:
    (project / FOLDER / "work").mkdir(parents=True)
    (project / FOLDER / "work" / "stray").write_text("x")
    assert told("run")["pass"]


def test_nothing_is_published_inside_a_release(project: Path) -> None:
    told("run")
    to = '[publish]\nto = "published/release-1"\n'
    (project / "starshade.toml").write_text(PROJECT.replace("k = 5", "k = 6") + to)
    assert "inside the release" in refused("run")
    assert told("data", "describe", "published/release-1")


def test_files_that_settings_name_count_by_what_is_in_them(project: Path) -> None:
    items = project / "items.txt"
    items.write_text("film 1\nfilm 2\nfilm 3\n")
    (project / "starshade.toml").write_text(PROJECT.replace("k = 5", 'k = 5\nitems = "items.txt"'))
    told("run", "--dry-run")
    assert told("run")["unchanged"] is False
    assert told("run")["unchanged"] is True
    items.write_text("film 1\nfilm 2\nfilm 4\n")
    assert call("run").exit_code != 0  # the first release has other items


def test_names_of_columns_write_no_settings(project: Path) -> None:
    (project / "starshade.toml").unlink()
    name = '"age\nslack = 7\n[audit]\n#"'
    rows = "".join(f"p{person}@example.org,{person}\n" for person in range(60))
    (project / "people.csv").write_text(f"email,{name}\n{rows}")
    columns = ("--user-col", "email", "--rating-col", "stars")
    result = call("init", "ratings.csv", "--yes", "--users", "people.csv", *columns)
    assert result.exit_code == 0, result.stderr
    assert told("check-config")["problems"] == []
    assert "\nslack = 7" not in (project / "starshade.toml").read_text()


def test_run_without_a_file(home: Path) -> None:
    assert "starshade init" in refused("run")


def test_init_takes_the_people_s_table_beside(home: Path) -> None:
    (home / "users.csv").write_text("id,age,zip\n1,2,3\n")  # of others: no column of theirs
    rows = "".join(
        f"p{person}@example.org,{20 + person},5310{person % 7}\n" for person in range(60)
    )
    (home / "people.tsv").write_text(f"email,age,zip\n{rows}".replace(",", "\t"))
    said = call("init", "ratings.csv", "--yes", "--user-col", "email", "--rating-col", "stars")
    assert said.exit_code == 0, said.stderr
    assert 'users = "people.tsv"' in (home / "starshade.toml").read_text()
    assert "people.tsv" in said.stderr
    assert told("data", "describe")["attributes"] == ["age", "zip"]


def on_a_terminal(home: Path, answers: list[str], *words: str) -> tuple[int, str]:
    """Run a command on a pseudo-terminal, and answer what it asks."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "starshade", *words], stdin=theirs, stdout=subprocess.DEVNULL,
        stderr=theirs, cwd=home,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    said = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    return process.wait(), said.decode()


@pytest.mark.parametrize("write", ["y", "n"])
def test_init_asks_and_shows_before_it_writes(write: str, home: Path) -> None:
    with (home / "ratings.csv").open("a") as file:
        file.write("p1@example.org,film 0,3,2025-02-01\n" * 3)
    rows = "".join(f"p{person}@example.org,{20 + person}\n" for person in range(60))
    (home / "theirs.csv").write_text(f"email,age\n{rows}")
    code, said = on_a_terminal(
        home, ["theirs.csv", "mean", "7", "5", "controled", "controlled", write],
        "init", "ratings.csv",
    )  # fmt: skip
    assert "there is no policy 'controled'" in said
    assert "user: email (e-mail addresses" in said
    assert "k = 7" in said  # the preview
    assert "p1@" not in said
    assert (code == 0) == (write == "y")
    assert (home / "starshade.toml").exists() == (write == "y")
    if write == "y":
        text = (home / "starshade.toml").read_text()
        for line in ('users = "theirs.csv"', 'on-duplicate = "mean"', "k = 7", 'items = "top:5"'):
            assert line in text
        assert '\npolicy = "controlled"\n' in text
        assert told("check-config")["problems"] == []


def test_a_password_in_the_file_is_warned_of(project: Path) -> None:
    ratings = 'ratings = "postgresql://eve:pa55@localhost:1/shop"'
    text = PROJECT.replace('ratings = "ratings.csv"', ratings)
    (project / "starshade.toml").write_text(text)
    said = call("check-config")
    assert said.exit_code == 0
    assert "starshade.toml, line 3: ratings contains a password" in " ".join(said.stderr.split())
    said = call("run")
    assert said.exit_code == 2
    assert "PGPASSWORD" in said.stderr
    assert "pa55" not in said.stderr
    (project / "starshade.toml").write_text(f'{PROJECT}[publish]\nto = "ratings.csv/K:pa55@b"\n')
    said = call("check-config", "--json")
    assert said.exit_code == 2
    assert "pa55" not in f"{said.stdout}{said.stderr}"
    (project / "starshade.toml").write_text(text.replace(":pa55", ""))
    assert "PGPASSWORD" not in call("check-config").stderr


def test_a_threshold_on_several_releases_is_refused_before_any_work(project: Path) -> None:
    text = PROJECT.replace(in_toml(), 'limit = ["joint-class=0.1"]')
    text = text.replace('"ratings.csv"', '"not-there.csv"')
    (project / "starshade.toml").write_text(text)
    assert "composition needs an earlier release" in refused("run", "--dry-run")


def real_valued(place: Path) -> None:
    """Write ratings without steps, of which one person gave the lowest and one the highest."""
    rng = np.random.default_rng(1)
    rows = [
        f"p{person}@example.org,film {i},{rng.uniform(1, 4):.4f}"
        for person in range(60)
        for i in range(ITEMS)
    ]
    rows += ["p1@example.org,film x,0.3141", "p2@example.org,film x,4.9871"]
    place.write_text("\n".join(["email,film,stars", *rows]) + "\n")


def test_the_exact_rating_of_one_person_is_no_end_of_a_scale(home: Path) -> None:
    real_valued(home / "ratings.csv")
    columns = ("--user-col", "email", "--item-col", "film", "--rating-col", "stars")
    said = call("init", "ratings.csv", "--yes", *columns)
    assert said.exit_code == 0, said.stderr
    text = (home / "starshade.toml").read_text()
    assert 'scale = "0:5"' in text
    assert "moved outwards" in text
    assert "0.31" not in text
    assert "4.98" not in text
    assert call("run", "--dry-run").exit_code == 0

    (home / "starshade.toml").write_text(text.replace('scale = "0:5"\n', ""))
    for words in (["run"], ["run", "--dry-run"]):
        error = refused(*words)
        assert "fewer than 5 people gave the lowest or the highest rating" in error
        assert 'scale = "0:5"' in error
    assert not (home / "published").exists()

    ends = "".join(f"p{n}@example.org,film y,{end}\n" for n in range(5) for end in (0.25,))
    ends += "".join(f"p{n}@example.org,film z,{end}\n" for n in range(5) for end in (5.0625,))
    with (home / "ratings.csv").open("a") as file:
        file.write(ends)
    assert call("run", "--dry-run").exit_code == 0  # these ends are those of five each
