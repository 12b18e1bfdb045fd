"""Texts that are as good as a name: refused by methods, found by the audit."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from starshade.anonymize.k_exchange import KExchange
from starshade.audit.findings import judge_identifying
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.release.identifying import Shared, named_in, shared_by
from starshade.release.table import Release
from tests.strategies import SCALES, table

N = 12
CITIES = [f"city {u % 3}" for u in range(N)]
NAMES = [f"NAME{u:02}" for u in range(N)]


def people(**columns: list[str] | list[float]) -> Ratings:
    ends = SCALES[0].maximum, SCALES[0].minimum
    rows = [{0: ends[u % 2], 1: SCALES[0].minimum} for u in range(N)]
    return table(rows, SCALES[0]).annotate(attributes=pa.table(columns))


def released(ratings: Ratings, **asked: object) -> Release:
    return KExchange(k=4, attributes="generalized", **asked).anonymize(ratings, rng=0)


def test_half_may_have_a_value_of_their_own() -> None:
    values = pa.chunked_array([["a", "b", "c", "d", "d", None, "e", "e"]])
    assert shared_by(values) == Shared(values=5, people=7, alone=3)
    assert not Shared(5, 6, 3).identifies
    assert Shared(5, 7, 4).identifies
    assert not shared_by(pa.chunked_array([[None, None]], pa.string())).identifies


def test_a_name_is_refused_and_leaving_it_out_is_what_is_advised() -> None:
    ratings = people(name=NAMES, city=CITIES, age=[20.0 + u for u in range(N)])
    told = r"attribute 'name' has 12 different values among 12 people, 12 of them one person's"
    with pytest.raises(ConfigError, match=told) as error:
        released(ratings)
    assert "name the others (--quasi city --quasi age)" in str(error.value)
    assert released(ratings, quasi_identifiers=["city", "age"]).n_records == N
    with pytest.raises(ConfigError, match="record by record"):
        released(ratings, quasi_identifiers=["city"], sensitive_attributes=["name"])


def test_joined_by_a_hierarchy_it_is_no_name(tmp_path) -> None:
    (tmp_path / "name.csv").write_text("\n".join(f"{name};*" for name in NAMES))
    hierarchy = {"name": tmp_path / "name.csv"}
    release = released(people(name=NAMES), attribute_hierarchies=hierarchy)
    assert named_in(release) == {}
    found = judge_identifying(release)
    assert found is not None
    assert found.passed


def listing(release: Release, name: str, values: list[str]) -> Release:
    """Put what each record's class lists of these values in the place of what is told."""
    lists, start = [], 0
    for size in release.classes.sizes.tolist():
        lists += [sorted(set(values[start : start + size]))] * size
        start += size
    told = pa.chunked_array([pa.array(lists, pa.list_(pa.string()))])
    return replace(release, attributes=pa.table({name: told}))


def test_the_audit_finds_lists_of_names_on_the_release_alone() -> None:
    release = released(people(city=CITIES))
    assert judge_identifying(release).passed  # type: ignore[union-attr]
    named = listing(release, "city", NAMES)
    assert named_in(named) == {"city": Shared(values=N, people=N, alone=N)}
    found = judge_identifying(named)
    assert found is not None
    assert not found.passed
    assert "city (12 different values among 12 people, 12 of them one person's alone)" in found.text
    pairs = [f"street {u // 2}" for u in range(N)]
    assert named_in(listing(release, "city", pairs)) == {}


def test_nothing_is_asked_of_releases_without_attributes() -> None:
    assert judge_identifying(KExchange(k=4).anonymize(people(name=NAMES), rng=0)) is None
