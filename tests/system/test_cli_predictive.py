"""``starshade anonymize --method predictive``: settings reach the method, sentences are true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from starshade.release.folder.read import read_release
from tests.system.conftest import call, told


def made(ratings: Path, out: Path, *settings: object) -> dict[str, Any]:
    told(
        "anonymize",
        ratings,
        "--method",
        "predictive",
        "--no-key-file",
        "--k",
        5,
        *settings,
        "--out",
        out,
    )
    manifest: dict[str, Any] = json.loads((out / "release.json").read_text())
    return manifest


def test_every_setting_arrives(ratings_csv: Path, tmp_path: Path) -> None:
    config = made(
        ratings_csv, tmp_path / "a", "--profile", "simple", "--grouping", "t-means",
        "--weights", "support", "--dissimilarity", "weighted", "--clip", "cells",
        "--factors", 2, "--regularization", 0.2, "--sweeps", 3, "--no-biases",
        "--b", 2, "--l", 3, "--min-raters", 2, "--profile-step", 0.5,
    )["config"]  # fmt: skip
    assert config == {
        "k": 5, "profile": "simple", "grouping": "t-means", "weights": "support",
        "dissimilarity": "weighted", "clip": "cells", "factors": 2, "regularization": 0.2,
        "sweeps": 3, "biases": False, "b": 2, "l": 3, "fake_edges": "drawn", "min_raters": 2,
        "step": 0.5,
        "recommender": "regularized-svd", "items": "all",
    }  # fmt: skip


def test_the_figures_are_those_of_the_release(ratings_csv: Path, tmp_path: Path) -> None:
    found = told(
        "anonymize",
        ratings_csv,
        "--method",
        "predictive",
        "--profile",
        "padded",
        "--no-key-file",
        "--k",
        5,
        "--out",
        tmp_path / "a",
    )
    assert found["smallest_class"] >= 5
    assert found["smallest_class"] <= found["median_class"] <= found["largest_class"]
    assert 0 < found["single_rater_cells"] < 1
    assert found["users_rating_disclosed"] is None
    assert found["gen_iloss"] is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((), ["It contains no original rating"]),
        (
            ("--profile", "padded"),
            ["the mean over its class of ratings and, for unrated items, predictions"],
        ),
        (("--profile", "model"), ["It contains no original rating"]),
        (("--profile", "pooled"), ["It contains no original rating"]),
        (("--profile", "simple"), ["who rated an item", "No member rated an item"]),
        (("--profile", "simple", "--l", 20), ["%), which hide who rated what"]),
        (
            ("--profile", "simple", "--l", 2),
            [
                "Fake edges: none (0); every rated item is already in 2 profiles.",
                "No member rated an item",
            ],
        ),
    ],
)
def test_the_summary_says_what_a_profile_is(
    ratings_csv: Path, tmp_path: Path, settings: tuple[object, ...], said: list[str]
) -> None:
    asked = (
        "anonymize",
        ratings_csv,
        "--method",
        "predictive",
        "--no-key-file",
        "--k",
        5,
        "--seed",
        0,
    )
    result = call(*asked, *settings, "--out", tmp_path / "a")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 0, result.output
    for sentence in said:
        assert sentence in text


def test_fake_edges_are_counted(ratings_csv: Path, tmp_path: Path) -> None:
    """Cells that show what nobody of their class rated: what l = 0 does not show."""
    asked = (
        "anonymize",
        ratings_csv,
        "--method",
        "predictive",
        "--no-key-file",
        "--profile",
        "simple",
        "--k",
        5,
    )
    counted = []
    for i, settings in enumerate([(), ("--l", 2), ("--l", 20), ("--l", 20, "--b", 2)]):
        found = told(*asked, *settings, "--seed", 0, "--out", tmp_path / f"{i}")
        counted.append(found["fake_edges"])
        shown = read_release(tmp_path / f"{i}").classes
        if i == 0:
            alone = shown
    assert counted[:2] == [None, 0]
    assert 0 < counted[2] < counted[3]
    assert shown.n_groups == alone.n_groups
    assert counted[3] == shown.n_rated().sum() - alone.n_rated().sum()


def test_what_cannot_be_reached_exits_1_and_leaves_nothing(
    ratings_csv: Path, tmp_path: Path
) -> None:
    asked = ("anonymize", ratings_csv, "--method", "predictive", "--no-key-file", "--k", 5)
    result = call(*asked, "--profile", "simple", "--l", 99, "--out", tmp_path / "a")
    assert result.exit_code == 1
    result = call(*asked, "--l", 2, "--out", tmp_path / "a")
    assert result.exit_code == 2
    result = call(*asked, "--factors", 100_000, "--out", tmp_path / "a")
    assert result.exit_code == 2
    assert "must be at most 15 for 120 users" in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())
