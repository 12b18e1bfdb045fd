"""Attacks on averaged profiles: against their slow twins, in blocks, and small cases by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.candidates.candidates import LabelAttack, Scoreboard, StructureAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.targets import choose_targets
from starshade.attack.view import averaged as means_in
from starshade.attack.view import known_items, look
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive import candidates as candidates_of
from tests.strategies import table
from tests.unit.attack import test_candidates, test_homogeneity, test_scoreboard_rh
from tests.unit.attack.profiles import FIVE, KINDS, averaged, averaged_releases
from tests.unit.attack.test_candidates import THETAS, WITHIN
from tests.unit.attack.test_link_existence import PRIORS, Fraction
from tests.unit.attack.test_link_existence import check_against_twin as check_links
from tests.unit.attack.test_scoreboard_rh import ATTACKS, knowledge_of

CASES = averaged_releases()
Case = tuple[Ratings, Release]


@given(st.data(), CASES, WITHIN, THETAS, st.booleans())
def test_candidates_are_the_twins(
    data: st.DataObject, case: Case, within: candidates_of.Within, theta: float, absent: bool
) -> None:
    original, released = case
    known = data.draw(knowledge_of(original))
    test_candidates.check_against_twin(released, original, known, within, theta, absent=absent)


@given(st.data(), CASES, ATTACKS)
def test_scores_are_the_twins(data: st.DataObject, case: Case, attack: ScoreboardRH) -> None:
    original, released = case
    attack = replace(attack, absent=False)
    known = data.draw(knowledge_of(original))
    test_scoreboard_rh.check_against_twin(attack, released, original, known)


@given(st.data(), CASES, WITHIN)
def test_what_is_shared_is_the_twins(
    data: st.DataObject, case: Case, within: candidates_of.Within
) -> None:
    original, released = case
    known = data.draw(knowledge_of(original))
    test_homogeneity.check_against_twin(released, original, known, within)


@given(CASES, PRIORS)
def test_links_are_the_twins_in_blocks_too(case: Case, prior: Fraction | None) -> None:
    original, released = case
    assume(original.n_ratings > 0)
    check_links(released, original, prior)


@given(st.data(), st.sampled_from(KINDS), st.integers(2, 4))
def test_nobody_is_pointed_at_more_often_than_1_in_k(
    data: st.DataObject, kind: str, k: int
) -> None:
    """PA Thm 6.1, for every target and every attack on records."""
    from tests.strategies import ratings_tables

    original = data.draw(ratings_tables(scales=(FIVE,), min_users=k, max_users=12))
    assume(original.n_ratings > 0)
    groups = np.minimum(np.arange(original.n_users) // k, original.n_users // k - 1)
    released = averaged(original, groups, kind, step=0.05, k=k)
    for attack in (LabelAttack(), StructureAttack(), Scoreboard(), ScoreboardRH()):
        result: Any = attack.run(released, Knowledge(known=1), original=original, rng=0)
        told = result.per_target
        credit = told.expected_top1 if isinstance(attack, ScoreboardRH) else told.credit
        assert credit.max(initial=0) <= 1 / k + 1e-9


def pair() -> tuple[Ratings, Release]:
    """Two of whom one rated A = 5 and both B (4, 5): B is averaged to 4.5; C nobody rated."""
    original = table([{0: 5, 1: 4}, {1: 5}, {2: 1}, {2: 1}], FIVE, n_items=3)
    return original, averaged(original, np.array([0, 0, 1, 1]), "simple", step=0.05)


def test_half_a_star_is_allowed_on_averages_alone() -> None:
    original, released = pair()
    knows = Knowledge(known=2)
    found = LabelAttack().run(released, knows, original=original, rng=0)
    assert found.config["tolerance"] == 0.5
    assert found.per_target.candidates.tolist() == [2]  # A = 5 and B = 4 against 5 and 4.5
    exact = LabelAttack(tolerance=0).run(released, knows, original=original, rng=0)
    assert exact.per_target.candidates.tolist() == [0]
    assert LabelAttack().run(original, knows, rng=0).config["tolerance"] == 0
    assert HomogeneityAttack().run(original, knows, rng=0).config["tolerance"] == 0
    assert HomogeneityAttack().run(released, knows, original=original, rng=0).config[
        "tolerance"
    ] == pytest.approx(0.5)


def test_what_a_profile_says_is_the_group_s_opinion() -> None:
    original, released = pair()
    result = HomogeneityAttack().run(released, Knowledge(known=1), original=original, rng=3)
    assert result.averaged
    assert result.profile_disclosed.rate == result.profile_found.rate == 1
    # of the first two one cell is left besides; only the first rated both
    cells = result.cells_disclosed
    assert cells.single_rated == 1 / 2
    assert cells.single_near == 1
    assert "an estimate of the class's opinion" in str(result)


def test_an_empty_cell_of_a_simple_profile_proves_that_nobody_rated() -> None:
    original, released = pair()
    result = LinkExistence().run(released, original=original)
    assert (result.edges, result.missing) == (6, 6)
    assert (result.missing_share, result.missing_true) == (1 / 2, 1)
    assert result.confidence == pytest.approx((1 + 2 + 2) / 6)  # A 1/2, B and C 1, two each
    assert "50.0% of cells show no rating; in 100.0% of these there was none." in str(result)


@pytest.mark.parametrize("kind", ["padded", "model"])
def test_a_cell_of_a_filled_profile_says_nothing(kind: str) -> None:
    original, _ = pair()
    released = averaged(original, np.array([0, 0, 1, 1]), kind, step=0.05)
    result = LinkExistence().run(released, original=original)
    assert (result.edges, result.missing, result.missing_true) == (12, 0, None)
    assert result.confidence == pytest.approx(original.n_ratings / 12)
    assert result.all_filled
    assert "does not disclose that a rating exists" in str(result)


def test_only_the_items_of_the_original_are_looked_at() -> None:
    original, released = pair()
    few = original.keep_items(np.array([1, 2]))
    view = look(released, few, None)
    assert view.cells.n_items == 2
    assert LinkExistence().run(released, original=few).edges == 4
    strange = replace(few, items=table([{}], FIVE, n_items=9).items.take(np.array([7, 8])))
    with pytest.raises(ConfigError, match="no item in common"):
        look(released, strange, None)


PLAIN = st.sampled_from(
    (
        ScoreboardRH(),
        ScoreboardRH(theta=0.5),
        ScoreboardRH(absent=True),
        LabelAttack(),
        StructureAttack(),
        Scoreboard(rating_error=1.0, absent=True),
        HomogeneityAttack(),
        Likelihood(),
        Likelihood(absent=True),
        Likelihood(adversary="plain"),
    )
)


@given(CASES, PLAIN, st.sampled_from((1, 2, 3)), st.sampled_from(("value", "item")), st.booleans())
def test_columns_say_what_rows_say(
    case: Case, attack: Any, known: int, wrong_kind: Any, told: bool
) -> None:
    original, released = case
    knows = Knowledge(known=known, wrong=known // 2, wrong_kind=wrong_kind, about_count=told)
    assume(not (attack.absent and released.private is None))

    def answer() -> Any:
        again = replace(released, classes=replace(released.classes))
        try:
            return attack.run(again, knows, original=original, rng=0)
        except ConfigError as error:
            return error.message

    by_columns = answer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.attack.view.released_cells", rows_of_profiles)
        by_rows = answer()
    if isinstance(by_rows, str):
        assert by_columns == by_rows
        return
    for name, value in vars(by_rows.per_target).items():
        found = getattr(by_columns.per_target, name)
        if value is None or value.dtype.kind != "f":
            assert np.array_equal(found, value), name
        else:
            assert found == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), name


def rows_of_profiles(release: Release, items: Any = None) -> Any:
    """The sparse rows of a release of profiles."""
    classes: Any = release.classes
    return (classes if items is None else known_items(classes, items)).cells()


def large() -> tuple[Ratings, Release]:
    """Eighty people of whom each rated all of 300 items."""
    rng = np.random.default_rng(0)
    rows = [{i: float(rng.integers(1, 6)) for i in range(300)} for _ in range(80)]
    original = table(rows, FIVE)
    return original, averaged(original, np.arange(80) // 2, "simple", step=0.5)


def test_profiles_are_attacked_within_less_than_their_rows_would_take() -> None:
    original, released = large()
    # 40 x 300 cells: as rows and postings they would take fifteen bytes each
    with budget.limits(memory=100_000):
        found = LabelAttack().run(released, Knowledge(known=4), original=original, rng=0)
        assert found.records == found.targets == 80
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("starshade.attack.link_existence.link_existence._BLOCK", 3_000)
            assert LinkExistence().run(released, original=original).edges == 24_000


def test_a_file_of_columns_and_few_targets_at_once_change_nothing() -> None:
    original, released = large()
    attacks = (ScoreboardRH(), LabelAttack(), StructureAttack(), HomogeneityAttack(), Likelihood())

    def answers() -> list[Any]:
        again = replace(released, classes=replace(released.classes))  # nothing is kept of it
        runs = (
            attack.run(again, Knowledge(known=3), original=original, rng=0) for attack in attacks
        )
        told = [result.to_dict() for result in runs]
        times = ("seconds", "postings_per_second", "read_seconds")
        return [{k: v for k, v in each.items() if k not in times} for each in told]

    expected = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.release.columns.POSTED", 40 * 3 * 7)
        patch.setattr("starshade.scratch._IN_MEMORY", 0)
        assert answers() == expected


def test_only_profiles_are_averaged() -> None:
    ratings = table([{0: 1}, {0: 2}, {0: 1}, {0: 2}], FIVE)
    assert not means_in(ratings)
    assert not means_in(KLikeness(k=2).anonymize(ratings, rng=0))
    assert means_in(averaged(ratings, np.array([0, 0, 1, 1]), "simple", step=0.5))


@pytest.mark.parametrize("targets", [0, -1])
def test_at_least_one_person_is_attacked(targets: int) -> None:
    ratings = table([{0: 1}, {0: 2}], FIVE)  # nobody has eight: that is said afterwards
    with pytest.raises(ConfigError, match=f"targets {targets}: a whole number"):
        choose_targets(look(ratings, None, None), Knowledge(known=8), targets, 0)
