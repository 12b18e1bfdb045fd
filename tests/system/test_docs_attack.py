"""What ``docs/attack-explained.md`` says is what its commands, and its picture's script, say."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

import starshade as ss
from starshade.ratings.table import Ratings
from tests.system import pages
from tests.system.conftest import told

NAME = "attack-explained.md"
PAGE = (pages.DOCS / NAME).read_text(encoding="utf-8")
PICTURES = pages.DOCS / "pictures"


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return ss.synthesize("movielens-100k", rng=1)


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(PICTURES / "attack_explained.py"))


@pytest.fixture(scope="module")
def shares(script: dict[str, Any], ratings: Ratings) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = script["found"](ratings)
    return found


def rows(head: str) -> list[list[str]]:
    """Return the cells of the table that begins with these words."""
    table = PAGE[PAGE.index(f"| {head} ") :].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]]


def test_the_commands_say_what_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(pages.steps(NAME)) >= 7
    pages.run(NAME, tmp_path, monkeypatch)


def test_the_scores_of_five_people_are_those_worked_out_by_hand() -> None:
    # weights 1/ln 3, 1/ln 3, 1/ln 2; likeness e^(-|stars|/1.5) + e^(-|days|/30)
    assert re.findall(r"record \d \(\d\)   ([\d.]+)", PAGE) == [
        "3.641",
        "2.623",
        "1.245",
        "0.5057",
        "2.885",
    ]


def test_the_table_of_facts_is_what_the_script_finds(
    shares: dict[str, dict[str, list[float]]],
) -> None:
    lines = [line for panel in shares.values() for line in panel.values()]
    told_in_table = [cells[1:] for cells in rows("adversary's knowledge")]
    assert told_in_table == [[f"{100 * share:.1f} %" for share in line] for line in lines]


def test_the_picture_shows_the_same(shares: dict[str, dict[str, list[float]]]) -> None:
    drawn = json.loads((PICTURES / "attack-explained.vl.json").read_text(encoding="utf-8"))
    for panel, lines in zip(drawn["hconcat"], shares.values(), strict=True):
        points = [
            (value["line"], value["facts"], value["found"])
            for value in panel["layer"][0]["data"]["values"]
        ]
        facts = (1, 2, 3, 4, 6, 8)
        assert points == [
            (name, m, round(share, 4))
            for name, line in lines.items()
            for m, share in zip(facts, line, strict=True)
        ]
    svg = (PICTURES / "attack-explained.svg").read_text(encoding="utf-8")
    assert drawn["title"]["text"] in svg
    assert all(name in svg for lines in shares.values() for name in lines)


def test_the_table_of_what_is_known_is_what_the_command_says(
    tmp_path: Path, ratings: Ratings
) -> None:
    ss.write_ratings(ratings, tmp_path / "ratings.csv", "csv")
    table = rows("options")
    assert len(table) == 6
    for options, guess, stands, _ in table:
        words = shlex.split(options.strip("`"))
        said = told("attack", tmp_path / "ratings.csv", *words, "--seed", "1")
        assert (f"{said['expected_top1']:.1%}", f"{said['success']['rate']:.1%}") == (
            guess.replace(" ", ""),
            stands.replace(" ", ""),
        ), options


def test_the_figures_in_sentences(ratings: Ratings) -> None:
    twins = ss.Sparsity().run(ratings, rng=1).neighbours[0].delta(0.5).rate
    absent = ss.ScoreboardRH(absent=True).run(ratings, ss.Knowledge(known=8, wrong=2), rng=1)
    assert absent.false_match_absent is not None
    for share, sentence in (
        (twins, r"Of the 943 synthetic people ([\d.]+) %"),
        (absent.false_match_absent.rate, r"`--absent` says .*?: here ([\d.]+) %"),
    ):
        (figure,) = re.findall(sentence, pages.flat(PAGE))
        assert figure == f"{100 * share:.1f}"
