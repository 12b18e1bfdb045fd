"""Recipes for personal attributes: beside the twin, in releases that the verifier recounts."""

from __future__ import annotations

from collections import Counter
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.baselines import Mondrian
from starshade.anonymize.hierarchy.attribute import AttributeHierarchy
from starshade.audit.shadows import method_of
from starshade.errors import ConfigError, InternalError
from starshade.ratings.scale import Scale
from starshade.release.personal.recipe import Recipe, coarsened, recipe_of
from starshade.release.table import Release
from tests.naive import recipes as naive
from tests.strategies import table
from tests.unit.anonymize.test_personal import METHODS, own_values

WRITTEN = [
    "{0:%Y-%m-%d}",
    "{0:%Y/%m/%d}",
    "{0.day}.{0.month}.{0:%Y}",
    "{0:%Y-%m-%d} 23:59:59",
    "{0:%Y-%m-%d}T10:00:00.5Z",
    "{0:%Y-%m}",
    " {0:%d/%m/%Y}",
]
TEXTS = st.sampled_from(["55401", "02139", "0213", "0", "a;b", "*", "**1", "é", "e\u0301", "other"])
NUMBERS = st.sampled_from([-1e15, -10.0, -0.5, 0.0, 5e-324, 9.5, 9.999, 10.0, 34.0, 104.0, 2.0**60])
DATES = st.dates(date(1000, 1, 1), date(9999, 12, 31)) | st.dates(
    date(1979, 1, 1), date(1990, 3, 3)
)
NASTY = {
    "prefix:1": TEXTS,
    "prefix:3": TEXTS | st.text("0\u00fc;*\" '", min_size=1, max_size=5),
    "rare:2": TEXTS,
    "rare:5": TEXTS,
    "bands:10": NUMBERS | st.integers(-50, 50).map(float),
    "bands:0.25": NUMBERS,
    "bands:3": st.integers(-50, 50).map(float),
    "bands:1": st.integers(-3, 3).map(float),
    "month:dmy": DATES,
    "year": DATES,
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list, list]:
    """A recipe, values of people, and how they are written."""
    recipe = draw(st.sampled_from(sorted(NASTY)))
    values = draw(st.lists(st.none() | NASTY[recipe], min_size=1, max_size=30))
    if draw(st.booleans()):  # some that many share
        values = values * 3
    if recipe in ("month:dmy", "year"):
        forms = draw(st.lists(st.sampled_from(WRITTEN), min_size=1))
        told = [
            None if v is None else forms[i % len(forms)].format(v) for i, v in enumerate(values)
        ]
        return recipe, values, told
    return recipe, values, values


@given(columns(), st.data())
@settings(max_examples=200)
def test_what_is_told_is_what_the_twin_tells(column, data):
    recipe, values, written = column
    k = data.draw(st.integers(0, 4))
    read = recipe_of(recipe)
    assert read is not None
    assert read.to_text() == recipe
    kind = pa.float64() if recipe.startswith("bands") else pa.string()
    people, rows = coarsened(pa.table({"x": pa.array(written, kind)}), {"x": read}, k)
    names = people.column("x").to_pylist()
    assert names == naive.told(recipe, values, k)[0]
    assert {name for name in names if name is not None} == {name for name, _ in rows["x"]}
    hierarchy = AttributeHierarchy(rows["x"])
    chosen = data.draw(st.lists(st.sampled_from(range(len(values))), min_size=1))
    counts = Counter(name for name in names if name is not None)
    if sum(counts.values()) >= k:
        told = hierarchy.join([names[i] for i in chosen], counts, k)
        assert list(told) == naive.said(recipe, chosen, values, k)
    levels = {level for _, above in rows["x"] for level in enumerate(above)}
    for level, name in levels:  # who has one name has one on every later level
        assert len({above[level:] for _, above in rows["x"] if above[level] == name}) == 1


def test_by_hand():
    def names(recipe: str, *values) -> list[str]:
        kind = pa.float64() if isinstance(values[0], float) else pa.string()
        people = pa.table({"x": pa.array(values, kind)})
        return coarsened(people, {"x": recipe_of(recipe)}, 0)[0].column("x").to_pylist()

    assert names("prefix:3", "55401", "02139", "55", None) == ["554**", "021**", "55***", None]
    assert names("prefix:2", 55401.0, 55125.0) == ["55***", "55***"]
    assert names("bands:10", 34.0, 40.0, -1.0, None) == ["30-39", "40-49", "-10 to -1", None]
    assert names("bands:2.5", 34.5, -0.1) == ["32.5 to <35", "-2.5 to <0"]
    assert names("bands:1", 34.0) == ["34"]
    assert names("month", "1984-05-01", "3.7.1969", "13/5/1984", "1/1/2000") == [
        "1984-05", "1969-07", "1984-05", "2000-01",
    ]  # fmt: skip
    assert names("month:mdy", "1/5/1984", "1984-05") == ["1984-01", "1984-05"]
    assert names("year", "1/5/1984", "2001", "2024-02-29") == ["1984", "2001", "2024"]
    assert names("rare:2", "a", "a", "b", "c") == ["a", "a", "other", "other"]
    assert names("rare:2", "a", "a", "a", "b", "b", "c") == ["a"] * 3 + ["other"] * 3
    assert names("rare:2", 1.0, 1.0, 2.0, 2.5) == ["1", "1", "other", "other"]
    levels = recipe_of("bands:10").levels("age", {34.0: 1, 61.0: 1})
    assert levels == {
        34.0: ("30-39", "0-79", "*"),  # until then nobody is joined
        61.0: ("60-69", "0-79", "*"),
    }
    few = pa.table({"x": ["554", "554", "551", "551", "5", "02", "02", "02", "1"]})
    called = coarsened(few, {"x": recipe_of("prefix:2")}, 2)[0].column("x").to_pylist()
    assert called == ["55*"] * 4 + ["***", "02*", "02*", "02*", "***"]
    called = coarsened(few, {"x": recipe_of("prefix:2")}, 3)[0].column("x").to_pylist()
    assert called == ["55*"] * 4 + ["***"] * 5  # two are not three: the rarest join them
    called = coarsened(few, {"x": recipe_of("prefix:3")}, 3)[0].column("x").to_pylist()
    assert called == ["55*"] * 4 + ["***"] * 5  # of 554 and 551 there are two each
    rows = dict(coarsened(pa.table({"x": ["1984-05-01"]}), {"x": Recipe("month")}, 1)[1]["x"])
    assert rows == {"1984-05": ("1984", "1980-1989", "*")}


def people(n: int = 60) -> tuple[dict[str, str], dict[str, list], pa.Table]:
    rng = np.random.default_rng(5)
    zips = [None if i % 9 == 4 else f"{z:05}" for i, z in enumerate(rng.integers(1000, 1400, n))]
    ages = [None if i % 7 == 3 else float(a) for i, a in enumerate(rng.integers(12, 90, n))]
    born = [date(int(y), 1 + i % 12, 7) for i, y in enumerate(rng.integers(1950, 1990, n))]
    job = [str(j) for j in rng.choice(["a", "b", "c;d", "*"], n, p=[0.5, 0.4, 0.07, 0.03])]
    recipes = {"zip": "prefix:4", "age": "bands:10", "born": "month", "job": "rare:5"}
    values = {"zip": zips, "age": ages, "born": born, "job": job}
    return recipes, values, pa.table(values | {"born": [f"{d:%d.%m.%Y}" for d in born]})


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_releases_tell_what_recipes_allow_and_verify(method, tmp_path):
    recipes, values, attributes = people()
    rng = np.random.default_rng(6)
    rows = [{0: float(r), 1: 3.0} for r in rng.integers(1, 6, 60)]
    ratings = table(rows, Scale(1, 5, 1)).annotate(attributes=attributes)
    made = method(3, attributes="generalized", attribute_hierarchies=recipes)
    release = made.anonymize(ratings, rng=1)
    release.save(tmp_path / "out")  # the verifier recounts it
    assert release.private.config["attribute_hierarchies"] == recipes
    assert release.manifest.config["attribute_hierarchies"] == sorted(recipes)
    first = np.concatenate([[0], np.cumsum(release.classes.sizes)[:-1]])
    numbered = ratings.annotate(attributes=pa.table({"place": range(60)}))
    for name, recipe in recipes.items():
        for c, members in enumerate(own_values(release, numbered, "place")):
            told = release.attributes.column(name)[int(first[c])].as_py()
            assert told == naive.said(recipe, members, values[name], 3)
            listed = {each for each in told if each is not None}
            assert listed <= set(naive.told(recipe, values[name], 3)[0])  # none is of fewer than 3
    again = method_of(release, ratings).anonymize(ratings, rng=release.private.seed)
    assert again.attributes == release.attributes
    assert again.private.config == release.private.config


@pytest.mark.parametrize(
    "damage", [{"zip": "prefix:1"}, {"zip": "year"}, {"zip": "zip.csv"}, {"gone": "prefix:1"}]
)
def test_the_verifier_sees_another_recipe_than_that_of_the_receipt(damage, tmp_path):
    recipes, _, attributes = people()
    ratings = table([{0: 3.0}] * 60, Scale(1, 5, 1)).annotate(attributes=attributes)
    asked = {"attributes": "generalized", "attribute_hierarchies": recipes}
    release: Release = Mondrian(3, **asked).anonymize(ratings, rng=1)
    release.private.config["attribute_hierarchies"] |= damage
    with pytest.raises(InternalError, match=r"truth|config"):
        release.save(tmp_path / "out")


@pytest.mark.parametrize(
    ("recipe", "values", "message", "advice"),
    [
        ("prefix:3", [2139.0, 55401.0], "lose leading zeros: 1 of 2 are shorter", "as text"),
        ("prefix:3", [2.5, 3.0], "numbers, which lose .*: some are not whole numbers", "as text"),
        ("prefix:3", [-2.0, 3.0], "numbers, which lose .*: some are not whole numbers", "as text"),
        ("bands:10", ["secret", "34"], "these 2 values are texts", "write missing values as null"),
        ("year", [1984.0], "year needs dates, and these are numbers", "bands:1"),
        ("year", ["secret", "2001-01-01"], "1 of 2 values cannot be read as a year", "YYYY-MM-DD"),
        ("month", ["1984", "2001-01-01"], "1 of 2 values cannot be read as a month", "missing"),
        ("year", ["2001-02-29", "31.04.2000", "0000-01-01"], "3 of 3 values cannot", "YYYY"),
        ("month", ["1/5/1984", "13/5/1984"], "1 of 2 values are ambiguous dates", "month:dmy"),
    ],
)
def test_what_a_recipe_cannot_read_is_refused_without_the_value(recipe, values, message, advice):
    with pytest.raises(ConfigError, match=f"attribute 'x': .*{message}") as caught:
        coarsened(pa.table({"x": values}), {"x": recipe_of(recipe)}, 2)
    assert advice in caught.value.advice
    assert not any(f"{v}"[:4] in str(caught.value) for v in ("secr", "5540", "2139"))


@pytest.mark.parametrize(
    "text",
    ["prefix", "prefix:", "prefix:0", "prefix:x", "bands:0", "bands:-1", "bands:1e3", "bands:0.0",
     "rare:1", "year:3", "month:", "month:ymd", "prefix:3\n"],
)  # fmt: skip
def test_what_is_no_recipe_says_how_it_reads(text):
    with pytest.raises(ConfigError, match="takes") as caught:
        Mondrian(3, attributes="generalized", attribute_hierarchies={"x": text})
    assert "Recipes are prefix:3, bands:10, month, year or rare:5" in caught.value.advice


def test_anything_else_is_a_file_and_says_what_recipes_there_are():
    assert recipe_of("./year") is None
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        Mondrian(3, attributes="generalized", attribute_hierarchies={"x": "prefx:3"})
    assert "prefix:3" in caught.value.advice
