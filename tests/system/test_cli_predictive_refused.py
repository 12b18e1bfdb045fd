"""``starshade anonymize --method predictive``: what is refused names the option that was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.conftest import call, refused


@pytest.mark.parametrize(
    ("settings", "said", "code"),
    [
        (("--min-raters", 3), "Error: --min-raters: applies only to the profile simple", 2),
        (("--profile", "simple", "--min-raters", 0), "Error: --min-raters = 0", 2),
        (
            ("--profile", "simple", "--min-raters", 121),
            "Error: --min-raters = 121: there are 120",
            2,
        ),
        (
            ("--profile", "simple", "--min-raters", 10**23),
            "The largest allowed number is 2**63 - 1",
            2,
        ),
        (("--profile", "simple", "--min-raters", 120), "all cells would be empty", 1),
        (("--profile-step", 1e308), "does not divide", 2),
        (("--threads", 0), "--threads", 2),
        (("--regularization", 1e308), "from 0 to 1e+100", 2),
        (("--profile", "simple", "--l", 1e308), "--l = 1e+308", 2),
    ],
)
def test_refusals(
    ratings_csv: Path, tmp_path: Path, settings: tuple[object, ...], said: str, code: int
) -> None:
    asked = (
        "anonymize",
        ratings_csv,
        "--method",
        "predictive",
        "--no-key-file",
        "--k",
        5,
        *settings,
    )
    message = refused(*asked, "--out", tmp_path / "a", code=code)
    assert said in message
    assert max(map(len, message.splitlines())) < 160
    assert not list(tmp_path.iterdir())


def test_a_recommender_without_biases_names_the_option(ratings_csv: Path, tmp_path: Path) -> None:
    asked = (
        "anonymize",
        ratings_csv,
        "--method",
        "predictive",
        "--no-key-file",
        "--k",
        5,
        "--no-biases",
        "--profile",
        "model",
    )
    message = refused(*asked, "--recommender", "implicit-als", "--out", tmp_path / "a")
    assert "Error: --no-biases: the recommender implicit-als has no such setting" in message


def test_many_threads_are_no_mistake(ratings_csv: Path, tmp_path: Path) -> None:
    asked = (
        "anonymize",
        ratings_csv,
        "--method",
        "predictive",
        "--no-key-file",
        "--k",
        5,
        "--threads",
        64,
    )
    assert call(*asked, "--out", tmp_path / "a").exit_code == 0


def test_ends_of_a_found_scale_are_told_and_declared_ones_not(tmp_path: Path) -> None:
    data = tmp_path / "real.csv"
    lines = [
        f"{u},{i},{(u * 7 + i * 3) % 11 / 7 + u / 1000:.3f}" for u in range(30) for i in (1, 2)
    ]
    data.write_text("\n".join(["user,item,rating", *lines]) + "\n")
    for method in ("predictive", "k-likeness"):
        asked = ("anonymize", data, "--method", method, "--k", 5, "--no-key-file")
        found = call(*asked, "--out", tmp_path / method)
        assert found.exit_code == 0, found.stderr
        assert "fewer than 5 users gave the lowest or the highest rating" in found.stderr
        declared = call(*asked, "--scale=0:2", "--out", tmp_path / f"{method} declared")
        assert declared.exit_code == 0, declared.stderr
        assert "users gave the" not in declared.stderr
