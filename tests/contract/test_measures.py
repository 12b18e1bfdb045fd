"""Every measure, on the release of every table of the cast."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.ratings.holdout import hold_out
from starshade.ratings.table import Ratings
from starshade.registry import Entry
from starshade.release.profiles import released_levels
from starshade.release.table import Release
from starshade.utility.registry import ENTRIES, PROBED
from tests.contract.cast import CAST
from tests.contract.make import K, grouped, make, stored
from tests.unit.release.changes import released as recorded
from tests.unit.utility.cases import profiled

every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
released = pytest.mark.parametrize(
    "name", [name for name in CAST if name not in ("one user", "nobody")]
)


@every
@released
def test_figures_are_plain_and_the_same_on_disk(entry: Entry, name: str) -> None:
    release = grouped(name)
    result = make(entry).measure(release.made, original=CAST[name])
    found = json.loads(json.dumps(result.to_dict()))
    assert found
    assert all(
        v is None or (isinstance(v, (int, float)) and math.isfinite(v)) for v in found.values()
    )
    assert result.measure == entry.name
    assert result.meaning
    assert str(result)
    assert result._repr_html_()
    assert {figure.key: figure.value for figure in result.found} == result.to_dict()
    assert all(figure.title and figure.meaning for figure in result.found)
    back = make(entry).measure(release.linked, original=CAST[name])
    assert back.to_dict() == result.to_dict()


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry.name != "what-remains"],  # it counts what is gone
    ids=lambda entry: entry.name,
)
def test_an_original_with_more_in_it_gives_the_same(entry: Entry) -> None:
    whole = CAST["ordinary"]
    few = whole.keep_items(np.arange(4))
    release = KLikeness(k=K).anonymize(few, rng=0)
    a = make(entry).measure(release, original=few).to_dict()
    assert make(entry).measure(release, original=whole).to_dict() == a


@pytest.mark.parametrize("entry", PROBED, ids=lambda entry: entry.name)
@pytest.mark.parametrize("layout", ["generalized", "record", "profile"])
@pytest.mark.parametrize(
    "name",
    ["ordinary", "real scale", "empty users", "constant ratings", "one giant user", "one level"],
)
def test_held_out_ratings_are_measured(entry: Entry, layout: str, name: str) -> None:
    train, probe = held_out(name)
    release, measure = of_layout(layout, name), make(entry)
    result = measure.measure(release, original=train, probe=probe)
    found = json.loads(json.dumps(result.to_dict()))
    assert all(v is None or math.isfinite(v) for v in found.values())
    assert str(result)
    if layout == "generalized":
        back = measure.measure(on_disk(name), original=train, probe=probe)
        assert back.to_dict() == result.to_dict()
    if entry.name == "rating-histogram":
        return
    for told, held in ((release, None), (replace(release, private=None), probe)):
        silent = measure.measure(told, original=train, probe=held).to_dict()
        assert silent == dict.fromkeys(result.to_dict())
    # there the only ratings held out are both ones of one person, who is not released then
    assert name == "one level" or any(v is not None for v in found.values())


@cache
def held_out(name: str) -> tuple[Ratings, Ratings]:
    return hold_out(CAST[name], 0.2, rng=1)


@cache
def of_layout(layout: str, name: str) -> Release:
    """Release what is not held out in one of three forms."""
    train, _ = held_out(name)
    if layout == "generalized":
        return KLikeness(k=K, rare_items="keep").anonymize(train, rng=0)
    train = train.drop_empty_users()
    if layout == "record":
        return recorded(train)
    groups = np.arange(train.n_users) // K
    groups = np.minimum(groups, max(train.n_users // K - 1, 0))
    levels = np.zeros((int(groups.max()) + 1, train.n_items), np.uint8)
    levels[groups[np.repeat(np.arange(train.n_users), train.user_support)], train.columns] = 2
    step = train.scale.width / 4 or 1.0
    levels = np.minimum(levels, len(released_levels(train.scale, step))).astype(np.uint8)
    return profiled(train, levels, groups.tolist(), step, "simple")


@cache
def on_disk(name: str) -> Release:
    return stored(of_layout("generalized", name)).linked


def test_no_two_measures_give_a_figure_of_one_name() -> None:
    release = grouped("ordinary").made
    names = [
        name
        for entry in ENTRIES
        for name in make(entry).measure(release, original=CAST["ordinary"]).to_dict()
    ]
    assert len(set(names)) == len(names)
