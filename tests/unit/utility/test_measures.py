from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.release.cells import Symbols
from starshade.utility.losses import (
    AverageClassSize,
    Discernibility,
    DisclosureShares,
    GeneralizationLoss,
    class_sizes,
    column_ranges,
)
from tests.naive import k_anonymity
from tests.naive.gen_iloss import gen_iloss
from tests.naive.generalize import records
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


@st.composite
def releases(draw: st.DrawFn):
    ratings = draw(ratings_tables(min_users=2, with_days=False))
    assume(ratings.drop_empty_users().n_users >= 2)
    hierarchy = draw(st.sampled_from(["ndgh", "dgh"]))
    release = KLikeness(2, hierarchy, rare_items="keep").anonymize(
        ratings, rng=draw(st.integers(0, 5))
    )
    return release, ratings


@given(releases())
def test_generalization_loss_is_the_twins(case):
    release, original = case
    figures = GeneralizationLoss().measure(release, original).figures
    expected = gen_iloss(release.classes, original)
    assert figures == {"gen_iloss": pytest.approx(expected, rel=1e-12, abs=1e-15)}


@given(ratings_tables(with_days=False))
def test_columns_reach_from_null_where_somebody_did_not_rate(ratings):
    ratings = ratings.drop_empty_users()
    null = ratings.scale.null_level
    columns = list(zip(*records(ratings), strict=True)) or [()] * ratings.n_items
    numbers = [[null if v is None else v for v in column] for column in columns]
    assume(ratings.n_users > 0)
    assert column_ranges(ratings).tolist() == [max(n) - min(n) for n in numbers]


@given(releases())
def test_class_figures_are_the_twins(case):
    release, _ = case
    sizes = k_anonymity.class_sizes(release.classes)
    assert class_sizes(release).tolist() == sorted(sizes, reverse=True)
    dm = Discernibility().measure(release).figures
    assert dm == {
        "dm": sum(s * s for s in sizes),
        "classes": len(sizes),
        "smallest_class": sizes[0],
    }
    c_avg = AverageClassSize().measure(release).figures["c_avg"]
    assert c_avg == sum(sizes) / (len(sizes) * 2)


def test_classes_are_counted_by_content_not_by_row():
    release = KLikeness(2).anonymize(table([{0: 1}] * 2 + [{0: 5}] * 2, STARS), rng=0)
    cells = release.classes
    split = replace(release, classes=cells.keep_rows(np.array([0, 0, 1])))
    assert class_sizes(split).tolist() == [4, 2]
    # the same rating under two numbers is one content
    twice = Symbols.sets(STARS, [np.array([1.0]), np.array([1.0])], np.zeros(2, dtype=np.bool_))
    assert class_sizes(replace(release, classes=replace(cells, symbols=twice))).tolist() == [4]


def test_c_avg_needs_a_k():
    release = KLikeness(3).anonymize(table([{0: 1}] * 7, STARS), rng=0)
    assert AverageClassSize().measure(release).figures == {"c_avg": 7 / 3}
    assert AverageClassSize(7).measure(release).figures == {"c_avg": 1.0}
    silent = replace(release, manifest=release.manifest.model_copy(update={"claims": ()}))
    assert AverageClassSize().measure(silent).figures == {"c_avg": None}
    assert "does not apply" in str(AverageClassSize().measure(silent))
    with pytest.raises(ConfigError, match="k = 0"):
        AverageClassSize(0)


def test_the_original_may_be_the_whole_table():
    rows = [{0: 1 + i % 5, 1: 1 + i % 3, 2: 5, 3: 2} for i in range(12)] + [{3: 4}, {}]
    for row in rows[:5]:
        del row[2], row[3]
    whole = table(rows, STARS)
    selection = top_items(2)
    release = KLikeness(3, items=selection).anonymize(whole, rng=0)
    part = GeneralizationLoss().measure(release, selection.apply(whole))
    assert GeneralizationLoss().measure(release, whole) == part
    assert GeneralizationLoss().measure(release, original=whole).figures["gen_iloss"] > 0
    with pytest.raises(ConfigError, match="1 of the release's 2 items are not in the original"):
        GeneralizationLoss().measure(release, whole.keep_items(np.array([0, 2])))


def test_a_constant_column_costs_nothing_and_nothing_is_capped():
    # column 0 is 3 throughout, column 1 is 4 or 5, so that dgh-c's [0,5] is five times as wide
    rows = [{0: 3, 1: 4}, {0: 3, 1: 5}]
    release = KLikeness(2, "dgh-c").anonymize(table(rows, STARS), rng=0)
    figures = GeneralizationLoss().measure(release, table(rows, STARS)).figures
    assert figures == {"gen_iloss": 2.5}


def test_disclosure_shares_are_counted_on_the_cells():
    # {1, 5} says that there is a rating, {3} says which; {null, 2} says neither
    rows = [{0: 1}, {0: 5}, {0: 3}, {0: 3}, {0: 3, 1: 2}, {0: 3}]
    release = KLikeness(2, rare_items="keep").anonymize(table(rows, STARS), rng=0)
    figures = DisclosureShares().measure(release).figures
    assert figures["users_rating_exists"] == 1.0
    assert figures["users_rating_disclosed"] == release.manifest.users_rating_disclosed
    assert figures["records_alone_with_sensitive"] is None
    shares = {
        "users_rating_disclosed",
        "users_exact_values_listed",
        "users_rating_exists",
        "records_alone_with_sensitive",
    }
    assert set(figures) == shares
    lied = replace(
        release, manifest=release.manifest.model_copy(update={"users_rating_exists": 0.0})
    )
    assert DisclosureShares().measure(lied).figures == figures


def test_a_result_is_flat_and_says_what_high_and_low_mean():
    release = KLikeness(2).anonymize(table([{0: 1}] * 40, STARS), rng=0)
    result = Discernibility().measure(release)
    assert result.to_dict() == {"dm": 1600, "classes": 1, "smallest_class": 40}
    assert str(result).startswith("discernibility: dm 1,600, classes 1, smallest_class 40. Low is")
    assert "<strong>discernibility</strong>" in result._repr_html_()
    assert "1,600" in result._repr_html_()
