"""The same method is offered first at every door."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import starshade as ss
from starshade.anonymize.registry import DEFAULT, ENTRIES, FOR_RECOMMENDERS
from starshade.anonymize.settings import PredictiveAnonymizerSettings
from starshade.audit import demo
from starshade.audit.compare.settings import PROFILE
from starshade.audit.compare.ways import grouping_methods
from starshade.cli.anonymize import anonymize
from starshade.registry import find
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.release import RELEASE
from starshade.server.ask.suggest import _choice

PAGES = Path(__file__).parents[2]
#: pages that tell one what to type, not what a paper did
TOLD = ("README.md", "docs/index.md", "docs/guides/ci-gate.md", "docs/guides/limits.md")
FACTS = {"users": 943, "items": 1682, "ratings": 100_000, "sparsity": 0.94, "attributes": []}


def test_what_it_is() -> None:
    assert (DEFAULT, FOR_RECOMMENDERS, PROFILE) == ("k-exchange", "predictive", "pooled")


def test_the_command_line_and_python() -> None:
    (option,) = (each for each in anonymize.params if each.name == "method")
    assert option.default == DEFAULT
    assert PredictiveAnonymizerSettings.profile == ss.PredictiveAnonymizer(k=2).profile == PROFILE
    assert DEFAULT in grouping_methods()
    assert find(ENTRIES, FOR_RECOMMENDERS, "method").load() is ss.PredictiveAnonymizer


def test_the_studio() -> None:
    release = {each.name: each.default for each in RELEASE.settings(FACTS)}
    assert release["method"] == DEFAULT
    assert release["profile"] == PROFILE
    compared = {each.name: each.default for each in COMPARE.settings(FACTS)}
    assert compared["methods"][0] == DEFAULT
    assert compared["profile"] in (PROFILE, "")
    assert _choice(FACTS)[0] == DEFAULT


def test_the_demo_and_the_pages() -> None:
    assert "find(ENTRIES, DEFAULT" in inspect.getsource(demo.tell)
    for page in TOLD:
        text = (PAGES / page).read_text(encoding="utf-8").replace("\\\n", " ")
        methods = re.findall(r"^\$ starshade anonymize.*--method (\S+)", text, re.M)
        assert set(methods) <= {DEFAULT, FOR_RECOMMENDERS, "interval"}, page
    readme = (PAGES / "README.md").read_text(encoding="utf-8")
    default, recommenders = (
        find(ENTRIES, name, "method").cls for name in (DEFAULT, FOR_RECOMMENDERS)
    )
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S))
    assert set(re.findall(r"ss\.(\w+)\([^()]*\bk=", code)) >= {default, recommenders}
    assert "KLikeness(" not in code
