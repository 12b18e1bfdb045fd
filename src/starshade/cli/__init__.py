"""The command line: parse, call, print. One file per command, no logic.

A command's file is imported when the command is named, and imports the rooms it needs when it
runs, so that ``starshade --help`` is there at once.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from starshade._version import __version__
from starshade.cli.options.help import Explained
from starshade.cli.options.project import Defaults
from starshade.cli.running.errors import exit_code_of

#: spellings that are understood too, and older names, which are noted
_ALSO = {"anonymise": "anonymize"}
_FORMERLY = {"forget": "erase"}


class LazyGroup(Explained, click.Group):
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an older name is noted."""
        word, *rest = args
        if (now := _FORMERLY.get(word)) is not None:
            click.echo(f"{word} is now called {now}", err=True)
        return super().resolve_command(ctx, [now or _ALSO.get(word, word), *rest])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let the project file say what the command line does not; help needs none."""
        if not {"-h", "--help", "--help-all"}.intersection(args):
            ctx.default_map = Defaults()  # type: ignore[assignment] # click only asks it
        return super().parse_args(ctx, args)

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


@click.group(
    cls=Door,
    table={
        "demo": "starshade.cli.demo:demo",
        "init": "starshade.cli.project:init",
        "run": "starshade.cli.project:run_project",
        "check-config": "starshade.cli.project:check_config",
        "accept": "starshade.cli.project:accept",
        "data": "starshade.cli.data:data",
        "attack": "starshade.cli.attacking.attack:attack",
        "check": "starshade.cli.check:check",
        "anonymize": "starshade.cli.anonymize:anonymize",
        "erase": "starshade.cli.erase:erase",
        "measure": "starshade.cli.measure:measure",
        "verify": "starshade.cli.check:verify",
        "audit": "starshade.cli.audit:audit",
        "report": "starshade.cli.report:report",
        "compare": "starshade.cli.compare:compare",
        "query": "starshade.cli.query:query",
        "studio": "starshade.cli.studio:studio",
        "reproduce": "starshade.cli.reproduce:reproduce",
        "list": "starshade.cli.listing:listing",
        "doctor": "starshade.cli.listing:doctor",
        "completion": "starshade.cli.listing:completion",
    },
    example="starshade demo\nstarshade init ratings.csv --yes\nstarshade run --dry-run",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(
    __version__, "--version", prog_name="starshade", help="Show the version and exit"
)
def main() -> None:
    """Publish rating data without exposing the people in it.

    Attack ratings, anonymize them, measure utility, and decide whether a release may be published.
    First steps: `starshade demo` on synthetic ratings, `starshade init` on your own.

    Exit codes: 0 done (the model holds, the audit passes), 1 the model or the audit fails, 2 usage
    or input error, 3 internal error, 4 incomplete (a check was not measured or verified), 130
    interrupted.
    """
