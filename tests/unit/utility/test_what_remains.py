from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Symbols
from starshade.release.table import Release
from starshade.utility import remaining
from starshade.utility.what_remains import WhatRemains
from tests.naive import what_remains as naive
from tests.strategies import at_least, table
from tests.unit.release.changes import released
from tests.unit.utility.cases import profiled, releases

STARS = Scale(1, 5, 1)


@st.composite
def with_more(draw: st.DrawFn):
    """A release, and what it was made of among other people and other items."""
    release, original = draw(releases())
    assume(original.n_ratings)
    if draw(st.booleans()):
        return release, original
    rows = [
        {int(i): float(v) for i, v in enumerate(row) if v == v} for row in original.dense().tolist()
    ]
    extra = float(original.levels[0])
    for row in rows[: draw(st.integers(0, len(rows)))]:
        row[original.n_items] = extra
    others = draw(st.integers(0, 2))
    rows += [{original.n_items: extra}] * others
    whole = table(rows, original.scale, n_items=original.n_items + 1)
    ids = np.array([*original.users, *range(1000, 1000 + others)])
    items = Vocabulary(np.array([*original.items, 1000]))
    return release, replace(whole, users=Vocabulary(ids), items=items)


@given(with_more(), st.sampled_from([1, 3, 2**22]))
@at_least(150)
def test_every_rating_is_told_as_the_twin_tells_it(case, block):
    release, original = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remaining, "_BLOCK", block)
        patch.setattr(remaining, "_COUNTED", block)
        found = WhatRemains().measure(release, original).figures
    slow = naive.what_remains(release, original)
    assert found.keys() == slow.keys(), found.keys() ^ slow.keys()
    applies = {key: value for key, value in slow.items() if value is not None}
    assert {key for key, value in found.items() if value is not None} == set(applies)
    assert {key: found[key] for key in applies} == pytest.approx(applies, rel=1e-9, abs=1e-12)


def test_each_kind_of_a_cell():
    rows = [{0: 3, 1: 3, 2: 1, 3: 2}, {0: 3, 1: 4, 2: 5}, {0: 1, 4: 2}, {0: 1, 4: 2}]
    whole = table(rows, STARS)
    release = KLikeness(2, rare_items="drop").anonymize(whole, rng=0)
    found = WhatRemains().measure(release, whole).figures
    assert release.classes.n_items == 4  # that of item 3 is gone
    assert release.classes.n_groups == 2
    shares = {key: round(found[f"utility_{key}"] * 11) for key in ("exact", "one_step", "wider")}
    assert shares == {"exact": 6, "one_step": 2, "wider": 2}
    assert (found["utility_existence_only"], found["utility_ambiguous"]) == (0, 0)
    assert found["utility_suppressed"] == pytest.approx(1 / 11)
    assert found["utility_left_out"] == pytest.approx(1 / 11)  # its item is not released
    assert found["recoverable_within_step"] == pytest.approx(8 / 11)
    assert found["imputed_share"] == 0
    # read as 3; 3½ twice; 3 for 1 and 5; 1 and 2 twice; the rating that is gone as 3, it was 2.
    # Averages: 2 (off by 1, four times), 3½ (½, twice), 3 (2, twice), 2, 2
    assert found["improvement_over_item_means"] == pytest.approx(1 - (0.5 + 8 + 1) / (4 + 0.5 + 8))
    assert found["item_means_within_step"] == pytest.approx(9 / 11)


def test_the_whole_scale_is_open_even_where_all_of_it_is_near():
    binary = table([{0: 0}, {0: 1}], Scale(0, 1, 1))
    found = WhatRemains().measure(KLikeness(2).anonymize(binary, rng=0), binary).figures
    assert found["utility_existence_only"] == 1
    assert found["recoverable_within_step"] == 1  # read as the middle, as the skill reads it
    assert found["imputed_share"] is None  # no cell is empty
    real = table([{0: -10}, {0: 10}], Scale(-10, 10))
    release = KLikeness(2, "ndgh").anonymize(real, rng=0)
    assert WhatRemains().measure(release, real).figures["utility_wider"] == 1  # one of two
    ends = Symbols.ranges(real.scale, np.array([-10.0]), np.array([10.0]))
    release = replace(release, classes=replace(release.classes, symbols=ends))
    found = WhatRemains().measure(release, real).figures
    assert found["utility_existence_only"] == 1
    assert found["improvement_over_item_means"] == 0  # the middle is the average


def test_a_cell_is_read_once_for_both_figures():
    """Of two people each item is rated by one: "a rating or none", read as that rating."""
    original = table([{0: 1, 1: 5}, {2: 2, 3: 4}], STARS)
    release = KLikeness(2, rare_items="keep").anonymize(original, rng=0)
    found = WhatRemains().measure(release, original).figures
    assert found["utility_ambiguous"] == 1
    assert found["recoverable_within_step"] == 1
    assert (
        found["improvement_over_item_means"] is None
    )  # the averages, each of one rating, are right as well


def test_a_step_of_a_real_scale_is_a_twentieth_of_its_width():
    rows = [{0: 0.0}, {0: 1.0}, {0: 5.0}, {0: 6.01}]
    original = table(rows, Scale(-10, 10))
    release = KLikeness(2, "ndgh").anonymize(original, rng=0)
    assert release.classes.n_groups == 2
    found = WhatRemains().measure(release, original).figures
    assert (found["utility_one_step"], found["utility_wider"]) == (0.5, 0.5)


def test_profiles_are_within_half_a_step_or_one_or_farther():
    original = table([{0: 3, 1: 1}, {0: 4, 1: 5}], STARS)
    # both are released as 3.5 on the one, as null on the other, and 2 on one that nobody rated
    release = profiled(original, [[6, 0]], [0, 0], 0.5, "simple")
    found = WhatRemains().measure(release, original).figures
    assert (found["utility_half_step"], found["utility_suppressed"]) == (0.5, 0.5)
    assert found["utility_exact"] is None
    wide = table([{0: 3, 2: 1}, {0: 4}, {1: 1, 2: 2}], STARS)
    release = profiled(wide.keep_users(np.array([0, 1])), [[5, 3, 9]], [0, 0], 0.5)
    found = WhatRemains().measure(release, wide).figures
    # 3 is 3, 4 is a step away, 1 is told as 5; of the third person all is gone
    kinds = ("half_step", "one_step", "wider", "suppressed")
    assert [found[f"utility_{kind}"] for kind in kinds] == [0.2, 0.2, 0.2, 0.4]
    assert found["imputed_share"] == pytest.approx(3 / 4)  # the third person's stays empty


def test_moved_records():
    original = table([{0: 5, 1: 3}, {0: 4, 1: 3}, {0: 2, 2: 1}], STARS)
    release = released(original, [{0: 5, 1: 4}, {0: 2, 1: 3, 2: 2}, {2: 1}])
    found = WhatRemains().measure(release, original).figures
    assert found["utility_left_out"] == 0  # the rating was moved away
    kinds = ("exact", "one_step", "wider", "suppressed")
    assert [round(found[f"utility_{kind}"] * 6) for kind in kinds] == [3, 1, 1, 1]
    assert found["imputed_share"] == pytest.approx(1 / 3)


def test_records_of_nobody_are_nobodys_ratings():
    original = table([{0: 1, 1: 5}, {0: 1, 1: 5}, {0: 4}, {0: 4}], STARS)
    release = KLikeness(2, rare_items="keep").anonymize(original, rng=0)
    before = WhatRemains().measure(release, original).figures
    assert before["utility_exact"] == 1
    forgotten = without(release, 2)
    after = WhatRemains().measure(forgotten, original).figures
    assert after["utility_suppressed"] == pytest.approx(1 / 6)
    assert after["utility_left_out"] == pytest.approx(1 / 6)
    some = forgotten.manifest.model_copy(update={"users_deleted": "more"})
    by_method = WhatRemains().measure(replace(forgotten, manifest=some), original).figures
    assert (by_method["utility_suppressed"], by_method["utility_left_out"]) == (
        after["utility_suppressed"],
        0,
    )
    assert after["imputed_share"] == 0
    with pytest.raises(
        ConfigError, match="1 of the 4 people in the release are not in the original"
    ):
        WhatRemains().measure(release, original.keep_users(np.array([0, 1, 2])))


def without(release: Release, user: int) -> Release:
    """Forget somebody: their record is nobody's from now on."""
    private = release.private
    assert private is not None
    stays = np.arange(len(private.link.record)) != user
    link = replace(
        private.link,
        users=private.link.users.take(np.flatnonzero(stays)),
        record=private.link.record[stays],
    )
    gone = private.link.record[~stays]
    return replace(release, private=replace(private, link=link, forgotten=gone))


def test_it_takes_the_receipt():
    original = table([{0: 1}, {0: 2}], STARS)
    release = KLikeness(2).anonymize(original, rng=0)
    for result in (
        WhatRemains().measure(replace(release, private=None), original),
        WhatRemains().measure(release),
    ):
        assert set(result.figures.values()) == {None}
        assert "the private key file" in str(result)


def test_averages_that_are_right_throughout_leave_no_skill():
    original = table([{0: 2, 1: 0.3}, {0: 2, 1: 0.3}, {1: 0.3}], Scale(-10, 10))
    release = KLikeness(2, rare_items="keep").anonymize(original, rng=0)
    assert WhatRemains().measure(release, original).figures["improvement_over_item_means"] is None
