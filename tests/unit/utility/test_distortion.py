from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.measure import measure_all
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.utility.losses import (
    AverageClassSize,
    Discernibility,
    Distortion,
    GeneralizationLoss,
)
from tests.naive.record_release import distortion
from tests.strategies import table
from tests.unit.release.changes import k_eps, moved_tables, released, rows_of

STARS = Scale(1, 5, 1)
ROWS = [{0: 5, 1: 3}, {0: 4, 1: 3}, {1: 2}, {1: 2}, {0: 4, 1: 3}]


@given(moved_tables())
def test_it_is_summed_over_all_cells(drawn) -> None:
    original, rows = drawn
    release = released(original, rows)
    before = rows_of(original)
    figures = Distortion().measure(release, original).to_dict()
    slow = distortion(before, rows, original.scale.cost_of_null)
    assert figures["distortion"] == pytest.approx(slow)
    assert figures["distortion_per_record"] == pytest.approx(slow / len(rows))
    pairs = list(zip(before, rows, strict=True))
    assert figures["ratings_suppressed"] == sum(len(a.keys() - b.keys()) for a, b in pairs)
    assert figures["ratings_imputed"] == sum(len(b.keys() - a.keys()) for a, b in pairs)
    moved = sum(abs(a[i] - b[i]) > 1e-9 for a, b in pairs for i in a.keys() & b.keys())
    assert figures["ratings_moved"] == moved


def test_an_original_with_more_in_it_gives_the_same() -> None:
    wide = table([{**row, 2: 1} for row in [*ROWS, {0: 1}]], STARS)
    few = wide.keep_users(np.arange(5)).keep_items(np.array([0, 1]))
    moved = [{0: 4, 1: 3}, *ROWS[1:]]
    release = released(few, moved)
    assert Distortion().measure(release, wide).to_dict()["distortion"] == 1
    assert Distortion().measure(release, few).to_dict()["distortion"] == 1


def test_where_it_does_not_apply() -> None:
    original = table(ROWS, STARS)
    unlinked = replace(released(original), private=None)
    for release in (unlinked, KLikeness(2).anonymize(original, rng=0)):
        figures = Distortion().measure(release, original).to_dict()
        assert list(figures.values()) == [None] * 5
    without = Distortion().measure(released(original), None).to_dict()
    assert list(without.values()) == [None] * 5


def test_classes_are_counted_and_widths_do_not_apply() -> None:
    original = table(ROWS, STARS)
    release = released(original, claims=(k_eps(2, 1),))
    assert Discernibility().measure(release).to_dict() == {
        "dm": 9, "classes": 3, "smallest_class": 1
    }  # fmt: skip
    assert AverageClassSize().measure(release).to_dict() == {"c_avg": 5 / 6}
    assert GeneralizationLoss().measure(release, original).to_dict() == {"gen_iloss": None}


def test_a_link_of_other_people_is_refused() -> None:
    original = table(ROWS, STARS)
    moved = [{0: 4}, *ROWS[1:]]
    release = released(original, moved)
    assert measure_all(release, original)["distortion"] == 6
    turned = original.keep_users(np.array([2, 0, 1, 3, 4]))
    turned = replace(turned, users=original.users)
    with pytest.raises(ConfigError, match="do not belong together"):
        measure_all(release, turned)
    generalized = KLikeness(2, rare_items="keep").anonymize(original, rng=0)
    measure_all(generalized, original)
    turned = replace(original, users=Vocabulary(np.array([5, 4, 3, 2, 1])))
    with pytest.raises(ConfigError):
        measure_all(generalized, replace(turned, users=original.users, codes=turned.codes[::-1]))


def test_ratings_without_a_person_of_the_release_are_refused() -> None:
    original = table(ROWS, STARS)
    release = released(original, rows_of(original))
    others = original.keep_users(np.arange(1, original.n_users))
    with pytest.raises(ConfigError, match="1 of the 5 people in the release have no rating"):
        Distortion().measure(release, others)


@pytest.mark.parametrize(
    ("away", "moved"), [(0.0, 0), (0.9e-9, 0), (1.1e-9, 1), (1e-6, 1), (-0.9e-9, 0), (-0.25, 1)]
)
def test_a_real_rating_is_moved_from_1e_9_on(away: float, moved: int) -> None:
    original = table([{0: 0.5}, {0: 1.5}, {0: 1.5}], Scale(-10, 10))
    release = released(original, [{0: 0.5 + away}, {0: 1.5}, {0: 1.5}])
    figures = Distortion().measure(release, original).to_dict()
    assert figures["ratings_moved"] == moved
    assert figures["distortion"] == pytest.approx(abs(away), rel=1e-6, abs=0)


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_a_stepped_rating_is_moved_by_whole_steps(step: float) -> None:
    original = table([{0: 1}, {0: 1}, {0: 1}], Scale(1, 5, step))
    release = released(original, [{0: 1}, {0: 1 + step}, {0: 1 + 3 * step}])
    figures = Distortion().measure(release, original).to_dict()
    assert (figures["ratings_moved"], figures["distortion"]) == (2, 4 * step)
