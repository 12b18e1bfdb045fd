"""Every decision of an audit just below its limit, at it, and just above it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.checks.check import Check
from starshade.audit.checks.inference import attribute
from starshade.audit.checks.policy import CHECKED, Threshold
from starshade.audit.checks.singling_out import re_identification, strongest, with_intervals
from starshade.audit.evidence import Evidence, Tracked, numbers_to_try, track_both
from starshade.audit.findings import (
    judge_identifying,
    judge_k,
    judge_model,
    judge_scale,
    judge_tracker,
    needs_receipt,
    records_differ,
    understated,
)
from starshade.audit.original.original import Given
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.manifest import Claim
from starshade.release.personal.identifying import MOST, Shared
from starshade.release.table import Release
from tests.contract.cast import CAST
from tests.strategies import table

K = 4
RATINGS = CAST["duplicate records"].drop_empty_users()
SLACK = 1e-9
#: how far from a limit, and whether that is within it
NEAR = [(-1e-6, True), (0.0, True), (0.5 * SLACK, True), (2 * SLACK, False), (1e-6, False)]


@pytest.fixture(scope="module")
def release() -> Release:
    return KLikeness(k=K).anonymize(RATINGS, rng=0)


@pytest.fixture(scope="module")
def records() -> Release:
    """Of layout "record": its records differ."""
    return IntervalAnonymizer(k=K, eps=1).anonymize(RATINGS, rng=0)


def told(release: Release, **facts: Any) -> Release:
    return replace(release, manifest=release.manifest.model_copy(update=facts))


def found(*earned: float, known: int = 2) -> Evidence:
    """An attack that earned so much of each of its targets."""
    result = ScoreboardRH().run(CAST["ordinary"], Knowledge(known=1), rng=0)
    per_target: Any = SimpleNamespace(credit=np.asarray(earned))
    return Evidence(Knowledge(known=known), result, replace(result, per_target=per_target))


def limit_of(share: float) -> Threshold:
    return Threshold(Fraction(share))


@pytest.mark.parametrize(("away", "passed"), NEAR)
@pytest.mark.parametrize("limit", [0.0, 0.2, 1 / 3])
@pytest.mark.parametrize("name", CHECKED)
def test_a_threshold_is_compared_with_the_upper_end(
    name: str, limit: float, away: float, passed: bool
) -> None:
    rate = Rate(limit / 2, 0.0, limit + away)
    check = Check(name, "Text.", rate=rate, threshold=limit_of(limit))
    assert check.status == ("pass" if passed else "not demonstrated")
    assert check.fails == (not passed)
    both = Check(name, "Text.", rate=replace(rate, rate=limit + away), threshold=limit_of(limit))
    assert both.status == ("pass" if passed else "fail")


def test_where_records_are_equal_the_interval_ends_at_1_in_the_smallest_class(
    release: Release, records: Release
) -> None:
    evidence = [found(*[1 / K] * 20), found(*[0.0] * 20, known=8)]
    smallest = int(release.classes.sizes.min())
    assert strongest(evidence, release, 0)[1].high == max(1 / K, 1 / smallest)
    for limit, passed in ((1 / K, True), (1 / K - 1e-6, False)):
        limits = {"re-identification": limit_of(limit)}
        check = re_identification(release, evidence, limits, 0)
        assert (check.status == "pass") == passed
        assert ("may be re-identified more often" in check.text) is False
    # where they differ no bound holds for each
    assert strongest(evidence, records, 0)[1].high > 1 / K
    check = re_identification(records, evidence, {"re-identification": limit_of(1 / K)}, 0)
    assert check.fails
    assert "single people may be re-identified more often" in check.text


def test_one_figure_has_one_interval(release: Release, records: Release) -> None:
    """The rows of the attacks say what the verdict says, and none crosses 1 in the smallest."""
    evidence = [found(*[1 / K] * 20), found(*[0.0, 1 / K] * 10, known=8)]
    most = max(1 / K, 1 / int(release.classes.sizes.min()))
    best, rate = strongest(evidence, release, 0)
    rows = with_intervals(evidence, release, 0)
    assert rows[evidence.index(best)].after.expected_top1 == rate
    assert all(each.after.expected_top1.high <= most for each in rows)
    assert with_intervals([], records, 0) == []


def test_of_several_attacks_the_one_with_the_highest_end_counts(records: Release) -> None:
    many, few = found(*[0.1, 0.3] * 500), found(0.0, 0.3, known=8)
    best, rate = strongest([many, few], records, 0)
    assert best is many
    assert rate.rate == pytest.approx(0.2)
    assert rate.high == pytest.approx(0.3)  # of the two targets of the other


@pytest.mark.parametrize(("away", "passed"), NEAR)
@pytest.mark.parametrize("limit", [0.0, 0.25])
def test_the_share_disclosed(limit: float, away: float, passed: bool) -> None:
    check = attribute(limit + away, {"attribute": limit_of(limit)})
    assert (check.status == "pass") == passed


def test_what_is_not_there_to_be_measured_is_not_measured() -> None:
    check = attribute(None, {"attribute": limit_of(0.5)})
    assert check.status == "not measured"
    assert "averages" in check.text
    assert attribute(None, {}).status == "no threshold"


@pytest.mark.parametrize(
    ("refused", "at_risk", "fewest", "passed"),
    [
        (0, 0, None, True),
        (0, 0, K - 1, False),
        (0, 0, K, True),
        (0, 0, K + 1, True),
        (1, 0, K, False),
        (0, 1, K, False),
        (1, 1, None, False),
    ],
)
def test_the_tracker(
    release: Release, refused: int, at_risk: int, fewest: int | None, passed: bool
) -> None:
    asked = track_both(RATINGS, release)
    assert asked is not None
    n = asked.after.targets
    after = replace(
        asked.after,
        refused=refused,
        at_risk=Rate(at_risk / n, 0.0, 1.0),
        fewest=fewest,
        floor=K,
    )
    finding = judge_tracker(Tracked(asked.before, after), release.classes.n_items)
    assert finding is not None
    assert finding.passed == passed


@pytest.mark.parametrize(("k", "asked"), [(1, False), (2, True), (3, True)])
def test_queries_are_asked_where_two_or_more_are_claimed(
    release: Release, k: int, asked: bool
) -> None:
    claims = (Claim(model="k-anonymity", parameters={"k": k}),)
    assert (track_both(RATINGS, told(release, claims=claims)) is not None) == asked
    assert track_both(RATINGS, told(release, claims=())) is None
    assert track_both(RATINGS, told(release, claims=claims, layout="record")) is None


def test_the_tracker_knows_every_personal_attribute(release: Release) -> None:
    n = RATINGS.n_users
    people = pa.table({"Age": [float(20 + i) for i in range(n)], "job": ["a", "b"] * (n // 2)})
    ratings = RATINGS.annotate(attributes=people)
    for known, made in (
        ([("Age",), ("Age", "job")], KLikeness(k=K, attributes="exact").anonymize(ratings, rng=0)),
        ([()], release),  # of which nothing but ratings can be asked
    ):
        asked = track_both(ratings, made)
        assert asked is not None
        assert [each.attributes for each in asked.before.backgrounds] == [
            ("Age",),
            ("Age", "job"),
        ]
        assert [each.attributes for each in asked.after.backgrounds] == known
    without = track_both(RATINGS, release)
    assert without is not None
    assert [each.attributes for each in without.before.backgrounds] == [()]


def three_and_five(model: str) -> Release:
    """Three equal records and five others, far from them."""
    ratings = table([{0: 1}] * 3 + [{0: 5}] * 5, Scale(1, 5, 1), n_items=1)
    if model == "k-anonymity":
        return KLikeness(k=3).anonymize(ratings, rng=0)
    return IntervalAnonymizer(k=3, eps=1).anonymize(ratings, rng=0)


@pytest.mark.parametrize(("k", "passed"), [(2, True), (3, True), (4, False)])
@pytest.mark.parametrize("model", ["k-anonymity", "k-eps"])
def test_a_model_holds_up_to_its_k(model: str, k: int, passed: bool) -> None:
    parameters = {"k": k} | ({"eps": 1.0, "nulls": "strict"} if model == "k-eps" else {})
    made = told(three_and_five(model), claims=(Claim(model=model, parameters=parameters),))
    (claim,) = made.manifest.claims
    assert judge_model(made, claim).passed == passed
    # where all of a group are equal, no single person is found more often
    assert records_differ(made) == (model == "k-eps" and not passed)


def test_other_layouts_and_no_claim(release: Release, records: Release) -> None:
    assert not records_differ(release)
    assert records_differ(told(records, claims=()))


@pytest.mark.parametrize(("more", "said"), [(-1, True), (0, False), (1, True)])
def test_the_k_of_the_settings(release: Release, more: int, said: bool) -> None:
    made = told(release, config={**release.manifest.config, "k": K + more})
    assert (judge_k(made) is not None) == said


@pytest.mark.parametrize("end", ["minimum", "maximum", "step"])
@pytest.mark.parametrize(
    ("away", "same"), [(-2 * SLACK, False), (-0.5 * SLACK, True), (0, True), (2 * SLACK, False)]
)
def test_the_scale_that_is_said(release: Release, end: str, away: float, same: bool) -> None:
    scale = release.manifest.scale
    stated = told(release, scale=scale.model_copy(update={end: getattr(scale, end) + away}))
    assert (judge_scale(stated, Given.of(RATINGS, RATINGS)) is None) == same


@pytest.mark.parametrize(
    ("alone", "people", "names"),
    [(4, 10, False), (5, 10, False), (6, 10, True), (5, 11, False), (6, 11, True), (0, 0, False)],
)
def test_a_name_is_what_more_than_half_have_to_themselves(
    alone: int, people: int, names: bool
) -> None:
    assert MOST == 0.5
    assert Shared(people, people, alone).identifies == names


@pytest.mark.parametrize("name", CHECKED)
def test_the_ends_of_what_may_be_asked(name: str) -> None:
    ends = (0, 0.0)
    none = ends if name == "class-size" else ()  # no class is so large that 1 in its size is 0
    for inside in (*ends, np.nextafter(0, 1), np.nextafter(1, 0), 1):
        if inside not in none:
            Audit(threshold={name: float(inside)})
    for outside in (*none, np.nextafter(0, -1), np.nextafter(1, 2)):
        with pytest.raises(ConfigError):
            Audit(threshold={name: float(outside)})


@pytest.mark.parametrize("name", ["known", "targets"])
def test_at_least_one_of_each(name: str) -> None:
    Audit(**{name: (1,) if name == "known" else 1})
    with pytest.raises(ConfigError):
        Audit(**{name: (1, 0) if name == "known" else 0})


@pytest.mark.parametrize(
    ("known", "most", "tried"),
    [
        ((2, 4, 8), 9, (2, 4, 8)),
        ((2, 4, 8), 8, (2, 4, 8)),
        ((2, 4, 8), 7, (2, 4)),
        ((2, 4, 8), 1, (1,)),
        ((3,), 3, (3,)),
        ((3,), 2, None),
        ((3,), 0, (1,)),
    ],
)
def test_what_somebody_has(
    known: tuple[int, ...], most: int, tried: tuple[int, ...] | None
) -> None:
    if tried is None:
        with pytest.raises(ConfigError, match="no person has so many"):
            numbers_to_try(known, most)
    else:
        assert numbers_to_try(known, most) == tried


def found_in_data(ratings: Ratings) -> Ratings:
    return ratings.annotate(report=replace(ratings.report, scale_inferred=True))


def test_a_scale_with_steps_is_not_one_without(release: Release) -> None:
    stated = told(release, scale=release.manifest.scale.model_copy(update={"step": None}))
    assert judge_scale(stated, Given.of(RATINGS, RATINGS)) is not None


def test_the_scale_of_what_was_moved_is_that_of_what_is_shown() -> None:
    rows: list[dict[int, float]] = [{0: 1}, {0: 4}, {0: 4}, {1: 6}, {1: 6}]
    ratings = found_in_data(table(rows, Scale(1, 6, 1)))
    made = IntervalAnonymizer(k=2, eps=2).anonymize(ratings, rng=0)
    assert str(made.scale) == "2:6:1"  # the 1 was moved to 2
    assert judge_scale(made, Given.of(ratings, ratings)) is None


@pytest.mark.parametrize(("made", "claimed", "agrees"), [(2, 3, True), (3, 2, False)])
def test_levels_are_shared_by_the_k_that_it_was_made_with(
    made: int, claimed: int, agrees: bool
) -> None:
    """A 1 that two people gave on an item that is not released."""
    rows: list[dict[int, float]] = [{0: 3, 1: 1}, {0: 5, 1: 1}, {0: 3}, {0: 5}, {0: 3}, {0: 5}]
    ratings = found_in_data(table(rows, Scale(1, 5, 1)))
    part = ratings.keep_items(np.array([0]))
    release = KLikeness(k=3, items=top_items(1)).anonymize(ratings, rng=0)
    claims = (Claim(model="k-anonymity", parameters={"k": claimed}),)
    scale = release.manifest.scale.model_copy(update={"minimum": 1.0, "step": 1.0})
    stated = told(release, config={"k": made}, claims=claims, scale=scale)
    # the ratings themselves are on another scale, so that what is published of them decides
    shown = replace(ratings, scale=Scale(1, 9, 1))
    assert (judge_scale(stated, Given.of(shown, part)) is None) == agrees
    without = told(stated, config={}, claims=())
    assert judge_scale(without, Given.of(shown, part)) is None  # every level counts


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, None),
        ({"layout": "record", "imputed_cells": "none"}, "ratings were moved"),
        ({"layout": "record"}, None),
        ({"layout": "profile"}, "ratings were averaged"),
        ({"users_deleted": "under 1 %"}, "people were left out"),
    ],
)
def test_what_an_audit_cannot_do_without_the_receipt(
    release: Release, facts: dict[str, Any], said: str | None
) -> None:
    made = told(release, **facts)
    needed = needs_receipt(made)
    assert (needed and needed[0]) == said
    assert understated(made) is None  # the receipt is at hand
    without = replace(made, private=None)
    assert understated(without) == needed
    check = re_identification(without, [found(0.0)], {}, 0)
    assert (check.rate is None) == (said is not None)
    if needed is not None:
        assert f"{needed[0]}; without the private key file".lower() in check.text.lower()
        assert f"it is unknown {needed[1]}." in check.text


@pytest.mark.parametrize(("distinct", "passed"), [(4, True), (8, False)])
def test_attributes_that_name_people(distinct: int, passed: bool) -> None:
    people = pa.table({"job": [f"j{min(i, distinct - 1)}" for i in range(8)], "age": [1.0] * 8})
    rows: list[dict[int, float]] = [{0: 1.0}] * 8
    ratings = table(rows, Scale(1, 5, 1)).annotate(attributes=people)
    made = KLikeness(k=2).anonymize(ratings, rng=0)
    assert judge_identifying(made) is None
    listed = pa.array([sorted({f"j{min(i, distinct - 1)}" for i in range(8)})] * 8)
    made = replace(
        told(made, attributes="generalized", quasi_identifiers=("job",)),
        attributes=pa.table({"job": listed}),
    )
    finding = judge_identifying(made)
    assert finding is not None
    assert finding.passed == passed
