"""What ``starshade attack`` prints for a person, where a figure could mislead."""

from __future__ import annotations

from pathlib import Path

from tests.system.conftest import Made, call


def test_links_on_ratings_show_no_theory(made: Made, ratings_csv: Path) -> None:
    alone = call("attack", ratings_csv, "--attack", "link-existence").stdout
    assert "nothing to infer" in alone
    assert "%" not in alone
    linked = ("--original", ratings_csv, "--items", "top:10", "--private", made.receipt)
    grouped = call("attack", made.folder, *linked, "--attack", "link-existence").stdout
    assert "what theory says" in grouped
    assert "covers" in grouped


def test_homogeneity_shows_what_is_learnt_exactly(made: Made, ratings_csv: Path) -> None:
    options = ("--attack", "homogeneity", "--known", 2, "--seed", 1)
    linked = ("--original", ratings_csv, "--items", "top:10", "--private", made.receipt)
    released = call("attack", made.folder, *linked, *options).stdout
    assert "of the further ratings, learnt exactly" in released
    assert "further cells alike in all, but wider" in released
    assert "of them true of the target" not in released  # as it must be
    wrong = call("attack", ratings_csv, *options, "--wrong", 1).stdout
    assert "of them true of the target" in wrong
