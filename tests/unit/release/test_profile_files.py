"""Layout "profile" on disk: the same bytes, read back, counted again; damage is found."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.errors import InternalError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.build import Provenance
from starshade.release.folder import columns
from starshade.release.folder import write as store
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim, Manifest
from starshade.release.verify.verify import verify_folder
from tests.naive import profile_release as naive
from tests.strategies import table
from tests.unit.release.damage import change, permute, say
from tests.unit.release.profiled import Profiled, profile, profiled
from tests.unit.release.samples import contents_of
from tests.unit.release.test_card import ran

STARS = Scale(1, 5, 1)
ROWS = [{0: 5, 1: 1}, {0: 4, 1: 2}, {1: 3}, {1: 3, 2: 4}]
PADS = [[3.0, 3.0, 2.0]] * 2 + [[2.5, 3.0, 2.0]] * 2


def small(kind: str = "padded", **more) -> Profiled:
    original = replace(table(ROWS, STARS), item_names=("a", "b", "b"), **more)
    return profile(original, [0, 0, 1, 1], kind, 0.5, pads=PADS)


def claim(model: str, **parameters) -> Claim:
    return Claim(model=model, parameters=parameters)


@settings(max_examples=30)
@given(profiled(), st.integers(0, 9))
def test_round_trip_and_nothing_but_content_decides_the_bytes(drawn, seed):
    release = drawn.release()
    other = drawn.relabelled(np.random.default_rng(seed)).release()
    with tempfile.TemporaryDirectory() as place:
        a, b, c = (Path(place) / name for name in "abc")
        release.save(a, private=Path(place) / "receipt")
        back = read_release(a, private=Path(place) / "receipt")
        assert back.classes.levels.tolist() == release.classes.levels.tolist()
        assert back.classes.sizes.tolist() == release.classes.sizes.tolist()
        assert back.classes.items == release.classes.items
        assert back.classes.step == drawn.step
        assert back.private.link.record.tolist() == release.private.link.record.tolist()
        least = min(release.classes.sizes)
        assert back.manifest.claims[0].verified == {"smallest_class": least}
        found = verify_folder(a, release.private)
        assert (found["smallest_class"], found["classes"]) == (least, len(back.classes.sizes))
        assert found["users_rating_disclosed"] is None
        assert found["claims"][0]["holds"]
        other.save(b)
        assert contents_of(a) == contents_of(b)
        replace(back, private=None).save(c)
        assert contents_of(a) == contents_of(c)


def test_many_row_groups_say_the_same(tmp_path, monkeypatch):
    release = small().release()
    release.save(tmp_path / "one")
    monkeypatch.setattr(store, "PROFILE_BYTES", 3)
    release.save(tmp_path / "many")
    files = [pq.ParquetFile(tmp_path / name / "profiles.parquet") for name in ("one", "many")]
    assert [file.num_row_groups for file in files] == [1, 2]
    assert files[0].read().equals(files[1].read())
    monkeypatch.setattr("starshade.release.folder.read._TOGETHER", 3)
    monkeypatch.setattr("starshade.release.verify.profiles._BLOCK", 3)
    found = read_release(tmp_path / "many")
    assert found.classes.levels.tolist() == release.classes.levels.tolist()
    verify_folder(tmp_path / "many", release.private)
    assert columns.PROFILE_BYTES == 2**25  # the cut is part of the bytes


def test_what_stands_in_the_files(tmp_path):
    small("simple").release().save(tmp_path / "out")
    told = pq.read_table(tmp_path / "out" / "profiles.parquet")
    assert told.schema.field("profile").type == pa.binary(3)
    assert told.to_pydict() == {
        "group": [0, 1],
        "size": [2, 2],
        "profile": [bytes([0, 5, 7]), bytes([8, 2, 0])],
    }
    assert sorted(contents_of(tmp_path / "out")) == [
        "README.md", "croissant.json", "items.parquet", "profiles.parquet", "records.parquet",
        "release.json", "table.csv", "table.parquet",
    ]  # fmt: skip
    facts = json.loads((tmp_path / "out" / "release.json").read_text())
    assert (facts["profile"], facts["profile_step"]) == ("simple", 0.5)
    assert facts["single_rater_cells"] == "more"
    assert facts["users_rating_disclosed"] is facts["users_rating_exists"] is None


def test_manifests_of_other_layouts_are_as_they_were():
    scale = {"minimum": 1, "maximum": 5, "step": 1}
    told = {"method": "m", "scale": scale, "records": 1, "items": 1, "classes": 1}
    assert "single_rater_cells" not in Manifest(**told).to_json()
    assert '"single_rater_cells": null' in Manifest(**told, layout="profile").to_json()


@pytest.mark.parametrize("kind", ["padded", "simple", "model", "pooled"])
def test_the_card(tmp_path, monkeypatch, kind):
    release = small(kind).release(claims=(claim("review-graph", k=2), claim("diversity", b=1, l=1)))
    release.save(tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    head = card.split("## Claims and their limits")[0]
    assert "Each class has one profile" in head
    assert ("null means that no member did" in head) == (kind == "simple")
    assert "every record equals at least 1 other on every item" in card
    assert "covered by the profiles of at least 1 classes" in card
    assert "Attribute disclosure (certain)" not in card
    assert "can only be null has no row" not in card
    assert ("rest on one person's rating" in head) == (kind in ("padded", "simple"))
    assert ("as if it were one person" in head) == (kind == "pooled")
    assert ("as if it were one person" in card.split("## Claims and their limits")[1]) == (
        kind == "pooled"
    )
    names = ran(tmp_path / "out", monkeypatch)
    lines = [line for line in card.split("```")[1].splitlines()[1:] if "import" not in line]
    assert len(lines) == 3
    found = names["ratings"][names["codes"]]
    assert np.array_equal(found, release.classes.values(), equal_nan=True)
    croissant = json.loads((tmp_path / "out" / "croissant.json").read_text())
    assert "profile of means or predictions" in croissant["description"]
    sets = {s["name"]: [f["name"] for f in s["field"]] for s in croissant["recordSet"]}
    assert sets["profiles"] == ["group", "size", "profile"]


def test_the_card_says_how_few_raters_make_a_null(tmp_path):
    original = table(ROWS, STARS)
    profile(original, [0, 0, 1, 1], "simple", 0.5, 2).release().save(tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "null means that fewer than 2 members did" in card
    assert "A null means that fewer than 2 members rated the item." in card
    assert "no member" not in card
    assert "without the name" not in card


def cell(row: int, item: int, level: int):
    def how(told):
        raw = bytearray(told["profile"][row])
        raw[item] = level
        told["profile"][row] = bytes(raw)

    return how


def put(column: str, row: int, value):
    def how(told):
        told[column][row] = value

    return how


def width(told):
    told["profile"] = [p + b"\x01" for p in told["profile"]]
    return pa.table(
        {
            "group": pa.array(told["group"], pa.int32()),
            "size": pa.array(told["size"], pa.int32()),
            "profile": pa.array(told["profile"], pa.binary(4)),
        }
    )


def loose(told):
    return pa.table(
        {
            "group": pa.array(told["group"], pa.int32()),
            "size": pa.array(told["size"], pa.int32()),
            "profile": pa.array(told["profile"], pa.binary()),
        }
    )


def notes(told):
    return width({**told, "profile": [p[:2] for p in told["profile"]]}).replace_schema_metadata(
        {"a": "b"}
    )


def lone(told):
    told["group"] = [0, 0, 1, 2]


# padded: class 0 = 2.5 · 3 · 3 (its third cell 3: rated 4 by one of two, and predicted 2);
# class 1 = 4.5 · 1.5 · 2: its first two cells are the means of two ratings
DAMAGE = {
    "a level above the scale": (cell(0, 2, 10), "a level beyond the scale", False),
    "a null in padded": (cell(0, 2, 0), "a null in a profile of kind padded", False),
    "a mean moved": (cell(1, 1, 3), "rated by the whole class is not its mean", True),
    "out of order": (cell(1, 0, 1), "not sorted by content", False),
    "a class twice": (
        lambda told: put("profile", 1, told["profile"][0])(told),
        "two classes are equal",
        False,
    ),
    "rows swapped": (lambda told: permute(told, [1, 0]), "classes are not 0, 1, 2", False),
    "profiles swapped": (
        lambda told: told.update(profile=told["profile"][::-1]),
        "not sorted by content",
        False,
    ),
    "a size that lies": (put("size", 0, 3), "sizes differ from the records", False),
    "a group that lies": (put("group", 1, 2), "classes are not 0, 1, 2", False),
    "a class too few": (lambda told: permute(told, [0]), "2 classes in the records, 1", False),
    "a class more": (
        lambda told: [told[n].append(v) for n, v in
                      (("group", 2), ("size", 1), ("profile", b"\x09\x09\x09"))],
        "sizes differ from the records",
        False,
    ),
    "too wide": (width, "not a byte for each item", False),
    "of any width": (loose, "profile is of type", False),
    "a profile missing": (put("profile", 0, None), "profiles.parquet: a null", False),
    "a size missing": (put("size", 0, None), "profiles.parquet: a null", False),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_under_true_hashes_is_found(tmp_path, name):
    release = small().release()
    release.save(tmp_path / "out")
    verify_folder(tmp_path / "out", release.private)
    how, message, by_truth_alone = DAMAGE[name]

    def changed(told):
        made = how(told)
        return made if isinstance(made, pa.Table) else None

    change(tmp_path / "out", "profiles.parquet", changed)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(tmp_path / "out", release.private)
    if by_truth_alone:
        verify_folder(tmp_path / "out")
        return
    with pytest.raises(ReleaseError, match=message):
        verify_folder(tmp_path / "out")
    if name != "of any width":  # which another tool may have written
        with pytest.raises(ReleaseError, match="damaged"):
            read_release(tmp_path / "out")


def test_every_byte_is_the_one_that_was_hashed(tmp_path):
    small().release().save(tmp_path / "out")
    place = tmp_path / "out" / "profiles.parquet"
    whole = place.read_bytes()
    for at in range(0, len(whole), 37):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        for how in (read_release, verify_folder):
            with pytest.raises(ReleaseError):
                how(tmp_path / "out")


@pytest.mark.parametrize("kind", ["simple", "padded", "model", "pooled"])
def test_every_cell_of_every_level_is_checked_against_the_truth(tmp_path, kind):
    """Whatever one cell is changed to, only what the definitions allow is let through."""
    drawn = small(kind)
    release = drawn.release()
    release.save(tmp_path / "out")
    place = tmp_path / "out" / "profiles.parquet"
    before = place.read_bytes()
    levels = release.classes.levels
    of_user = release.class_of_record[release.private.link.record]
    for row, item, level in product(range(2), range(3), range(10)):
        if level == levels[row, item]:
            continue
        place.write_bytes(before)
        change(tmp_path / "out", "profiles.parquet", cell(row, item, level))
        ratings = [r[item] for r, c in zip(drawn.rows, of_user, strict=True) if c == row]
        told = [r for r in ratings if r is not None]
        after = levels.copy()
        after[row, item] = level
        allowed = after[0].tolist() < after[1].tolist()
        if kind == "simple":
            # a mean lies half-way between two levels here and there
            mean = sum(told) / len(told) if told else None
            value = 1 + (level - 1) / 2
            allowed &= bool(told) and level > 0 and abs(mean - value) <= 0.2501
        else:
            allowed &= level > 0
            if kind == "padded" and len(told) == len(ratings):
                allowed &= abs(sum(told) / len(told) - (1 + (level - 1) / 2)) <= 0.2501
        if allowed:
            verify_folder(tmp_path / "out", release.private)
        else:
            with pytest.raises(ReleaseError):
                verify_folder(tmp_path / "out", release.private)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"records": 5}, "count: records"),
        ({"classes": 3}, "count: classes"),
        ({"items": 2}, "count: items"),
        ({"users_rating_disclosed": 0.0}, "disclosure share"),
        ({"users_rating_exists": 0.0}, "disclosure share"),
        ({"profile_step": None}, "the profile step is not a positive number"),
        ({"profile_step": 0}, "the profile step is not a positive number"),
        ({"profile_step": 10**400}, "the profile step is not a positive number"),
        ({"profile_step": float("nan")}, "cannot be read"),
        ({"profile_step": "0.5"}, "the profile step is not a positive number"),
        ({"profile_step": 0.7}, "does not divide the scale"),
        ({"profile_step": 0.001}, "does not divide the scale"),
        ({"profile_step": 2}, "a level beyond the scale"),
        ({"profile": "carrot"}, "unknown kind"),
        ({"layout": "generalized"}, "cannot be read as Parquet"),
        ({"layout": "record"}, "cannot be read as Parquet"),
        ({"imputed_cells": 0.5}, "band: imputed_cells: not a band"),
        ({"imputed_cells": "under 1 %"}, "band: imputed_cells: under 1 % stated, more true"),
        ({"imputed_cells": None}, "band: imputed_cells"),
        ({"single_rater_cells": "under 5 %"}, "band: single_rater_cells"),
        ({"single_rater_cells": None}, "band: single_rater_cells"),
        ({"users_deleted": "under 1 %"}, "band: users_deleted: under 1 % stated, none true"),
        ({"users_without_rating": None}, "band: users_without_rating: not a band"),
        ({"rare_items_dropped": 0}, "band: rare_items_dropped: not a band"),
        ({"profile": "simple"}, "not the mean of its raters"),
        (
            {"claims": [{"model": "review-graph", "parameters": {}, "verified": {}}]},
            "has other parameters",
        ),
        (
            {"claims": [{"model": "diversity", "parameters": {"b": 1}, "verified": {}}]},
            "has other parameters",
        ),
        (
            {"claims": [{"model": "diversity", "parameters": {"b": 0, "l": 1}, "verified": {}}]},
            "has other parameters",
        ),
    ],
)
def test_what_release_json_says_is_counted_again(tmp_path, facts, message):
    release = small().release()
    release.save(tmp_path / "out")
    say(tmp_path / "out", **facts)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(tmp_path / "out", release.private)


@pytest.mark.parametrize("step", [1e308, 2**62, 9.0])
def test_a_step_wider_than_the_scale_is_damage(tmp_path, step):
    """Nothing but nulls and lowest ratings, which one level would be enough for."""
    lowest = table([{0: 1}, {0: 1, 1: 1}, {1: 1}, {0: 1}], STARS)
    release = profile(lowest, [0, 0, 1, 1], "simple", 0.5).release()
    release.save(tmp_path / "out")
    say(tmp_path / "out", profile_step=step)
    with pytest.raises(ReleaseError, match="does not divide the scale"):
        verify_folder(tmp_path / "out")


@pytest.mark.parametrize("said", ["model", "pooled", "simple", None])
def test_the_settings_name_the_same_kind_as_the_manifest(tmp_path, said):
    """Else a padded release could be called a model's, and its raters would not be counted."""
    told = {"method": "predictive", "config": {"profile": "padded", "step": 0.5}}
    release = small().release(**told)
    release.save(tmp_path / "out")
    lie = {"profile": said, "single_rater_cells": None}
    with pytest.raises(InternalError, match="kind or step of profile differ"):
        replace(release, manifest=release.manifest.model_copy(update=lie)).save(tmp_path / "no")
    assert not (tmp_path / "no").exists()
    say(tmp_path / "out", **lie)
    for how in (read_release, verify_folder):
        with pytest.raises(ReleaseError, match="kind or step of profile differ"):
            how(tmp_path / "out")
    with pytest.raises(InternalError, match="kind or step of profile differ"):
        small().release(**told | {"config": {}}).save(tmp_path / "no")


def test_settings_that_are_none_are_damage(tmp_path):
    small().release().save(tmp_path / "out")
    for config, message in (([], "not an object"), ({"min_raters": "2"}, "min_raters")):
        say(tmp_path / "out", config=config)
        with pytest.raises(ReleaseError, match=message):
            verify_folder(tmp_path / "out")


def test_claims_are_counted_on_the_files(tmp_path):
    release = small().release(claims=(claim("k-anonymity", k=2), claim("review-graph", k=2)))
    release.save(tmp_path / "out")
    for made in read_release(tmp_path / "out").manifest.claims:
        assert made.verified == {"smallest_class": 2}
    for asked in (claim("review-graph", k=3), claim("diversity", b=1, l=3), claim("other")):
        with pytest.raises(InternalError, match="claim"):
            small().release(claims=(asked,)).save(tmp_path / "no")
    assert not (tmp_path / "no").exists()


@given(profiled(kinds=("simple",), max_users=8, max_items=4), st.integers(1, 3), st.integers(1, 3))
def test_diversity_is_counted_as_defined(tmp_path_factory, drawn, b, l):  # noqa: E741
    folder = tmp_path_factory.mktemp("d")
    release = drawn.release(claims=(claim("diversity", b=b, l=l),))
    rated = [{i for i, v in enumerate(row) if v is not None} for row in drawn.rows]
    fewest = naive.fewest_classes(release.classes.levels.tolist(), rated, b, l)
    if fewest < l:
        with pytest.raises(InternalError, match="claim diversity"):
            release.save(folder / "out")
        return
    release.save(folder / "out")
    (found,) = verify_folder(folder / "out", release.private)["claims"]
    assert (found["verified"], found["holds"]) == ({"fewest_classes": l}, True)
    (alone,) = verify_folder(folder / "out")["claims"]  # nobody there who knows what was rated
    assert alone["holds"]
    assert alone["verified"] in ({"fewest_classes": l}, {"fewest_classes": l, "sizes_counted": 1})


def test_fake_edges_are_declared_and_counted(tmp_path):
    drawn = small("simple")
    drawn.levels[1][0] = 5  # nobody of the second group rated the first item
    with pytest.raises(InternalError, match="not the mean of its raters"):
        drawn.release().save(tmp_path / "out")
    release = drawn.release(claims=(claim("review-graph", k=2), claim("diversity", b=1, l=1)))
    assert release.exact.imputed_cells == 1 / 5
    release.save(tmp_path / "out")
    assert read_release(tmp_path / "out").manifest.imputed_cells == "more"
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Imputed cells: 20 % or more. They rest on no rating of the class" in card


@pytest.mark.parametrize("min_raters", [1, 2, 3])
def test_what_enough_rated_is_no_fake_edge(tmp_path, min_raters):
    """A claim of diversity allows for cells that too few rated, and for no others."""
    rows = [{0: 5, 1: 1}, {0: 4, 1: 2}, {0: 3, 1: 2}, {1: 3, 2: 5}, {1: 3}, {1: 3}]
    rows += [{0: 1, 2: 2}, {0: 1, 2: 2}, {2: 2}]
    groups = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    drawn = profile(table(rows, STARS), groups, "simple", 0.5, min_raters)
    claims = (claim("review-graph", k=3), claim("diversity", b=1, l=1))
    for row, raters in enumerate([(3, 3, 0), (0, 3, 1), (2, 0, 3)]):
        for item in range(3):
            forged = replace(drawn, levels=[list(told) for told in drawn.levels])
            forged.levels[row][item] = 9 if forged.levels[row][item] < 5 else 1
            release = forged.release(claims=claims)
            if raters[item] < min_raters:
                release.save(tmp_path / f"{row}{item}")
                continue
            with pytest.raises(InternalError, match="not the mean of its raters"):
                release.save(tmp_path / "no")
            forged.levels[row][item] = 0
            with pytest.raises(InternalError, match="does not show an original rating"):
                forged.release(claims=claims).save(tmp_path / "no")


def test_rare_items_are_found(tmp_path):
    with pytest.raises(InternalError, match="rare items"):
        small().release(rare_items="drop", claims=(claim("review-graph", k=2),)).save(
            tmp_path / "out"
        )


@pytest.mark.parametrize("exception", [KeyboardInterrupt, OSError(28, "full")])
@pytest.mark.parametrize("place", ["profiles_table", "recount", "check_folder"])
def test_what_fails_half_way_leaves_nothing(tmp_path, monkeypatch, place, exception):
    from starshade.errors import OutputError

    def fail(*_, **__):
        raise exception

    monkeypatch.setattr(store, place, fail)
    with pytest.raises((KeyboardInterrupt, OutputError)):
        small().release().save(tmp_path / "out", private=tmp_path / "receipt")
    assert list(tmp_path.iterdir()) == []


def test_no_second_copy_is_held(tmp_path, monkeypatch):
    """Neither making nor writing nor reading takes memory for another table of profiles."""
    import tracemalloc

    from starshade.release.profile_release import profile_release

    small("model").release().save(tmp_path / "first")  # what is loaded once is not counted
    monkeypatch.setattr(store, "PROFILE_BYTES", 2**21)
    rng = np.random.default_rng(1)
    levels = rng.integers(1, 82, (8000, 4000), dtype=np.uint8)
    levels[5] = levels[17]
    original = table([{int(i): 3} for i in rng.integers(0, 4000, 8000)], STARS, n_items=4000)
    tracemalloc.start()
    release = profile_release(
        original,
        levels,
        np.arange(8000),
        Provenance(method="m", seed=1, rare_items="keep"),
        step=0.05,
        profile="model",
    )
    release.save(tmp_path / "out")
    held, peak = tracemalloc.get_traced_memory()
    assert peak < 0.75 * levels.nbytes  # beside the levels, which were there before
    tracemalloc.reset_peak()
    verify_folder(tmp_path / "out", release.private)
    assert tracemalloc.get_traced_memory()[1] - held < 0.75 * levels.nbytes
    tracemalloc.reset_peak()
    found = read_release(tmp_path / "out")
    assert tracemalloc.get_traced_memory()[1] - held < 1.5 * levels.nbytes
    tracemalloc.stop()
    assert np.array_equal(found.classes.levels, release.classes.levels)
    assert found.classes.n_groups == 7999


def test_nothing_private_enters_any_file(tmp_path):
    secrets = ["zz-secret-user-17", "998877665544332211", "q-hidden-1", "q-hidden-2"]
    small(users=Vocabulary.of(secrets)).release().save(tmp_path / "out")
    for name, content in contents_of(tmp_path / "out").items():
        for secret in (*secrets, "4077112233"):
            assert secret.encode() not in content, name


@pytest.mark.parametrize(("k", "rare"), [(1, False), (2, False), (3, True)])
def test_an_item_that_k_people_rated_is_not_rare(tmp_path, k, rare):
    """The first item has two raters, the second has four."""
    original = table([{0: 5, 1: 1}, {0: 4, 1: 2}, {1: 3}, {1: 3}], STARS)
    drawn = profile(original, [0, 0, 0, 0], "padded", 0.5, pads=[[3.0, 3.0]] * 4)
    release = drawn.release(rare_items="drop", claims=(claim("review-graph", k=k),))
    if rare:
        with pytest.raises(InternalError, match="an item has fewer than 3 raters"):
            release.save(tmp_path / "out")
    else:
        release.save(tmp_path / "out")
