"""``starshade measure --probe FILE``."""

from __future__ import annotations

from pathlib import Path

import pytest

from starshade.recommend.adapters import SurpriseSVD
from starshade.utility.held_out import sharded
from tests.system.conftest import call, refused, told


@pytest.fixture(scope="module")
def held(ratings_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the parts of the ratings, a release of one of them, and its receipt."""
    place = tmp_path_factory.mktemp("held")
    told(
        *("data", "split", ratings_csv, "--seed", "1"),
        *("--out", place / "train", "--probe", place / "probe"),
    )
    told(
        *("anonymize", place / "train", "--k", "4", "--items", "top:10", "--seed", "1"),
        *("--out", place / "release", "--private", place / "receipt.json"),
    )
    return place


def measure(held: Path, ratings: object, probe: object) -> tuple[object, ...]:
    receipt = held / "receipt.json"
    return ("measure", ratings, held / "release", "--private", receipt, "--probe", probe)


def test_held_out_ratings_are_measured(held: Path) -> None:
    found = told(*measure(held, held / "train", held / "probe"))
    assert found["probe_ratings"] + found["probe_left_out"] > 0
    assert found["rmse_original"] > 0
    assert found["rmse_ratio_refit"] == found["rmse_refit"] / found["rmse_original"]
    assert found["target_deviation_release"] == found["rmse_release"]
    assert 0 <= found["self_rank_first"] <= 1
    again = told(*measure(held, held / "train", held / "probe"))
    assert {**found, "seconds": 0} == {**again, "seconds": 0}
    text = call(*measure(held, held / "train", held / "probe")).stdout
    assert "recommender on the release" in text
    assert "--probe" not in text


def test_without_a_probe_nothing_is_trained(held: Path) -> None:
    without = measure(held, held / "train", held / "probe")[:-2]
    found, text = told(*without), call(*without).stdout
    assert found["rmse_original"] is None
    assert found["histogram_distance"] > 0
    assert "starshade data split" in " ".join(str(text).split())


def test_what_remains_takes_the_receipt(held: Path) -> None:
    without = ("measure", held / "train", held / "release")
    linked = (*without, "--private", held / "receipt.json")
    kinds = ("exact", "one_step", "wider", "existence_only", "ambiguous", "suppressed")
    found = told(*linked)
    assert next(iter(found)) == "utility_exact"  # first of all
    assert sum(found[f"utility_{kind}"] for kind in kinds) == pytest.approx(1)
    assert 0 < found["utility_suppressed"] < 1  # of the items that were not chosen
    assert told(*without)["utility_suppressed"] is None
    hint = "Utility per rating is not measured without the private key file"
    assert hint in " ".join(call(*without).stdout.split())
    assert hint not in " ".join(call(*linked).stdout.split())


def test_what_does_not_belong_together_is_refused(held: Path, tmp_path: Path) -> None:
    without = ("measure", held / "train", held / "release", "--probe", held / "probe")
    assert "held-out ratings (probe) need the private key file" in refused(*without)
    assert "ratings of the probe are in the ratings too" in refused(
        *measure(held, held / "train", held / "train")
    )
    stranger = tmp_path / "stranger.csv"
    stranger.write_text("userId,movieId,rating\n9999,1,3\n")
    assert "1 of the 1 users of the probe are not in" in refused(
        *measure(held, held / "train", stranger)
    )
    odd = tmp_path / "odd.csv"
    odd.write_text("userId,movieId,rating\n1,1,3.5\n")
    assert "off the scale 1:5:1" in refused(*measure(held, held / "train", odd))


def profiles(held: Path, place: Path) -> tuple[object, ...]:
    """Release profiles of the training part; returns what follows the ratings in a command."""
    method = ("--method", "predictive", "--k", "4", "--factors", "2", "--seed", "1")
    told(
        *("anonymize", held / "train", *method),
        *("--out", place / "made", "--private", place / "made.json"),
    )
    return (place / "made", "--private", place / "made.json", "--probe", held / "probe")


@pytest.mark.parametrize("n", [1, 3])
def test_a_probe_is_asked_shard_by_shard(held: Path, tmp_path: Path, n: int) -> None:
    shards, asked = tmp_path / "shards", profiles(held, tmp_path)
    told("data", "convert", held / "train", "--out", shards, "--shards", n)
    whole = told("measure", held / "train", *asked)
    found = told("measure", shards, *asked, "--engine", "local")
    assert whole["rmse_original"] > 0
    if n == 1:
        assert {**found, "seconds": 0} == {**whole, "seconds": 0}
    else:
        assert found["rmse_original"] == pytest.approx(whole["rmse_original"], rel=1e-9)
        assert found["probe_ratings"] == whole["probe_ratings"]
        assert found["target_deviation_release"] == whole["target_deviation_release"]


def test_another_recommender_takes_the_shards_as_one_table(
    held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards, asked = tmp_path / "shards", profiles(held, tmp_path)
    told("data", "convert", held / "train", "--out", shards, "--shards", 2)
    monkeypatch.setattr(sharded, "chosen", lambda *_: SurpriseSVD())
    said = refused("measure", shards, *asked, "--engine", "local")
    assert "--engine: not applicable with a probe and the recommender surprise-svd" in said
    found = told("measure", shards, *asked)  # as one table
    assert {**found, "seconds": 0} == {**told("measure", held / "train", *asked), "seconds": 0}
