"""Releases that continue one another, year after year, held beside their definition."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.baselines import KMember, Mondrian, MondrianRelaxed
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.composition.composed import composition_of
from starshade.audit.make import make_release
from starshade.errors import ConfigError, UnmetError
from starshade.ratings.scale import Scale
from starshade.ratings.select import listed_items
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release import MEANS
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from tests.naive import again as naive
from tests.naive.composition import Content, Value
from tests.naive.generalize import dgh, ndgh, span
from tests.strategies import at_least, table
from tests.unit.attack.parts import cells_told

STARS = Scale(1, 5, 1)
SCALES = (STARS, Scale(0.5, 5, 0.5), Scale(0.1, 0.7, 0.1), Scale(-10, 10), Scale(3, 3, 1))
GROUPING = (KExchange, KLikeness, KMember, Mondrian, MondrianRelaxed)
Rows = dict[int, dict[int, float]]


def ratings_of(rows: Rows, scale: Scale, n_items: int) -> Ratings:
    """The ratings of some people by their numbers."""
    made = table([rows[u] for u in sorted(rows)], scale, n_items=n_items)
    return replace(made, users=Vocabulary(np.array(sorted(rows))))


@dataclass
class Story:
    """What somebody has to publish each year, and how."""

    years: list[Rows]
    scale: Scale
    n_items: int
    k: int
    slack: int
    shortfall: Any
    changes: Any
    seed: int

    def tables(self) -> list[Ratings]:
        return [ratings_of(rows, self.scale, self.n_items) for rows in self.years]


@st.composite
def stories(draw: st.DrawFn, scales: tuple[Scale, ...] = SCALES, most: int = 5) -> Story:
    """People come, leave, come back; whole groups leave; equal records; one who rates all."""
    scale = draw(st.sampled_from(scales))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_items, k = draw(st.integers(4, 20)), draw(st.integers(1, 3)), draw(st.integers(2, 3))
    levels = scale.levels if scale.step else np.array([-10.0, -0.125, 0.0, 3.3, 10.0])
    levels = rng.choice(levels, min(len(levels), draw(st.sampled_from([1, 2, 9]))), replace=False)
    shown, changes = (
        draw(st.sampled_from([0.2, 0.6, 1.0])),
        draw(st.sampled_from(["added", "revised"])),
    )
    leave = draw(st.sampled_from([0.0, 0.1, 0.3, 0.6]))
    begun = draw(st.integers(min(k + 1, n), n))
    state: Rows = {u: {} for u in range(1, n + 1)}
    years: list[Rows] = []
    for year in range(draw(st.integers(2, most))):
        for u, row in state.items():
            for i in range(n_items):
                may = i not in row or changes == "revised"
                if may and rng.random() < (1.0 if u == 1 else shown):
                    row[i] = float(rng.choice(levels))
        if draw(st.booleans()):
            state[2] = dict(state[1])
        there = [u for u in state if u <= begun + 3 * year and rng.random() >= leave * (year > 0)]
        years.append({u: dict(state[u]) for u in there or [1]})
    slack, shortfall = draw(st.integers(0, 3)), draw(st.sampled_from(["dummies", "withhold"]))
    return Story(years, scale, n_items, k, slack, shortfall, changes, draw(st.integers(0, 99)))


def saved(release: Release, folder: Path, year: int) -> Release:
    """Write a release with its receipt and read both back."""
    release.save(folder / str(year), private=folder / f"{year}.json")
    return read_release(folder / str(year), private=folder / f"{year}.json")


def groups_of(release: Release) -> dict[str, int]:
    private = release.private
    if private.chain is None:
        row = release.class_of_record[private.link.record]
        return dict(zip(private.link.users, row.tolist(), strict=True))
    return dict(zip(private.link.users, private.chain.group.tolist(), strict=True))


def ever_in(release: Release) -> dict[str, int]:
    chain = release.private.chain
    gone = {} if chain is None else dict(zip(chain.gone, chain.gone_group.tolist(), strict=True))
    return gone | groups_of(release)


def rated(ratings: Ratings, release: Release) -> dict[str, naive.Row]:
    """Everybody's ratings of the released items, of those who have any."""
    out: dict[str, naive.Row] = defaultdict(dict)
    for u, user in enumerate(ratings.users):
        for p in range(ratings.indptr[u], ratings.indptr[u + 1]):
            item = ratings.items[int(ratings.columns[p])]
            if item in list(release.classes.items):
                out[user][item] = float(ratings.levels[ratings.codes[p]])
    return dict(out)


def say_of(hierarchy: str, scale: Scale) -> Callable[[set[Value]], Content]:
    """What a set of values is released as."""
    levels, null = None if scale.step is None else scale.levels.tolist(), scale.null_level

    def ranged(low: float, high: float) -> Content:
        if levels is None:
            return max(low, scale.minimum), min(high, scale.maximum), low < scale.minimum
        members = [v for v in levels if low - 1e-9 <= v <= high + 1e-9]
        return frozenset(members + [None] * (low < scale.minimum - 1e-9))

    def say(values: set[Value]) -> Content:
        if values == {None}:
            return naive.NOTHING
        if hierarchy == "ndgh":
            return ndgh(values)
        if hierarchy == "range":
            found = span(values, levels, null)
            return found if isinstance(found, frozenset) else ranged(*found)
        blocks = [
            [(i.low, i.high, i.without_low) for i in level]
            for level in resolve("dgh", scale, null_occurs=True).levels
        ]
        return ranged(*dgh(values, blocks, null))

    return say


def expected_of(story: Story, before: Release, ratings: Ratings) -> naive.Next:
    return naive.released_again(
        ever_in(before),
        set(groups_of(before).values()),
        set(rated(ratings, before)),
        story.k,
        story.shortfall,
    )


def refused(before: Release, expected: naive.Next) -> bool:
    """Whether most of those who stayed could not be released."""
    out = len(expected.withheld & ever_in(before).keys())
    return 2 * out > out + sum(map(len, expected.groups.values()))


def left(expected: naive.Next, before: Release) -> set[str]:
    """Who ever left a group that goes on."""
    return {
        user
        for user, group in ever_in(before).items()
        if group in expected.groups and user not in expected.groups[group]
    }


def told_of_means(method: Any, expected: naive.Next, before: Release) -> str:
    """What is said of profiles that cannot be released again."""
    if getattr(method, "profile", None) not in MEANS:
        return "of no other method"
    return "lost members" if left(expected, before) else "no item has that many raters"


def check_people(before: Release, release: Release, expected: naive.Next) -> None:
    chain, own = release.private.chain, groups_of(release)
    kept = {u: g for g, people in expected.groups.items() for u in people}
    assert {u: g for u, g in own.items() if u in kept} == kept
    assert own.keys() - kept.keys() == expected.newcomers
    fresh = Counter(own[u] for u in expected.newcomers)
    assert not fresh.keys() & set(ever_in(before).values())
    assert Counter(chain.invented.tolist()) == expected.invented
    assert release.exact.users_deleted == len(expected.withheld)
    assert release.exact.dummy_records == sum(expected.invented.values())
    assert release.n_records == len(own) + sum(expected.invented.values())
    assert release.n_people == len(own)
    assert ever_in(release).items() >= ever_in(before).items()
    assert ever_in(release).keys() == ever_in(before).keys() | expected.newcomers
    assert list(release.classes.items) == list(before.classes.items)


def check_cells(before: Release, release: Release, ratings: Ratings, hierarchy: str) -> None:
    """Each group's cells say what its people's ratings and, if it must, those of before are."""
    rows, ever, last = rated(ratings, before), ever_in(before), groups_of(before)
    row_before = before.class_of_record[before.private.link.record]
    row_now = release.class_of_record[release.private.link.record]
    told_before, told_now = cells_told(before.classes), cells_told(release.classes)
    row_of_group = {last[u]: row_before[i] for i, u in enumerate(before.private.link.users)}
    people = defaultdict(set)
    for user, group in groups_of(release).items():
        people[group].add(user)
    say = say_of(hierarchy, ratings.scale)
    place = {user: i for i, user in enumerate(release.private.link.users)}
    for group, members in people.items():
        left = {u for u, g in ever.items() if g == group} - rows.keys()
        for item in release.classes.items:
            held = told_before[row_of_group[group]][item] if left else None
            values = naive.must_hold([rows[u] for u in members], held, item)
            shown = told_now[row_now[place[next(iter(members))]]][item]
            assert plain(shown) == plain(say(values)), item


def plain(content: Content) -> Content:
    """A range of one rating is that rating; ends are compared to nine decimals."""
    if isinstance(content, frozenset):
        return frozenset(None if v is None else round(v, 9) + 0.0 for v in content)
    low, high, null = content
    if low == high and not null:
        return frozenset([round(low, 9) + 0.0])
    return round(low, 9) + 0.0, round(high, 9) + 0.0, null


def tell(story: Story, method: Any, hierarchy: str | None) -> None:
    """Release year after year; everything is as the definition says."""
    releases: list[Release] = []
    with tempfile.TemporaryDirectory() as folder:
        for year, ratings in enumerate(story.tables()):
            try:
                if not releases:
                    made = method.anonymize(ratings, rng=story.seed)
                else:
                    before, expected = releases[-1], expected_of(story, releases[-1], ratings)
                    unmet = refused(before, expected)
                    if not rated(ratings, before).keys() & ever_in(before).keys():
                        with pytest.raises(ConfigError, match="none of the people"):
                            method.anonymize(ratings, after=before, shortfall=story.shortfall)
                        return
                    if unmet:
                        with pytest.raises(UnmetError, match="too many have left"):
                            method.anonymize(ratings, after=before, shortfall=story.shortfall)
                        return
                    made = method.anonymize(
                        ratings, rng=story.seed, after=before, shortfall=story.shortfall
                    )
            except UnmetError as error:
                if "all profiles are equal" in error.message:
                    return
                if releases and told_of_means(method, expected, before) not in error.message:
                    raise
                return
            except ConfigError:  # fewer people than k
                if releases:
                    raise
                return
            release = saved(made, Path(folder), year)
            assert release.classes.sizes.min() >= story.k
            if releases:
                assert not (getattr(method, "profile", None) in MEANS and left(expected, before))
                check_people(before, release, expected)
                if hierarchy is not None:
                    check_cells(before, release, ratings, hierarchy)
            releases.append(release)
            found = composition_of(releases, ratings, story.changes)
            assert found.counts.smallest >= story.k
            assert found.counts.people_below_k == 0


@at_least(80)
@given(stories(), st.sampled_from(GROUPING), st.sampled_from(["ndgh", "range", "dgh"]))
def test_groups_that_are_kept(story: Story, method: Any, hierarchy: str) -> None:
    rare = "keep" if story.seed % 2 else "drop"
    tell(story, method(story.k, hierarchy, rare_items=rare, slack=story.slack), hierarchy)


@at_least(40)
@given(
    stories(scales=(STARS, Scale(0.5, 5, 0.5)), most=3),
    st.sampled_from(["pooled", "model"]),
    st.sampled_from(["exchange", "t-means"]),
)
def test_profiles_that_are_kept(story: Story, profile: str, grouping: str) -> None:
    method = PredictiveAnonymizer(
        story.k, profile=profile, grouping=grouping, rare_items="keep", slack=story.slack
    )
    tell(story, method, None)


@pytest.mark.parametrize("profile", ["padded", "simple"])
def test_means_are_refused_once_somebody_left(profile: str) -> None:
    method = PredictiveAnonymizer(3, profile=profile)
    first = method.anonymize(CAST, rng=1)
    assert method.anonymize(CAST, rng=2, after=first).manifest.dummy_records == "none"
    with pytest.raises(UnmetError, match="lost members since"):
        method.anonymize(CAST.keep_users(np.arange(1, 30)), rng=2, after=first)


CAST = ratings_of(
    {u: {i: float(1 + (u * (i + 3)) % 5) for i in range(4) if (u + i) % 3} for u in range(1, 31)},
    STARS,
    4,
)
METHODS = [
    *(method(3, slack=1) for method in GROUPING),
    *(PredictiveAnonymizer(3, profile=each, slack=1) for each in ("pooled", "model")),
]


def years(n: int = 3) -> list[Ratings]:
    """Every year five leave and five join."""
    return [CAST.keep_users(np.arange(5 * year, 5 * year + 20)) for year in range(n)]


def renamed(ratings: Ratings, names: dict[str, str]) -> Ratings:
    """The same ratings under other ids, in the order of these."""
    ids = [names.get(user, user) for user in ratings.users]
    users = Vocabulary.of(ids)
    order = np.argsort(users.indices(ids))
    return replace(ratings.keep_users(order), users=users)


def bytes_of(release: Release, folder: Path) -> dict[str, bytes]:
    release.save(folder)
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("method", METHODS, ids=lambda m: getattr(m, "profile", m.name))
def test_the_seed_decides_and_not_threads_order_or_new_names(method: Any, tmp_path: Path) -> None:
    one, two, _ = years()
    if getattr(method, "profile", None) in MEANS:
        two = CAST.keep_users(np.arange(25))  # nobody may leave
    first = saved(method.anonymize(one, rng=1), tmp_path, 0)
    new = {user: f"x{99 - int(user)}" for user in two.users if one.users.index(user) < 0}
    made = {}
    for threads, ratings in ((1, two), (2, two), (1, renamed(two, new))):
        with budget.limits(threads=threads):
            again = method.anonymize(ratings, rng=7, after=first)
        made[threads, ratings is two] = bytes_of(again, tmp_path / f"{threads}{ratings is two}")
    assert len({tuple(each.values()) for each in made.values()}) == 1
    other = bytes_of(method.anonymize(two, rng=8, after=first), tmp_path / "other")
    assert other.keys() == made[1, True].keys()


@pytest.mark.parametrize("number", [0, 2, 3, 4])
def test_newcomers_who_are_too_few_wait(number: int) -> None:
    one = years(1)[0]
    first = KExchange(3).anonymize(one, rng=0)
    again = KExchange(3).anonymize(CAST.keep_users(np.arange(20 + number)), rng=0, after=first)
    joined = set(again.private.link.users) - set(one.users)
    assert len(joined) == (number if number >= 3 else 0)
    assert again.exact.users_deleted == number - len(joined)


def test_a_group_that_was_withheld_never_comes_back() -> None:
    one = years(1)[0]
    first = KExchange(4).anonymize(one, rng=0)
    own = groups_of(first)
    leave = sorted(u for u, g in own.items() if g == 0)[:3]
    two = one.keep_users(np.flatnonzero([u not in leave for u in one.users]))
    second = KExchange(4).anonymize(two, rng=0, after=first)
    third = KExchange(4).anonymize(one, rng=0, after=second)
    for release in (second, third):
        assert 0 not in groups_of(release).values()
        assert set(ever_in(release)) == set(own)
    assert third.exact.users_deleted == sum(g == 0 for g in own.values())


def test_what_was_said_of_those_who_left_is_said_on() -> None:
    """Of four one gave a 5; whoever has both releases cannot see that it went with them."""
    rows: Rows = {1: {0: 5.0}, 2: {0: 1.0}, 3: {0: 1.0}, 4: {0: 1.0}}
    first = KExchange(4).anonymize(ratings_of(rows, STARS, 1), rng=0)
    del rows[1]
    second = KExchange(4).anonymize(ratings_of(rows, STARS, 1), rng=0, after=first)
    assert cells_told(second.classes) == [{"1": frozenset([1.0, 5.0])}]
    assert second.exact.dummy_records == 1


def test_more_slack_withstands_more_leaving() -> None:
    one, two, three = years()
    invented = []
    for slack in (0, 2):
        method = KExchange(3, slack=slack)
        first = method.anonymize(one, rng=0)
        assert np.bincount(list(groups_of(first).values())).min() >= 3 + slack
        second = method.anonymize(two, rng=0, after=first)
        invented.append(method.anonymize(three, rng=0, after=second).exact.dummy_records)
    assert invented[1] < invented[0]


def story() -> tuple[Release, Ratings]:
    one, two = years(2)
    return KExchange(3).anonymize(one, rng=0), two


def doubled(table: Ratings) -> Ratings:
    """The same people on a scale to ten that was found in their ratings."""
    report = replace(table.report, scale_inferred=True)
    return replace(table, scale=Scale(1, 10, 1), levels=table.levels * 2, report=report)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r, t: (replace(r, private=None), t), "continued only with its private key file"),
        (lambda r, t: (r, t.keep_items(np.arange(3))), "1 of the 4 items of the previous release"),
        (lambda r, t: (r, replace(t, scale=Scale(1, 10, 1))), "declared scale, 1:10:1"),
        (lambda r, t: (r, doubled(t)), "off the scale"),
        (lambda r, t: (r, t.keep_users(np.arange(15, 20))), "none of the people"),
        (lambda r, t: (r, t.keep_users(np.arange(0))), "none of the people"),
    ],
    ids=[
        "no receipt",
        "other items",
        "another scale",
        "off the scale",
        "nobody in common",
        "nobody",
    ],
)
def test_what_cannot_be_continued_is_refused(change: Any, message: str) -> None:
    release, ratings = change(*story())
    with pytest.raises(ConfigError, match=message) as raised:
        KExchange(3).anonymize(ratings, rng=0, after=release)
    assert raised.value.advice


def test_other_choices_than_before_are_refused() -> None:
    release, ratings = story()
    with pytest.raises(ConfigError, match="chosen items differ"):
        KExchange(3, items=listed_items(["1", "2"])).anonymize(ratings, rng=0, after=release)
    same = KExchange(3, items=listed_items(list(release.classes.items)))
    assert same.anonymize(ratings, rng=0, after=release).n_records
    with pytest.raises(ConfigError, match="layout generalized, this method produces profile"):
        PredictiveAnonymizer(3).anonymize(ratings, rng=0, after=release)
    with pytest.raises(ConfigError, match="personal attributes"):
        KExchange(3, attributes="exact").anonymize(ratings, rng=0, after=release)


def test_methods_that_keep_no_groups_continue_nothing(tmp_path: Path) -> None:
    release, ratings = story()
    with pytest.raises(ConfigError, match="cannot continue a release"):
        make_release(ratings, IntervalAnonymizer(3, 2), out=tmp_path / "out", after=release)
    assert not any(tmp_path.iterdir())


def test_more_leavers_than_can_be_replaced() -> None:
    release, _ = story()
    own = groups_of(release)
    few = {min(u for u in own if own[u] == g) for g in own.values()}
    rest = CAST.keep_users(np.flatnonzero([u in few for u in CAST.users]))
    with pytest.raises(UnmetError, match="too many have left") as raised:
        KExchange(3).anonymize(rest, rng=0, after=release)
    assert "slack" in raised.value.advice


def test_another_hierarchy_still_allows_all_that_was_said() -> None:
    """What a range held between its ends no list of ratings holds."""
    rows: Rows = {u: {0: float(v)} for u, v in ((1, -3), (2, 0.5), (3, 2), (4, 9))}
    first = KExchange(4, "range").anonymize(ratings_of(rows, Scale(-10, 10), 1), rng=0)
    del rows[2]
    after = ratings_of(rows, Scale(-10, 10), 1)
    with pytest.raises(ConfigError, match="ranges"):
        KExchange(4, "ndgh").anonymize(after, rng=0, after=first)
    again = KExchange(4, "dgh").anonymize(after, rng=0, after=first)
    assert composition_of([first, again], after, "added").counts.smallest == 4


def test_a_hierarchy_without_null_cannot_hold_what_was_null(tmp_path: Path) -> None:
    (tmp_path / "levels").write_text("[1,2] [3,5]\n[1,5]\n")
    rows: Rows = {1: {0: 5.0, 1: 2.0}, **{u: {0: 1.0} for u in (2, 3)}}
    first = KExchange(3, rare_items="keep").anonymize(ratings_of(rows, STARS, 2), rng=0)
    rows = {u: {0: 1.0, 1: 3.0} for u in (1, 2)}
    with pytest.raises(ConfigError, match="null"):
        KExchange(3, tmp_path / "levels").anonymize(ratings_of(rows, STARS, 2), rng=0, after=first)


def test_equal_releases_stand_in_the_order_in_which_they_continue(tmp_path: Path) -> None:
    method, equal = METHODS[0], []
    for year in range(4):
        made = method.anonymize(CAST, rng=1, after=equal[-1] if equal else None)
        equal.append(saved(made, tmp_path, year))
    names = [each.private.release for each in equal if each.private is not None]
    assert len(set(names[1:])) == 1
    assert composition_of(equal, CAST).counts.people_below_k == 0
    with pytest.raises(ConfigError, match="continues a release that is not listed before it"):
        composition_of([equal[1], equal[0]], CAST)
