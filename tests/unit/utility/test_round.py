"""The utility round: held-out ratings predicted from a release of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from starshade.errors import ConfigError, UnmetError
from starshade.ratings.scale import Scale
from starshade.recommend.means import Means
from starshade.utility import round as rounds
from starshade.utility.round import (
    UtilityRound,
    error_text,
    predict_held_out,
    read_cells,
    utility_round_of,
)
from starshade.utility.what_remains import WhatRemains
from tests.naive import predictions
from tests.naive import utility_round as naive
from tests.strategies import ratings_tables, table
from tests.unit.utility.cases import probe_of, probed, profiled
from tests.unit.utility.test_predictions import MEANS

HALF_STARS = Scale(0.5, 5, 0.5)


@given(probed())
def test_held_out_errors_are_those_of_the_slow_way(case):
    release, rest, held = case
    assume(rest.n_ratings)
    model = np.clip(predictions.means(rest.dense()), rest.scale.minimum, rest.scale.maximum)
    expected = naive.held_out_errors(release, rest, held, model)
    if expected is None:
        with pytest.raises(ConfigError, match=r"none of .* held-out rating"):
            predict_held_out(release, rest, held, 0, MEANS)
        return
    measured = predict_held_out(release, rest, held, 0, MEANS)
    del measured["held_out_trained"]
    assert measured == pytest.approx(expected, abs=1e-9)


@given(ratings_tables(with_days=False))
def test_means_are_those_of_the_slow_way(ratings):
    assume(ratings.n_ratings)
    overall, items, item_bias, user_bias = naive.means(ratings.dense().tolist())
    means = Means.of(ratings)
    assert means.overall == pytest.approx(overall)
    assert means.items == pytest.approx(np.array(items))
    assert means.item_bias == pytest.approx(np.array(item_bias), abs=1e-9)
    assert means.user_bias == pytest.approx(np.array(user_bias), abs=1e-9)


def test_user_and_item_means_by_hand():
    ratings = table([{0: 1.0, 1: 5.0}, {0: 3.0}], Scale(1, 5, 1))
    means = Means.of(ratings)
    assert means.overall == 3
    assert means.item_bias.tolist() == pytest.approx([-2 / 7, 2 / 6])
    first = (-2 + 2 / 7 + 2 - 2 / 6) / 12
    assert means.user_bias.tolist() == pytest.approx([first, (2 / 7) / 11])
    both = means.by_user_and_item(np.array([0]), np.array([1]))
    assert both.tolist() == pytest.approx([3 + 2 / 6 + first])


def test_predictions_from_means_stay_on_the_scale():
    ratings = table([{0: 5.0, 1: 1.0}] * 60 + [{1: 5.0, 2: 5.0, 3: 5.0}], Scale(1, 5, 1))
    means = Means.of(ratings)
    assert means.item_bias[0] + means.user_bias[60] + means.overall > 5
    assert means.by_user_and_item(np.array([60]), np.array([0])).tolist() == [5.0]


def test_a_null_cell_reads_as_the_mean_of_its_item_over_the_records():
    original = table([{0: 1.0, 1: 4.0}, {0: 4.5}, {0: 4.5}, {1: 2.0}], HALF_STARS)
    # levels of half stars: 1.0 is 2, 4.5 is 9; groups of 1, 2 and 1 records
    release = profiled(original, [[2, 8], [9, 0], [0, 4]], [0, 1, 1, 2], 0.5, "simple")
    rows = release.class_of_record[release.private.link.record]
    null = int(rows[3])
    read = read_cells(release, np.array([null, int(rows[0])]), np.array([0, 0]))
    assert read.tolist() == [pytest.approx((1.0 + 2 * 4.5) / 3), 1.0]


def test_an_item_of_which_nothing_is_shown_reads_as_the_middle_of_the_scale():
    original = table([{0: 1.0, 1: 4.0}, {0: 5.0}], Scale(1, 5, 1))
    release = profiled(original, [[3, 0]], [0, 0], 1.0, "simple")
    assert read_cells(release, np.array([0]), np.array([1])).tolist() == [3.0]


def held_out(read: float, means: float, covered: float) -> UtilityRound:
    return UtilityRound(
        recoverable_within_step=0.776,
        item_means_within_step=0.681,
        held_out_read=read,
        held_out_original=0.896,
        held_out_user_item_means=means,
        held_out_covered=covered,
        held_out_ratings=100,
        seed=0,
    )


@pytest.mark.parametrize(
    ("read", "means", "covered", "useful"),
    [
        (0.904, 0.931, 1.0, True),
        (0.931, 0.931, 0.5, True),
        (0.932, 0.931, 1.0, False),
        (0.904, 0.931, 0.49, False),
    ],
)
def test_useful_is_no_worse_than_means_on_half_of_the_ratings(read, means, covered, useful):
    assert held_out(read, means, covered).useful is useful


def test_the_two_lines():
    assert held_out(0.904, 0.931, 1.0).lines == (
        "Utility  77.6% of ratings recoverable within one step (item means 68.1%)",
        "         held-out RMSE .904: original .896, user + item means .931",
    )
    assert held_out(0.904, 0.931, 0.999).lines[1:] == (
        "         held-out RMSE .904 (covers 99.9% of held-out ratings):",
        "         original .896, user + item means .931",
    )
    assert held_out(1.427, 0.98, 0.0475).lines[1:] == (
        "         not useful: held-out RMSE 1.43 (covers 4.8% of held-out ratings):",
        "         user + item means .980",
    )


def test_fewer_ratings_than_item_means_recover_are_said():
    fewer = replace(
        held_out(0.904, 0.931, 1.0), recoverable_within_step=0.43, utility_suppressed=0.21
    )
    assert fewer.lines[1] == (
        "         fewer than a list of item means recovers; 21.0% of the ratings are gone"
    )


errors = st.floats(0, 1e6, allow_nan=False)


@given(errors, errors, errors, st.floats(0.001, 1), st.floats(0, 1), st.floats(0, 1))
@example(0.9, 0.9, 0.9, 1.0, 0.1, 0.9)
def test_two_lines_fit_80_columns(read, original, means, covered, kept, items):
    shown = replace(
        held_out(min(read, 9_999), min(means, 9_999), covered),
        held_out_original=min(original, 9_999),
        recoverable_within_step=kept,
        item_means_within_step=items,
    )
    assert all(len(line) <= 80 for line in shown.lines)
    if max(read, original, means) < 999.5:
        assert len(shown.lines) == 2 + (kept < items) + (covered < 1)


@given(st.floats(0, 999.4))
def test_an_error_has_three_digits(error):
    text = error_text(error)
    assert len(text) <= 4
    assert abs(float(text) - error) <= max(0.0005, error * 0.0051)


def measure(ratings, remake):
    release = remake(ratings)
    remains = WhatRemains().measure(release, ratings).figures
    return utility_round_of(ratings, release, remake, seed=0, remains=remains)


def test_the_second_release_lacks_the_ratings_held_out():
    made = []

    def remake(rest):
        made.append(rest)
        rows = [[3] * rest.n_items]
        return profiled(rest.drop_empty_users(), rows, [0] * int((rest.user_support > 0).sum()), 1)

    ratings = table([{0: 4.0, 1: 2.0, 2: 3.0, 3: 5.0}] * 10, Scale(1, 5, 1))
    measured = measure(ratings, remake)
    assert [rest.n_ratings for rest in made] == [40, 36]
    assert measured.held_out_ratings == 4
    assert measured.held_out_covered == 1
    assert measured.share_of_people == 1
    assert measured.users_left_out == 0


def test_at_most_so_many_ratings_are_held_out(monkeypatch):
    monkeypatch.setattr(rounds, "MOST_HELD_OUT", 2)
    ratings = table([{0: 4.0, 1: 2.0, 2: 3.0, 3: 5.0}] * 10, Scale(1, 5, 1))
    rest = []
    with pytest.raises(UnmetError):
        rounds.held_out_errors(ratings, lambda each: rest.append(each) or refused(each), 0)
    assert rest[0].n_ratings == 38


def refused(_rest):
    raise UnmetError("fewer than k people are left")


def test_a_rest_that_cannot_be_released_is_not_measured_and_says_why():
    ratings = table([{0: 4.0, 1: 2.0, 2: 3.0, 3: 5.0}] * 10, Scale(1, 5, 1))
    release = profiled(ratings, [[4, 2, 3, 5]], [0] * 10, 1.0)
    remains = WhatRemains().measure(release, ratings).figures
    measured = utility_round_of(ratings, release, refused, seed=0, remains=remains)
    assert measured.not_measured == "fewer than k people are left"
    assert measured.useful is None
    assert measured.held_out_read is None
    assert measured.recoverable_within_step == 1
    assert measured.lines[1] == (
        "         held-out RMSE not measured: fewer than k people are left"
    )


def test_without_a_key_file_nothing_is_measured():
    measured = UtilityRound(seed=0, not_measured="no key file")
    assert measured.lines == ("Utility  not measured: it takes the private key file",)
    assert measured.to_dict()["useful"] is None


@pytest.mark.parametrize("constant", [1.0, 5.0])
def test_constant_ratings_are_read_without_error(constant):
    rows = [{0: constant, 1: constant, 2: constant}] * 12
    rows[3] = {}  # someone without a rating
    rest = table(rows, Scale(1, 5, 1))
    release = profiled(rest.drop_empty_users(), [[int(constant)] * 3], [0] * 11, 1.0)
    held = probe_of(rest, {(3, 0): constant, (4, 1): constant})
    rest = replace_without(rest, 4, 1)
    measured = predict_held_out(release, rest, held, 0, MEANS)
    assert measured["held_out_covered"] == 0.5  # who has no rating in the rest has no record
    assert measured["held_out_read"] == measured["held_out_user_item_means"] == 0


def replace_without(ratings, user, item):
    dense = ratings.dense()
    dense[user, item] = np.nan
    rows = [{i: v for i, v in enumerate(row) if v == v} for row in dense.tolist()]
    return table(rows, ratings.scale, n_items=ratings.n_items)


def test_of_very_many_cells_a_model_learns_from_some_rows(monkeypatch):
    rest = table([{0: 4.0, 1: 2.0}, {0: 5.0, 1: 1.0}, {0: 4.0, 1: 1.0}] * 4, Scale(1, 5, 1))
    rest = replace_without(rest, 0, 1)
    release = profiled(rest, [[4, 2], [5, 1], [4, 1]], [0, 1, 2] * 4, 1.0)
    held = probe_of(rest, {(0, 1): 2.0})
    whole = predict_held_out(release, rest, held, 0, MEANS)
    monkeypatch.setattr(rounds, "LEARNED", 2)  # cells: one row of three
    some = [predict_held_out(release, rest, held, seed, MEANS) for seed in range(8)]
    trained = {each["held_out_trained"] for each in some}
    assert None in trained  # a row that is not the person's
    assert len(trained) == 2
    assert all(each["held_out_read"] == whole["held_out_read"] for each in some)


def test_one_giant_user_and_empty_ones():
    rows = [{i: float(1 + i % 5) for i in range(30)}] + [{}] * 5 + [{0: 3.0}] * 3
    ratings = table(rows, Scale(1, 5, 1), n_items=30)

    def remake(rest):
        people = rest.drop_empty_users()
        return profiled(people, [[3] * 30], [0] * people.n_users, 1.0)

    measured = measure(ratings, remake)
    assert measured.held_out_ratings == 3
    assert measured.held_out_read is not None
