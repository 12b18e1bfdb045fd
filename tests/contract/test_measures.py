"""Every measure, on the release of every table of the cast."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.registry import Entry
from starshade.release.read import read_release
from starshade.utility.registry import ENTRIES
from tests.contract.cast import CAST
from tests.contract.make import K, make

every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
released = pytest.mark.parametrize(
    "name", [name for name in CAST if name not in ("one user", "nobody")]
)


@every
@released
def test_figures_are_plain_and_the_same_on_disk(entry: Entry, name: str, tmp_path: Path) -> None:
    release = KLikeness(k=K).anonymize(CAST[name], rng=0)
    result = make(entry).measure(release, original=CAST[name])
    found = json.loads(json.dumps(result.to_dict()))
    assert found
    assert all(
        v is None or (isinstance(v, (int, float)) and math.isfinite(v)) for v in found.values()
    )
    assert result.measure == entry.name
    assert result.meaning
    assert str(result)
    assert result._repr_html_()
    release.save(tmp_path / "out")
    back = read_release(tmp_path / "out")
    assert make(entry).measure(back, original=CAST[name]).to_dict() == result.to_dict()


@every
def test_an_original_with_more_in_it_gives_the_same(entry: Entry) -> None:
    whole = CAST["ordinary"]
    few = whole.keep_items(np.arange(4))
    release = KLikeness(k=K).anonymize(few, rng=0)
    a = make(entry).measure(release, original=few).to_dict()
    assert make(entry).measure(release, original=whole).to_dict() == a


def test_no_two_measures_give_a_figure_of_one_name() -> None:
    release = KLikeness(k=K).anonymize(CAST["ordinary"], rng=0)
    names = [
        name
        for entry in ENTRIES
        for name in make(entry).measure(release, original=CAST["ordinary"]).to_dict()
    ]
    assert len(set(names)) == len(names)
