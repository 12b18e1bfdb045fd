"""The command that a report prints to make it again says every option that was given."""

from __future__ import annotations

import shlex

import click
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.cli.audit import audit
from starshade.cli.options.shared import Reading
from starshade.cli.report import repeated, report
from starshade.release.table import Release
from tests.contract.cast import CAST

#: what changes nothing in what is found, or is said in another way
WITHOUT = {"as_json", "json_schema", "threads", "memory", "quiet", "log_file", "pdf", "risk_list"}


@pytest.fixture(scope="module")
def release() -> Release:
    return KLikeness(k=3).anonymize(CAST["duplicate records"], rng=0)


def given(option: click.Option) -> list[str]:
    """Return an option with a value that is not its default."""
    flag = option.opts[0]
    if option.is_flag:
        return [(option.secondary_opts or option.opts)[0]]
    if isinstance(option.type, click.Choice):
        value = next(v for v in reversed(option.type.choices) if v != option.default)
    else:
        value = (
            "3" if "integer" in option.type.name else "0.25" if "float" in option.type.name else "x"
        )
    return [flag, value] * (2 if option.multiple else 1)


def params_of(command: click.Command, words: list[str]) -> click.Context:
    return command.make_context(command.name, words)


@pytest.mark.parametrize("command", [audit, report], ids=lambda command: command.name)
def test_every_option_is_said_again(command: click.Command, release: Release) -> None:
    options = [o for o in command.params if isinstance(o, click.Option) and o.name not in WITHOUT]
    assert {"private", "targets", "earlier", "dates", "scale"} < {o.name for o in options}
    words = ["ratings.csv", "out", *(word for option in options for word in given(option))]
    context = params_of(command, words)
    reading = Reading.of(**{f: context.params.get(f) for f in Reading.__dataclass_fields__})
    *_, again = repeated(context, release, reading, 3).split("\n")
    starshade, name, *said = shlex.split(again)
    assert (starshade, name) == ("starshade", command.name)
    told = params_of(command, said).params
    for option in options:
        asked = context.params[option.name]
        if option.name in ("out", "report"):
            asked = "out-report.html"
        assert told[option.name] == asked, option.name


@pytest.mark.parametrize("command", [audit, report], ids=lambda command: command.name)
def test_what_was_not_given_is_not_said(command: click.Command, release: Release) -> None:
    out = ["--out", "r.html"] if command is report else ["--report", "r.html"]
    context = params_of(command, ["ratings.csv", "out/", *out])
    reading = Reading.of(**{f: context.params.get(f) for f in Reading.__dataclass_fields__})
    *_, again = repeated(context, release, reading, 7).split("\n")
    assert again == f"starshade {command.name} ratings.csv out/ {out[0]} out-report.html --seed 7"
