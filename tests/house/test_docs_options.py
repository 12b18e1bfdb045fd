"""Every option stands in the section of its command, or among those that commands share."""

from __future__ import annotations

import re

import click

from starshade.cli import main
from tests.system.test_cli_docs import PAGE, SECTIONS, commands

SHARED = PAGE[PAGE.index("## Options that commands share") : PAGE.index("## `starshade demo`")]
COMMANDS = commands(main)


def named(flag: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text))


def test_every_option_has_its_place() -> None:
    missing = [
        f"{command} {parameter.opts}"
        for command in COMMANDS
        for parameter in COMMANDS[command].params
        if isinstance(parameter, click.Option)
        and not any(named(flag, SHARED + SECTIONS[command]) for flag in parameter.opts)
    ]
    assert not missing, "\n".join(missing)


def test_no_option_is_told_that_is_not_there() -> None:
    there = {o for c in COMMANDS.values() for p in c.params for o in (*p.opts, *p.secondary_opts)}
    told = {
        f"{command}: {option}"
        for command in COMMANDS
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", SECTIONS[command])
        if option not in there
    }
    assert not told, "\n".join(sorted(told))


def test_a_longer_option_is_not_taken_for_a_shorter_one() -> None:
    assert named("--k", "`--k N`")
    assert not named("--k", "`--known N`")
    assert not named("--rating", "`--rating-error`")
