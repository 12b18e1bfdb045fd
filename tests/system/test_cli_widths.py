"""What commands print fits 80 columns, an interval stands in one line, a verdict first and last."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from starshade.cli.show import columns, unheld, verdict
from tests.policies import as_options
from tests.system.conftest import Made, call

ROOM = 80
BROKEN = re.compile(r"\[[-−<]?\s?\d[^\]]*$")
OF_RATINGS = {
    "compare": "--k 2,4 --items top:6 --targets 40 --seed 1",
    "attack": "--targets 40 --known 4 --seed 1",
    "attack --attack label": "--targets 40 --known 4 --absent --seed 1",
    "attack --attack likelihood": "--targets 40 --known 4 --seed 1",
    "attack --attack structure": "--targets 40 --known 4 --seed 1",
    "attack --attack tracker": "--seed 1",
    "check": "--k 3 --explain",
    "check --model k-m": "--k 3 --m 2 --explain",
    "data describe": "",
}
ALONE = tuple(f"list {what}" for what in ("attacks", "models", "methods", "measures", "settings"))


def fits(text: str) -> list[str]:
    """Return the lines; none is too long, but what is to be copied may be."""
    lines = text.splitlines()
    for line in lines:
        assert cell_len(line) <= ROOM or line.lstrip().startswith(
            ("starshade ", "Next     starshade ")
        ), line
        assert not BROKEN.search(line), line
    return lines


def said(*words: object, code: int = 0) -> list[str]:
    result = call(*words)
    assert result.exit_code == code, result.stderr
    return fits(result.stdout)


@pytest.mark.parametrize("command", OF_RATINGS)
def test_of_ratings(command: str, ratings_csv: Path) -> None:
    failed = command.startswith("check")
    lines = said(*command.split(), ratings_csv, *OF_RATINGS[command].split(), code=int(failed))
    assert not failed or "does not hold" in lines[0] + lines[1]
    assert not failed or lines[-1].endswith("does not hold")


@pytest.mark.parametrize("command", ALONE)
def test_of_nothing(command: str) -> None:
    said(*command.split())


def test_of_a_release(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    private = ("--private", made.receipt)
    said("data", "describe", made.folder)
    said("measure", ratings_csv, made.folder, *private)
    original = ("--original", ratings_csv, "--items", "top:10", "--seed", "1")
    said("attack", made.folder, *original, *private, "--attack", "likelihood", "--known", "4")
    lines = said("check", made.folder)
    assert lines[0].startswith(lines[-1])
    assert lines[-1] == "k-anonymity (k = 4) holds"
    few = ("--targets", "40", "--shadows", "1", "--seed", "1")
    lines = said("audit", ratings_csv, made.folder, *private, *few, "--details", *as_options())
    assert lines[0].startswith(
        "PASS (7 checks without effective threshold)  policy partner v1 with"
    )
    lines = said("audit", ratings_csv, made.folder, *private, *few, code=1)
    assert lines[0].startswith("FAIL  policy partner v1  k-exchange, k = 4: ")


@pytest.mark.parametrize("how", ["--method k-exchange --items top:6", "--method predictive"])
def test_of_anonymize(how: str, ratings_csv: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "r", "--private", tmp_path / "p.json")
    lines = said("anonymize", ratings_csv, "--k", "4", *how.split(), *out, "--seed", "1")
    heads = [line for line in lines if line and line[0].isalpha()]
    remains, literature, shown = (
        next(i for i, line in enumerate(heads) if line.startswith(begin))
        for begin in (
            "Utility: ratings recoverable",
            "For comparison",
            "Example classes as published",
        )
    )
    assert remains < literature < shown


def rendered(part: object, **how: object) -> str:
    out = io.StringIO()
    Console(file=out, highlight=False, **{"width": ROOM, **how}).print(part, crop=False)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize(("good", "code"), [(True, "32"), (False, "31"), (None, "33")])
def test_a_verdict_has_colours_where_they_are_allowed(good: bool | None, code: str) -> None:
    terminal = {"force_terminal": True, "color_system": "standard"}
    shown = verdict("PASS", good, ": rest")
    assert f"\x1b[1;{code}mPASS\x1b[0m" in rendered(shown, **terminal)
    assert code not in rendered(shown, **terminal, no_color=True)
    assert rendered(shown).strip() == "PASS: rest"


WORD = st.sampled_from(["a", "record", "k-exchange", "±0.5", "94.5%", "[89.1%, 98.8%];", "問題"])
CELL = st.lists(WORD, max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 8), st.sampled_from(["left", "right"]), st.booleans())
def test_tables_say_every_word_and_fit(
    data: st.DataObject, n: int, align: str, narrow: bool
) -> None:
    rows = data.draw(st.lists(st.lists(CELL, min_size=n, max_size=n), max_size=5))
    room = 40 if narrow else ROOM
    text = unheld(rendered(columns([f"head {i}" for i in range(n)], rows, align=align), width=room))
    assert all(cell_len(line.rstrip()) <= room for line in text.splitlines())
    assert not any(BROKEN.search(line.rstrip()) for line in text.splitlines())
    words = [word for row in rows for cell in row for word in cell.split()]
    for word in set(words):
        assert text.split().count(word) >= words.count(word)
