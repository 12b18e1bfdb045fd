"""The proximity graph, its components, and what a partition into cliques proves."""

from __future__ import annotations

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.balls.cliques import components, grow_cliques
from starshade.privacy.k_eps import KEpsAnonymity
from starshade.privacy.proximity import graph_result
from starshade.privacy.proximity.graph_result import ProximityGraph
from starshade.ratings.scale import Scale
from starshade.release.cells import cells_of
from tests.golden.sr import SENSITIVE, TABLE_2
from tests.naive import cliques as naive
from tests.naive import k_eps
from tests.strategies import ratings_tables, table
from tests.unit.privacy.test_k_anonymity import release_of

STARS = Scale(1, 5, 1)


@st.composite
def graphs(draw: st.DrawFn) -> list[set[int]]:
    """For each vertex its neighbours and itself."""
    n = draw(st.integers(1, 9))
    pairs = list(combinations(range(n), 2))
    near = [{v} for v in range(n)]
    for a, b in draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else ():
        near[a].add(b)
        near[b].add(a)
    return near


def csr(near: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.concatenate([[0], np.cumsum([len(own) for own in near])])
    return indptr, np.array([v for own in near for v in sorted(own)])


@given(graphs())
def test_components_are_those_of_the_twin(near: list[set[int]]) -> None:
    label = components(*csr(near))
    found = [set(np.flatnonzero(label == c).tolist()) for c in range(label.max() + 1)]
    assert found == naive.components(near)


@settings(max_examples=200)
@given(graphs(), st.integers(2, 4), st.randoms(use_true_random=False))
def test_one_pass_grows_the_cliques_of_the_twin(near, k, random) -> None:
    order = list(range(len(near)))
    random.shuffle(order)
    label = grow_cliques(*csr(near), np.array(order), k)
    found = [set(np.flatnonzero(label == c).tolist()) for c in range(label.max() + 1)]
    assert found == naive.grow_cliques(near, order, k)


@settings(max_examples=150)
@given(
    ratings_tables(min_users=2, max_users=8, with_days=False),
    st.sampled_from([0, 0.5, 1, 2, 4]),
    st.sampled_from(["strict", "ignore", "zero"]),
    st.integers(2, 4),
)
def test_the_graph_is_that_of_the_definition_and_proofs_are_true(ratings, eps, nulls, k) -> None:
    k = min(k, ratings.n_users)
    graph = ProximityGraph(eps, nulls=nulls).of(ratings).decomposed(k)
    records, items = k_eps.records_of(ratings), list(range(ratings.n_items))
    balls = k_eps.balls(records, items, eps, nulls, ratings.scale)
    assert graph.degrees.tolist() == [len(ball) - 1 for ball in balls]
    assert graph.edges == sum(graph.degrees) // 2
    label = graph.component
    parts = [set(np.flatnonzero(label == c).tolist()) for c in range(label.max() + 1)]
    assert parts == naive.components(balls)
    holds = KEpsAnonymity(k, eps, nulls=nulls).check(ratings).satisfied
    possible = all(naive.decomposable(balls, frozenset(part), k) for part in parts)
    found = graph.decomposition
    assert found is not None
    assert (found.outcome == "impossible") == (not holds)
    if found.outcome == "found":
        assert possible
        assert found.left == 0
        sizes = np.bincount(found.clique_of_record)
        assert (sizes.min(), sizes.max(), len(sizes)) == (
            found.smallest, found.largest, found.cliques,
        )  # fmt: skip
        assert found.smallest >= k
        for c in range(found.cliques):
            members = set(np.flatnonzero(found.clique_of_record == c).tolist())
            assert all(members <= balls[v] for v in members)
    if found.outcome == "not found":
        assert found.left > 0
    assert "proves" in str(found) or found.outcome == "impossible"


def test_k_eps_may_hold_where_no_partition_exists() -> None:
    # balls {1,2,3,4}, {1,2,3}, {1,2,3,4}, {1,3,4}: three each, but 2 and 4 are far apart
    first = TABLE_2.keep_users(np.arange(4))
    graph = ProximityGraph(2, SENSITIVE).of(first).decomposed(3)
    assert graph.decomposition is not None
    assert (graph.decomposition.outcome, graph.decomposition.left) == ("not found", 1)
    assert "which proves nothing" in str(graph)
    assert KEpsAnonymity(3, 2, SENSITIVE).check(first).satisfied


def test_the_first_order_takes_those_with_few_neighbours_first(monkeypatch) -> None:
    path = [{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3}]
    assert (grow_cliques(*csr(path), np.array([1, 2, 0, 3]), 2) < 0).sum() == 2
    monkeypatch.setattr(graph_result, "_DRAWN", 0)
    ratings = table([{0: 2}, {0: 3}, {0: 1}, {0: 4}], STARS)  # 1-2-3-4, the middle rows first
    found = ProximityGraph(1).of(ratings).decomposed(2).decomposition
    assert found is not None
    assert found.outcome == "found"
    assert found.clique_of_record.tolist() == [0, 1, 0, 1]


# one component that the first order does not get through
HARD = [
    (1, 2, 1), (1, 3, 4), (3, 3, 4), (2, 2, 1), (2, 2, 3),
    (4, 1, 2), (1, 2, 2), (3, 3, 2), (2, 3, 4), (4, 2, 2),
]  # fmt: skip


def test_each_component_is_tried_until_an_order_works(monkeypatch) -> None:
    rows = [{i: float(v) for i, v in enumerate(row)} for row in HARD]
    ratings = table(rows + [{3: 1.0}] * 2, STARS)  # and one that every order gets through
    graph = ProximityGraph(1).of(ratings)
    assert graph.component_sizes.tolist() == [10, 2]
    found = graph.decomposed(2).decomposition
    assert found is not None
    assert (found.outcome, found.left) == ("found", 0)
    near = [set(graph.members[a:b].tolist()) for a, b in pairwise(graph.indptr)]
    for c in range(found.cliques):
        members = set(np.flatnonzero(found.clique_of_record == c).tolist())
        assert len(members) >= 2
        assert all(members <= near[v] for v in members)
    monkeypatch.setattr(graph_result, "_DRAWN", 0)
    first = graph.decomposed(2).decomposition
    assert first is not None
    assert first.outcome == "not found"
    assert 0 < first.left < 10
    assert (first.clique_of_record[10:] >= 0).all()


def test_figures_are_plain_and_in_words() -> None:
    graph = ProximityGraph(2, SENSITIVE).of(TABLE_2).decomposed(2)
    told = json.loads(json.dumps(graph.to_dict()))
    assert told["components"] == {
        "number": 2, "smallest": 2, "largest": 4,
        "sizes": [{"size": 2, "components": 1}, {"size": 4, "components": 1}],
    }  # fmt: skip
    assert told["degrees"]["distribution"] == [
        {"degree": 1, "records": 2}, {"degree": 2, "records": 2}, {"degree": 3, "records": 2}
    ]  # fmt: skip
    assert (told["degrees"]["min"], told["degrees"]["mean"], told["degrees"]["max"]) == (1, 2, 3)
    assert told["edges"] == 6
    assert told["decomposition"]["outcome"] == "found"
    assert told["decomposition"]["proves_k_eps"]
    assert "3 cliques of 2 to 2 records" in str(graph)
    assert "<p>Proximity graph (eps = 2, nulls = strict)" in graph._repr_html_()
    assert ProximityGraph(2).of(TABLE_2).to_dict()["decomposition"] is None


def test_too_few_neighbours_refute() -> None:
    graph = ProximityGraph(1, SENSITIVE).of(TABLE_2).decomposed(3)
    assert graph.decomposition is not None
    assert graph.decomposition.outcome == "impossible"
    assert "does not hold for k = 3" in str(graph)


def test_a_release_is_drawn_too() -> None:
    assert ProximityGraph(2, SENSITIVE).of(release_of(cells_of(TABLE_2))).edges == 6


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(ConfigError, match="0 or more"):
        ProximityGraph(-1)
    with pytest.raises(ConfigError, match="strict, ignore or zero"):
        ProximityGraph(1, nulls="none")
    graph = ProximityGraph(1).of(TABLE_2)
    with pytest.raises(ConfigError, match="2 or more"):
        graph.decomposed(1)
    with pytest.raises(ConfigError, match="k = 7, records = 6"):
        graph.decomposed(7)
    with pytest.raises(ConfigError, match="records = 0"):
        ProximityGraph(1).of(table([], STARS, n_items=2))


def test_edges_must_fit() -> None:
    ratings = table([{0: 3}] * 600, STARS)  # 179,700 edges
    with (
        budget.limits(memory=2_000_000),
        pytest.raises(ConfigError, match=r"179,700 edges.*\n.*k-eps needs no graph"),
    ):
        ProximityGraph(1).of(ratings)


def test_what_is_no_data_and_no_list_is_refused() -> None:
    with pytest.raises(ConfigError, match="neither ratings nor a release"):
        ProximityGraph(eps=1).of("x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="list of item ids"):
        ProximityGraph(eps=1, sensitive=None)  # type: ignore[arg-type]


def test_one_thing_is_told_in_the_singular() -> None:
    alone = ProximityGraph(eps=-0.0).of(table([{0: 3}], STARS))
    assert "(eps = 0, nulls = strict): 1 record, 0 pairs" in str(alone)
    assert "of 1 to 1 record;" in str(alone)
    pairs = ProximityGraph(eps=0).of(table([{0: 1}, {0: 1}, {0: 5}], STARS)).decomposed(2)
    assert "fewer than 1 other lie around 1 record" in str(pairs)
