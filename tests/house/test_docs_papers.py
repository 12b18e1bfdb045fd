"""``docs/papers.md`` names every definition of the papers, and only files and tests there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.floors import SRC

ROOT = SRC.parents[1]
TESTS = ROOT / "tests"
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))

# what each paper numbers, read off the papers themselves
WHOLE = {
    "Narayanan & Shmatikov 2008": [
        *(f"Definition {n}" for n in range(1, 5)),
        "Algorithm Scoreboard",
        "Algorithm Scoreboard-RH",
        *(f"Theorem {n}" for n in range(1, 6)),
        "Lemma 1",
        *(f"Figure {n}" for n in range(1, 13)),
        "§5, table",
        "§5, IMDb",
    ],
    "Chang, Thompson, Wang & Yao 2009": [
        *(f"Definition {n}" for n in ("2.1", "3.1", "3.2", "3.3", "5.1", "5.2", "5.3")),
        *(f"Theorem {n}" for n in ("6.1", "6.2", "6.3")),
        "Algorithm 1",
        *(f"Table {n}" for n in range(1, 4)),
        *(f"Figure {n}" for n in range(1, 6)),
    ],
    "Riyana & Natwichai 2018": [
        *(f"Definition {n}" for n in range(1, 13)),
        "Theorem 1",
        *(f"Eq. {n}" for n in range(1, 8)),
        *(f"Algorithm {n}" for n in range(1, 4)),
        *(f"Table {n}" for n in range(1, 7)),
        *(f"Figure {n}" for n in range(4, 17)),
    ],
    "Sun & Sun 2013": [
        *(f"Definition {n}" for n in range(1, 6)),
        *(f"Eq. {n}" for n in range(1, 4)),
        "Theorem 1",
        "Theorem 2",
        "Problem 1",
        "Algorithm 1",
        *(f"Table {n}" for n in range(1, 6)),
        *(f"Figure {n}" for n in range(1, 9)),
    ],
    "Sun, Wang & Li: the satisfaction problem": [
        *(f"Definition {n}" for n in range(1, 4)),
        "Satisfaction problem",
        "Algorithm 1",
        "Figure 1",
        "Figure 2",
    ],
}
#: figures, and other parts, that each reproduction gives
GIVEN = {
    "ns": {
        *(f"figure {n}" for n in (*range(1, 13), "1b", "4b", "5b", "5c", "12b")),
        *("every figure of attacks", "as printed and as read"),
        *("theorems", "few facts", "table", "grids", "claims", "worked"),
    },
    "pa": {
        *(f"{kind} {n}" for kind, ns in (("table", (1, 2, 3)), ("figure", (3, 4, 5))) for n in ns),
        *("releases", "claims", "attacks", "links", "diversity", "worked tables"),
    },
    "kl": {
        *(f"figure {n}" for n in range(10, 17)),
        "figure 16a",
        "worked tables",
        "claims",
        "grids",
    },
    "sr": {*(f"figure {n}" for n in range(3, 9)), "claims", "grids", "worked tables"},
    "sq": {"figure 1", "figure 2", "claims", "grids", "worked tables"},
}


def rows(section: str) -> list[list[str]]:
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def labels(section: str) -> set[str]:
    """Return what the first column names; "Figures 6 to 9" names four."""
    found: set[str] = set()
    for row in rows(section):
        for part in row[0].split(", "):
            found.add(part)
            for word, first, last in re.findall(r"(\w+)s (\d+) to (\d+)", part):
                found |= {f"{word.capitalize()} {n}" for n in range(int(first), int(last) + 1)}
        found.add(row[0])
    return found


@cache
def source(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def every_row() -> Iterator[tuple[str, list[str]]]:
    """Return the place of each row of the papers' tables, and what its other columns hold."""
    for paper in WHOLE:
        for label, _, *told in rows(paper):
            yield f"{paper}: {label}", told


def test_every_definition_has_its_row() -> None:
    missing = [
        f"{paper}: {label}" for paper in WHOLE for label in set(WHOLE[paper]) - labels(paper)
    ]
    assert not missing, "\n".join(missing)


def test_every_file_and_every_test_is_there() -> None:
    gone = []
    for section, text in SECTIONS.items():
        paths = re.findall(r"`([a-z_0-9/]+\.py)(?:::(\w+))?`", text)
        assert paths, section
        for path, test in paths:
            file = next((root / path for root in (SRC, TESTS) if (root / path).is_file()), None)
            if file is None or (test and f"def {test}(" not in source(file)):
                gone.append(f"{section}: {path} {test}")
    assert not gone, "\n".join(gone)


def test_a_row_has_a_module_and_a_test_or_neither() -> None:
    wrong = [
        place
        for place, (module, test, shown) in every_row()
        if (module == "–") != (test == "–")
        or not (module == "–" or all(p.startswith("`") for p in (module, test)))
        or not shown.startswith(("–", "`reproduce "))
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_reproduced_is_among_what_the_command_gives() -> None:
    wrong = [
        f"{place}: {part}"
        for place, (*_, shown) in every_row()
        for name, part in re.findall(r"`reproduce (\w\w)`(?:, (.*))?", shown)
        if part and part not in GIVEN[name]
    ]
    assert not wrong, "\n".join(wrong)


def test_every_figure_that_is_drawn_is_in_some_row() -> None:
    told = set(re.findall(r"`reproduce (\w\w)`, ([^|]*?) \|", PAGE))
    assert {(name, part) for name, parts in GIVEN.items() for part in parts} <= told
