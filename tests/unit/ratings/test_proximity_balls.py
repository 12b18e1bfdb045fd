from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError
from starshade.progress import watch
from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.space import space_of
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from tests.naive.balls import balls
from tests.strategies import at_least, ratings_tables, table

NULLS = ("strict", "ignore", "zero")
SEARCHES = ("tree", "slicing", "pairwise")
EPS = (0, 0.5, 1, 1.5, 2, 4, 5, 5.5, 20)


@pytest.mark.parametrize("nulls", NULLS)
@given(ratings=ratings_tables(max_users=16, with_days=False), data=st.data())
@at_least(200)
def test_every_search_finds_the_balls_that_comparing_pair_by_pair_finds(nulls, ratings, data):
    values = ratings.values()
    gaps = st.sampled_from([float(abs(v - values[0])) for v in values[:9]] or [0.0])
    eps = data.draw(st.one_of(st.sampled_from(EPS), gaps))
    items = np.arange(ratings.n_items)
    if len(items) > 1 and data.draw(st.booleans()):
        items = items[1:]
    near = balls(ratings, items, eps, nulls)
    sizes = near.sum(axis=1)
    space = space_of(ratings, items, eps, nulls)
    columns = np.arange(2 * len(near), dtype=np.int64).reshape(-1, 2) ** 2
    rows = np.array(data.draw(st.lists(st.integers(0, len(near) - 1), max_size=4)), np.int64)
    for search in SEARCHES:
        assert ball_sizes(space, search=search).tolist() == sizes.tolist()
        capped = ball_sizes(space, search=search, stop_at=3)
        assert capped.tolist() == np.minimum(sizes, 3).tolist()
        some = ball_sizes(space, search=search, rows=rows, stop_at=4)
        assert some.tolist() == np.minimum(sizes[rows], 4).tolist()
        assert (ball_sums(space, columns, search=search) == near @ columns).all()
    indptr, members = ball_members(space, rows)
    for i, row in enumerate(rows):
        assert members[indptr[i] : indptr[i + 1]].tolist() == np.flatnonzero(near[row]).tolist()


def survey(n: int, m: int, seed: int, *, top: int = 6, nulls: float = 0.1) -> np.ndarray:
    """Correlated answers 1…top in the rows of an array, 0 for null."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + 0.5 * rng.normal(size=(n, m))
    answers = np.clip(np.round(taste + (1 + top) / 2), 1, top)
    return np.where(rng.random((n, m)) < nulls, 0, answers).astype(int)


def as_table(rows: np.ndarray, scale: Scale):
    return table([{j: int(v) for j, v in enumerate(row) if v} for row in rows], scale)


@pytest.mark.parametrize("nulls", NULLS)
@pytest.mark.parametrize("n_items", [3, 7, 24, 50])  # fields of 7 bits: 1, 1, 3 and 6 words
def test_trees_of_many_leaves(nulls, n_items):
    rows = survey(900, n_items, seed=n_items)
    rows[40:90] = rows[10]  # one giant kind
    ratings = as_table(rows, Scale(1, 6, 1))
    items = np.arange(n_items)
    near = balls(ratings, items, 1 if n_items < 9 else 3, nulls)
    space = space_of(ratings, items, 1 if n_items < 9 else 3, nulls)
    if n_items > 3:
        assert len(space.index.leaves) > 3
    check(space, near)


@pytest.mark.parametrize("nulls", NULLS)
def test_more_levels_than_fields_have_bits(nulls):
    rng = np.random.default_rng(4)
    values = np.round(rng.normal(size=(700, 3)) * 3, 2)
    values[rng.random(values.shape) < 0.15] = np.nan
    rows = [{j: v for j, v in enumerate(row) if v == v} for row in np.clip(values, -10, 10)]
    ratings = real_table(rows)
    assert len(ratings.levels) > 300
    for eps in (0.0, 0.5, 2.25):
        space = space_of(ratings, np.arange(3), eps, nulls)
        assert not space.index.fields.exact or space.rule.everybody
        check(space, balls(ratings, np.arange(3), eps, nulls))


def real_table(rows):
    """Build a table on a real scale whose codes need more than a byte."""
    ratings = table([{}], Scale(-10, 10))
    values = np.array([v for row in rows for _, v in sorted(row.items())])
    levels = np.unique(values)
    lengths = [len(row) for row in rows]
    return replace(
        ratings,
        users=Vocabulary(np.arange(len(rows))),
        items=Vocabulary(np.arange(1 + max((j for row in rows for j in row), default=0))),
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        columns=np.array([j for row in rows for j in sorted(row)], dtype=np.int32),
        codes=np.searchsorted(levels, values).astype(np.uint32),
        levels=levels,
    )


@pytest.mark.parametrize("nulls", NULLS)
def test_more_than_65535_levels(nulls):
    values = np.linspace(-10, 10, 70_000)
    space = space_of(real_table([{0: v} for v in values]), np.arange(1), 0.01, nulls)
    some = np.array([0, 1, 69_999, 35_000])
    ascending = np.sort(values)
    expected = np.searchsorted(ascending, values[some] + 0.01 + 1e-9, "right")
    expected = expected - np.searchsorted(ascending, values[some] - 0.01 - 1e-9)
    assert ball_sizes(space, rows=some).tolist() == expected.tolist()
    assert ball_sizes(space, rows=some, search="slicing").tolist() == expected.tolist()


@pytest.mark.parametrize("nulls", NULLS)
def test_more_than_64_words(nulls):
    rows = survey(300, 700, seed=5, nulls=0.02)
    rows[100:200] = rows[:100]
    rows[np.arange(100, 200), np.arange(100)] = 3
    ratings = as_table(rows, Scale(1, 6, 1))
    space = space_of(ratings, np.arange(700), 2, nulls)
    assert space.index.blocks.items[0] // space.index.fields.per_word > 64
    check(space, balls(ratings, np.arange(700), 2, nulls))


@pytest.mark.parametrize("nulls", NULLS)
def test_empty_tables_and_single_records(nulls):
    for rows in ([], [{}], [{}, {}], [{0: 3}], [{0: 3}, {}], [{0: 1, 1: 5}] * 3):
        ratings = table(rows, Scale(1, 5, 1), n_items=2)
        space = space_of(ratings, np.arange(2), 1, nulls)
        check(space, balls(ratings, np.arange(2), 1, nulls))


def check(space, near):
    """Compare every question, asked in every way, with the balls themselves."""
    sizes = near.sum(axis=1)
    n = len(near)
    columns = np.random.default_rng(0).integers(0, 2**63, (n, 2)).astype(np.uint64)
    sums = near.astype(np.uint64) @ columns if n else columns
    for search in SEARCHES:
        assert ball_sizes(space, search=search).tolist() == sizes.tolist()
        capped = ball_sizes(space, search=search, stop_at=5)
        assert capped.tolist() == np.minimum(sizes, 5).tolist()
        assert ball_sums(space, columns, search=search).tolist() == sums.tolist()
        if space.code_type == np.uint8:
            halves = ball_sums(space, np.full((n, 1), 0.5), search=search)
            assert halves[:, 0].tolist() == (sizes / 2).tolist()
    rows = np.arange(n)[::-1]
    indptr, members = ball_members(space, rows)
    assert members.tolist() == np.nonzero(near[rows])[1].tolist()
    assert np.diff(indptr).tolist() == sizes[rows].tolist()


def test_wide_tables_are_searched_pattern_by_pattern_without_a_full_table():
    rng = np.random.default_rng(6)
    rows = [{int(j): 3 for j in rng.choice(200_000, 5, replace=False)} for _ in range(400)]
    rows += [{**row, next(iter(row)): 4} for row in rows[:50]]
    ratings = table(rows, Scale(1, 5, 1), n_items=200_000)
    with budget.limits(memory=2_000_000):  # a full table takes 90 MB
        space = space_of(ratings, np.arange(200_000), 1, "strict")
        expected = [2] * 50 + [1] * 350 + [2] * 50
        assert ball_sizes(space).tolist() == expected
        assert ball_sums(space, np.ones((450, 1), np.int64))[:, 0].tolist() == expected
        for nulls in ("zero", "ignore"):
            wide = space_of(ratings, np.arange(200_000), 1, nulls)
            with pytest.raises(
                ConfigError, match=r"450 different records x 200,000 items: .* MB"
            ) as no:
                ball_sizes(wide)
            assert 'nulls="strict"' in no.value.advice
        with pytest.raises(
            ConfigError, match=r"limits\(memory=…\)\. .* the tree search needs no full"
        ):
            ball_sizes(space, search="slicing")
    with budget.limits(memory=1_000), pytest.raises(ConfigError) as no:  # strict, by the tree
        ball_sizes(space_of(ratings, np.arange(200_000), 1, "strict"))
    assert no.value.message.startswith("450 different records: searching them needs ")
    assert no.value.message.endswith(" kB; the budget is 1 kB")
    assert (
        no.value.advice == "Choose fewer items, or allow more memory with budget.limits(memory=…)."
    )


def test_answers_do_not_depend_on_the_number_of_threads():
    ratings = as_table(survey(2_000, 8, seed=7), Scale(1, 6, 1))
    answers = []
    for threads in (1, 2):
        with budget.limits(threads=threads):
            space = space_of(ratings, np.arange(8), 1, "zero")
            sums = ball_sums(space, np.linspace(0, 1, 2_000)[:, None])
            answers.append((ball_sizes(space).tobytes(), sums.tobytes()))
    assert answers[0] == answers[1]


def test_the_progress_ends_at_all_who_ask():
    class Watcher:
        total, done, open = 0.0, 0.0, 0

        def start(self, label, total):
            self.total, self.open = total, self.open + 1
            return 0

        def advance(self, handle, amount):
            self.done += amount

        def stop(self, handle):
            self.open -= 1

        def note(self, message):
            pass

    watcher = Watcher()
    space = space_of(as_table(survey(500, 6, seed=8), Scale(1, 6, 1)), np.arange(6), 1, "zero")
    with watch(watcher):
        ball_sizes(space)
    assert (watcher.done, watcher.open) == (watcher.total, 0)
    assert watcher.total > 0
