"""Claims: criteria, intervals, causes."""

import numpy as np
import pytest

from starshade.audit.reproduction.claims import Claim, judge, told
from starshade.audit.reproduction.estimates import Estimate, Untestable, estimate
from starshade.stats import wilson


def _claim(measure, *, least=1.0, most=None, **beside):
    return Claim(
        "x-01",
        "§1",
        "rises",
        "times as high",
        least,
        most,
        "a margin",
        "as-read",
        measure,
        **beside,
    )


def _always(*figures):
    return lambda bench, way: Estimate(*figures)


def test_the_interval_of_a_ratio_holds_the_truth_and_narrows_with_users():
    widths = []
    for users in (40, 4000):
        rng = np.random.default_rng(users)
        runs = [{"a": rng.uniform(0, 2, users), "b": rng.uniform(0, 4, users)} for _ in range(5)]
        found = estimate(runs, lambda mean: mean["b"] / mean["a"], seed=1)
        assert found.low < 2 < found.high
        assert (found.seeds, found.users) == (5, users)
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 3


def test_outcomes_that_are_all_alike_have_wilsons_interval():
    found = estimate(
        [{"hit": np.zeros(50, bool)}, {"hit": np.zeros(50, bool)}], lambda m: m["hit"], seed=1
    )
    assert (found.value, found.low, found.high) == (0, 0, wilson(0, 100).high)
    found = estimate([{"hit": np.ones(40, bool)}], lambda mean: 1 - mean["hit"], seed=1)
    assert found.value == found.low == 0
    assert found.high == pytest.approx(wilson(0, 40).high)
    assert estimate([{"loss": np.zeros(50)}], lambda m: m["loss"], seed=1).text == "0"


def test_what_comes_to_no_number_cannot_be_tested_and_draws_of_it_are_left_out():
    with pytest.raises(Untestable, match="no finite value"):
        estimate([{"a": np.ones(9), "b": np.zeros(9)}], lambda m: m["a"] / m["b"], seed=1)
    rare = np.array([1.0, *np.zeros(7)])  # a draw in three has none
    found = estimate([{"a": np.ones(8), "b": rare}], lambda m: m["a"] / m["b"], seed=1)
    assert found.value == 8
    assert found.high == 8


def test_runs_that_differ_widen_the_interval_though_users_agree():
    same = [{"a": np.full(50, 2.0)} for _ in range(5)]
    apart = [{"a": np.full(50, float(run))} for run in range(5)]
    assert estimate(same, lambda mean: mean["a"], seed=1).text == "2"
    found = estimate(apart, lambda mean: mean["a"], seed=1)
    assert found.value == 2
    assert found.low <= 1
    assert found.high >= 3


def test_a_figure_of_the_whole_stands_beside_figures_of_users():
    run = {"all": np.array([3.0]), "each": np.array([1.0, 2.0, 3.0])}
    assert estimate([run], lambda mean: mean["all"] * mean["each"], seed=1).value == 6


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(1.0, 2.0, "holds"), (0.5, 0.9, "does not hold"), (0.9, 1.1, "cannot be tested")],
)
def test_all_of_the_interval_decides(low, high, verdict):
    (found,) = judge([_claim(_always((low + high) / 2, low, high))], None, data="", ways={})
    assert found.verdict == verdict
    assert bool(found.reason) == (verdict == "cannot be tested")


def test_a_claim_about_other_data_is_measured_and_not_judged():
    claim = _claim(_always(2.0, 2.0, 2.0), about="MovieLens 100K")
    (here,) = judge([claim], None, data="MovieLens 100K", ways={})
    (there,) = judge([claim], None, data="", ways={})
    assert (here.verdict, there.verdict, there.met) == ("holds", "cannot be tested", True)


def test_what_is_lost_or_missing_cannot_be_tested_and_says_why():
    def undated(bench, way):
        raise Untestable("the data have no dates")

    claims = [_claim(None, lost="stands in a picture"), _claim(undated)]
    found = judge(claims, None, data="", ways={})
    assert [each.reason for each in found] == ["stands in a picture", "the data have no dates"]
    said = told(found, "the paper", 5)
    assert said == "2 claims of the paper decided by data: 0 hold, 0 do not, 2 cannot be tested."


def test_what_proofs_and_examples_decide_is_counted_apart():
    kinds = ["data", "proof", "example", "example"]
    values = [2.0, 2.0, 2.0, 0.5]
    claims = [
        _claim(_always(at, at, at), decided_by=kind) for at, kind in zip(values, kinds, strict=True)
    ]
    found = judge(claims, None, data="", ways={})
    assert told(found, "the paper", 2) == (
        "1 claim of the paper decided by data: 1 holds, 0 do not, 0 cannot be tested. "
        "3 decided by proofs and examples: 2 hold, 1 does not, 0 cannot be tested. "
        "Only 2 runs: verdicts need 5."
    )


def test_where_nothing_was_tried_no_cause_was_sought():
    (found,) = judge([_claim(_always(0.5, 0.5, 0.5))], None, data="", ways={})
    assert (found.cause, found.unexplained) == ("not sought: no intervention", False)


def test_what_rounding_leaves_of_nothing_is_nothing():
    assert Estimate.exact(-2.2e-16).text == "0"
    assert estimate([{"a": np.array([1e-17, 2e-17])}], lambda m: m["a"], seed=0).text == "0"
    assert Estimate.exact(1e-9).value == 1e-9


def test_the_cause_is_every_change_under_which_it_holds():
    values = {"": 0.5, "thin": 0.7, "nulls": 1.5}
    claim = _claim(lambda bench, way: Estimate.exact(values[way]), ways=("thin", "nulls"))
    words = {"thin": "on thinned data", "nulls": "with nulls left out"}
    (found,) = judge([claim], None, data="", ways=words)
    assert found.cause == "holds with nulls left out: 1.5"
    (found,) = judge([_claim(claim.measure, ways=("thin",))], None, data="", ways=words)
    assert found.cause == "unknown; on thinned data: 0.7"
    assert found.to_dict()["tried"][0]["value"] == 0.7


def test_what_leaves_a_part_of_the_claim_is_no_cause():
    values = {"": 0.5, "least": 1.5, "thin": 0.7, "nulls": 1.25}
    words = {"least": "in part: at the least k", "thin": "thinned", "nulls": "with nulls left out"}
    ways = ("least", "thin")
    claim = _claim(lambda bench, way: Estimate.exact(values[way]), ways=ways)
    (found,) = judge([claim], None, data="", ways=words)
    assert found.unexplained
    assert found.cause == "unknown, but holds in part: at the least k: 1.5"
    (found,) = judge([_claim(claim.measure, ways=(*ways, "nulls"))], None, data="", ways=words)
    assert not found.unexplained
    assert found.cause == "holds in part: at the least k: 1.5; with nulls left out: 1.25"
