from __future__ import annotations

import errno
import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from starshade.cli import Door
from starshade.cli.running.errors import DEBUG, describe_error, exit_code_of
from starshade.errors import ConfigError, InternalError, OutputError, UnmetError, UserError


def door(error: BaseException | None = None, code: int = 0) -> click.Command:
    @click.group(cls=Door)
    def main() -> None: ...

    @main.command()
    @click.argument("argument", default="")
    @click.option("--number", type=int)
    @click.pass_context
    def do(context: click.Context, argument: str, number: int | None) -> None:
        if error is not None:
            raise error
        context.exit(code)

    main.table = {"do": f"{__name__}:unused"}
    main.get_command = lambda context, name: do if name == "do" else None  # type: ignore[method-assign]
    return main


def run(*args: str, error: BaseException | None = None, code: int = 0) -> Result:
    return CliRunner().invoke(door(error, code), list(args))


def test_the_code_of_a_command_passes() -> None:
    assert run("do").exit_code == 0
    assert run("do", code=1).exit_code == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConfigError("k = 1: too few", advice="Take 5."), 2, "Error: k = 1: too few\nTake 5."),
        (OutputError("out: exists already"), 2, "out: exists already"),
        (UnmetError("no item is rated by 5 users"), 1, "no item is rated by 5 users"),
        (InternalError("a sum is off"), 3, "This is a bug in starshade"),
        (MemoryError(), 2, "out of memory"),
        (OSError(errno.ENOSPC, "", "/some/file"), 2, "/some/file: no space left on the disk"),
        (PermissionError(errno.EACCES, "", "f"), 2, "f: Permission denied"),
        (OSError("a library's words"), 2, "a library's words"),
        (ZeroDivisionError("division"), 3, "internal error: ZeroDivisionError at __init__.py:"),
        (KeyboardInterrupt(), 130, "Interrupted; nothing was written."),
        (click.ClickException("no such file"), 2, "no such file"),
    ],
)  # fmt: skip
def test_an_error_leaves_as_one_message(error: BaseException, code: int, said: str) -> None:
    result = run("do", error=error)
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_place_is_one_of_ours_whatever_the_folders_are_called() -> None:
    theirs: dict[str, Any] = {"__name__": "plugin"}
    code = "def work():\n    raise ZeroDivisionError\n"
    exec(compile(code, "/home/me/starshade/src/starshade/plugin.py", "exec"), theirs)
    with pytest.raises(ZeroDivisionError) as caught:
        theirs["work"]()
    assert describe_error(caught.value)[0].startswith("Error: internal error: ZeroDivisionError\n")
    ours: dict[str, Any] = {"__name__": "starshade.deep.inside"}
    exec(compile(code, "inside.py", "exec"), ours)
    theirs["work"] = ours["work"]
    exec(compile("def outer():\n    work()\n", "/starshade/plugin.py", "exec"), theirs)
    with pytest.raises(ZeroDivisionError) as caught:
        theirs["outer"]()
    assert " at inside.py:2" in describe_error(caught.value)[0]


def test_a_bug_does_not_quote_what_may_be_an_id() -> None:
    assert "user-4711" not in run("do", error=KeyError("user-4711")).stderr


def test_the_traceback_is_there_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEBUG, "1")
    assert "Traceback" in run("do", error=ZeroDivisionError()).stderr


@pytest.mark.parametrize(
    "args", [["nothing"], ["do", "--nothing"], ["do", "--number", "x"], ["do", "a", "b"]]
)
def test_bad_usage_is_exit_2(args: list[str]) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert "Error:" in result.stderr
    assert result.stdout == ""


def test_help_is_exit_0() -> None:
    assert run("--help").exit_code == 0
    assert run("do", "--help").exit_code == 0


def test_a_reader_of_stderr_that_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def write(self, text: str) -> Any:
            raise BrokenPipeError

        def flush(self) -> None: ...

    def fail() -> None:
        raise ConfigError("…")

    monkeypatch.setattr(sys, "stderr", Gone())
    assert exit_code_of(fail) == 2


def test_what_data_do_not_meet_is_a_user_error_and_exits_with_1() -> None:
    error = UnmetError("too few people")
    assert isinstance(error, UserError)
    assert describe_error(error) == ("Error: too few people", 1)
