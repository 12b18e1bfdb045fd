"""Audits of releases that promise something about personal attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from starshade.audit.findings import judge_model
from starshade.audit.verdict import Audit
from starshade.release.manifest import Claim
from tests.unit.release.samples import generalized
from tests.unit.release.test_quasi import hand_made, made


@pytest.mark.parametrize(
    ("model", "parameters", "passed"),
    [
        ("l-diversity", {"l": 2}, True),
        ("l-diversity", {"l": 3}, False),
        ("t-closeness", {"t": 0.75}, True),
        ("t-closeness", {"t": 0.7}, False),
        ("alpha-k", {"alpha": 0.5, "k": 2}, True),
        ("alpha-k", {"alpha": 0.4, "k": 2}, False),
    ],
)
def test_the_independent_check(model: str, parameters: dict[str, Any], passed: bool) -> None:
    claim = Claim(model=model, parameters=parameters | {"attribute": "ill"})
    finding = judge_model(made(), claim)
    assert finding.passed == passed
    assert finding.text.startswith(f"The check of {model}: ")
    assert "of ill" in finding.text


def test_a_claim_about_an_attribute_that_is_not_released_fails() -> None:
    for name in ("zip", "age"):
        claim = Claim(model="l-diversity", parameters={"l": 2, "attribute": name})
        finding = judge_model(made(), claim)
        assert not finding.passed
        assert "refuses it" in finding.text


def test_every_claim_is_asked_of_its_own_check(tmp_path: Path) -> None:
    made().save(tmp_path / "out", private=tmp_path / "receipt")
    result = Audit(known=(1,), targets=8).run(
        hand_made().original, tmp_path / "out", private=tmp_path / "receipt", rng=0
    )
    named = [finding.name for finding in result.findings]
    models = ["k-anonymity", "l-diversity of ill", "t-closeness of ill"]
    assert named == ["claims", *models, "attack", "tracker", "audience", "identifying"]
    assert all(finding.passed for finding in result.findings[:4])
    assert result.audience == "publish"
    said = next(text for text in result.warnings if text.startswith("The attacks tried know"))
    quasi = made().manifest.quasi_identifiers
    assert f"{', '.join(quasi)} are part of what the records of a class share" in said
    assert "ill stands there as it is" in said
    assert result.utility["smallest_class"] == 2


def test_equal_cells_of_two_classes_are_no_class(tmp_path: Path) -> None:
    """k = 4 holds for the cells of six; with the quasi-identifiers only two are alike."""
    release = generalized(
        hand_made(), ("job",), claims=(Claim(model="k-anonymity", parameters={"k": 2}),)
    )
    assert judge_model(release, release.manifest.claims[0]).passed
    assert not judge_model(release, Claim(model="k-anonymity", parameters={"k": 3})).passed
