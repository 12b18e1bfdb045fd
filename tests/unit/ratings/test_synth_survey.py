"""A synthetic survey looks like a survey: wide bounds, several seeds where a seed matters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.synth.survey import draw_questionnaire
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings


@pytest.fixture(scope="module")
def survey() -> Ratings:
    return synthesize("survey", rng=5)


def rated(table: Ratings) -> NDArray[np.bool_]:
    return np.isfinite(table.dense())


def correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    both = np.isfinite(a) & np.isfinite(b)
    return float(np.corrcoef(a[both], b[both])[0, 1])


def people(table: Ratings, name: str) -> NDArray[np.object_]:
    assert table.attributes is not None
    return np.array(table.attributes[name].to_pylist())


def test_sizes_and_names(survey: Ratings) -> None:
    assert (survey.n_users, survey.n_items, str(survey.scale)) == (10_000, 20, "1:6:1")
    keys = [f"q{j:02d}" for j in range(1, 17)] + ["s01", "s02", "s03", "s04"]
    assert list(survey.items) == keys
    assert survey.days is None
    assert survey.item_names is not None
    assert survey.item_names[15:17] == ("Topic 4, question 4", "Sensitive question 1")
    open_items, sensitive = split_items(survey.items, ["s01", "s04"])
    assert len(open_items) == 18
    assert sensitive.tolist() == [16, 19]


@pytest.mark.parametrize(("n", "first", "last"), [(1, "q01", "q01"), (3, "q01", "s01"),
                                                  (130, "q001", "s026")])  # fmt: skip
def test_any_number_of_questions(n: int, first: str, last: str) -> None:
    table = synthesize("survey", n_users=3, n_items=n, rng=0)
    keys = list(table.items)
    assert (len(keys), keys[0], keys[-1]) == (n, first, last)
    assert keys == sorted(keys)


def test_a_respondent_is_the_same_among_many(survey: Ratings) -> None:
    few = synthesize("survey", n_users=700, rng=5)
    assert np.array_equal(few.dense(), survey.dense()[:700], equal_nan=True)
    assert few.attributes is not None
    assert survey.attributes is not None
    assert few.attributes.equals(survey.attributes.slice(0, 700))


def test_threads_do_not_matter(survey: Ratings) -> None:
    with budget.limits(threads=1):
        alone = synthesize("survey", rng=5)
    assert np.array_equal(alone.columns, survey.columns)
    assert np.array_equal(alone.codes, survey.codes)


def test_another_seed_is_another_survey(survey: Ratings) -> None:
    other = synthesize("survey", rng=6)
    assert not np.array_equal(rated(other), rated(survey))
    assert not np.array_equal(people(other, "Region"), people(survey, "Region"))


def test_every_answer_is_given_and_everybody_begins(survey: Ratings) -> None:
    values = survey.dense()
    assert rated(survey)[:, 0].all()
    for j in range(survey.n_items):
        shares = np.bincount(values[:, j][np.isfinite(values[:, j])].astype(int), minlength=7)[1:]
        assert (shares / shares.sum()).min() > 0.002


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_answers_on_one_topic_go_together(seed: int) -> None:
    values = synthesize("survey", rng=seed).dense()
    loading = draw_questionnaire(20, seed).loading
    within = [correlation(values[:, 1] * loading[1], values[:, 2] * loading[2])]
    within += [correlation(values[:, 16] * loading[16], values[:, 18] * loading[18])]
    across = abs(correlation(values[:, 1], values[:, 9]))
    assert min(within) > 0.2
    assert max(within) < 0.75
    assert across < min(within)


def test_blocks_are_left_out_as_a_whole(survey: Ratings) -> None:
    asked = rated(survey)
    gate, block = survey.dense()[:, 0], asked[:, 4:8]
    # who says 1 or 2 to the first question is never asked the second block
    assert not block[gate <= 2].any()
    assert block[gate > 2].mean() > 0.9
    assert 0.1 < (gate <= 2).mean() < 0.4
    # the rest are left out one by one, by few
    assert 0.001 < 1 - asked[:, 1:4].mean() < 0.05
    assert 0.3 < asked.all(axis=1).mean() < 0.7


def test_sensitive_questions_are_left_open_more_often(survey: Ratings) -> None:
    asked = rated(survey)
    assert 0.05 < 1 - asked[:, 16:].mean() < 0.2
    assert (1 - asked[:, 16:].mean(axis=0)).min() > 3 * (1 - asked[:, 1:4].mean(axis=0)).max()
    # by the same people
    silent = ~asked[:, 16:]
    stayed = asked[:, :16].sum(axis=1) >= 8
    both = (silent[stayed, 0] & silent[stayed, 1]).mean()
    assert both > 2 * silent[stayed, 0].mean() * silent[stayed, 1].mean()


def test_some_give_one_answer_throughout(survey: Ratings) -> None:
    values = survey.dense()
    many = rated(survey).sum(axis=1) >= 8
    flat = np.nanmax(values[many], axis=1) == np.nanmin(values[many], axis=1)
    assert 0.02 < flat.mean() < 0.045


def test_some_break_off(survey: Ratings) -> None:
    asked = rated(survey)
    nothing_later = (~asked[:, 12:]).all(axis=1)
    assert 0.01 < nothing_later.mean() < 0.05


def test_many_say_yes_to_anything() -> None:
    """Questions of opposite wording disagree less than those of the same wording agree."""
    gaps = []
    for seed in range(12):
        values = synthesize("survey", n_users=4000, rng=seed).dense()
        form = draw_questionnaire(20, seed)
        pairs = [(i, j) for i in range(16) for j in range(i) if form.topic[i] == form.topic[j]]
        by_wording: dict[bool, list[float]] = {True: [], False: []}
        for i, j in pairs:
            same = bool(form.loading[i] == form.loading[j])
            by_wording[same].append(correlation(values[:, i], values[:, j]))
        gaps.append(np.mean(by_wording[True]) + np.mean(by_wording[False]))
    assert 0.09 < np.mean(gaps) < 0.25


def test_people_are_plausible(survey: Ratings) -> None:
    age, school = people(survey, "Age").astype(float), people(survey, "Education")
    assert age.min() >= 18
    assert age.max() < 90
    assert np.array_equal(age, np.floor(age))
    assert 0.45 < (people(survey, "Gender") == "M").mean() < 0.55
    shares = np.unique(people(survey, "Region"), return_counts=True)[1] / survey.n_users
    assert len(shares) == 5
    assert shares.min() > 0.05
    assert age[school == "primary"].mean() > age[school == "university"].mean() + 5


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_gender_can_be_learnt_from_answers(seed: int) -> None:
    """A linear fit on one half tells more than the majority on the other."""
    table = synthesize("survey", rng=seed)
    values = table.dense()
    values = np.where(np.isfinite(values), values, np.nanmean(values, axis=0))
    x = np.hstack([values, np.ones((len(values), 1))])
    y = np.where(people(table, "Gender") == "M", 1.0, -1.0)
    weights = np.linalg.lstsq(x[:5000], y[:5000], rcond=None)[0]
    right = (np.sign(x[5000:] @ weights) == y[5000:]).mean()
    assert 0.58 < right < 0.9


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ConfigError, match="number of ratings cannot be chosen"):
        synthesize("survey", n_ratings=100)
    with pytest.raises(ConfigError, match="n_items 0"):
        synthesize("survey", n_items=0)
    with pytest.raises(ConfigError, match="at most 2,147,483,646 answers"):
        synthesize("survey", n_users=2_000_000_000, n_items=2)
    with budget.limits(memory=10_000_000), pytest.raises(ConfigError, match="GB may be used"):
        synthesize("survey", n_users=1_000_000)
