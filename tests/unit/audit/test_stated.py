"""What a release says of k and its scale, held against claims and ratings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.audit.findings import judge_scale
from starshade.audit.original.original import Given
from starshade.audit.verdict import Audit
from starshade.errors import ReleaseError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.match.match import Match
from tests.contract.cast import CAST
from tests.policies import NO_LIMITS
from tests.strategies import table
from tests.unit.release.damage import signed

RATINGS = CAST["duplicate records"].drop_empty_users()
QUICK = Audit(threshold=NO_LIMITS, known=(2,), targets=10, shadows=0)
METHODS: dict[str, Any] = {
    "k-likeness": KLikeness(k=3),
    "predictive": PredictiveAnonymizer(k=3, factors=2),
    "interval": IntervalAnonymizer(k=3, eps=1),
    "suppress": SuppressAnonymizer(k=2, eps=1),
}


def found_in_data(ratings: Ratings) -> Ratings:
    return ratings.annotate(report=replace(ratings.report, scale_inferred=True))


def said(out: Path, **facts: Any) -> None:
    """Change release.json, and the hash in the receipt as a careful forger would."""
    import hashlib

    place, receipt = out / "release.json", out.parent / "receipt"
    place.write_text(signed(json.loads(place.read_text()) | facts))
    told = json.loads(receipt.read_text())
    told["release"] = hashlib.sha256(place.read_bytes()).hexdigest()
    receipt.write_text(signed(told))


@pytest.mark.parametrize("method", ["k-likeness", "predictive"])
def test_another_k_or_scale_than_the_true_one_does_not_pass(tmp_path: Path, method: str) -> None:
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    METHODS[method].anonymize(RATINGS, rng=0).save(out, private=receipt)
    manifest = json.loads((out / "release.json").read_text())
    assert QUICK.run(RATINGS, out, private=receipt, rng=1).passed
    said(out, config=manifest["config"] | {"k": 50})
    with pytest.raises(ReleaseError, match="the key file differ in config: k;"):
        QUICK.run(RATINGS, out, private=receipt, rng=1)
    reasons = QUICK.run(RATINGS, out, rng=1).reasons
    assert "release.json states k = 50 in its settings, and claims k = 3." in reasons
    said(out, config=manifest["config"])
    said(out, scale=manifest["scale"] | {"maximum": 7})
    result = QUICK.run(RATINGS, out, private=receipt, rng=1)
    assert len(result.reasons) == 1
    assert "release.json states the scale 1:7:1; these ratings are on 1:5:1" in result.reasons[0]


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize("inferred", [False, True])
def test_the_scale_that_is_published_passes(method: str, inferred: bool) -> None:
    rng = np.random.default_rng(0)
    people = [{i: int(rng.integers(2, 5)) for i in range(4)} for _ in range(12)]
    people[0] |= {9: 1}  # of an item that nobody else rated
    people[1] |= {8: 5}
    ratings = table(people, Scale(1, 5, 1))
    ratings = found_in_data(ratings) if inferred else ratings
    release = METHODS[method].anonymize(ratings, rng=0)
    assert (str(release.scale) == "1:5:1") == (not inferred)
    part = Match(release, ratings).made_of
    assert judge_scale(release, Given.of(ratings, part)) is None
    lie = release.manifest.scale.model_copy(update={"maximum": 9.0})
    lying = replace(release, manifest=release.manifest.model_copy(update={"scale": lie}))
    found = judge_scale(lying, Given.of(ratings, part))
    assert found is not None
    assert not found.passed
    assert "these ratings are on 1:5:1" in found.text
    assert ("(published as " in found.text) == inferred


def test_a_real_scale_is_held_against_the_ratings() -> None:
    ratings = table([{0: v, 1: -v} for v in (0.5, 0.25, 1.7, 3.3)] * 3, Scale(-10, 10))
    for given in (ratings, found_in_data(ratings)):
        release = KLikeness(k=3).anonymize(given, rng=0)
        assert judge_scale(release, Given.of(given, Match(release, given).made_of)) is None
        lie = release.manifest.scale.model_copy(update={"maximum": 99.0})
        lying = replace(release, manifest=release.manifest.model_copy(update={"scale": lie}))
        assert judge_scale(lying, Given.of(given, given)) is not None
