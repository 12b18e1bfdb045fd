"""On a page a message names fields and files as the page shows them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from starshade.server.ask.data import MAPPING
from starshade.server.in_words import ELSEWHERE, for_page, settings_of
from starshade.server.jobs.rows import JobKind
from tests.house.floors import SRC

ROOMS = ("ratings", "anonymize", "attack", "audit", "release", "privacy", "utility")
OPTION = re.compile(r"(?<![-|])--([a-z][a-z-]*[a-z]|k)\b")
KINDS: tuple[JobKind, ...] = ("read", "attack", "compare", "release")


def options_that_messages_name() -> Iterator[str]:
    for room in ROOMS:
        for file in sorted((SRC / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from OPTION.findall(node.value)


def test_no_page_speaks_of_an_option() -> None:
    spoken = []
    for option in sorted(set(options_that_messages_name())):
        for kind in KINDS:
            for text in (f"Give --{option}.", f"Say so (--{option} NAME, x=NAME)."):
                said = for_page(text, kind)
                if "--" in said.replace(ELSEWHERE.get(option, "-"), ""):
                    spoken.append(said)
    assert not spoken, "\n".join(spoken)


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("read", "Lines 2 and 3: use --user-col 1 --item-col 2.",
         "Lines 2 and 3: use “Column of the people”: 1, “Column of the items”: 2."),
        ("read", "--wide --id-col NAME --attribute-cols NAME,NAME.",
         "“One row per person, a column per item (a survey)”, "
         "“Survey: column of the people's ids”, “Survey: columns of personal attributes”."),
        ("read", "Declare what stands for not rated (--null).",
         "Declare what stands for not rated (“Values that mean ‘not rated’”)."),
        ("read", "Give --format csv.", "Give “Format”: csv."),
        ("attack", "Lower known (--known), or it.",
         "Lower known (“Facts known about each person”), or it."),
        ("release", "Use a larger --k, fewer items (--items top:N).",
         "Use a larger “How many people hide together (k)”, fewer items (“Only the most rated "
         "items”)."),
        ("release", "Declare the scale (--scale).",
         "Declare the scale (“Scale of the ratings” under “Read it differently”)."),
        ("release", "Give a file of them (--users FILE, users=FILE).",
         "Give a file of them (“File of personal attributes (optional)” under “Read it "
         "differently”)."),
        ("release", "Choose fewer items, e.g. --items top:100, or allow more with --memory.",
         "Choose fewer items, e.g. “Only the most rated items”: 100, or allow more with the "
         "option --memory of starshade studio."),
        ("release", "Without the receipt (--private) nobody can tell.",
         "Without the receipt nobody can tell."),
    ],
)  # fmt: skip
def test_an_option_is_the_label_of_its_field(kind: JobKind, text: str, said: str) -> None:
    assert for_page(text, kind) == said


def test_every_field_of_reading_is_called_by_its_label() -> None:
    for setting in MAPPING.settings({}):
        assert settings_of("read")[setting.name].label == setting.label


def test_a_file_has_the_name_that_it_was_brought_under() -> None:
    inside = "/srv/studio/uploads/18/two_good.zip"
    said = for_page(f"{inside}:b.csv, line 2: no rating", "read", {inside: "two good.zip"})
    assert said == "two good.zip:b.csv, line 2: no rating"
    assert for_page(f"{inside}: empty", "read") == "two_good.zip: empty"
