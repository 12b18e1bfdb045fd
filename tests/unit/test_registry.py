from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from starshade.errors import ConfigError
from starshade.registry import Entry, find

ROOMS = ["anonymize", "privacy", "utility"]
ENTRIES = [e for room in ROOMS for e in import_module(f"starshade.{room}.registry").ENTRIES]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_an_entry_loads_and_tells_its_source(entry: Entry):
    assert isinstance(entry.load(), type)
    assert entry.load().__name__ == entry.cls
    assert set(entry.to_dict()) == {"name", "summary", "source"}
    assert all(entry.to_dict().values())
    assert entry.summary.endswith(".")


def test_names_are_unique_within_a_room():
    for room in ROOMS:
        names = [e.name for e in import_module(f"starshade.{room}.registry").ENTRIES]
        assert len(names) == len(set(names))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ConfigError, match="model 'k-anonimity': unknown") as caught:
        find(import_module("starshade.privacy.registry").ENTRIES, "k-anonimity", "model")
    assert "Did you mean k-anonymity?" in caught.value.advice
    assert find(ENTRIES, "class-size", "measure").cls == "AverageClassSize"


def test_the_lists_load_nothing_heavy():
    code = (
        "import sys, starshade.anonymize.registry, starshade.privacy.registry,"
        " starshade.utility.registry;"
        "heavy = {'numpy', 'numba', 'pyarrow', 'duckdb', 'scipy', 'pydantic'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
