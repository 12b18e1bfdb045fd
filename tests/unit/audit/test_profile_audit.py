"""Audits of averaged profiles: what decides, what is said, and what they give away."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.predictive import predictive
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.candidates.candidates import LabelAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.padding.padding import PaddingAttack
from starshade.audit.findings import judge_model, understated
from starshade.audit.measure import measure_all
from starshade.audit.original.table import OneTable
from starshade.audit.profile_disclosure import ProfileDisclosure, what_it_gives_away
from starshade.audit.result import AuditResult
from starshade.audit.shares import SHARES
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim
from tests.contract.cast import CAST
from tests.policies import NO_LIMITS
from tests.unit.attack.profiles import KINDS, averaged
from tests.unit.attack.test_padding import GROUPS, PEOPLE

QUICK = Audit(threshold=NO_LIMITS, known=(2, 4), targets=40, shadows=0)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, AuditResult]]:
    made = {}
    for kind in KINDS:
        out = tmp_path_factory.mktemp(kind) / "out"
        release = averaged(PEOPLE, GROUPS, kind, step=0.05, k=3)
        release.save(out, private=out.parent / "receipt")
        made[kind] = out, QUICK.run(PEOPLE, out, private=out.parent / "receipt", rng=1)
    return made


def given(result: AuditResult) -> ProfileDisclosure:
    assert result.profile_disclosure is not None
    return result.profile_disclosure


@pytest.mark.parametrize("kind", KINDS)
def test_singling_out_is_not_measured_without_shadows(audited: Any, kind: str) -> None:
    out, _ = audited[kind]
    judge = replace(QUICK, threshold={})
    result = judge.run(PEOPLE, out, private=out.parent / "receipt", rng=1)
    check = result.check("singling-out")
    assert check.status == "not measured"
    assert check.text == "Not measured. Shadow releases were disabled."
    assert result.check("re-identification").rate is not None


@pytest.mark.parametrize("kind", KINDS)
def test_it_passes_within_1_in_k_and_says_so(audited: Any, kind: str) -> None:
    _, result = audited[kind]
    assert result.passed
    assert result.reasons == ()
    named = ["claims", "review-graph", "audience"]
    assert [finding.name for finding in result.findings] == named
    assert "Smallest class: 3 (claimed: 3)." in str(result.findings)
    tried = {(e.after.attack, e.after.config.get("tolerance")) for e in result.evidence}
    # exactly known ratings, and ratings to within 1: half a star more
    assert {("label", 0.5), ("label", 1.5), ("structure", None)} <= tried
    for e in result.evidence:
        assert e.after.expected_top1.rate <= 1 / 3 + 1e-9
        if e.before.attack == "label":
            assert e.before.config["tolerance"] == e.knowledge.rating_error
    assert (
        "is in an equivalence class (records that are equal) of at least 3, counted on its files."
        in str(result)
    )
    assert "no attack finds the right record more often than 1 in 3" in str(result)
    assert result.tracker is None


def test_what_each_gives_away_is_said(audited: Any) -> None:
    simple, padded, model = (audited[kind][1] for kind in ("simple", "padded", "model"))
    assert "means of the real ratings of a class" in str(simple)
    assert "An empty cell proves that no member rated" in str(simple)
    assert "the filled ones" in str(simple)
    assert "means over a class, of real ratings and predictions" in str(padded)
    assert "so a filled cell does not disclose who rated the item" in str(padded)
    assert "they hold no real rating" in str(model)
    told = {kind: given(audited[kind][1]) for kind in KINDS}
    assert told["simple"].padding.auc.rate == 1  # type: ignore[union-attr]
    assert (
        told["padded"].padding.auc_within_items.low  # type: ignore[union-attr]
        > told["model"].padding.auc_within_items.high  # type: ignore[union-attr]
    )
    assert any("one person's exact rating" in warning for warning in simple.warnings)
    assert not any("one person's exact rating" in warning for warning in padded.warnings)


def test_the_right_group_is_credited_by_the_group(audited: Any) -> None:
    """All groups have three: the right group is named three times as often as the record."""
    _, result = audited["simple"]
    group = given(result).group
    assert group is not None
    best = max(e.after.expected_top1.rate for e in result.evidence)
    assert group.share.rate == pytest.approx(3 * best)
    assert f"for up to {group.share.rate:.1%}" in str(result)


def test_the_figures_are_those_of_the_attacks(audited: Any) -> None:
    out, result = audited["padded"]
    release = read_release(out, private=out.parent / "receipt")
    told = json.loads(json.dumps(result.to_dict()))["profile_disclosure"]
    links = LinkExistence().run(release, original=PEOPLE).to_dict()
    padding = PaddingAttack().run(release, original=PEOPLE, rng=1).to_dict()
    for name, alone in (("link_existence", links), ("padding", padding)):
        for key in set(alone) - {"seconds", "read_seconds", "postings_per_second"}:
            assert told[name][key] == json.loads(json.dumps(alone[key])), (name, key)
    attacks = {"homogeneity", "link_existence", "padding", "fake_edges"}
    assert set(told) == {"attribute", "class_linkage", *attacks}
    assert told["fake_edges"] is None  # diversity is not claimed
    assert set(told["class_linkage"]) == {"rate", "low", "high", "attack", "known"}
    assert result.to_dict()["disclosure"] == dict.fromkeys(SHARES)


def test_pooled_profiles_are_called_so(tmp_path: Path) -> None:
    release = averaged(PEOPLE, GROUPS, "pooled", step=0.05, k=3)
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    result = QUICK.run(PEOPLE, tmp_path / "out", private=tmp_path / "receipt", rng=1)
    assert result.passed
    assert result.profile == "pooled"
    assert "for a class treated as one person" in str(result)
    padding = PaddingAttack().run(release, original=PEOPLE, rng=1)
    assert 0 <= padding.auc.rate <= 1


def test_without_the_receipt_nobody_can_tell(audited: Any) -> None:
    out, _ = audited["model"]
    result = QUICK.run(PEOPLE, out, rng=1)
    check = result.check("re-identification")
    assert (check.rate, str(check.advice)) == (None, "Give the private key file (private).")
    assert "without the private key file it is unknown which answers are correct" in check.text
    told = given(result)
    assert told.group is told.links is told.padding is None
    assert told.to_dict()["padding"] is None
    said = str(result)
    assert "of targets in the original data. For this release, re-identification and" in said
    assert said.count("are not measured without the private key file") == 2
    assert "in 0.0%" not in said  # what is not known is no finding
    assert "found for up to" not in said
    assert "the only one that fits" not in said
    assert not any("in 0.0%" in finding.text for finding in result.findings)
    assert understated(read_release(out)) is not None


def test_a_claim_beyond_the_groups_is_refuted(audited: Any) -> None:
    out, _ = audited["padded"]
    release = read_release(out)
    for k, holds in ((3, True), (4, False)):
        claim = Claim(model="review-graph", parameters={"k": k})
        assert judge_model(release, claim, PEOPLE).passed == holds


def test_diversity_is_asked_of_the_original() -> None:
    release = averaged(PEOPLE, GROUPS, "simple", step=0.05, k=3)
    alone = replace(release, private=None)
    for least, holds in ((2, True), (41, False)):
        claim = Claim(model="diversity", parameters={"b": 1, "l": least})
        finding = judge_model(alone, claim, PEOPLE)
        assert finding.passed == holds
        assert "The check of diversity" in finding.text


def test_other_layouts_have_no_such_part() -> None:
    from starshade.anonymize.k_likeness import KLikeness

    ratings = CAST["ordinary"]
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    assert (
        what_it_gives_away(OneTable(ratings, release), [], evidence=[], targets=5, seed=0) is None
    )


@pytest.mark.real
@pytest.mark.parametrize("kind", ["padded", "model"])
def test_movielens_passes_and_padding_tells_them_apart(
    ml100k_dir: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The label-based attack stays within 1/k; links are as the data have them, unbounded."""
    from starshade.attack.knowledge import Knowledge
    from starshade.ratings.read import read_ratings

    ratings = read_ratings(ml100k_dir / "u.data")
    ratings = ratings.keep_items(np.flatnonzero(np.diff(ratings.by_item.indptr) >= 5))
    groups = np.minimum(np.arange(ratings.n_users) // 5, ratings.n_users // 5 - 1)
    release = averaged(ratings, groups, kind, step=0.05, k=5)
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    # it decides nothing here
    monkeypatch.setattr("starshade.audit.original.table.measure_all", lambda *_, **__: {})
    result = Audit(threshold=NO_LIMITS, known=(2,), targets=100, shadows=0).run(
        ratings, tmp_path / "out", private=tmp_path / "receipt", rng=0
    )
    assert result.passed
    for known in (1, 4, 8):
        found = LabelAttack().run(release, Knowledge(known=known), original=ratings, rng=0)
        assert found.per_target.credit.max() <= 1 / 5 + 1e-9
    padding = given(result).padding
    assert padding is not None
    assert padding.auc_within_items is not None
    assert (padding.auc_within_items.rate > 0.75) == (kind == "padded")


@pytest.mark.parametrize("kind", [*KINDS, "pooled"])
def test_other_ratings_of_the_same_people_are_refused(tmp_path: Path, kind: str) -> None:
    """A prediction is nobody's rating: only the receipt knows of what it was made."""
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    averaged(PEOPLE, GROUPS, kind, step=0.05, k=3).save(out, private=receipt)
    turned = replace(PEOPLE, codes=(len(PEOPLE.levels) - 1 - PEOPLE.codes).astype(np.uint8))
    with pytest.raises(ConfigError, match="made of other ratings"):
        QUICK.run(turned, out, private=receipt, rng=1)
    release = read_release(out, private=receipt)
    with pytest.raises(ConfigError, match="made of other ratings"):
        measure_all(release, turned)
    with pytest.raises(ConfigError, match="made of other ratings"):
        LabelAttack(tolerance=0.5).run(release, Knowledge(known=2), original=turned, rng=1)
    undated = replace(PEOPLE, days=None, attributes=None, lineage=None)
    assert measure_all(release, undated) == measure_all(release, PEOPLE)


@pytest.mark.parametrize("kind", [*KINDS, "pooled"])
def test_ratings_that_lack_some_of_the_released_are_refused(tmp_path: Path, kind: str) -> None:
    """Changed or not: of a part the receipt cannot tell."""
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    averaged(PEOPLE, GROUPS, kind, step=0.05, k=3).save(out, private=receipt)
    release = read_release(out, private=receipt)
    turned = replace(PEOPLE, codes=(len(PEOPLE.levels) - 1 - PEOPLE.codes).astype(np.uint8))
    attack = LabelAttack(tolerance=0.5)
    for table in (turned, PEOPLE):
        fewer = table.keep_users(np.arange(1, PEOPLE.n_users))
        text = f"1 of the {PEOPLE.n_users} released users are not in these ratings"
        with pytest.raises(ConfigError, match=text):
            attack.run(release, Knowledge(known=2), original=fewer, rng=1)
        less = table.keep_items(np.arange(1, PEOPLE.n_items))
        with pytest.raises(ConfigError, match="released items are not in these ratings"):
            attack.run(release, Knowledge(known=2), original=less, rng=1)


def test_what_was_not_released_may_be_other(tmp_path: Path) -> None:
    some = PEOPLE.keep_items(np.arange(PEOPLE.n_items - 1)).keep_users(np.arange(9))
    made = averaged(some, np.arange(9) // 3, "padded", step=0.05, k=3)
    made.save(tmp_path / "out", private=tmp_path / "receipt")
    release = read_release(tmp_path / "out", private=tmp_path / "receipt")
    codes = PEOPLE.codes.copy()
    row = np.repeat(np.arange(PEOPLE.n_users), PEOPLE.user_support)
    unreleased = (row >= 9) | (PEOPLE.columns == PEOPLE.n_items - 1)
    codes[unreleased] = len(PEOPLE.levels) - 1 - codes[unreleased]
    attack = LabelAttack(tolerance=0.5)
    attack.run(release, Knowledge(known=2), original=replace(PEOPLE, codes=codes), rng=1)
    codes[np.flatnonzero(~unreleased)[0]] ^= 1
    with pytest.raises(ConfigError, match="made of other ratings"):
        attack.run(release, Knowledge(known=2), original=replace(PEOPLE, codes=codes), rng=1)


def test_what_share_of_fake_edges_can_be_told_is_said(tmp_path: Path) -> None:
    method = PredictiveAnonymizer(k=3, profile="simple", b=2, l=4, fake_edges="mean")
    method.anonymize(PEOPLE, rng=0).save(tmp_path / "out", private=tmp_path / "receipt")
    result = QUICK.run(PEOPLE, tmp_path / "out", private=tmp_path / "receipt", rng=1)
    fakes = given(result).fake_edges
    assert fakes is not None
    assert fakes.certain > 0
    assert f"detects {fakes.certain_share.rate:.1%} of imputed" in str(result)  # type: ignore[union-attr]
    told = result.to_dict()["profile_disclosure"]["fake_edges"]
    assert told["certain"] == fakes.certain


def test_a_release_of_equal_profiles_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictive, "refuse_one_profile", lambda classes: None)
    ratings, private = CAST["constant ratings"], tmp_path / "receipt"
    PredictiveAnonymizer(k=2).anonymize(ratings, rng=0).save(tmp_path / "out", private=private)
    audit = Audit(known=(1,), targets=10, shadows=0)
    result = audit.run(ratings, tmp_path / "out", private=private, rng=0)
    assert not result.passed
    assert [each.name for each in result.findings if not each.passed] == ["profiles"]
