"""Link existence against its slow twin, and small cases by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence.link_existence import (
    LinkExistence,
    link_existence_bound,
    link_existence_exact,
)
from starshade.attack.link_existence.result import LinkResult
from starshade.attack.view import Groups, View, groups_of, look
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.table import Link, Release
from tests.naive import link_existence as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.samples import release, releases
from tests.unit.attack.test_candidates import told_to_the_twin

FIVE = Scale(1, 5, 1)
PRIORS = st.sampled_from([None, Fraction(0), Fraction(1, 20), Fraction(1, 3), Fraction(1)])


def share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def above(counted: naive.Counted, limits: list[Fraction | None]) -> int:
    return sum(
        limit is not None and c > limit for c, limit in zip(counted.confidence, limits, strict=True)
    )


def check(result: LinkResult, slow: naive.Counted) -> None:
    """Compare every figure; sums of floats may differ by 1e-9."""
    n = len(slow.confidence)
    bounds = [b for b in slow.bound if b is not None]
    expected: dict[str, float | None] = {
        "edges": n,
        "confidence": share(float(sum(slow.confidence)), n),
        "all_members": share(sum(c == 1 for c in slow.confidence), n),
        "no_member": share(sum(c == 0 for c in slow.confidence), n),
        "no_prior": share(float(sum(slow.no_prior)), n),
        "above_no_prior": share(above(slow, list(slow.no_prior)), n),
        "exact": share(float(sum(slow.exact)), n),
        "above_exact": share(above(slow, list(slow.exact)), n),
        "bounded": share(len(bounds), n),
        "bound": share(float(sum(bounds)), len(bounds)),
        "above_bound": share(above(slow, slow.bound), len(bounds)),
        "missing": slow.missing,
        "missing_true": share(slow.missing_true, slow.missing),
    }
    for name, value in expected.items():
        mine = getattr(result, name)
        assert mine == value or math.isclose(mine, value or 0, rel_tol=1e-9), name
    first, *between, last = result.histogram
    assert first["edges"] == sum(c == 0 for c in slow.confidence)
    assert last["edges"] == sum(c == 1 for c in slow.confidence)
    for i, bar in enumerate(between):
        low, high = Fraction(i, 10), Fraction(i + 1, 10)
        assert (bar["low"], bar["high"]) == (float(low), float(high))
        assert bar["edges"] == sum(low < c <= high and c < 1 for c in slow.confidence)


def twin(
    data: Ratings | Release, original: Ratings, view: View, groups: Groups, prior: Fraction | None
) -> naive.Counted:
    """Write the groups out: each record's released row beside its user's true one."""
    records, own_of, truths = told_to_the_twin(view, data, original)
    members = [
        [(records[own_of[u]], truths[u]) for u in np.flatnonzero(groups.of_user == g).tolist()]
        for g in range(len(groups))
    ]
    items = range(view.cells.n_items)
    priors = {
        i: prior
        if prior is not None
        else Fraction(sum(i in row for row in truths), original.n_users)
        for i in items
    }
    return naive.count(members, items, priors, view.cells.symbols.scale.minimum)


def check_against_twin(data: Ratings | Release, original: Ratings, prior: Fraction | None) -> None:
    truth = None if data is original else original
    view = look(data, truth, None)
    slow = twin(data, original, view, groups_of(data, view), prior)
    attack = LinkExistence(prior=None if prior is None else float(prior))
    check(attack.run(data, original=truth), slow)
    with pytest.MonkeyPatch.context() as patch:  # a block or two of groups at a time
        patch.setattr("starshade.attack.link_existence.link_existence._BLOCK", 2)
        check(attack.run(data, original=truth), slow)


@given(ratings_tables(max_users=7, max_items=5), PRIORS)
def test_on_a_table(ratings: Ratings, prior: Fraction | None) -> None:
    assume(ratings.n_ratings > 0)
    check_against_twin(ratings, ratings, prior)


@given(releases(linked=True), PRIORS, st.data())
def test_on_a_release(
    case: tuple[Ratings, Release], prior: Fraction | None, data: st.DataObject
) -> None:
    original, released = case
    assume(original.n_ratings > 0)
    check_against_twin(released, original, prior)
    # the layout "record": the same rows one by one, in groups of the method's
    cells = released.classes
    rows = released.class_of_record
    n = len(rows)
    group = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    numbered = np.unique(group, return_inverse=True)[1]
    one_by_one = replace(released, classes=cells.keep_rows(rows), groups=numbered)
    one_by_one = replace(one_by_one, classes=replace(one_by_one.classes, sizes=np.ones(n, int)))
    check_against_twin(one_by_one, original, prior)


def averaged() -> tuple[Ratings, Release]:
    """A group of three of whom one, two and none rated three items, and one who rated nothing."""
    original = table([{0: 5, 1: 4}, {1: 4}, {}, {2: 1}], FIVE, n_items=3)
    contents = Symbols.exact(FIVE, FIVE.levels)
    link = Link(original.users, np.arange(4))
    rows = [{0: 4, 1: 3, 2: 2}, {}]
    return original, release(rows, [3, 1], contents, original.items, link)


def test_a_group_by_hand() -> None:
    original, released = averaged()
    result = LinkExistence().run(released, original=original)
    assert (result.records, result.classes, result.targets, result.ineligible) == (4, 2, 4, 0)
    assert result.edges == 9
    # A 1/3, B 2/3, C 0/3, three times each
    assert result.confidence == pytest.approx(1 / 3)
    assert [bar["edges"] for bar in result.histogram] == [3, 0, 0, 0, 3, 0, 0, 3, 0, 0, 0, 0]
    assert result.above_no_prior == pytest.approx(1 / 3)
    # priors 1/4, 1/2, 1/4: B's is above 1/3, where the theorem is silent
    exact = [1 / 4 / (1 - 27 / 64), 1 / 2 / (1 - 1 / 8), 1 / 4 / (1 - 27 / 64)]
    assert result.exact == pytest.approx(sum(exact) / 3)
    assert result.above_exact == pytest.approx(1 / 3)  # B: 2/3 > 0.571
    assert result.bounded == pytest.approx(2 / 3)
    assert result.bound == pytest.approx(1 / 3 + 1 / 4 / (2 - 3 / 4))
    assert result.above_bound == 0
    # the fourth record shows nothing; its user rated C
    assert (result.missing, result.missing_true) == (3, pytest.approx(2 / 3))
    assert "is right in 33.3% of cases" in str(result)
    assert "applies to 66.7% of the ratings shown" in str(result)
    assert "exceeded for 0.0% of them" in str(result)
    assert "If the adversary also knows how popular each item is" in str(result)


def test_a_prior_of_ones_own() -> None:
    original, released = averaged()
    result = LinkExistence(prior=0.2).run(released, original=original)
    assert result.exact == pytest.approx(0.2 / (1 - 0.8**3))
    assert result.bound == pytest.approx(1 / 3 + 0.2 / (2 - 0.6))
    assert result.bounded == 1
    assert "knows that 20.0% of people rate an item" in str(result)


def test_a_person_alone_leaves_nothing_to_infer() -> None:
    original, released = averaged()
    alone = LinkExistence().run(original)
    assert alone.nothing_to_infer
    assert alone.bound == 1  # 1/g + p/(2 - p) is more, and no confidence
    assert "there is nothing to infer" in str(alone)
    assert "%" not in str(alone)
    assert not LinkExistence().run(released, original=original).nothing_to_infer


def test_nothing_shown_leaves_no_share() -> None:
    original = table([{0: 5}, {0: 3}], FIVE)
    nothing = Symbols.exact(FIVE, FIVE.levels)
    released = release([{}], [2], nothing, original.items, Link(original.users, np.arange(2)))
    result = LinkExistence().run(released, original=original)
    assert (result.edges, result.confidence, result.bound) == (0, None, None)
    assert (result.missing, result.missing_true) == (2, 0)
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.missing_share == 1
    assert "100.0% of cells show no rating; in 0.0% of these there was none." in str(result)


def test_a_cell_that_says_null_alone_shows_nothing() -> None:
    scale = Scale(-10, 10)
    original = table([{0: 1.0}, {}], scale)
    null = Symbols.ranges(scale, np.array([-11.0]), np.array([-10.5]))
    released = release([{0: 0}], [2], null, original.items, Link(original.users, np.arange(2)))
    result = LinkExistence().run(released, original=original)
    assert (result.edges, result.missing, result.missing_true) == (0, 2, 0.5)


def test_the_documented_keys() -> None:
    original, released = averaged()
    result = LinkExistence().run(released, Knowledge(), original=original, rng=1)
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    for name in (
        "success",
        "expected_top1",
        "class_contents_known",
        "entropy_bits",
        "knowledge",
        "seed",
    ):
        assert told[name] is None
    assert told["confidence"].keys() == {"mean", "histogram"}
    assert told["no_prior"].keys() == told["exact"].keys() == {"mean", "above"}
    assert told["bound"].keys() == {"mean", "above", "edges"}
    assert told["missing"] == {"cells": 3, "share": 1 / 4, "true": pytest.approx(2 / 3)}
    assert told["config"] == {"prior": None}


def test_what_does_not_fit_together_is_refused() -> None:
    original, released = averaged()
    blind = Release(released.manifest, released.classes)
    with pytest.raises(ConfigError, match="private key file"):
        LinkExistence().run(blind, original=original)
    with pytest.raises(ConfigError, match="targets 5"):
        LinkExistence().run(released, original=original, targets=5)
    with pytest.raises(ConfigError, match="no people to attack"):
        LinkExistence().run(table([{}], FIVE))
    for prior in (-0.1, 1.1, math.nan):
        with pytest.raises(ConfigError, match="prior"):
            LinkExistence(prior=prior)


def test_theorems_refuse_what_is_no_probability_and_no_group() -> None:
    for theorem in (link_existence_exact, link_existence_bound):
        with pytest.raises(ConfigError, match="prior"):
            theorem(1.5, 2)
        with pytest.raises(ConfigError, match="class size"):
            theorem(0.5, 0)


def test_theorems_at_their_edges() -> None:
    assert link_existence_exact(0, 4) == 0.25  # the limit: no prior knowledge
    assert link_existence_exact(1, 4) == 1
    assert link_existence_exact(1e-15, 4) == pytest.approx(0.25, rel=1e-12)
    assert link_existence_bound(0, 4) == 0.25
    assert np.isnan(link_existence_bound(0.26, 4))
    sizes = np.arange(1, 60)
    for p in (1e-6, 0.01, 0.3):
        exact, bound = link_existence_exact(p, sizes), link_existence_bound(p, sizes)
        stated = ~np.isnan(bound)
        assert stated.any()
        assert (exact[stated] <= bound[stated] + 1e-12).all()  # what the theorem proves
