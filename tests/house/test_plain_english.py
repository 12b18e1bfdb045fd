"""What people read is plain English: no old words, no long sentences, no questions as headings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.floors import SRC

ROOT = SRC.parents[1]
MOST_WORDS = 30
#: not in any text: there is a plainer word, or the field's term (docs/glossary.md)
OLD = re.compile(
    r"\b(whoever|whom|whomever|somebody|nobody|anew|beside|reckoned|strangers?|giveaway|likeness"
    r"|held against|made again|gone on with|at hand|in words|what came of|laid out)\b",
    re.I,
)
#: nor as a noun: in labels, headings and summaries
NOUNS = re.compile(
    r"\b(told|tells of|asked|sought|ceilings?|editions?|receipts?|outsiders?|insiders?|of its own"
    r"|so much|comes to|stands in)\b",
    re.I,
)
#: names of methods in the papers
NAMED = re.compile(r"k-likeness|klikeness", re.I)


class Text(NamedTuple):
    """A text that people read, and where it stands."""

    place: str
    kind: str  # "label", "help", "message" or "heading"
    text: str


def _texts(node: ast.AST | None) -> str:
    """Return a literal text; what an f-string fills in is one word."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_texts(p) if isinstance(p, ast.Constant) else "X" for p in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _texts(node.left) + _texts(node.right)
    return ""


_LABELS = {"Figure": (1,), "settable": (0,), "declared": (0,), "Table": (0,), "grouped": (0,)}
_HELPS = {"settable": (1,), "declared": (1,), "Figure": (4,)}
_HELP_NAMES = {"help", "meaning", "off", "unset", "summary", "short_help"}
_LABEL_NAMES = {"title", "label", "short"}


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _of_call(call: ast.Call) -> Iterator[tuple[str, str]]:
    name = _called(call)
    for kind, places in (("label", _LABELS), ("help", _HELPS)):
        for place in places.get(name, ()):
            if place < len(call.args):
                yield kind, _texts(call.args[place])
    for keyword in call.keywords:
        if keyword.arg in _HELP_NAMES:
            yield "help", _texts(keyword.value)
        elif keyword.arg in _LABEL_NAMES:
            yield "label", _texts(keyword.value)
        elif keyword.arg in ("advice", "reason"):
            yield "message", _texts(keyword.value)
    if name.endswith("Error") or name in ("note", "Advice", "Finding", "BadParameter"):
        for argument in call.args:
            yield "message", _texts(argument)


@cache
def of_sources() -> list[Text]:
    read: list[Text] = []
    for file in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                place = f"{file.relative_to(ROOT)}:{node.lineno}"
                read += [Text(place, kind, text) for kind, text in _of_call(node) if text]
    return read


def _literals() -> Iterator[Text]:
    """Return every sentence in the sources, docstrings aside, and the text of the templates."""
    for file in sorted(SRC.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) not in docstrings and (text := _texts(node)).count(" ") >= 2:
                yield Text(f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}", "text", text)
    for file in sorted(SRC.rglob("*.j2")):
        page = re.sub(r"\{#.*?#\}", "", file.read_text(encoding="utf-8"), flags=re.S)
        for number, line in enumerate(page.splitlines(), 1):
            yield Text(f"{file.relative_to(ROOT)}:{number}", "text", line)


_TAG = re.compile(r"<(h[1-6]|summary|legend|label|th|button|caption|title)\b[^>]*>(.*?)</\1>", re.S)


@cache
def of_pages() -> list[Text]:
    """Return the headings of templates and of the documentation."""
    read: list[Text] = []
    for file in sorted(SRC.rglob("*.j2")):
        page = file.read_text(encoding="utf-8")
        for found in _TAG.finditer(page):
            text = re.sub(r"<[^>]*>|\{[{%#].*?[}%#]\}", " ", found[2], flags=re.S)
            line = page.count("\n", 0, found.start()) + 1
            read.append(Text(f"{file.relative_to(ROOT)}:{line}", "heading", " ".join(text.split())))
    for file in _documents():
        for line, text in _prose(file):
            if text.startswith("#"):
                read.append(Text(f"{file.relative_to(ROOT)}:{line}", "heading", text.lstrip("# ")))
    return read


def _documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _prose(file: Path) -> Iterator[tuple[int, str]]:
    """Return the lines outside code; the glossary's last column holds the older words."""
    fenced = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            older = file.name == "glossary.md" and line.startswith("|")
            text = line.rstrip("| ").rpartition("|")[0] if older else line
            yield number, re.sub(r"`[^`]*`", "", text)


def _listed(texts: list[str]) -> str:
    return "\n".join([f"{len(texts)}:", *texts])


def _old(text: str, pattern: re.Pattern[str]) -> list[str]:
    return [word[0] for word in pattern.finditer(NAMED.sub("", text))]


def test_texts_are_found() -> None:
    kinds = {text.kind for text in [*of_sources(), *of_pages()]}
    assert kinds == {"label", "help", "message", "heading"}
    assert len(of_sources()) > 1000


def test_no_text_in_the_sources_has_an_old_word() -> None:
    left = [
        f"{text.place}: {', '.join(words)}: {text.text}"
        for text in _literals()
        if (words := _old(text.text, OLD))
    ]
    assert not left, _listed(left)


def test_no_label_has_an_old_noun() -> None:
    left = [
        f"{text.place}: {', '.join(words)}: {text.text}"
        for text in [*of_sources(), *of_pages()]
        if text.kind != "message" and (words := _old(text.text, NOUNS))
    ]
    assert not left, _listed(left)


def test_no_heading_is_a_question() -> None:
    left = [
        f"{text.place}: {text.text}"
        for text in [*of_sources(), *of_pages()]
        if text.kind in ("label", "heading") and text.text.endswith("?")
    ]
    assert not left, _listed(left)


@pytest.mark.parametrize("kind", ["help", "message"])
def test_sentences_are_short(kind: str) -> None:
    left = [
        f"{text.place}: {len(sentence.split())} words: {sentence}"
        for text in of_sources()
        if text.kind == kind
        for sentence in re.split(r"(?<=[.;:])\s", text.text)
        if len(sentence.split()) > MOST_WORDS
    ]
    assert not left, _listed(left)


def test_no_page_has_an_old_word() -> None:
    left = [
        f"{file.relative_to(ROOT)}:{number}: {', '.join(words)}"
        for file in _documents()
        for number, line in _prose(file)
        if (words := _old(line, OLD))
    ]
    assert not left, _listed(left)
