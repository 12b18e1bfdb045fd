"""Attribute disclosure of averaged profiles: what is measured, and what it rests on."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from starshade import budget
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.attribute import ends_right, rounding_limit
from starshade.attack.view import look, roles_of
from starshade.audit.checks.attribute import (
    FIGURES,
    AttributeDisclosure,
    attribute_disclosure,
)
from starshade.audit.checks.inference import attribute
from starshade.audit.checks.policy import Threshold
from starshade.audit.original.table import OneTable
from starshade.figure import Rate
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive import low_rank as naive
from tests.strategies import table
from tests.unit.attack.profiles import FIVE, averaged, dense
from tests.unit.attack.test_padding import GROUPS, PEOPLE


def judged(
    release: Release, ends: tuple[int, int] | None = None, people: Ratings = PEOPLE
) -> AttributeDisclosure:
    return attribute_disclosure(OneTable(people, release), ends, 1)


def released(kind: str) -> Release:
    return averaged(PEOPLE, GROUPS, kind, step=0.05, k=3)


def test_of_means_everybody_with_a_cell_that_allows_one_rating_is_counted() -> None:
    """Groups of three: the mean is an end of the scale only if all who rated gave it."""
    release, rows = released("simple"), dense(PEOPLE)
    certain = set()
    for first in range(0, PEOPLE.n_users, 3):
        for i in range(PEOPLE.n_items):
            given = rows[first : first + 3, i]
            given = given[~np.isnan(given)]
            if len(given) and set(given) in ({1.0}, {5.0}):
                certain |= {u for u in range(first, first + 3) if rows[u, i] in (1.0, 5.0)}
    found = judged(release)
    assert found.attribute_disclosure == found.rated_at_end == len(certain) / PEOPLE.n_users
    assert 0.3 < found.attribute_disclosure < 1
    assert "allows only one rating" in str(found)


def test_predictions_hold_no_rating_while_rounding_explains_what_a_model_leaves() -> None:
    found, shown = judged(released("model")), released("model").classes.values()  # type: ignore[union-attr]
    assert found.attribute_disclosure == 0
    assert found.low_rank_limit == rounding_limit(0.05)
    assert found.low_rank_rms == pytest.approx(naive.fitted(shown, 4, (1.0, 5.0), 5)[1], rel=0.01)
    assert found.low_rank_rms < found.low_rank_limit
    assert f"(rms {found.low_rank_rms:.4f}, limit 0.0217)" in str(found)
    assert "no proof" in str(found)


def test_without_a_key_file_only_predictions_are_measured() -> None:
    for kind, expected in (("model", 0.0), ("padded", None), ("simple", None)):
        found = judged(replace(released(kind), private=None))
        assert found.attribute_disclosure == expected
        assert ("only the private key file" in str(found)) == (expected is None)
        assert found.rated_at_end is None


@pytest.mark.parametrize(("right", "readable"), [(19, True), (18, False)])
def test_padded_cells_are_readable_when_ends_are_right_in_95_of_100(
    right: int, readable: bool
) -> None:
    found = judged(released("padded"), (right, 20))
    assert found.rated_at_end
    assert found.attribute_disclosure == (found.rated_at_end if readable else 0)
    assert (found.ends_right, found.ends) == (right / 20, 20)
    assert f"{right / 20:.1%} of 20 rated cells" in str(found)
    assert found.low_rank_rms is None


def test_padded_people_are_those_who_rated_a_cell_at_an_end() -> None:
    release, rows = released("padded"), dense(PEOPLE)
    row_of_user = roles_of(release, PEOPLE, None).row_of_user
    shown = release.classes.values()[row_of_user]  # type: ignore[union-attr]
    at_end = np.isin(shown, (1.0, 5.0)) & ~np.isnan(rows)
    found = judged(release, (1, 1))
    assert found.rated_at_end == at_end.any(axis=1).mean()
    assert ends_right(look(release, PEOPLE, None)) == ((shown == rows)[at_end].sum(), at_end.sum())
    nearest = np.clip(np.floor(shown + 0.5), 1, 5)
    assert found.read_by_cell == pytest.approx((nearest == rows)[~np.isnan(rows)].mean())


def test_without_shadow_releases_padded_cells_are_not_measured() -> None:
    found = judged(released("padded"))
    assert found.attribute_disclosure is None
    assert "not measured: only shadow releases show" in str(found)
    assert found.read_by_residual is not None
    none_there = judged(released("padded"), (0, 0))
    assert none_there.attribute_disclosure is None
    assert "no shadow release has" in none_there.reason


def test_of_many_profiles_some_are_drawn_and_the_text_says_so() -> None:
    with budget.limits(memory=8 * 8 * 25 * PEOPLE.n_items):
        found = judged(released("model"))
    assert (found.profiles_fitted, found.profiles) == (25, 40)
    assert str(found).count("on 25 of 40 profiles") == 2
    assert "profiles" not in str(judged(released("padded"), (19, 20)))


def test_few_profiles_are_not_taken_for_predictions() -> None:
    """A model of rank 4 explains five profiles whatever they are."""
    for n, modelled in ((10, True), (9, False)):
        release = averaged(PEOPLE, np.arange(PEOPLE.n_users) % n, "model", step=0.05)
        found = judged(release)
        assert (found.low_rank_rms is not None) == (found.low_rank_limit is not None) == modelled
        assert found.rated_at_end == found.attribute_disclosure == 0
    assert "They rated no item whose cell is at an end of the scale." in str(found)


def test_predictions_that_a_model_does_not_explain_are_judged_as_padded() -> None:
    release = released("padded")
    called = replace(release, manifest=release.manifest.model_copy(update={"profile": "model"}))
    found, padded = judged(called, (19, 20)), judged(release, (19, 20))
    assert found.low_rank_rms is not None
    assert found.low_rank_rms > rounding_limit(0.05)
    assert found.attribute_disclosure == padded.attribute_disclosure


def test_all_people_equal_are_all_disclosed_by_means() -> None:
    people = table([{0: 5.0, 1: 3.0}] * 20, FIVE)
    release = averaged(people, np.arange(20) // 5, "simple", step=0.05)
    assert judged(release, people=people).attribute_disclosure == 1


def test_a_threshold_is_compared_with_the_share() -> None:
    limits = {"attribute": Threshold(Fraction(1, 5))}
    for kind, status in (("simple", "fail"), ("padded", "not measured")):
        found = judged(released(kind))
        check = attribute(None, limits, certain=found)
        assert check.status == status
        share = found.attribute_disclosure
        assert check.rate == (None if share is None else Rate(share, share, share))


def test_every_figure_is_a_field() -> None:
    found = judged(released("padded"), (19, 20))
    assert {each.key for each in FIGURES} <= set(found.to_dict())
    assert {each.key for each in found.found} == {
        *("attribute_disclosure", "rated_at_end", "ends_right"),
        *("read_by_residual", "read_by_cell"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "low", "high"), [("simple", 0.956, 0.976), ("pooled", 0, 0), ("model", 0, 0)]
)
def test_what_movielens_100k_discloses(
    ml100k_dir: Path, profile: str, low: float, high: float
) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    method = PredictiveAnonymizer(k=5, profile=profile, rare_items="keep")
    found = judged(method.anonymize(ratings, rng=1), people=ratings)
    assert found.attribute_disclosure is not None
    assert low <= found.attribute_disclosure <= high


@pytest.mark.slow
def test_padded_residuals_of_movielens_100k_are_read(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    release = PredictiveAnonymizer(k=5, profile="padded", rare_items="keep").anonymize(
        ratings, rng=1
    )
    found = judged(release, (19, 20), people=ratings)
    assert found.read_by_residual == pytest.approx(0.74, abs=0.01)
    assert found.attribute_disclosure == pytest.approx(0.11, abs=0.03)
