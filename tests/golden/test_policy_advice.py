"""What an audit advises changes the check that it is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import starshade as ss
from starshade.audit.checks.advice import advice_on
from starshade.audit.checks.check import Check
from starshade.audit.result import AuditResult
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release


def audited(
    ratings: Ratings, folder: Path, *, shadows: int | None = None, key: bool = True, **made: object
) -> tuple[AuditResult, list[str]]:
    """Make a release and audit it; returns what is advised too."""
    folder.mkdir(exist_ok=True)
    release, private = folder / "release", folder / "key.json"
    if not release.exists():
        method = ss.PredictiveAnonymizer(**made)  # type: ignore[arg-type]
        method.anonymize(ratings, rng=1).save(release, private=private)
    own = private if key else None
    result = ss.Audit(shadows=shadows).run(ratings, release, private=own, rng=1)
    read = read_release(release, private=own)
    return result, advice_on(result, read)


def membership(result: AuditResult) -> Check:
    return result.check("membership")


@pytest.mark.slow
def test_a_larger_k_and_an_item_support_lower_membership(
    ml_latest_small_dir: Path, tmp_path: Path
) -> None:
    ratings = ss.read_ratings(ml_latest_small_dir / "ratings.csv")
    first, (advice,) = audited(ratings, tmp_path / "5", k=5)
    assert first.verdict == "FAIL"
    assert [each.name for each in first.decisive] == ["membership"]
    assert "k=11" in advice
    assert advice.endswith('or leave out rare items: item_support="2%", or both.')
    before = membership(first).rate
    assert before is not None
    for name, made in {"11": {"k": 11}, "support": {"k": 5, "item_support": "2%"}}.items():
        result = audited(ratings, tmp_path / name, **made)[0]
        assert result.verdict == "PASS"
        rate = membership(result).rate
        assert rate is not None
        assert (rate.rate, rate.high) < (before.rate, before.high)


@pytest.mark.slow
def test_a_search_on_ml_latest_small(ml_latest_small_dir: Path) -> None:
    ratings = ss.read_ratings(ml_latest_small_dir / "ratings.csv")
    result = ss.search_policy(ratings, rng=1)
    assert result.chosen is not None
    assert result.chosen.k in (7, 11)
    assert result.chosen.item_support is None
    first = json.loads(json.dumps(result.to_dict()))["attempts"][0]
    assert (first["k"], first["verdict"]) == (5, "FAIL")
    assert all("Membership" in text for text in first["decisive"])


@pytest.mark.slow
def test_more_shadow_releases_measure_membership_of_few(tmp_path: Path) -> None:
    ratings = ss.synthesize(n_users=60, n_items=12, n_ratings=420, rng=1)
    few, advised = audited(ratings, tmp_path, k=5)
    assert membership(few).status == "not measured"
    (advice,) = (each for each in advised if each.startswith("Membership"))
    number = int(advice.rpartition("shadows=")[2].rstrip("."))
    enough, _ = audited(ratings, tmp_path, shadows=number)
    assert membership(enough).status != "not measured"


def test_the_key_file_measures_what_needs_it(tmp_path: Path) -> None:
    ratings = ss.synthesize(n_users=60, n_items=12, n_ratings=420, rng=1)
    _, advised = audited(ratings, tmp_path, shadows=0, k=5)
    assert not any("key file" in each for each in advised)
    without, advised = audited(ratings, tmp_path, shadows=0, key=False)
    assert without.check("re-identification").status == "not measured"
    assert advised[0].startswith("Re-identification; Singling out")
    assert advised[0].endswith(": give the private key file (private).")
    assert audited(ratings, tmp_path, shadows=0)[0].check("re-identification").status == "pass"
