"""Audits of releases that promise something about personal attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.dossier.release import claim_rows
from starshade.audit.dossier.verdict import paragraph_of
from starshade.audit.findings import judge_model
from starshade.audit.verdict import Audit
from starshade.privacy.k_anonymity import KAnonymity
from starshade.ratings.scale import Scale
from starshade.release.manifest import Claim
from tests.policies import NO_LIMITS
from tests.strategies import table
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
        assert "rejects the claim" in finding.text


def test_every_claim_is_asked_of_its_own_check(tmp_path: Path) -> None:
    made().save(tmp_path / "out", private=tmp_path / "receipt")
    result = Audit(threshold=NO_LIMITS, known=(1,), targets=8, shadows=0).run(
        hand_made().original, tmp_path / "out", private=tmp_path / "receipt", rng=0
    )
    named = [finding.name for finding in result.findings]
    models = ["k-anonymity", "l-diversity of ill", "t-closeness of ill"]
    after = ["tracker", "audience", "identifying", "rare-values"]
    assert named == ["claims", *models, *after]
    assert all(finding.passed for finding in result.findings[:4])
    assert result.audience == "publish"
    said = next(text for text in result.warnings if text.startswith("The attacks know"))
    quasi = made().manifest.quasi_identifiers
    assert f"The records of a class share {', '.join(quasi)}" in said
    assert "ill is released unchanged" in said
    assert result.utility["smallest_class"] == 2
    rare = result.findings[-1]
    assert not rare.passed
    assert "ill has 2 values that fewer than k = 2 people have (2 people)" in rare.text
    assert rare.text in result.reasons
    assert not result.passed
    assert result.disclosure["records_alone_with_sensitive"] == 0.5
    assert "50.0% of records are unique by sensitive attributes in their class" in str(result)


def test_where_sensitive_attributes_differ_records_are_alike_by_the_others(tmp_path: Path) -> None:
    """Every sentence that says that records are alike says by what."""
    release = KLikeness(
        2, attributes="generalized", quasi_identifiers=["town"], sensitive_attributes=["job"]
    ).anonymize(PEOPLED, rng=0)
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    result = Audit(threshold=NO_LIMITS, known=(1,), targets=8, shadows=0).run(
        PEOPLED, tmp_path / "out", private=tmp_path / "receipt", rng=0
    )
    assert result.passed, result.reasons
    by = "by ratings and quasi-identifiers"
    like = (
        f"{release.n_records} records is in an equivalence class (records that are equal {by}) of"
    )
    assert f"{like} at least 2, counted" in str(result)
    assert f"more often than 1 in 2 {by}." in str(result)
    paragraph = paragraph_of(result, release, release.n_records)
    assert f"{like} at least 2, counted" in paragraph
    assert f"more often than 1 in 2 {by}." in paragraph
    assert "unique by sensitive attributes in their class" in paragraph
    assert f"Smallest class of records equal {by}: 4 " in judge_model(release, CLAIM).text
    assert f"is one of at least 4 equal ones {by}." in str(KAnonymity(2).check(release))
    (claim,) = claim_rows(result.claims, beside=True)
    assert "every record equals at least 1 other in every cell and quasi-" in claim["asked"]
    page = (tmp_path / "out" / "README.md").read_text()
    assert "records that are equal in every cell and quasi-identifier\n" in page
    assert "equal in ratings and quasi-identifiers, not necessarily in sensitive" in page
    # and where nothing differs nothing is added
    plain = KLikeness(2, attributes="generalized", quasi_identifiers=["town"])
    assert by not in str(KAnonymity(2).check(plain.anonymize(PEOPLED, rng=0)))


CLAIM = Claim(model="k-anonymity", parameters={"k": 2})
PEOPLED = table([{0: 1.0 + u % 2, 1: 3.0} for u in range(8)], Scale(1, 5, 1)).annotate(
    attributes=pa.table({"town": ["Ulm", "Bonn"] * 4, "job": ["a"] * 4 + ["b"] * 4})
)


def test_equal_cells_of_two_classes_are_no_class(tmp_path: Path) -> None:
    """k = 4 holds for the cells of six; with the quasi-identifiers only two are alike."""
    release = generalized(
        hand_made(), ("job",), claims=(Claim(model="k-anonymity", parameters={"k": 2}),)
    )
    assert judge_model(release, release.manifest.claims[0]).passed
    assert not judge_model(release, Claim(model="k-anonymity", parameters={"k": 3})).passed
