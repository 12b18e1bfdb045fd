from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from starshade.ratings.read import read_ratings
from tests.system.conftest import Made, call, refused, told
from tests.unit.release.damage import say


def test_describe_ml100k(ml100k_dir: Path) -> None:
    found = told("data", "describe", ml100k_dir / "u.data")
    assert (found["users"], found["items"], found["ratings"]) == (943, 1682, 100_000)
    assert found["scale"] == {"min": 1.0, "max": 5.0, "step": 1.0, "inferred": True}
    assert (found["first_day"], found["last_day"]) == ("1997-09-20", "1998-04-22")
    top = told("data", "describe", ml100k_dir / "u.data", "--items", "top:10")
    assert (top["users"], top["items"], top["ratings"]) == (927, 10, 4863)
    assert top["users_dropped"] == 16
    assert top["items_dropped"] == 1672


def test_describe_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "few.csv"
    file.write_text("user,item,rating\na,x,1\na,y,5\nb,x,4\n\n")
    found = told("data", "describe", file, "--scale", "1:5:1")
    assert found["sparsity"] == 0.25
    assert found["ratings_per_user"]["mean"] == 1.5
    assert found["long_tail"]["top_1_percent"] == pytest.approx(2 / 3)
    assert [entry["ratings"] for entry in found["histogram"]] == [1, 0, 0, 1, 1]
    assert found["first_day"] is None
    assert found["scale"]["inferred"] is False
    assert found["mapping"]["user"]


def test_a_name_steers_no_terminal(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"l\xe9\x1b[31m.csv")
    file.write_text("user,item,rating\na,x,1\na,y,5\nb,x,4\n")
    shown = call("data", "describe", file)
    assert shown.exit_code == 0
    lost = call("data", "describe", tmp_path / "nix\x1b[31m.csv")
    assert lost.exit_code == 2
    for text in (shown.stdout, shown.stderr, lost.stdout, lost.stderr):
        assert "\x1b" not in text
    assert "nix\\x1b[31m.csv" in lost.stderr


def test_describe_a_real_scale(tmp_path: Path) -> None:
    file = tmp_path / "real.csv"
    file.write_text("user,item,rating\na,x,-9.5\na,y,3.125\nb,x,9.75\n")
    found = told("data", "describe", file, "--scale=-10:10")
    assert found["scale"]["step"] is None
    assert sum(entry["ratings"] for entry in found["histogram"]) == 3


def test_describe_for_a_person(ratings_csv: Path) -> None:
    result = call("data", "describe", ratings_csv)
    assert result.exit_code == 0
    assert "120" in result.stdout
    assert "Distribution of ratings" in result.stdout


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("store", "store"),
        ("r.csv", "movielens-csv"),
        ("r.parquet", "parquet"),
        ("r.inter", "recbole"),
    ],
)
def test_convert_keeps_everything(ratings_csv: Path, tmp_path: Path, name: str, kind: str) -> None:
    out = tmp_path / name
    assert told("data", "convert", ratings_csv, "--out", out)["to"] == kind
    before, after = (told("data", "describe", path) for path in (ratings_csv, out))
    same = ("users", "items", "ratings", "first_day", "last_day", "histogram", "ratings_per_item")
    assert {key: before[key] for key in same} == {key: after[key] for key in same}


def test_convert_without_dates(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.parquet"
    told("data", "convert", ratings_csv, "--out", out, "--no-dates")
    assert told("data", "describe", out)["first_day"] is None


def test_a_store_is_for_its_owner_alone(ratings_csv: Path, tmp_path: Path) -> None:
    told("data", "convert", ratings_csv, "--out", tmp_path / "store")
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700


def test_synth_is_repeated_by_its_seed(tmp_path: Path) -> None:
    sizes = ("--n-users", 60, "--n-items", 40, "--n-ratings", 900)
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        found = told("data", "synth", *sizes, "--seed", seed, "--out", tmp_path / name)
        assert (found["users"], found["items"], found["ratings"]) == (60, 40, 900)
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert a == b
    assert a != c


def test_a_survey_comes_with_its_people(tmp_path: Path) -> None:
    out = tmp_path / "survey"
    sizes = ("--n-users", 300, "--n-items", 10, "--seed", 4)
    made = told("data", "synth", "--like", "survey", *sizes, "--out", out)
    assert (made["like"], made["users"], made["items"]) == ("survey", 300, 10)
    table = read_ratings(out)
    assert list(table.items) == [*(f"q{j:02d}" for j in range(1, 9)), "s01", "s02"]
    assert table.attributes is not None
    assert table.attributes.column_names == ["Age", "Gender", "Region", "Education"]
    assert table.days is None
    assert str(table.scale) == "1:6:1"


def test_synth_tells_the_seed_that_it_drew(tmp_path: Path) -> None:
    result = call("data", "synth", "--n-users", 30, "--n-items", 20, "--n-ratings", 200,
                  "--json", "--out", tmp_path / "s")  # fmt: skip
    assert f"--seed {json.loads(result.stdout)['seed']} " in result.stderr


def test_outputs_are_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    missing = tmp_path / "no-such-file.csv"  # would be told first, were it read first
    assert "exists already" in refused("data", "convert", missing, "--out", tmp_path / "there")
    assert "does not exist" in refused("data", "convert", missing, "--out", tmp_path / "a" / "b")
    assert "exists already" in refused("data", "synth", "--out", tmp_path / "there")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("user,item,rating\n", "no rating"),
        ("user,item,rating\na,x,4\na,x,5\n", "duplicate"),
        ("user,item,rating\na,x,\n", "line 2"),
        ("user,item,rating\na,x,nan\n", "line 2"),
        ("user,item,rating\na,x,7\n", "1:5:1"),
        ("user,item,rating\na,x,3,4\n", "line 2"),
    ],
)
def test_bad_ratings_are_named(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(content)
    assert said in refused("data", "describe", file, "--scale", "1:5:1").lower()


@pytest.mark.parametrize(
    "options",
    [
        ["--items", "top:0"],
        ["--items", "top:99999"],
        ["--items", "no-such-file"],
        ["--scale", "five"],
        ["--scale", "5:1:1"],
        ["--user-col", "nobody"],
        ["--users", "no-such-file"],
        ["--format", "no-such-format"],
        ["--on-duplicate", "ignore"],
        ["--delimiter", "abc"],
    ],
    ids=" ".join,
)
def test_bad_requests_are_refused(ratings_csv: Path, options: list[str]) -> None:
    refused("data", "describe", ratings_csv, *options)


def test_ids_are_shown_only_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("user,item,rating\nalice-4711,secret-film,4\nalice-4711,secret-film,5\n")
    silent = refused("data", "describe", file)
    assert "alice" not in silent
    assert "secret" not in silent
    assert "alice-4711" in refused("data", "describe", file, "--show-values")


def test_split(ratings_csv: Path, tmp_path: Path) -> None:
    places = ("--out", tmp_path / "train", "--probe", tmp_path / "probe")
    found = told("data", "split", ratings_csv, *places, "--share", 0.25, "--seed", 1)
    whole, train, probe = map(read_ratings, (ratings_csv, tmp_path / "train", tmp_path / "probe"))
    assert (train.n_ratings, probe.n_ratings) == (found["ratings"], found["probe_ratings"])
    assert probe.n_ratings == round(0.25 * whole.n_ratings)
    assert train.users == probe.users == whole.users
    both = train.to_scipy() + probe.to_scipy()
    assert abs(both - whole.to_scipy()).nnz == 0


def test_split_into_one_place(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "part.csv"
    message = refused("data", "split", ratings_csv, "--out", out, "--probe", out)
    assert "same path as --out" in message
    assert not out.exists()


@pytest.mark.parametrize("share", ["0", "1", "nan"])
def test_a_share_of_nothing_is_refused_before_the_file_is_read(tmp_path: Path, share: str) -> None:
    (tmp_path / "no.csv").write_text("no ratings at all")
    places = ("--out", tmp_path / "a", "--probe", tmp_path / "b")
    message = refused("data", "split", tmp_path / "no.csv", *places, "--share", share)
    assert "above 0 and below 1" in message


def test_a_release_is_described(made: Made) -> None:
    found = told("data", "describe", made.folder)
    facts = json.loads((made.folder / "release.json").read_text())
    assert found["layout"] == "generalized"
    assert found["claims"] == facts["claims"]
    assert (found["records"], found["items"], found["classes"]) == (
        facts["records"],
        facts["items"],
        facts["classes"],
    )
    assert found["smallest_class"] == facts["claims"][0]["verified"]["smallest_class"]
    assert sum(found["cells"].values()) == pytest.approx(1)
    shown = call("data", "describe", made.folder).stdout
    assert "A release, scale 1:5:1." in shown
    assert "k-anonymity" in shown


def test_a_release_is_converted(made: Made, tmp_path: Path) -> None:
    places = tmp_path / "x.csv", tmp_path / "x.parquet"
    found = [told("data", "convert", made.folder, "--out", place) for place in places]
    lines = places[0].read_text().splitlines()
    assert [each["rows"] for each in found] == [len(lines) - 1] * 2
    assert len(lines) - 1 == pq.read_metadata(made.folder / "cells.parquet").num_rows
    assert pq.read_metadata(places[1]).num_rows == len(lines) - 1
    assert [(each["to"], each["escaped_texts"]) for each in found] == [("csv", 0), ("parquet", 0)]


def test_a_release_becomes_an_atomic_file(made: Made, tmp_path: Path) -> None:
    found = told("data", "convert", made.folder, "--out", tmp_path / "x.inter")
    assert (found["to"], found["escaped_texts"]) == ("recbole", 0)
    lines = [line.split("\t") for line in (tmp_path / "x.inter").read_text().splitlines()]
    assert lines[0] == ["user_id:token", "item_id:token", "rating:float", "weight:float"]
    assert len(lines) - 1 == found["rows"]
    again = call("data", "convert", made.folder, "--out", tmp_path / "y", "--to", "recbole")
    assert "including no rating, are equally likely" in " ".join(again.stdout.split())
    assert (tmp_path / "y").read_bytes() == (tmp_path / "x.inter").read_bytes()


def test_what_no_release_can_be_converted_to(made: Made, tmp_path: Path) -> None:
    for out in ("x.xlsx", "x"):
        assert "a release is converted to csv or parquet or recbole" in refused(
            "data", "convert", made.folder, "--out", tmp_path / out
        )
    out = ("--out", tmp_path / "x.csv")
    said = refused("data", "convert", made.folder, *out, "--scale", "1:5:1")
    assert "is a release" in said
    assert "is a release" in refused("data", "describe", made.folder, "--items", "top:3")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["describe", "convert"])
def test_a_release_that_is_broken_or_of_another_version(
    made: Made, tmp_path: Path, command: str
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(made.folder, folder)
    out = ("--out", tmp_path / "x.csv") if command == "convert" else ()
    (folder / "cells.parquet").write_bytes(b"PAR1")
    assert "damaged" in refused("data", command, folder, *out)
    say(folder, format=2)
    said = refused("data", command, folder, *out)
    assert f"{folder}: release of format 2; this version reads" in said
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_release_for_queries_stays_with_its_owner(
    ratings_csv: Path, people_csv: Path, tmp_path: Path
) -> None:
    folder, place = tmp_path / "release", tmp_path / "x.csv"
    told(
        *("anonymize", ratings_csv, "--users", people_csv, "--attributes", "exact", "--k", "4"),
        *("--items", "top:3", "--out", folder, "--private", tmp_path / "receipt.json"),
    )
    assert told("data", "describe", folder)["audience"] == "query"
    result = call("data", "convert", folder, "--out", place)
    assert "only you can read it" in " ".join(result.stdout.split())
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
