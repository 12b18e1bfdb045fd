"""k-Member and Mondrian as methods: hierarchy, groups on releases, tables too large."""

from __future__ import annotations

import numpy as np
import pytest

from starshade import budget
from starshade.anonymize.baselines import (
    KMember,
    Mondrian,
    MondrianRelaxed,
    member_groups,
    mondrian_groups,
    relaxed_groups,
)
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import Points
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from tests.naive.k_anonymity import contents
from tests.strategies import table

METHODS = [KMember, Mondrian, MondrianRelaxed]
every = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def some(n: int = 30):
    rng = np.random.default_rng(0)
    rows = [
        {int(i): float(rng.integers(1, 6)) for i in np.flatnonzero(rng.random(5) < 0.7)} or {0: 3.0}
        for _ in range(n)
    ]
    return table(rows, Scale(1, 5, 1), n_items=5)


@every
def test_cells_are_ranges_unless_another_hierarchy_is_named(method):
    release = method(3).anonymize(some(), rng=0)
    assert release.manifest.config == {"k": 3, "hierarchy": "range", "items": "all"}
    for members in (content for row in contents(release.classes) for content in row):
        told = sorted(v or 0 for v in members)
        assert told == list(range(int(told[0]), int(told[-1]) + 1))
    sets = method(3, "ndgh").anonymize(some(), rng=0)
    assert sets.manifest.config["hierarchy"] == "ndgh"
    assert sets.exact.groups == release.exact.groups


def test_each_method_groups_its_table_in_its_own_order():
    ratings = some()
    points = Points(ratings, np.empty((ratings.n_users, 0), np.uint8))
    dense = points.dense()
    order = {m: seeded_order(ratings.n_users, 7, m.name) for m in METHODS}
    expected = {
        KMember: member_groups(dense, 4, order[KMember]),
        Mondrian: mondrian_groups(dense, 4),
        MondrianRelaxed: relaxed_groups(dense, 4, order[MondrianRelaxed]),
    }
    for method, groups in expected.items():
        assert method(4).group(points, 7).tolist() == groups.tolist()
        assert np.bincount(groups).min() >= 4
        assert groups.max() > 0


@every
def test_a_table_beyond_the_budget_is_refused_in_words(method):
    with budget.limits(memory=700), pytest.raises(ConfigError, match="30 records x 5 items"):
        method(3).anonymize(some(), rng=0)
