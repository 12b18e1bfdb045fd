"""``docs/reference/settings.md`` names every setting, its option and its default as they are."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from runpy import run_path

import click

import starshade
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.audit.compare.settings import CompareSettings
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
    "Context": "report",
    "Query": "query",
}
#: fields that Python alone sets, which the page names in a sentence
NAMED = {
    "Risk": ("attack",),
    "inference": ("method", "known"),
    "membership": ("method", "known"),
}
#: functions, and the classes that declare what they take
DECLARED = {"compare": (CompareSettings, "compare")}
CLASSES: dict[str, tuple[type, str]] = (
    {
        entry.name: (entry.load(), COMMANDS.get(room, "anonymize"))
        for room in (*COMMANDS, "recommend")
        for entry in import_module(f"starshade.{room}.registry").ENTRIES
    }
    | {name: (getattr(starshade, name), command) for name, command in OTHERS.items()}
    | DECLARED
)


def sections() -> dict[str, dict[str, Row]]:
    """Return the tables of the page: name of a thing → setting → option, default, meaning."""
    found: dict[str, dict[str, Row]] = {}
    for names, text in re.findall(r"^### (.*?)\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S):
        lines = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", text, re.M)
        table = {name: (option, default, meaning) for name, option, default, meaning in lines}
        found |= dict.fromkeys(re.findall(r"`([\w-]+)`", names), table)
    return found


SECTIONS = sections()


def options(command: str) -> set[str]:
    """Return what the options of a command set."""
    found = main.get_command(click.Context(main), command)
    assert found is not None
    return {str(option.name) for option in found.params if isinstance(option, click.Option)}


def test_every_thing_with_settings_has_its_section_and_no_other_has() -> None:
    assert set(SECTIONS) == set(CLASSES)


def test_every_field_is_declared_and_stands_in_its_table() -> None:
    assert all(is_dataclass(cls) for cls, _ in CLASSES.values())
    assert {name: [*SECTIONS[name], *NAMED.get(name, ())] for name in CLASSES} == {
        name: [field.name for field in fields(cls)] for name, (cls, _) in CLASSES.items()
    }


def test_a_setting_with_an_option_names_it() -> None:
    attacks = {entry.name for entry in ATTACKS}
    there = {command: options(command) for _, command in CLASSES.values()}
    wrong = []
    for name, (_, command) in CLASSES.items():
        for setting, (option, _, _) in SECTIONS[name].items():
            sets = command in ("check", "anonymize") or name in attacks
            if option == "–" and sets and setting in there[command]:
                wrong.append(f"{name}.{setting}: {command} has an option, the page has none")
    assert not wrong, "\n".join(wrong)


def test_settings_are_in_the_docstring() -> None:
    # the reference is made of docstrings: what is not there, or in a base, is not explained
    missing = []
    for name, (cls, _) in CLASSES.items():
        told_by = [getattr(starshade, name)] if name in DECLARED else cls.__mro__
        texts = [base.__doc__ or "" for base in told_by]
        for field in fields(cls):
            row = rf"^\s+(?:\w+, )*{field.name}(?:, \w+)*(?: :|$)"
            if not any(re.search(row, text, re.M) for text in texts):
                missing.append(f"{name}.{field.name}")
    assert not missing, "\n".join(missing)


def test_the_page_s_reader_reads() -> None:
    assert SECTIONS["Risk"]["share"][:2] == ("–", "`0.9`")
