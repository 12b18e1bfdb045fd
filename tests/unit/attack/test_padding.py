"""The padding attack against its slow twin, and on profiles made by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.attack.knowledge import Knowledge
from starshade.attack.padding.auc import among_top, auc, auc_interval
from starshade.attack.padding.padding import PaddingAttack, low_rank
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive import padding as naive
from tests.strategies import table
from tests.unit.attack.profiles import FIVE, averaged, averaged_releases

COUNTS = st.integers(0, 3)
CELL = st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), COUNTS, COUNTS, st.integers(0, 2))


@given(st.lists(CELL, min_size=1, max_size=14))
def test_the_auc_is_the_twins(cells: list[tuple[float, int, int, int]]) -> None:
    score, positive, negative, item = (list(column) for column in zip(*cells, strict=True))
    found = auc(
        np.array(score), np.array(positive, float), np.array(negative, float), np.array(item)
    )
    slow = naive.auc(score, positive, negative, item)
    assert (found is None) == (slow is None)
    if slow is not None:
        assert found == pytest.approx(float(slow), abs=1e-12)


@given(st.lists(CELL, min_size=1, max_size=14), st.sampled_from(["1/100", "1/3", "1/2", "1"]))
def test_the_top_is_the_twins(cells: list[tuple[float, int, int, int]], text: str) -> None:
    share = Fraction(text)
    score, worth = [c[0] for c in cells], [Fraction(c[1], 3) for c in cells]
    found = among_top(np.array(score), np.array([float(w) for w in worth]), float(share))
    assert found == pytest.approx(float(naive.among_top(score, worth, share)), abs=1e-12)


@given(st.integers(0, 2**31), st.integers(0, 3), st.floats(0, 0.6))
def test_residuals_are_the_twins(seed: int, rank: int, empty: float) -> None:
    rng = np.random.default_rng(seed)
    shown = rng.normal(3, 1, (5, 8))
    shown[rng.random(shown.shape) < empty] = np.nan
    part = low_rank(shown)
    if rank and part.values[rank - 1] - part.values[rank] < 1e-6 * part.values[0]:
        return  # which direction is the stronger is then a matter of rounding
    assert np.allclose(part.score(rank), naive.residual(shown, rank), atol=1e-7)


def test_the_rule_finds_the_rank_beside_noise() -> None:
    rng = np.random.default_rng(0)
    for rank in (0, 1, 4):
        exact = rng.normal(0, 1, (60, rank)) @ rng.normal(0, 1, (rank, 90))
        assert low_rank(exact + rng.normal(0, 0.05, exact.shape)).rank == rank
    assert low_rank(np.full((4, 5), 3.0)).rank == 0
    assert (low_rank(np.full((4, 5), 3.0)).score(0) == 0).all()


def test_the_interval_is_that_of_drawing_groups_anew() -> None:
    rng = np.random.default_rng(1)
    n, items = 60, 25
    group = np.repeat(np.arange(n), items)
    positive = (rng.random(n * items) < 0.3).astype(float)
    # groups differ in how well they are told
    score = rng.normal(0, 1, n * items) + positive * np.repeat(rng.uniform(0, 2, n), items)
    item = np.tile(np.arange(items), n)
    interval = auc_interval(score, positive, 1 - positive, item, group, seed=0)
    assert interval is not None
    drawn = []
    cells = np.arange(n * items).reshape(n, items)
    for _ in range(300):
        mine = cells[rng.integers(0, n, n)].ravel()
        drawn.append(auc(score[mine], positive[mine], 1 - positive[mine], item[mine]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    width = high - low
    assert interval.low == pytest.approx(low, abs=0.2 * width)
    assert interval.high == pytest.approx(high, abs=0.2 * width)


def people(seed: int = 0, n_users: int = 120, n_items: int = 60) -> Ratings:
    """Opinions of rank 2 and noise, on 1 to 5; a fifth of the cells rated, popular ones more."""
    rng = np.random.default_rng(seed)
    liking = rng.normal(0, 0.9, (n_users, 2)) @ rng.normal(0, 0.9, (2, n_items))
    rating = np.clip(np.round(3 + liking + rng.normal(0, 0.8, liking.shape)), 1, 5)
    rated = rng.random(rating.shape) < rng.uniform(0.05, 0.35, n_items)
    return table(
        [{int(i): float(rating[u, i]) for i in np.flatnonzero(rated[u])} for u in range(n_users)],
        FIVE,
        n_items=n_items,
    )


PEOPLE = people()
GROUPS = np.arange(PEOPLE.n_users) // 3


def released(kind: str) -> Release:
    return averaged(PEOPLE, GROUPS, kind, step=0.05)


def test_simple_tells_all_padded_much_and_model_next_to_nothing() -> None:
    found = {
        kind: PaddingAttack().run(released(kind), original=PEOPLE, rng=0)
        for kind in ("simple", "padded", "model")
    }
    simple, padded, model = (found[kind] for kind in ("simple", "padded", "model"))
    assert simple.auc is not None
    assert simple.auc.rate == simple.top["precision"] == 1
    assert simple.non_null == simple.rated < 0.6
    for result in (padded, model):
        assert result.non_null == 1
        assert result.rated == simple.rated
        assert result.auc is not None
        assert result.auc_within_items is not None
    assert padded.auc_within_items.low > 0.8  # type: ignore[union-attr]
    assert abs(model.auc_within_items.rate - 0.5) < 0.05  # type: ignore[union-attr]
    assert padded.top["precision"] > 0.95
    assert padded.confidence == pytest.approx(PEOPLE.n_ratings / (120 * 60))


@given(averaged_releases())
def test_the_truths_are_counted_as_they_are_defined(case: tuple[Ratings, Release]) -> None:
    original, release = case
    if not original.n_ratings:
        return
    result = PaddingAttack(rank=1, classes=None, top=0.5).run(release, original=original, rng=0)
    link = release.private.link  # type: ignore[union-attr]
    rated = [
        set(original.columns[slice(*original.indptr[[u, u + 1]])].tolist())
        for u in range(original.n_users)
    ]
    members: list[list[set[int]]] = [[] for _ in range(release.classes.n_groups)]
    for user, row in enumerate(release.class_of_record[link.record].tolist()):
        members[row].append(rated[user])
    raters = naive.raters(members, original.n_items)
    sizes = np.array([[len(group)] for group in members])
    assert result.rated == pytest.approx((raters > 0).mean())
    assert result.confidence == pytest.approx((raters / sizes).mean())
    values = release.classes.values()  # type: ignore[union-attr]
    score = np.round(naive.residual(values, min(1, *values.shape)), 9).ravel()
    if (np.diff(np.unique(score)) < 1e-7).any():
        return  # the twin rounds otherwise
    item = np.tile(np.arange(original.n_items), len(members)).tolist()
    some = (raters > 0).ravel().astype(int)
    for mine, among, positive, negative in (
        (result.auc, [0] * len(item), some, 1 - some),
        (result.auc_within_items, item, some, 1 - some),
        (result.auc_member, [0] * len(item), raters.ravel(), (sizes - raters).ravel()),
    ):
        slow = naive.auc(score.tolist(), positive.tolist(), negative.tolist(), among)
        assert (mine is None) == (slow is None)
        if mine is not None:
            assert mine.rate == pytest.approx(float(slow or 0), abs=1e-9)
            assert 0 <= mine.low <= mine.rate <= mine.high <= 1


def test_some_groups_stand_for_many() -> None:
    whole = PaddingAttack().run(released("padded"), original=PEOPLE, rng=0)
    some = PaddingAttack(classes=25).run(released("padded"), original=PEOPLE, rng=0)
    again = PaddingAttack(classes=25).run(released("padded"), original=PEOPLE, rng=0)
    other = PaddingAttack(classes=25).run(released("padded"), original=PEOPLE, rng=1)
    assert (whole.classes_tested, some.classes_tested, some.classes) == (40, 25, 40)
    with pytest.MonkeyPatch.context() as patch:  # as many as have so many cells
        patch.setattr("starshade.attack.padding.padding._FEWEST", 2)
        patch.setattr("starshade.attack.padding.padding._CELLS", 25 * 60)
        drawn = PaddingAttack().run(released("padded"), original=PEOPLE, rng=0)
    assert drawn.auc == some.auc
    assert some.auc == again.auc != other.auc
    assert some.auc is not None
    assert whole.auc is not None
    assert some.auc.rate == pytest.approx(whole.auc.rate, abs=0.1)


def test_items_that_the_original_lacks_are_not_judged() -> None:
    few = PEOPLE.keep_items(np.arange(10, 30))
    whole = PaddingAttack(rank=2).run(released("padded"), original=PEOPLE, rng=0)
    part = PaddingAttack(rank=2).run(released("padded"), original=few, rng=0)
    raters = few.n_ratings / (PEOPLE.n_users * 20)
    assert part.confidence == pytest.approx(raters)
    assert part.auc != whole.auc


def test_the_result_is_plain_and_says_what_it_means() -> None:
    result = PaddingAttack().run(released("padded"), Knowledge(), original=PEOPLE, rng=5)
    told: dict[str, Any] = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (told["seed"], told["knowledge"], told["success"]) == (5, None, None)
    assert told["config"] == {"rank": None, "top": 0.01, "classes": None}
    assert {entry["rank"] for entry in told["by_rank"]} == {1, 2, 4, 8, 16, 32} - {result.rank}
    assert "guessing: 50 %" in str(result)
    assert "by item popularity" in str(result)
    assert result.best.auc_within_items == max(
        of.auc_within_items or 0 for of in (*result.by_rank, result.best)
    )


def test_where_all_cells_are_of_one_sort_there_is_nothing_to_tell() -> None:
    full = table([{0: 5.0, 1: 1.0}, {0: 4.0, 1: 2.0}], FIVE)
    result = PaddingAttack().run(
        averaged(full, np.array([0, 1]), "padded", step=0.5), original=full, rng=0
    )
    assert result.auc is result.popularity is None
    assert "nothing to detect" in str(result)
    json.dumps(result.to_dict(), allow_nan=False)


def test_what_does_not_fit_is_refused() -> None:
    release = released("padded")
    blind = Release(release.manifest, release.classes)
    with pytest.raises(ConfigError, match="private key file"):
        PaddingAttack().run(blind, original=PEOPLE)
    with pytest.raises(ConfigError, match="targets 5"):
        PaddingAttack().run(release, original=PEOPLE, targets=5)
    for wrong in ({"rank": -1}, {"rank": 1.5}, {"top": 0.0}, {"top": 1.1}, {"classes": 1}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            PaddingAttack(**wrong)  # type: ignore[arg-type]
    with (
        budget.limits(memory=100_000),
        pytest.raises(ConfigError, match="about 307 kB of memory for 40 classes x 60 items"),
    ):
        PaddingAttack().run(release, original=PEOPLE)
    with budget.limits(memory=100_000):
        assert PaddingAttack(classes=10).run(release, original=PEOPLE, rng=0).classes_tested == 10


def test_no_part_may_be_taken_out_and_no_less() -> None:
    assert PaddingAttack(rank=0).rank == 0
    with pytest.raises(ConfigError, match="rank = -1"):
        PaddingAttack(rank=-1)
