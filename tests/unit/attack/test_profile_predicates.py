"""Singling out by profiles against its slow twin, and where the answer is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.low_rank import fit_low_rank, shown_profiles
from starshade.attack.shadows import profile_predicates
from starshade.attack.shadows.profile_predicates import (
    CUTOFFS,
    HASHES,
    TAUS,
    Choice,
    OneTable,
    Residuals,
    count_isolated,
    draw_classes,
    likelihood_ratios,
    log_sums_of_others,
    residual_evidence,
    summarize,
)
from starshade.attack.shadows.seen import Facts, Seen
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.columns import Columns
from starshade.release.table import Release
from tests.naive import profile_singling_out as naive
from tests.naive.membership import Fact, shadow_of
from tests.strategies import ratings_tables, table
from tests.unit.attack.profiles import FIVE, HALF, KINDS, averaged

SOME = slice(0, None, 11)  # of the many cut-offs
SCALES = FIVE, HALF, Scale(-10, 10), Scale(0, 1, 1)


def facts_of(ratings: Ratings) -> Facts:
    users, items = np.arange(ratings.n_users), ratings.columns.astype(np.int32)
    return Facts(users, ratings.indptr.astype(np.int64), items, ratings.values())


def known(ratings: Ratings) -> list[list[Fact]]:
    rows: list[list[Fact]] = [[] for _ in range(ratings.n_users)]
    user = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    for u, item, rating in zip(user, ratings.columns, ratings.values(), strict=True):
        rows[u].append((ratings.items[int(item)], float(rating)))
    return rows


def residuals_of(seen: Seen) -> naive.Residuals:
    cells = seen.view.cells
    assert isinstance(cells, Columns)
    shown = shown_profiles(cells, np.arange(cells.n_groups))
    expected = fit_low_rank(shown).of(shown)
    return naive.Residuals(
        [
            {key: None if math.isnan(v) else v for key, v in zip(cells.items, row, strict=True)}
            for row in shown.tolist()
        ],
        [dict(zip(cells.items, row, strict=True)) for row in expected.tolist()],
        float(np.std((shown - expected)[~np.isnan(shown)])) if (~np.isnan(shown)).any() else 0.0,
    )


def by_definition(
    ratings: Ratings,
    release: Release,
    made_of: Ratings,
    member: np.ndarray,
    kind: str,
    classes: list[int],
) -> dict[str, list[Any]]:
    shadow = shadow_of(release, made_of, 0.215 * ratings.scale.width)
    people = known(ratings)
    statistics = [[[naive.log_ratio(shadow, c, facts) for facts in people] for c in classes]]
    n, hashes = int(member.sum()), [1.0]
    cutoffs = [math.log(n / tau) for tau in TAUS]
    if kind != "model":
        cutoffs, hashes = list(CUTOFFS[SOME]), list(HASHES)
        rest, sizes = residuals_of(Seen.of(release, made_of)), shadow.sizes
        none = [[-math.inf] * len(people)] * len(classes)
        statistics += [
            [[rest.evidence(c, sizes[c], facts) for facts in people] for c in classes]
            if rest.spread > 1e-9
            else none
        ]
    inside, outside = (
        [[[v for v, w in zip(row, which, strict=True) if w] for row in each] for each in statistics]
        for which in (member, ~member)
    )
    return {
        "isolated": [[[naive.isolated(s, t, h) for h in hashes] for t in cutoffs] for s in inside],
        "baseline": [[[naive.isolated(s, t, h) for h in hashes] for t in cutoffs] for s in outside],
        "weight": [[naive.weight(s, t) for t in cutoffs] for s in outside],
        "counts": [n, len(people) - n, len(classes), len(shadow.rows)],
    }


@given(
    ratings_tables(scales=SCALES, min_users=12, max_users=18, max_items=7, with_days=False),
    st.sampled_from(KINDS),
    st.sampled_from([2, 3, 256]),
    st.integers(0, 2**31),
)
def test_counts_are_the_twins(ratings: Ratings, kind: str, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    member = np.arange(ratings.n_users) < 10
    inside = ratings.keep_users(np.flatnonzero(member))
    groups = np.unique(rng.integers(0, rng.integers(2, 10), 10), return_inverse=True)[1]
    release = averaged(inside, groups, kind, step=0.5)  # equal profiles become one class
    n_classes = release.classes.sizes.size
    if n_classes < 2:
        return
    people = OneTable(facts_of(ratings), member)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile_predicates, "MOST_CLASSES", most)
        some = draw_classes(n_classes, 0).tolist()
        answer = count_isolated(Seen.of(release, inside), people, kind, 0)
    assert len(set(some)) == min(most, n_classes)
    expected = by_definition(ratings, release, inside, member, kind, some)
    for name, values in expected.items():
        found = answer[name][:, SOME] if kind != "model" and name != "counts" else answer[name]
        assert found == pytest.approx(np.array(values), abs=1e-12), name


def case(kind: str, k: int = 1) -> tuple[Ratings, Seen, np.ndarray]:
    """Half of the people in a release of groups of k, half outside."""
    ratings = synthesize(n_users=60, n_items=25, n_ratings=700, rng=2)
    member = np.arange(60) < 30
    inside = ratings.keep_users(np.flatnonzero(member))
    release = averaged(inside, np.arange(30) // k, kind, step=0.25)
    return ratings, Seen.of(release, inside), member


@pytest.mark.parametrize("kind", ["padded", "simple"])
def test_both_statistics_are_the_twins(kind: str) -> None:
    ratings, seen, member = case(kind, 3)
    inside = ratings.keep_users(np.flatnonzero(member))
    shadow = shadow_of(averaged(inside, np.arange(30) // 3, kind, step=0.25), inside, 0.86)
    people, rest, every = known(ratings), residuals_of(seen), np.arange(len(seen.sizes))
    for statistic, of_class in (
        (likelihood_ratios(seen, facts_of(ratings), every, 0.0), naive.log_ratio),
        (
            residual_evidence(seen, facts_of(ratings), every, Residuals.of(seen.view.cells, 0)),
            lambda _, c, facts: rest.evidence(c, shadow.sizes[c], facts),
        ),
    ):
        values = np.full((60, len(shadow.rows)), np.nan)
        for some, classes, part in statistic:
            values[some, classes] = part
        expected = [
            [of_class(shadow, c, facts) for c in range(len(shadow.rows))] for facts in people
        ]
        assert values == pytest.approx(np.array(expected), rel=1e-6, abs=1e-6)


def test_everybody_is_singled_out_by_their_own_row() -> None:
    stars = np.random.default_rng(0).integers(1, 6, (40, 30)).astype(float)
    ratings = table([dict(enumerate(row)) for row in stars.tolist()], FIVE)
    member = np.arange(40) < 20
    inside = ratings.keep_users(np.flatnonzero(member))
    seen = Seen.of(averaged(inside, np.arange(20), "simple", step=0.5), inside)
    answer = count_isolated(seen, OneTable(facts_of(ratings), member), "pooled", 0)
    assert answer["isolated"].tolist() == [[[1.0]] * 4]
    assert summarize([answer], "pooled").isolates == [1.0]


def test_people_outside_alone_are_not_singled_out_more_than_others() -> None:
    ratings, seen, member = case("padded", 3)
    strangers = facts_of(synthesize(n_users=60, n_items=25, n_ratings=700, rng=9))
    sides = [
        count_isolated(seen, OneTable(strangers, which), "padded", 0) for which in (member, ~member)
    ]
    assert np.array_equal(sides[0]["isolated"], sides[1]["baseline"])
    members = count_isolated(seen, OneTable(facts_of(ratings), member), "padded", 0)
    assert members["isolated"].max() > sides[0]["isolated"].max()


@pytest.mark.parametrize(("kind", "most"), [("padded", 128), ("model", 128), ("padded", 3)])
def test_any_cut_into_blocks_gives_the_same(
    kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings, seen, member = case(kind, 3)
    monkeypatch.setattr(profile_predicates, "MOST_CLASSES", most)
    usual = count_isolated(seen, OneTable(facts_of(ratings), member), kind, 0)
    monkeypatch.setattr(profile_predicates, "_BLOCK", 1)
    monkeypatch.setattr("starshade.attack.shadows.seen._BLOCK", 1)
    small = count_isolated(seen, OneTable(facts_of(ratings), member), kind, 0)
    assert usual["isolated"].any()
    for name, values in usual.items():
        assert small[name] == pytest.approx(values), name


def test_constant_ratings_single_out_no_one() -> None:
    rows = [dict.fromkeys(range(1 + u % 4), 3.0) for u in range(24)]
    ratings, member = table(rows, FIVE), np.arange(24) < 12
    inside = ratings.keep_users(np.flatnonzero(member))
    release = averaged(inside, np.arange(12) % 4, "simple", step=0.5)
    answer = count_isolated(
        Seen.of(release, inside), OneTable(facts_of(ratings), member), "simple", 0
    )
    assert np.array_equal(answer["isolated"], answer["baseline"])  # the same rows on both sides
    found = summarize([answer, answer], "simple")
    assert np.array_equal(found.isolates, found.outsiders)


def test_sums_of_others_keep_what_the_largest_hides() -> None:
    logs = np.array([[0.0, -800.0, -801.0], [-3.0, -3.0, -2000.0]])
    others = log_sums_of_others(logs)
    assert others[0] == pytest.approx([-800 + math.log1p(math.exp(-1)), 0.0, 0.0], abs=1e-12)
    assert others[1] == pytest.approx([-3.0, -3.0, -3 + math.log(2)], abs=1e-12)


def test_what_cannot_be_measured_says_why() -> None:
    ratings, seen, member = case("model", 3)
    facts = facts_of(ratings)
    for which, lacks in ((member & False, "members"), (member | True, "non-members")):
        with pytest.raises(ConfigError, match=f"no {lacks}"):
            count_isolated(seen, OneTable(facts, which), "model", 0)
    inside = ratings.keep_users(np.flatnonzero(member))
    alone = averaged(inside, np.zeros(30, np.int64), "model", step=0.25)
    with pytest.raises(ConfigError, match="one class"):
        count_isolated(Seen.of(alone, inside), OneTable(facts, member), "model", 0)
    answer = count_isolated(seen, OneTable(facts, member), "model", 0)
    found = summarize([answer], "model")
    assert found.tau in TAUS
    assert f"τ = {found.tau:g}." in found.how
    with pytest.raises(ConfigError, match="needs 2 shadow releases, 1 given"):
        summarize([answer], "padded")
    with pytest.raises(ConfigError, match="needs 1 shadow release, 0 given"):
        summarize([], "model")


def test_how_many_classes_were_tried_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, seen, member = case("model", 3)
    people = OneTable(facts_of(ratings), member)
    usual = count_isolated(seen, people, "model", 0)
    assert usual["counts"].tolist() == [30, 30, 10, 10]
    assert "drawn by the seed" not in summarize([usual], "model").how
    monkeypatch.setattr(profile_predicates, "MOST_CLASSES", 4)
    some, others = (count_isolated(seen, people, "model", seed) for seed in (1, 2))
    assert some["counts"].tolist() == [30, 30, 4, 10]
    found = summarize([some, others], "model")
    assert (found.predicates, found.classes) == (8, 20)
    assert found.how.endswith(
        "The test covers the predicates of 8 of 20 classes, drawn by the seed."
    )


def drawn_answers(rng: np.random.Generator, releases: int, shape: tuple[int, ...]) -> list[Any]:
    """Few different values: ties, nothing at all, and everybody."""
    return [
        {
            "isolated": rng.integers(0, 5, shape) / 4,
            "baseline": rng.integers(0, 5, shape) / 4,
            "weight": rng.integers(0, 4, shape[:2]) * rng.choice([0.0, 1e-3, 4e-3]),
            "counts": np.array([rng.integers(20, 60), 30, 10, 10]),
        }
        for _ in range(releases)
    ]


@given(st.integers(2, 5), st.integers(0, 2**31))
def test_predicates_are_chosen_on_the_next_release(releases: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers = drawn_answers(rng, releases, (2, 4, len(HASHES)))
    grids = [
        {
            (s, t, h): (
                float(each["isolated"][s, t, h]),
                float(each["baseline"][s, t, h]),
                float(each["counts"][0] * (each["weight"][s, t] * HASHES[h])),
            )
            for s, t, h in naive.places(2, 4, len(HASHES))
        }
        for each in answers
    ]
    found = summarize(answers, "padded")
    pairs = zip(found.isolates.tolist(), found.outsiders.tolist(), strict=True)
    assert [naive.excess(*pair) for pair in pairs] == pytest.approx(naive.by_next(grids))
    s, t, h = naive.chosen(grids[0])  # the first is the next of the last
    last = found.choices[-1]
    assert (last.cutoff, last.hashed) == (CUTOFFS[t], HASHES[h])
    assert last.statistic == ("likelihood ratio", "residuals")[s]
    assert (found.tau, found.predicates) == (None, 10 * releases)
    last_grid = grids[-1][s, t, h]
    assert (found.isolates[-1], found.outsiders[-1]) == last_grid[:2]
    assert found.weights[-1] == pytest.approx(last_grid[2])
    residuals = [choice.statistic for choice in found.choices].count("residuals")
    assert f"residuals of profiles in {residuals} of {releases} releases, else" in found.how


def test_the_lightest_predicates_are_chosen_where_none_is_light() -> None:
    shape = 2, 4, len(HASHES)
    weight = np.full(shape[:2], 0.9)
    weight[1, 2] = 0.5
    isolated = np.arange(np.prod(shape)).reshape(shape) / 100
    counts = np.array([100, 100, 10, 10])
    answer = {"isolated": isolated, "baseline": isolated * 0, "weight": weight, "counts": counts}
    (one, other) = summarize([answer, answer], "simple").choices
    assert (one, other) == (Choice("residuals", CUTOFFS[2], HASHES[-1]),) * 2


@given(st.integers(1, 5), st.integers(0, 2**31))
def test_one_tau_serves_all_releases(releases: int, seed: int) -> None:
    answers = drawn_answers(np.random.default_rng(seed), releases, (1, 4, 1))
    place = naive.first_light([each["counts"][0] * each["weight"][0] for each in answers])
    found = summarize(answers, "pooled")
    assert (found.tau, found.choices) == (TAUS[place], ())
    assert found.isolates.tolist() == [a["isolated"][0, place, 0] for a in answers]
    assert found.outsiders.tolist() == [a["baseline"][0, place, 0] for a in answers]
    chances = [
        int(a["counts"][0]) * w * (1 - w) ** (int(a["counts"][0]) - 1)
        for a in answers
        for w in [a["weight"][0, place]]
    ]
    assert found.by_weight == pytest.approx(np.mean(chances))
