"""What NS's study is made of: readings, changed data, matching sets, first days."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sparsity.sparsity import Neighbours, Sparsity
from starshade.attack.view import look
from starshade.audit.reproduction.estimates import Estimate, Floats, Untestable
from starshade.audit.reproduction.ns import of_data
from starshade.audit.reproduction.ns.bench import Bench, found_in
from starshade.audit.reproduction.ns.claims import CLAIMS
from starshade.audit.reproduction.ns.extra import first_days
from starshade.audit.reproduction.ns.of_data import TENTHS, matching, sims
from starshade.audit.reproduction.ns.samples import (
    CHANGED,
    Tenth,
    altered,
    dealt_days,
    drawn,
    moved_days,
)
from starshade.audit.reproduction.ns.scorer import Reading, scored
from starshade.audit.reproduction.ns.under import mean_of, ratio_of
from starshade.audit.reproduction.ns.worked import worked_tables
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.stats import wilson
from tests.naive import ns_readings as naive
from tests.naive.scoreboard_rh import records_of_table
from tests.strategies import at_least, ratings_tables
from tests.strategies import table as table_of
from tests.unit.attack.test_scoreboard_rh import clues, knowledge_of

STARS = Scale(1, 5, 1)
READINGS = st.builds(
    Reading,
    similarity=st.sampled_from(["distance", "signed", "threshold"]),
    strict=st.booleans(),
    rho0=st.sampled_from([0.7, 1.5]),
    d0=st.sampled_from([2.0, 30.0]),
    phi=st.sampled_from([0.0, 0.5, 1.5]),
    weighted=st.booleans(),
    within=st.sampled_from([(0.0, 3.0), (1.0, float("inf"))]),
)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=120, n_items=150, n_ratings=3000, rng=1)


@at_least(60)
@given(ratings_tables(), READINGS, st.booleans(), st.booleans(), st.data())
def test_readings_are_the_twins(
    table: Ratings, reading: Reading, absent: bool, after: bool, data: st.DataObject
) -> None:
    view, known = look(table, None, None), data.draw(knowledge_of(table))
    n = table.n_users
    fits = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    found = scored(table, known, reading, absent=absent, narrow=lambda t: fits, after=after)
    records = records_of_table(table)
    of = {
        name: getattr(reading, name) for name in ("similarity", "rho0", "d0", "weighted", "within")
    }
    of["dated"] = table.days is not None
    for t in range(len(known)):
        rest = [r for r in range(n) if not (absent and r == known.users[t])]
        asked = rest if after else [r for r in rest if fits[r]]
        told = clues(known, view, t)
        everyone = [records[r] for r in rest]
        scores = [naive.score(records[r], told, everyone, **of) for r in asked]
        own = asked.index(known.users[t]) if known.users[t] in asked else None
        wanted = naive.judged(scores, own, reading.phi, strict=reading.strict)
        if after and scores and not fits[asked[int(np.argmax(scores))]]:
            wanted |= {"named": 0.0, "success": 0.0}
        for name, value in wanted.items():
            assert float(found[name][t]) == pytest.approx(value, rel=1e-6, abs=1e-9), name


def test_as_read_is_the_librarys_attack(ratings: Ratings) -> None:
    bench = Bench(ratings, None, 1, 3)
    for knowledge in (Knowledge(known=8, wrong=2), Knowledge(known=3, rating_error=1, day_error=3)):
        (slow,), (fast,) = bench.lettered(knowledge, bench.reading()), bench.attacked(knowledge)
        for name in ("success", "named", "right", "top1"):
            assert np.array_equal(slow[name], fast[name]), name
        for name in ("eccentricity", "bits"):
            assert slow[name] == pytest.approx(fast[name], rel=1e-4, abs=1e-4)
        (slow,), (fast,) = (
            bench.lettered(knowledge, bench.reading(), absent=True),
            bench.absent(knowledge),
        )
        assert slow["eccentricity"] == pytest.approx(fast["eccentricity"], rel=1e-4, abs=1e-4)


def test_outcomes_are_true_or_false(ratings: Ratings) -> None:
    bench, knowledge = Bench(ratings, 30, 2, 3), Knowledge(known=8, wrong=2)
    attacks = (bench.attacked, bench.absent, bench.scoreboard)
    for runs in (*(of(knowledge) for of in attacks), bench.lettered(knowledge, bench.reading())):
        kinds = {name: runs[0][name].dtype for name in runs[0]}
        assert all(kinds[name].kind == "b" for name in {"named", "success", "right"} & kinds.keys())
    none, some = np.zeros(30), np.array([0.0] * 29 + [0.5])
    assert mean_of(bench, [{"top1": none}], "top1").high == pytest.approx(wilson(0, 30).high)
    assert mean_of(bench, [{"bits": none}], "bits").high == 0, "bits are no outcomes"
    assert mean_of(bench, [{"top1": none}, {"top1": some}], "top1").high < wilson(0, 60).high


def test_other_runs_have_other_people_as_far_as_there_are(ratings: Ratings) -> None:
    bench = Bench(ratings, 30, 5, 3)
    knowledge = Knowledge(known=1)
    runs = [bench.people(knowledge, run) for run in range(5)]
    able = len(bench.able(knowledge))
    assert len(set(np.concatenate(runs[: able // 30]).tolist())) == able // 30 * 30
    assert all(len(set(run.tolist())) == 30 for run in runs)
    many = Bench(ratings, 100, 2, 3)
    assert all(len(np.unique(many.people(knowledge, run))) == 100 for run in range(2))
    with pytest.raises(Untestable, match="no user has what is to be known"):
        bench.people(Knowledge(known=140), 0)


def test_attacks_are_the_librarys(ratings: Ratings) -> None:
    bench, knowledge = Bench(ratings, None, 1, 3), Knowledge(known=4, day_error=3)
    result = ScoreboardRH(absent=True).run(ratings, knowledge, rng=bench.seed_of(0))
    (found,), (gone,) = bench.attacked(knowledge), bench.absent(knowledge)
    assert found["success"].mean() == result.success.rate
    assert found["top1"].mean() == result.expected_top1.rate
    assert found["bits"].mean() == pytest.approx(result.entropy_bits.mean)
    assert result.false_match_absent is not None
    assert gone["named"].mean() == result.false_match_absent.rate


def test_one_property_alone_is_changed(ratings: Ratings) -> None:
    assert ratings.days is not None
    holes = np.where(np.arange(ratings.n_ratings) % 7 == 0, UNKNOWN_DAY, ratings.days)
    ratings = replace(ratings, days=holes.astype(np.uint16))
    dealt, moved, noisy = (each(ratings, 1) for each in (dealt_days, moved_days, altered))
    for changed in (dealt, moved):
        assert np.array_equal(changed.codes, ratings.codes)
    assert np.array_equal(np.sort(dealt.days), np.sort(ratings.days))
    assert not np.array_equal(dealt.days, ratings.days)
    known = ratings.days != UNKNOWN_DAY
    assert np.array_equal(moved.days != UNKNOWN_DAY, known)
    off = np.abs(moved.days[known].astype(int) - ratings.days[known])
    assert off.max() <= 14
    assert off.mean() > 5
    assert 0.003 < (noisy.codes != ratings.codes).mean() <= 5 / 229
    common, columns = (CHANGED[way](ratings, 1) for way in ("four-raters", "all-columns"))
    assert common.item_support.min() >= 4
    assert common.n_ratings == ratings.item_support[ratings.item_support >= 4].sum()
    assert np.array_equal(columns.columns, ratings.columns)
    assert (columns.codes == 0).all()
    with pytest.raises(Untestable, match="no dates"):
        dealt_days(replace(ratings, days=None), 1)


def test_a_tenth_knows_who_is_in_it(ratings: Ratings) -> None:
    tenth = Tenth.of(ratings, 5)
    sample = tenth.view.original
    assert sample.n_users == 12
    everyone = np.arange(ratings.n_users)
    rows = tenth.rows(everyone)
    inside = rows < sample.n_users
    assert inside.sum() == 12
    assert list(sample.users.take(rows[inside])) == list(ratings.users.take(everyone[inside]))
    knowledge = Knowledge(known=4)
    able = everyone[knowledge.eligible_users(ratings)]
    known = knowledge.draw(ratings, able, 1)
    found = found_in(tenth.view, replace(known, users=tenth.rows(able)))
    outside = rows[able] == sample.n_users
    assert not found["right"][outside].any()
    assert found["right"][~outside].all()
    with pytest.raises(Untestable, match="a sample takes 20 or more"):
        drawn(ratings.keep_users(np.arange(5)), 0.1, 1)


def test_a_tenth_is_scored_alike_to_the_letter(ratings: Ratings) -> None:
    bench, knowledge = Bench(ratings, None, 2, 3), Knowledge(known=4, wrong=1)
    plain, lettered = bench.tenth(knowledge), bench.tenth(knowledge, bench.reading())
    for one, other in zip(plain, lettered, strict=True):
        for who in one:
            assert np.array_equal(one[who]["success"], other[who]["success"]), who
            assert np.array_equal(one[who]["named"], other[who]["named"]), who


def test_matching_sets_and_their_likeness(ratings: Ratings) -> None:
    ends = zip(ratings.indptr, ratings.indptr[1:], strict=False)
    items = [set(ratings.columns[a:b].tolist()) for a, b in ends]
    known = np.array(sorted(items[3])[:3], np.int32)
    wanted = [u for u, own in enumerate(items) if set(known.tolist()) <= own]
    assert matching(ratings, known).tolist() == wanted
    everyone = np.arange(ratings.n_users)
    alike = sims(ratings, 3, everyone)
    others = [len(items[3] & own) / len(items[3] | own) for own in items]
    assert alike == pytest.approx(others)
    nearest = Sparsity().run(ratings, rng=0).neighbours[0].similarity[3]
    assert np.delete(alike, 3).max() == pytest.approx(nearest)


@at_least(60)
@given(ratings_tables(max_users=8, max_items=6), st.integers(1, 40))
def test_every_pair_is_counted(ratings: Ratings, at_once: int) -> None:
    rated = [{*ratings.columns[a:b].tolist()} for a, b in pairwise(ratings.indptr)]
    covering = [
        (one, other)
        for one, other in permutations(rated, 2)
        if one and 2 * len(one & other) >= len(one)
    ]
    unlike = [
        pair for pair in covering if 20 * len(set.intersection(*pair)) <= 9 * len(set.union(*pair))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_data, "_AT_ONCE", at_once)
        users = np.arange(ratings.n_users)
        assert of_data.count_covering(ratings, users) == (len(covering), len(unlike))


def test_the_lemma_is_refuted_by_one_pair_and_proved_by_no_sample() -> None:
    like = [{0: 3.0, 1: 3.0}] * 3
    unlike = [dict.fromkeys(items, 3.0) for items in (range(4), range(2, 6))]
    claim = next(each for each in CLAIMS if each.number == "ns-19")
    for rows, targets, met in ((like, None, True), (unlike, None, False), (unlike, 1, False)):
        bench = Bench(table_of(rows, STARS), targets, 1, 0)
        found = of_data.lemma(bench, "")
        assert (claim.met(found), found.low == found.high) == (met, True)
    with pytest.raises(Untestable, match="a sample"):
        of_data.lemma(Bench(table_of(like, STARS), 1, 1, 0), "")


def test_a_record_that_may_have_dozens_is_one(ratings: Ratings) -> None:
    claim = next(each for each in CLAIMS if each.number == "ns-02")
    table = table_of([dict.fromkeys(range(24), 3.0), *[{0: 3.0}] * 9], STARS)
    assert claim.met(claim.measure(Bench(table, None, 1, 0), claim.configuration))


def test_first_days_skip_what_is_not_known() -> None:
    table = Ratings.from_arrays(
        ["a", "a", "c", "d"], ["x", "y", "x", "y"], [1, 2, 3, 4],
        days=np.array(["2000-01-09", "2000-01-05", "NaT", "2000-01-07"], "datetime64[D]"),
        scale="1:5:1",
    )  # fmt: skip
    table = replace(
        table,
        indptr=np.insert(table.indptr, 2, table.indptr[2]),
        users=synthesize(n_users=4, n_items=2, n_ratings=4, rng=1).users,
    )
    first = first_days(table)
    assert first.tolist()[0] + 2 == first.tolist()[3]
    assert first.tolist()[1] == first.tolist()[2] == UNKNOWN_DAY


def test_a_tenth_that_was_looked_at_in_part_may_have_more(monkeypatch: pytest.MonkeyPatch) -> None:
    many = synthesize(n_users=4000, n_items=30, n_ratings=9000, rng=1)
    wanted = next(c.measure for c in CLAIMS if c.number == "ns-25")
    assert wanted is not None
    near = np.array([0.9] * 2 + [0.1] * 8)
    monkeypatch.setattr(Bench, "sparsity_of_tenth", lambda bench, draw: near * (draw < TENTHS // 2))
    found = wanted(Bench(many, 10, 1, 3), "")
    assert found.low <= found.value == 0.5
    assert (found.users, found.of) == (TENTHS, "tenth")
    assert found.high == 1  # none of ten in a tenth of 400: some of the rest may have one
    every = np.where(np.arange(400) < 2, 0.9, 0.1)
    monkeypatch.setattr(
        Bench, "sparsity_of_tenth", lambda bench, draw: every * (draw < TENTHS // 2)
    )
    assert wanted(Bench(many, 10, 1, 3), "").high < 1


def measured(number: str, bench: Bench) -> Estimate:
    measure = next(claim.measure for claim in CLAIMS if claim.number == f"ns-{number}")
    assert measure is not None
    return measure(bench, "")


def test_columns_tell_as_much_as_values_where_no_other_record_has_the_same() -> None:
    rows = [{0: 5.0}, {0: 4.0}, {0: 4.0, 1: 1.0}, {1: 1.0}]
    assert measured("61", Bench(table_of(rows, STARS), None, 1, 0)).value == 2 / 4
    with pytest.raises(Untestable, match="all records are equal"):
        measured("61", Bench(table_of([{0: 5.0}] * 3, STARS), None, 1, 0))


def test_a_tenth_with_a_fifth_of_the_crowd_is_not_about_as_sparse(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def near(crowded: int) -> Floats:
        return np.where(np.arange(100) < crowded, 0.9, 0.1)

    bench = Bench(ratings, None, 1, 3)
    monkeypatch.setattr(Bench, "sparsity_of_tenth", lambda bench, draw: near(5))
    for crowded, ratio in ((25, 0.2), (10, 0.5)):
        monkeypatch.setattr(
            Bench, "sparsity", SimpleNamespace(neighbours=[Neighbours("", *[near(crowded)] * 2)])
        )
        assert measured("26", bench).value == pytest.approx(ratio)
    monkeypatch.setattr(
        Bench, "sparsity", SimpleNamespace(neighbours=[Neighbours("", *[near(9)] * 2)])
    )
    with pytest.raises(Untestable, match="9 of 100"):
        measured("26", bench)


def test_the_same_value_is_counted_item_by_item(monkeypatch: pytest.MonkeyPatch) -> None:
    # item 0: 5 5 5 1, of whom most are three; items 1 to 9: two alike; item 10, the rarest: one
    rows = [{0: 5.0, 10: 2.0}, {0: 5.0}, {0: 5.0}, {0: 1.0}]
    rows += [dict.fromkeys(range(1, 10), 4.0)] * 2
    bench = Bench(table_of(rows, STARS), None, 1, 0)
    with pytest.raises(Untestable, match="6 users"):
        measured("05", bench)
    monkeypatch.setattr(of_data, "_LARGE", 6)
    assert measured("05", bench).value == 2


def test_nothing_is_divided_by_almost_nothing(ratings: Ratings) -> None:
    bench, above = Bench(ratings, 30, 1, 3), np.ones(30)
    few, enough = np.arange(30) < 9, np.arange(30) < 10
    with pytest.raises(Untestable, match="only 9 of 30"):
        ratio_of(bench, [{"above": above, "below": few}], "nobody")
    with pytest.raises(Untestable, match="nobody"):
        ratio_of(bench, [{"above": above, "below": np.zeros(30)}], "nobody")
    found = ratio_of(bench, [{"above": above, "below": enough}], "nobody")
    assert found.value == pytest.approx(3)
    assert found.high < 30, "one in thirty at the least"


def test_those_with_less_similar_peers_are_set_against_the_others() -> None:
    # nobody is like the first three; the others are each other's twins but for the last item
    loners = [dict.fromkeys(range(20 * n, 20 * n + 10), 3.0) for n in range(3)]
    twins = [dict.fromkeys([*range(80, 91), 91 + n], 3.0) for n in range(3)]
    rows = [*loners, *twins]
    days = [dict.fromkeys(row, 50) for row in rows]
    bench = Bench(table_of(rows, STARS, days=days), None, 2, 0)
    assert measured("69", bench).value > 0.5
    fewer = measured("70", bench).value
    assert -8 <= fewer <= -4, "one item is enough for who is alone, and hardly eight for the others"
    alike = Bench(table_of([rows[0]] * 4, STARS, days=[days[0]] * 4), None, 1, 0)
    with pytest.raises(Untestable, match="all records have equally similar peers"):
        measured("69", alike)
    kin = [dict.fromkeys([*range(80, 84), *range(n, n + 8)], 3.0) for n in (100, 110, 120)]
    days = [dict.fromkeys(row, 50) for row in (*loners, *kin)]
    found = Bench(table_of([*loners, *kin], STARS, days=days), None, 2, 0)
    for number in ("69", "71"):
        with pytest.raises(Untestable, match="both halves are equal"):
            measured(number, found)


def test_one_item_leaves_its_raters() -> None:
    bench = Bench(table_of([{0: 3.0}] * 3 + [{1: 3.0}], STARS), None, 2, 0)
    assert measured("73", bench).value == (3 * 3 / 4 + 1 / 4) / 4


def test_what_is_worked_by_hand() -> None:
    bits, fifth = worked_tables()
    assert bits.equal == bits.cells
    assert (bits.cells, fifth.cells, fifth.equal) == (1, 1, 0), "the paper has no other number"
    # of the six pairs of four records three have the hub
    assert fifth.ours[2][1] == "0.50"
