"""Items that too few people rated are left out: the floor, beside its definition, and its price."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.prepare import prepare
from starshade.anonymize.registry import ENTRIES
from starshade.anonymize.sharded.prepare import prepare_shards
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.audit.make import make_release
from starshade.engine.local import Local
from starshade.errors import ConfigError, UnmetError
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.verify.rows import Failed
from starshade.release.verify.truth import check_rare
from tests.naive import item_support as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.test_sharded import tried

STARS = Scale(1, 5, 1)
SUPPORTS = st.one_of(
    st.none(),
    st.integers(1, 8),
    st.sampled_from(["0.000000000001%", "10%", "33.3%", "50%", "66.7%", "99.9%", "100%"]),
)
#: ten people; item 1 has ten raters, item 2 five, item 3 three
TEN = [{0: 3, **({1: 4} if u < 5 else {}), **({2: 2} if u < 3 else {})} for u in range(10)]


def rated(ratings: Ratings) -> list[list[str]]:
    keys, ends = list(ratings.items), ratings.indptr
    return [[keys[i] for i in ratings.columns[a:b]] for a, b in pairwise(ends)]


@given(ratings_tables(), st.integers(2, 3), st.sampled_from(["drop", "keep"]), SUPPORTS, st.data())
def test_the_items_kept_are_those_of_the_definition(
    ratings: Ratings, k: int, rare: Any, support: int | str | None, data: st.DataObject
) -> None:
    top = data.draw(st.one_of(st.none(), st.integers(1, ratings.n_items)))
    chosen = list(ratings.items)
    if top is not None:
        chosen = [chosen[i] for i in sorted(ratings.most_rated(top))]
    expected = naive.kept_items(rated(ratings), chosen, k, rare, support)
    items = None if top is None else top_items(top)
    try:
        ready = prepare(ratings, k, items, rare, item_support=support)
    except UnmetError:
        assert not expected
        return
    except ConfigError:  # fewer people than k
        assert sum(bool(set(row) & set(chosen)) for row in rated(ratings)) < k
        return
    assert list(ready.ratings.items) == expected
    assert ready.rare_items_dropped == len(chosen) - len(expected)
    left = [row for row in rated(ratings) if set(row) & set(expected)]
    assert (ready.ratings.n_users, ready.ratings.n_ratings) == (
        len(left),
        sum(len(set(row) & set(expected)) for row in left),
    )


@example(ratings=table([*TEN, {}, {}], STARS), rare="drop", support="30%", parts=2)
@settings(max_examples=12)
@given(ratings_tables(), st.sampled_from(["drop", "keep"]), SUPPORTS, st.integers(1, 3))
def test_a_store_of_partitions_keeps_what_the_table_keeps(
    tmp_path_factory: pytest.TempPathFactory,
    ratings: Ratings,
    rare: Any,
    support: int | str | None,
    parts: int,
) -> None:
    place = tmp_path_factory.mktemp("parts") / "s"
    write_shards(ratings, place, parts)

    def of_parts() -> Any:
        return prepare_shards(open_shards(place), Local(), 2, rare, 0, support)[0]

    def facts(ready: Any) -> Any:
        if isinstance(ready, str):
            return ready
        left = ready.rare_items_dropped, ready.users_without_rating, ready.raters
        return ready.ratings.n_items, ready.ratings.n_ratings, *left

    whole = tried(lambda: prepare(ratings, 2, None, rare, item_support=support))
    assert facts(tried(of_parts)) == facts(whole)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_method_leaves_out_the_same_items(entry: Any) -> None:
    near = {"eps": 1} if entry.name in ("interval", "suppress") else {}
    people = [{**row, 0: 3 + 2 * (u % 2)} for u, row in enumerate(TEN)]
    made = {}
    for support in (None, 4, "31%", "50.1%"):
        method = entry.load()(k=3, item_support=support, **near)
        release = method.anonymize(table(people, STARS), rng=0)
        made[support] = list(release.classes.items)
        assert release.exact is not None
        assert release.exact.rare_items_dropped == 3 - len(made[support])
        assert release.manifest.config.get("item_support") == support
        assert release.private is not None
        assert release.private.config.get("item_support") == support
    if entry.name != "suppress":  # which may leave out more with the people it leaves out
        assert made[None] == ["1", "2", "3"]
    assert made[4] == made["31%"] == ["1", "2"]
    assert made["50.1%"] == ["1"]


def test_the_people_counted_are_those_with_a_rating_whatever_the_choice() -> None:
    people = table([*TEN, {}, {}], STARS)  # two more without a rating
    assert prepare(people, 2, item_support="30%").ratings.n_items == 3
    assert prepare(people, 2, item_support="30.1%").ratings.n_items == 2
    alone = table([{0: 3}] * 6 + [{1: 4}] * 4, STARS)
    with pytest.raises(UnmetError, match="no item is rated by 7 users"):
        prepare(alone, 2, top_items(1), item_support="61%")


@pytest.mark.parametrize(
    "value", [0, -1, 1.5, "abc", "101%", "0%", "0.0%", "", "1e1%", "١٠%", True]
)
def test_what_is_no_item_support_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"^item_support = .*: must be a whole number, 1 or more, "
    ):
        KExchange(3, item_support=value)


def test_an_item_support_that_no_item_has_is_unmet() -> None:
    for k, rare in ((3, "drop"), (3, "keep")):
        with pytest.raises(
            UnmetError, match="item_support: no item is rated by 11 users"
        ) as caught:
            KExchange(k, rare_items=rare, item_support=11).anonymize(table(TEN, STARS), rng=0)
        assert caught.value.advice == "Choose 10 or less, or a smaller percentage."
        assert caught.value.setting == "item_support"
    rare_all = table([{0: 1, 1: 2}, {1: 2}, {2: 3}], STARS)
    with pytest.raises(UnmetError, match="k = 3: no item is rated by 3 users"):
        prepare(rare_all, 3, item_support="100%")


@pytest.mark.parametrize("cls", [IntervalAnonymizer, SuppressAnonymizer])
def test_sensitive_items_below_the_item_support_are_refused(cls: Any) -> None:
    people = table(TEN, STARS)
    with pytest.raises(ConfigError, match="fewer than 4 users and would be left out") as caught:
        cls(3, 1, sensitive=["3"], item_support=4).anonymize(people, rng=0)
    assert "item_support" in caught.value.advice
    with pytest.raises(UnmetError, match="all items rated by 10 users are sensitive") as unmet:
        cls(3, 1, sensitive=["1"], item_support="100%").anonymize(people, rng=0)
    assert unmet.value.setting == "item_support"


def test_suppress_counts_the_people_of_the_whole_table() -> None:
    rows = [{0: 3, 1: 3}] * 4 + [{0: 3, 1: 1}] * 2  # who differs is left out
    method = SuppressAnonymizer(3, 0.5, item_support=6)
    found = method.suppress(table(rows, STARS))
    assert (found.ratings.n_items, found.users_deleted) == (2, 2)
    made = method.anonymize(table(rows, STARS), rng=0)
    assert made.manifest.config["item_support"] == 6


def test_a_continued_release_keeps_its_items_and_records_the_support_that_they_have(
    tmp_path: Path,
) -> None:
    method = KExchange(3, item_support="50%")
    made = method.anonymize(table(TEN, STARS), rng=0)
    made.save(tmp_path / "a", private=tmp_path / "a.json")
    first = read_release(tmp_path / "a", private=tmp_path / "a.json")
    again = method.anonymize(table(TEN, STARS), rng=0, after=first)
    assert again.manifest.config["item_support"] == "50%"
    fewer = [row if u else {0: 3} for u, row in enumerate(TEN)]  # item 2 has four raters now
    again = method.anonymize(table(fewer, STARS), rng=0, after=first)
    assert list(again.classes.items) == ["1", "2"]
    assert "item_support" not in again.manifest.config
    again.save(tmp_path / "b", private=tmp_path / "b.json")


def test_the_verifier_counts_again() -> None:
    original = table(TEN, STARS)
    facts: dict[str, Any] = {"claims": [], "rare_items": "keep", "config": {}}
    for support, least in ((4, 4), ("30.1%", 4), ("40%", 4)):
        with pytest.raises(Failed, match=f"an item has fewer than {least} raters"):
            check_rare(original, facts | {"config": {"item_support": support}})
        check_rare(original, facts | {"config": {"item_support": support}}, left=2)
    for support in (3, "30%"):
        check_rare(original, facts | {"config": {"item_support": support}})
    for support in ("abc", 0.5, True, -1, "1e9%", None):
        with pytest.raises(Failed, match="neither a number nor a percentage"):
            check_rare(original, facts | {"config": {"item_support": support}})


def test_what_was_left_out_is_counted_for_the_owner_alone(tmp_path: Path) -> None:
    rows = [row | {i: 1.0 for i in range(3, 40) if i % 7 == u % 7} for u, row in enumerate(TEN)]
    rows[0][3] = 2.0
    place, receipt = tmp_path / "r", tmp_path / "r.json"
    method = KExchange(3, item_support="50%")
    made = make_release(table(rows, STARS), method, out=place, private=receipt, rng=0)
    ratings = sum(map(len, rows))
    gone = 1 - sum(i in row for row in rows for i in (0, 1)) / ratings
    assert made.figures["rare_items_dropped"] == 38
    assert made.figures["utility_left_out"] == pytest.approx(gone)
    text = str(made)
    assert "38 items that fewer than 3 users or 50% of all users rated" in text
    assert f"{gone:.1%} of all ratings are on items or of people left out." in text
    assert json.loads(receipt.read_text())["rare_items_dropped"] == 38
    facts = json.loads((place / "release.json").read_text())
    assert facts["rare_items_dropped"] == "more"
    card = (place / "README.md").read_text()
    assert "- Items that fewer than 50% of the people rated are suppressed" in card
    assert "38" not in card
    kept = make_release(
        table(rows, STARS), replace(method, rare_items="keep", item_support=4),
        out=tmp_path / "k", private=tmp_path / "k.json", rng=0,
    )  # fmt: skip
    assert "38 items that fewer than 4 users rated" in str(kept)
    card = (tmp_path / "k" / "README.md").read_text()
    assert "- Items that fewer than 4 people rated are suppressed" in card
    assert "too few raters: 20 % or more" in card
    assert "owner's choice" not in card
