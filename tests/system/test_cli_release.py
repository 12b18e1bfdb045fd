from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.policies import as_options
from tests.system.conftest import Made, call, refused, small_csv, told

FIGURES = {
    "method", "k", "records", "items", "groups", "classes", "smallest_class", "dm", "c_avg",
    "gen_iloss", "distortion", "imputed_cells", "rare_items_dropped", "users_dropped",
    "users_deleted", "median_class", "largest_class", "single_rater_cells", "fake_edges",
    "dummy_records", "item_means_within_step", "recoverable_within_step",
    "improvement_over_item_means", "imputed_share",
    "utility_exact", "utility_half_step", "utility_one_step", "utility_wider",
    "utility_existence_only",
    "utility_ambiguous", "utility_suppressed", "utility_left_out",
    "users_rating_disclosed", "users_exact_values_listed", "users_rating_exists",
    "records_alone_with_sensitive", "seconds", "peak_rss_mb", "out",
}  # fmt: skip


def test_anonymize_ml100k(ml100k_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    found = told(
        *("anonymize", ml100k_dir / "u.data", "--method", "k-likeness", "--k", 5),
        *("--items", "top:10", "--hierarchy", "ndgh", "--out", out, "--seed", 3),
        *("--private", tmp_path / "receipt.json"),
    )
    assert found["records"] == 927
    assert found["items"] == 10
    assert found["groups"] == 185
    assert found["smallest_class"] >= 5
    assert found["c_avg"] == pytest.approx(1.002, abs=5e-4)
    assert 0.315 <= found["gen_iloss"] <= 0.345
    assert found["users_dropped"] == 16
    assert 0.25 <= found["users_rating_disclosed"] <= 0.38
    assert told("check", out)["satisfied"]
    attacked = told(
        *("attack", out, "--original", ml100k_dir / "u.data", "--items", "top:10", "--seed", 0),
        *("--private", tmp_path / "receipt.json", "--known", 4),
    )
    assert attacked["credit"] == "linked"
    assert attacked["expected_top1"] <= 1 / 5
    audit = ("audit", ml100k_dir / "u.data", out, "--targets", 200)
    assert told(*audit, *as_options())["pass"]


def test_the_keys_of_anonymize(ratings_csv: Path, tmp_path: Path) -> None:
    found = told(
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--k",
        3,
        "--out",
        tmp_path / "out",
        "--quiet",
    )
    assert set(found) == FIGURES
    assert found["distortion"] is found["fake_edges"] is None
    assert found["out"] == str(tmp_path / "out")


def test_the_seed_alone_decides(ratings_csv: Path, tmp_path: Path) -> None:
    def made(name: str, seed: int, threads: int) -> dict[str, bytes]:
        out = tmp_path / name
        told(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--k",
            3,
            "--out",
            out,
            "--seed",
            seed,
            "--threads",
            threads,
        )
        return {file.name: file.read_bytes() for file in out.iterdir()}

    first = made("a", 1, 1)
    assert made("b", 1, 2) == first
    assert made("c", 2, 1) != first


def test_nothing_private_is_in_the_folder(ratings_csv: Path, tmp_path: Path) -> None:
    seed = 987_654_321_012
    told(
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--k",
        3,
        "--out",
        tmp_path / "out",
        "--seed",
        seed,
    )
    text = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert str(seed).encode() not in text
    assert str(ratings_csv).encode() not in text


@pytest.mark.parametrize("change", [{"seed": 7}, {"source": "b.csv"}, {"config": {"k": 5}}])
def test_a_damaged_receipt_is_refused(
    ratings_csv: Path, made: Made, tmp_path: Path, change: dict[str, Any]
) -> None:
    whole = json.loads(made.receipt.read_text())
    (tmp_path / "receipt").write_text(json.dumps(whole | change))
    said = refused("measure", ratings_csv, made.folder, "--private", tmp_path / "receipt")
    assert "its checksum does not fit its content" in " ".join(said.split())


def test_a_damaged_setting_of_a_release_is_refused(made: Made, tmp_path: Path) -> None:
    shutil.copytree(made.folder, tmp_path / "release")
    told = json.loads((made.folder / "release.json").read_text())
    told["config"]["hierarchy"] = "other"
    (tmp_path / "release" / "release.json").write_text(json.dumps(told))
    said = refused("check", tmp_path / "release")
    assert "its checksum does not fit its content" in " ".join(said.split())


def test_the_receipt_is_for_its_owner_alone(made: Made) -> None:
    assert stat.S_IMODE(made.receipt.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--k", "1"], "k = 1"),
        (["--k", "121"], "records = 120"),
        (["--k", "many"], "many"),
        (["--k", "3", "--method", "k-likenes"], "Did you mean k-likeness?"),
        (["--k", "3", "--hierarchy", "no-such-file"], "no-such-file"),
        (["--k", "3", "--items", "top:16"], "15 items"),
        *(
            (
                ["--k", "3", f"--item-support={value}"],
                f"--item-support = '{value}': must be a whole",
            )
            for value in ("0", "-1", "abc", "101%", "0%")
        ),
        (["--k", "3", "--attributes", "generalized"], "no personal attributes"),
        (["--k", "3", "--attributes", "exact"], "no personal attributes"),
        (["--k", "3", "--users", "no-such-file"], "no-such-file"),
        ([], "--k"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_anonymize_refuses(
    ratings_csv: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    assert said in refused(
        "anonymize", ratings_csv, "--method", "k-exchange", "--out", tmp_path / "out", *options
    )
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_item_in_the_file_of_items(ratings_csv: Path, tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("1\n2\n4711\n")
    message = refused(
        *("anonymize", ratings_csv, "--k", 3, "--items", tmp_path / "items.txt"),
        *("--out", tmp_path / "out"),
    )
    assert "line 3" in message
    assert "4711" not in message


def test_a_hierarchy_that_does_not_cover_the_scale(ratings_csv: Path, tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("[0,2] [3,4]\n[0,4]\n")
    message = refused(
        *(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--k",
            3,
            "--hierarchy",
            tmp_path / "short.txt",
        ),
        *("--out", tmp_path / "out"),
    )
    assert "5" in message


def test_items_below_an_item_support_are_left_out(ratings_csv: Path, tmp_path: Path) -> None:
    rows = [line.split(",")[:2] for line in ratings_csv.read_text().splitlines()[1:]]
    raters = Counter(item for _, item in rows)
    least = -(-3 * len({user for user, _ in rows}) // 10)
    few = {item for item, n in raters.items() if n < least}
    gone = sum(raters[item] for item in few) / len(rows)
    out, receipt = tmp_path / "out", tmp_path / "receipt.json"
    made = call(
        *(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--k",
            3,
            "--item-support",
            "30%",
            "--seed",
            1,
        ),
        *("--out", out, "--private", receipt),
    )
    assert made.exit_code == 0
    assert f"{len(few)} items rated by fewer than {least} users, with {gone:.1%}" in made.stderr
    text = " ".join(made.stdout.split())
    assert f"{len(few)} items that fewer than 3 users or 30% of all users rated" in text
    assert f"of these on items or people left out {gone:.1%}" in text
    audit = ("audit", ratings_csv, out, "--private", receipt, "--targets", 20, "--shadows", 0)
    audited = call(*audit, "--details")
    text = " ".join(audited.stdout.split())
    assert f"Items suppressed for too few raters {len(few)}" in text
    assert f"of these on items or people left out {gone:.1%}" in text
    again = json.loads(receipt.read_text())
    assert again["config"]["item_support"] == "30%"
    message = refused(
        *(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--k",
            3,
            "--item-support",
            121,
            "--out",
            tmp_path / "no",
        ),
        code=1,
    )
    most = max(raters.values())
    assert "--item-support: no item is rated by 121 users" in message
    assert f"Choose {most} or less, or a smaller percentage." in message


def test_data_that_cannot_meet_the_request(tmp_path: Path) -> None:
    file = tmp_path / "lonely.csv"
    file.write_text("user,item,rating\n" + "".join(f"u{i},i{i},3\n" for i in range(9)))
    message = refused(
        *(
            "anonymize",
            file,
            "--method",
            "k-exchange",
            "--k",
            3,
            "--scale",
            "1:5:1",
            "--out",
            tmp_path / "out",
        ),
        code=1,
    )
    assert "no item is rated by 3 users" in message
    assert not (tmp_path / "out").exists()


def test_places_are_refused_before_the_work(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "no-such-file.csv"  # would be told first, were it read first
    (tmp_path / "there").mkdir()
    base = ("anonymize", missing, "--method", "k-exchange", "--k", 3, "--out")
    assert "exists already" in refused(*base, tmp_path / "there")
    assert "does not exist" in refused(*base, tmp_path / "a" / "b")
    out = tmp_path / "out"
    assert "--private" in refused(*base, out, "--private", tmp_path / "there")
    assert "inside the release" in refused(*base, out, "--private", made.folder / "receipt")
    if Path("/proc/self").exists():
        assert "cannot be written" in refused(*base, "/proc/out")

    def forbidden(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("starshade.ratings.places.atomic.make_folder", forbidden)
    assert "no permission" in refused(*base, out)


def test_check(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    keys = {
        "model",
        "satisfied",
        "records",
        "failing_records",
        "smallest_class",
        "worst",
        "seconds",
    }
    holds = told("check", made.folder)
    assert keys <= set(holds)
    assert holds["satisfied"]
    assert holds["smallest_class"] >= 4
    fails = told("check", made.folder, "--k", 60, code=1)
    assert not fails["satisfied"]
    assert fails["failing_records"] > 0
    raw = told("check", ratings_csv, "--k", 2, code=1)
    assert raw["records"] == 120
    shown = call("check", ratings_csv, "--k", 2, "--explain")
    assert shown.exit_code == 1
    assert "Where it fails" in shown.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--k", "1"], "k = 1"),
        (["--k", "9999"], "9999"),
        (["--model", "k-anonimity"], "Did you mean k-anonymity?"),
        (["--items", "top:3"], "is a release"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_check_refuses(made: Made, options: list[str], said: str) -> None:
    assert said in refused("check", made.folder, *options)


def test_check_of_ratings_needs_k(ratings_csv: Path) -> None:
    assert "--k is missing" in refused("check", ratings_csv)


def test_measure(made: Made, ratings_csv: Path) -> None:
    found = told("measure", ratings_csv, made.folder)
    for name in ("dm", "c_avg", "gen_iloss", "users_rating_disclosed", "users_rating_exists"):
        assert found[name] > 0, name
    assert call("measure", ratings_csv, made.folder, "--private", made.receipt).exit_code == 0


def test_measure_refuses_other_ratings(made: Made, tmp_path: Path) -> None:
    other = small_csv(tmp_path / "other.csv", items=5)
    assert "not in the original" in refused("measure", other, made.folder)
    assert "not a release" in refused("measure", other, tmp_path)


def test_attack_on_ratings(ratings_csv: Path) -> None:
    found = told("attack", ratings_csv, "--known", 3, "--seed", 5, "--absent")
    assert {
        "attack", "records", "targets", "ineligible", "credit", "success", "expected_top1",
        "class_contents_known", "false_match", "false_match_absent", "no_answer", "entropy_bits",
        "entropy_bits_profile", "seconds", "read_seconds", "postings_per_second",
    } <= set(found)  # fmt: skip
    assert found["records"] == 120
    assert found["targets"] + found["ineligible"] == 120
    assert set(found["success"]) == {"rate", "low", "high"}
    assert found["credit"] == "linked"
    again = told("attack", ratings_csv, "--known", 3, "--seed", 5, "--absent", "--threads", 1)
    volatile = ("seconds", "read_seconds", "postings_per_second")
    assert {k: v for k, v in again.items() if k not in volatile} == {
        k: v for k, v in found.items() if k not in volatile
    }


def test_what_the_adversary_lacks(ratings_csv: Path) -> None:
    def knowledge(*options: str) -> dict[str, object]:
        found = told("attack", ratings_csv, "--known", 2, "--targets", 5, *options)["knowledge"]
        assert isinstance(found, dict)
        return found

    assert (knowledge()["ratings"], knowledge()["dates"]) == (True, True)
    assert knowledge("--no-dates")["dates"] is False
    assert knowledge("--no-ratings")["ratings"] is False
    assert knowledge("--wrong", "1", "--wrong-kind", "item")["wrong_kind"] == "item"
    assert knowledge("--about-count")["about_count"] is True


def test_attack_on_a_release(made: Made, ratings_csv: Path) -> None:
    base = ("attack", made.folder, "--original", ratings_csv, "--items", "top:10", "--known", 2)
    compatible = told(*base, "--seed", 1)
    linked = told(*base, "--seed", 1, "--private", made.receipt)
    assert (compatible["credit"], linked["credit"]) == ("compatible", "linked")
    assert linked["expected_top1"] <= compatible["expected_top1"] <= 1 / 4
    assert linked["false_match_absent"] is None
    person = call(*base, "--seed", 1)
    assert "Re-identification (best guess correct)" in person.stdout
    assert told(*base[:4], "--known", 2)["known_from"] == "released items"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--known", "0"], "--known = 0"),
        (["--known", "999"], "no people to attack"),
        (["--known", "2", "--wrong", "3"], "wrong 3"),
        (["--wrong-kind", "typo"], "typo"),
        (["--rating-error", "-1"], "--rating-error = -1"),
        (["--day-error", "0.5"], "--day-error 0.5: must be whole days"),
        (["--phi", "-1"], "phi"),
        (["--attack", "scoreboard-hr"], "Did you mean scoreboard-rh?"),
        (["--targets", "0"], "targets"),
        (["--original", "x"], "these are ratings"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_attack_refuses(ratings_csv: Path, options: list[str], said: str) -> None:
    assert said in refused("attack", ratings_csv, *options)


def test_attack_on_a_release_refuses(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    said = refused("attack", made.folder)
    assert "--original is missing" in said
    assert "Auxiliary knowledge is drawn from the original ratings: add --original RATINGS" in said
    counting = refused("attack", made.folder, "--attack", "predicate")
    assert (
        "The results of predicate are counted in the original ratings: add --original" in counting
    )
    assert "--aux" not in counting
    assert "no-such-file" in refused("attack", tmp_path / "no-such-file")
    base = ("attack", made.folder, "--original", ratings_csv, "--private")
    assert "not a private key file" in refused(*base, ratings_csv)
    assert "absent" in refused("attack", made.folder, "--original", ratings_csv, "--absent")


def test_a_changed_release_is_refused(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made.folder, copy)
    (copy / "README.md").write_text("something else")
    for command in (["check", copy], ["measure", ratings_csv, copy], ["audit", ratings_csv, copy]):
        assert "README.md" in refused(*command)


def test_a_release_is_not_taken_for_ratings(made: Made, tmp_path: Path) -> None:
    folder = made.folder
    for command in (
        ["anonymize", folder, "--method", "k-exchange", "--k", 3, "--out", tmp_path / "out"],
        ["measure", folder, folder],
        ["attack", folder, "--original", folder],
    ):
        assert "ratings are required" in refused(*command)


def test_list() -> None:
    for kind, name in (
        ("attacks", "scoreboard-rh"),
        ("models", "k-anonymity"),
        ("methods", "k-likeness"),
        ("measures", "generalization-loss"),
    ):
        found = told("list", kind)
        assert list(found) == [kind]
        assert name in [entry["name"] for entry in found[kind]]
        assert all(set(entry) == {"name", "summary", "source"} for entry in found[kind])
        assert name in call("list", kind).stdout
    refused("list", "rooms")


def test_more_threads_than_there_are_is_said() -> None:
    there = len(os.sched_getaffinity(0))
    shown = call("doctor", "--threads", there + 2000, "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["threads"] == there
    assert f"threads: {there + 2000:,} requested, {there} processor" in shown.stderr


def test_doctor() -> None:
    found = told("doctor", "--threads", 1, "--memory", "2G")
    assert found["threads"] == 1
    assert found["memory_planned"] == 2_000_000_000
    assert found["versions"]["numpy"]
    assert found["kernel_cache"]["kernels"] >= found["kernel_cache"]["ready"]
    assert json.dumps(found["extras"])
    assert "kernel cache" in call("doctor").stdout


def test_every_extra_is_of_libraries_that_something_imports() -> None:
    """Those that serve the project itself apart: its docs, tests and benchmarks."""
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    files = [file for file in (root / "src").rglob("*.py") if file.stem != "doctor"]
    used = "\n".join(file.read_text() for file in files)
    offered = {
        re.split(r"[\[<>=]", each)[0]
        for name, libraries in extras["optional-dependencies"].items()
        for each in libraries
        if name not in ("docs", "dev", "test")
    }
    called = {
        "scikit-learn": "sklearn", "scikit-surprise": "surprise", "vl-convert-python": "vl_convert",
    }  # fmt: skip
    for library in offered - {"starshade"}:
        module = called.get(library, library.replace("-", "_"))
        assert re.search(rf"\b(import|from) {module}\b|\"{module}[\".]", used), library
    assert set(told("doctor")["extras"]) <= set(extras["optional-dependencies"])
