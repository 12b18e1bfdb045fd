"""An audit of ratings in shards finds what it finds of one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit import verdict
from starshade.audit.original.shards import InShards
from starshade.audit.original.table import OneTable
from starshade.audit.settings import WITHOUT_RECEIPT
from starshade.audit.verdict import Audit, takes_one_table
from starshade.engine.journal import journal_in
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.ratings.holdout import hold_out
from starshade.ratings.select import listed_items
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from tests.made import made_of
from tests.policies import NO_LIMITS

RATINGS = synthesize(n_users=60, n_items=25, n_ratings=500, rng=3)
MEASURED = ("seconds", "postings_per_second", "read_seconds")


def judged_both(
    tmp_path: Path,
    ratings: Ratings,
    method: PredictiveAnonymizer,
    n: int,
    audit: Audit,
    *,
    cut: bool = False,
) -> tuple[dict, dict]:
    """Judge a release of one table, or with `cut` as if it had been made of the shards."""
    folder, receipt = tmp_path / "release", tmp_path / "receipt.json"
    method.anonymize(ratings, rng=1).save(folder, private=receipt)
    write_shards(ratings, tmp_path / "shards", n)
    shards, released = open_shards(tmp_path / "shards"), read_release(folder, private=receipt)
    whole = audit.judge_release(ratings, released, folder, seed=2)
    if cut:
        released = made_of(shards, released).release
    with journal_in(tmp_path / "shards", resume=False) as journal:
        by_shard = audit.judge_shards(shards, released, folder, engine=Local(journal), seed=2)
    return plain(by_shard.to_dict()), plain(whole.to_dict())


def plain(said):
    if isinstance(said, dict):
        return {key: plain(value) for key, value in said.items() if key not in MEASURED}
    if isinstance(said, (list, tuple)):
        return [plain(value) for value in said]
    return said


@pytest.mark.parametrize("profile", ["padded", "simple", "pooled"])
def test_four_partitions_give_the_verdict_of_one_table(tmp_path: Path, profile: str) -> None:
    method = PredictiveAnonymizer(k=4, profile=profile, factors=2)
    cut, whole = judged_both(
        tmp_path, RATINGS, method, 4, Audit(threshold=NO_LIMITS, targets=20, shadows=0)
    )
    assert cut == whole


def test_limits_and_who_knows_more_are_as_of_one_table(tmp_path: Path) -> None:
    audit = Audit(threshold=["class=0.2", "record=0.5"], known=[1, 3], targets=15, shadows=0)
    method = PredictiveAnonymizer(k=4, factors=2)
    cut, whole = judged_both(tmp_path, RATINGS, method, 3, audit)
    assert cut == whole


def test_items_and_people_who_were_left_out_are_not_attacked(tmp_path: Path) -> None:
    rare = RATINGS.keep_items(np.argsort(-RATINGS.item_support)[:3])
    assert rare.n_users < RATINGS.n_users
    items = listed_items(list(rare.items))
    method = PredictiveAnonymizer(k=4, profile="padded", factors=1, items=items)
    cut, whole = judged_both(
        tmp_path, RATINGS, method, 3, Audit(threshold=NO_LIMITS, targets=20, shadows=0)
    )
    assert whole["records"] == rare.n_users
    assert cut == whole


def test_a_scale_that_was_found_is_that_of_one_table(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    rows = [f"u{u},i{(u * 7 + j) % 12},{1 + (u + j) % 4}" for u in range(40) for j in range(5)]
    file.write_text("\n".join(["user,item,rating", *rows, "u0,i11,5"]))
    from starshade.ratings.read import read_ratings

    ratings = read_ratings(file)
    assert ratings.report.scale_inferred
    method = PredictiveAnonymizer(k=4, profile="padded", factors=1)
    cut, whole = judged_both(
        tmp_path, ratings, method, 3, Audit(threshold=NO_LIMITS, targets=20, shadows=0)
    )
    assert cut == whole


def continued(tmp_path: Path, ratings: Ratings) -> tuple[Path, Path]:
    """Save a release that continues one which nobody names."""
    method = PredictiveAnonymizer(k=4, factors=2, slack=1)
    first, folder, receipt = method.anonymize(ratings, rng=1), tmp_path / "second", tmp_path / "r"
    first.save(tmp_path / "first", private=tmp_path / "first.json")
    before = read_release(tmp_path / "first", private=tmp_path / "first.json")
    method.anonymize(ratings, rng=2, after=before).save(folder, private=receipt)
    return folder, receipt


def test_a_release_that_continues_one_fails_as_beside_one_table(tmp_path: Path) -> None:
    folder, receipt = continued(tmp_path, RATINGS)
    write_shards(RATINGS, tmp_path / "shards", 3)
    audit = Audit(threshold=NO_LIMITS, targets=10, shadows=0)
    whole = audit.run(RATINGS, folder, private=receipt, rng=1)
    cut = audit.run(open_shards(tmp_path / "shards"), folder, private=receipt, rng=1)
    assert not whole.passed
    assert "continues a release that is not named" in whole.check("composition").text
    assert plain(cut.to_dict()) == plain(whole.to_dict())


def test_a_probe_is_asked_shard_by_shard(tmp_path: Path) -> None:
    train, probe = hold_out(RATINGS, 0.15, rng=2)
    folder, receipt = tmp_path / "release", tmp_path / "receipt.json"
    PredictiveAnonymizer(k=4, factors=2).anonymize(train, rng=1).save(folder, private=receipt)
    write_shards(train, tmp_path / "shards", 1)
    whole, cut = (
        Audit(threshold=NO_LIMITS, targets=10, shadows=0).run(
            of, folder, private=receipt, probe=probe, rng=1
        )
        for of in (train, open_shards(tmp_path / "shards"))
    )
    assert whole.utility["rmse_original"]
    assert plain(cut.to_dict()) == plain(whole.to_dict())


def test_what_takes_one_table_says_so(tmp_path: Path) -> None:
    method = PredictiveAnonymizer(k=4, factors=2)
    method.anonymize(RATINGS, rng=1).save(tmp_path / "release", private=tmp_path / "receipt.json")
    write_shards(RATINGS, tmp_path / "shards", 2)
    shards, release = open_shards(tmp_path / "shards"), tmp_path / "release"
    with pytest.raises(ConfigError, match="an audit without the private key file needs one table"):
        Audit(threshold=NO_LIMITS, shadows=0).run(shards, release)
    with pytest.raises(ConfigError, match="with earlier releases needs one table"):
        Audit(threshold=NO_LIMITS, shadows=0).run(
            shards, release, private=tmp_path / "receipt.json", earlier=[release]
        )


@pytest.mark.parametrize("profile", ["padded", "simple", "pooled"])
def test_of_one_shard_releases_are_made_again_as_of_one_table(
    tmp_path: Path, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starshade.attack.shadows.predicates.FEWEST", 1)
    method = PredictiveAnonymizer(k=4, profile=profile, factors=2)
    cut, whole = judged_both(
        tmp_path, RATINGS, method, 1, Audit(threshold=NO_LIMITS, targets=20, shadows=2)
    )
    (check,) = (each for each in whole["checks"] if each["name"] == "singling-out")
    assert check["value"] is not None
    assert cut == whole


def test_of_several_shards_they_are_made_again_shard_by_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starshade.attack.shadows.inference.FEWEST", 1)
    monkeypatch.setattr("starshade.attack.shadows.linkability.FEWEST", 1)
    monkeypatch.setattr("starshade.attack.shadows.predicates.FEWEST", 1)
    method = PredictiveAnonymizer(k=4, factors=2)
    audit = Audit(threshold=NO_LIMITS, known=[2], targets=20, shadows=2)
    cut, whole = judged_both(tmp_path, RATINGS, method, 3, audit, cut=True)
    found = {each["name"]: each for each in cut["checks"]}
    assert found["singling-out"]["value"] is not None
    assert found["linkability"]["value"] is not None
    assert found["inference"]["value"] is not None
    assert found["membership"]["other_values"]  # the AUC; too few non-members for more
    # all else is that of one table; three shards are three buckets, in whatever is made again
    made_again = ("singling-out", "linkability", "membership", "membership-all", "inference")
    for said in (cut, whole):
        said["checks"] = [each for each in said["checks"] if each["name"] not in made_again]
    assert cut["checks"] == whole["checks"]


def test_a_release_of_other_ratings_is_refused(tmp_path: Path) -> None:
    method = PredictiveAnonymizer(k=4, factors=2)
    method.anonymize(RATINGS, rng=1).save(tmp_path / "release", private=tmp_path / "receipt.json")
    released = read_release(tmp_path / "release", private=tmp_path / "receipt.json")
    other = synthesize(n_users=60, n_items=25, n_ratings=500, rng=4)
    write_shards(other, tmp_path / "shards", 2)
    with pytest.raises(ConfigError, match="made of other ratings"):
        Audit(threshold=NO_LIMITS, targets=10, shadows=0).judge_shards(
            open_shards(tmp_path / "shards"),
            released,
            tmp_path / "release",
            engine=Local(),
            seed=0,
        )


def facts_of(model: str = "review-graph", **other: Any) -> Any:
    """What an audit looks at before it takes ratings in shards."""
    claims = [SimpleNamespace(model="k-anonymity"), SimpleNamespace(model=model)]
    facts = {"layout": "profile", "attribute_columns": (), "private": SimpleNamespace(nobodys=0)}
    facts |= other
    return SimpleNamespace(
        manifest=SimpleNamespace(claims=claims, **facts), private=facts["private"]
    )


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, ""),
        ({"layout": "record"}, "of a release that is not of profiles alone"),
        ({"attribute_columns": ("age",)}, "of a release that is not of profiles alone"),
        ({"model": "diversity"}, "of a release that claims diversity"),
        ({"private": None}, WITHOUT_RECEIPT),
        ({"private": SimpleNamespace(nobodys=1)}, "of a release with dummy records"),
    ],
)
def test_each_reason_to_take_one_table_is_named(facts: dict[str, Any], reason: str) -> None:
    release = facts_of(**facts)
    assert takes_one_table(release, ()) == reason
    assert takes_one_table(release, ["earlier"]) == (reason or "with earlier releases")


def test_a_probe_takes_one_table_where_its_recommender_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verdict, "probe_takes_one_table", lambda _: "with that recommender")
    assert takes_one_table(facts_of(), ()) == ""
    assert takes_one_table(facts_of(), (), RATINGS) == "with that recommender"
    assert takes_one_table(facts_of(), ["earlier"], RATINGS) == "with earlier releases"


def test_a_limit_on_several_releases_is_refused_as_beside_one_table(tmp_path: Path) -> None:
    method = PredictiveAnonymizer(k=4, factors=2)
    method.anonymize(RATINGS, rng=1).save(tmp_path / "release", private=tmp_path / "receipt.json")
    write_shards(RATINGS, tmp_path / "shards", 2)
    audit = Audit(threshold=["composition=0.1"], shadows=0, targets=10)
    for ratings in (RATINGS, open_shards(tmp_path / "shards")):
        with pytest.raises(ConfigError, match="composition needs an earlier release"):
            audit.run(ratings, tmp_path / "release", private=tmp_path / "receipt.json", rng=1)


def test_a_rating_that_one_person_gave_is_among_those_released(tmp_path: Path) -> None:
    top = int(RATINGS.codes.max())
    codes = np.minimum(RATINGS.codes, top - 1)
    codes[7] = top
    ratings = replace(RATINGS, codes=codes)
    release = PredictiveAnonymizer(k=4, factors=2, rare_items="keep").anonymize(ratings, rng=1)
    write_shards(ratings, tmp_path / "shards", 2)
    whole = OneTable(ratings, release).given.released.tolist()
    assert ratings.levels[top] in whole
    cut = InShards(open_shards(tmp_path / "shards"), release, Local())
    assert cut.given.released.tolist() == whole
