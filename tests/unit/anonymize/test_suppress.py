from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize import suppress_core
from starshade.anonymize.suppress import SuppressAnonymizer, Suppressed
from starshade.anonymize.suppress_core import largest_core
from starshade.errors import ConfigError, UnmetError
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.ratings.proximity.space import space_of
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import ReadReport
from starshade.release.folder.read import read_release
from tests.naive import suppress as naive
from tests.strategies import ratings_tables, table

NULLS = st.sampled_from(["strict", "ignore", "zero"])
STARS = Scale(1, 6, 1)


def lists(ratings: Any) -> list[list[float | None]]:
    return [[None if np.isnan(v) else v for v in row] for row in ratings.dense().tolist()]


def cells(ratings: Any) -> list[tuple[list[int], list[float]]]:
    values = ratings.values()
    return [
        (ratings.columns[a:b].tolist(), values[a:b].tolist()) for a, b in pairwise(ratings.indptr)
    ]


@given(ratings_tables(max_users=8, max_items=4), NULLS, st.integers(2, 4), st.sampled_from([0, 1]))
def test_the_core_is_the_one_largest_solution(ratings: Any, nulls: Any, k: int, eps: float) -> None:
    space = space_of(ratings, np.arange(ratings.n_items), eps, nulls)
    found = largest_core(space, k)
    rows = lists(ratings)
    best = naive.largest(rows, [[] for _ in rows], k, eps, 0, nulls, ratings.scale)
    assert best == [set(np.flatnonzero(found.stays).tolist())]
    assert sum(r.deleted for r in found.rounds) == (~found.stays).sum()
    assert found.least


@pytest.mark.parametrize("nulls", ["strict", "zero"])
def test_long_chains_are_peeled_from_their_ends(nulls: Any) -> None:
    """Each round uncovers the next pair: 1 2 3 4 ... at eps 1 and k = 3."""
    scale = Scale(1, 40, 1)
    chain = table([{0: float(v)} for v in range(1, 41)], scale)
    found = largest_core(space_of(chain, np.array([0]), 1, nulls), 3)
    assert [r.deleted for r in found.rounds] == [2] * 20
    ring = table([*({0: float(v)} for v in range(1, 41)), {0: 1.0}, {0: 1.0}], scale)
    kept = largest_core(space_of(ring, np.array([0]), 1, nulls), 3)
    # three records at 1 and one at 2 hold each other
    assert np.flatnonzero(kept.stays).tolist() == [0, 1, 40, 41]


def test_all_copies_of_a_record_are_missed() -> None:
    line = table([{0: float(v)} for v in (1, 1, 2, 3, 3, 4, 4, 4)], STARS)
    found = largest_core(space_of(line, np.array([0]), 1, "strict"), 4)
    # both at 1 go, and the 2 that counted on them
    assert [r.deleted for r in found.rounds] == [2, 1]
    assert np.flatnonzero(found.stays).tolist() == [3, 4, 5, 6, 7]


def test_parts_and_a_full_pass_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = synthesize("survey", n_users=1500, n_items=8, rng=3)
    make = SuppressAnonymizer(6, 1, 1.0, ["s01"])
    whole = make.suppress(survey, 0)
    assert whole.users_deleted > 100
    for most, full in ((300, 64), (1, 0)):  # many parts; nothing but full passes
        monkeypatch.setattr(suppress_core, "_MEMBERS", most)
        monkeypatch.setattr(suppress_core, "_FULL", full)
        again = make.suppress(survey, 0)
        assert list(again.ratings.users) == list(whole.ratings.users)
        assert again.rounds == whole.rounds


@st.composite
def surveys(draw: st.DrawFn) -> Any:
    """Two items to be alike on and one or two sensitive ones, for up to nine people."""
    n, q = draw(st.integers(4, 9)), draw(st.integers(1, 2))
    scale = draw(st.sampled_from([STARS, Scale(-10, 10)]))
    rating = st.sampled_from([1.0, 2.0, 3.0])
    secret = st.sampled_from([1.0, 2.0, 6.0])
    row = [st.one_of(rating, rating, rating, st.none())] * 2
    row += [st.one_of(secret, secret, st.none())] * q
    rows = draw(st.lists(st.tuples(*row), min_size=n, max_size=n))
    first = {0: 1.0, 1: 1.0, 2: 1.0, 1 + q: 1.0}  # items and levels exist
    people = [first] + [{j: v for j, v in enumerate(r) if v is not None} for r in rows]
    return table(people, scale, n_items=2 + q)


@settings(max_examples=60)
@given(surveys(), NULLS, st.integers(2, 3), st.sampled_from([0.5, 1.0, 2.0]), st.integers(0, 9))
def test_what_stays_meets_the_requirement(
    ratings: Any,
    nulls: Any,
    k: int,
    l: float,  # noqa: E741
    seed: int,
) -> None:
    keys = list(ratings.items)[2:]
    make = SuppressAnonymizer(k, 1, l, keys, nulls, rare_items="keep")
    try:
        found = make.suppress(ratings, seed)
    except (ConfigError, UnmetError):
        return
    rows = lists(found.ratings)
    chosen = list(range(len(rows)))
    hidden = [row[2:] for row in rows]
    assert naive.holds(chosen, [r[:2] for r in rows], hidden, k, 1, l, nulls, ratings.scale)
    assert KEpsLAnonymity(k, 1, l, keys, nulls=nulls).check(found.ratings).satisfied
    if found.least:
        full = lists(ratings.drop_empty_users())
        best = naive.largest([r[:2] for r in full], [r[2:] for r in full], k, 1, l, nulls,
                             ratings.scale)  # fmt: skip
        assert len(best[0]) == len(rows)


def test_how_far_the_greedy_search_is_off() -> None:
    """On 60 small tables where the core alone does not suffice: close to the best, never above."""
    hard, deleted, least, exact = 0, 0, 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 10))
        values = np.hstack([rng.integers(1, 4, (n, 2)), rng.choice([1, 2, 3, 6], (n, 1))])
        ratings = table([dict(enumerate(r)) for r in values.astype(float).tolist()], STARS)
        rows = lists(ratings)
        open_, hidden = [r[:2] for r in rows], [r[2:] for r in rows]
        core = naive.largest(open_, hidden, 2, 1, 0, "strict", STARS)[0]
        best = naive.largest(open_, hidden, 2, 1, 1.5, "strict", STARS)[0]
        if len(best) == len(core):
            continue
        make = SuppressAnonymizer(2, 1, 1.5, ["3"], rare_items="keep")
        try:
            kept = make.suppress(ratings, 0).ratings.n_users
        except ConfigError:  # above Theorem 1's bound
            continue
        except UnmetError:
            kept = 0
        assert kept <= len(best)
        hard, exact = hard + 1, exact + (kept == len(best))
        deleted, least = deleted + n - kept, least + n - len(best)
    assert hard >= 60
    assert exact >= 0.8 * hard
    assert deleted <= 1.15 * least


def test_a_record_is_taken_back_when_it_fits_again() -> None:
    survey = synthesize("survey", n_users=2000, n_items=6, rng=1)
    found = SuppressAnonymizer(8, 1, 1.5, ["s01"]).suppress(survey, 0)
    assert found.taken_back > 0
    assert KEpsLAnonymity(8, 1, 1.5, ["s01"]).check(found.ratings).satisfied
    rounds = sum(r.deleted for r in found.rounds)
    assert rounds - found.taken_back == found.users_deleted == 2000 - found.ratings.n_users
    assert f"{found.taken_back} restored afterwards" in str(found)
    assert "not proven to be the minimum" in str(found)


def test_no_rating_is_changed(tmp_path: Path) -> None:
    survey = synthesize("survey", n_users=800, rng=2)
    release = SuppressAnonymizer(3, 2, sensitive=["s02"]).anonymize(survey, rng=0)
    assert release.private is not None
    kept = release.private.link.users
    assert 0 < release.exact.users_deleted == 800 - len(kept)
    before = dict(zip(survey.users, cells(survey), strict=True))
    rows = dict(zip(kept, release.private.link.record.tolist(), strict=True))
    release.save(tmp_path / "out")
    back = read_release(tmp_path / "out")
    assert back.classes.items == survey.items
    values = back.classes.symbols
    for user, record in rows.items():
        span = slice(back.classes.indptr[record], back.classes.indptr[record + 1])
        assert back.classes.columns[span].tolist() == before[user][0]
        holds = values.contains(np.array(before[user][1]))
        codes = back.classes.codes[span]
        assert holds[np.arange(len(codes)), codes].all()
    assert KEpsAnonymity(3, 2, ["s02"]).check(back).satisfied
    assert not KEpsAnonymity(3, 2, ["s02"]).check(survey).satisfied


def test_an_item_that_becomes_rare_goes_and_everybody_is_asked_again() -> None:
    # only 1, 2, 3 rated item 3; they differ on it, and are alike without it
    rows = [{0: 2.0, 2: 1.0}, {0: 2.0, 2: 3.0}, {0: 2.0, 2: 5.0}, {0: 3.0}, {0: 3.0}, {1: 1.0}]
    people = table(rows, Scale(1, 5, 1), n_items=3)
    found = SuppressAnonymizer(2, 1).suppress(people)
    assert list(found.ratings.users) == ["1", "2", "3", "4", "5"]
    assert list(found.ratings.items) == ["1"]
    assert (found.rare_items_dropped, found.users_deleted, found.users_without_rating) == (2, 0, 1)
    kept = SuppressAnonymizer(2, 1, rare_items="keep").suppress(people)
    assert list(kept.ratings.users) == ["4", "5"]
    assert (kept.rare_items_dropped, kept.users_deleted) == (0, 4)


def test_a_sensitive_item_that_becomes_rare_is_claimed_no_more(tmp_path: Path) -> None:
    rows = [{0: 1.0}, {0: 1.0}, {0: 5.0, 1: 1.0}, {0: 3.0, 1: 5.0}]
    people = table(rows, Scale(1, 5, 1), n_items=2)
    release = SuppressAnonymizer(2, 1, 1.0, ["2"]).anonymize(people, rng=0)
    assert [c.model for c in release.manifest.claims] == ["k-eps"]
    assert "sensitive" not in release.manifest.claims[0].parameters
    assert list(release.classes.items) == ["1"]
    release.save(tmp_path / "out")


def test_a_scale_that_only_the_deleted_reached_is_found_anew(tmp_path: Path) -> None:
    rows = [{0: 2.0}, {0: 2.0}, {0: 3.0}, {0: 3.0}, {0: 9.0}]
    people = table(rows, Scale(2, 9, 1))
    guessed = people.annotate(report=ReadReport(scale_inferred=True))
    release = SuppressAnonymizer(2, 1, nulls="zero").anonymize(guessed, rng=0)
    assert str(release.manifest.scale.to_scale()) == "2:3:1"
    release.save(tmp_path / "out")
    declared = SuppressAnonymizer(2, 1, nulls="zero").anonymize(people, rng=0)
    assert str(declared.manifest.scale.to_scale()) == "2:9:1"


def test_threads_do_not_matter() -> None:
    survey = synthesize("survey", n_users=2000, n_items=8, rng=3)
    make = SuppressAnonymizer(4, 1, 1.3, ["s01", "s02"])
    first = make.suppress(survey, 1)
    with budget.limits(threads=1):
        again = make.suppress(survey, 1)
    assert list(again.ratings.users) == list(first.ratings.users)
    assert again.rounds == first.rounds


def test_the_seed_settles_ties_and_those_who_add_least_go_first() -> None:
    # SD of 1 1 1 1 6 is 2, of 1 1 6 it is 2.36; the 6 is what spreads
    rows = [{0: 1.0, 1: 1.0}] * 4 + [{0: 1.0, 1: 6.0}]
    make = SuppressAnonymizer(2, 1, 2.2, ["2"])
    kept = {tuple(make.suppress(table(rows, STARS), seed).ratings.users) for seed in range(12)}
    assert all(len(users) == 3 and users[-1] == "5" for users in kept)
    assert len(kept) > 2
    order = make.suppress(table(rows[::-1], STARS), 0)
    assert order.ratings.values().tolist().count(6.0) == 1


def test_what_is_found_says_so() -> None:
    chain = table([{0: float(v)} for v in (1, 1, 1, 2, 3, 4, 6)], STARS)
    found = SuppressAnonymizer(3, 1).suppress(chain)
    assert isinstance(found, Suppressed)
    assert str(found) == "3 of 7 records deleted in 2 rounds (2, 1); proven to be the minimum"
    assert str(SuppressAnonymizer(2, 5).suppress(chain)) == (
        "0 of 7 records deleted; proven to be the minimum"
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"k": 1, "eps": 1}, "k = 1"),
        ({"k": 2, "eps": -1}, "eps = -1"),
        ({"k": 2, "eps": 1, "l": -1, "sensitive": ["1"]}, "l = -1"),
        ({"k": 2, "eps": 1, "l": 1}, "no item is sensitive"),
        ({"k": 2, "eps": 1, "sensitive": "1"}, "not one text"),
        ({"k": 2, "eps": 1, "nulls": "none"}, "nulls = 'none'"),
        ({"k": 2, "eps": 1, "rare_items": "some"}, "rare_items = "),
        ({"k": 2, "eps": 1, "attributes": "some"}, "attributes"),
        ({"k": 9, "eps": 1}, "k = 9, records = 4"),
        ({"k": 2, "eps": 1, "sensitive": ["7"]}, "not among the items"),
        ({"k": 2, "eps": 1, "sensitive": ["3"]}, "fewer than k = 2 users"),
        (
            {"k": 2, "eps": 1, "sensitive": ["1", "2", "3"], "rare_items": "keep"},
            "all items are sensitive",
        ),
        ({"k": 2, "eps": 1, "l": 2.1, "sensitive": ["2"]}, "above half of that, 2"),
    ],
)
def test_what_cannot_be_asked_is_refused(settings: dict[str, Any], said: str) -> None:
    rows = [
        {0: 1.0, 1: float(v), 2: 1.0} if v == 1 else {0: 1.0, 1: float(v)} for v in (1, 2, 4, 5)
    ]
    with pytest.raises(ConfigError) as caught:
        SuppressAnonymizer(**settings).anonymize(table(rows, STARS, n_items=3))
    assert said in str(caught.value)


def test_nobody_left_is_unmet_with_advice() -> None:
    apart = table([{0: 1.0, 1: 2.0}, {0: 6.0, 1: 2.0}, {0: 3.0, 1: 2.0}], STARS)
    with pytest.raises(UnmetError, match="no record can stay") as caught:
        SuppressAnonymizer(2, 1).anonymize(apart)
    assert "larger eps" in caught.value.advice
    assert "nulls ignore" in caught.value.advice
    flat = table([{0: 1.0, 1: 2.0}] * 3 + [{0: 3.0, 1: 6.0}], STARS)
    with pytest.raises(UnmetError, match="no set of records") as caught:
        SuppressAnonymizer(2, 1, 1.0, ["2"], nulls="zero").anonymize(flat)
    assert "smaller l" in caught.value.advice


@pytest.mark.real
def test_movielens(ml100k_dir: Path) -> None:
    """As many stay as the definition lets, and one more round would delete nobody."""
    ratings = read_ratings(ml100k_dir)
    found = SuppressAnonymizer(5, 1, items=top_items(5)).suppress(ratings)
    assert found.ratings.n_users + found.users_deleted == 881
    assert KEpsAnonymity(5, 1).check(found.ratings).satisfied
    values = ratings.keep_items(ratings.most_rated(5)).dense()
    values[np.isnan(values)] = 100.0
    stays = np.ones(len(values), dtype=np.bool_)
    near = (np.abs(values[:, None] - values[None]) <= 1).all(axis=2)
    while (few := stays & ((near & stays).sum(axis=1) < 5)).any():
        stays &= ~few
    assert found.ratings.n_users == stays.sum()
