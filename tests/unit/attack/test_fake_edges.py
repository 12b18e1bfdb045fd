"""The attack on fake edges against its slow twin, and on profiles made by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.attack.fake_edges.rankings import by_hindsight, fitting, places, rankings
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance
from starshade.release.manifest import Claim
from starshade.release.profile_release import profile_release
from starshade.release.table import Release
from tests.naive import diversity as sets
from tests.naive import fake_edges as naive
from tests.naive import padding as slow
from tests.strategies import ratings_tables, table
from tests.unit.attack.profiles import FIVE, HALF, averaged

SCALES = (FIVE, HALF, Scale(-2, 2, 2), Scale(0, 9, 3))


@given(
    st.sampled_from(SCALES), st.sampled_from([1, 2, 5, 20]), st.integers(1, 3), st.integers(1, 4)
)
def test_what_fits_is_what_the_twin_finds(scale: Scale, parts: int, least: int, size: int) -> None:
    assert scale.step is not None
    if scale.width / scale.step * parts > 100 or (len(scale.levels) > 5 and size > 3):
        return
    step = scale.step / parts
    found = fitting(scale, step, size, least)
    assert found is not None
    exact = [Fraction(level).limit_denominator(100) for level in scale.levels.tolist()]
    n = round(scale.width / step) + 1
    expected = [
        naive.fitting(exact, exact[1] - exact[0], least, size, v)
        if parts == 1
        else naive.fitting(exact, (exact[1] - exact[0]) / parts, least, size, v)
        for v in range(1, n + 1)
    ]
    assert found[size, 1 : n + 1].tolist() == expected
    assert not found[size, n + 1 :].any()


def test_on_a_real_scale_every_value_fits() -> None:
    assert fitting(Scale(0, 1), 0.05, 4, 1) is None


CELLS = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 2.5]), st.integers(0, 2)), min_size=1)


@given(CELLS)
def test_places_are_the_twins(cells: list[tuple[float, int]]) -> None:
    score, among = (list(column) for column in zip(*cells, strict=True))
    found = places(np.array(score), np.array(among))
    assert found.tolist() == pytest.approx([float(v) for v in naive.places(score, among)])


def test_hindsight_knows_other_items_alone() -> None:
    """Weights of the odd items come from the even ones: what is true of these is said of those."""
    item = np.repeat([0, 1], 50)
    score = np.tile(np.linspace(0, 1, 50), 2)
    fake = np.where(item == 0, score > 0.5, score < 0.5)
    found = by_hindsight(score[:, None], fake, item)
    assert np.corrcoef(found[item == 1], score[:50])[0, 1] > 0.99
    assert np.corrcoef(found[item == 0], score[:50])[0, 1] < -0.99


def with_invented(draw: st.DrawFn, ratings: Ratings, b: int) -> tuple[Release, int]:
    """Simple profiles of a table with cells invented at will, which claim (b, l); and l."""
    n = ratings.n_users
    label = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    groups = np.unique(label, return_inverse=True)[1]
    plain = averaged(ratings, groups, "simple", step=0.25)
    levels = plain.classes.levels[plain.class_of_record[plain.private.link.record]]  # type: ignore[union-attr]
    rows = np.array([levels[np.flatnonzero(groups == g)[0]] for g in range(groups.max() + 1)])
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    top = round(ratings.scale.width / 0.25) + 1
    add = (rows == 0) & (rng.random(rows.shape) < 0.5)
    rows = np.where(add, rng.integers(1, top + 1, rows.shape), rows).astype(np.uint8)
    l = draw(st.integers(1, 3))  # noqa: E741
    made = Provenance(
        method="by hand",
        seed=0,
        claims=(Claim(model="diversity", parameters={"b": b, "l": l}),),
        rare_items="keep",
    )
    return profile_release(ratings, rows, groups, made, step=0.25, profile="simple"), l


@st.composite
def invented(draw: st.DrawFn) -> tuple[Any, Release, int]:
    """A table, its simple profiles with cells invented at will, and l."""
    ratings = draw(ratings_tables(scales=(FIVE, HALF), min_users=2, max_users=8, with_days=False))
    return ratings, *with_invented(draw, ratings, 2)


@settings(max_examples=60)
@given(invented())
def test_counts_are_those_of_the_definition(case: tuple[Any, Release, int]) -> None:
    ratings, release, l = case  # noqa: E741
    if not ratings.n_ratings:
        return
    result = FakeEdgesAttack().run(release, original=ratings, rng=0)
    profiles, link = release.classes, release.private.link  # type: ignore[union-attr]
    of_user = release.class_of_record[link.record]
    rated = [
        set(ratings.columns[slice(*ratings.indptr[[u, u + 1]])].tolist())
        for u in range(ratings.n_users)
    ]
    levels = profiles.levels.copy()  # type: ignore[union-attr]
    exact = [Fraction(level).limit_denominator(100) for level in ratings.scale.levels.tolist()]
    cells, fakes, items = [], [], []
    certain = levels > 255
    for g, i in zip(*np.nonzero(levels), strict=True):
        fake = not any(i in rated[u] for u in np.flatnonzero(of_user == g))
        size = int(profiles.sizes[g])
        none = not naive.fitting(exact, Fraction(1, 4), 1, size, int(levels[g, i]))
        assert not (none and not fake)
        certain[g, i] = none
        cells.append(int(levels[g, i]))
        fakes.append(int(fake))
        items.append(int(i))
    assert (result.cells, result.fakes, result.certain) == (len(cells), sum(fakes), certain.sum())
    assert result.certain_wrong == 0
    by_name = {each.ranking: each for each in result.by_ranking}
    if result.auc is not None:
        real = [1 - fake for fake in fakes]
        for among, key in (([0] * len(cells), "auc"), (items, "auc_within_items")):
            expected = slow.auc(list(map(float, cells)), fakes, real, among)
            found = getattr(by_name["the value"], key)
            assert (found is None) == (expected is None)
            if found is not None:
                assert found == pytest.approx(float(max(expected, 1 - expected)))  # type: ignore[operator,type-var]
                assert (
                    getattr(result, key).rate
                    >= max(getattr(each, key) for each in result.by_ranking) - 1e-9
                )
    levels[certain] = 0
    rows = [set(np.flatnonzero(row).tolist()) for row in np.unique(levels, axis=0)]
    counted = sets.count(rated, rows, 2, l)
    assert result.left_certain is not None
    assert (result.left_certain.sets, result.left_certain.short) == (
        sum(n for n, _, _ in counted),
        sum(short for _, short, _ in counted),
    )


def test_profiles_that_differ_in_what_was_struck_are_one() -> None:
    """Both groups show item 0; the second, of one, also 2.25 that one person cannot have given."""
    people = table([{0: 5.0}, {0: 5.0}], FIVE, n_items=2)
    made = Provenance(
        method="by hand",
        seed=0,
        claims=(Claim(model="diversity", parameters={"b": 1, "l": 2}),),
        rare_items="keep",
    )
    rows = np.array([[17, 0], [17, 6]], np.uint8)
    release = profile_release(people, rows, np.array([0, 1]), made, step=0.25, profile="simple")
    result = FakeEdgesAttack().run(release, original=people, rng=0)
    assert (result.fakes, result.certain) == (1, 1)
    assert result.left_certain is not None
    assert (result.left_certain.sets, result.left_certain.short) == (1, 1)


RATINGS = synthesize(n_users=300, n_items=400, n_ratings=4500, rng=3)


def attacked(**asked: Any) -> Any:
    method = PredictiveAnonymizer(k=5, profile="simple", b=2, l=3, **asked)
    return FakeEdgesAttack().run(method.anonymize(RATINGS, rng=0), original=RATINGS, rng=0)


def test_the_papers_are_told_and_drawn_ones_hardly() -> None:
    theirs, ours = attacked(fake_edges="mean"), attacked()
    assert theirs.fakes > 50
    assert theirs.certain_share.rate > 0.3
    assert theirs.auc_within_items.rate > 0.9
    assert theirs.left_certain.short > 0 == ours.left_certain.short
    assert ours.certain == 0
    assert ours.auc_within_items.rate < 0.7
    for result in (theirs, ours):
        assert result.left_all.short > 0
        assert "with certainty" in str(result)
        json.dumps(result.to_dict(), allow_nan=False)
        assert "fitted to the truth" in str(result)
        assert result.tables[0].rows
        assert result.plot()
    with budget.limits(threads=1):
        again = attacked()
    assert again.auc_within_items == ours.auc_within_items


def test_without_fake_edges_there_is_nothing_to_tell() -> None:
    release = PredictiveAnonymizer(k=5, profile="simple").anonymize(RATINGS, rng=0)
    result = FakeEdgesAttack().run(release, original=RATINGS, rng=0)
    assert result.fakes == result.certain == 0
    assert result.auc is result.left_certain is None
    assert "nothing to detect" in str(result)
    json.dumps(result.to_dict(), allow_nan=False)


def test_what_does_not_fit_is_refused() -> None:
    people = table([{0: 5.0, 1: 1.0}, {0: 4.0}, {1: 2.0}, {0: 1.0}], FIVE)
    simple = averaged(people, np.array([0, 0, 1, 1]), "simple", step=0.25)
    with pytest.raises(ConfigError, match="ratings, not a release"):
        FakeEdgesAttack().run(people)
    with pytest.raises(ConfigError, match="the release is 'padded'"):
        FakeEdgesAttack().run(
            averaged(people, np.array([0, 0, 1, 1]), "padded", step=0.25), original=people
        )
    with pytest.raises(ConfigError, match="private key file"):
        FakeEdgesAttack().run(Release(simple.manifest, simple.classes), original=people)
    with pytest.raises(ConfigError, match="targets 2"):
        FakeEdgesAttack().run(simple, original=people, targets=2)
    with (
        budget.limits(memory=1000),
        pytest.raises(ConfigError, match=r"1\.6 kB needed, 1 kB allowed"),
    ):
        FakeEdgesAttack().run(simple, original=people)


def test_pairs_that_exactly_l_groups_show_are_counted_without_the_item_itself() -> None:
    """By hand: A and B stand together once, B and C once, A and C never; C stands alone once."""
    shown = np.array([[3.0, 4.0, np.nan], [np.nan, 2.0, 5.0], [np.nan, np.nan, 1.0]])
    sizes, active = np.array([2, 2, 2]), np.array([2, 2, 1])
    found = dict(rankings(shown, sizes, active, None, 1))
    pairs = found["pairs that exactly l classes show"]
    assert pairs.tolist() == [[1, 1, 1], [1, 1, 1], [0, 1, 0]]
    shares = found["the same, per item of the class"]
    assert shares.tolist() == [[1 / 2] * 3, [1 / 2] * 3, [0, 1, 0]]
    assert not any("pairs" in name for name, _ in rankings(shown, sizes, active, None, 0))
