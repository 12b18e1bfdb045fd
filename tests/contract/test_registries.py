from __future__ import annotations

import dataclasses
import inspect
import json

import pytest

from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.privacy.registry import ENTRIES as MODELS
from starshade.registry import Entry
from starshade.utility.registry import ENTRIES as MEASURES
from tests.contract.make import make

EVERY = [*ATTACKS, *MODELS, *METHODS, *MEASURES]


def test_names_are_distinct_and_sorted_words() -> None:
    names = [entry.name for entry in EVERY]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and " " not in name and "_" not in name for name in names)


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: entry.name)
def test_a_verb_is_a_small_documented_frozen_dataclass(entry: Entry) -> None:
    kind = entry.load()
    assert dataclasses.is_dataclass(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        make(entry).anything = 1
    verbs = {"run", "check", "anonymize", "measure"} & set(dir(kind))
    assert len(verbs) == 1
    assert inspect.getdoc(kind)
    assert inspect.getdoc(getattr(kind, verbs.pop()))
    assert entry.summary.endswith(".")
    assert entry.source


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: entry.name)
def test_what_list_prints_is_plain(entry: Entry) -> None:
    assert set(json.loads(json.dumps(entry.to_dict()))) == {"name", "summary", "source"}
