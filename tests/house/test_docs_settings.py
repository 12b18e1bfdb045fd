"""``docs/reference/settings.md`` names every setting, its option and its default as they are."""

from __future__ import annotations

import re
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from typing import Any

import click
import pytest

import starshade
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.cli import main
from tests.house.floors import SRC

PAGE = (SRC.parents[1] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
Row = tuple[str, str, str]  # option, default, meaning
#: room → the command that sets its settings
COMMANDS = {"attack": "attack", "privacy": "check", "anonymize": "anonymize", "utility": "measure"}
#: public classes with settings that are in no registry
OTHERS = {
    "Knowledge": "attack",
    "Risk": "attack",
    "AuxiliaryAttack": "attack",
    "Sparsity": "attack",
    "Audit": "audit",
    "Query": "query",
}
CLASSES: dict[str, tuple[type, str]] = {
    entry.name: (entry.load(), COMMANDS.get(room, "anonymize"))
    for room in (*COMMANDS, "recommend")
    for entry in import_module(f"starshade.{room}.registry").ENTRIES
} | {name: (getattr(starshade, name), command) for name, command in OTHERS.items()}


def sections() -> dict[str, dict[str, Row]]:
    """Return the tables of the page: name of a thing → setting → option, default, meaning."""
    found: dict[str, dict[str, Row]] = {}
    for names, text in re.findall(r"^### (.*?)\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S):
        lines = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", text, re.M)
        table = {name: (option, default, meaning) for name, option, default, meaning in lines}
        found |= dict.fromkeys(re.findall(r"`([\w-]+)`", names), table)
    return found


SECTIONS = sections()


def written(field: Field[Any]) -> str:
    """Return the default as the page writes it."""
    if field.default_factory is not MISSING:
        return f"`{field.default_factory.__name__}()`"  # type: ignore[attr-defined]
    if field.default is MISSING:
        return "required"
    value = field.default
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"`{value:.12g}`" if plain else f"`{value}`"


def options(command: str) -> dict[str, str]:
    """Return each option of a command, and the name of the parameter that it sets."""
    found = main.get_command(click.Context(main), command)
    assert found is not None
    return {
        flag: parameter.name or ""
        for parameter in found.params
        if isinstance(parameter, click.Option)
        for flag in parameter.opts
    }


def test_every_thing_with_settings_has_its_section_and_no_other_has() -> None:
    assert set(SECTIONS) == set(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_settings_are_the_fields(name: str) -> None:
    cls, _ = CLASSES[name]
    assert is_dataclass(cls)
    assert list(SECTIONS[name]) == [field.name for field in fields(cls)]


@pytest.mark.parametrize("name", CLASSES)
def test_defaults_are_those_of_the_code(name: str) -> None:
    for field in fields(CLASSES[name][0]):
        _, default, meaning = SECTIONS[name][field.name]
        assert written(field) in default.split(" or "), field.name
        assert meaning
        if default == "`None`":
            assert "None: " in meaning or meaning.startswith(("as of", "the same")), field.name


@pytest.mark.parametrize("name", CLASSES)
def test_options_set_what_the_page_says(name: str) -> None:
    cls, command = CLASSES[name]
    there = options(command)
    by_parameter = {parameter: flag for flag, parameter in there.items()}
    for field in fields(cls):
        option = SECTIONS[name][field.name][0].strip("`")
        if option == "–":
            told = command in ("check", "anonymize") or name in {e.name for e in ATTACKS}
            assert not (told and field.name in by_parameter), field.name
        else:
            assert option in there, f"{command} has no {option}"


@pytest.mark.parametrize("name", [name for name, (cls, _) in CLASSES.items() if fields(cls)])
def test_settings_are_in_the_docstring(name: str) -> None:
    # the reference is made of docstrings: what is not there, or in a base, is not explained
    cls, _ = CLASSES[name]
    texts = [base.__doc__ or "" for base in cls.__mro__]
    for field in fields(cls):
        row = rf"^\s+(?:\w+, )*{field.name}(?:, \w+)*(?: :|$)"
        assert any(re.search(row, text, re.M) for text in texts), field.name


def test_the_page_s_reader_reads() -> None:
    assert SECTIONS["scoreboard-rh"]["d0"] == ("`--d0`", "`30`", "the same for days")
