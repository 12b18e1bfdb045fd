"""(k, ε) and (k, ε, l) against their definitions, in every way of searching.

The two tests together look at 500 tables, each under every null rule; with the Hypothesis
profile ``thorough`` at 2,000.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.proximity.verdict import ProximityVerdict
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.naive import k_eps as naive
from tests.strategies import at_least, ratings_tables

STARS = Scale(1, 5, 1)
NULLS = ("strict", "ignore", "zero")
SEARCHES = ("tree", "slicing", "pairwise")
VOLATILE = {"seconds": 0.0}


@st.composite
def cases(draw: st.DrawFn, min_sensitive: int = 0) -> tuple[Ratings, int, float, float, list[int]]:
    """A table, k, ε, l, and which items are sensitive."""
    ratings = draw(ratings_tables(min_users=2, with_days=False))
    scale = ratings.scale
    k = draw(st.integers(2, ratings.n_users))
    steps = [0, 0.25, 0.5, 1, 2, 3.5, scale.cost_of_null, scale.cost_of_null - 0.25]
    eps = max(0.0, draw(st.sampled_from(steps)))
    l = draw(st.sampled_from([0.25, 0.5, 1, 2, 3]))  # noqa: E741
    item = st.integers(0, ratings.n_items - 1)
    assume(ratings.n_items > min_sensitive)
    most = ratings.n_items - 1
    sensitive = draw(st.lists(item, unique=True, min_size=min_sensitive, max_size=most))
    return ratings, k, eps, l, sensitive


def expected(
    ratings: Ratings,
    k: int,
    eps: float,
    nulls: str,
    sensitive: list[int],
    l: float,  # noqa: E741
) -> dict[str, Any]:
    """Work out from the definitions what a full verdict must say."""
    records = naive.records_of(ratings)
    items = [i for i in range(ratings.n_items) if i not in sensitive]
    balls = naive.balls(records, items, eps, nulls, ratings.scale)
    sizes = [len(ball) for ball in balls]
    values = [[[records[j][i] for j in ball] for i in sensitive] for ball in balls]
    spreads = [[naive.spread(column) for column in ball] for ball in values]
    low = [[sd is not None and sd < l - 1e-9 for sd in ball] for ball in spreads]
    raters = [[sum(v is not None for v in column) for column in ball] for ball in values]
    failing = [r for r, size in enumerate(sizes) if size < k or any(low[r])]
    return {
        "satisfied": not failing,
        "failing_records": len(failing),
        "smallest_class": min(sizes),
        "sizes": tuple((s, sizes.count(s)) for s in sorted(set(sizes))),
        "distinct_balls": len({frozenset(ball) for ball in balls}),
        "failing_by_size": sum(size < k for size in sizes),
        "failing_by_spread": tuple(sum(column) for column in zip(*low, strict=True)),
        "balls_without_rating": sum(0 in own for own in raters),
        "balls_with_one_rating": sum(
            any(n == 1 and not bad for n, bad in zip(own, fails, strict=True))
            for own, fails in zip(raters, low, strict=True)
        ),
        "failing": failing,
        "balls": balls,
        "spreads": spreads,
        "patterns": len({tuple(r[i] is None for i in items) for r in records}),
    }


def agree(verdict: ProximityVerdict, truth: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        assert getattr(verdict, name) == truth[name], name
    assert (verdict.witness is None) == verdict.satisfied
    assert len(verdict.worst) == min(5, len(truth["failing"]))
    for entry in verdict.worst:
        assert entry["row"] in truth["failing"]
        assert entry["size"] == len(truth["balls"][entry["row"]])
    if verdict.witness is not None:
        row = verdict.witness["row"]
        assert verdict.witness["records"] == sorted(truth["balls"][row])
        if "sd" in verdict.witness:
            assert verdict.witness["sd"] == pytest.approx(truth["spreads"][row], abs=1e-7)
    if verdict.patterns is not None:
        assert verdict.patterns == truth["patterns"]


BY_SIZE = ("satisfied", "failing_records", "smallest_class", "sizes", "distinct_balls")
ALL = (
    *BY_SIZE,
    "failing_by_size",
    "failing_by_spread",
    "balls_without_rating",
    "balls_with_one_rating",
)


def rounded(verdict: ProximityVerdict) -> dict[str, Any]:
    """What it says, spreads to 6 places: sums of floats may differ in the last ones."""
    told = verdict.to_dict() | VOLATILE
    told["worst"] = [e | {"sd": round(e["sd"] or 0, 6)} for e in told["worst"]]
    if "witness" in told:
        sd = [v if v is None else round(v, 6) for v in told["witness"]["sd"]]
        told["witness"] = told["witness"] | {"sd": sd}
    return told


@at_least(250)
@given(cases())
def test_every_search_says_what_the_definition_says(case: Any) -> None:
    ratings, k, eps, _, sensitive = case
    keys = [ratings.items[i] for i in sensitive]
    for nulls in NULLS:
        truth = expected(ratings, k, eps, nulls, sensitive, 0.0)
        verdicts = []
        for search in SEARCHES:
            model = KEpsAnonymity(k, eps, keys, nulls=nulls, search=search, full=True)
            verdicts.append(model.check(ratings))
            agree(verdicts[-1], truth, BY_SIZE)
            quick = replace(model, full=False).check(ratings)
            agree(quick, truth, ("satisfied", "failing_records"))
            assert quick.worst == verdicts[-1].worst
            assert quick.smallest_class == min(k, truth["smallest_class"])
            assert quick.smallest_class_exact == (not truth["satisfied"])
        assert all(v.to_dict() | VOLATILE == verdicts[0].to_dict() | VOLATILE for v in verdicts)


@at_least(250)
@given(cases(min_sensitive=1))
def test_spreads_are_those_of_the_definition(case: Any) -> None:
    ratings, k, eps, l, sensitive = case  # noqa: E741
    keys = [ratings.items[i] for i in sensitive]
    records = naive.records_of(ratings)
    for nulls in NULLS:
        models = [
            KEpsLAnonymity(k, eps, l, keys, nulls=nulls, search=search, full=True)
            for search in SEARCHES
        ]
        if naive.above_bound(records, sensitive, l):
            with pytest.raises(ConfigError, match="Theorem 1"):
                models[0].check(ratings)
            continue
        truth = expected(ratings, k, eps, nulls, sensitive, l)
        verdicts = [model.check(ratings) for model in models]
        for verdict in verdicts:
            agree(verdict, truth, ALL)
            assert rounded(verdict) == rounded(verdicts[0])


@given(cases())
def test_without_l_it_is_k_eps(case: Any) -> None:
    ratings, k, eps, _, sensitive = case
    keys = [ratings.items[i] for i in sensitive]
    plain = KEpsAnonymity(k, eps, keys).check(ratings).to_dict()
    none = KEpsLAnonymity(k, eps, 0, keys).check(ratings).to_dict()
    assert none.pop("parameters") == plain.pop("parameters") | {"l": 0.0}
    assert none.pop("model") == "k-eps-l"
    del plain["model"]
    assert none | VOLATILE == plain | VOLATILE
