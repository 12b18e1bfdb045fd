"""The verifier on layout "record": (k, ε) from the definitions, damage, lies."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.errors import InternalError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.release.folder.read import read_release
from starshade.release.verify import claims as verify_claims
from starshade.release.verify import proximity as verify_near
from starshade.release.verify import proximity as verify_points
from starshade.release.verify.proximity import ball_totals, certified, columns_of, points_of
from starshade.release.verify.verify import check_folder, recount, verify_folder
from tests.naive.balls import balls
from tests.naive.record_release import spread
from tests.strategies import ratings_tables, table
from tests.unit.release.changes import k_eps, released
from tests.unit.release.damage import change, permute, say

STARS = Scale(1, 5, 1)
NULLS = st.sampled_from(["strict", "ignore", "zero"])
EPS = st.sampled_from([0, 0.3, 0.5, 1, 2.5, 4, 5, 20])


def levels_of(ratings) -> list[np.ndarray]:
    """As the verifier reads them: numbers of levels, or ratings on a real scale."""
    dense, scale = ratings.dense(), ratings.scale
    if scale.step is not None:
        dense = np.rint((dense - scale.minimum) / scale.step) + 1
    return list(dense.T)


def points_like(ratings, eps, nulls):
    scale = ratings.scale
    table = columns_of(levels_of(ratings), (scale.minimum, scale.maximum, scale.step), eps, nulls)
    return table, points_of(table, ratings.n_users)


@settings(max_examples=150)
@given(
    ratings_tables(max_users=20, max_items=4), EPS, NULLS, st.sampled_from([1, 3, 256]),
    st.sampled_from([2, 32]), st.sampled_from([1, 2, 256]),
)  # fmt: skip
def test_balls_are_those_of_the_definition(ratings, eps, nulls, few, bits, together) -> None:
    slow = balls(ratings, np.arange(ratings.n_items), eps, nulls).sum(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_UNDIVIDED", few), ("_LEAF", few), ("_TOGETHER", together)):
            patch.setattr(verify_near, name, value)
        for name in ("_PAIRS", "_AT_ONCE"):
            patch.setattr(verify_near, name, few)
        patch.setattr(verify_points, "_BITS", bits)
        _, points = points_like(ratings, eps, nulls)
        weight = np.bincount(points.of_record).astype(np.float64)[:, None]
        whole = ball_totals(points, weight)[points.of_record, 0]
        assert whole.tolist() == slow.tolist()
        for k in (2, 4):
            found = ball_totals(points, weight, k)[points.of_record, 0]
            assert (found <= slow).all()
            assert (np.minimum(found, k) == np.minimum(slow, k)).all()


@pytest.mark.parametrize("nulls", ["strict", "ignore", "zero"])
@pytest.mark.parametrize("scale", [STARS, Scale(1, 6, 0.05), Scale(-10, 10)], ids=str)
def test_balls_over_several_words_of_bits(scale, nulls) -> None:
    """Wide, clustered records: the tree has several levels, its lists are long."""
    rng = np.random.default_rng(4)
    step = scale.step or 0.37
    middles = rng.integers(0, round((scale.maximum - scale.minimum) / step), (40, 25))
    near = middles[rng.integers(0, 40, 600)] + rng.integers(0, 2, (600, 25))
    ratings = np.minimum(scale.minimum + near * step, scale.maximum)
    ratings[:, 20:] = np.where(rng.random((600, 5)) < 0.02, np.nan, ratings[:, 20:])
    rows = [{i: v for i, v in enumerate(row) if not np.isnan(v)} for row in ratings.tolist()]
    original = table(rows, scale)
    eps = 2 * step
    slow = balls(original, np.arange(25), eps, nulls).sum(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_UNDIVIDED", "_LEAF", "_TOGETHER"):
            patch.setattr(verify_near, name, 8)
        _, points = points_like(original, eps, nulls)
        assert len(points.own) > 1
        weight = np.bincount(points.of_record).astype(np.float64)[:, None]
        assert ball_totals(points, weight)[points.of_record, 0].tolist() == slow.tolist()
        k = float(np.median(slow))
        found = ball_totals(points, weight, k)[points.of_record, 0]
    assert (np.minimum(found, k) == np.minimum(slow, k)).all()
    assert slow.min() < k < slow.max()


NUMBERS = st.lists(st.integers(-1, 3), min_size=8, max_size=8)


@settings(max_examples=150)
@given(ratings_tables(max_users=8, max_items=3), EPS, NULLS, NUMBERS, st.integers(1, 4))
def test_groups_certify_what_is_near_together(ratings, eps, nulls, numbers, k) -> None:
    groups = np.array(numbers)[: ratings.n_users]
    if not len(groups):
        return
    near = balls(ratings, np.arange(ratings.n_items), eps, nulls)
    mates = groups[:, None] == groups
    expected = (mates.sum(axis=1) >= k) & np.array(
        [near[np.ix_(row, row)].all() for row in mates], dtype=bool
    )
    found = certified(points_like(ratings, eps, nulls)[0], groups, k)
    assert found.tolist() == expected.tolist()


@settings(max_examples=150)
@given(ratings_tables(min_users=1, max_users=8, max_items=3), EPS, NULLS, NUMBERS)
def test_groups_that_lie_change_nothing(tmp_path_factory, ratings, eps, nulls, numbers) -> None:
    """Whatever the hint, the same claims are found to hold, and the same is counted."""
    claims = tuple(k_eps(k, eps, nulls) for k in (1, 2, 3, 5))
    release = released(ratings, groups=np.array(numbers)[: ratings.n_users])
    folder = tmp_path_factory.mktemp("r") / "out"
    release.save(folder)
    say(folder, claims=[claim.model_dump(mode="json") for claim in claims])
    assert verify_folder(folder, release.private) == verify_folder(folder)


def test_a_false_claim_does_not_pass_by_a_lie(tmp_path) -> None:
    original = table([{0: 1}, {0: 2}, {0: 3}, {0: 4}, {0: 5}, {1: 1}], STARS)
    for groups in ([0] * 6, [0, 0, 1, 1, 1, 1], [7, 7, 8, 8, 9, 9], [-3] * 6):
        lying = released(original, claims=(k_eps(2, 1),), groups=np.array(groups))
        with pytest.raises(InternalError, match="claim k-eps"):
            lying.save(tmp_path / "out")


def test_groups_are_looked_at_first_and_written_nowhere(tmp_path) -> None:
    rows = [{0: 5}, {0: 1}, {0: 4, 1: 2}, {0: 2}, {0: 4}, {0: 5, 1: 1}]
    arguments = {"claims": (k_eps(2, 1),), "config": {"k": 2}}
    groups = np.array([0, 1, 2, 1, 0, 2])
    told = released(table(rows, STARS), groups=groups, **arguments)
    assert told.private.groups[told.private.link.record].tolist() == groups.tolist()
    plain = released(table(rows, STARS), **arguments)
    assert plain.private.groups is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_claims, "points_of", None)  # no search: the groups suffice
        told.save(tmp_path / "told", private=tmp_path / "told.json")
    plain.save(tmp_path / "plain", private=tmp_path / "plain.json")
    for place in (tmp_path / "plain").iterdir():
        assert place.read_bytes() == (tmp_path / "told" / place.name).read_bytes()
    receipts = [(tmp_path / f"{name}.json").read_text() for name in ("told", "plain")]
    assert receipts[0] == receipts[1]


@pytest.mark.parametrize("nulls", ["strict", "ignore", "zero"])
def test_the_groups_of_the_interval_method_certify_it(tmp_path, nulls) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {i: float(v) for i, v in enumerate(row) if v}
        for row in rng.integers(0, 6, (60, 10)).tolist()
    ]
    method = IntervalAnonymizer(k=3, eps=1, nulls=nulls, sensitive=["2"], rare_items="keep")
    release = method.anonymize(table(rows, STARS), rng=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_claims, "points_of", None)  # no search
        release.save(tmp_path / "out")
    assert verify_folder(tmp_path / "out")["claims"][0]["holds"]


def test_who_is_in_no_good_group_is_counted(tmp_path) -> None:
    """One group certifies, one record of another has nobody near it."""
    original = table([{0: 1}, {0: 2}, {0: 4}, {0: 5}, {1: 1}], STARS)
    groups = np.array([0, 0, 1, 1, 1])
    release = released(original, claims=(k_eps(2, 1),), groups=groups)
    with pytest.raises(InternalError, match="'smallest_class_at_least': 1"):
        release.save(tmp_path / "out")
    release = released(
        original.keep_users(np.arange(4)), claims=(k_eps(2, 1),), groups=np.array([0, 1, 2, 2])
    )
    release.save(tmp_path / "out")


@settings(max_examples=60)
@given(ratings_tables(min_users=2, max_items=4), EPS, NULLS)
def test_spreads_are_those_of_the_definition(tmp_path_factory, ratings, eps, nulls) -> None:
    if ratings.n_items < 2:
        return
    slow = balls(ratings, np.arange(1, ratings.n_items), eps, nulls)
    ratings_of = [None if np.isnan(v) else float(v) for v in ratings.dense()[:, 0]]
    spreads = [spread([ratings_of[j] for j in np.flatnonzero(ball)]) for ball in slow]
    least = min((s for s in spreads if s is not None), default=None)
    claim = k_eps(1, eps, nulls, l=0, sensitive=["1"])
    folder = tmp_path_factory.mktemp("r") / "out"
    released(ratings, claims=(claim,)).save(folder)
    found = verify_folder(folder)["claims"][0]
    assert found["holds"]
    assert found["verified"]["smallest_class"] == slow.sum(axis=1).min()
    if least is None:
        assert "smallest_sd" not in found["verified"]
    else:
        assert found["verified"]["smallest_sd"] == pytest.approx(least, abs=1e-6)


ROWS = [{0: 5, 1: 3}, {0: 4, 1: 3}, {1: 2}, {1: 2}, {0: 4, 1: 3}]


@pytest.fixture
def saved(tmp_path):
    """Records 0-4: {1: 2} twice (class 0), {0: 4, 1: 3} twice (class 1), {0: 5, 1: 3}."""
    release = released(table(ROWS, STARS), claims=(k_eps(2, 1),))
    release.save(tmp_path / "out")
    return tmp_path / "out", release.private


def mask(row: int, value: bytes):
    def how(columns):
        columns["members"][row] = value

    return how


def put(name: str, row: int, value: object):
    def how(columns):
        columns[name][row] = value

    return how


def swap_records(columns):
    """Records 3 and 4 change places, classes with them."""
    columns["members"][4:8] = columns["members"][6:8] + columns["members"][4:6]


def apart(columns):
    columns["group"] = [0, 1, 2, 2, 3]


def together(columns):
    columns["group"] = [0, 0, 1, 1, 1]


DAMAGE = {
    # cells: 0: 2=2; 1: 2=2; 2: 1=4 2=3; 3: 1=4 2=3; 4: 1=5 2=3
    "two bits": ("cells.parquet", mask(0, b"\x0c"), "not a single rating"),
    "a null bit": ("cells.parquet", mask(0, b"\x05"), "not a single rating"),
    "null alone": ("cells.parquet", mask(0, b"\x01"), "not a single rating"),
    "no bit": ("cells.parquet", mask(0, b"\x00"), "not a single rating"),
    "off the scale": ("cells.parquet", mask(0, b"\x40"), "not a single rating"),
    "a rating": ("cells.parquet", mask(1, b"\x08"), "equal records in different classes"),
    "another rating": ("cells.parquet", mask(6, b"\x04"), "classes|class order"),
    "a group": ("cells.parquet", put("group", 0, 1), "another class than in records.parquet"),
    "a record": ("cells.parquet", put("record", 7, 5), "a record is not listed"),
    "a cell of another": ("cells.parquet", put("record", 3, 3), "cell order"),
    "records swapped": ("cells.parquet", swap_records, "class order|equal records"),
    "cells swapped": ("cells.parquet", lambda c: permute(c, [0, 1, 3, 2, 4, 5, 6, 7]), "order"),
    "a cell repeats": ("cells.parquet", lambda c: permute(c, [0, 0, 1, 2, 3, 4, 5, 6, 7]), "order"),
    "a cell less": ("cells.parquet", lambda c: permute(c, [0, 2, 3, 4, 5, 6, 7]), "equal records"),
    "an item": ("cells.parquet", put("item", 0, "3"), "an item is not listed"),
    "classes apart": ("records.parquet", apart, "another class|equal records in different classes"),
    "classes together": ("records.parquet", together, "another class|different ones in one"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_with_mended_hashes_is_found(saved, kind) -> None:
    folder, private = saved
    name, how, message = DAMAGE[kind]
    change(folder, name, how)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(folder, private)
    with pytest.raises(ReleaseError, match="damaged"):
        read_release(folder)


def test_a_column_beside_the_cells_is_found(saved) -> None:
    folder, _ = saved
    cells = pq.read_table(folder / "cells.parquet")
    more = cells.append_column("user", pa.array(["somebody"] * len(cells)))
    change(folder, "cells.parquet", lambda _: more)
    with pytest.raises(ReleaseError, match="forbidden column"):
        verify_folder(folder)


def test_classes_in_another_order_are_found(saved) -> None:
    folder, _ = saved

    def turn(columns):
        columns["group"] = [0, 0, 1, 2, 2]

    def cells(columns):
        columns["group"] = [0, 0, 1, 1, 2, 2, 2, 2]
        columns["members"] = [b"\x04"] * 2 + [b"\x20", b"\x08"] + [b"\x10", b"\x08"] * 2

    change(folder, "records.parquet", turn)
    change(folder, "cells.parquet", cells)
    with pytest.raises(ReleaseError, match="class order"):
        verify_folder(folder)
    with pytest.raises(ReleaseError, match="not the classes of equal records"):
        read_release(folder)


def test_the_truth_is_looked_up(saved) -> None:
    folder, private = saved
    verify_folder(folder, private)
    wrong = private.link.record.copy()
    wrong[0] = wrong[1]
    with pytest.raises(ReleaseError, match="link: users and records"):
        verify_folder(folder, replace(private, link=replace(private.link, record=wrong)))
    exact = replace(private.exact, imputed_cells=0.0125)  # of the same band
    with pytest.raises(ReleaseError, match="the share of cells imputed is not the one stated"):
        verify_folder(folder, replace(private, exact=exact))
    for said in ("under 20 %", None, 0.0):
        say(folder, imputed_cells=said)
        with pytest.raises(ReleaseError, match="band: imputed_cells"):
            verify_folder(folder, private)
    say(folder, imputed_cells=None)
    private = replace(private, exact=replace(private.exact, imputed_cells=None))
    verify_folder(folder, private)
    other = table([{0: 4, 1: 3}, *ROWS[1:]], STARS)
    with pytest.raises(ReleaseError, match="changed by a method that changes none"):
        verify_folder(folder, replace(private, original=other))


def test_sensitive_ratings_must_be_the_true_ones(tmp_path) -> None:
    moved = [{0: 5, 1: 3}, {0: 4, 1: 3}, {1: 2}, {1: 2}, {0: 3, 1: 3}]
    claim = k_eps(1, 1, sensitive=["2"])
    released(table(ROWS, STARS), moved, claims=(claim,)).save(tmp_path / "a")
    moved[0][1] = 4
    with pytest.raises(InternalError, match="a rating of a sensitive item changed"):
        released(table(ROWS, STARS), moved, claims=(claim,)).save(tmp_path / "b")


LIES = {
    "k": ({"k": 3}, None),
    "eps": ({"eps": 0.5}, None),
    "no k": ({"k": None}, "release.json"),
    "unknown item": ({"sensitive": ["9"]}, "sensitive item is not among"),
    "all items": ({"sensitive": ["1", "2"]}, "every item is sensitive"),
    "an item twice": ({"sensitive": ["1", "1"]}, "twice"),
    "no list": ({"sensitive": "1"}, "sensitive items that are not a list"),
    "numbers": ({"sensitive": [1]}, "sensitive items that are not a list"),
    "nulls": ({"nulls": "none"}, "unknown null rule"),
    "eps below 0": ({"eps": -1}, "k-eps: eps is not a distance"),
    "eps beyond floats": ({"eps": 10**400}, "out of range"),
    "k beyond all people": ({"k": 10**400}, "out of range"),
    "eps of text": ({"eps": "1"}, "k-eps: eps is not a distance"),
    "more": ({"q": 1}, "missing or unknown"),
    "no nulls": ({"nulls": ...}, "missing or unknown"),
}


@pytest.mark.parametrize("kind", LIES)
def test_a_claim_that_lies_is_caught_in_words(saved, kind) -> None:
    folder, private = saved
    changed, message = LIES[kind]
    claim = json.loads((folder / "release.json").read_text())["claims"][0]
    told = {n: v for n, v in (claim["parameters"] | changed).items() if v is not ...}
    say(folder, claims=[claim | {"parameters": told}])
    if message is None:
        assert not verify_folder(folder)["claims"][0]["holds"]
        facts = json.loads((folder / "release.json").read_text())
        with pytest.raises(InternalError, match="claim: k-eps"):
            check_folder(folder, recount(folder, facts, private))
        return
    with pytest.raises(ReleaseError, match=message):
        verify_folder(folder)


def test_a_claim_of_another_rule_is_counted_by_it(saved) -> None:
    folder, _ = saved
    claim = json.loads((folder / "release.json").read_text())["claims"][0]
    told = claim["parameters"] | {"nulls": "ignore", "k": 5}
    say(folder, claims=[claim | {"parameters": told, "verified": {}}])
    found = verify_folder(folder)["claims"][0]
    assert found == {
        "model": "k-eps",
        "parameters": told,
        "verified": {"smallest_class_at_least": 5},
        "holds": True,
    }


@pytest.mark.parametrize(
    "verified",
    [{"smallest_class_at_least": 1000}, {"secret": 41}, {"smallest_class_at_least": True}],
)
def test_what_was_counted_cannot_be_made_up(saved, verified: dict[str, Any]) -> None:
    folder, _ = saved
    claim = json.loads((folder / "release.json").read_text())["claims"][0]
    assert claim["verified"].keys() == {"smallest_class_at_least"}
    verify_folder(folder)
    say(folder, claims=[claim | {"verified": claim["verified"] | verified}])
    with pytest.raises(ReleaseError, match="the figures of k-eps are not those counted"):
        verify_folder(folder)


def test_a_real_scale(tmp_path) -> None:
    original = table([{0: -3.5, 1: 2}, {0: 4.25}, {0: -3.25, 1: 2}, {0: 4.5}], Scale(-10, 10))
    release = released(original, claims=(k_eps(2, 0.25),))
    release.save(tmp_path / "out")
    assert verify_folder(tmp_path / "out", release.private)["claims"][0]["holds"]
    for column, value, message in (
        ("values", [-3.5, 2.0], "a cell is not a single rating"),
        ("values", [-30.0], "not on the scale"),
        ("null", True, "a cell is not a single rating"),
    ):
        change(tmp_path / "out", "cells.parquet", put(column, 0, value))
        with pytest.raises(ReleaseError, match=message):
            verify_folder(tmp_path / "out")
        change(tmp_path / "out", "cells.parquet", put("values", 0, [-3.5]))
        change(tmp_path / "out", "cells.parquet", put("null", 0, False))
