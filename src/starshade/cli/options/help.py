"""What a command's help says: one line, an example, and options by what they are for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from starshade.cli.options.spelling import as_option

if TYPE_CHECKING:
    _Text = click.ParamType[str]
else:
    _Text = click.ParamType  # no generic before click 8.4

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

OWN, RUNNING, READING = "Options", "Running", "How ratings are read"
WRITTEN, OWNER, BEFORE = "What is written", "What only the owner has", "Releases before it"
JUDGED = "What is tried, and what is allowed"
#: what an argument or option is called that takes a place
_PLACES = {"DATA", "DIR", "FILE", "FOLDER", "PATH", "RATINGS", "RECEIPT", "RELEASE", "USERS"}


def grouped(title: str, *options: Decorator) -> Decorator:
    """Give a command options that its help shows under a title."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
            vars(vars(command)["__click_params__"][-1])["title"] = title
        return command

    return decorate


class Completed(_Text):
    """A text that a shell completes to one of some names; without, to a file or folder."""

    name = "text"

    def __init__(self, names: Callable[[], Iterable[str]] | None = None) -> None:
        self.names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Leave it as it is."""
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return what it may become."""
        if self.names is None:
            return [CompletionItem(incomplete, type="file")]  # the shell looks for it
        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


class Explained(click.Command):
    """A command whose help begins with one line and has an example.

    The first line of its text stands alone; `example`: one or more commands that run.
    """

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        for parameter in self.params:
            name = (parameter.metavar or "").strip("[].")
            if name in _PLACES and parameter.type is click.STRING:
                parameter.type = Completed()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an option by its older name is taken for what it is called now, and noted."""
        for option in self.params:
            setting = getattr(option.type, "setting", None)
            if setting is not None and setting.formerly:
                before, now = as_option(setting.formerly), option.opts[0]
                for place, word in enumerate(args):
                    if word.partition("=")[0] == before:
                        args[place] = now + word.removeprefix(before)
                        click.echo(setting.renamed(before, now), err=True)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all of it."""
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        formatter.write_text(first)
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        if rest:
            formatter.write_paragraph()
            formatter.write_text(rest)
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each under what it is for."""
        self.format_grouped(ctx, formatter, self.get_params(ctx))
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_grouped(
        self,
        ctx: click.Context,
        formatter: click.HelpFormatter,
        parameters: Iterable[click.Parameter],
    ) -> None:
        """Write some of the options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in parameters:
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                usual = RUNNING if "--help" in option.opts else OWN
                groups.setdefault(getattr(option, "title", usual), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)
