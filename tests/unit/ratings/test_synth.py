from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.errors import ConfigError
from starshade.progress import watch
from starshade.ratings.read import read_ratings
from starshade.ratings.synth.preset import PRESETS
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.golden.test_scoreboard_rh import ROWS

LIKES = list(PRESETS)


@pytest.fixture(scope="module")
def movielens() -> Ratings:
    return synthesize("movielens-100k", rng=11)


@pytest.fixture(scope="module")
def netflix() -> Ratings:
    """A hundredth of Netflix's users, all of its items."""
    return synthesize("netflix", n_users=4_802, rng=12)


def rows(table: Ratings) -> list[np.ndarray]:
    return [table.columns[a:b] for a, b in pairwise(table.indptr)]


def days_of(table: Ratings) -> list[np.ndarray]:
    assert table.days is not None
    return [table.days[a:b] for a, b in pairwise(table.indptr)]


def same(a: Ratings, b: Ratings) -> bool:
    assert a.days is not None
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.columns, b.columns)
        and np.array_equal(a.codes, b.codes)
        and np.array_equal(a.days, b.days)
        and a.attributes == b.attributes
    )


# ------------------------------------------------------------------ shape and bounds


def test_movielens_like_has_movielens_size(movielens: Ratings) -> None:
    assert (movielens.n_users, movielens.n_items, movielens.n_ratings) == (943, 1682, 100_000)
    assert str(movielens.scale) == "1:5:1"
    assert list(movielens.users)[:3] == ["1", "2", "3"]
    assert movielens.items[1681] == "1682"
    assert movielens.item_names is not None
    assert movielens.item_names[1681] == "Item 1682"
    assert movielens.user_support.min() == 20
    assert movielens.item_support.min() >= 1
    assert movielens.days is not None
    assert movielens.days.max() < 215


def test_types_are_those_of_the_table(movielens: Ratings) -> None:
    assert movielens.days is not None
    types = [movielens.indptr.dtype, movielens.columns.dtype, movielens.codes.dtype]
    assert [*types, movielens.days.dtype] == [np.int64, np.int32, np.uint8, np.uint16]
    assert movielens.attributes is not None
    assert {f.name: str(f.type) for f in movielens.attributes.schema} == {
        "Age": "double",
        "Gender": "string",
        "Occupation": "string",
        "Zip code": "string",
    }
    assert {len(code) for code in movielens.attributes["Zip code"].to_pylist()} == {5}


@settings(max_examples=25)
@given(
    st.sampled_from(LIKES),
    st.integers(1, 40),
    st.integers(2, 40),
    st.floats(0, 1),
    st.integers(0, 2**63 - 1),
)
def test_any_small_size(like: Any, n_users: int, n_items: int, share: float, seed: int) -> None:
    most = int(0.9 * n_users * n_items)
    n_ratings = n_users + round(share * (most - n_users))
    table = synthesize(like, n_users=n_users, n_items=n_items, n_ratings=n_ratings, rng=seed)
    assert (table.n_users, table.n_items, table.n_ratings) == (n_users, n_items, n_ratings)
    assert table.user_support.sum() == n_ratings
    least = PRESETS[like].least
    room = least * n_users <= n_ratings and least <= n_items
    assert table.user_support.min() >= (least if room else 1)
    assert all((np.diff(row) > 0).all() for row in rows(table))
    assert table.columns.min() >= 0
    assert table.columns.max() < n_items
    assert (table.item_support > 0).sum() == n_items or n_ratings < n_items
    assert table.codes.max() <= 4
    assert table.days is not None
    assert table.days.max() < PRESETS[like].n_days
    assert table.attributes is not None
    assert len(table.attributes) == n_users


def test_ratings_per_user_are_kept_when_only_users_are_asked_for() -> None:
    assert synthesize(n_users=94, rng=0).n_ratings == 100_000 * 94 // 943
    assert synthesize(n_users=94, n_items=50, rng=0).n_ratings == 94 * 50 // 2


# ------------------------------------------------------------------ seeds and threads


def test_one_seed_gives_one_table_at_any_number_of_threads() -> None:
    before = numba.get_num_threads()
    try:
        tables = []
        for threads in (1, numba.config.NUMBA_NUM_THREADS):  # type: ignore[attr-defined]
            numba.set_num_threads(threads)
            tables.append(synthesize(n_users=500, rng=5))
    finally:
        numba.set_num_threads(before)
    assert same(*tables)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = synthesize(n_users=120, rng=5)
    monkeypatch.setattr("starshade.ratings.synth.drawing._BLOCK", 7)
    assert same(whole, synthesize(n_users=120, rng=5))


def test_another_seed_gives_another_table() -> None:
    a, b = (synthesize(n_users=100, rng=seed) for seed in (5, 6))
    assert not np.array_equal(a.columns, b.columns)
    assert not np.array_equal(a.user_support, b.user_support)
    assert a.attributes != b.attributes


def test_a_generator_is_a_seed() -> None:
    a, b = (synthesize(n_users=30, rng=np.random.default_rng(1)) for _ in range(2))
    assert same(a, b)


def test_interpreted_kernels_draw_the_same() -> None:
    script = (
        "from starshade.ratings.synth.synth import synthesize; import zlib;"
        "t = synthesize(n_users=12, n_items=40, n_ratings=240, rng=3);"
        "print(zlib.crc32(t.columns.tobytes() + t.codes.tobytes() + t.days.tobytes()))"
    )
    interpreted = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],  # NumPy warns of wrapping integers
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    table = synthesize(n_users=12, n_items=40, n_ratings=240, rng=3)
    assert table.days is not None
    cells = table.columns.tobytes() + table.codes.tobytes() + table.days.tobytes()
    assert int(interpreted) == zlib.crc32(cells)


# ------------------------------------------------------------------ like the real thing


def test_ids_do_not_tell_who_is_active_or_popular(movielens: Ratings) -> None:
    for support in (movielens.user_support, movielens.item_support):
        order = np.argsort(np.argsort(support, kind="stable"), kind="stable")
        # 4 standard errors of a correlation of independent ranks
        found = np.corrcoef(order, np.arange(len(support)))[0, 1]
        assert abs(found) < 4 / np.sqrt(len(support))


def test_users_and_items_have_long_tails(movielens: Ratings) -> None:
    """MovieLens 100K: median user 65, mean 106, largest 737; top item 583, median 27."""
    users, items = movielens.user_support, movielens.item_support
    assert np.median(users) == pytest.approx(65, abs=5)
    assert users.max() == pytest.approx(737, rel=0.15)
    assert items.max() == pytest.approx(583, rel=0.15)
    assert np.median(items) == pytest.approx(27, abs=4)
    top = np.sort(items)[::-1]
    # the real table's most rated 100, 500 items hold 29 %, 78 % of all ratings
    assert top[:100].sum() / items.sum() == pytest.approx(0.29, abs=0.03)
    assert top[:500].sum() / items.sum() == pytest.approx(0.78, abs=0.03)


def test_casual_users_rate_what_is_popular(movielens: Ratings) -> None:
    fame = np.log(movielens.item_support)
    mean = np.array([fame[row].mean() for row in rows(movielens)])
    casual, active = movielens.user_support <= 50, movielens.user_support >= 200
    assert mean[casual].mean() > mean[active].mean() + 0.3  # really: 5.05 and 4.64


@pytest.mark.parametrize("like", LIKES)
def test_ratings_have_the_histogram(like: str, movielens: Ratings, netflix: Ratings) -> None:
    table = movielens if like == "movielens-100k" else netflix
    found = np.bincount(table.codes, minlength=5) / table.n_ratings
    wanted = np.array(PRESETS[like].histogram) / np.sum(PRESETS[like].histogram)
    np.testing.assert_allclose(found, wanted, atol=0.004)


def test_good_items_are_popular_and_users_differ(movielens: Ratings) -> None:
    """MovieLens 100K, items with 20 ratings: spread .53, correlation .47; users: .44."""
    by_item = np.bincount(movielens.columns, movielens.values()) / movielens.item_support
    known = movielens.item_support >= 20
    assert by_item[known].std() == pytest.approx(0.53, abs=0.06)
    fame = np.log(movielens.item_support[known])
    assert np.corrcoef(by_item[known], fame)[0, 1] == pytest.approx(0.47, abs=0.15)
    by_user = np.add.reduceat(movielens.values(), movielens.indptr[:-1]) / movielens.user_support
    assert by_user.std() == pytest.approx(0.44, abs=0.05)


def test_most_users_rate_in_one_bout_and_come_all_the_time(movielens: Ratings) -> None:
    """MovieLens 100K: 64 % on one day; most of a row on its largest day; seven months."""
    days = days_of(movielens)
    assert np.mean([len(np.unique(d)) == 1 for d in days]) == pytest.approx(0.64, abs=0.06)
    largest = [np.bincount(d).max() / len(d) for d in days]
    assert np.quantile(largest, 0.1) == pytest.approx(0.54, abs=0.1)
    first = np.array([d.min() for d in days])
    assert np.quantile(first, [0.25, 0.5, 0.75]) == pytest.approx([53, 88, 156], abs=25)
    assert max(d.max() for d in days) - first.min() > 200
    # and again after weeks
    assert np.mean([np.ptp(d) > 30 for d in days]) > 0.08


def test_netflix_like_grows_and_has_longer_tails(netflix: Ratings) -> None:
    """Published: median user 96, mean 209; top item rated by 49 % of users."""
    users = netflix.user_support
    assert np.median(users) == pytest.approx(96, rel=0.1)
    assert users.mean() == pytest.approx(209.25, abs=0.1)
    assert users.max() > 4_000
    assert netflix.item_support.max() / netflix.n_users == pytest.approx(0.485, abs=0.05)
    assert np.median(netflix.item_support) == pytest.approx(561 / 100, abs=1.5)
    assert netflix.days is not None
    years = np.bincount(netflix.days // 365, minlength=7) / netflix.n_ratings
    assert (np.diff(years[:6]) > 0).all()
    assert (netflix.days >= 2243 - 365).mean() > 0.5
    assert np.median([len(np.unique(d)) for d in days_of(netflix)]) > 10


def leaning(table: Ratings, attribute: np.ndarray) -> float:
    """How far items' audiences differ by an attribute, against ten shuffled attributes.

    1: not at all. The audiences' mean of the attribute, items with 50 ratings, each weighed by
    its support.
    """
    users = np.repeat(np.arange(table.n_users), table.user_support)
    known = table.item_support >= 50

    def spread(values: np.ndarray) -> float:
        values = values - values.mean()
        mean = np.bincount(table.columns, values[users]) / table.item_support
        weight = table.item_support[known]
        return float((mean[known] ** 2 * weight).mean())

    rng = np.random.default_rng(0)
    return spread(attribute) / np.mean([spread(rng.permutation(attribute)) for _ in range(10)])


def test_attributes_tell_of_tastes(movielens: Ratings) -> None:
    assert movielens.attributes is not None
    age = movielens.attributes["Age"].to_numpy()
    male = np.array(movielens.attributes["Gender"].to_pylist()) == "M"
    student = np.array(movielens.attributes["Occupation"].to_pylist()) == "student"
    # MovieLens 100K: see the test below; noise of a shuffled attribute stays below 1.5
    assert leaning(movielens, age) > 3
    assert leaning(movielens, male.astype(float)) > 1.5
    assert leaning(movielens, student.astype(float)) > 1.5
    shuffled = np.random.default_rng(1).permutation(age)
    assert leaning(movielens, shuffled) < 1.5


def test_attributes_go_together(movielens: Ratings) -> None:
    assert movielens.attributes is not None
    columns = {
        name: np.array(c.to_pylist())
        for name, c in zip(
            movielens.attributes.column_names, movielens.attributes.columns, strict=True
        )
    }
    age, occupation, male = columns["Age"], columns["Occupation"], columns["Gender"] == "M"
    assert np.median(age) == pytest.approx(31, abs=2)
    assert age[occupation == "student"].mean() + 8 < age.mean()
    assert age[occupation == "retired"].mean() - 12 > age.mean()
    assert male.mean() == pytest.approx(0.71, abs=0.05)
    assert male[occupation == "engineer"].mean() > male.mean() + 0.1
    # together they single people out: 98.5 % of MovieLens 100K's users
    people = list(zip(*columns.values(), strict=True))
    assert np.mean([people.count(p) == 1 for p in people]) > 0.97


@pytest.mark.parametrize("seed", [90_001, 90_002, 90_003])
def test_attack_succeeds_as_often_as_on_movielens(seed: int) -> None:
    """All thirteen reference values, each within 5 points (means over five draws)."""
    table = synthesize("movielens-100k", rng=seed)
    found = {}
    for clues, reference in ROWS:
        knowledge = Knowledge(**clues)
        runs = [ScoreboardRH().run(table, knowledge, rng=draw) for draw in range(5)]
        found[knowledge.name] = (
            np.mean([run.success.rate for run in runs]) - reference[0],
            np.mean([run.expected_top1.rate for run in runs]) - reference[1],
            np.mean([run.entropy_bits.mean for run in runs]) - reference[3],
        )
    off = {name: d for name, d in found.items() if abs(d[0]) > 0.05 or abs(d[1]) > 0.05}
    assert not off
    assert max(abs(d[2]) for d in found.values()) < 0.3


# ------------------------------------------------------------------ there and back, requests


def test_the_store_keeps_all_of_it(movielens: Ratings, tmp_path: Any) -> None:
    movielens.save(tmp_path / "store")
    again = read_ratings(tmp_path / "store")
    assert same(movielens, again)
    assert again.item_names == movielens.item_names
    assert again.first_day == 10_124


def test_the_report_says_how_to_draw_it_again() -> None:
    report = synthesize(n_users=30, rng=77).report
    assert report.format == "synthetic"
    assert "like movielens-100k, seed 77" in report.source


def test_progress_adds_up() -> None:
    class Watcher:
        total: float | None = None
        done = 0.0

        def start(self, label: str, total: float | None) -> int:
            self.total = total
            return 0

        def advance(self, handle: int, amount: float) -> None:
            self.done += amount

        def stop(self, handle: int) -> None: ...

        def note(self, message: str) -> None: ...

    watcher = Watcher()
    with watch(watcher):
        synthesize(n_users=50, rng=0)
    assert watcher.done == watcher.total


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"like": "movielens"}, "like = 'movielens': allowed are movielens-100k, netflix"),
        ({"n_users": 0}, "n_users 0"),
        ({"n_items": -3}, "n_items -3"),
        ({"n_ratings": 1.5}, "n_ratings 1.5"),
        ({"n_users": True}, "n_users True"),
        ({"n_users": 2**31}, "n_users 2147483648"),
        ({"n_users": 10, "n_items": 5, "n_ratings": 46}, "at most 45 (90% of all cells)"),
        ({"n_users": 10, "n_items": 5, "n_ratings": 9}, "every user needs at least one"),
        ({"n_users": 1, "n_items": 1}, "at most 0"),
        ({"rng": -1}, "seed -1"),
    ],
)
def test_requests_that_cannot_be_met(request_: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as error:
        synthesize(**request_)
    assert says in str(error.value)


def test_the_densest_and_the_sparsest() -> None:
    dense = synthesize(n_users=10, n_items=5, n_ratings=45, rng=0)
    assert dense.user_support.max() <= 5
    assert dense.n_ratings == 45
    sparse = synthesize(n_users=10, n_items=5, n_ratings=10, rng=0)
    assert (sparse.user_support == 1).all()


def test_a_giant_is_refused_with_the_memory_it_needs() -> None:
    """A table of 4,184,981 ratings: 29 MB of cells alone, and twenty thousand people."""
    with budget.limits(memory=10_000_000), pytest.raises(ConfigError) as error:
        synthesize("netflix", n_users=20_000, rng=0)
    found = re.search(r"about ([\d.]+) GB of memory; 0\.01 GB may be used", str(error.value))
    assert found is not None
    assert 0.029 < float(found[1]) < 0.1
