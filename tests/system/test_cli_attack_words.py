"""What ``starshade attack`` prints for a person, where a figure could mislead."""

from __future__ import annotations

from pathlib import Path

from tests.system.conftest import Made, call, refused, told


def test_links_on_ratings_show_no_theory(made: Made, ratings_csv: Path) -> None:
    alone = call("attack", ratings_csv, "--attack", "link-existence").stdout
    assert "nothing to infer" in alone
    assert "%" not in alone
    linked = ("--original", ratings_csv, "--items", "top:10", "--private", made.receipt)
    grouped = call("attack", made.folder, *linked, "--attack", "link-existence").stdout
    assert "exceeded for" in grouped
    assert "covers" in grouped


def test_homogeneity_shows_what_is_learnt_exactly(made: Made, ratings_csv: Path) -> None:
    options = ("--attack", "homogeneity", "--known", 2, "--seed", 1)
    linked = ("--original", ratings_csv, "--items", "top:10", "--private", made.receipt)
    released = call("attack", made.folder, *linked, *options).stdout
    assert "Targets' further ratings disclosed exactly" in released
    assert "Further wider cells equal in all candidates" in released
    assert "Correct among them" not in released  # as it must be
    wrong = call("attack", ratings_csv, *options, "--wrong", 1).stdout
    assert "Correct among them" in wrong


def test_other_ratings_are_refused_also_where_some_are_missing(
    ratings_csv: Path, tmp_path: Path
) -> None:
    out, receipt, items = (tmp_path / name for name in ("out", "receipt", "items.txt"))
    made = ("anonymize", ratings_csv, "--method", "predictive", "--k", 4, "--private", receipt)
    told(*made, "--out", out)
    items.write_text("1\n2\n3\n")
    head, *lines = ratings_csv.read_text().splitlines()
    other, fewer = tmp_path / "other.csv", tmp_path / "fewer.csv"
    rows = [line.split(",") for line in lines]
    changed = [[u, i, str(6 - int(r)), day] for u, i, r, day in rows]
    other.write_text("\n".join([head, *map(",".join, changed)]) + "\n")
    fewer.write_text("\n".join([head, *(",".join(row) for row in changed if row[0] != "1")]) + "\n")
    attack = ("attack", out, "--private", receipt, "--known", 2)
    for chosen in ((), ("--items", items)):
        assert told(*attack, "--original", ratings_csv, *chosen)["credit"] == "linked"
        said = refused(*attack, "--original", other, *chosen)
        assert "the release was made of other ratings" in said
        said = refused(*attack, "--original", fewer, *chosen)
        assert "1 of the 120 released users are not in these ratings" in said


def test_sensitive_items_among_what_is_known_are_named(ratings_csv: Path, tmp_path: Path) -> None:
    made = ("anonymize", ratings_csv, "--method", "interval", "--no-key-file", "--k", 4, "--eps", 3)
    told(*made, "--nulls", "ignore", "--out", tmp_path / "plain")
    told(*made, "--nulls", "ignore", "--sensitive", 3, "--out", tmp_path / "out")
    attack = ("attack", tmp_path / "out", "--original", ratings_csv, "--known", 2)
    said = call(*attack).stderr
    assert "knowledge includes the release's 1 sensitive item" in said
    assert "--items FILE" in said
    assert "--private" in said
    rest = tmp_path / "items.txt"
    rest.write_text("".join(f"{item}\n" for item in range(1, 16) if item != 3))
    assert "sensitive" not in call(*attack, "--items", rest).stderr
    assert "sensitive" not in call("attack", tmp_path / "plain", *attack[2:]).stderr
    assert "sensitive" not in call(*attack, "--attack", "link-existence").stderr
    assert "sensitive" not in call("attack", ratings_csv, "--known", 2).stderr
