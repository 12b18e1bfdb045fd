"""What the owner states on a release: in the project file, and in a context file."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from starshade.audit.dossier.context import Context
from starshade.errors import ConfigError
from starshade.project.file import NAME, Project, parse_project
from starshade.project.inputs import inputs_of
from starshade.project.stated import read_stated
from starshade.project.write import text_of
from starshade.setting import settings_of

PROJECT = '[data]\nratings = "r.csv"\n[release]\nk = 5\n'
CONTEXT = """\
[context]
purpose = "Research"
release-model = "agreement"
review = 2099-06-30
"""
ACCEPT = """\
[[accept]]
risk = "membership"
up-to = "12%"
policy = "partner v1"
reason = "Contract"
by = "Jane Doe"
until = 2099-06-30
"""
STATED = Context(purpose="Research", release_model="agreement", review="2099-06-30")


def test_the_project_file_states_it() -> None:
    project, problems = parse_project(PROJECT + CONTEXT, {})
    assert problems == []
    assert project.stated == STATED
    quoted = CONTEXT.replace("2099-06-30", '"2099-06-30"')
    assert parse_project(PROJECT + quoted, {})[0].stated == STATED
    assert parse_project(PROJECT, {})[0].stated == Context()
    said = {"STARSHADE_SET_CONTEXT_RECIPIENT": "A university"}
    assert parse_project(PROJECT, said)[0].stated == Context(recipient="A university")


WRONG = [
    ('purpos = "x"', "purpos: [context] has no such setting", "Did you mean purpose?"),
    ("purpose = 3", "purpose = 3: must be a text", ""),
    ('release-model = "open"', "release-model = 'open': must be public, agreement or co", ""),
    ('review = "soon"', "review = 'soon': must be a date such as 2027-06-30", ""),
    ("review = 2027-06-30T10:00:00", "must be a date such as 2027-06-30", ""),
]


@pytest.mark.parametrize(("line", "says", "advice"), WRONG)
def test_what_is_wrong_is_told_by_its_line(line: str, says: str, advice: str) -> None:
    (problem,) = parse_project(f"{PROJECT}[context]\n{line}\n", {})[1]
    assert str(problem).startswith(f"{NAME}, line 6: ")
    assert says in str(problem)
    assert advice in problem.advice


@pytest.mark.parametrize(("line", "says", "advice"), WRONG)
def test_a_context_file_likewise(line: str, says: str, advice: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f"[context]\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        read_stated(str(file))
    assert caught.value.message.startswith(f"{file}, line 2: ")
    assert says in caught.value.message
    assert advice in caught.value.advice


@pytest.mark.parametrize("text", [CONTEXT + ACCEPT, PROJECT.replace("5", "1") + CONTEXT + ACCEPT])
def test_a_context_file_may_be_a_project_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(text)
    found = read_stated(str(tmp_path / "own.toml"))
    assert found.context == STATED
    assert [each.until for each in found.accepted] == [datetime.date(2099, 6, 30)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PROJECT, "has neither [context] nor [[accept]]"),
        (f"{CONTEXT}[contxt]\n", "line 5: [contxt]: unknown section"),
        (f"{CONTEXT}{ACCEPT}x = 1\n", "line 12: 'x': [[accept]] has no such setting"),
        (f"{CONTEXT}purpose = 3\n[x]\n", "line 5: invalid TOML"),
        ("context = 3\n", "line 1: context: must be a section"),
    ],
)
def test_what_a_context_file_cannot_be(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_stated(str(tmp_path / "own.toml"))
    assert says in caught.value.message
    assert caught.value.advice


def test_a_context_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_stated(str(tmp_path / "none.toml"))


def test_what_init_writes_is_read_again() -> None:
    data, release = {"ratings": "r.csv"}, {"method": "mondrian", "k": 3}
    text = text_of(data, release)
    names = [each.name.replace("_", "-") for each in settings_of(Context)]
    lines = text[text.index("[context]") :].splitlines()
    assert [line.split(" = ")[0].removeprefix("# ") for line in lines if " = " in line] == names
    project, problems = parse_project(text, {})
    assert (project.stated, problems) == (Context(), [])
    stated = parse_project(text_of(data, release, context=STATED.stated), {})[0]
    assert stated.stated == STATED


def test_the_keys_that_init_writes_can_be_uncommented(tmp_path: Path) -> None:
    text = text_of({"ratings": "r.csv"}, {"method": "mondrian", "k": 3})
    head, own = text[: text.index("[context]")], text[text.index("[context]") :]
    keys = [line.removeprefix("# ") for line in own.splitlines() if " = " in line]
    project, problems = parse_project("\n".join([head, "[context]", *keys]), {})
    assert problems == []
    assert list(project.stated.stated) == [each.name for each in settings_of(Context)]


def test_a_run_depends_on_it(tmp_path: Path) -> None:
    ratings = tmp_path / "u.csv"
    ratings.write_text("user,item,rating\n1,1,5\n2,1,4\n")
    plain = Project({"ratings": str(ratings)}, {}, {}, {})
    contexts = ({}, {"purpose": "A"}, {"purpose": "B"}, {"review": "2025-01-01"})
    inputs = [inputs_of(replace(plain, context=each)) for each in contexts]
    assert all(inputs)
    assert len(set(inputs)) == len(contexts)
    assert inputs_of(replace(plain, context={"purpose": " A "})) == inputs[1]
