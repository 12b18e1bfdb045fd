"""The dots of page 1, the variables of the data and the risk by class sizes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit.dossier.first import dots
from starshade.audit.dossier.variables import risk_section, variables_section
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize


@given(st.floats(0, 1))
def test_only_nothing_has_no_dot_and_only_all_have_a_hundred(share: float) -> None:
    drawn = dots(share)
    assert drawn is not None
    assert (drawn == 0) == (share == 0)
    assert (drawn == 100) == (share == 1)
    assert abs(drawn - 100 * share) <= 1


def test_not_measured_has_no_dots() -> None:
    assert dots(None) is None


def test_the_risk_by_class_sizes_is_counted() -> None:
    ratings = synthesize(n_users=60, n_items=12, n_ratings=420, rng=1)
    release = PredictiveAnonymizer(k=5).anonymize(ratings, rng=0)
    sizes = Counter(release.class_of_record.tolist())
    mean = sum(1 / sizes[each] for each in release.class_of_record.tolist()) / 60
    assert risk_section(release) == {
        "average": pytest.approx(mean, rel=1e-12),
        "maximum": max(1 / size for size in sizes.values()),
        "smallest": min(sizes.values()),
        "classes": len(sizes),
    }


def test_each_variable_has_its_technique() -> None:
    ratings = synthesize(n_users=60, n_items=12, n_ratings=420, rng=1)
    release = KExchange(
        k=5,
        items=top_items(4),
        attributes="generalized",
        quasi_identifiers=("Age", "Gender"),
        sensitive_attributes=("Occupation",),
        rare_values="blank",
    ).anonymize(ratings, rng=0)
    rows = {row["name"]: row for row in variables_section(ratings, release)}
    assert list(rows)[:3] == ["User id", "Rated items", "Rating"]
    kinds = {name: (row["kind"], row["technique"]) for name, row in rows.items()}
    assert kinds["User id"][0] == "direct identifier"
    assert kinds["Rated items"] == (
        "indirect identifier",
        "Items with too few raters are left out.",
    )
    assert kinds["Date of a rating"] == ("indirect identifier", "Not released.")
    assert kinds["Age"] == ("quasi-identifier", "Generalized: equal within a class.")
    assert kinds["Occupation"] == ("sensitive attribute", "Released as in the original.")
    assert kinds["Zip code"] == ("personal attribute", "Not released.")


def test_records_that_differ_have_no_risk_by_class_sizes() -> None:
    ratings = synthesize("survey", n_users=60, rng=1)
    release = IntervalAnonymizer(k=3, eps=1.0).anonymize(ratings, rng=0)
    assert risk_section(release) is None
    (rating,) = (row for row in variables_section(ratings, release) if row["name"] == "Rating")
    assert "records are near each other" in rating["technique"]
