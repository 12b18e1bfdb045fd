"""The likelihood attack beside its definition, draw by draw."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.informed import Model
from starshade.attack.likelihood.likelihood import Likelihood, ceiling_of
from starshade.attack.likelihood.plain import weigh_plainly
from starshade.attack.likelihood.result import Silence, silence_of
from starshade.attack.likelihood.sought import Sought
from starshade.attack.likelihood.unsure import nodes_of
from starshade.attack.targets import usable
from starshade.attack.view import View, look
from starshade.errors import StarshadeError
from starshade.kernels.attack.posterior import greatest, merge
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.summary import mass_unit
from starshade.ratings.scale import Scale
from tests.naive import likelihood as naive
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.samples import releases

knowledges = st.integers(1, 3).flatmap(
    lambda known: st.builds(
        Knowledge,
        known=st.just(known),
        wrong=st.integers(0, known),
        wrong_kind=st.sampled_from(["value", "item"]),
        rating_error=st.sampled_from([0.0, 0.5, 1.0, 2.5]),
        day_error=st.sampled_from([None, 0, 2, 14]),
        ratings=st.booleans(),
        about_count=st.booleans(),
    )
)


def facts_of(known: Known, target: int) -> list[naive.Fact]:
    each = zip(known.items[target], known.ratings[target], known.days[target], strict=True)
    return [
        (int(i), None if np.isnan(r) else float(r), None if d == NO_DAY else int(d))
        for i, r, d in each
    ]


def told_of(known: Known, target: int) -> int | None:
    return None if known.rating_counts is None else int(known.rating_counts[target])


def law_of(view: View, knowledge: Knowledge) -> naive.Law:
    return naive.Law(
        view.original,
        knowledge.known,
        knowledge.wrong,
        knowledge.wrong_kind,
        knowledge.rating_error,
        int(knowledge.day_error or 0) if knowledge.knows_days else None,
        knowledge.ratings,
        tuple(np.flatnonzero(view.item_of >= 0).tolist()),
    )


def attacked(view: View, knowledge: Knowledge, seed: int) -> tuple[Known, Any]:
    users = np.flatnonzero(knowledge.eligible_users(view.original) & (view.row_of_user >= 0))
    known = knowledge.draw(view.original, users, seed)
    return known, Model(view, knowledge).weigh(known) if len(users) else np.empty(0)


@at_least(60)
@given(ratings_tables(max_users=7, max_items=5), knowledges, st.integers(0, 99))
def test_on_ratings_it_is_the_posterior_over_all_draws(
    ratings: Any, knowledge: Knowledge, seed: int
) -> None:
    view = look(ratings, None, None)
    knowledge = usable(knowledge, view)
    known, found = attacked(view, knowledge, seed)
    law = law_of(view, knowledge)
    for t, each in enumerate(found):
        told = told_of(known, t)
        user = known.users[t]
        posterior = law.posterior(facts_of(known, t), told)
        bits = (
            np.log2(each["mass"] / mass_unit(ratings.n_users))
            - each["right"]
            - np.log2(view.copies[user])
        )
        assert each["right_tied"] / each["tied"] == pytest.approx(naive.top1(posterior, user))
        assert bits == pytest.approx(naive.bits(posterior, law.rows, user), abs=1e-12)


def classes_of(view: View) -> list[naive.Class]:
    cells, symbols = view.cells, view.cells.symbols
    item = {int(place): i for i, place in enumerate(view.item_of) if place >= 0}
    values = [
        (*symbols.members[a:b].tolist(), *([None] if null else []))
        for a, b, null in zip(symbols.offsets, symbols.offsets[1:], symbols.null, strict=False)
    ]
    return [
        {
            item[int(cells.columns[p])]: values[cells.codes[p]]
            for p in range(cells.indptr[row], cells.indptr[row + 1])
        }
        for row in range(cells.n_groups)
    ]


@at_least(40)
@given(
    ratings_tables(
        scales=(Scale(1, 5, 1), Scale(1, 3, 1)), min_users=3, max_users=8, max_items=4,
        with_days=False,
    ),
    knowledges,
    st.sampled_from(["keep", "drop"]),
)  # fmt: skip
def test_on_classes_it_is_the_mean_over_all_members(
    ratings: Any, knowledge: Knowledge, rare: Any
) -> None:
    try:
        release = KLikeness(k=2, rare_items=rare).anonymize(ratings, rng=0)
    except StarshadeError:
        return
    view = look(release, ratings, None)
    knowledge = Knowledge(
        known=knowledge.known,
        wrong=knowledge.wrong,
        wrong_kind=knowledge.wrong_kind,
        rating_error=knowledge.rating_error,
        dates=False,
        ratings=knowledge.ratings,
    )
    known, found = attacked(view, knowledge, 1)
    law, classes, sizes = law_of(view, knowledge), classes_of(view), view.cells.sizes
    for t, each in enumerate(found):
        chance = np.array([law.chance_of_class(own, facts_of(known, t)) for own in classes])
        if not chance.sum():
            assert each["tied"] == 0
            continue
        own = view.row_of_user[known.users[t]]
        for weight, tied, mine in (
            (np.ones(len(sizes)), "tied", "right_tied"),
            (sizes, "classes", "right_class"),
        ):
            best = chance * weight >= (chance * weight).max() * (1 - 1e-9)
            assert each[tied] == (best * (sizes if tied == "tied" else 1)).sum()
            assert each[mine] == best[own]
        mass = each["mass"] / mass_unit(int(sizes.sum()))
        assert mass == pytest.approx((chance * sizes).sum() / chance.max(), rel=1e-12)
        assert 2.0 ** each["right"] == pytest.approx(chance[own] / chance.max(), rel=1e-12)


@at_least(60)
@given(ratings_tables(max_users=6, max_items=5), knowledges, st.integers(0, 99))
def test_who_may_be_absent_is_weighed_beside_the_others(
    ratings: Any, knowledge: Knowledge, seed: int
) -> None:
    view = look(ratings, None, None)
    knowledge = usable(knowledge, view)
    known, _ = attacked(view, knowledge, seed)
    if not len(known):
        return
    found = Model(view, knowledge).weigh(known, Sought(view, absent=True, strangers=True))
    law = law_of(view, knowledge)
    for t, each in enumerate(found):
        facts, told = facts_of(known, t), told_of(known, t)
        others = [row for u, row in enumerate(law.rows) if u != known.users[t]]
        chances = [law.chance(row, facts, told) if law.allowed(row) else 0.0 for row in others]
        stranger = law.stranger(facts, others, told)
        best = max(chances, default=0.0)
        assert (each["tied"] > 0) == (best > 0)
        if best:
            assert each["stranger"] == pytest.approx(stranger / best, rel=1e-9)
            assert each["mass"] / mass_unit(ratings.n_users) == pytest.approx(sum(chances) / best)
            assert each["tied"] == sum(chance >= best * (1 - 1e-9) for chance in chances)
        else:
            assert each["stranger"] == (np.inf if stranger > 0 else 0)


@at_least(60)
@given(ratings_tables(max_users=7, max_items=5), knowledges, st.integers(0, 99))
def test_fixed_weights_are_those_of_the_definition(
    ratings: Any, knowledge: Knowledge, seed: int
) -> None:
    view = look(ratings, None, None)
    knowledge = usable(knowledge, view)
    known, _ = attacked(view, knowledge, seed)
    if not len(known):
        return
    for t, each in enumerate(weigh_plainly(view, known)):
        facts, user = facts_of(known, t), known.users[t]
        scores = np.array([naive.plain(ratings, facts, u) for u in range(ratings.n_users)])
        chances = np.exp(scores - scores.max())
        assert each["mass"] / mass_unit(ratings.n_users) == pytest.approx(chances.sum())
        assert 2.0 ** each["right"] == pytest.approx(chances[user])
        assert each["tied"] == (chances >= 1 - 1e-9).sum()
        assert each["right_tied"] == (chances[user] >= 1 - 1e-9)


@at_least(40)
@given(
    ratings_tables(
        scales=(Scale(1, 5, 1),), min_users=3, max_users=8, max_items=4, with_days=False
    ),
    knowledges,
    st.sampled_from(["keep", "drop"]),
)
def test_the_ceiling_sums_the_original_rows_of_each_class(
    ratings: Any, knowledge: Knowledge, rare: Any
) -> None:
    try:
        release = KLikeness(k=2, rare_items=rare).anonymize(ratings, rng=0)
    except StarshadeError:
        return
    view = look(release, ratings, None)
    knowledge = replace(usable(knowledge, view), about_count=False)
    known, _ = attacked(view, knowledge, 1)
    if not len(known):
        return
    law, rows = law_of(view, knowledge), view.row_of_user
    found = ceiling_of(view, knowledge, known)
    for t, credit in enumerate(found):
        facts = facts_of(known, t)
        masses = np.zeros(view.cells.n_groups)
        for user in np.flatnonzero(rows >= 0):
            if knowledge.eligible_users(ratings)[user]:
                masses[rows[user]] += law.chance_of_record(law.rows[user], facts)
        best = masses >= masses.max() * (1 - 1e-9)
        assert credit == best[rows[known.users[t]]] / best.sum()


def test_whoever_is_far_behind_the_absent_is_weighed_all_the_same() -> None:
    rows = [dict.fromkeys(range(20), 5.0), {0: 5.0, 20: 1.0}, {20: 1.0}]
    view = look(table(rows, Scale(1, 5, 1), n_items=200), None, None)
    known = Knowledge(known=20).draw(view.original, np.array([0]), 0)
    (found,) = weigh_plainly(view, known, Sought(view, absent=True))
    facts = facts_of(known, 0)
    scores = [naive.plain(view.original, facts, user) for user in range(3)]
    assert scores[0] - max(scores[1:]) > 45
    assert (found["tied"], found["top"]) == (1, 1)
    assert found["mass"] / mass_unit(3) == pytest.approx(1 + math.exp(scores[2] - scores[1]))


@at_least(60)
@given(
    st.data(), releases(linked=False) | releases(linked=True), knowledges, st.booleans(),
    st.sampled_from([None, 0.7]),
)  # fmt: skip
def test_blocks_of_rows_merge_to_the_bit(
    data: st.DataObject, both: Any, knowledge: Knowledge, plain: bool, spread: float | None
) -> None:
    original, released = both
    view = look(released, original, None)
    if not view.cells.symbols.n_members.all():
        spread = None
    knowledge = usable(knowledge, view)
    users = np.flatnonzero(knowledge.eligible_users(original))
    if not len(users):
        return
    known = knowledge.draw(original, users, 3)

    def weighed(**block: Any) -> Any:
        goal = Sought(view, **block)
        if plain:
            return weigh_plainly(view, known, goal)
        return Model(view, knowledge, spread).weigh(known, goal)

    edges = sorted(data.draw(st.lists(st.integers(0, view.cells.n_groups), max_size=3)))
    cuts = list(pairwise([0, *edges, view.cells.n_groups]))
    top = greatest([weighed(start=a, stop=b) for a, b in cuts])
    parts = [weighed(start=a, stop=b, greatest=top) for a, b in cuts]
    merged, whole = reduce(merge, parts), weighed()
    # where nobody of a block is left, no more cells of it are looked at
    for name in set(whole.dtype.names) - {"touched"}:
        assert np.array_equal(merged[name], whole[name]), name


def test_errors_and_silence_are_traced_by_how_sure_the_adversary_must_be() -> None:
    """By hand, of five targets: one has no named record, two of the others have a wrong one."""
    posterior, right = np.array([0.9, 0.5, 0.0, 0.8, 0.5]), np.array([1.0, 0.0, 0.0, 0.0, 1.0])
    found = silence_of(posterior, right)
    assert found.min_posterior == (0.5, 0.8, 0.9)
    assert found.abstained == pytest.approx((1 / 5, 3 / 5, 4 / 5))
    assert found.error == pytest.approx((2 / 5, 1 / 5, 0))
    assert silence_of(np.array([0.5]), np.array([0.0])) == Silence((0.5,), (0.0,), (1.0,))


def test_where_no_record_is_named_there_is_no_curve() -> None:
    for n in (0, 2):
        assert silence_of(np.zeros(n), np.zeros(n)) == Silence((), (), ())


def test_a_long_curve_keeps_both_ends() -> None:
    posterior = np.arange(1, 1001) / 1000
    found = silence_of(posterior, np.zeros(1000))
    assert len(found.min_posterior) == 200
    assert (found.min_posterior[0], found.min_posterior[-1]) == (0.001, 1.0)
    assert (found.abstained[0], found.abstained[-1]) == (0.0, 0.999)
    assert (found.error[0], found.error[-1]) == (1.0, 0.001)


@pytest.mark.parametrize("copies", [1, 2, 4])
def test_what_remains_unknown_of_equal_records_is_which_of_them_it_is(copies: int) -> None:
    """One rating tells the records apart, but for those that are equal: log2 of their number."""
    rows = [{0: 1}, {0: 5}, {1: 1}, {1: 5}] * copies
    found = Likelihood().run(table(rows, Scale(1, 5, 1)), Knowledge(known=1), rng=0)
    assert found.per_target.entropy_bits == pytest.approx(np.log2(copies), abs=1e-6)
    assert found.per_target.entropy_bits_profile == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("items", "known"), [(1, 1), (10, 4), (84, 4)])
def test_an_integral_over_few_items_is_exact(items: int, known: int) -> None:
    nodes, weights = nodes_of(items, known)
    assert len(nodes) == items // 2 + 1
    for power in (0, 1, items):
        assert weights @ nodes**power == pytest.approx(1 / (power + 1), rel=1e-12)


def test_an_integral_over_many_items_is_taken_near_its_end() -> None:
    nodes, weights = nodes_of(2000, 4)
    assert len(nodes) == 22 * 12  # of [0, 1] halved eleven times
    for power in (0, 1, 1000, 2000):
        assert weights @ nodes**power == pytest.approx(1 / (power + 1), rel=1e-9)
