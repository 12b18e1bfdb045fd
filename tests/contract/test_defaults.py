"""Every interface derives the default method from one place."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import starshade as ss
from starshade.anonymize.registry import (
    DEFAULT,
    ENTRIES,
    FOR_ITEMS,
    suggested_k,
    suggested_method,
    usual_method,
)
from starshade.anonymize.settings import KExchangeSettings, PredictiveAnonymizerSettings
from starshade.audit import demo
from starshade.audit.compare.settings import PROFILE, CompareSettings
from starshade.audit.compare.ways import ways_of
from starshade.cli.anonymize import anonymize
from starshade.project.file import parse_project
from starshade.registry import find
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.release import METHODS, RELEASE
from starshade.server.ask.suggest import _choice
from starshade.setting import setting_of

PAGES = Path(__file__).parents[2]
#: pages that tell one what to type, not what a paper did
TOLD = ("README.md", "docs/index.md", "docs/guides/ci-gate.md", "docs/guides/policies.md")
FACTS = {"users": 943, "items": 1682, "ratings": 100_000, "sparsity": 0.94, "attributes": []}


def test_what_it_is() -> None:
    assert (DEFAULT.method, dict(DEFAULT.settings), PROFILE) == ("predictive", {}, "pooled")
    assert (FOR_ITEMS.method, dict(FOR_ITEMS.settings)) == (
        "k-exchange",
        {"disclosure_weight": 0.2},
    )
    assert (usual_method(), usual_method("top:10")) == (DEFAULT, FOR_ITEMS)
    assert find(ENTRIES, DEFAULT.method, "method").load() is ss.PredictiveAnonymizer
    assert PredictiveAnonymizerSettings.profile == ss.PredictiveAnonymizer(k=2).profile == PROFILE
    assert setting_of(KExchangeSettings, "disclosure_weight").usual == "0.2"


@pytest.mark.parametrize(
    ("people", "one_rating", "method", "k"),
    [
        (943, False, "predictive", 5),
        (943, True, "k-exchange", 5),
        (10, False, "predictive", 5),
        (9, False, "predictive", 4),
        (4, False, "predictive", 2),
        (3, False, "k-exchange", 3),
    ],
)
def test_what_is_suggested_forms_two_groups(
    people: int, one_rating: bool, method: str, k: int
) -> None:
    usual = suggested_method(people, one_rating=one_rating)
    assert (usual.method, suggested_k(people, usual.method)) == (method, k)


def test_the_command_line_and_a_project() -> None:
    (option,) = (each for each in anonymize.params if each.name == "method")
    assert not isinstance(option.default, str)
    assert f"[default: {DEFAULT}; for a choice of items: {FOR_ITEMS}]" in option.help  # type: ignore[attr-defined]
    project, problems = parse_project("[release]\nk = 5", {})
    assert (project.method, project.method_settings, problems) == ("predictive", {"k": 5}, [])
    project, problems = parse_project("[release]\nk = 5\nitems = 'top:9'", {})
    assert (project.method, problems) == ("k-exchange", [])
    assert project.method_settings == {"k": 5, "items": "top:9", "disclosure_weight": 0.2}
    project, problems = parse_project(
        "[release]\nk = 5\nitems = 'top:9'\ndisclosure-weight = 1", {}
    )
    assert (project.method_settings["disclosure_weight"], problems) == (1, [])
    project, _ = parse_project("[release]\nmethod = 'k-exchange'\nk = 5\nitems = 'top:9'", {})
    assert "disclosure_weight" not in project.method_settings


def test_the_studio() -> None:
    release = {each.name: each.default for each in RELEASE.settings(FACTS)}
    assert release["method"] == METHODS[0].name == DEFAULT.method
    assert release["profile"] == PROFILE
    compared = {each.name: each.default for each in COMPARE.settings(FACTS)}
    assert compared["methods"][0] == DEFAULT.method
    assert compared["profile"] in (PROFILE, "")
    assert _choice(FACTS) == (DEFAULT, "")


def test_the_first_row_of_a_comparison() -> None:
    assert ways_of(CompareSettings(k=(5,)), exact=False)[0].name == DEFAULT.method


def test_the_demo_and_the_pages() -> None:
    assert "usual_method()" in inspect.getsource(demo.tell)
    for page in TOLD:
        text = (PAGES / page).read_text(encoding="utf-8").replace("\\\n", " ")
        methods = re.findall(r"^\$ starshade anonymize.*--method (\S+)", text, re.M)
        assert set(methods) <= {DEFAULT.method, FOR_ITEMS.method, "interval"}, page
    readme = (PAGES / "README.md").read_text(encoding="utf-8")
    usual, few_items = (find(ENTRIES, each.method, "method").cls for each in (DEFAULT, FOR_ITEMS))
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S))
    assert set(re.findall(r"ss\.(\w+)\([^()]*\bk=", code)) >= {usual, few_items}
    assert "KLikeness(" not in code
