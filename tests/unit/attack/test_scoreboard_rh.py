"""Scoreboard-RH against its slow twin, on tables and on rows with multiplicity."""

from __future__ import annotations

import dataclasses

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.scoreboard_rh import Outcomes, ScoreboardRH
from starshade.attack.scoreboard_rh.scoring import Pricing, block_of, prepare
from starshade.attack.view import View, look
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.scoreboard import fraction_bits, scores
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.release.table import Release
from tests.naive import scoreboard_rh as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.compare import differences
from tests.unit.attack.samples import releases

ATTACKS = st.builds(
    ScoreboardRH,
    phi=st.sampled_from([0.0, 0.5, 1.5]),
    rho0=st.sampled_from([None, 0.7]),
    d0=st.sampled_from([30.0, 2.0, 1e6]),
    theta=st.sampled_from([1.0, 0.5]),
)


@st.composite
def knowledge_of(draw: st.DrawFn, original: Ratings) -> Known:
    """Any knowledge at all of every user: right, wrong, with and without rating and day."""
    n, m = original.n_users, draw(st.integers(1, min(3, original.n_items)))
    one = st.permutations(range(original.n_items)).map(lambda items: items[:m])
    items = np.array(draw(st.lists(one, min_size=n, max_size=n)), dtype=np.int32)
    if original.scale.step is None:
        value = st.sampled_from([np.nan, -10.0, -1.234, 0.0, 3.0, 10.0])
    else:
        value = st.sampled_from([np.nan, *original.scale.levels.tolist()])
    cells = st.lists(value, min_size=n * m, max_size=n * m)
    days = st.lists(st.sampled_from([NO_DAY, -5, 0, 2, 30, 401]), min_size=n * m, max_size=n * m)
    told = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    return Known(
        np.arange(n),
        items,
        np.array(draw(cells)).reshape(n, m),
        np.array(draw(days), dtype=np.int32).reshape(n, m),
        draw(st.none() | told.map(np.array)),
    )


def clues(known: Known, view: View, t: int) -> list[naive.Clue]:
    """Turn one target's knowledge into the twin's words, items numbered as released."""
    out = []
    for item, rating, day in zip(known.items[t], known.ratings[t], known.days[t], strict=True):
        out.append(
            naive.Clue(
                int(view.item_of[item]),
                None if np.isnan(rating) else float(rating),
                None if day == NO_DAY else int(day),
            )
        )
    return out


def twin(attack: ScoreboardRH, view: View, bits: int | None) -> naive.Attack:
    return naive.Attack(
        view.cells.symbols.scale,
        attack.phi,
        attack.rho0,
        attack.d0,
        attack.theta,
        view.cells.days is not None,
        bits,
    )


def people(
    data: Ratings | Release, original: Ratings
) -> tuple[list[naive.Record], list[naive.Record], dict[int, int]]:
    """All records, the users' true rows on the released items, and each user's record if known."""
    if isinstance(data, Ratings):
        records = naive.records_of_table(data)
        own_of = dict(enumerate(range(data.n_users)))
        released = list(data.items)
    else:
        records = naive.records_of(data.cells())
        link = data.private.link if data.private else None
        own_of = {} if link is None else dict(enumerate(link.record.tolist()))
        released = list(data.cells().items)
    place = {i: released.index(key) for i, key in enumerate(original.items) if key in released}
    truths = [
        {place[i]: cell for i, cell in row.items() if i in place}
        for row in naive.records_of_table(original)
    ]
    return records, truths, own_of


def check_against_twin(
    attack: ScoreboardRH, data: Ratings | Release, original: Ratings, known: Known
) -> None:
    """Every target's answer equals the twin's on scores rounded alike; see `compare`."""
    view = look(data, None if data is original else original, None)
    outcomes, _ = attack.judge(view, known)
    slow = twin(attack, view, 20)
    records, truths, own_of = people(data, original)
    for t, user in enumerate(known.users.tolist()):
        own = own_of.get(user)
        told = None if known.rating_counts is None else int(known.rating_counts[t])
        found = naive.find(records, clues(known, view, t), truths[user], slow, own=own, told=told)
        if view.credit == "linked" and own is None:
            continue  # such users are never targets
        assert not differences(outcomes, t, found, attack.phi), (t, found)
        if attack.absent and own is not None:
            expected = naive.matched_without(
                records, clues(known, view, t), slow, own=own, told=told
            )
            assert outcomes.matched_absent is not None
            assert outcomes.matched_absent[t] == expected


@given(st.data(), ratings_tables(max_users=7, max_items=4), ATTACKS, st.booleans())
def test_a_table_is_attacked_as_the_paper_says(
    data: st.DataObject, ratings: Ratings, attack: ScoreboardRH, absent: bool
) -> None:
    assume(ratings.n_ratings > 0)
    known = data.draw(knowledge_of(ratings))
    check_against_twin(dataclasses.replace(attack, absent=absent), ratings, ratings, known)


@given(st.data(), st.booleans(), ATTACKS, st.booleans())
def test_a_release_is_attacked_as_the_paper_says(
    data: st.DataObject, linked: bool, attack: ScoreboardRH, absent: bool
) -> None:
    original, release = data.draw(releases(linked=linked))
    known = data.draw(knowledge_of(original))
    attack = dataclasses.replace(attack, absent=absent and linked)
    check_against_twin(attack, release, original, known)


@given(st.data(), ratings_tables(max_users=6, max_items=4))
def test_scores_are_the_papers_to_a_millionth(data: st.DataObject, ratings: Ratings) -> None:
    assume(ratings.n_ratings > 0)
    view = look(ratings, None, None)
    known = data.draw(knowledge_of(ratings))
    slow = twin(ScoreboardRH(), view, None)
    aux, tables = prepare(view, known, Pricing(slow.reach, 30.0))
    fast = scores(block_of(view), aux, tables) / tables.unit
    records = naive.records_of(view.cells)
    row_of_record = np.repeat(np.arange(view.cells.n_groups), view.cells.sizes)
    for t in range(len(known)):
        told = clues(known, view, t)
        exact = [naive.score(record, told, records, slow) for record in records]
        assert np.allclose(fast[t][row_of_record], exact, rtol=0, atol=1e-6 * len(told))


@st.composite
def sparse_tables(draw: st.DrawFn) -> Ratings:
    """Many users, few ratings each: the kernel looks at touched rows only."""
    scale = Scale(1, 5, 1)
    row = st.dictionaries(st.integers(0, 29), st.sampled_from([1.0, 3.0, 5.0]), max_size=2)
    rows = draw(st.lists(row, min_size=25, max_size=40))
    rows[0] = {0: 5.0, 1: 1.0}
    return table(rows, scale, n_items=30)


@given(st.data(), sparse_tables(), ATTACKS, st.booleans())
def test_few_raters_among_many_users(
    data: st.DataObject, ratings: Ratings, attack: ScoreboardRH, absent: bool
) -> None:
    known = data.draw(knowledge_of(ratings)).take(slice(0, 6))
    check_against_twin(dataclasses.replace(attack, absent=absent), ratings, ratings, known)


@given(
    st.sampled_from([2.0, 1.0, 0.3]),
    st.sampled_from([-3, 0, 20, 45, UNKNOWN_DAY - 1]),
    st.integers(0, 5),
)
def test_an_item_with_more_raters_than_days_that_count(d0: float, day: int, missing: int) -> None:
    """The days within reach are then priced, not the raters' days."""
    days = [{0: UNKNOWN_DAY if u < missing else u} for u in range(50)]
    ratings = table([{0: 3.0} for _ in days], Scale(1, 5, 1), days=days)
    known = Known(
        np.array([0]),
        np.zeros((1, 1), np.int32),
        np.full((1, 1), np.nan),
        np.array([[day]], np.int32),
    )
    view = look(ratings, None, None)
    aux, tables = prepare(view, known, Pricing(1.5, d0))
    assert len(tables.decay) <= 50
    fast = scores(block_of(view), aux, tables)[0][view.row_of_user]
    records = naive.records_of_table(ratings)
    slow = naive.Attack(ratings.scale, d0=d0, dated=True, bits=20)
    told = clues(known, view, 0)
    exact = [naive.score(record, told, records, slow) for record in records]
    assert fast.tolist() == exact


@given(st.data(), ratings_tables(scales=(Scale(-10, 10),), max_users=6, max_items=4))
def test_ratings_too_many_for_a_table_are_priced_the_same(
    data: st.DataObject, ratings: Ratings
) -> None:
    assume(ratings.n_ratings > 0)
    known = data.draw(knowledge_of(ratings))
    view = look(ratings, None, None)
    pricing = Pricing(7.5, 30.0)
    block = block_of(view)
    in_tables = scores(block, *prepare(view, known, pricing))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.attack.scoreboard_rh.scoring._MANY", 0)
        aux, tables = prepare(view, known, pricing)
        assert len(tables.similarity) == 2
        assert np.array_equal(scores(block, aux, tables), in_tables)


@given(st.data(), ratings_tables(min_users=3, max_users=8, max_items=4))
def test_small_batches_change_nothing(data: st.DataObject, ratings: Ratings) -> None:
    assume(ratings.n_ratings > 0)
    known = data.draw(knowledge_of(ratings))
    view = look(ratings, None, None)
    whole, _ = ScoreboardRH().judge(view, known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.attack.scoreboard_rh.scoring._TABLE", 1)
        parts, _ = ScoreboardRH().judge(view, known)
    assert_equal(whole, parts)


def assert_equal(a: Outcomes, b: Outcomes) -> None:
    for field in dataclasses.fields(Outcomes):
        assert np.array_equal(getattr(a, field.name), getattr(b, field.name)), field.name


def some_table(n_users: int, n_items: int, seed: int = 0, scale: Scale | None = None) -> Ratings:
    """A table of random ratings and days, popular items first."""
    rng = np.random.default_rng(seed)
    scale = scale or Scale(0.5, 5, 0.5)
    chance = 0.5 / (1 + np.arange(n_items) / 5)
    rated = rng.random((n_users, n_items)) < chance
    rows, days = [], []
    for u in range(n_users):
        items = np.flatnonzero(rated[u]).tolist()
        rows.append(dict(zip(items, rng.choice(scale.levels, len(items)).tolist(), strict=True)))
        days.append(dict(zip(items, rng.integers(0, 300, len(items)).tolist(), strict=True)))
    return table(rows, scale, n_items=n_items, days=days)


def test_threads_do_not_change_a_bit() -> None:
    ratings = some_table(200, 60)
    knowledge = Knowledge(known=3, wrong=1, rating_error=0.5, about_count=True)
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            found.append(ScoreboardRH(absent=True).run(ratings, knowledge, rng=5))
    finally:
        numba.set_num_threads(before)
    assert_equal(found[0].per_target, found[1].per_target)
    assert found[0].targets > 100


def test_more_cells_than_twenty_bits_hold() -> None:
    assert fraction_bits(709) == 20
    assert fraction_bits(710) == 19
    n = 1500  # each item has one rater: the heaviest weight there is
    ratings = table(
        [dict.fromkeys(range(n), 3.0), {}],
        Scale(1, 5, 1),
        n_items=n,
        days=[dict.fromkeys(range(n), 7), {}],
    )
    known = Known(
        np.array([0]),
        np.arange(n, dtype=np.int32)[None],
        np.full((1, n), 3.0),
        np.full((1, n), 7, dtype=np.int32),
    )
    view = look(ratings, None, None)
    aux, tables = prepare(view, known, Pricing(1.5, 30.0))
    score = scores(block_of(view), aux, tables)[0]
    assert score[1] == 0
    assert score[0] / tables.unit == pytest.approx(n * 2 / np.log(2), rel=1e-5)


def test_the_comparer_sees_every_kind_of_difference() -> None:
    ratings = some_table(30, 10)
    view = look(ratings, None, None)
    known = Knowledge(known=2).draw(ratings, np.flatnonzero(ratings.user_support >= 2)[:1], 0)
    outcomes, _ = ScoreboardRH().judge(view, known)
    user = int(known.users[0])
    records = naive.records_of_table(ratings)
    found = naive.find(
        records, clues(known, view, 0), records[user], twin(ScoreboardRH(), view, 20), own=user
    )
    assert not differences(outcomes, 0, found, 1.5)
    wrong: dict[str, object] = {
        name: not getattr(found, name)
        for name in ("matched", "success", "false_match", "disclosed")
    }
    wrong |= {"expected_top1": found.expected_top1 / 2 + 0.1}
    wrong |= {
        name: getattr(found, name) * (1 + 1e-4) + 1e-4
        for name in ("entropy_bits", "entropy_bits_profile", "eccentricity", "profile_eccentricity")
    }
    for name, value in wrong.items():
        worse = dataclasses.replace(found, **{name: value})
        assert differences(outcomes, 0, worse, 1.5) == [name]
    edge = dataclasses.replace(found, matched=not found.matched)
    assert differences(outcomes, 0, edge, found.eccentricity) == []
