"""`init` keeps a question about codes open, and leaves out what does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.system.conftest import call, refused, told


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def survey(place: Path, codes: tuple[int, ...] = ()) -> None:
    """Write answers of 60 people to 8 questions, from 0 to 10, and codes among them."""
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 11, (60, 8))
    for code in codes:
        cells[rng.random(cells.shape) < 0.05] = code
    lines = ["id," + ",".join(f"q{j}" for j in range(8))]
    lines += [",".join(map(str, (1000 + i, *row))) for i, row in enumerate(cells)]
    place.write_text("\n".join(lines) + "\n")


def test_an_undecided_code_is_a_question_until_it_is_answered(home: Path) -> None:
    survey(home / "wide.csv", (77, 88))
    assert call("init", "wide.csv", "--wide", "--yes").exit_code == 0
    file = home / "starshade.toml"
    text = file.read_text()
    assert 'for \'no answer\': if so, add null-values = ["77", "88"].' in text
    assert 'id-col = "id"' in text
    assert "scale =" not in text
    checked = told("check-config")
    assert checked["problems"] == []
    assert "77 and 88 may be codes" in checked["questions"][0]
    assert 'add null-values = ["77", "88"]' in call("check-config").stdout.replace("\n", " ")
    said = refused("run", "--dry-run")
    assert "an open question: 77 and 88 may be codes" in said
    for answer in ('["77", "88"]', "[]"):
        file.write_text(text.replace("[data]\n", f"[data]\nnull-values = {answer}\n"))
        assert call("run", "--dry-run").exit_code == 0
        assert told("check-config")["questions"] == []
    # a file of an earlier version goes on as it was
    file.write_text(text.replace("version = 2", "version = 1"))
    assert call("run", "--dry-run").exit_code == 0


def test_a_wide_table_without_codes_can_be_run_as_it_is_written(home: Path) -> None:
    survey(home / "wide.csv")
    numbered = ("init", "wide.csv", "--wide", "--id-col", "#", "--yes")
    assert "'id'" in call(*numbered).stderr  # the ids are no answers
    assert call(*numbered, "--attribute-cols", "id").exit_code == 0
    assert 'id-col = "#"' in (home / "starshade.toml").read_text()
    (home / "starshade.toml").unlink()
    assert call("init", "wide.csv", "--wide", "--yes").exit_code == 0
    text = (home / "starshade.toml").read_text()
    assert 'scale = "0:10:1"' in text
    assert "60 people" in call("run", "--dry-run").stdout
    (home / "starshade.toml").write_text(text.replace('id-col = "id"', 'user-col = "id"'))
    (problem,) = told("check-config", code=2)["problems"]
    assert "user-col: names a column of a long table, but this table is wide" in str(problem)


def test_list_lists_every_kind() -> None:
    assert list(told("list")) == ["attacks", "models", "methods", "measures"]
    said = call("list").stdout
    assert all(name in said for name in ("scoreboard-rh", "k-exchange", "mondrian"))
    assert list(told("list", "methods")) == ["methods"]


def test_guessed_attributes_that_do_not_fit_are_left_out(home: Path) -> None:
    rows = [f"u{u},m{i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)]
    (home / "mine.csv").write_text("\n".join(["user,item,rating", *rows]) + "\n")
    (home / "users.csv").write_text("user,age,zip\nv1,20,01\nv2,30,02\n")
    said = call("init", "mine.csv", "--yes")
    assert said.exit_code == 0, said.stderr
    assert "users.csv does not match these ratings and is ignored" in said.stderr
    assert "users =" not in (home / "starshade.toml").read_text()
    (home / "starshade.toml").unlink()
    # what is given is not left out
    assert "none of its users" in refused("init", "mine.csv", "--yes", "--users", "users.csv")


def test_ratings_of_one_user_are_refused_before_a_file_is_written(home: Path) -> None:
    (home / "r.csv").write_text("user,item,rating\nu,a,4\nu,b,3\n")
    assert "of one user; k-anonymity needs at least two users" in refused("init", "r.csv", "--yes")
    assert not (home / "starshade.toml").exists()


def test_a_single_rating_of_all_is_noted_in_the_file(home: Path) -> None:
    (home / "r.csv").write_text("user,item,rating\nu,a,1\nv,b,1\nw,b,1\n")
    assert call("init", "r.csv", "--yes").exit_code == 0
    text = (home / "starshade.toml").read_text()
    assert "# Every rating is 1: only who rated what differs" in text
    assert text.index("Every rating") > text.index("[data]")
