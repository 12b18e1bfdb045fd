from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.conftest import call, refused, small_csv, told

USERS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release for queries: k = 3, ages and jobs as they are, items with names."""
    place = tmp_path_factory.mktemp("query")
    ratings = small_csv(place / "ratings.csv", users=USERS, items=6)
    people = "\n".join(f"{u},{20 + u % 30},job {u % 3}" for u in range(1, USERS + 1))
    (place / "people.csv").write_text(f"userId,age,job\n{people}\n")
    names = ['1,"Star Wars (1977)"', '2,"Am""élie"', "3,Twice", "4,Twice", "5,Fargo", "6,Up"]
    (place / "names.csv").write_text("movieId,title\n" + "\n".join(names) + "\n")
    told(
        *(
            "anonymize",
            ratings,
            "--method",
            "k-exchange",
            "--users",
            place / "people.csv",
            "--k",
            3,
            "--seed",
            1,
        ),
        *("--item-names", place / "names.csv", "--attributes", "exact", "--out", place / "out"),
        *("--scale", "1:5:1"),
    )
    return place / "out"


def test_a_mean_with_declared_bounds(folder: Path) -> None:
    sql = 'SELECT AVG(age) WHERE "Star Wars (1977)" >= 4 AND "Am""élie" IS NOT NULL'
    found = told("query", folder, sql, "--bounds", "age=0:120")
    assert found["low"] <= found["value"] <= found["high"]
    assert 0 <= found["low"] < found["high"] <= 120
    assert 3 <= found["records"] <= USERS
    assert (found["refused"], found["reason"], found["mode"]) == (False, None, "strict")
    everybody = told("query", folder, "SELECT AVG(AGE), COUNT(*)", "--bounds", "Age=0:120")
    assert everybody["value"] == pytest.approx(sum(20 + u % 30 for u in range(1, 61)) / 60)
    assert everybody["results"][1]["value"] == USERS


def test_what_the_guard_refuses_is_exit_1(folder: Path) -> None:
    found = told("query", folder, "SELECT MAX(age)", code=1)
    assert found["refused"]
    assert found["value"] is None
    result = call("query", folder, "SELECT AVG(age)")
    assert result.exit_code == 1
    assert "--bounds age=LOW:HIGH" in " ".join(result.stdout.split())
    assert told("query", folder, "SELECT MAX(age)", "--mode", "paper")["value"] == 49


def test_group_by_is_a_table(folder: Path) -> None:
    sql = "SELECT COUNT(*), AVG(age) GROUP BY Fargo"
    result = call("query", folder, sql, "--bounds", "age=0:120")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in lines if "COUNT(*)" in line] == ["null", *"12345"]
    found = told("query", folder, sql, "--bounds", "age=0:120")
    assert sum(group["value"] for group in found["groups"]) == pytest.approx(USERS)
    assert found["value"] is None


def test_a_summary_says_what_the_number_means(folder: Path) -> None:
    result = call("query", folder, "SELECT COUNT(*) WHERE Up IS NULL")
    assert "expected; on the original ratings of the released people it lies" in " ".join(
        result.stdout.split()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["DROP TABLE t"], "DROP"),
        (["SELECT COUNT(*) WHERE age > 30"], "personal attribute"),
        (["SELECT AVG(Fargo)"], "item"),
        (["SELECT AVG(job)"], "text"),
        (["SELECT COUNT(*) WHERE Twice = 5"], '"3", "4"'),
        (["SELECT COUNT(*) WHERE Fergo = 5"], "Fargo"),
        (["SELECT COUNT(*) WHERE " + "(" * 3000 + "Up = 5" + ")" * 3000], "nested"),
        (["SELECT AVG(age)", "--bounds", "age"], "NAME=LOW:HIGH"),
        (["SELECT AVG(age)", "--bounds", "=1:2"], "NAME=LOW:HIGH"),
        (["SELECT AVG(age)", "--bounds", "age=9:2"], "lower one first"),
        (["SELECT AVG(age)", "--bounds", "age=0:30"], "outside 0:30"),
        (["SELECT AVG(age)", "--bounds", "height=0:30"], "height"),
        (["SELECT COUNT(*)", "--bounds", "height=0:30"], "height"),
        (["SELECT AVG(age)", "--bounds", "age=0:30", "--bounds", "age=0:99"], "twice"),
        (["SELECT AVG(age)", "--bounds", "age=-1e308:1e308"], "between -1e+15 and 1e+15"),
    ],
    ids=lambda value: value[0][:40] if isinstance(value, list) else "",
)
def test_a_wrong_request_is_exit_2(folder: Path, arguments: list[str], said: str) -> None:
    assert said in refused("query", folder, *arguments)


def test_only_releases_are_queried(folder: Path, tmp_path: Path) -> None:
    assert "not a release" in refused("query", tmp_path, "SELECT COUNT(*)")
    ratings = folder.parent / "ratings.csv"
    assert "not a release" in refused("query", ratings, "SELECT COUNT(*)")
    out = tmp_path / "near"
    told(
        *("anonymize", ratings, "--method", "interval", "--k", 3, "--eps", 1, "--out", out),
        "--no-key-file",
        *("--seed", 1),
    )
    assert "layout 'record'" in refused("query", out, "SELECT COUNT(*)")
