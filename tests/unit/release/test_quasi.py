"""Releases with generalized personal attributes: built, written, read, verified, described."""

from __future__ import annotations

import csv
import json
import stat
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, InternalError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim
from starshade.release.table import Release
from starshade.release.verify import claims as verify_values
from starshade.release.verify.verify import verify_folder
from starshade.utility.losses import DisclosureShares, class_sizes
from tests.naive import class_values
from tests.naive import generalized_release as naive
from tests.strategies import table
from tests.unit.release.damage import change, permute, say
from tests.unit.release.samples import (
    Grouping,
    contents_of,
    covering,
    generalized,
    groupings,
    plain_rows,
    spread,
)

#: two groups that differ in their attributes alone, one of other cells, one like the first
ROWS = [{0: 1}, {0: 1}, {0: 1}, {0: 1}, {0: 5, 1: 2}, {0: 5, 1: 2}, {0: 1}, {0: 1}]
GROUPS = np.array([0, 0, 1, 1, 2, 2, 3, 3])
PEOPLE = {
    "age": [30.0, 20.0, 40.0, None, 1.0, 2.0, 20.0, 30.0],
    "job": ["a", None, "c", "b", "y", "x", None, "a"],
    "ill": ["q", "p", "p", "q", "s", "r", "p", "q"],
    "zip": ["1", "2", "3", "4", "5", "6", "7", "8"],
}
CLAIMS = (
    Claim(model="k-anonymity", parameters={"k": 2}),
    Claim(model="l-diversity", parameters={"l": 2, "attribute": "ill"}),
    Claim(model="t-closeness", parameters={"t": 0.75, "attribute": "ill"}),
)


def hand_made() -> Grouping:
    original = replace(table(ROWS, Scale(1, 5, 1)), attributes=pa.table(PEOPLE))
    return covering(original, GROUPS, ranges=False)


def made(**more: Any) -> Release:
    return generalized(hand_made(), ("age", "job"), ("ill",), **{"claims": CLAIMS} | more)


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Any]:
    release = made()
    release.save(tmp_path / "out")
    return tmp_path / "out", release.private


def test_classes_are_equal_in_cells_and_quasi_identifiers() -> None:
    release = made()
    assert release.manifest.audience == "publish"
    assert (release.exact.groups, release.manifest.classes) == (4, 3)
    assert release.classes.sizes.tolist() == [4, 2, 2]
    assert class_sizes(release).tolist() == [4, 2, 2]
    one = ("set", (1.0,))
    assert plain_rows(release.classes) == [
        [one, None],
        [one, None],
        [("set", (5.0,)), ("set", (2.0,))],
    ]
    assert release.attributes.column_names == ["age", "job", "ill"]
    # 1 and 2; 20 twice; 30 twice and 40: steps of 2, as the second highest is 28 above the lowest
    wide = {"low": 4.0, "high": np.inf, "null": False}
    lone = {"low": 22.0, "high": np.inf, "null": True}
    last = {"low": -np.inf, "high": 4.0, "null": False}
    assert release.attributes.column("age").to_pylist() == [wide] * 4 + [lone] * 2 + [last] * 2
    jobs = [[None, "a"]] * 4 + [["b", "c"]] * 2 + [["x", "y"]] * 2
    assert release.attributes.column("job").to_pylist() == jobs
    assert release.attributes.column("ill").to_pylist() == list("ppqqpqrs")
    # cells alone would say the same of all three
    assert release.manifest.users_rating_disclosed == 1


def test_attributes_that_are_neither_are_not_released(saved: tuple[Path, Any]) -> None:
    assert pq.read_table(saved[0] / "records.parquet").column_names == [
        *("record", "group", "age", "job", "ill")
    ]
    assert b"zip" not in b"".join(contents_of(saved[0]).values())


@given(
    groupings(people=True), st.sampled_from([("Age",), ("job",), ("Age", "job"), ("job", "Age")])
)
def test_classes_as_defined(grouping: Grouping, quasi: tuple[str, ...]) -> None:
    release = generalized(grouping, quasi)
    by_user = list(zip(*(spread(grouping, name) for name in quasi), strict=True))
    first = [grouping.groups.tolist().index(g) for g in range(len(grouping.rows))]
    said = [[plain(content) for content in by_user[u]] for u in first]
    expected = naive.classes_beside(grouping.rows, said, grouping.sizes)
    assert plain_rows(release.classes) == [row for row, _, _ in expected]
    assert release.classes.sizes.tolist() == [size for _, _, size in expected]
    beside = [list(entry.values()) for entry in release.attributes.to_pylist()]
    assert [[plain(c) for c in beside[r]] for r in starts(release)] == [s for _, s, _ in expected]
    of_user = release.class_of_record[release.private.link.record]
    for user, group in enumerate(grouping.groups.tolist()):
        row, told, _ = expected[of_user[user]]
        assert (row, told) == (grouping.rows[group], said[group])


def plain(content: Any) -> Any:
    """Equal numbers written equally."""
    if isinstance(content, dict):
        return {k: v + 0.0 if isinstance(v, float) else v for k, v in content.items()}
    return content


def starts(release: Release) -> list[int]:
    return (np.cumsum(release.classes.sizes) - release.classes.sizes).tolist()


@given(groupings(people=True), st.booleans(), st.integers(0, 9))
def test_round_trip_and_nothing_but_content_decides_the_bytes(
    grouping: Grouping, turned: bool, seed: int
) -> None:
    quasi, sensitive = (("job",), ("Age",)) if turned else (("Age",), ("job",))
    claims = (
        Claim(model="k-anonymity", parameters={"k": min(grouping.sizes)}),
        Claim(
            model="l-diversity",
            parameters={"l": 1, "attribute": sensitive[0], "missing": "as-value"},
        ),
        Claim(model="t-closeness", parameters={"t": 1, "attribute": sensitive[0]}),
    )
    release = generalized(grouping, quasi, sensitive, claims=claims)
    other = grouping.relabelled(np.random.default_rng(seed))
    again = generalized(other, quasi, sensitive, claims=claims)
    with tempfile.TemporaryDirectory() as folder:
        a, b, c = (Path(folder) / name for name in "abc")
        release.save(a)
        back = read_release(a)
        assert plain_rows(back.classes) == plain_rows(release.classes)
        assert back.attributes.equals(release.attributes)
        assert back.manifest.quasi_identifiers == quasi
        assert back.manifest.sensitive_attributes == sensitive
        again.save(b)
        assert contents_of(a) == contents_of(b)
        back.save(c)
        assert contents_of(a) == contents_of(c)
        counted = [claim["verified"] for claim in verify_folder(a, release.private)["claims"]]
    values = release.attributes.column(sensitive[0]).to_pylist()
    classes = class_values.classes_of(release.class_of_record.tolist(), values)
    assert counted[0] == {"smallest_class": min(map(len, classes))}
    assert counted[1] == {"smallest_l": min(map(class_values.distinct_l, classes))}
    farthest = max(class_values.distance(members, values) for members in classes)
    assert counted[2]["largest_t"] == pytest.approx(float(farthest), abs=1e-8)


@given(groupings(people=True))
def test_a_quasi_identifier_that_leaves_somebody_out_is_caught(grouping: Grouping) -> None:
    """Take the values from a range, or one from a list: saving fails."""
    release = generalized(grouping, ("Age", "job"))
    people = release.attributes.to_pydict()
    said = people["job"][0]
    narrow = [said[1:] if told == said and len(said) > 1 else told for told in people["job"]]
    if narrow != people["job"]:
        jobs = pa.array(narrow, pa.list_(pa.string()))
        broken = release.attributes.set_column(1, "job", jobs)
        with tempfile.TemporaryDirectory() as folder, pytest.raises(InternalError):
            replace(release, attributes=broken).save(Path(folder) / "out")
    top = people["Age"][0]
    if top["low"] is not None:
        cut = [
            {**told, "low": 1e301, "high": np.inf} if told == top else told
            for told in people["Age"]
        ]
        ages = pa.array(cut, release.attributes.schema.field("Age").type)
        broken = release.attributes.set_column(0, "Age", ages)
        with tempfile.TemporaryDirectory() as folder, pytest.raises(InternalError):
            replace(release, attributes=broken).save(Path(folder) / "out")


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ({"low": -np.inf}, "does not start at the nearest edge"),
        ({"low": 3.0}, "does not start at the nearest edge"),
        ({"low": 20.0}, "does not start at the nearest edge"),
        ({"high": 41.0}, "does not end at the nearest edge"),
    ],
)
def test_a_range_is_that_of_its_members(tmp_path: Path, ends: dict, message: str) -> None:
    release = made()
    ages = release.attributes.column("age")
    told = [{**said, **ends} if said["low"] == 4 else said for said in ages.to_pylist()]
    broken = release.attributes.set_column(0, "age", pa.array(told, ages.type))
    with pytest.raises(InternalError, match=message):
        replace(release, attributes=broken).save(tmp_path / "out")


def test_a_list_has_no_value_of_nobody(tmp_path: Path) -> None:
    release = made()
    jobs = release.attributes.column("job")
    told = [said + ["zz"] * (said == [None, "a"]) for said in jobs.to_pylist()]
    broken = release.attributes.set_column(1, "job", pa.array(told, jobs.type))
    with pytest.raises(InternalError, match="a value that no member has"):
        replace(release, attributes=broken).save(tmp_path / "out")


#: values of the first and last group are joined to a, d; those of the second to b, c, e
TREE = ["a;A;*", "d;A;*", "b;B;*", "c;B;*", "e;B;*", "x;C;*", "y;C;*"]


@pytest.mark.parametrize(
    ("second", "lines", "message"),
    [
        (["b", "c", "e"], TREE, None),
        (["b", "c"], TREE, "a value that no member has"),
        (["a", "b", "c", "d", "e", "x", "y"], TREE, "a value that no member has"),
        (["b", "c", "e", "zz"], TREE, "a value that no member has"),
        (["b", "e"], TREE, "outside its list"),
        ([None, "b", "c", "e"], TREE, "no member lacks it"),
        (["b", "c", "e"], None, "the owner has no hierarchy"),
        (["b", "c", "e"], [["b"]], "the owner has no hierarchy"),
    ],
)
def test_with_a_hierarchy_a_list_is_what_it_joins(
    tmp_path: Path, second: list, lines: Any, message: str | None
) -> None:
    rows = [None, "a"], second, ["x", "y"], [None, "a"]
    table_ = pa.table(
        {"job": pa.array([rows[g] for g in GROUPS], pa.list_(pa.string())), "ill": PEOPLE["ill"]}
    )
    release = hand_made().release(
        attributes="generalized",
        generalized=table_,
        quasi_identifiers=("job",),
        sensitive_attributes=("ill",),
        config={"k": 2, "attribute_hierarchies": ["job"]},
        private_config={} if lines is None else {"attribute_hierarchies": {"job": lines}},
    )
    if message is None:
        release.save(tmp_path / "out")
        assert verify_folder(tmp_path / "out", release.private)["classes"] == 3
        for file in ("README.md", "croissant.json"):
            told = (tmp_path / "out" / file).read_text(encoding="utf-8")
            assert "every value that a recipe or a hierarchy joins" in told
            assert "a sorted list of their values" not in told
        return
    with pytest.raises(InternalError, match=message):
        release.save(tmp_path / "out")


def test_classes_without_any_cell_are_told_apart(tmp_path: Path) -> None:
    original = replace(
        table([{}, {}, {}, {}], Scale(1, 5, 1)), attributes=pa.table({"job": ["a", "a", "b", "b"]})
    )
    grouping = covering(original, np.array([1, 1, 0, 0]), ranges=False)
    release = generalized(grouping, ("job",))
    release.save(tmp_path / "out")
    assert read_release(tmp_path / "out").classes.sizes.tolist() == [2, 2]
    assert verify_folder(tmp_path / "out", release.private)["classes"] == 2


def test_anybody_may_read_what_is_published(saved: tuple[Path, Any]) -> None:
    assert stat.S_IMODE(saved[0].stat().st_mode) & 0o500 == 0o500
    assert read_release(saved[0]).manifest.audience == "publish"


def test_an_earlier_folder_says_nothing_of_quasi_identifiers(tmp_path: Path) -> None:
    hand_made().release().save(tmp_path / "none")
    hand_made().release(attributes="exact").save(tmp_path / "exact")
    for name in ("none", "exact"):
        facts = json.loads((tmp_path / name / "release.json").read_text())
        assert not {"quasi_identifiers", "sensitive_attributes"} & set(facts)
        assert read_release(tmp_path / name).manifest.quasi_identifiers == ()
        verify_folder(tmp_path / name)


def at(column: str, rows: tuple[int, ...], value: Any) -> Any:
    def how(columns: dict[str, list]) -> None:
        for row in rows:
            columns[column][row] = value

    return how


def ages(low: float | None, high: float | None, null: bool | None) -> Any:
    return at("age", (0, 1, 2, 3), {"low": low, "high": high, "null": null})


def jobs(*values: str | None) -> Any:
    return at("job", (0, 1, 2, 3), list(values))


def swap_classes(columns: dict[str, list]) -> None:
    for name in ("age", "job", "ill"):
        columns[name] = [columns[name][i] for i in (4, 5, 0, 1, 2, 3, 6, 7)]
    columns["group"] = [0, 0, 1, 1, 1, 1, 2, 2]


# what happens to records.parquet; what the verifier says with the truth, and the reader
DAMAGE = {
    "a lower end": (ages(20.5, np.inf, False), "outside its range", None),
    "an upper end": (ages(4.0, 30.0, False), "outside its range", None),
    "a null too many": (ages(4.0, np.inf, True), "no member lacks it", None),
    "a null too few": (
        at("age", (4, 5), {"low": 22.0, "high": np.inf, "null": False}),
        "missing attribute is not stated",
        None,
    ),
    "crossed ends": (ages(30.0, 20.0, False), "without ends", "empty or not sorted"),
    "one end": (ages(20.0, None, False), "without ends", "empty or not sorted"),
    "no end and no null": (ages(None, None, False), "without ends", "empty or not sorted"),
    "no flag": (ages(20.0, 30.0, None), "without content", "empty or not sorted"),
    "no width": (ages(20.0, 20.0, False), "without ends", "empty or not sorted"),
    "no number": (ages(20.0, float("nan"), False), "differ|without ends", "differ|out of order"),
    "nothing said": (at("age", (0, 1, 2, 3), None), "without content", "empty or not sorted"),
    "a value too few": (jobs(None), "outside its list", None),
    "a null value too few": (jobs("a"), "outside its list|class order", None),
    "a null value too many": (
        at("job", (4, 5), [None, "b", "c"]),
        "no member lacks it|class order",
        None,
    ),
    "values unsorted": (jobs("a", None), "empty or not sorted", "empty or not sorted"),
    "a value twice": (jobs(None, "a", "a"), "empty or not sorted", "empty or not sorted"),
    "no value": (jobs(), "empty or not sorted", "empty or not sorted"),
    "within a class": (at("job", (1,), ["z"]), "records of a class differ", "within a class"),
    "ages within a class": (
        at("age", (3,), {"low": 0.0, "high": 99.0, "null": False}),
        "records of a class differ",
        "within a class",
    ),
    "classes swapped": (swap_classes, "class order", None),
    "sensitive of others": (at("ill", (0,), "o"), "not the user's", None),
    "sensitive unsorted": (
        lambda c: permute(c, [2, 0, 1, 3, 4, 5, 6, 7]) or c.update(record=list(range(8))),
        "record order",
        None,
    ),
    "a column less": (
        lambda c: c.pop("ill") and None,
        "forbidden column",
        "differ from release.json",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_with_mended_hashes_is_found(saved: tuple[Path, Any], kind: str) -> None:
    folder, private = saved
    how, verified, read = DAMAGE[kind]
    change(folder, "records.parquet", how)
    with pytest.raises(ReleaseError, match=verified):
        verify_folder(folder, private)
    if read is not None:
        with pytest.raises(ReleaseError, match=read):
            read_release(folder)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("age", ["20-30"] * 8, "type string|neither range nor list"),
        ("age", [20.0] * 8, "type double|neither range nor list"),
        ("job", [[1, 2]] * 8, "type list<.*int64>|neither range nor list"),
        ("ill", [1] * 8, "neither number nor text|neither number nor text"),
        ("ill", [["a"]] * 8, "neither number nor text|neither number nor text"),
    ],
)
def test_columns_must_be_of_their_type(
    saved: tuple[Path, Any], column: str, values: list, message: str
) -> None:
    folder, _ = saved

    def how(columns: dict[str, list]) -> pa.Table:
        before = pq.read_table(folder / "records.parquet")
        return before.set_column(before.column_names.index(column), column, pa.array(values))

    change(folder, "records.parquet", how)
    for opened in (verify_folder, read_release):
        with pytest.raises(ReleaseError, match=message):
            opened(folder)


@pytest.mark.parametrize(
    ("facts", "verified", "read"),
    [
        ({"quasi_identifiers": ["age"]}, "other than those declared", "not its attribute columns"),
        (
            {"quasi_identifiers": ["job", "age"]},
            "other than those declared",
            "not its attribute columns",
        ),
        (
            {"quasi_identifiers": ["age", "job", "zip"]},
            "other than those declared",
            "not its attribute columns",
        ),
        ({"sensitive_attributes": []}, "other than those declared", "not its attribute columns"),
        ({"sensitive_attributes": "ill"}, "names of personal attributes", "sensitive_attributes"),
        (
            {"quasi_identifiers": ["age"], "sensitive_attributes": ["job", "ill"]},
            "neither number nor text",
            "neither number nor text",
        ),
        ({"attributes": "exact"}, "in a release without any", "exact do not fit audience publish"),
        ({"attributes": "none"}, "in a release without any", "not its attribute columns"),
        ({"audience": "query"}, "audience", "audience query"),
    ],
)
def test_what_release_json_says_of_attributes_is_checked(
    saved: tuple[Path, Any], facts: dict[str, Any], verified: str, read: str | None
) -> None:
    folder, _ = saved
    say(folder, **facts)
    with pytest.raises(ReleaseError, match=verified):
        verify_folder(folder)
    if read is not None:
        with pytest.raises(ReleaseError, match=read):
            read_release(folder)


def test_claims_are_counted_anew(saved: tuple[Path, Any], tmp_path: Path) -> None:
    found = verify_folder(saved[0], saved[1])
    # ill: p, q of four and of two; r, s of two: against 3/8, 3/8, 1/8, 1/8
    assert [c["verified"] for c in found["claims"]] == [
        {"smallest_class": 2},
        {"smallest_l": 2},
        {"largest_t": 0.75},
    ]
    assert all(c["holds"] for c in found["claims"])
    for model, parameters in (("l-diversity", {"l": 3}), ("t-closeness", {"t": 0.7})):
        claim = {"model": model, "parameters": parameters | {"attribute": "ill"}, "verified": {}}
        say(saved[0], claims=[claim])
        assert [c["holds"] for c in verify_folder(saved[0])["claims"]] == [False]
        asked = Claim(model=model, parameters=claim["parameters"])
        with pytest.raises(InternalError, match=f"claim {model}"):
            made(claims=(CLAIMS[0], asked)).save(tmp_path / "x")


@pytest.mark.parametrize(
    "claim",
    [
        {"model": "l-diversity", "parameters": {"l": 2, "attribute": "job"}},
        {"model": "l-diversity", "parameters": {"l": 2, "attribute": "zip"}},
        {"model": "l-diversity", "parameters": {"l": 2}},
        {"model": "l-diversity", "parameters": {"l": "2", "attribute": "ill"}},
        {"model": "l-diversity", "parameters": {"l": 0, "attribute": "ill"}},
        {"model": "l-diversity", "parameters": {"l": 2, "attribute": "ill", "kind": "entropy"}},
        {"model": "t-closeness", "parameters": {"t": -1, "attribute": "ill"}},
        {"model": "t-closeness", "parameters": {"t": 0.5, "attribute": ["ill"]}},
    ],
)
def test_claims_that_cannot_be_counted(saved: tuple[Path, Any], claim: dict[str, Any]) -> None:
    say(saved[0], claims=[claim | {"verified": {}}])
    with pytest.raises(ReleaseError, match="claim"):
        verify_folder(saved[0])


def test_numbers_are_compared_in_order(tmp_path: Path) -> None:
    """Ages 1 to 6 in two classes of three: (1 + 2 + 3 + 2 + 1) / 6 / 5."""
    people = pa.table({"age": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "town": list("aaabbb")})
    original = replace(table([{0: 1}] * 6, Scale(1, 5, 1)), attributes=people)
    grouping = covering(original, np.array([0, 0, 0, 1, 1, 1]), ranges=False)
    claim = Claim(model="t-closeness", parameters={"t": 0.3, "attribute": "age"})
    generalized(grouping, ("town",), ("age",), claims=(claim,)).save(tmp_path / "out")
    (found,) = verify_folder(tmp_path / "out")["claims"]
    assert found["verified"] == {"largest_t": 0.3}


def test_classes_are_counted_in_blocks(
    saved: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The farthest class is the last one."""
    monkeypatch.setattr(verify_values, "_BLOCK", 4)
    assert verify_folder(saved[0])["claims"][2]["verified"] == {"largest_t": 0.75}


def test_minus_zero_is_zero() -> None:
    people = pa.table({"age": [0.0, 0.0, -0.0, -0.0]})
    original = replace(table([{0: 1}] * 4, Scale(1, 5, 1)), attributes=people)
    grouping = covering(original, np.array([0, 0, 1, 1]), ranges=False)
    release = generalized(grouping, ("age",), claims=())
    assert release.classes.sizes.tolist() == [4]
    assert "-0.0" not in str(release.attributes.to_pydict())


def test_nulls_alone_come_first() -> None:
    people = pa.table({"age": pa.array([-5.0, -5.0, None, None], pa.float64())})
    original = replace(table([{0: 1}] * 4, Scale(1, 5, 1)), attributes=people)
    grouping = covering(original, np.array([0, 0, 1, 1]), ranges=False)
    lows = [told["low"] for told in generalized(grouping, ("age",)).attributes["age"].to_pylist()]
    assert lows == [None, None, -np.inf, -np.inf]


@given(groupings(people=True))
def test_records_alone_with_sensitive_as_defined(grouping: Grouping) -> None:
    release = generalized(grouping, ("job",), ("Age",))
    ages = release.attributes.column("Age").to_pylist()
    told = list(zip(release.class_of_record.tolist(), ages, strict=True))
    share = sum(told.count(each) == 1 for each in told) / len(told)
    assert release.manifest.records_alone_with_sensitive == pytest.approx(share)
    assert generalized(grouping, ("job",)).manifest.records_alone_with_sensitive is None
    measured = DisclosureShares().measure(release).figures
    assert measured["records_alone_with_sensitive"] == pytest.approx(share)


def test_records_alone_with_sensitive_are_counted_anew(saved: tuple[Path, Any]) -> None:
    """Of the first class two have p and two q, of the second and third each is alone."""
    assert verify_folder(saved[0])["records_alone_with_sensitive"] == 0.5
    say(saved[0], records_alone_with_sensitive=0.25)
    with pytest.raises(ReleaseError, match="disclosure share: records_alone_with_sensitive"):
        verify_folder(saved[0])


@pytest.mark.parametrize("known", [True, False])
def test_values_of_few_are_counted_on_the_files(saved: tuple[Path, Any], known: bool) -> None:
    """Of b, c, x, y, r and s, and of no age, each is one person's; a class lists as many values."""
    found = verify_folder(saved[0], saved[1] if known else None)["few_have"]
    assert found == {
        "job": "4 values that fewer than k = 2 people have (4 people)",
        "ill": "2 values that fewer than k = 2 people have (2 people)",
        "age": "1 value that fewer than k = 2 people have (1 person)",
    }


def test_what_the_settings_say_of_rare_values_must_hold(tmp_path: Path) -> None:
    for how in ("refuse", "blank"):
        with pytest.raises(InternalError, match=r"check: (rare values|truth)"):
            made(config={"k": 2, "rare_values": how}).save(tmp_path / "out")


def test_ranges_that_end_are_found(tmp_path: Path) -> None:
    """Of an age that is not open at the ends somebody's value is known, or nearly."""
    people = pa.table({"age": [20.0, 20.0, 30.0, 30.0, 40.0, 40.0]})
    original = replace(table([{0: 1}] * 6, Scale(1, 5, 1)), attributes=people)
    release = generalized(covering(original, np.arange(6) // 2, ranges=False), ("age",))
    release.save(tmp_path / "open")
    assert verify_folder(tmp_path / "open")["few_have"] == {}
    ages = release.attributes.column("age")
    for end, other in (("low", 20.0), ("high", 41.0)):
        said = [
            told | {end: other if np.isinf(told[end]) else told[end]} for told in ages.to_pylist()
        ]
        closed = release.attributes.set_column(0, "age", pa.array(said, ages.type))
        replace(release, attributes=closed, private=None).save(tmp_path / end)
        found = verify_folder(tmp_path / end)["few_have"]
        assert found == {"age": "ranges whose outermost ends may be single people's values"}


def test_what_the_card_says(saved: tuple[Path, Any]) -> None:
    card = (saved[0] / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Anonymized ratings\n")
    assert "| records.parquet | age | personal attribute, the same for all records of a" in card
    assert "from low to below high" in card
    assert "a sorted list of their values" in card
    assert "| records.parquet | ill | sensitive personal attribute, unchanged |" in card
    assert "every record equals at least 1 other in every cell and quasi-identifier;" in card
    assert "l-diversity (l = 2, attribute = ill): every class has at least 2 different" in card
    assert "2 different known values of the attribute; counted on these files:" in card
    assert "fewest different values in a class 2" in card
    assert "Sensitive attributes are unchanged." in card
    assert "Records of a class are equal in ratings and quasi-identifiers, not" in card
    assert "not necessarily in sensitive attributes.\n" in card
    assert "- Records unique in their class by sensitive attributes: 50.0%." in card
    assert "records with equal cells and quasi-identifiers have the same number" in card


@pytest.mark.filterwarnings("ignore")  # the libraries that mlcroissant stands on deprecate much
def test_croissant_reads_ranges_and_lists(saved: tuple[Path, Any]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install 'starshade[dev]'")
    dataset = mlcroissant.Dataset(jsonld=str(saved[0] / "croissant.json"))
    assert not dataset.metadata.issues.errors
    rows = list(dataset.records("records"))
    assert rows[0]["records/age"]["records/age/low"] == 4.0
    assert rows[4]["records/age"]["records/age/null"] is True
    assert list(rows[4]["records/job"]) == [b"b", b"c"]
    assert rows[0]["records/ill"] == b"p"


def test_they_are_read_in_words(saved: tuple[Path, Any]) -> None:
    rows = list(csv.DictReader((saved[0] / "records.csv").read_text().splitlines()))
    said = [
        *[["0", "4 or more", "not known or a"]] * 4,
        *[["1", "22 or more or not known", "b or c"]] * 2,
        *[["2", "below 4", "x or y"]] * 2,
    ]
    ill = made().attributes.column("ill").to_pylist()
    assert [list(row.values()) for row in rows] == [
        [str(record), *words, ill[record]] for record, words in enumerate(said)
    ]


def rows_of(**columns: Any) -> pa.Table:
    told = {"age": [{"low": 0.0, "high": 99.0, "null": True}] * 8, "ill": PEOPLE["ill"]}
    return pa.table(told | columns)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"generalized": rows_of().slice(1)}, "not a row per user"),
        ({"generalized": rows_of().select(["ill", "age"])}, "not a row per user"),
        ({"generalized": None}, "not a row per user"),
        ({"generalized": rows_of(age=[20.0] * 8)}, "of type double"),
        ({"generalized": rows_of(age=[None] * 8)}, "of type null|without any content"),
        ({"generalized": rows_of(age=[["1"], ["2"]] * 4)}, "members of one group differ"),
        ({"attributes": "none"}, "generalized attributes of a release that has none"),
    ],
)
def test_what_does_not_belong_together_is_our_bug(arguments: dict[str, Any], message: str) -> None:
    asked = {
        "attributes": "generalized",
        "generalized": rows_of(),
        "quasi_identifiers": ("age",),
        "sensitive_attributes": ("ill",),
    }
    with pytest.raises(InternalError, match=message):
        hand_made().release(**asked | arguments)


def test_there_must_be_attributes_to_release() -> None:
    bare = covering(table(ROWS, Scale(1, 5, 1)), GROUPS, ranges=False)
    with pytest.raises(ConfigError, match=r"no personal attributes\nGive a file"):
        bare.release(attributes="generalized", generalized=rows_of(), quasi_identifiers=("age",))
    with pytest.raises(ConfigError, match="no quasi-identifier and no sensitive"):
        hand_made().release(attributes="generalized", generalized=rows_of().select([]))
    people = pa.table({"group": PEOPLE["ill"]})
    named = covering(replace(bare.original, attributes=people), GROUPS, ranges=False)
    with pytest.raises(ConfigError, match="record or group"):
        named.release(attributes="generalized", generalized=people, sensitive_attributes=("group",))
