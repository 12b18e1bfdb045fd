"""The likelihood attack beside its definition, draw by draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.informed import Model
from starshade.attack.targets import usable
from starshade.attack.view import View, look
from starshade.errors import StarshadeError
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.summary import mass_unit
from starshade.ratings.scale import Scale
from tests.naive import likelihood as naive
from tests.strategies import at_least, ratings_tables

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
        told = None if known.rating_counts is None else int(known.rating_counts[t])
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
