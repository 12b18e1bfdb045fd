"""Groups of commands that load a command only when it is called."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from starshade.cli.running.errors import exit_code_of

__all__ = ["Door", "LazyGroup"]


class LazyGroup(click.Group):
    """A click group over a table: command name → "module:attribute"."""

    def __init__(self, *args: Any, table: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = dict(table or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table, which is the order of the work."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.table:
            return None
        module, _, attribute = self.table[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


class Door(LazyGroup):
    """The outermost group: every error leaves as one message and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command named by `args`; leaves the process unless not `standalone_mode`."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)

        def call() -> Any:
            return super(Door, self).main(args, prog_name, complete_var, False, **extra)

        sys.exit(exit_code_of(call))
