"""``README.md`` names what there is, and its lines on recommenders run."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import starshade as ss
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.write import write_ratings
from starshade.utility.registry import PROBED
from tests.system import pages
from tests.system.conftest import call

PAGE = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## What is in it") :]


def test_the_first_screen_says_how_to_see_and_how_to_test_it() -> None:
    first = "\n".join(PAGE.splitlines()[:25])
    (block,) = (text for text in re.findall(r"```console\n(.*?)```", first, re.S) if "make" in text)
    assert re.findall(r"^\$ make (\w+) +# .*about .*minute", block, re.M) == ["demo", "test"]
    targets = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"\n{target}: " in targets
    assert "Python ≥ 3.11, make and a network" in first


@pytest.mark.parametrize(
    ("row", "room"), [("attack", "attack"), ("models", "privacy"), ("methods", "anonymize")]
)
def test_everything_registered_is_named(row: str, room: str) -> None:
    (line,) = re.findall(rf"^\| {row} \|.*$", TABLE, re.M)
    for entry in import_module(f"starshade.{room}.registry").ENTRIES:
        assert f"`{entry.name}`" in line, entry.name


def test_the_measures_of_recommenders_are_named() -> None:
    for entry in PROBED:
        assert f"`{entry.name}`" in TABLE, entry.name


def test_the_lines_on_recommenders_run() -> None:
    (block,) = (
        found
        for found in re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
        if "PredictiveAnonymizer" in found
    )
    ratings = synthesize(n_users=60, n_items=20, n_ratings=600, rng=0)
    names: dict[str, Any] = {"ratings": ratings}
    exec("import starshade as ss\n" + block, names)
    assert names["profiles"].shape == (len(names["sizes"]), names["release"].classes.n_items)
    assert int(np.sum(names["sizes"])) <= ratings.n_users


@pytest.mark.real
def test_what_it_quotes_is_printed(
    ml100k_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ratings.csv").symlink_to(ml100k_dir / "u.data")
    steps = pages.steps("../README.md")
    commands = [each.command for each in steps if each.command.startswith("starshade")][:2]
    for command, quoted in zip(
        commands, re.findall(r"```text\n(.*?)```", PAGE, re.S), strict=False
    ):
        result = call(*shlex.split(command)[1:], "--seed", 1)
        pages.compare(quoted, result.stdout, command)


#: set-up, and the studio's server, which other tests start
ELSEWHERE = ("make", "python3", ".venv/bin/starshade", "starshade studio")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["made up", pytest.param("MovieLens", marks=pytest.mark.real)])
def test_every_command_runs_in_order(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """A check may fail (1); no command may be refused (2)."""
    if kind == "MovieLens":
        folder = request.getfixturevalue("ml100k_dir")
        ratings = ss.read_ratings(folder / "u.data", users=folder / "u.user")
    else:
        ratings = synthesize(n_users=200, n_items=100, n_ratings=6000, rng=1)
    monkeypatch.chdir(tmp_path)
    prepare(ratings)
    steps = [each for each in pages.steps("../README.md") if not each.command.startswith(ELSEWHERE)]
    assert len(steps) > 20
    most_rated = ratings.items[int(np.argmax(ratings.item_support))]
    assert kind == "made up" or most_rated == "50"
    for step in steps:
        words = shlex.split(step.command.replace('"50"', f'"{most_rated}"'), comments=True)
        assert words[0] == "starshade", step.command
        unattended = ["--yes"] if words[1] == "init" else []
        result = call(*words[1:], *unattended)
        assert result.exit_code in (0, 1), f"{step.command}\n{result.stderr}"


def prepare(ratings: Ratings) -> None:
    """Write the files that README's commands read."""
    write_ratings(ratings, "ratings.csv")
    write_ratings(ratings.keep_users(np.arange(20)), "public.csv")
    assert ratings.attributes is not None
    people = ratings.attributes.rename_columns([n.lower() for n in ratings.attributes.column_names])
    csv.write_csv(people.add_column(0, "user", pa.array([*ratings.users])), "people.csv")
    answers = np.random.default_rng(1).integers(1, 6, (60, 20))
    questions = {f"q{number}": given for number, given in enumerate(answers.T, 1)}
    csv.write_csv(pa.table({"id": np.arange(60), **questions}), "survey.csv")
