"""Texts that are as good as a name: refused by methods, found by the audit."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.k_exchange import KExchange
from starshade.audit.findings import judge_identifying
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.release.personal.identifying import (
    Addresses,
    Shared,
    addresses_in,
    is_address,
    named_in,
    shared_by,
)
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


EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@.]+")
URL = re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://\S|\bwww\.\S+\.\S|^[\w-]+(\.[\w-]+)*\.[a-z]{2,}/\S")


@settings(max_examples=300)
@given(
    st.one_of(
        st.text("awW.@:/- _\né+", max_size=12),
        st.lists(st.sampled_from(["www", "http", "://", "a", ".", "@", "/", " ", "_"])).map(
            "".join
        ),
    )
)
def test_an_address_is_found_as_patterns_that_are_easy_to_read_find_it(text: str) -> None:
    plainly = bool(EMAIL.search(text.strip()) or URL.search(text.strip()))
    assert is_address(text) == plainly


@pytest.mark.parametrize(
    "part", ["www", "a", "a.", "a@", "a@.", "://", "a://", "www.", "www. ", "a-"]
)
def test_a_long_text_takes_no_longer_than_it_is(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert is_address(text) == is_address(part * 20)


def test_half_may_have_a_value_of_their_own() -> None:
    values = pa.chunked_array([["a", "b", "c", "d", "d", None, "e", "e"]])
    assert shared_by(values) == Shared(values=5, people=7, alone=3)
    assert not Shared(5, 6, 3).identifies
    assert Shared(5, 7, 4).identifies
    assert not shared_by(pa.chunked_array([[None, None]], pa.string())).identifies


def test_a_name_is_refused_and_leaving_it_out_is_what_is_advised() -> None:
    ratings = people(name=NAMES, city=CITIES, age=[20.0 + u for u in range(N)])
    told = r"attribute 'name' has 12 different values among 12 people, 12 unique to one person"
    with pytest.raises(ConfigError, match=told) as error:
        released(ratings)
    assert '(quasi_identifiers=["city", "age"])' in str(error.value)
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
    assert "city (12 different values among 12 people, 12 unique to one person)" in found.text
    pairs = [f"street {u // 2}" for u in range(N)]
    assert named_in(listing(release, "city", pairs)) == {}


def test_what_looks_like_an_address() -> None:
    names = [
        *("a.b@example.org", "Ann <ann@example.co.uk>", "+49 89 123456", "+441632960123"),
        *("(555) 123-4567", "555-123-4567", "030-1234567", "01 23 45 67 89", "123-45-6789"),
        *("https://example.org/~ann", "www.example.org", "example.org/ann", "ftp://x/y"),
    ]
    others = [
        *("5551234567", "55401", "55401-1234", "2020-01-31", "31.12.1999", "10000-20000"),
        *("1.000.000.000", "Ulm", "sci-fi/fantasy", "a@b", "A. Smith", "3.5", "", "192.168.1.1"),
        *("12345 - 67890", "1990/1995", "(none)", "C++ (12)"),
    ]
    assert [name for name in names if not is_address(name)] == []
    assert [name for name in others if is_address(name)] == []


def test_one_in_twenty_is_enough() -> None:
    def found(reached: int, values: int, people: int) -> bool:
        texts = ["ann@example.org"] * reached + [f"t{u % (values - 1)}" for u in range(people)]
        return addresses_in(pa.chunked_array([texts])).identifies

    assert found(1, 20, 400)  # one of twenty values
    assert not found(1, 21, 400)
    assert found(20, 21, 380)  # one of twenty people
    assert not found(19, 21, 381)
    assert not addresses_in(pa.chunked_array([["x", None]])).identifies


@pytest.mark.parametrize("quasi", [["city"], ["city", "contact"]])
@pytest.mark.parametrize("how", ["refuse", "blank"])
def test_addresses_are_refused_however_many_share_them(quasi: list[str], how: str) -> None:
    contacts = [f"desk{u % 3}@example.org" for u in range(N)]  # four people each
    ratings = people(city=CITIES, contact=contacts)
    sensitive = [name for name in ("contact",) if name not in quasi]
    with pytest.raises(ConfigError, match="3 different values, of which 3 look like") as error:
        released(ratings, quasi_identifiers=quasi, sensitive_attributes=sensitive, rare_values=how)
    assert "example.org" not in str(error.value)
    assert "hierarchy" not in str(error.value)


def test_a_hierarchy_that_lists_addresses_is_no_excuse(tmp_path) -> None:
    contacts = [f"desk{u % 3}@example.org" for u in range(N)]
    (tmp_path / "c.csv").write_text("\n".join(f"{c};*" for c in sorted(set(contacts))))
    with pytest.raises(ConfigError, match="look like e-mail addresses"):
        released(people(contact=contacts), attribute_hierarchies={"contact": tmp_path / "c.csv"})
    # nor one whose other values, of nobody here, are addresses: they would be listed
    (tmp_path / "d.csv").write_text(
        "\n".join([*(f"{c};*" for c in sorted(set(CITIES))), "a@b.org;*"])
    )
    tree = {"city": tmp_path / "d.csv"}
    with pytest.raises(ConfigError, match="of which 1 look like"):
        released(people(city=CITIES[:N]), attribute_hierarchies=tree)


def test_the_audit_finds_addresses_on_the_release_alone() -> None:
    release = released(people(city=CITIES))
    contacts = [f"desk{u % 3}@example.org" for u in range(N)]
    named = listing(release, "city", contacts)
    assert named_in(named) == {"city": Addresses(values=3, alike=3)}
    found = judge_identifying(named)
    assert found is not None
    assert not found.passed


def test_nothing_is_asked_of_releases_without_attributes() -> None:
    assert judge_identifying(KExchange(k=4).anonymize(people(name=NAMES), rng=0)) is None
