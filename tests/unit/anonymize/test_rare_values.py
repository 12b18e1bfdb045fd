"""Values that few people have: refused, blanked, joined; the ends of ranges are nobody's."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.hierarchy.attribute import parse_attribute_hierarchy
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.personal.quasi import band_edges
from starshade.anonymize.personal.rare_values import without_rare_values
from starshade.errors import ConfigError, InternalError, UnmetError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.verify.verify import verify_folder
from tests.naive import quasi as naive
from tests.strategies import table
from tests.unit.release.samples import contents_of

NUMBERS = st.one_of(
    st.integers(-40, 120).map(float),
    st.integers(-200, 200).map(lambda n: n / 8),
    st.sampled_from([-1e300, -0.0, 5e-324, 1e-9, 0.1, 1e15 + 1, 1e300]),
)
TEXTS = st.sampled_from([None, "a", "b", "c", "ä", "z"])


def people(**columns: list[Any]) -> Ratings:
    n = len(next(iter(columns.values())))
    rows = [{0: 1.0 + u % 5, 1: 3.0} for u in range(n)]
    return table(rows, Scale(1, 5, 1)).annotate(attributes=pa.table(columns))


@given(st.lists(NUMBERS, max_size=30), st.integers(1, 5))
def test_edges_are_those_of_the_twin(values: list[float], k: int) -> None:
    assert band_edges(np.array(values), k).tolist() == naive.band_edges(values, k)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.integers(1, 5), st.data())
def test_each_band_is_shared_and_no_end_depends_on_the_extremes(
    values: list[float], k: int, data: st.DataObject
) -> None:
    edges = band_edges(np.array(values), k)
    bands = Counter(np.searchsorted(edges, values, side="right").tolist())
    assert len(edges) == 0 or (len(bands) == len(edges) + 1 and min(bands.values()) >= k)
    ordered = sorted(math.floor(v) for v in values)  # all whole: none decides the least step
    other = list(ordered)
    for i in range(min(k - 1, len(values) // 2)):
        other[i] -= data.draw(st.integers(0, 10**6))
        other[-1 - i] += data.draw(st.integers(0, 10**6))
    before, after = (band_edges(np.array(v, dtype=float), k).tolist() for v in (ordered, other))
    assert before == after


def test_the_oldest_is_not_told() -> None:
    ages = [20.0 + u % 40 for u in range(200)]
    asked = {"attributes": "generalized", "quasi_identifiers": ["age"]}

    def told(oldest: float) -> list[Any]:
        release = KLikeness(5, **asked).anonymize(people(age=[*ages, oldest]), rng=0)
        return sorted({end for v in release.attributes["age"].to_pylist() for end in v.values()})

    assert told(104.0) == told(61.0)
    assert told(104.0)[-1] == np.inf
    assert not {59.0, 61.0, 104.0} & set(told(104.0))


@given(st.lists(TEXTS, min_size=8, max_size=30), st.integers(2, 6), st.booleans())
def test_blanks_are_those_of_the_twin(values: list[str | None], k: int, joined: bool) -> None:
    ratings = people(town=values)
    expected = naive.blanked(values, k, at_once=joined)
    names = {"quasi": ["town"], "sensitive": [], "hierarchies": ["town"] * joined}
    if set(expected) == {None} and set(values) != {None}:
        with pytest.raises(UnmetError, match="leaves no value"):
            without_rare_values(ratings, k, "blank", **names)
        return
    found = without_rare_values(ratings, k, "blank", **names).attributes["town"].to_pylist()
    assert found == expected
    assert joined or all(number >= k for number in Counter(found).values())
    if found == values:
        without_rare_values(ratings, k, "refuse", **names)
    else:
        with pytest.raises(UnmetError, match=f"fewer than k = {k} people"):
            without_rare_values(ratings, k, "refuse", **names)


@given(st.lists(st.none() | NUMBERS, min_size=8, max_size=20), st.integers(2, 5))
def test_numbers_are_rare_one_by_one_where_they_are_told_so(
    values: list[float | None], k: int
) -> None:
    ratings = people(age=pa.array(values, pa.float64()).to_pylist(), town=["a"] * len(values))
    for place, at_once in ((("age",), True), ((), False)):
        expected = naive.blanked(values, k, at_once=at_once)
        if set(expected) == {None}:
            continue
        asked = place, () if place else ("age",)
        found = without_rare_values(ratings, k, "blank", *asked)
        assert found.attributes["age"].to_pylist() == expected


JOBS = ["nurse"] * 6 + ["judge"] * 2 + ["clown"] + ["baker"] * 4 + ["miner"] * 7
ILL = {"attributes": "generalized", "sensitive_attributes": ["job"], "quasi_identifiers": ["town"]}


def some() -> Ratings:
    return people(job=JOBS, town=["Ulm", "Bonn"] * 10)


def test_rare_values_are_refused_and_counted_not_named() -> None:
    with pytest.raises(UnmetError) as caught:
        KLikeness(3, **ILL).anonymize(some(), rng=0)
    assert caught.value.message == (
        "attribute 'job': 2 values that fewer than k = 3 people have (3 people)"
    )
    assert 'rare_values="blank"' in caught.value.advice
    assert not {"judge", "clown"} & set(str(caught.value).replace(",", " ").split())
    with pytest.raises(ConfigError, match="rare_values = 'drop': must be refuse or blank"):
        KLikeness(3, rare_values="drop")  # type: ignore[arg-type]


def test_a_null_of_few_is_rare_as_well() -> None:
    ratings = people(job=[None, None, *["a"] * 9, *["b"] * 9])
    asked = {"attributes": "generalized", "quasi_identifiers": ["job"]}
    with pytest.raises(UnmetError, match=r"1 value that .* \(2 people, including null\)"):
        KLikeness(3, **asked).anonymize(ratings, rng=0)
    # blanking joins the rarest value to them
    release = KLikeness(3, **asked, rare_values="blank").anonymize(ratings, rng=0)
    listed = {v for told in release.attributes["job"].to_pylist() for v in told}
    assert listed == {None, "b"}


def test_to_have_a_value_may_be_rare() -> None:
    ratings = people(age=[None] * 10 + [20.0, 30.0])
    for how, said in (("refuse", r"1 value that .* \(2 people\)"), ("blank", "leaves no value")):
        with pytest.raises(UnmetError, match=said):
            without_rare_values(ratings, 3, how, ["age"], [])


def test_blanks_go_into_the_release_and_are_checked(tmp_path: Path) -> None:
    release = KLikeness(3, **ILL, l=2, rare_values="blank").anonymize(some(), rng=0)
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    assert release.manifest.config["rare_values"] == "blank"
    jobs = Counter(read_release(tmp_path / "out").attributes["job"].to_pylist())
    assert jobs == {"nurse": 6, "baker": 4, "miner": 7, None: 3}
    found = verify_folder(tmp_path / "out", release.private)
    assert found["few_have"] == {}
    assert found["claims"][1]["verified"]["smallest_l"] >= 2
    again = KLikeness(3, **ILL, l=2, rare_values="blank").anonymize(some(), rng=0)
    again.save(tmp_path / "again")
    assert contents_of(tmp_path / "again") == contents_of(tmp_path / "out")
    assert release.private.config["rare_values"] == "blank"
    # a value that need not be blanked, and one that must be
    for old, new in (("nurse", None), (None, "clown")):
        values = release.attributes["job"].to_pylist()
        values[values.index(old)] = new
        column = release.attributes.column_names.index("job")
        told = release.attributes.set_column(column, "job", pa.array(values, pa.string()))
        with pytest.raises(InternalError):
            replace(release, attributes=told).save(tmp_path / "not")


def test_l_is_counted_after_blanking() -> None:
    """Of twelve, a and b are all that four or more have; null is no value."""
    ratings = people(job=["a"] * 4 + ["b"] * 4 + ["c", "d", "e", "f"])
    asked = {"attributes": "generalized", "sensitive_attributes": ["job"]}
    asked |= {"quasi_identifiers": [], "rare_values": "blank"}
    ratings = ratings.annotate(
        attributes=ratings.attributes.append_column("town", pa.array(["x"] * 12))
    )
    KLikeness(4, **asked, l=2).anonymize(ratings, rng=0)
    with pytest.raises(UnmetError, match="'job' has 2 different values"):
        KLikeness(4, **asked, l=3).anonymize(ratings, rng=0)


def test_a_hierarchy_joins_until_k_people_share_the_name(tmp_path: Path) -> None:
    towns = ["Ulm"] * 8 + ["Bonn"] * 8 + ["Kiel"]
    tree = parse_attribute_hierarchy("Ulm;south;*\nBonn;north;*\nKiel;north;*")
    asked = {"attributes": "generalized", "attribute_hierarchies": {"town": tree}}
    release = KLikeness(4, **asked).anonymize(people(town=towns), rng=0)
    release.save(tmp_path / "out")
    told = {tuple(t) for t in release.attributes["town"].to_pylist()}
    assert ("Kiel",) not in told
    assert tree.join(["Kiel"], Counter(towns), 4) == ("Bonn", "Kiel")
    assert tree.join(["Kiel"], Counter(towns), 10) == ("Bonn", "Kiel", "Ulm")
    assert tree.join(["Bonn"], Counter(towns), 4) == ("Bonn",)


def test_exact_attributes_are_for_a_query_service() -> None:
    release = KLikeness(3, attributes="exact").anonymize(some(), rng=0)
    assert Counter(release.attributes["job"].to_pylist()) == Counter(JOBS)
    assert "rare_values" not in release.manifest.config
