"""``docs/reference/settings.md`` names every setting, its option and its default as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from runpy import run_path
from typing import Any

import click

import starshade
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.cli import main
from tests.house.floors import SRC

DOCS = SRC.parents[1] / "docs"
HOOKS = run_path(str(DOCS / "hooks.py"))
#: with the tables that are made while the site is built
PAGE = HOOKS["on_page_markdown"]((DOCS / "reference" / "settings.md").read_text(encoding="utf-8"))
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


def every_setting() -> Iterator[tuple[str, Field[Any], Row]]:
    """Return the name of a thing, each of its fields, and what the page says of it."""
    for name, (cls, _) in CLASSES.items():
        for field in fields(cls):
            yield name, field, SECTIONS[name].get(field.name, ("", "", ""))


def test_settings_are_the_fields() -> None:
    assert all(is_dataclass(cls) for cls, _ in CLASSES.values())
    assert {name: list(SECTIONS[name]) for name in CLASSES} == {
        name: [field.name for field in fields(cls)] for name, (cls, _) in CLASSES.items()
    }


def test_defaults_are_those_of_the_code() -> None:
    wrong = [
        f"{name}.{field.name}: {written(field)}, the page says {default}"
        for name, field, (_, default, _) in every_setting()
        if written(field) not in default.split(" or ")
    ]
    assert not wrong, "\n".join(wrong)


def test_every_setting_is_explained_and_so_is_a_default_of_none() -> None:
    wrong = [
        f"{name}.{field.name}: {meaning}"
        for name, field, (_, default, meaning) in every_setting()
        if not (meaning and (default != "`None`" or re.match(r"as of|the same|.*None: ", meaning)))
    ]
    assert not wrong, "\n".join(wrong)


def test_options_set_what_the_page_says() -> None:
    wrong = []
    attacks = {entry.name for entry in ATTACKS}
    there = {command: options(command) for _, command in CLASSES.values()}
    for name, field, (told, _, _) in every_setting():
        command = CLASSES[name][1]
        option = told.strip("`")
        if option == "–":
            sets = command in ("check", "anonymize") or name in attacks
            if sets and field.name in there[command].values():
                wrong.append(f"{name}.{field.name}: {command} has an option, the page has none")
        elif option not in there[command]:
            wrong.append(f"{name}.{field.name}: {command} has no {option}")
    assert not wrong, "\n".join(wrong)


def test_settings_are_in_the_docstring() -> None:
    # the reference is made of docstrings: what is not there, or in a base, is not explained
    missing = []
    for name, field, _ in every_setting():
        row = rf"^\s+(?:\w+, )*{field.name}(?:, \w+)*(?: :|$)"
        texts = (base.__doc__ or "" for base in CLASSES[name][0].__mro__)
        if not any(re.search(row, text, re.M) for text in texts):
            missing.append(f"{name}.{field.name}")
    assert not missing, "\n".join(missing)


def test_the_page_s_reader_reads() -> None:
    assert SECTIONS["Risk"]["share"][:2] == ("–", "`0.9`")
