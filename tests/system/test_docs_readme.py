"""``README.md`` names what there is, and its lines on recommenders run."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.ratings.synth.synth import synthesize
from starshade.utility.registry import PROBED

PAGE = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## What is in it") :]


def test_the_first_screen_says_how_to_see_and_how_to_test_it() -> None:
    first = "\n".join(PAGE.splitlines()[:25])
    (block,) = (text for text in re.findall(r"```console\n(.*?)```", first, re.S) if "make" in text)
    assert re.findall(r"^\$ make (\w+) +# .*about .*minute", block, re.M) == ["demo", "test"]
    targets = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"\n{target}: " in targets
    assert "Python ≥ 3.11, make and a network" in first


@pytest.mark.parametrize(
    ("row", "room"), [("attack", "attack"), ("models", "privacy"), ("methods", "anonymize")]
)
def test_everything_registered_is_named(row: str, room: str) -> None:
    (line,) = re.findall(rf"^\| {row} \|.*$", TABLE, re.M)
    for entry in import_module(f"starshade.{room}.registry").ENTRIES:
        assert f"`{entry.name}`" in line, entry.name


def test_the_measures_of_recommenders_are_named() -> None:
    for entry in PROBED:
        assert f"`{entry.name}`" in TABLE, entry.name


def test_the_lines_on_recommenders_run() -> None:
    (block,) = (
        found
        for found in re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
        if "PredictiveAnonymizer" in found
    )
    ratings = synthesize(n_users=60, n_items=20, n_ratings=600, rng=0)
    names: dict[str, Any] = {"ratings": ratings}
    exec("import starshade as ss\n" + block, names)
    assert names["profiles"].shape == (len(names["sizes"]), names["release"].classes.n_items)
    assert int(np.sum(names["sizes"])) <= ratings.n_users
