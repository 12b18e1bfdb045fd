"""What every command shares: --json, --seed, --threads, --memory, --quiet, --log-file."""

from __future__ import annotations

import errno
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import click

from starshade import budget, progress
from starshade._version import __version__
from starshade.cli.options.help import RUNNING, command_words, grouped
from starshade.cli.options.project import of_project
from starshade.cli.options.spelling import Whole, as_option
from starshade.cli.running.errors import (
    closed_streams,
    describe_error,
    has_written,
    writes_unicode,
    written_so_far,
)
from starshade.cli.running.watch import Log, Terminal
from starshade.errors import ConfigError, OutputError
from starshade.files.side import open_appending
from starshade.kernels.ahead import compiled_ahead
from starshade.plain import plain
from starshade.ratings.places.place import Place, refuse_in_release
from starshade.renamed import SCHEMA, older_keys
from starshade.scratch import sweep_scratch


@dataclass
class Run:
    """One command at work."""

    schema: int | None  # of the JSON object to print; None: a summary
    given_seed: int | None
    terminal: Terminal
    _started: float = field(default_factory=time.perf_counter)

    @cached_property
    def seed(self) -> int:
        """Given, else drawn from the system and shown, when the work first draws."""
        if self.given_seed is not None:
            return self.given_seed
        from starshade.rng import resolve_seed

        drawn = resolve_seed(None)
        self.terminal.show(f"seed {drawn} (drawn; --seed {drawn} repeats this run)")
        return drawn

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the command began."""
        return time.perf_counter() - self._started

    def conclude(self, verdict: str) -> None:
        """Say what the log is to end with."""
        self.terminal.verdict = verdict

    def emit(self, figures: Mapping[str, Any], summary: Callable[[], Any]) -> None:
        """Print the result on stdout: one JSON object, or what `summary` returns, by rich."""
        try:
            text = self._text(figures, summary)
            self.terminal.close()  # bars and a result on one terminal would write over each other
            print(text, flush=True)
        except BrokenPipeError:  # the reader has seen enough: no error, the exit code stands
            _stop_printing()
        except OSError as error:
            _stop_printing()
            left = f"; {written_so_far()}" if has_written() else ""
            raise OutputError(
                f"standard output: the result could not be printed, {_reason(error)}{left}",
                advice="Print to a terminal or to a disk with free space.",
            ) from error

    def _text(self, figures: Mapping[str, Any], summary: Callable[[], Any]) -> str:
        if self.schema is None:
            return _render(summary())
        result = plain(figures)
        if self.schema == SCHEMA:
            result = {"schema": SCHEMA, **result}
        else:
            result = older_keys(_command(public=True), result)
        escaped = not writes_unicode(sys.stdout)
        return json.dumps(result, ensure_ascii=escaped, allow_nan=False)


def running(*, seed: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the shared options (with `seed` that one too) and pass it ``run``."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapper(
            *args: Any,
            as_json: bool,
            json_schema: int | None,
            threads: int | None,
            memory: str | None,
            quiet: bool,
            log_file: str | None,
            seed: int | None = None,
            **kwargs: Any,
        ) -> Any:
            schema = _schema_of(as_json, json_schema)
            if schema and "stdout" in closed_streams():
                raise ConfigError(
                    "--json: standard output is closed",
                    advice="Open standard output, or omit --json.",
                )
            allowed = None if memory is None else budget.parse_bytes(memory)
            sweep_scratch()
            values = getattr(kwargs.get("reading"), "show_values", False)
            with (
                _watching(quiet, log_file, values) as terminal,
                budget.limits(memory=allowed, threads=threads),
                compiled_ahead(_use(), budget.threads()),
            ):
                if schema and schema < SCHEMA:
                    progress.note(
                        f"--json-schema {schema} is deprecated: the next version has schema "
                        f"{SCHEMA} alone"
                    )
                _tell_project()
                return command(*args, run=Run(schema, seed, terminal), **kwargs)

        return grouped(RUNNING, *options)(wrapper)

    options = [*_OPTIONS, *([_SEED] if seed else [])]
    return decorate


def _schema_of(as_json: bool, number: int | None) -> int | None:
    """Return the schema of the JSON to print; None: a summary."""
    if number is None:
        return SCHEMA if as_json else None
    if number not in (1, SCHEMA):
        raise ConfigError(
            f"--json-schema {number}: no such schema",
            advice=f"Allowed: {SCHEMA}, the current one, or 1, the older keys.",
        )
    return number


_SEED = click.option("--seed", type=Whole(0, 2**63 - 1), help="Random seed [default: drawn]")
_OPTIONS = [
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout"),
    click.option(
        "--json-schema",
        type=Whole(),
        help=f"Print JSON with the keys of this schema: 1 (deprecated) or {SCHEMA}",
    ),
    click.option("--threads", type=Whole(min=1), help="Number of threads [default: all]"),
    click.option(
        "--memory", metavar="SIZE", help="Memory to plan with, e.g. 8G [default: half of free]"
    ),
    click.option("--quiet", "-q", is_flag=True, help="Print no progress and no notes on stderr"),
    click.option(
        "--log-file", type=click.Path(dir_okay=False), help="Append notes and errors to this file"
    ),
]


#: what a command calls is what another one does: an audit makes the release again
_AS = {"run": "audit", "compare": "audit"}


def _command(*, public: bool = False) -> str:
    """Return the command at work, with the attack or method that it chose.

    `public`: an attack with public ratings is "attack --aux".
    """
    context = click.get_current_context()
    words = command_words(context)
    if public and context.params.get("aux") is not None:
        return " ".join([*words, "--aux"])
    for option in context.command.params:
        if {"--attack", "--method"} & set(option.opts):
            words.append(str(context.params[str(option.name)]))
    return " ".join(words)


def _use() -> str:
    return _AS.get(use := _command(), use)


def _tell_project() -> None:
    taken = of_project(click.get_current_context())
    if taken:
        tell_project(sorted(as_option(name).removeprefix("--") for name in taken))


def tell_project(words: Sequence[str]) -> None:
    """Note what is taken from the project file, and that the environment overrules it."""
    from starshade.project.file import ENVIRONMENT, NAME

    variables = sorted(name for name in os.environ if name.startswith(ENVIRONMENT))
    progress.note(
        "; ".join(filter(None, [f"settings from {NAME}: {', '.join(words)}", ", ".join(variables)]))
    )


@contextmanager
def _watching(quiet: bool, log_file: str | None, values: bool) -> Iterator[Terminal]:
    """Show progress and notes, and keep a log if one is wanted.

    A log is kept and sent around: it holds neither seeds nor, where `values` may be shown, the
    words of messages that quote them. It ends with the verdict, the exit code and the duration.
    """
    with ExitStack() as stack:
        file = None if log_file is None else stack.enter_context(_appending(log_file))
        log = None if file is None else Log(file, values=values)
        if log is not None:
            log.start(f"starshade {__version__}: {click.get_current_context().info_name}")
        terminal, started, code = Terminal(quiet=quiet, log=log), time.perf_counter(), 0
        try:
            with progress.watch(terminal):
                yield terminal
        except click.exceptions.Exit as left:
            code = left.exit_code
            raise
        except BaseException as error:
            message, code = describe_error(error)
            if log is not None:
                log.write("error", message)
            raise
        finally:
            terminal.close()
            if log is not None:
                log.end(terminal.verdict, code, time.perf_counter() - started)


def _stop_printing() -> None:
    """Let what is left in the buffer go nowhere; it would fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reason(error: OSError) -> str:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "no space left" if full else os.strerror(error.errno or 0)


def _appending(log_file: str) -> TextIO:
    try:
        place = Place.of(log_file).path
        refuse_in_release(Path(os.path.realpath(place)).parent, log_file)
        handle = open_appending(place)
        return os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")
    except OutputError as error:
        raise OutputError(f"--log-file {error.message}", advice=error.advice) from error
    except OSError as error:
        raise OutputError(
            f"--log-file {log_file}: {error.strerror}",
            advice="Choose a file in a writable folder.",
        ) from error


def _render(summary: Any) -> str:
    from rich.console import Console

    from starshade.cli.show import unheld

    terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout,
        width=None if terminal else 80,  # a file has no width
        highlight=False,
        soft_wrap=False,
    )
    with console.capture() as capture:
        console.print(summary, crop=False)  # a command to be copied may be longer
    lines = unheld(capture.get()).splitlines()
    return "\n".join(line.rstrip() for line in lines) if not terminal else "\n".join(lines)
