"""Every help: one line, an example that runs, options by what they are for; and completion."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from starshade.cli import main
from starshade.cli.options.common import COMMON, MOST, READ
from starshade.cli.options.help import OWN, RUNNING, Explained
from tests.system.conftest import Made, call, small_csv, told

CHOOSING = [("attack", "attack"), ("check", "privacy"), ("anonymize", "anonymize")]


def explained(group: click.Group = main, path: str = "starshade") -> dict[str, click.Command]:
    """Return every command and group by its words, in the order of the work."""
    found: dict[str, click.Command] = {path: group}
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        inner = isinstance(command, click.Group)
        found |= explained(command, f"{path} {name}") if inner else {f"{path} {name}": command}
    return found


ALL = explained()


@pytest.mark.parametrize("words", ALL)
def test_help_begins_with_one_line_that_lists_show_whole(words: str) -> None:
    said = call(*words.split()[1:], "--help").stdout.splitlines()
    assert said[0].strip()
    assert not said[0].endswith(".")
    assert said[1] == ""
    assert said[2].startswith("Usage: ")
    assert any(line.startswith("Example:") for line in said)
    if " " in words:
        listed = call(*words.split()[1:-1], "--help").stdout.splitlines()
        assert [words.split()[-1], said[0]] in [line.split(maxsplit=1) for line in listed]


@pytest.mark.parametrize("words", ALL)
def test_no_group_of_options_is_longer_than_can_be_read(words: str) -> None:
    said = call(*words.split()[1:], "--help").stdout
    if ALL[words].params:
        assert f"\n{RUNNING}:\n" in said or isinstance(ALL[words], click.Group) or "SHELL" in said
        assert said.count("--help  ") == 1
    own = said.partition(f"\n{OWN}:\n")[2].partition("\n\n")[0]
    assert sum(line.startswith("  -") for line in own.splitlines()) <= 8


def options_in(said: str) -> list[str]:
    """Return the first name of each option that a help has a line for."""
    return re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", said, re.M)


@pytest.mark.parametrize("words", ALL)
def test_help_is_short_and_help_all_has_every_option(words: str) -> None:
    path, command = words.split()[1:], ALL[words]
    said, everything = call(*path, "--help").stdout, call(*path, "--help-all").stdout
    own = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    shown = options_in(said)
    assert len(shown) == len(set(shown)) <= MOST
    assert "--help" in shown
    assert {option.opts[0] for option in own} <= set(options_in(everything))
    if len(own) + 2 > MOST:
        assert said.endswith(f" {' '.join(path)} --help-all: all options\n")
        assert set(shown) < set(options_in(everything))
    elif not isinstance(command, click.Group):
        assert said == everything


def test_the_common_options_are_options() -> None:
    assert set(COMMON) <= {words.partition(" ")[2] for words in ALL}
    for name, common in COMMON.items():
        command = ALL[f"starshade {name}"]
        assert len(command.params) > MOST, name
        own = common - READ
        assert own <= {parameter.name for parameter in command.params}, name


@pytest.mark.parametrize(("command", "room"), CHOOSING)
def test_help_all_has_what_may_be_chosen(command: str, room: str) -> None:
    entries = import_module(f"starshade.{room}.registry").ENTRIES
    said = call(command, "--help-all").stdout
    listed = said.partition("Choices of ")[2].partition("\n\n")[0]
    assert re.findall(r"^  ([a-z-]+)  ", listed, re.M) == [entry.name for entry in entries]
    assert "Choices of" not in call(command, "--help").stdout


@pytest.mark.parametrize("words", ALL)
def test_options_are_explained_in_few_words(words: str) -> None:
    for option in ALL[words].params:
        if type(option) is click.Option:  # settings are their rooms'
            text = option.help or ""
            assert text, option.opts
            assert not text.endswith("."), (option.opts, text)
            assert len(text.partition(" [")[0].split()) <= 30, (option.opts, text)


def test_forget_is_an_older_name_of_erase(made: Made, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("7\n")
    asked = (tmp_path / "ids", made.receipt, "--dry-run", "--json")
    older, newer = call("forget", *asked), call("erase", *asked)
    assert older.stderr == f"forget is now called erase\n{newer.stderr}"
    assert older.exit_code == newer.exit_code == 0
    assert older.stdout.partition('"seconds"')[0] == newer.stdout.partition('"seconds"')[0]
    assert "forget" not in call("--help").stdout


@pytest.mark.parametrize(
    ("words", "before", "now"),
    [
        ("anonymize r --k 5 --out o --private p", "--no-receipt", "--no-key-file"),
        ("attack r --known 3 --aux a", "--aux-one-person", "--aux-one-user"),
    ],
)
def test_older_names_of_options_are_taken_and_noted(words: str, before: str, now: str) -> None:
    older, newer = call(*words.split(), before), call(*words.split(), now)
    assert older.stderr == f"{before} is now called {now}\n{newer.stderr}"
    assert now in newer.stderr or "--known" in newer.stderr
    assert newer.exit_code == 2
    assert before not in call(words.split()[0], "--help-all").stdout


def examples(words: str) -> list[list[str]]:
    command = ALL[words]
    assert isinstance(command, Explained)
    return [shlex.split(line) for line in command.example.splitlines()]


#: those that take long on any data; each has tests of its own, and its example is parsed here
_LONG = ("starshade reproduce",)
_ENDLESS = ("starshade studio",)
#: those that decide, and exit codes that are no error: the verdict on 120 people may be any
_DECIDING = {
    "starshade check": {0, 1},
    "starshade run": {0, 1, 4},
    "starshade audit": {0, 1, 4},
}


@pytest.mark.slow
def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one folder, one after the other: a release first, which others are about."""
    monkeypatch.chdir(tmp_path)
    small_csv(tmp_path / "ratings.csv")
    rows = "".join(f"{user},{20 + user % 40}\n" for user in range(1, 121))
    (tmp_path / "people.csv").write_text(f"userId,age\n{rows}")
    (tmp_path / "ids.txt").write_text("7\n")
    done: set[tuple[str, ...]] = set()
    for words in sorted(ALL, key=lambda words: not words.endswith("anonymize")):
        for example in examples(words):
            assert example[0] == "starshade"
            if words.startswith(_LONG + _ENDLESS) or tuple(example) in done:
                continue
            done.add(tuple(example))
            if ">" in example:
                example = example[: example.index(">")]
            said = call(*example[1:])
            assert said.exit_code in _DECIDING.get(words, {0}), (example, said.stderr)
            assert said.stdout.strip(), example
    assert len(done) > 20


@pytest.mark.parametrize("words", [words for words in ALL if words.startswith(_LONG + _ENDLESS)])
def test_other_examples_are_commands(words: str) -> None:
    for example in examples(words):
        name = words.split()[-1]
        command = ALL[" ".join(example[: 3 if example[1] == "reproduce" else 2])]
        rest = example[3 if example[1] == "reproduce" else 2 :]
        with command.make_context(name, rest, resilient_parsing=True) as context:
            assert context.args == []
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= known


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kl", "ns", "pa", "sr", "sq"])
def test_examples_of_studies_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_csv(tmp_path / "ratings.csv")
    (example,) = examples(f"starshade reproduce {name}")
    assert told(*example[1:])["claims"]


def test_anonymise_is_understood(tmp_path: Path) -> None:
    ratings = small_csv(tmp_path / "ratings.csv")
    made = told("anonymise", ratings, "--k", 5, "--no-key-file", "--out", tmp_path / "out")
    assert made["k"] == 5
    assert "anonymise" not in call("--help").stdout


def completed(*words: str) -> list[str]:
    """Return what a shell would offer for the last word, as its script asks for it."""
    asked = {
        "_STARSHADE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("starshade", *words)),
        "COMP_CWORD": str(len(words)),
    }
    said = subprocess.run(
        [sys.executable, "-m", "starshade"], env=os.environ | asked, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return said.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_asks_starshade(shell: str) -> None:
    said = call("completion", shell)
    assert said.exit_code == 0
    assert f"_STARSHADE_COMPLETE={shell}_complete" in said.stdout
    assert call("completion", "csh").exit_code == 2


def test_bash_takes_the_script(tmp_path: Path) -> None:
    script = tmp_path / "starshade.bash"
    script.write_text(call("completion", "bash").stdout)
    shown = subprocess.run(
        ["bash", "-c", f"source {script} && complete -p starshade"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "starshade" in shown.stdout


def test_what_is_completed() -> None:
    assert completed("ano") == ["plain,anonymize"]
    assert "plain,--on-duplicate" in completed("data", "describe", "--on-")
    assert completed("data", "describe", "--on-duplicate", "las") == ["plain,last"]
    assert completed("data", "describe", "rat") == ["file,rat"]
    assert completed("anonymize", "ratings.csv", "--method", "k-e") == ["plain,k-exchange"]
    assert completed("audit", "ratings.csv", "release", "--private", "re") == ["file,re"]
