from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import dense_levels, narrowest
from starshade.anonymize.prepare import prepare
from starshade.errors import ConfigError, UnmetError
from starshade.progress import watch
from starshade.ratings.levels import users_per_level
from starshade.ratings.scale import Scale
from starshade.ratings.select import listed_items, top_items
from starshade.ratings.table import Ratings, ReadReport
from tests.naive.generalize import records
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)
#: item 0 has three raters, item 1 two, item 2 one; user 5 rated the rare item only, user 6 nothing
SIX = [{0: 1}, {0: 2, 1: 3}, {0: 4, 1: 5}, {}, {2: 1}, {}]


def test_rare_items_and_who_is_left_empty_are_counted():
    ready = prepare(table(SIX, STARS), 2)
    assert ready.rare_items_dropped == 1
    assert ready.users_without_rating == 3
    assert list(ready.ratings.items) == ["1", "2"]
    assert list(ready.ratings.users) == ["1", "2", "3"]


def test_rare_items_are_kept_on_request():
    ready = prepare(table(SIX, STARS), 2, rare_items="keep")
    assert ready.rare_items_dropped == 0
    assert ready.users_without_rating == 2
    assert ready.ratings.n_items == 3


def test_only_chosen_items_count():
    ready = prepare(table(SIX, STARS), 2, top_items(1))
    assert (ready.rare_items_dropped, ready.users_without_rating) == (0, 3)
    assert list(ready.ratings.items) == ["1"]
    ready = prepare(table(SIX, STARS), 2, listed_items(["3", "2"]))
    assert (ready.rare_items_dropped, ready.users_without_rating) == (1, 4)


@given(ratings_tables(with_days=False), st.integers(2, 4))
def test_one_round_leaves_neither_a_rare_item_nor_an_empty_user(ratings, k):
    try:
        left = prepare(ratings, k).ratings
    except (ConfigError, UnmetError):
        rows = [row for row in records(ratings) if any(v is not None for v in row)]
        raters = [sum(row[i] is not None for row in rows) for i in range(ratings.n_items)]
        assert len(rows) < k or max(raters) < k
        return
    assert left.item_support.min() >= k
    assert left.user_support.min() >= 1
    assert left.n_users >= k


def test_k_above_the_records_is_refused_with_both_figures():
    with pytest.raises(ConfigError, match="k = 5, records = 4") as caught:
        prepare(table(SIX, STARS), 5)  # six users, two of them empty
    assert caught.value.advice == "Choose k from 2 to 4."
    with pytest.raises(ConfigError, match="k = 2, records = 1") as caught:
        prepare(table([{0: 1}, {}], STARS), 2)
    assert "at least two users" in caught.value.advice


def test_when_every_item_is_rare_the_data_do_not_meet_the_request():
    with pytest.raises(UnmetError, match="no item is rated by 4 users"):
        prepare(table(SIX, STARS), 4)


@given(ratings_tables(with_days=False))
def test_dense_levels_are_the_rows_in_steps_above_null(ratings):
    scale = ratings.scale
    dense = dense_levels(ratings)
    for row, own in zip(dense.tolist(), records(ratings), strict=True):
        values = [scale.null_level if v is None else v for v in own]
        if scale.step is None:
            assert row == values
        else:
            assert row == [round((v - scale.null_level) / scale.step) for v in values]


def test_the_narrowest_type_holds_every_distance():
    assert [narrowest(n).name for n in (255, 256, 65_535, 65_536)] == [
        "uint8",
        "uint16",
        "uint16",
        "float64",
    ]
    wide = table([dict.fromkeys(range(52), 5.0), {}], STARS)  # 52 x 5 = 260
    assert dense_levels(wide).dtype == np.uint16


def test_a_table_beyond_the_budget_is_refused_with_the_figures():
    ratings = table([dict.fromkeys(range(50), 5.0)] * 40, STARS)
    with budget.limits(memory=5_999), pytest.raises(ConfigError, match="40 records x 50") as caught:
        dense_levels(ratings, copies=3)
    assert "items=top_items(" in caught.value.advice
    with budget.limits(memory=6_000):
        assert dense_levels(ratings, copies=3).shape == (40, 50)


def test_the_seeded_order_depends_on_seed_and_purpose():
    order = seeded_order(52, 1, "a")
    assert sorted(order.tolist()) == list(range(52))
    assert order.tolist() == seeded_order(52, 1, "a").tolist()
    assert order.tolist() != seeded_order(52, 2, "a").tolist()
    assert order.tolist() != seeded_order(52, 1, "b").tolist()


def test_the_seeded_order_has_no_favourites():
    place = np.array([np.argsort(seeded_order(20, seed, "p")) for seed in range(2000)])
    # a record's mean place over 2,000 seeds has SD sqrt(33.25 / 2000) = 0.129
    assert np.abs(place.mean(axis=0) - 9.5).max() < 5 * 0.129
    assert place.var() == pytest.approx(33.25)


def inferred(rows: list[dict[int, float]], scale: Scale) -> Ratings:
    made = table(rows, scale)
    return dataclasses.replace(made, report=ReadReport(scale_inferred=True))


def test_a_bound_that_a_dropped_rating_gave_is_not_published() -> None:
    """One user's rating of a rare item must not come out as the end of the scale."""
    ratings = inferred([{0: 3.5}, {0: 1.25}, {0: 2.0, 1: 9.875}], Scale(1.25, 9.875))
    kept = prepare(ratings, 2).ratings
    assert kept.scale == Scale(1.25, 3.5)
    assert kept.values().tolist() == [3.5, 1.25, 2.0]


def test_a_step_that_a_dropped_rating_gave_is_not_published() -> None:
    ratings = inferred([{0: 1}, {0: 5}, {0: 4, 1: 4.5}], Scale(1, 5, 0.5))
    kept = prepare(ratings, 2).ratings
    assert kept.scale == Scale(1, 5, 1)
    assert kept.values().tolist() == [1, 5, 4]


def test_what_k_users_gave_stays_on_the_scale() -> None:
    rows = [{0: 2, 1: 0.5}, {0: 4, 1: 0.5}, {0: 3, 2: 5}, {0: 3, 3: 5}]
    chosen = prepare(inferred(rows, Scale(0.5, 5, 0.5)), 2, listed_items(["1"])).ratings
    assert chosen.scale == Scale(0.5, 5, 0.5)


def test_a_declared_scale_stays() -> None:
    ratings = table([{0: 3}, {0: 2}, {0: 2, 1: 5}], Scale(1, 5, 1))
    assert prepare(ratings, 2).ratings.scale == Scale(1, 5, 1)


@given(ratings_tables())
def test_users_per_level(ratings: Ratings) -> None:
    rows = [set(row.tolist()) for row in np.split(ratings.values(), ratings.indptr[1:-1])]
    expected = [sum(level in row for row in rows) for level in ratings.levels.tolist()]
    assert users_per_level(ratings).tolist() == expected


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{0: 1.5}, {0: 2.5}, {0: 2.5}, {0: 9.75}], "the lowest or the highest rating"),
        ([{0: 2.5}, {0: 2.5}, {0: 9.75}], "users gave the highest rating"),
        ([{0: 1.5}, {0: 1.5}, {0: 2.5}, {0: 2.5}], None),
    ],
)
def test_an_end_of_a_found_scale_that_few_gave_is_told(
    rows: list[dict[int, float]], said: str | None
) -> None:
    ends = [rating for row in rows for rating in row.values()]
    scale = Scale(min(ends), max(ends))
    for ratings in (table(rows, scale), inferred(rows, scale)):
        told = Notes()
        with watch(told):
            prepare(ratings, 2)
        notes = [message for message in told.notes if "declare it" in message]
        assert bool(notes) == (ratings.report.scale_inferred and said is not None)
        assert all(said in message and "fewer than 2" in message for message in notes)
        assert not any(character in message for message in notes for character in ".79")


class Notes:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None: ...

    def stop(self, handle: int) -> None: ...

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_where_every_item_is_rare_the_advice_is_one_that_helps() -> None:
    with pytest.raises(UnmetError) as caught:
        prepare(table([{0: 1}, {1: 2}, {2: 3}], STARS), 2)
    assert 'rare_items="keep"' in caught.value.advice
    assert "Choose" not in caught.value.advice
    with pytest.raises(UnmetError) as caught:
        prepare(table([{0: 1}, {0: 2}, {2: 3}], STARS), 3)
    assert caught.value.advice == 'Choose k up to 2, or keep rare items (rare_items="keep").'
