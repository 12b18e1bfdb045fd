"""What ``starshade attack`` prints for a person, where a figure could mislead."""

from __future__ import annotations

from pathlib import Path

from tests.system.conftest import Made, call, told


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


def test_sensitive_items_among_what_is_known_are_named(ratings_csv: Path, tmp_path: Path) -> None:
    made = ("anonymize", ratings_csv, "--method", "interval", "--no-receipt", "--k", 4, "--eps", 4)
    told(*made, "--nulls", "ignore", "--out", tmp_path / "plain")
    told(*made, "--nulls", "ignore", "--sensitive", 3, "--out", tmp_path / "out")
    attack = ("attack", tmp_path / "out", "--original", ratings_csv, "--known", 2)
    said = call(*attack).stderr
    assert "knowledge is drawn from the release's 1 sensitive item too" in said
    assert "--items FILE" in said
    assert "--private" in said
    rest = tmp_path / "items.txt"
    rest.write_text("".join(f"{item}\n" for item in range(1, 16) if item != 3))
    assert "sensitive" not in call(*attack, "--items", rest).stderr
    assert "sensitive" not in call("attack", tmp_path / "plain", *attack[2:]).stderr
    assert "sensitive" not in call(*attack, "--attack", "link-existence").stderr
    assert "sensitive" not in call("attack", ratings_csv, "--known", 2).stderr
