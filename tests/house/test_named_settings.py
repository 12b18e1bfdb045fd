"""What is said below the doors names settings, and each door has a way to write them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from starshade.cli import main
from starshade.cli.options.spelling import as_option
from starshade.server.ask.labels import ELSEWHERE, as_field
from starshade.server.jobs.store import JobKind
from tests.house.floors import SRC, room_of
from tests.system.test_cli_docs import commands

DOORS = ("cli", "server")
KINDS: tuple[JobKind, ...] = ("read", "attack", "compare", "release")
#: an option, but for one of a whole command: "starshade attack --aux FILE"
OPTION = re.compile(r"(?<![-\w|])--[a-z][a-z-]*")
COMMAND = re.compile(r"starshade [a-z]+ [^.;()`]*")


def texts(file: Path) -> Iterator[ast.Constant]:
    """Find every text in a file that is no docstring."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node


def below_the_doors() -> Iterator[Path]:
    return (file for file in sorted(SRC.rglob("*.py")) if room_of(file, SRC) not in DOORS)


def options_in(text: str) -> list[str]:
    return OPTION.findall(COMMAND.sub("", text))


@cache
def settings_named() -> dict[str, str]:
    """Return every setting that a message names by its own name → where."""
    calls = {"named": 1, "called": 1, "aside": 1, "together": 99}
    found = {}
    for file in below_the_doors():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                for given in node.args[: calls.get(node.func.id, 0)]:
                    name = given.elts[0] if isinstance(given, ast.Tuple) else given
                    if isinstance(name, ast.Constant):
                        found[name.value] = f"{file}:{node.lineno}"
    return found


def test_no_message_spells_an_option() -> None:
    told = [
        f"{file}:{text.lineno}: {found}"
        for file in below_the_doors()
        for text in texts(file)
        if (found := options_in(text.value))
    ]
    assert not told, "name the setting by `starshade.naming.named`:\n" + "\n".join(told)


def test_options_are_seen_and_whole_commands_are_none() -> None:
    assert options_in("Say so (--k), or --items top:N.") == ["--k", "--items"]
    assert options_in("`starshade data split --probe P` or --k") == ["--k"]
    assert options_in("a--b, x|--c, -- and ---") == []


def nameless(source: str) -> Iterator[str]:
    """Find errors that carry the setting at fault, and do not name it in what they say."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("Error"):
            continue
        given = {each.arg: each.value for each in node.keywords}
        carried = given.pop("setting", None)
        if carried is None:
            continue
        told = " ".join(map(ast.unparse, (*node.args, *given.values())))
        if isinstance(carried, ast.Constant):
            names = [str(carried.value), str(carried.value).replace("_", " ")]
        else:  # said by the same expression, or by the error that is passed on
            names = [ast.unparse(carried), "error.message"]
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", told) for name in names):
            yield f"{node.lineno}: {ast.unparse(carried)}"


def test_an_error_names_the_setting_that_it_carries() -> None:
    found = [
        f"{file}:{each}" for file in below_the_doors() for each in nameless(file.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)


def test_an_error_that_does_not_name_its_setting_is_caught() -> None:
    for told, caught in (
        ("f'top:{n}: too many', setting='items'", True),
        ("f'items top:{n}: too many', setting='items'", False),
        ("'too many', advice=f'Lower {named(\"items\")}.', setting='items'", False),
        ("f'rare items {x}: what?', setting='rare_items'", False),
        ("f'no column {x}', setting=setting", True),
        ("f'no column {x}{aside(setting)}', setting=setting", False),
        ("error.message, setting=error.setting", False),
        ("'no ratings'", False),
    ):
        assert len(list(nameless(f"raise ConfigError({told})"))) == caught


#: what a message may begin with that means a thing, not the setting that is called so
THINGS = {"attribute", "attributes", "scale", "items", "ratings", "hierarchy", "bounds"}
#: where settings are told that Python alone has, though options are called so too
PYTHON_ALONE = {"sparsity"}


def bare(source: str, settings: set[str]) -> Iterator[str]:
    """Find messages that begin with a setting as Python spells it, whichever the door."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ConfigError" and node.args:
            told = re.match(r"""f?['"](\w+)( = | \{|: )""", ast.unparse(node.args[0]))
            if told and told[1] in settings - THINGS:
                yield f"{node.lineno}: {told[1]}"


def test_no_message_begins_with_a_setting_as_python_spells_it() -> None:
    every = (p for c in commands(main).values() for p in c.params if isinstance(p, click.Option))
    settings = {flag[2:].replace("-", "_") for p in every for flag in p.opts}
    found = [
        f"{file}:{each}"
        for file in below_the_doors()
        if file.parent.name not in PYTHON_ALONE
        for each in bare(file.read_text("utf-8"), settings)
    ]
    assert not found, "begin with `starshade.naming.called`:\n" + "\n".join(found)


def test_a_message_that_begins_with_a_bare_setting_is_caught() -> None:
    for told, caught in (
        ("f'k = {k}: too few'", True),
        ("f'draws {n}: at least 1'", True),
        ("'draws: none'", True),
        ("f'{called(\"k\")} = {k}: too few'", False),
        ("f'k people are too few'", False),
    ):
        assert len(list(bare(f"raise ConfigError({told})", {"k", "draws"}))) == caught


def test_every_setting_that_is_named_is_an_option_of_some_command() -> None:
    every = [p for c in commands(main).values() for p in c.params if isinstance(p, click.Option)]
    there = {flag for p in every for flag in (*p.opts, *p.secondary_opts)}
    missing = {
        name: where
        for name, where in settings_named().items()
        if not {as_option(name), as_option(name, False)} & there
    }
    assert not missing
    assert len(settings_named()) > 40


def test_no_page_speaks_of_an_option() -> None:
    for kind in KINDS:
        for name in settings_named():
            said = as_field(kind)(name, None)
            assert "--" not in said or name in ELSEWHERE, said
