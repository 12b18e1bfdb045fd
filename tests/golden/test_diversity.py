"""(b, l)-diversity and its repair, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from starshade.anonymize.predictive.diversity_repair import repair_diversity
from starshade.kernels.predictive.diversity_repair import bits_of_levels
from starshade.kernels.predictive.rated_sets import count_sets, rated_table
from starshade.privacy.item_diversity import Diversity
from starshade.ratings.scale import Scale
from starshade.release.build import Provenance
from starshade.release.profile_release import profile_release
from tests.strategies import table

A, B, C = range(3)
RATED = [{A: 3, B: 3}, {B: 3}, {B: 3, C: 3}, {B: 3}]
GROUPS = [0, 0, 1, 1]
VERDICTS = [((1, 1), True), ((1, 2), False), ((2, 1), True), ((2, 2), False)]


def released():
    return profile_release(
        table(RATED, Scale(1, 5, 1), n_items=3),
        np.array([[3, 3, 0], [0, 3, 3]], dtype=np.uint8),
        np.array(GROUPS),
        Provenance(method="by hand", seed=0, rare_items="keep"),
        step=1.0,
        profile="simple",
    )


@pytest.mark.parametrize(("asked", "holds"), VERDICTS)
def test_the_check(asked, holds):
    original = table(RATED, Scale(1, 5, 1), n_items=3)
    verdict = Diversity(*asked).check(released(), original=original)
    assert verdict.satisfied == holds
    assert verdict.classes == 2


def test_a_and_c_are_covered_once():
    verdict = Diversity(1, 2).check(released())
    assert [entry["items"] for entry in verdict.worst] == [[A], [C]]
    assert {entry["classes"] for entry in verdict.worst} == {1}


@pytest.mark.parametrize(("l", "edges"), [(1, 0), (2, 4)])
def test_repair_to_one_l(l, edges):  # noqa: E741
    shown = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    rated = np.array([0, 2, 3, 5, 6]), np.array([A, B, B, B, C, B], dtype=np.int32)
    sizes = np.array([2, 2])
    fakes = repair_diversity(
        shown, rated, lambda item: (np.ones(2), np.arange(2)), b=1, l=l, seed=0
    )
    assert sizes[fakes.group].sum() == edges
    shown[fakes.group, fakes.item] = True
    assert not count_sets(rated_table(*rated, bits_of_levels(shown)), 1, l).short.any()
