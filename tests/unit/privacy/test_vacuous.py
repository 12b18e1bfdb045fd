"""A model that holds whatever was rated says nothing, and does not pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.audit.findings import judge_model
from starshade.privacy.attribute import AlphaK, LDiversity, TCloseness
from starshade.privacy.item_diversity import Diversity
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.manifest import Claim
from tests.strategies import table
from tests.unit.release.samples import covering

STARS = Scale(1, 5, 1)
# nobody rated anything in common with anybody
APART = [{0: 1}, {1: 5}, {2: 3}, {3: 1, 4: 5}]
FARTHEST = {  # how far two cells of a scale can lie apart, worked out by hand
    (Scale(1, 5, 1), "strict"): 5,
    (Scale(1, 5, 1), "ignore"): 4,
    (Scale(1, 5, 1), "zero"): 5,
    (Scale(0.5, 5, 0.5), "strict"): 5,
    (Scale(0.5, 5, 0.5), "ignore"): 4.5,
    (Scale(0.5, 5, 0.5), "zero"): 5,
    (Scale(3, 7, 1), "strict"): 7,
    (Scale(3, 7, 1), "ignore"): 4,
    (Scale(3, 7, 1), "zero"): 5,
    (Scale(-10, 10), "strict"): 20,
    (Scale(-10, 10), "ignore"): 20,
    (Scale(-10, 10), "zero"): 21,
}
FAR = pytest.mark.parametrize(("scale", "nulls", "most"), [(*k, v) for k, v in FARTHEST.items()])


def people(ratings: Ratings, values: list[str]) -> Ratings:
    return ratings.annotate(attributes=pa.table({"town": values}))


def farthest(scale: Scale) -> Ratings:
    """Two users at the ends of a scale on one item, and who is null where another rated."""
    low, high = scale.minimum, scale.maximum
    return table([{0: low}, {0: high}, {1: low}, {1: high}, {0: low, 1: high}], scale)


@FAR
@pytest.mark.parametrize("model", ["k-eps", "k-eps-l"])
def test_an_eps_that_reaches_the_whole_scale(
    scale: Scale, nulls: Any, most: float, model: str
) -> None:
    ratings = farthest(scale)

    def check(eps: float) -> Any:
        if model == "k-eps":
            return KEpsAnonymity(5, eps, nulls=nulls).check(ratings)
        return KEpsLAnonymity(5, eps, 0, [], nulls=nulls).check(ratings)

    for eps in (most, most + 1, 1e6):
        verdict = check(eps)
        assert (verdict.satisfied, verdict.vacuous, verdict.passed) == (True, True, False)
        assert verdict.all_proximate
        assert verdict.to_dict()["vacuous"] is True
        assert f"holds, but says nothing: on the scale {scale}" in str(verdict)
        assert f"Ask for an eps below {most}." in str(verdict)
        assert "holds, but says nothing" in verdict._repr_html_()
    verdict = check(most - 0.25)
    assert (verdict.satisfied, verdict.vacuous, verdict.passed) == (False, False, False)
    assert verdict.to_dict()["vacuous"] is False


@given(st.integers(2, 4), st.sampled_from(["strict", "ignore", "zero"]), st.floats(0, 6))
def test_an_eps_below_it_fails_on_some_ratings(k: int, nulls: Any, eps: float) -> None:
    """Vacuous is what holds on the worst ratings of the scale, for any ratings alike."""
    worst = KEpsAnonymity(5, eps, nulls=nulls).check(farthest(STARS))
    mild = KEpsAnonymity(k, eps, nulls=nulls).check(table([{0: 3}, {0: 3}, {0: 4}, {0: 3}], STARS))
    assert worst.satisfied == worst.vacuous == mild.empty_because.startswith("on the scale")
    assert mild.passed == (mild.satisfied and not worst.satisfied)


def test_people_who_rated_nothing_in_common() -> None:
    verdict = KEpsAnonymity(4, 5).check(table(APART, STARS))
    assert verdict.satisfied
    assert not verdict.passed
    assert "those who rated nothing in common too" in str(verdict)


def test_near_ratings_are_no_whole_scale() -> None:
    near = table([{0: 3}, {0: 4}, {0: 3}], STARS)
    for nulls in ("strict", "ignore", "zero"):
        verdict = KEpsAnonymity(3, 1, nulls=nulls).check(near)
        assert (verdict.satisfied, verdict.vacuous) == (True, False)


def test_a_spread_of_everybody_says_nothing_of_anybody() -> None:
    rows = [{0: 1, 1: 1}, {0: 5, 1: 5}, {1: 1}]
    wide = KEpsLAnonymity(3, 5, 1, ["1"]).check(table(rows, STARS))
    assert (wide.satisfied, wide.vacuous) == (True, True)
    assert "of the whole table alone" in str(wide)
    alike = table([{0: 1}, {0: 1, 1: 1}, {0: 3, 1: 5}], STARS)
    same = KEpsLAnonymity(3, 5, 1, list(alike.items)[:1]).check(alike)
    assert (same.satisfied, same.vacuous) == (False, False)


TOWNS = people(table([{0: 1}, {0: 1}, {0: 2}, {0: 2}], STARS), ["a", "a", "b", "b"])


@pytest.mark.parametrize(
    ("empty", "full", "why"),
    [
        (LDiversity(1, "town"), LDiversity(1.5, "town"), "at least one value of town"),
        (LDiversity(1, "town", "entropy"), LDiversity(1.1, "town", "entropy"), "one value"),
        (AlphaK(1, 2, "town"), AlphaK(0.99, 2, "town"), "all records of a class may have"),
        (TCloseness(1, "town"), TCloseness(0.4, "town"), "no two distributions"),
        (Diversity(1, 1), Diversity(1, 3), "always shows what they rated"),
    ],
    ids=lambda model: getattr(model, "kind", type(model).__name__),
)
def test_parameters_that_every_table_meets(empty: Any, full: Any, why: str) -> None:
    verdict = empty.check(TOWNS)
    assert (verdict.satisfied, verdict.vacuous, verdict.passed) == (True, True, False)
    assert "holds, but says nothing" in str(verdict)
    assert why in str(verdict)
    asked = full.check(TOWNS)
    assert (asked.satisfied, asked.vacuous, asked.passed) == (False, False, False)
    spread = people(table([{0: 1}] * 4, STARS), ["a", "b", "a", "b"])
    if not isinstance(full, Diversity):
        assert full.check(spread).passed


def test_alpha_1_that_fails_by_size_is_no_empty_yes() -> None:
    apart = people(table([{0: 1}, {0: 2}], STARS), ["a", "b"])
    verdict = AlphaK(1, 2, "town").check(apart)
    assert (verdict.satisfied, verdict.vacuous) == (False, False)


def test_no_sets_of_items() -> None:
    nobody = table([{}, {}], STARS, n_items=2)
    for l in (1, 2):  # noqa: E741 - the paper's name
        verdict = Diversity(1, l).check(nobody)
        assert (verdict.satisfied, verdict.vacuous) == (True, True)
        assert "no item has a rating" in str(verdict) or l == 1


def test_models_of_equal_records_say_something() -> None:
    alike = table([{0: 1}, {0: 1}], STARS)
    for model in (KAnonymity(2), ReviewGraph(2)):
        verdict = model.check(alike)
        assert verdict.passed
        assert verdict.to_dict()["vacuous"] is False


def test_a_claim_that_says_nothing_fails_an_audit() -> None:
    original = people(table([{0: 1}, {0: 1}, {0: 2}, {0: 2}], STARS), ["a", "b", "a", "b"])
    release = covering(original, np.array([0, 0, 1, 1]), ranges=False).release(attributes="exact")
    for parameter, asked, passes in (("l", 1, False), ("l", 2, True)):
        claim = Claim(model="l-diversity", parameters={parameter: asked, "attribute": "town"})
        assert judge_model(release, claim).passed == passes
    told = judge_model(
        release, Claim(model="t-closeness", parameters={"t": 1, "attribute": "town"})
    )
    assert not told.passed
    assert told.text.startswith("The claim of t-closeness is vacuous: ")
    assert judge_model(
        release, Claim(model="t-closeness", parameters={"t": 0.5, "attribute": "town"})
    ).passed
