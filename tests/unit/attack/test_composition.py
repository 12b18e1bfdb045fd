"""Several releases of the same people, held beside every history that they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.anonymize.generalize import generalize
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.composition import cells as cells_of_joint
from starshade.attack.composition.composed import Composed, composition_of
from starshade.attack.composition.composition import Composition
from starshade.attack.composition.contents import Pool, possible
from starshade.attack.composition.people import link_of
from starshade.attack.composition.result import _SHOWN
from starshade.attack.knowledge import Knowledge
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.build import Provenance, generalized_release, record_release
from starshade.release.cells import Cells, Symbols
from starshade.release.manifest import Claim
from starshade.release.match.match import never_moved
from starshade.release.table import Release
from tests.contract.cast import CAST
from tests.naive import again as naive_again
from tests.naive import composition as naive
from tests.naive import likelihood as naive_likelihood
from tests.strategies import at_least, ratings_tables, table
from tests.unit.attack.parts import content, told_of
from tests.unit.attack.test_likelihood import facts_of

LAWS = ("none", "added", "revised")
STARS = Scale(1, 5, 1)


def grouped(ratings: Ratings, groups: list[int], how: Any = "ndgh", k: int = 2) -> Release:
    """Release a table in these groups, whatever their sizes."""
    _, number = np.unique(groups, return_inverse=True)
    cells = generalize(how, ratings, number)
    made = Provenance("by hand", 0, claims=(Claim(model="k-anonymity", parameters={"k": k}),))
    return generalized_release(ratings, number, cells, made, attributes="none")


def said(release: Release) -> naive.Released:
    """What a release says of each person, record by record."""
    assert release.private is not None
    link, row = release.private.link, release.class_of_record
    told: naive.Released = {}
    for user, record in zip(link.users, link.record.tolist(), strict=True):
        own: dict[str, naive.Content] = {}
        name: object = ()
        if not isinstance(release.classes, Cells):
            name = release.classes.levels[row[record]].tobytes()
        else:
            cells, shown = release.classes, {}
            for p in range(cells.indptr[row[record]], cells.indptr[row[record] + 1]):
                shown[cells.items[int(cells.columns[p])]] = content(cells.symbols, cells.codes[p])
            name = tuple(sorted(shown.items(), key=lambda cell: cell[0]))
            true = np.ones(len(cells.items), dtype=np.bool_)
            if release.manifest.layout == "record":
                true = never_moved(release)
            keys = [key for key, holds in zip(cells.items, true, strict=True) if holds]
            own = {key: shown.get(key, frozenset([None])) for key in keys}
        told[user] = (name, own)
    return told


def kept(draw: Any, ratings: Ratings) -> Ratings:
    """Some of the people and items; nobody without a rating."""
    users = draw(st.lists(st.integers(0, ratings.n_users - 1), min_size=1, unique=True))
    items = draw(st.lists(st.integers(0, ratings.n_items - 1), min_size=1, unique=True))
    part = ratings if draw(st.booleans()) else ratings.keep_users(np.array(sorted(users)))
    part = part if draw(st.booleans()) else part.keep_items(np.array(sorted(items)))
    return part.drop_empty_users()


def released(draw: Any, ratings: Ratings) -> Release | None:
    part = kept(draw, ratings)
    if not part.n_users or not part.n_ratings:
        return None
    how = draw(st.sampled_from(["ndgh", "range", "ndgh", "range", "equal"]))
    if how == "equal":  # of layout "record", nothing moved
        return record_release(part, part, Provenance("suppress", 0))
    groups = draw(st.lists(st.integers(0, 2), min_size=part.n_users, max_size=part.n_users))
    return grouped(part, groups, how, draw(st.integers(2, 3)))


def earlier_ratings(draw: Any, ratings: Ratings, changes: str) -> Ratings:
    """Ratings as they may have been before."""
    if changes == "none":
        return ratings
    size = ratings.n_ratings
    there = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=np.bool_)
    codes = ratings.codes
    if changes == "revised" and len(ratings.levels) > 1:
        code = st.integers(0, len(ratings.levels) - 1)
        codes = np.array(draw(st.lists(code, min_size=size, max_size=size)), dtype=codes.dtype)
    before = np.concatenate([[0], np.cumsum(there)])
    return replace(
        ratings,
        indptr=before[ratings.indptr],
        columns=ratings.columns[there],
        codes=codes[there],
    )


@st.composite
def several(draw: st.DrawFn) -> tuple[Ratings, list[Release], str]:
    ratings = draw(ratings_tables(with_days=False, max_users=7, max_items=4)).drop_empty_users()
    assume(ratings.n_users)
    changes = draw(st.sampled_from(LAWS))
    older, oldest = earlier_ratings(draw, ratings, changes), ratings
    if draw(st.booleans()):
        oldest = earlier_ratings(draw, older, changes)
    tables = [oldest, older, ratings] if oldest is not ratings else [older, ratings]
    newest = released(draw, ratings)
    assume(newest is not None)
    before = [released(draw, each) for each in tables[:-1] if each.drop_empty_users().n_users]
    return ratings, [each for each in [*before, newest] if each is not None], changes


@at_least(150)
@given(several())
def test_it_counts_what_every_history_allows(made: tuple[Ratings, list[Release], str]) -> None:
    ratings, releases, changes = made
    found = composition_of(releases, ratings, changes)  # type: ignore[arg-type]
    items = sorted({item for release in releases for item in release.classes.items})
    told = naive.together(ratings.scale, [said(each) for each in releases], items, changes)
    assert not told.impossible
    same_classes(found, told)
    counts = found.counts
    claimed = [release.manifest.claimed_k for release in releases]
    assert found.k == min((k for k in claimed if k), default=None)
    hide = list(naive_again.crowds([told_of(part) for part in found.parts]).values())
    assert counts.smallest == min(hide)
    assert counts.people_unique == sum(n < 2 for n in hide)
    assert counts.people_below_k == (None if found.k is None else sum(n < found.k for n in hide))
    assert counts.people_certain == told.people_certain
    assert counts.cells_certain == sum(told.pinned.values())
    rated = [v for own in told.last.values() for v in own.values() if v != [None]]
    assert counts.cells == len(rated)
    same_contents(found, told)
    for release, its in zip(releases, found.each, strict=True):
        alone = naive.together(ratings.scale, [said(release)], items, "none")
        assert (its.people_certain, its.people_unique) == (alone.people_certain, alone.below(2))
        assert its.cells_certain == sum(alone.pinned.values())


def same_classes(found: Composed, told: naive.Told) -> None:
    joint = found.joint
    people = dict(zip(joint.people, joint.of_person.tolist(), strict=True))
    assert people.keys() == told.joint.keys()
    number = {told.joint[person]: own for person, own in people.items()}
    assert {person: number[told.joint[person]] for person in people} == people
    assert len(set(number.values())) == len(number) == len(joint.sizes)
    assert {number[name]: n for name, n in told.sizes.items()} == dict(enumerate(joint.sizes))


def same_contents(found: Composed, told: naive.Told) -> None:
    assert found.together is not None
    cells = found.together.cells
    for person, row in zip(found.joint.people, found.joint.of_person.tolist(), strict=True):
        own = {
            cells.items[int(cells.columns[p])]: content(cells.symbols, cells.codes[p])
            for p in range(cells.indptr[row], cells.indptr[row + 1])
        }
        for item, values in told.last[person].items():
            ours = own.get(item, frozenset([None]))
            every = naive.values_of(cells.symbols.scale, [ours, frozenset(values)])
            if isinstance(ours, frozenset):
                assert ours == frozenset(values)
            else:  # a range: where it begins and ends, and a point within
                assert {v for v in values if not naive.holds(ours, v)} == set()
                given = [v for v in values if v is not None]
                assert ours == (min(given), max(given), None in values), every


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = CAST["half stars"].drop_empty_users()
    releases = [KLikeness(k=3).anonymize(ratings, rng=seed) for seed in (1, 2)]
    usual = composition_of(releases, ratings)
    monkeypatch.setattr(cells_of_joint, "_BLOCK", 1)
    monkeypatch.setattr(cells_of_joint, "_TABLE", 1)
    small = composition_of(releases, ratings)
    assert small.counts == usual.counts
    for name in ("indptr", "columns", "codes"):
        assert (
            getattr(small.together.cells, name).tolist()  # type: ignore[union-attr]
            == getattr(usual.together.cells, name).tolist()  # type: ignore[union-attr]
        )


def test_many_contents_are_told_apart() -> None:
    rows = np.array([[3, 2**33], [0, 5], [3, 2**33], [3, 5]])
    distinct, number = cells_of_joint.numbered(rows, 2**40)
    assert distinct[number].tolist() == rows.tolist()
    assert len(distinct) == 3


knowledges = st.builds(
    Knowledge,
    known=st.integers(1, 2),
    wrong=st.integers(0, 1),
    rating_error=st.sampled_from([0.0, 1.0]),
    dates=st.just(False),
)


@at_least(40)
@given(several(), knowledges, st.integers(0, 9))
def test_who_is_named_is_whom_one_likelihood_names(
    made: tuple[Ratings, list[Release], str], knowledge: Knowledge, seed: int
) -> None:
    ratings, releases, changes = made
    assume(ratings.scale.step is not None and len(ratings.scale.levels) <= 5)
    *earlier, newest = releases
    attack = Composition(earlier=earlier, changes=changes)  # type: ignore[arg-type]
    everybody = {user for each in releases for user in said(each)}
    items = sorted({item for release in releases for item in release.classes.items})
    original = ratings
    released = np.array([u for u, key in enumerate(ratings.users) if key in everybody])
    places = np.sort(ratings.items.indices(items))
    ratings = ratings.keep_users(released).keep_items(places[places >= 0])
    if not knowledge.eligible_users(ratings).any():
        return
    result = attack.run(newest, knowledge, original=original, rng=seed)
    told = naive.together(ratings.scale, [said(each) for each in releases], items, changes)
    place = {key: i for i, key in enumerate(ratings.items)}
    law = naive_likelihood.Law(
        ratings, knowledge.known, knowledge.wrong, "value", knowledge.rating_error, None, True,
        tuple(sorted(place[item] for item in items)),
    )  # fmt: skip
    someone = {name: person for person, name in told.joint.items()}
    classes = {
        name: {place[i]: tuple(v) for i, v in told.last[p].items() if v != [None]}
        for name, p in someone.items()
    }
    eligible = knowledge.eligible_users(ratings)
    users = [u for u, key in enumerate(ratings.users) if eligible[u] and key in told.joint]
    known = knowledge.draw(ratings, np.array(users), seed)
    right = {"class": 0.0, "record": 0.0}
    for t, user in enumerate(users):
        facts = facts_of(known, t)
        chance = {name: law.chance_of_class(own, facts) for name, own in classes.items()}
        own = told.joint[ratings.users[user]]
        for what, size in (("class", told.sizes), ("record", dict.fromkeys(told.sizes, 1))):
            weight = {name: chance[name] * size[name] for name in chance}
            best = [n for n in weight if weight[n] >= max(weight.values()) * (1 - 1e-9)]
            if own in best and max(weight.values()) > 0:
                among = len(best) if what == "class" else sum(told.sizes[n] for n in best)
                right[what] += 1 / among
    assert result.targets == len(users)
    assert result.class_linkage is not None
    assert result.re_identification is not None
    assert result.class_linkage.rate == pytest.approx(right["class"] / len(users))
    assert result.re_identification.rate == pytest.approx(right["record"] / len(users))


def hand(rows: list[dict[int, float]]) -> Ratings:
    return table(rows, STARS, n_items=2)


def test_two_releases_by_hand() -> None:
    """Of four people each release hides two and two; together they hide nobody."""
    ratings = hand([{0: 3.0}, {0: 4.0}, {0: 5.0}, {0: 4.0, 1: 1.0}])
    first, second = grouped(ratings, [0, 0, 1, 1]), grouped(ratings, [0, 1, 1, 0])
    result = Composition(earlier=[first]).run(second, Knowledge(known=1), original=ratings, rng=0)
    assert (result.k, result.classes, result.smallest) == (2, 4, 1)
    assert result.below_k is not None
    assert result.below_k.rate == result.unique.rate == result.re_identification_in_class.rate == 1
    # 3 or 4 and 3 or 4; 3 or 4 and 4 or 5; 4 or 5 twice; 4 or 5 and 3 or 4
    assert result.people_certain == 2
    assert [each.people_certain for each in result.per_release] == [0, 0]
    assert [each.re_identification_in_class.rate for each in result.per_release] == [0.5, 0.5]
    assert result.record_baseline == 0.25
    assert "in one below the claimed k = 2" in str(result)
    assert "[{" in str(result.to_dict())


@pytest.mark.parametrize(
    ("before", "after", "changes", "pinned", "left", "allowed"),
    [
        ([4], [4, 5], "none", True, [4], True),
        ([None, 4], [4, 5], "none", True, [4], True),
        ([None, 4], [4, 5], "added", False, [4, 5], True),  # it may have been given since
        ([3, 4], [4, 5], "added", True, [4], True),
        ([3, 4], [4, 5], "revised", False, [4, 5], True),
        ([3], [4, 5], "revised", True, [4, 5], True),  # a 3, then
        ([None, 3], [4], "revised", True, [4], True),
        ([3, 4], [None, 4], "revised", True, [4], True),  # none is withdrawn
        ([None], [None, 4], "added", False, [None, 4], True),
        ([None], [None, 4], "none", False, [None], True),
        ([3], [4, 5], "added", False, [], False),
        ([3], [None], "revised", False, [], False),
        ([None], [3], "none", False, [], False),
    ],
)
def test_what_two_cells_allow(
    before: Any, after: Any, changes: Any, pinned: bool, left: Any, allowed: bool
) -> None:
    contents = [
        Symbols.sets(STARS, [np.array([v for v in own if v], dtype=float)], np.array([None in own]))
        for own in (before, after)
    ]
    found = possible(Pool.of(STARS, contents), np.array([[0, 1]]), changes)
    assert found.impossible.tolist() == [not allowed]
    if allowed:
        assert found.pinned.tolist() == [pinned]
        assert content(found.last, 0) == frozenset(left)


def test_a_rating_that_is_not_released_any_more_is_some_rating() -> None:
    real = Scale(-10, 10)
    contents = Symbols.sets(real, [np.array([2.0])], np.array([False]))
    pool = Pool.of(real, [contents])
    found = possible(pool, np.array([[0, pool.anything], [pool.nothing, pool.anything]]), "revised")
    assert [content(found.last, code) for code in (0, 1)] == [(-10, 10, False), (-10, 10, True)]
    assert found.last.low[0] == -10


def test_the_same_release_twice_tells_nothing_more() -> None:
    ratings = CAST["duplicate records"]
    release = KLikeness(k=3).anonymize(ratings, rng=0)
    found = composition_of([release, release, release], ratings.drop_empty_users())
    assert found.counts == replace(found.each[0], classes=found.counts.classes)
    assert found.counts.classes == release.classes.n_groups


def test_averages_and_moved_ratings_pin_nothing() -> None:
    ratings = CAST["ordinary"]
    averaged = PredictiveAnonymizer(2, factors=2, sweeps=2).anonymize(ratings, rng=0)
    moved = IntervalAnonymizer(2, 1, nulls="ignore").anonymize(ratings, rng=0)
    result = Composition(earlier=[averaged]).run(moved, Knowledge(known=1), original=ratings, rng=0)
    assert result.certain is result.cells is result.class_linkage is None
    assert result.classes >= max(each.classes for each in result.per_release)
    assert "so no rating becomes certain" in str(result)
    plain = KLikeness(k=2).anonymize(ratings, rng=0)
    result = Composition(earlier=[averaged]).run(plain, Knowledge(known=1), original=ratings, rng=0)
    assert result.people_certain == result.per_release[1].people_certain
    assert result.per_release[0].people_certain is None


def test_of_moved_records_what_was_never_moved_is_true() -> None:
    ratings = CAST["ordinary"]
    method = IntervalAnonymizer(3, 1, l=0.5, sensitive=["1"], nulls="ignore")
    release = method.anonymize(ratings, rng=0)
    assert never_moved(release).sum() == 1
    found = composition_of([release, release], ratings.drop_empty_users())
    on_item = ratings.keep_items(np.array([0])).n_ratings
    assert found.counts.cells_certain == found.counts.people_certain == on_item
    assert found.each[0].people_certain == on_item


def test_releases_without_items_in_common_still_have_joint_classes() -> None:
    ratings = CAST["ordinary"].drop_empty_users()
    halves = [ratings.keep_items(np.arange(3)), ratings.keep_items(np.arange(3, 6))]
    first, second = (KLikeness(k=2).anonymize(half, rng=0) for half in halves)
    result = Composition(earlier=[first]).run(second, Knowledge(known=2), original=ratings, rng=0)
    assert (result.items, result.common_items) == (6, 0)
    assert result.classes > second.classes.n_groups
    assert "no item in common" in str(result)


def test_other_scales_say_nothing_of_ratings() -> None:
    ratings = CAST["ordinary"].drop_empty_users()
    wide = replace(
        ratings,
        scale=Scale(0, 10, 1),
        levels=np.arange(11.0),
        codes=ratings.values().astype(np.uint8),
    )
    first, second = (KLikeness(k=2).anonymize(each, rng=0) for each in (wide, ratings))
    found = composition_of([first, second], ratings, "revised")
    assert found.each[0].people_certain is None
    assert found.counts.people_certain == found.each[1].people_certain


RATINGS = CAST["ordinary"].drop_empty_users()
FIRST, SECOND = (KLikeness(k=3).anonymize(RATINGS, rng=seed) for seed in (1, 2))


def attacked(first: Any, second: Any = SECOND, original: Any = RATINGS, **more: Any) -> Any:
    return Composition(earlier=first, **more).run(second, Knowledge(known=1), original=original)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: attacked([replace(FIRST, private=None)]), "composition is not computable"),
        (lambda: attacked([FIRST], replace(SECOND, private=None)), "composition is not computable"),
        (lambda: attacked(["folder"]), "earlier: must be releases"),
        (lambda: attacked(3), "earlier = 3: must be a list of releases"),
        (lambda: attacked([FIRST], changes="some"), "must be none, added or revised"),
        (lambda: attacked([FIRST], RATINGS, None), "ratings, not a release"),
        (lambda: attacked([FIRST], original=None), "needs the original ratings"),
    ],
)
def test_what_it_cannot_be_of_is_refused(call: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        call()


def test_a_link_that_is_not_theirs_is_refused() -> None:
    assert FIRST.private is not None
    link = FIRST.private.link
    turned = replace(link, record=np.roll(link.record, 5))
    foreign = replace(FIRST, private=replace(FIRST.private, link=turned))
    with pytest.raises(ConfigError, match="do not match their class"):
        attacked([foreign])
    short = replace(link, users=link.users.take(np.arange(3)), record=np.arange(3))
    foreign = replace(FIRST, private=replace(FIRST.private, link=short))
    with pytest.raises(ConfigError, match="do not belong together"):
        attacked([foreign])
    with pytest.raises(ConfigError, match="do not belong together"):
        link_of(foreign)  # also where ratings may have changed since


def test_ratings_that_changed_otherwise_are_refused() -> None:
    before = hand([{0: 3.0}, {0: 3.0}, {0: 5.0, 1: 2.0}, {0: 5.0, 1: 2.0}])
    after = hand([{0: 3.0}, {0: 4.0}, {0: 5.0, 1: 2.0}, {0: 5.0, 1: 2.0}])
    first, second = grouped(before, [0, 0, 1, 1]), grouped(after, [0, 1, 2, 2])
    for changes in ("none", "added"):
        with pytest.raises(ConfigError, match=r"1 of 4 sampled users|the cells of 1 person"):
            composition_of([first, second], after, changes)  # type: ignore[arg-type]
    assert composition_of([first, second], after, "revised").counts.people_certain == 4


def test_other_people_have_no_joint_classes() -> None:
    """People are known by their ids alone."""
    others = replace(RATINGS, users=Vocabulary(np.arange(900, 900 + RATINGS.n_users)))
    first = KLikeness(k=3).anonymize(others, rng=0)
    found = composition_of([first, SECOND], RATINGS, "added")
    assert found.in_all == found.counts.people_below_k == 0
    assert found.counts.people == 2 * RATINGS.n_users


def test_common_items_are_those_of_every_release() -> None:
    ratings = CAST["ordinary"].drop_empty_users()
    parts = [ratings.keep_items(np.array(kept)).drop_empty_users() for kept in ([0, 1, 2], [1, 2])]
    parts.append(ratings.keep_items(np.array([2, 3, 4])).drop_empty_users())
    releases = [grouped(part, [0] * part.n_users) for part in parts]
    for n, common in ((1, 3), (2, 2), (3, 1)):
        found = composition_of(releases[:n], parts[n - 1], "revised")
        assert found.common_items == common
    assert found.items == 5


def test_high_and_low_are_good_as_the_definitions_say() -> None:
    """High is bad of what an adversary finds, low of the records to hide among."""
    more = {"below_k", "unique", "re_identification_in_class", "certain", "cells_certain",
    "class_linkage",
            "re_identification", "classes"}  # fmt: skip
    neither = {"releases", "people", "in_all", "common_items"}
    low_is_good = dict.fromkeys(more, True) | dict.fromkeys(neither)
    low_is_good |= {"smallest": False, "records": False}
    assert {figure.key: figure.low_is_good for figure in _SHOWN} == low_is_good
