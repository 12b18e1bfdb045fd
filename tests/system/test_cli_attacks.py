"""``starshade attack``: every attack, public ratings, the list of those at risk."""

from __future__ import annotations

import csv
import os
import re
import stat
from pathlib import Path

import pytest

from starshade.attack.registry import ENTRIES
from starshade.registry import Entry
from starshade.setting import settings_of
from tests.system.conftest import Made, call, refused, told

FITTING = ("scoreboard", "structure", "label", "homogeneity")


OF_RELEASES = ("composition", "fake-edges")


@pytest.mark.parametrize("name", [e.name for e in ENTRIES if e.name not in OF_RELEASES])
def test_every_attack_prints_for_a_person(name: str, made: Made, ratings_csv: Path) -> None:
    # the tracker counts everybody: it has no use for what is known of a target
    asked = ("--attack", name, "--seed", 1, *(() if name == "tracker" else ("--known", 2)))
    on_ratings = call("attack", ratings_csv, *asked)
    assert on_ratings.exit_code == 0, on_ratings.stderr
    assert on_ratings.stdout.startswith(f"{name} on 120 records")
    linked = ("--original", ratings_csv, "--items", "top:10", "--private", made.receipt)
    released = call("attack", made.folder, *linked, *asked)
    if name == "padding":  # which is of averaged profiles: test_cli_profiles
        assert "padding: the release has layout 'generalized'" in released.stderr
        return
    assert released.exit_code == 0, released.stderr
    assert "records" in released.stdout


def test_fake_edges_are_of_simple_releases(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    assert "ratings, not a release" in refused("attack", ratings_csv, "--attack", "fake-edges")
    linked = ("--original", ratings_csv, "--private", made.receipt, "--attack", "fake-edges")
    assert "the release is 'generalized'" in refused("attack", made.folder, *linked)
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    asked = ("--method", "predictive", "--profile", "simple", "--k", 3, "--b", 2, "--l", 20)
    call("anonymize", ratings_csv, *asked, "--seed", 1, "--out", out, "--private", receipt)
    linked = ("--original", ratings_csv, "--private", receipt, "--attack", "fake-edges")
    shown = call("attack", out, *linked, "--seed", 1)
    assert "detects no imputed cell with certainty" in " ".join(shown.stdout.split())


@pytest.mark.parametrize("name", FITTING)
def test_a_release_bounds_attacks_by_candidates(name: str, made: Made, ratings_csv: Path) -> None:
    linked = ("--original", ratings_csv, "--items", "top:10", "--private", made.receipt)
    found = told("attack", made.folder, *linked, "--attack", name, "--known", 2, "--k", 4)
    assert found["bound"] <= 1 / 4
    assert found["expected_top1"] <= found["bound"]
    assert found["fewer_than_k"]["rate"] == 0


def test_settings_reach_their_attack(ratings_csv: Path) -> None:
    def config(name: str, *settings: object) -> dict[str, object]:
        found = told("attack", ratings_csv, "--attack", name, "--known", 2, *settings)
        return dict(found["config"])

    assert config("scoreboard-rh", "--phi", 2, "--theta", 0.5)["phi"] == 2
    assert config("label", "--tolerance", 1)["tolerance"] == 1
    assert config("label")["tolerance"] == 0
    assert config("structure", "--k", 7)["k"] == 7
    assert config("link-existence", "--prior", 0.1)["prior"] == 0.1
    assert config("homogeneity", "--by", "structure")["by"] == "structure"
    found = told("attack", ratings_csv, "--attack", "homogeneity", "--known", 2, "--sensitive", "3")
    assert [item["item"] for item in found["sensitive"]] == [2]


def test_the_two_errors_over_phi(ratings_csv: Path) -> None:
    found = told("attack", ratings_csv, "--known", 2, "--absent", "--seed", 1)
    curve = found["tradeoff"]
    assert curve["phi"] == sorted(curve["phi"])
    assert curve["false_match_absent"] == sorted(curve["false_match_absent"], reverse=True)
    assert curve["false_negative"] == sorted(curve["false_negative"])
    assert "φ" in call("attack", ratings_csv, "--known", 2, "--absent", "--seed", 1).stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--attack", "structure", "--phi", "2"], "--phi"),
        (["--attack", "label", "--by", "label"], "--by"),
        (["--attack", "label", "--sensitive", "1"], "--sensitive"),
        (["--attack", "label", "--no-ratings"], "structure"),
        (["--attack", "label", "--tolerance", "-1"], "tolerance"),
        (["--attack", "scoreboard", "--alpha", "1"], "alpha"),
        (["--attack", "link-existence", "--prior", "2"], "prior"),
        (["--attack", "link-existence", "--targets", "3"], "targets"),
        (["--attack", "homogeneity", "--sensitive", "no-such-item"], "item 1 is not in"),
        (["--attack", "homogeneity", "--by", "typo"], "typo"),
        (["--theta", "0"], "theta"),
        (["--k", "3"], "--k"),
        (["--risk-draws", "3"], "--risk-draws"),
        (["--aux-scale", "1:10"], "--aux-scale"),
        (["--attack", "label", "--risk-list", "list.csv"], "--risk-list"),
        (["--risk-list", "nowhere/list.csv"], "nowhere"),
        (["--risk-list", ""], "not a file name"),
        (["--risk-list", "folder/"], "not a file name"),
        (["--risk-list", "list.csv", "--risk-draws", "999999999999"], "draws"),
        (["--attack", "homogeneity", "--by", "structure", "--tolerance", "1"], "tolerance"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_attacks_refuse(ratings_csv: Path, options: list[str], said: str) -> None:
    assert said in refused("attack", ratings_csv, *options)


def test_public_ratings_find_their_owner(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    with ratings_csv.open() as file:
        rows = [row for row in csv.DictReader(file) if row["userId"] == "7"]
    public = tmp_path / "public.csv"
    lines = [f"Ann,{row['movieId']},{row['rating']},{row['timestamp']}" for row in rows]
    public.write_text("\n".join(["name,item,rating,timestamp", *lines, "Bob,99,,"]) + "\n")
    found = told("attack", ratings_csv, "--aux", public, "--candidates", 2)
    assert [entry["name"] for entry in found["per_name"]] == ["Ann", "Bob"]
    ann, bob = found["per_name"]
    assert ann["candidates"][0]["record"] == 6  # user 7 is the seventh in canonical order
    assert len(ann["candidates"]) == 2
    assert "id" not in ann["candidates"][0]
    assert bob["answer"] is None
    named = told("attack", ratings_csv, "--aux", public, "--show-values")
    assert named["per_name"][0]["candidates"][0]["id"] == "7"
    assert "Ann" in call("attack", ratings_csv, "--aux", public).stdout
    listed = told("attack", ratings_csv, "--aux", public, "--one-to-one", "--min-posterior", 0.8)
    ann, bob = listed["one_to_one"]["per_name"]
    assert ann["record"] == 6
    assert bob["record"] != 6
    assert listed["one_to_one"]["min_posterior"] == 0.8
    assert found["one_to_one"] is None
    released = told("attack", made.folder, "--aux", public)
    assert released["data"] == "release"
    assert released["answered"] == 0


def test_public_ratings_refuse(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    public = tmp_path / "public.csv"
    public.write_text("name,item,rating\nAnn,1,4\n")
    assert "--known" in refused("attack", ratings_csv, "--aux", public, "--known", 2)
    assert "--original" in refused("attack", made.folder, "--aux", public, "--original", "x")
    assert "--risk-list" in refused("attack", ratings_csv, "--aux", public, "--risk-list", "x")
    assert "no-such" in refused("attack", ratings_csv, "--aux", tmp_path / "no-such")
    assert "candidates" in refused("attack", ratings_csv, "--aux", public, "--candidates", 0)
    assert "--one-to-one" in refused("attack", ratings_csv, "--aux", public, "--min-posterior", 0.5)
    assert "--one-to-one" in refused("attack", ratings_csv, "--aux", public, "--weights", "plain")
    public.write_text("name,item,rating\nAnn,1,9\n")
    assert "--aux-scale" in refused("attack", ratings_csv, "--aux", public)
    public.write_text("name,item,rating\nAnn,abc,4\n")
    assert "--aux-items" in refused("attack", ratings_csv, "--aux", public)


def public_file(path: Path, ratings_csv: Path, names: list[str], head: str) -> Path:
    """Write the ratings of the first users under other names: name, item, rating, date."""
    with ratings_csv.open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["userId"]) <= len(names)]
    lines = [
        f"{names[int(r['userId']) - 1]},{r['movieId']},{r['rating']},{r['timestamp']}" for r in rows
    ]
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def test_columns_of_public_ratings(ratings_csv: Path, tmp_path: Path) -> None:
    path = tmp_path / "public.csv"
    names = ["ann", "[red]bob", "\x1b[2Jcy"]
    public_file(path, ratings_csv, names, "handle,film,stars10,written_on")
    found = told("attack", ratings_csv, "--aux", path)
    assert [entry["name"] for entry in found["per_name"]] == names
    assert found["ratings_used"]
    assert found["days_used"]
    shown = call("attack", ratings_csv, "--aux", path).stdout
    assert "[red]bob" in shown
    assert "\x1b" not in shown
    public_file(path, ratings_csv, names, "wer,film,zehn,am")
    said = refused("attack", ratings_csv, "--aux", path, "--quiet")
    assert "'wer', 'zehn', 'am'" in said
    assert "--aux-name-col" in said
    columns = ("--aux-name-col", "wer", "--aux-rating-col", "zehn")
    left = call("attack", ratings_csv, "--aux", path, *columns)
    assert "'am' (if one of them holds the date, name it: --aux-date-col)" in left.stderr
    path.write_text("item\n1\n2\n")
    assert (
        "public ratings of one user" in call("attack", ratings_csv, "--aux", path, "--quiet").stdout
    )


def test_candidates_are_shown_where_asked_for_or_of_few(ratings_csv: Path, tmp_path: Path) -> None:
    def shown(n: int, *options: object) -> str:
        path = public_file(
            tmp_path / "p.csv", ratings_csv, [f"n{i}" for i in range(n)], "name,item,rating,date"
        )
        result = call("attack", ratings_csv, "--aux", path, *options)
        assert result.exit_code == 0, result.stderr
        return result.stdout.partition("Candidates\n")[2]

    assert shown(2).count("n1 ") == 5
    assert shown(6) == ""
    assert shown(6, "--candidates", 3).count("n4 ") == 3
    assert "… and 20 more candidates (all with --json)" in shown(6, "--candidates", 20)


def test_a_mapping_of_three_columns(ratings_csv: Path, tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("movieId,imdbId,tmdbId\n1,tt1,\n2,tt2,7\n")
    public = tmp_path / "public.csv"
    public.write_text("name,tconst,rating\nann,tt1,4\nann,tt2,5\n")
    attack = ("attack", ratings_csv, "--aux", public)
    assert "--aux-map-from" in refused(*attack, "--aux-items", links)
    columns = ("--aux-map-from", "imdbId", "--aux-map-to", "movieId")
    assert told(*attack, "--aux-items", links, *columns)["unknown_items"] == 0
    assert "not applicable without --aux-items" in refused(*attack, *columns)
    assert "name both columns" in refused(*attack, "--aux-items", links, *columns[:2])
    assert "--aux" in refused("attack", ratings_csv, *columns)


def test_names_of_items_are_asked_for(ratings_csv: Path, tmp_path: Path) -> None:
    public = tmp_path / "public.csv"
    public.write_text("name,title\nann,Alien\n")
    assert "--item-names" in refused("attack", ratings_csv, "--aux", public, "--aux-by-name")


def test_the_list_of_those_at_risk(ratings_csv: Path, made: Made, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    before = os.umask(0)
    try:
        options = ("--risk-list", path, "--risk-draws", 5, "--known", 2, "--seed", 1)
        found = told("attack", ratings_csv, *options)["risk"]
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(step["identified"] for step in found["steps"])
    assert [int(row["least_known"]) for row in rows] == sorted(int(r["least_known"]) for r in rows)
    assert "exists already" in refused("attack", ratings_csv, *options)
    inside = made.folder / "list.csv"
    assert "release" in refused("attack", ratings_csv, "--risk-list", inside)
    assert not inside.exists()
    other = tmp_path / "other.csv"
    unlinked = ("attack", made.folder, "--original", ratings_csv, "--risk-list", other)
    assert "needs the private key file of the release" in refused(*unlinked)
    assert not other.exists()


def test_the_names_in_the_help_are_those_there_are() -> None:
    said = call("attack", "--help-all").stdout.split("Choices of")[1].split("\n\n")[0]
    named = re.findall(r"^  ([a-z-]+)  ", said, re.M)
    assert named == [entry.name for entry in ENTRIES]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_help_on_an_attack_shows_its_settings_and_no_other(entry: Entry) -> None:
    said = call("attack", "--attack", entry.name, "--help").stdout
    if not settings_of(entry.declaration()):
        assert "Settings of" not in said
        return
    before, _, after = said.partition(f"Settings of {entry.name}:")
    own, _, rest = after.partition("\n\n")
    shared = before + rest
    named = set(re.findall(r"^  --([a-z0-9-]+)", own, re.M))
    taken = {"rating-error", "day-error"}  # what is known has these names
    declared = {s.name.replace("_", "-") for s in settings_of(entry.declaration())}
    assert named == declared - taken
    assert not named & set(re.findall(r"^  --([a-z0-9-]+)", shared, re.M))


def test_useless_options_are_named_as_they_are_written(ratings_csv: Path) -> None:
    assert "--attack, --known" in refused(
        "attack", ratings_csv, "--aux", "x", "--attack", "label", "--known", 3
    )
    assert "no such file" in refused("attack", "nowhere", "--original", ratings_csv)


def test_no_note_about_knowledge_where_it_plays_no_part(made: Made, ratings_csv: Path) -> None:
    linked = ("attack", made.folder, "--original", ratings_csv, "--private", made.receipt)
    counted = call(*linked, "--attack", "link-existence", "--known", 3)
    assert "have no effect" in counted.stderr
    assert "have no effect" not in call(*linked, "--known", 2).stderr
