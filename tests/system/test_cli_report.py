"""``starshade report``, ``audit --report`` and the reports of the demo."""

from __future__ import annotations

import json
import re
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.dossier.dossier import Dossier
from starshade.audit.dossier.verdict import MEANINGS
from starshade.cli.options.shared import Reading
from starshade.cli.report import made_by
from starshade.cli.report import write as write_report
from starshade.release.folder.read import read_release
from tests.policies import as_options
from tests.system.conftest import Demo, Made, call, refused, told

pytest.importorskip("jinja2", reason="pip install 'starshade[report]'")
pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")

QUICK = ("--targets", 30, "--shadows", 0, "--seed", 7)
READING = Reading()


def test_both_editions(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    asked = ("report", ratings_csv, made.folder, "--private", made.receipt, *QUICK, *as_options())
    own, public = tmp_path / "own.html", tmp_path / "public.html"
    found = told(*asked, "--out", own)
    assert found["pass"] is True
    assert found["verdict"] == "PASS"
    assert re.fullmatch(
        r"PASS \(\d checks without effective threshold\): policy partner v1, with overrides",
        found["headline"],
    )
    assert found["audience"] == "internal"
    assert found["bytes"] == own.stat().st_size <= 1_000_000
    assert told(*asked, "--out", public, "--public")["audience"] == "public"
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert "--seed 7" in own.read_text()
    for secret in ("--seed", str(made.receipt), str(ratings_csv)):
        assert secret not in public.read_text()


def test_the_summary_says_where_it_is(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    result = call("report", ratings_csv, made.folder, "--out", tmp_path / "r.html", *QUICK)
    assert result.exit_code == 0
    assert " ".join(result.stdout.split()).startswith("FAIL: policy partner v1. Report: ")


CONTEXT = """\
[context]
purpose = "Research on recommenders"
controls = "Contract of May 2026"
[[accept]]
risk = "membership"
up-to = "not measured"
policy = "partner v1"
reason = "Too few people"
by = "Jane Doe, DPO"
until = 2099-06-30
[[accept]]
risk = "inference"
up-to = "not measured"
policy = "partner v1"
reason = "An older decision"
by = "Jane Doe, DPO"
until = 2025-01-01
"""
EXPIRED = "The acceptance of inference expired on 2025-01-01."


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Dossier]:
    """The contents of the reports that are written."""
    found: list[Dossier] = []

    def write(dossier: Dossier, *args: Any, **more: Any) -> None:
        found.append(dossier)
        write_report(dossier, *args, **more)

    monkeypatch.setattr("starshade.cli.report.write", write)
    return found


def test_a_context_file_is_printed(
    ratings_csv: Path, made: Made, tmp_path: Path, written: list[Dossier]
) -> None:
    file, out = tmp_path / "own.toml", tmp_path / "r.html"
    file.write_text(CONTEXT)
    asked = ("--private", made.receipt, *QUICK, "--context", file, "--out", out)
    result = call("report", ratings_csv, made.folder, *asked)
    assert result.exit_code == 0, result.stderr
    assert EXPIRED in result.stderr
    (own, public) = written[0].internal(), written[0].public()
    assert own["context"]["purpose"]["value"] == "Research on recommenders"
    assert own["context"]["recipient"]["value"] == "not stated"
    assert own["notices"] == public["notices"] == [EXPIRED]
    assert [row["risk"] for row in own["accepted"]] == ["membership"]
    assert "Contract of May 2026" not in str(public)
    page = out.read_text()
    assert "Too few people" in page
    assert "An older decision" not in page
    assert f"--context {file}" in page


def test_a_wrong_context_is_refused_before_the_work(
    ratings_csv: Path, made: Made, tmp_path: Path
) -> None:
    file, out = tmp_path / "own.toml", tmp_path / "r.html"
    file.write_text('[context]\npurpos = "x"\n')
    asked = ("report", ratings_csv, made.folder, "--out", out, "--context")
    said = " ".join(refused(*asked, file).split())
    assert f"{file}, line 2: purpos: [context] has no such setting" in said
    assert "Did you mean purpose?" in said
    assert "cannot be read" in refused(*asked, tmp_path / "none.toml")
    assert not out.exists()


def test_a_project_states_the_context_of_its_own_ratings(
    ratings_csv: Path,
    made: Made,
    tmp_path: Path,
    written: list[Dossier],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f'[data]\nratings = "{ratings_csv}"\n[release]\nk = 4\n{CONTEXT}'
    (tmp_path / "starshade.toml").write_text(text)
    result = call("report", made.folder, *QUICK, "--out", tmp_path / "a.html")
    assert "settings from starshade.toml: context\n" in result.stderr
    other = ratings_csv.with_name("same.csv")
    other.write_bytes(ratings_csv.read_bytes())
    assert call("report", other, made.folder, *QUICK, "--out", tmp_path / "b.html").exit_code == 0
    own = [each.internal() for each in written]
    stated = [each["context"]["purpose"]["value"] for each in own]
    assert stated == ["Research on recommenders", "not stated"]
    assert ["--context" in each["run"]["command"] for each in own] == [True, False]


def test_what_is_refused(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    asked = ("report", ratings_csv, made.folder)
    (tmp_path / "there").write_text("mine")
    assert "exists already" in refused(*asked, "--out", tmp_path / "there")
    assert "inside the release" in refused(*asked, "--out", made.folder / "report.html")
    assert "not a release" in refused("report", ratings_csv, tmp_path, "--out", tmp_path / "r.html")
    probe = ("--probe", ratings_csv, "--out", tmp_path / "r.html")
    assert "private key file" in refused(*asked, *probe)
    inside = ("audit", ratings_csv, made.folder, "--report", made.folder / "report.html")
    assert "inside the release" in refused(*inside)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert not (made.folder / "report.html").exists()


def test_without_the_extra_it_says_what_to_install(
    ratings_csv: Path, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starshade.cli.report.find_spec", lambda name: None)
    said = refused("report", ratings_csv, made.folder, "--out", tmp_path / "r.html")
    assert "pip install 'starshade[report]'" in said
    said = refused("audit", ratings_csv, made.folder, "--report", tmp_path / "r.html")
    assert "pip install 'starshade[report]'" in said
    assert list(tmp_path.iterdir()) == []


def test_an_audit_writes_it_too_and_keeps_its_exit_code(
    ratings_csv: Path, made: Made, tmp_path: Path
) -> None:
    asked = ("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK, "--known", 4)
    asked = (*asked, "--threshold", "re-identification=0.001")
    without = told(*asked, code=1)
    found = told(*asked, "--report", tmp_path / "r.html", code=1)
    assert found.pop("report") == str(tmp_path / "r.html")
    assert without.pop("report") is None
    text = (tmp_path / "r.html").read_text()
    assert f"{MEANINGS['FAIL']} (policy partner v1, with overrides)." in text
    assert re.search(r"Re-identification \(5 known\): [0-9.]+% \(threshold 0.1%\)\.", text)
    same = ("verdict", "findings", "claims", "utility", "disclosure", "digest", "warnings")
    assert {name: found[name] for name in same} == {name: without[name] for name in same}


def test_held_out_ratings_are_reported(ratings_csv: Path, tmp_path: Path) -> None:
    train, probe, out = (tmp_path / name for name in ("train.csv", "probe.csv", "out"))
    told("data", "split", ratings_csv, "--out", train, "--probe", probe, "--seed", 1)
    told("anonymize", train, "--k", 4, "--out", out, "--private", tmp_path / "out.json")
    asked = ("report", train, out, "--private", tmp_path / "out.json", "--probe", probe, *QUICK)
    told(*asked, "--out", tmp_path / "r.html")
    assert "held-out ratings were predicted" in (tmp_path / "r.html").read_text()


def test_a_failure_while_writing_leaves_nothing(
    ratings_csv: Path, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(dossier: Dossier) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Dossier, "public", broken)
    asked = ("report", ratings_csv, made.folder, "--public", *QUICK)
    said = refused(*asked, "--out", tmp_path / "r.html")
    assert "no space left" in said
    assert list(tmp_path.iterdir()) == []


METHODS = [
    "--method k-likeness --k 3 --items top:4 --rare-items keep",
    "--method k-exchange --k 3 --hierarchy range",
    "--method interval --k 3 --eps 1 --l 0.2 --sensitive 3 --nulls zero",
    "--method predictive --k 3 --profile simple --b 1 --l 2",
    "--method predictive --k 3 --no-biases --factors 2 --profile-step 0.1",
]


@pytest.mark.parametrize("method", METHODS)
def test_the_command_makes_the_same_release_again(
    method: str, ratings_csv: Path, tmp_path: Path
) -> None:
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    told("anonymize", ratings_csv, *method.split(), "--out", out, "--private", receipt)
    release = read_release(out, private=receipt)
    command = made_by(release, str(ratings_csv), str(out), READING)
    assert command is not None
    told(*shlex.split(command)[1:])
    for path in out.iterdir():
        assert (tmp_path / "out-again" / path.name).read_bytes() == path.read_bytes()
    made = read_release(tmp_path / "out-again", private=tmp_path / "out-again.json")
    assert made.private is not None
    assert made.private.seed == release.private.seed
    assert made_by(read_release(out), str(ratings_csv), str(out), READING) is None


def test_the_command_of_a_release_that_continues_another(ratings_csv: Path, tmp_path: Path) -> None:
    last, receipt = tmp_path / "last", tmp_path / "last.json"
    method = ("anonymize", ratings_csv, "--method", "k-exchange", "--k", "3")
    told(*method, "--out", last, "--private", receipt)
    out, own = tmp_path / "out", tmp_path / "out.json"
    after = ("--after", last, "--after-private", receipt, "--shortfall", "withhold")
    told(*method, *after, "--out", out, "--private", own)
    command = made_by(read_release(out, private=own), str(ratings_csv), str(out), READING)
    assert command is not None
    command = command.replace("RELEASE-BEFORE", str(last)).replace("ITS-KEY-FILE", str(receipt))
    told(*shlex.split(command)[1:])
    for path in out.iterdir():
        assert (tmp_path / "out-again" / path.name).read_bytes() == path.read_bytes()


def test_the_demo_reports_beside_its_release(demo: Demo) -> None:
    far = demo.folder / "far"
    assert demo.found["reports"] == ["link/../x-report.html", "link/../x-report-public.html"]
    assert "release.json" in {path.name for path in (far / "x").iterdir()}
    assert not list((far / "x").glob("*.html"))
    assert "starshade demo --seed 2" in (far / "x-report.html").read_text()
    assert "exists already" in refused("demo", "--out", far / "x")


def test_the_demo_does_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starshade.cli.report.find_spec", lambda name: None)
    result = call("demo", "--out", tmp_path / "demo", "--seed", 1)
    assert result.exit_code == 0, result.stderr
    assert "pip install 'starshade[report]'" in " ".join(result.stdout.split())
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


@pytest.mark.parametrize("shadows", [(), ("--shadows", 1)])
@pytest.mark.parametrize("edition", [(), ("--public",)])
def test_pages_name_no_option(
    ratings_csv: Path,
    made: Made,
    tmp_path: Path,
    edition: tuple[str, ...],
    shadows: tuple[object, ...],
) -> None:
    """Without the receipt, and with a threshold that is exceeded, there is most to advise."""
    page = tmp_path / "page.html"
    asked = ("report", ratings_csv, made.folder, *QUICK, "--threshold", "attribute=0", *edition)
    assert call(*asked, *shadows, "--out", page).exit_code == 0
    text = re.sub(r"<(pre|style)\b.*?</\1>", "", page.read_text("utf-8"), flags=re.S)
    text = re.sub(r"<[^>]+>", "", text)
    assert "key file" in text or edition
    assert re.findall(r"--[a-z][a-z-]*", text) == []


def test_json_has_every_figure_of_the_report_but_names_nobody(
    ratings_csv: Path, made: Made, tmp_path: Path
) -> None:
    asked = ("report", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    risk = tmp_path / "risk.csv"
    own = told(*asked, "--out", tmp_path / "own.html", "--risk-list", risk)
    public = told(*asked, "--out", tmp_path / "public.html", "--public")
    assert own["report"]["audience"] == "internal"
    assert own["report"]["checks"][0]["value_text"]
    assert set(own["report"]["people"]) == {"listed", "total", "text"}
    assert len(risk.read_text().splitlines()) == own["report"]["people"]["total"] + 1
    assert (own["risk_list"], own["pdf"]) == (str(risk), None)
    assert stat.S_IMODE(risk.stat().st_mode) == 0o600
    assert public["report"]["audience"] == "public"
    assert "people" not in public["report"]
    assert public["risk_list"] is None
    older = call(*asked, "--out", tmp_path / "older.html", "--json-schema", 1)
    assert not {"report", "pdf", "risk_list"} & set(json.loads(older.stdout))


def test_a_pdf_is_printed_or_the_command_is_shown(
    ratings_csv: Path, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("report", ratings_csv, made.folder, *QUICK, "--json")
    monkeypatch.setattr("starshade.report.pdf.find_browser", lambda: None)
    html, pdf = tmp_path / "r.html", tmp_path / "r.pdf"
    result = call(*asked, "--out", html, "--pdf", pdf)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["pdf"] is None
    said = f"chromium --headless --no-pdf-header-footer --print-to-pdf={pdf} {html}"
    assert said in " ".join(result.stderr.split())
    assert html.exists()
    assert not pdf.exists()

    browser = tmp_path / "chromium"
    monkeypatch.setattr("starshade.report.pdf.find_browser", lambda: str(browser))
    script = '#!/bin/sh\nfor a in "$@"; do case $a in --print-to-pdf=*) '
    browser.write_text(f'{script}printf "%%PDF-1" > "${{a#--print-to-pdf=}}";; esac; done\n')
    browser.chmod(0o755)
    found = told(*asked[:-1], "--out", tmp_path / "s.html", "--pdf", pdf)
    assert found["pdf"] == str(pdf)
    assert stat.S_IMODE(pdf.stat().st_mode) == 0o600
    browser.write_text("#!/bin/sh\nexit 3\n")
    said = refused(*asked[:-1], "--out", tmp_path / "t.html", "--pdf", tmp_path / "t.pdf")
    assert "could not print the report: exit code 3" in said
    assert (tmp_path / "t.html").exists()
    assert not (tmp_path / "t.pdf").exists()


@pytest.mark.parametrize("option", ["--pdf", "--risk-list"])
def test_places_of_more_files_are_refused_before_the_work(
    option: str, ratings_csv: Path, made: Made, tmp_path: Path
) -> None:
    asked = ("report", ratings_csv, made.folder, "--out", tmp_path / "r.html", option)
    (tmp_path / "there").write_text("mine")
    assert f"{option} {tmp_path / 'there'}: exists already" in refused(*asked, tmp_path / "there")
    inside = made.folder / "x"
    assert f"{option} {inside}: is inside the release" in refused(*asked, inside)
    assert f"{option} nowhere/x: " in refused(*asked, "nowhere/x")
    assert "is the file of --out" in refused(*asked, tmp_path / "r.html")
    assert "an empty name" in refused(*asked, "")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert not inside.exists()
