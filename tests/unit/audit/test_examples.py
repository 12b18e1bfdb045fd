"""Rows before and after, and what remains, as a report and a page get them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.dossier.examples import example_rows
from starshade.audit.dossier.remains import remains_section
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.readable.examples import NOTHING, example_classes
from starshade.report.stacked import cells_bar, remains_bar
from starshade.utility.what_remains import WhatRemains
from tests.naive import examples as naive
from tests.strategies import at_least, table
from tests.unit.utility.cases import profiled, releases

STARS = Scale(1, 5, 1)
NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"


@given(releases())
@at_least(100)
def test_rows_are_those_of_the_twin(case):
    release, original = case
    found, slow = example_rows(release, original), naive.examples(release, original)
    if slow is None:
        assert found is None
        return
    assert found["items"] == slow["items"]
    assert len(found["classes"]) == len(slow["classes"])
    for one, twin in zip(found["classes"], slow["classes"], strict=True):
        assert (one["size"], one["more"]) == (twin["size"], twin["more"])
        assert [[_value(cell) for cell in row] for row in one["real"]] == twin["real"]
        assert [_ends(cell) for cell in one["released"]] == twin["released"]


def test_items_are_said_to_be_the_most_rated_only_where_that_is_known():
    original = table([{0: 1.0}, {0: 2.0}], STARS)
    release = profiled(original, [[2]], [0, 0], 0.5)
    assert "and the first items among" in example_classes(release)["rule"]
    assert "and the most rated items among" in example_rows(release, original)["rule"]
    assert (
        "and the most rated items among" in example_classes(_release([{0: 1.0}, {0: 2.0}]))["rule"]
    )


def _value(text):
    return None if text == NOTHING else float(text)


def _ends(text):
    """Read the least and the greatest rating of a cell, and whether it may have none."""
    if text == NOTHING:
        return (None, None, True)
    told = text.removesuffix(f" or {NOTHING}")
    numbers = [float(each) for each in re.findall(rf"(?:^|(?<=[–\s])){NUMBER}", told)]
    return (min(numbers), max(numbers), told != text)


def _release(rows, k=2, **options):
    return KLikeness(k, rare_items="keep", **options).anonymize(table(rows, STARS), rng=0)


def test_a_cell_in_words():
    rows = [{0: 3, 1: 1, 2: 4, 4: 2}, {0: 3, 1: 5, 3: 4, 4: 4}]
    shown = example_rows(_release(rows), table(rows, STARS))
    assert shown["classes"][0]["released"] in (
        ["3", "1, 5", "4 or –", "4 or –", "2, 4"],  # what lies between is not possible
        ["3", "1–5", "4 or –", "4 or –", "2–4"],
    )
    assert shown["classes"][0]["real"] == [["3", "1", "4", "–", "2"], ["3", "5", "–", "4", "4"]]


def test_nobodys_name_stands_there_and_the_public_has_no_real_row():
    rows = [{0: 3, 1: 1 + i % 5} for i in range(12)]
    original = table(rows, STARS)
    names = Vocabulary.of([f"person-{i:02d}" for i in range(12)])
    named = replace(original, users=names, item_names=("Heat", "Alien"))
    release = KLikeness(6).anonymize(named, rng=0)
    owner, public = example_rows(release, named), example_classes(release)
    assert "person-" not in json.dumps([owner, public])
    assert owner["items"] == ["Heat", "Alien"]
    assert {(len(one["real"]), one["more"]) for one in owner["classes"]} == {(5, 1)}
    assert [one["real"] for one in public["classes"]] == [None] * len(public["classes"])
    unknown = example_rows(replace(release, private=None), named)
    assert [one["real"] for one in unknown["classes"]] == [None] * len(public["classes"])
    assert [one["released"] for one in unknown["classes"]] == [
        one["released"] for one in owner["classes"]
    ]


def test_at_most_eight_items_of_which_most_is_said():
    rows = [dict.fromkeys(range(11), 3) | {20: 1}, dict.fromkeys(range(3, 11), 4)]
    original = table(rows, STARS)
    shown = example_rows(_release(rows), original)
    assert shown["items"] == [f"item {original.items[i]}" for i in range(3, 11)]


@given(releases())
@at_least(40)
def test_a_bar_is_whole_and_its_figures_are_those_of_the_measure(case):
    release, original = case
    found = WhatRemains().measure(release, original).figures
    section = remains_section(found)
    if not original.n_ratings:
        assert section is None
        return
    shown = {f"utility_{kind['name']}": kind["share"] for kind in section["kinds"]}
    left_out = shown.pop("utility_left-out")
    assert left_out == found["utility_left_out"]
    shown["utility_suppressed"] += left_out  # the bar has two parts of it
    assert shown == pytest.approx(
        {
            key: value
            for key, value in found.items()
            if key.startswith("utility_") and key != "utility_left_out" and value is not None
        }
    )
    spec = remains_bar(section)
    parts = spec["layer"][0]["data"]["values"]
    tops = sorted({part["y"] for part in parts})
    assert len(tops) == 2  # never without the item means
    for top in tops:
        bar = [part for part in parts if part["y"] == top]
        assert bar[0]["x"] == 0
        assert bar[-1]["x2"] == pytest.approx(1)
        assert [part["x2"] for part in bar[:-1]] == [part["x"] for part in bar[1:]]
    (rules,) = (each["data"]["values"] for each in spec["layer"] if _type(each) == "rule")
    titles = [each["y"] for each in spec["layer"][1]["data"]["values"]]
    for rule in rules:  # through no letter
        assert not any(rule["y"] < title + 7 and rule["y2"] > title - 7 for title in titles)
    drawn = json.dumps(spec, ensure_ascii=False)
    assert "Improvement over item means" in drawn
    assert "Item means" in drawn
    if any(kind["name"] == "exact" for kind in section["kinds"]):
        assert "disclosed" in drawn


def test_one_figure_alone_is_called_within_one_step():
    titles = [figure.title for figure in WhatRemains.FIGURES]
    assert [title for title in titles if "±1 step" in title] == [
        "Recoverable within ±1 step",  # whichever rating of the cell is true
        "Recoverable within ±1 step by the cell mean",
    ]
    original = table([{0: 3, 1: 1}, {0: 4, 1: 5}], STARS)
    release = KLikeness(2).anonymize(original, rng=0)
    section = remains_section(WhatRemains().measure(release, original).figures)
    assert [kind["name"] for kind in section["kinds"] if "±1 step" in kind["label"]] == ["one_step"]
    assert "within ±1 step, with each cell read as the mean" in section["text"]
    assert section["text"].count("±1 step") == 1


def _type(layer):
    return layer["mark"]["type"]


@pytest.mark.parametrize(
    ("kind", "head"), [("simple", "mean of 2"), ("pooled", "predicted for 2"), (None, "2 records")]
)
def test_nobody_says_what_was_predicted(kind, head):
    original = table([{0: 3, 1: 1}, {0: 4, 1: 5}], STARS)
    if kind is None:
        release = KLikeness(2).anonymize(original, rng=0)
    else:
        release = profiled(original, [[6, 5]], [0, 0], 0.5, kind)
    assert [one["head"] for one in example_classes(release)["classes"]] == [head]


def test_without_a_receipt_nothing_remains_to_be_told():
    assert remains_section({}) is None
    assert (
        remains_section(dict.fromkeys(("utility_suppressed", "improvement_over_item_means")))
        is None
    )


def test_kinds_of_cells_stand_in_their_order():
    kinds = [("one_rating", 0.25), ("perhaps_rated", 0.0), ("no_rating", 0.75)]
    spec = cells_bar([{"name": n, "label": n, "share": share} for n, share in kinds])
    parts = spec["layer"][0]["data"]["values"]
    assert [(part["x"], part["x2"]) for part in parts] == [(0, 0.25), (0.25, 1)]
    assert "no_rating: 75.0%" in spec["description"]
    assert np.isclose(parts[-1]["x2"], 1)
