from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive import predictive
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.checks.policy import Threshold
from starshade.audit.checks.singling_out import re_identification
from starshade.audit.evidence import Evidence, attack_both, knowledge_to_try
from starshade.audit.findings import (
    judge_audience,
    judge_claims,
    judge_model,
    judge_profiles,
    needs_receipt,
    understated,
)
from starshade.audit.original.original import Knowable
from starshade.audit.original.table import OneTable
from starshade.ratings.scale import Scale
from starshade.release.manifest import Claim
from tests.contract.cast import CAST


def claim(k: int, holds: bool = True) -> dict[str, Any]:
    return {
        "model": "k-anonymity",
        "parameters": {"k": k},
        "verified": {"smallest_class": k},
        "holds": holds,
    }


def evidence(rate: float, known: int = 2) -> Evidence:
    result = ScoreboardRH().run(CAST["ordinary"], Knowledge(known=1), rng=0)
    per_target: Any = SimpleNamespace(credit=np.full(50, rate))
    after = replace(result, per_target=per_target)
    return Evidence(Knowledge(known=known), result, after)


def test_claims() -> None:
    assert judge_claims([claim(5)]).passed
    verified = "Claims verified on the files: k-anonymity (k = 5)"
    assert judge_claims([claim(5)]).text == f"{verified}."
    assert judge_claims([claim(5)] * 2).text == f"{verified}, k-anonymity (k = 5)."
    broken = [claim(5, holds=False)] * 2
    assert "Claims that do not hold: k-anonymity." in judge_claims(broken[:1]).text
    assert "do not hold: k-anonymity, k-anonymity." in judge_claims(broken).text
    assert not judge_claims([claim(5), claim(3, holds=False)]).passed
    assert not judge_claims([]).passed


def test_the_independent_check() -> None:
    release = KLikeness(k=4).anonymize(CAST["ordinary"], rng=0)
    assert judge_model(release, k_anonymity(4)).passed
    assert not judge_model(release, k_anonymity(20)).passed
    assert not judge_model(release, k_anonymity(999)).passed
    assert not judge_model(release, k_anonymity(1)).passed
    assert not judge_model(release, Claim(model="nonsense", parameters={"k": 4})).passed
    odd = judge_model(release, Claim(model="k-anonymity", parameters={"k": 4, "x": 1}))
    assert "invalid parameters" in odd.text
    assert not odd.passed


@pytest.mark.parametrize(
    ("layout", "invented", "deleted", "reason"),
    [
        ("record", "0-1 %", "none", "ratings were moved"),
        ("record", None, "none", None),
        ("profile", "0-1 %", "none", "ratings were averaged"),
        ("profile", None, "some", "ratings were averaged"),
        ("generalized", "0-1 %", "none", None),
        ("generalized", None, "some", "people were left out"),
        ("record", None, "some", "people were left out"),
    ],
)
def test_a_receipt_is_needed_where_answers_need_not_fit_the_truth(
    layout: str, invented: str | None, deleted: str, reason: str | None
) -> None:
    manifest = SimpleNamespace(layout=layout, imputed_cells=invented, users_deleted=deleted)
    release: Any = SimpleNamespace(manifest=manifest, private=None)
    found = needs_receipt(release)
    assert (found and found[0]) == reason
    assert understated(release) == found
    assert understated(SimpleNamespace(manifest=manifest, private="the receipt")) is None


def test_where_nobody_rated_nothing_can_be_known() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert Knowable(nobody, nobody).most == 0
    assert Knowable(np.array([3, 7, 1]), np.array([1, 1, 2])).most == 7


def k_anonymity(k: int) -> Claim:
    return Claim(model="k-anonymity", parameters={"k": k})


@pytest.mark.parametrize(
    ("rates", "limit", "passed"),
    [
        ([0.1, 0.2], 0.25, True),  # the claim's: 1/4 holds for each
        ([0.25 + 1e-12, 0.1], 0.25, True),
        ([0.1, 0.2], 0.2, False),  # the interval ends above
        ([0.2, 0.1], 0.2, False),
        ([0.0, 0.0], 0.2, True),
    ],
)
def test_the_worst_knowledge_decides(rates: list[float], limit: float, passed: bool) -> None:
    found = [evidence(rate, known=2 + i) for i, rate in enumerate(rates)]
    release = KLikeness(k=4).anonymize(CAST["ordinary"], rng=0)
    limits = {"re-identification": Threshold(Fraction(limit))}
    check = re_identification(release, found, limits, 0)
    assert (check.status == "pass") == passed
    assert check.known == 2 + rates.index(max(rates))


def test_the_audience() -> None:
    release = KLikeness(k=4).anonymize(CAST["ordinary"], rng=0)
    assert judge_audience(release).passed
    query = replace(release, manifest=release.manifest.model_copy(update={"audience": "query"}))
    assert not judge_audience(query).passed


@pytest.mark.parametrize(
    ("scale", "error"),
    [
        (Scale(1, 5, 1), 1.0),
        (Scale(0.5, 5, 0.5), 1.0),
        (Scale(-10, 10), 5.0),
        (Scale(0, 100, 10), 20.0),
    ],
)
def test_the_blur_is_a_quarter_of_the_scale(scale: Scale, error: float) -> None:
    tries = knowledge_to_try(scale, 9, (2, 4, 8))
    assert [(k.known, k.wrong, k.rating_error) for k in tries] == [
        (2, 0, 0.0), (4, 0, 0.0), (8, 0, 0.0),
        (2, 0, error), (4, 1, error), (8, 2, error),
    ]  # fmt: skip
    assert not any(k.dates for k in tries)


def test_no_more_is_known_than_somebody_rated() -> None:
    stars = Scale(1, 5, 1)
    assert [k.known for k in knowledge_to_try(stars, 5, (2, 4, 8))] == [2, 4, 2, 4]
    assert [k.known for k in knowledge_to_try(stars, 1, (2, 4, 8))] == [1, 1]
    # no blur below one step
    assert [k.known for k in knowledge_to_try(Scale(0, 1, 1), 2, (2,))] == [2]


def test_before_and_after_attack_the_same_targets() -> None:
    original = CAST["duplicate records"].drop_empty_users()
    release = KLikeness(k=3).anonymize(original, rng=0)
    tries = knowledge_to_try(original.scale, 2, (2,))
    for found in attack_both(OneTable(original, release), tries, targets=7, seed=5):
        assert found.before.targets == found.after.targets == 7
        assert found.before.per_target.users.tolist() == found.after.per_target.users.tolist()


def test_exact_and_blurred_knowledge_is_also_tried_by_candidates() -> None:
    original = CAST["ordinary"]
    release = KLikeness(k=4).anonymize(original, rng=0)
    tries = [Knowledge(known=2), Knowledge(known=2, rating_error=1), Knowledge(known=2, wrong=1)]
    found = attack_both(OneTable(original, release), tries, targets=7, seed=5)
    exact = ["scoreboard-rh", "label", "likelihood"]
    assert [e.after.attack for e in found] == [*exact * 2, "scoreboard-rh", "likelihood"]
    tolerances = [e.after.config.get("tolerance") for e in found]
    assert tolerances == [None, 0.0, None, None, 1.0, None, None, None]
    for e in found:
        assert e.after.expected_top1.rate <= 1 / 4


def test_equal_profiles_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a release made before such releases were refused."""
    monkeypatch.setattr(predictive, "refuse_one_profile", lambda classes: None)
    constant = PredictiveAnonymizer(k=2).anonymize(CAST["constant ratings"], rng=0)
    finding = judge_profiles(constant)
    assert finding is not None
    assert (finding.name, finding.passed) == ("profiles", False)
    assert finding.text.startswith(f"All {constant.n_records} records have the same profile")
    assert judge_profiles(PredictiveAnonymizer(k=2).anonymize(CAST["ordinary"], rng=0)) is None
    assert judge_profiles(KLikeness(k=2).anonymize(CAST["all alike"], rng=0)) is None
