from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from starshade.errors import InternalError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Symbols
from starshade.release.content import canonical
from starshade.release.manifest import Claim
from starshade.release.verify.verify import check_folder, recount, verify_folder
from tests.strategies import table
from tests.unit.release.damage import change, mend, permute, say
from tests.unit.release.samples import covering, groupings
from tests.unit.release.test_store import small


@pytest.fixture
def saved(tmp_path):
    """Classes {4}|null… of 3 and {1},{2,5} of 2 records, with attributes; and the truth."""
    release = small().release(attributes="exact")
    release.save(tmp_path / "out")
    return tmp_path / "out", release.private


@pytest.fixture
def real(tmp_path):
    """Two classes on a real scale, as value lists and (other folder) as ranges."""
    rows = [{0: -3.5, 1: 2.0}, {0: 4.25}, {0: 1.0, 1: 1.0}, {1: 2.5}]
    original = table(rows, Scale(-10, 10))
    groups = np.array([0, 0, 1, 1])
    for name, ranges in (("sets", False), ("ranges", True)):
        release = covering(original, groups, ranges=ranges).release()
        release.save(tmp_path / name)
    return tmp_path, release.private


def test_an_honest_release(saved):
    folder, private = saved
    found = verify_folder(folder, private)
    assert found == {
        "records": 5,
        "classes": 2,
        "items": 2,
        "smallest_class": 2,
        "users_rating_disclosed": 0.4,
        "users_exact_values_listed": 1.0,  # {2, 5} of two people, {null, 4, 5} of three
        "users_rating_exists": 0.4,
        "records_alone_with_sensitive": None,
        "few_have": {},
        "claims": [
            {
                "model": "k-anonymity",
                "parameters": {"k": 2},
                "verified": {"smallest_class": 2},
                "holds": True,
            }
        ],
    }


def test_a_claim_found_not_to_hold_is_reported(saved):
    folder, _ = saved
    claim = {"model": "k-anonymity", "parameters": {"k": 3}, "verified": {"smallest_class": 3}}
    say(folder, claims=[claim, {"model": "m", "parameters": {}, "verified": {}}])
    judged = verify_folder(folder)["claims"]
    assert [c["holds"] for c in judged] == [False, False]
    assert judged[0]["verified"] == {"smallest_class": 2}


def set_cell(row: int, mask: bytes):
    def how(columns):
        columns["members"][row] = mask

    return how


def move_record(columns):
    columns["group"][2] = 1


def swap_classes(columns):
    permute(columns, [2, 3, 0, 1])
    columns["group"] = [0, 0, 1, 1]


def swap_class_sizes(columns):
    columns["group"] = [0, 0, 1, 1, 1]


def swap_records(columns):
    for name in ("age", "job"):
        columns[name][0], columns[name][1] = columns[name][1], columns[name][0]


def swap_people(columns):
    for name in ("age", "job"):
        columns[name][2], columns[name][3] = columns[name][3], columns[name][2]


def rename_record(columns):
    columns["record"] = [1, 0, 2, 3, 4]


def lone_class(columns):
    columns["group"] = [0, 0, 1, 1, 2]


def classes_out_of_order(columns):
    columns["group"] = [1, 1, 1, 0, 0]


def null_key(columns):
    columns["group"][3] = None


def null_record(columns):
    columns["group"][4] = None


def one_item_more(columns):
    columns["item"].append("3")
    columns["name"].append(None)


DAMAGE = {
    # small(): class 0 = {null, 4, 5} · {null, 3}; class 1 = {1} · {2, 5}
    "a rating outside": ("cells.parquet", set_cell(0, b"\x11"), "rating is outside its cell"),
    "a null outside": ("cells.parquet", set_cell(1, b"\x08"), "null is outside its cell"),
    "a member too few": ("cells.parquet", set_cell(3, b"\x20"), "rating is outside its cell"),
    "a member off the scale": ("cells.parquet", set_cell(0, b"\x71"), "cells: a mask"),
    "null alone": ("cells.parquet", set_cell(0, b"\x01"), "cells: a mask"),
    "no member": ("cells.parquet", set_cell(0, b"\x00"), "cells: a mask"),
    "equal classes": ("cells.parquet", set_cell(2, b"\x31"), "class order|outside"),
    "classes swapped": ("cells.parquet", swap_classes, "class order"),
    "cells swapped": ("cells.parquet", lambda c: permute(c, [1, 0, 2, 3]), "cell order"),
    "groups descend": ("cells.parquet", lambda c: permute(c, [2, 3, 0, 1]), "cell order"),
    "a cell too few": (
        "cells.parquet",
        lambda c: permute(c, [0, 2, 3]),
        "an original rating has no cell",
    ),
    "a size": ("records.parquet", move_record, "truth|link"),
    "sizes swapped": ("records.parquet", swap_class_sizes, "truth"),
    "a class more": ("records.parquet", lone_class, "count"),
    "records of a class": ("records.parquet", swap_records, "record order"),
    "attributes of others": ("records.parquet", swap_people, "record order|not the user's"),
    "record ids": ("records.parquet", rename_record, "record order"),
    "records out of class order": (
        "records.parquet",
        lambda c: permute(c, [3, 4, 0, 1, 2]),
        "record order",
    ),
    "classes out of order": ("records.parquet", classes_out_of_order, "do not follow"),
    "a group that is null": ("records.parquet", null_record, "records.parquet: a null"),
    "a key that is null": ("cells.parquet", null_key, "cells.parquet: a null"),
    "items": ("items.parquet", lambda c: permute(c, [1, 0]), "item order"),
    "an item twice": ("items.parquet", lambda c: permute(c, [0, 0]), "item order"),
    "an item more": (
        "items.parquet",
        lambda c: c["item"].append("3") or c["name"].append(None),
        "items",
    ),
    "an item unlisted": ("items.parquet", lambda c: permute(c, [0]), "an item is not listed"),
    "an attribute less": ("records.parquet", lambda c: c.pop("job") and None, "forbidden column"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_with_mended_hashes_is_found(saved, kind):
    folder, private = saved
    name, how, message = DAMAGE[kind]
    change(folder, name, how)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(folder, private)
    facts = json.loads((folder / "release.json").read_text())
    with pytest.raises(InternalError, match=message):
        check_folder(folder, recount(folder, facts, private))


def test_equal_classes_are_found_without_the_truth(saved):
    folder, _ = saved

    def equal(columns):
        columns["members"][2:] = columns["members"][:2]

    change(folder, "cells.parquet", equal)
    with pytest.raises(ReleaseError, match="class order"):
        verify_folder(folder)


def test_a_changed_byte_is_found(saved):
    folder, _ = saved
    for name in ("README.md", "croissant.json", "records.parquet"):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        with pytest.raises(ReleaseError, match=f"hash: {name}|cannot be read as Parquet"):
            verify_folder(folder)
        mend(folder)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"records": 6}, "count: records"),
        ({"classes": 3}, "count: classes"),
        ({"items": 3}, "count: items"),
        ({"users_rating_disclosed": 0.2}, "disclosure share: users_rating_disclosed"),
        ({"users_rating_exists": 0.2}, "disclosure share: users_rating_exists"),
        ({"audience": "publish"}, "audience"),
        ({"attributes": "none"}, "audience"),
        ({"attributes": "none", "audience": "publish"}, "forbidden column"),
        ({"config": {"Seed": 3}}, "config: a private setting"),
        ({"config": {"a": [{"b": "/home/me/x.csv"}]}}, "config: a path"),
        ({"seed": 1}, "release.json"),
        ({"layout": "profile"}, "profile step is not a positive number"),
        ({"layout": "record"}, "missing or unknown columns"),
    ],
)
def test_what_release_json_says_is_counted_again(saved, facts, message):
    folder, _ = saved
    say(folder, **facts)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(folder)


def test_files_and_columns_that_do_not_belong(saved):
    folder, _ = saved
    (folder / "notes.txt").touch()
    with pytest.raises(ReleaseError, match="files"):
        verify_folder(folder)
    (folder / "notes.txt").unlink()
    change(folder, "cells.parquet", lambda c: c.update(user=["a"] * 4), to=pa.table)
    with pytest.raises(ReleaseError, match="forbidden column"):
        verify_folder(folder)


def test_columns_must_be_of_their_type(saved):
    folder, _ = saved
    change(folder, "cells.parquet", lambda c: c.update(group=["0", "0", "1", "1"]), to=pa.table)
    with pytest.raises(ReleaseError, match="group is of type string"):
        verify_folder(folder)


def test_notes_in_a_parquet_footer_are_found(saved):
    folder, _ = saved
    items = pq.ParquetFile(folder / "items.parquet").read()
    pq.write_table(items.replace_schema_metadata({"pandas": "{}"}), folder / "items.parquet")
    mend(folder)
    with pytest.raises(ReleaseError, match="metadata"):
        verify_folder(folder)


def test_a_link_that_is_none(saved):
    folder, private = saved
    record = private.link.record.copy()
    record[0] = record[1]
    with pytest.raises(ReleaseError, match="link: users and records"):
        verify_folder(folder, replace(private, link=replace(private.link, record=record)))


REAL_DAMAGE = {
    "a value": ("sets", "values", 0, [-3.5, 4.2], "rating is outside"),
    "a value less": ("sets", "values", 0, [-3.5], "rating is outside|class order"),
    "values unsorted": ("sets", "values", 0, [4.25, -3.5], "not sorted"),
    "no values": ("sets", "values", 0, [], "empty or not sorted"),
    "null": ("sets", "null", 1, False, "null is outside|class order"),
    "low": ("ranges", "low", 0, -3.0, "class order|rating is outside"),
    "high": ("ranges", "high", 0, 4.0, "rating is outside"),
    "no high": ("ranges", "high", 0, None, "without ends"),
    "crossed": ("ranges", "high", 0, -9.0, "without ends"),
    "null of a range": ("ranges", "null", 0, True, "null flag of a range is wrong"),
    "null of a range low": ("ranges", "low", 1, -10.0, "null flag of a range is wrong"),
}


@pytest.mark.parametrize("kind", REAL_DAMAGE)
def test_damage_on_a_real_scale(real, kind):
    folder, private = real
    name, column, row, value, message = REAL_DAMAGE[kind]

    def how(columns):
        # the rows of the class that has the rating -3.5, whichever place it took
        first = next(i for i, g in enumerate(columns["group"]) if g == has_both)
        columns[column][first + row] = value

    cells = pq.ParquetFile(folder / name / "cells.parquet").read().to_pylist()
    has_both = next(
        c["group"] for c in cells if c["low"] == -3.5 or (c["values"] or [None])[0] == -3.5
    )
    verify_folder(folder / name, private)
    change(folder / name, "cells.parquet", how)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(folder / name, private)


def test_a_cell_that_nobody_rated_must_be_declared(tmp_path):
    original = table([{0: 1}, {0: 1}], Scale(1, 5, 1), n_items=2)
    grouping = covering(original, np.array([0, 0]), ranges=False)
    grouping.rows[0][1] = ("set", (float("-inf"), 3.0))
    with pytest.raises(InternalError, match="without a rating of its class"):
        grouping.release().save(tmp_path / "out")
    grouping.release(imputed_cells=0.5).save(tmp_path / "out")


def test_rare_items_must_be_absent_unless_kept(tmp_path):
    claim = (Claim(model="k-anonymity", parameters={"k": 2}),)
    original = table([{0: 1, 1: 1}, {0: 1}], Scale(1, 5, 1))
    grouping = covering(original, np.array([0, 0]), ranges=False)
    with pytest.raises(InternalError, match="rare items: an item has fewer than 2 raters"):
        grouping.release(claims=claim, rare_items="drop").save(tmp_path / "out")
    grouping.release(claims=claim, rare_items="keep").save(tmp_path / "out")


@given(groupings(min_users=2))
def test_a_builder_that_loses_a_member_is_caught(grouping):
    """Whatever the table: take one member out of one cell, and saving fails."""
    import tempfile
    from pathlib import Path

    release = grouping.release()
    symbols = release.classes.symbols
    lost = [s for s in range(len(symbols)) if symbols.n_members[s] > 1]
    if not lost:
        return
    gone = symbols.offsets[lost[0]]
    offsets = symbols.offsets - (np.arange(len(symbols) + 1) > lost[0])
    smaller = replace(symbols, offsets=offsets, members=np.delete(symbols.members, gone))
    broken = replace(release, classes=canonical(replace(release.classes, symbols=smaller)))
    with tempfile.TemporaryDirectory() as folder, pytest.raises(InternalError, match="check"):
        broken.save(Path(folder) / "out")


def test_wide_scales_need_more_than_one_byte(tmp_path):
    scale = Scale(0, 100, 0.5)
    rows = [{0: 0.0, 1: 100.0}, {0: 99.5}, {0: 3.5}, {0: 4.0, 1: 50.0}]
    grouping = covering(table(rows, scale), np.array([0, 0, 1, 1]), ranges=False)
    grouping.release().save(tmp_path / "out")
    cells = pq.read_table(tmp_path / "out" / "cells.parquet")
    assert cells.schema.field("members").type == pa.binary(26)
    assert verify_folder(tmp_path / "out", grouping.release().private)["classes"] == 2


def test_symbols_on_a_stepped_scale_forget_float_dust(tmp_path):
    scale = Scale(0, 1, 0.1)
    original = table([{0: 0.3}, {0: 0.3}], scale)
    grouping = covering(original, np.array([0, 1]), ranges=False)
    cells = grouping.cells(np.random.default_rng(0))
    dusty = Symbols.sets(scale, [np.array([0.3]), np.array([0.1 + 0.2])], np.array([False, False]))
    cells = replace(cells, symbols=dusty, codes=np.array([0, 1], np.uint8))
    assert canonical(cells).codes.tolist() == [0, 0]


def test_release_json_must_be_json(saved):
    folder, _ = saved
    (folder / "release.json").write_text("{")
    with pytest.raises(ReleaseError, match=r"release.json: cannot be read"):
        verify_folder(folder)


def test_a_claim_says_what_was_counted(saved):
    folder, _ = saved
    facts = json.loads((folder / "release.json").read_text())
    counted = recount(folder, facts)
    claim = {"model": "k-anonymity", "parameters": {"k": 2}, "verified": {"smallest_class": 3}}
    say(folder, claims=[claim])
    with pytest.raises(InternalError, match="claim: k-anonymity"):
        check_folder(folder, counted)


def test_only_the_first_class_can_be_without_cells(tmp_path):
    original = table([{0: 1}, {0: 2}, {0: 3}], Scale(1, 5, 1))
    covering(original, np.arange(3), ranges=False).release().save(tmp_path / "out")
    change(tmp_path / "out", "cells.parquet", lambda c: permute(c, [0, 2]))
    with pytest.raises(ReleaseError, match="a class without cells is not the first"):
        verify_folder(tmp_path / "out")


def test_the_truth_must_be_of_the_same_items_and_attributes(saved):
    folder, private = saved
    others = replace(private.original, items=Vocabulary.of(["1", "9"]))
    with pytest.raises(ReleaseError, match="items: not those of the anonymized table"):
        verify_folder(folder, replace(private, original=others))
    unknown = replace(private.original, attributes=None)
    with pytest.raises(ReleaseError, match="an attribute is not in the original"):
        verify_folder(folder, replace(private, original=unknown))
