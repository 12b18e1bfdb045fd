from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph
from starshade.ratings.scale import Scale
from starshade.release.build import Provenance, record_release
from starshade.release.cells import cells_of
from starshade.release.table import Release
from tests.naive.k_anonymity import k_anonymous
from tests.strategies import ratings_tables, table
from tests.unit.utility.cases import profile_releases, profiled

STARS = Scale(1, 5, 1)


@given(ratings_tables(min_users=2, with_days=False), st.integers(2, 5))
def test_ratings_are_judged_as_the_twin_judges(ratings, k):
    assume(k <= ratings.n_users)
    verdict = ReviewGraph(k).check(ratings)
    expected = k_anonymous(cells_of(ratings), k)
    assert (verdict.satisfied, verdict.failing_records, verdict.smallest_class) == expected


@given(profile_releases(), st.integers(2, 4))
def test_profiles_are_judged_as_the_twin_judges_their_cells(made, k):
    release, _ = made
    assume(k <= release.n_records)
    verdict = ReviewGraph(k).check(release)
    expected = k_anonymous(release.cells(), k)
    assert (verdict.satisfied, verdict.failing_records, verdict.smallest_class) == expected
    assert KAnonymity(k).check(release).to_dict() | {"model": 0, "seconds": 0} == (
        verdict.to_dict() | {"model": 0, "seconds": 0}
    )


def test_rows_of_equal_levels_are_counted_together_wherever_they_stand():
    original = table([{0: 1.0}, {0: 2.0}, {0: 1.0}, {0: 5.0}], STARS)
    release = profiled(original, [[1], [2], [3]], [0, 1, 0, 2], 1.0)
    assert ReviewGraph(2).check(release).smallest_class == 1
    again = Release(release.manifest, release.classes.keep_rows(np.array([0, 1, 0, 2])))
    verdict = ReviewGraph(2).check(again)
    assert (verdict.records, verdict.failing_records) == (6, 2)
    assert verdict.worst == ({"row": 1, "size": 1}, {"row": 3, "size": 1})
    assert verdict.numbered


def test_profiles_are_not_turned_into_cells(monkeypatch):
    release = profiled(table([{0: 1.0}] * 4, STARS), [[3]], [0] * 4, 1.0)
    monkeypatch.setattr(Release, "cells", None)
    monkeypatch.setattr(type(release.classes), "cells", None)
    assert ReviewGraph(4).check(release).satisfied


def test_days_and_people_are_outside_the_graph():
    ratings = table([{0: 3.0}] * 2, STARS, days=[{0: 1}, {0: 2}])
    assert not KAnonymity(2).check(ratings).satisfied
    assert ReviewGraph(2).check(ratings).satisfied
    people = table([{0: 3.0}] * 2, STARS).annotate(attributes=pa.table({"age": [1.0, 2.0]}))
    release = record_release(
        people,
        people,
        Provenance(method="by hand", seed=0),
        attributes="exact",
    )
    assert ReviewGraph(2).check(release).satisfied


def test_the_same_items_with_other_ratings_are_another_graph():
    ratings = table([{0: 3.0, 1: 1.0}, {0: 3.0, 1: 2.0}, {0: 3.0}, {0: 3.0}], STARS)
    verdict = ReviewGraph(2).check(ratings)
    assert (verdict.satisfied, verdict.failing_records) == (False, 2)


@pytest.mark.parametrize("k", [1, 2.5, True, 5])
def test_an_impossible_k(k):
    with pytest.raises(ConfigError, match="k"):
        ReviewGraph(k).check(table([{0: 3.0}] * 4, STARS))
