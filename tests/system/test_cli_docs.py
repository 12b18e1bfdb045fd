"""``docs/command-line.md`` says what the commands do, or fails here."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path
from typing import cast

import click
import pytest

from starshade.attack.registry import ENTRIES
from starshade.audit.reproduction.papers import PAPERS, Paper
from starshade.cli import LazyGroup, main
from tests.policies import NO_LIMITS
from tests.system.conftest import Demo, Made, told

DOCS = Path(__file__).parents[2] / "docs"
_LOOSE = [word for name in NO_LIMITS for word in ("--threshold", f"{name}=1")]
_BY = ("--reason", "a contract", "--by", "an officer", "--until", "2099-12-31")
#: with the tables that are made while the site is built
PAGE = run_path(str(DOCS / "hooks.py"))["on_page_markdown"](
    (DOCS / "command-line.md").read_text(encoding="utf-8")
)
SECTIONS = dict(re.findall(r"^## `starshade ([a-z -]+)`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def documented(command: str, variant: str = "") -> set[str]:
    """Return the keys of a command's JSON: the words in code before the first colon of a line.

    `variant` begins the title of a subsection.
    """
    own, *others = re.split(r"^### ", SECTIONS[command], flags=re.M)
    text = own if not variant else next(other for other in others if other.startswith(variant))
    text = text[max(0, text.find("JSON")) :]  # lists before it describe options and models
    listed = re.findall(r"^- (.*?)(?=^- |^$|\Z)", text, re.M | re.S)
    keys: set[str] = set()
    for entry in listed:
        for part in entry.split(";"):
            keys |= set(re.findall(r"`([a-z0-9_]+)`", part.split(":")[0]))
    return keys


def commands(group: click.Group, path: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, LazyGroup):
            found |= commands(command, f"{path}{name} ")
        else:
            found[f"{path}{name}"] = command
    return found


def test_every_command_has_its_section() -> None:
    assert set(SECTIONS) == set(commands(main))


@pytest.mark.parametrize("command", commands(main))
def test_every_option_is_on_the_page(command: str) -> None:
    for parameter in commands(main)[command].params:
        if isinstance(parameter, click.Option):
            assert any(f"{flag}" in PAGE for flag in parameter.opts), parameter.opts


def test_every_option_says_what_it_does() -> None:
    for name, command in commands(main).items():
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.opts}"


@pytest.mark.slow
def test_the_keys_are_those_that_are_printed(
    made: Made, demo: Demo, ratings_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(demo.found) == documented("demo")
    (tmp_path / "ids").write_text("7\n")
    monkeypatch.chdir(tmp_path)
    calls: dict[str, tuple[object, ...]] = {
        "init": (ratings_csv, "--yes"),
        "check-config": (),
        "accept": ("membership", "--up-to", "12%", *_BY),
        "run": ("--dry-run",),
        "data describe": (ratings_csv,),
        "data convert": (ratings_csv, "--out", tmp_path / "store"),
        "data split": (ratings_csv, "--out", tmp_path / "train", "--probe", tmp_path / "probe"),
        "data synth": (
            "--n-users",
            30,
            "--n-items",
            20,
            "--n-ratings",
            200,
            "--out",
            tmp_path / "s",
        ),
        "attack": (ratings_csv, "--known", 2),
        "check": (made.folder,),
        "anonymize": (
            *(ratings_csv, "--k", 3),
            *("--out", tmp_path / "out", "--private", tmp_path / "key.json"),
        ),
        "erase": (tmp_path / "ids", made.receipt, "--dry-run"),
        "measure": (ratings_csv, made.folder),
        "verify": (made.folder,),
        "audit": (ratings_csv, made.folder, "--known", 2, *_LOOSE),
        "report": (ratings_csv, made.folder, "--out", tmp_path / "report.html"),
        "query": (made.folder, "SELECT COUNT(*)"),
        "compare": (ratings_csv, "--methods", "k-likeness", "--k", 3),
        "reproduce ns": ("--data", ratings_csv, "--targets", 5, "--runs", 1),
        "reproduce kl": ("--data", ratings_csv, "--most-k", 2, "--runs", 1),
        "reproduce pa": ("--data", ratings_csv, "--k", "3", "--runs", 1),
        "reproduce sr": ("--data", ratings_csv, "--trials", 5, "--runs", 1),
        "reproduce sq": ("--data", ratings_csv, "--repeats", 1, "--runs", 1),
        "reproduce all": ("--data", ratings_csv, "--out", tmp_path / "site", "--runs", 1),
        "reproduce compare": (tmp_path / "site",),
        "doctor": (),
    }
    # the studio does not end by itself; what shells are told is no JSON
    assert set(calls) == set(SECTIONS) - {"demo", "list", "studio", "completion"}
    for command, arguments in calls.items():
        if command == "reproduce all":  # each paper had its own turn
            for key in PAPERS.keys() - {"sq"}:
                monkeypatch.delitem(cast("dict[str, Paper]", PAPERS), key)
        assert set(told(*command.split(), *arguments)) == documented(command), command


def test_the_keys_of_every_attack(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    common, fitting = documented("attack"), documented("attack", "Attacks by candidates")
    plain = common - {"tradeoff"}
    expected = {
        "scoreboard-rh": common,
        "scoreboard": common | fitting,
        "structure": common | fitting,
        "label": common | fitting,
        "homogeneity": common | fitting | documented("attack", "`--attack homogeneity`"),
        "link-existence": plain | documented("attack", "`--attack link-existence`"),
        "composition": plain | documented("attack", "`--attack composition`"),
        "fake-edges": plain | documented("attack", "`--attack fake-edges`"),
        "inference": plain | documented("attack", "`--attack inference`"),
        "likelihood": common | documented("attack", "`--attack likelihood`"),
        "membership": plain | documented("attack", "`--attack membership`"),
        "padding": plain | documented("attack", "`--attack padding`"),
        "predicate": plain | documented("attack", "`--attack predicate`"),
        "tracker": plain | documented("attack", "`--attack tracker`"),
    }
    assert set(expected) == {entry.name for entry in ENTRIES}
    simple, receipt = tmp_path / "simple", tmp_path / "simple.json"
    asked = ("--method", "predictive", "--profile", "simple", "--k", 3, "--l", 2)
    told("anonymize", ratings_csv, *asked, "--out", simple, "--private", receipt)
    for name, keys in expected.items():
        known = () if name == "tracker" else ("--known", 2)
        data: tuple[object, ...] = (ratings_csv,)
        if name == "composition":  # of releases
            data = (made.folder, "--original", ratings_csv, "--private", made.receipt)
        if name == "fake-edges":
            data = (simple, "--original", ratings_csv, "--private", receipt)
        assert set(told("attack", *data, *known, "--attack", name)) == keys, name
    found = told("attack", ratings_csv, "--known", 2, "--risk-list", tmp_path / "list.csv")
    assert set(found["risk"]) == documented("attack", "`--risk-list FILE`")
    found = told("attack", ratings_csv, "--known", 2, "--absent")
    assert set(found["tradeoff"]) <= set(re.findall(r"`([a-z_]+)`", SECTIONS["attack"]))


def test_the_keys_of_releases(made: Made, tmp_path: Path) -> None:
    found = told("data", "describe", made.folder)
    assert set(found) - {"seconds"} == documented("data describe", "A release")
    found = told("data", "convert", made.folder, "--out", tmp_path / "x.csv")
    beside = {"out", "to", "seconds"}
    assert set(found) - beside == documented("data convert", "A release as a table")


def test_the_keys_with_public_ratings(ratings_csv: Path, tmp_path: Path) -> None:
    public = tmp_path / "public.csv"
    public.write_text("item\n" + ratings_csv.read_text().splitlines()[1].split(",")[1] + "\n")
    assert set(told("attack", ratings_csv, "--aux", public)) == documented("attack", "`--aux FILE`")


def test_the_keys_of_proximity_models(ratings_csv: Path) -> None:
    common, beside = documented("check"), documented("check", "`k-eps`, `k-eps-l`")
    failing = ("check", ratings_csv, "--model", "k-eps", "--k", 5, "--eps", 1)
    spread = ("--l", 1, "--sensitive", 1)
    found = set(told(*failing, "--full", "--graph", code=1))
    found |= set(told("check", ratings_csv, "--model", "k-eps-l", *failing[4:], *spread, code=1))
    assert found == common | beside


def test_the_keys_of_models_of_an_attribute(ratings_csv: Path, people_csv: Path) -> None:
    common, beside = documented("check"), documented("check", "`l-diversity`, `alpha-k`")
    asked = ("check", ratings_csv, "--users", people_csv, "--attribute", "job", "--model")
    found = set(told(*asked, "l-diversity", "--l", 2, code=1))
    found |= set(told(*asked, "alpha-k", "--k", 2, "--alpha", 0.5, code=1))
    found |= set(told(*asked, "t-closeness", "--t", 0.99))
    assert found == common | beside


def test_the_keys_of_diversity(ratings_csv: Path) -> None:
    asked = ("check", ratings_csv, "--model", "diversity", "--b", 2, "--l", 2)
    found = told(*asked, code=1)
    assert set(found) == documented("check") | documented("check", "`diversity`")
    assert all(f"`{key}`" in SECTIONS["check"] for key in found["sets"][0])


def test_the_keys_of_k_m(ratings_csv: Path) -> None:
    found = told("check", ratings_csv, "--model", "k-m", "--m", 2, "--k", 5, code=1)
    assert set(found) == documented("check") | documented("check", "`k-m`")
    assert all(f"`{key}`" in SECTIONS["check"] for key in found["sizes"][0])


def test_the_keys_of_several_claims(claiming: Path) -> None:
    common = documented("check") | documented("check", "A release with several claims")
    found = told("check", claiming)
    assert common <= set(found)
    assert set(found) - common <= documented("check", "`l-diversity`, `alpha-k`")


def test_the_page_s_reader_sees_a_missing_key() -> None:
    # the comparison above means something only if the reader finds keys at all
    assert documented("check") >= {"satisfied", "failing_records", "worst", "seconds"}
    assert "low" not in documented("attack")
