"""What holds of every paper's study, whatever it measures."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.reproduction.configurations import NAMES
from starshade.audit.reproduction.papers import PAPERS
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import PaperStudy
from starshade.plain import plain
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.report.reproduction import save_study

SETTINGS: dict[str, Any] = {"runs": 2, "trials": 1, "repeats": 1, "targets": 20, "top": 5}
SETTINGS |= {"draws": 1, "k": [3], "rng": 5}


@cache
def ratings() -> Ratings:
    found = synthesize(n_users=80, n_items=40, n_ratings=1200, rng=1)
    return replace(
        found,
        users=Vocabulary.of([f"person-{i:03d}" for i in range(found.n_users)]),
        items=Vocabulary.of([f"film-{i:04d}" for i in range(found.n_items)]),
    )


def run(key: str, **settings: Any) -> PaperStudy:
    """Run a study with those of the settings that it has."""
    function = PAPERS[key].function
    given = SETTINGS | settings
    return function(
        ratings(), **{n: given[n] for n in given if n in signature(function).parameters}
    )


@cache
def study_of(key: str) -> PaperStudy:
    return run(key)


def converted(key: str) -> PaperStudy:
    study = study_of(key)
    if not study.claims:
        pytest.skip("it has no claims yet")
    return study


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_every_line_names_a_configuration_or_is_the_data_as_they_are(key: str) -> None:
    study = converted(key)
    lines = [series for figure in study.figures for series in figure.series]
    named = [series.configuration for series in lines if series.configuration]
    assert named
    assert [name for name in named if not name.startswith(NAMES)] == []


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_every_claim_is_judged_once(key: str) -> None:
    study = converted(key)
    assert [each.claim for each in study.claims] == list(PAPERS[key].claims)
    assert study.choices == PAPERS[key].choices
    for each in study.claims:
        assert (each.verdict == "cannot be tested") == bool(each.reason), each.claim.number
        assert bool(each.cause) == (each.verdict == "does not hold"), each.claim.number


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_tables_worked_by_hand_are_the_paper_s_or_say_why_not(key: str) -> None:
    for table in converted(key).worked:
        assert table.cells, table.number
        assert table.equal == table.cells or table.note, table.number


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(PAPERS))
def test_it_is_the_same_again_but_for_the_times(key: str) -> None:
    converted(key)
    parts = Parts()
    first = run(key, parts=parts)
    again = run(key, parts=parts)
    for other in (again, study_of(key)):
        assert json.dumps(plain(first.apart()[0])) == json.dumps(plain(other.apart()[0]))


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_a_folder_names_nobody_and_nothing(key: str, tmp_path: Path) -> None:
    names = save_study(study_of(key), tmp_path / key)
    assert {f"{key}.json", "README.md", "times.json"} < set(names)
    for path in (tmp_path / key).iterdir():
        text = path.read_text("utf-8")
        assert "person-" not in text, path.name
        assert "film-" not in text, path.name
    for entry in study_of(key).skipped:
        assert entry.reason in (tmp_path / key / "README.md").read_text("utf-8")
