"""Help of a command: one line, arguments, an example, and options by purpose."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from starshade.cli.options.common import COMMON, EXECUTION, MOST, READ

if TYPE_CHECKING:
    _Text = click.ParamType[str]
else:
    _Text = click.ParamType  # no generic before click 8.4

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

OWN, RUNNING, READING = "Options", "Execution", "Reading ratings"
WRITTEN, OWNER, BEFORE = "Output", "Private key file", "Earlier releases"
JUDGED, STORES, CHOSEN = "Attacks and thresholds", "Partitioned stores", "Settings"
CONTEXT = "TOML file with [context] and accepted risks ([[accept]]), such as starshade.toml"
PRIVATE = "Private key file of the release"
EARLIER = "Release published earlier, for the composition attack; repeatable"
EARLIER_PRIVATE = "Private key file of an earlier release; repeatable, in any order"
PROBE = "Ratings held out of RATINGS before anonymization, to test recommenders"
#: arguments, by what stands for them
_ARGUMENTS = {
    "CHECK": "Name of a check (starshade list policies)",
    "DATA": "Ratings, or a release folder",
    "FOLDER": "Folders written by `starshade reproduce NAME --out`",
    "KEY-FILE": "Private key files; without any, those of the project in this folder",
    "RATINGS": "Ratings: file, folder, archive or database",
    "RELEASE": "Release folder",
    "SQL": "Aggregate query",
    "USERS": "File of user ids, one per line; - for standard input",
}
#: what an argument or option is called that takes a path
_PLACES = {"DATA", "DIR", "FILE", "FOLDER", "KEY-FILE", "PATH", "RATINGS", "RELEASE", "USERS"}
_ALL = "--help-all"


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


class Named(click.Option):
    """An option; its older name is taken too, and noted.

    `formerly`: the older name; `older`: older choices and what they are called now.
    """

    def __init__(
        self,
        *args: Any,
        formerly: str = "",
        older: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.formerly, self.older = formerly, dict(older or {})

    def newer(self, words: Sequence[str], *, quiet: bool = False) -> list[str]:
        """Return the words of a command with this option's older names replaced, and note it."""
        now, before = self.opts[0], self.formerly
        newer: list[str] = []
        for word in words:
            option, equals, value = word.partition("=")
            if before and option == before:
                word = now + equals + value
                _note(f"{before} is now called {now}", quiet)
            if equals and option in (now, before) and value in self.older:
                _note(f"{now} {value} is now called {self.older[value]}", quiet)
                word = f"{now}={self.older[value]}"
            elif newer and newer[-1] == now and word in self.older:
                _note(f"{now} {word} is now called {self.older[word]}", quiet)
                word = self.older[word]
            newer.append(word)
        return newer


def _note(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(text, err=True)


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
        self.everything = click.Option(
            [_ALL],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_all,
            hidden=isinstance(self, click.Group),
            help="Show all options and exit",
        )
        vars(self.everything)["title"] = RUNNING

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, before the help that click adds the one with all options."""
        params = super().get_params(ctx)
        return [*self.params, self.everything, *params[len(self.params) :]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an option by its older name is taken for what it is called now, and noted."""
        quiet = bool({"-q", "--quiet"} & set(args))
        for option in self.params:
            if isinstance(option, Named):
                args = option.newer(args, quiet=quiet)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all of it."""
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        formatter.write_text(first.removesuffix("."))
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        for paragraph in rest.split("\n\n") if rest else ():
            formatter.write_paragraph()
            formatter.write_text(paragraph)
        names = [
            (each.metavar or "").strip("[].")
            for each in self.params
            if isinstance(each, click.Argument)
        ]
        if named := [(name, _ARGUMENTS[name]) for name in names if name in _ARGUMENTS]:
            with formatter.section("Arguments"):
                formatter.write_dl(named)
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        self.format_options(ctx, formatter)
        if self.shortened(ctx):
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} {_ALL}: all options")

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option that shows the common options, or all of few."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this message and exit"
        return option

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first line whole."""
        return inspect.cleandoc(self.help or "").partition("\n\n")[0].removesuffix(".")

    def shortened(self, ctx: click.Context) -> bool:
        """Whether help shows the common options alone."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        return len(options) > MOST and _ALL not in ctx.meta

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
        shortened, common = self.shortened(ctx), common_options(ctx)
        for option in parameters:
            if shortened and option.name not in common and "--help" not in option.opts:
                continue
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                ends = "--help" in option.opts and not isinstance(self, click.Group)
                usual = RUNNING if ends else OWN
                groups.setdefault(getattr(option, "title", usual), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def command_words(ctx: click.Context) -> list[str]:
    """Return the words of the command at work, without the program's name."""
    return [] if ctx.parent is None else [*command_words(ctx.parent), str(ctx.info_name)]


def common_options(ctx: click.Context) -> frozenset[str | None]:
    """Return the names of the options that ``--help`` shows; ``--help-all`` shows all."""
    return EXECUTION | COMMON.get(" ".join(command_words(ctx)), READ)


def _print_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value is True and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
