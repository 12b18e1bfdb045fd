"""``starshade attack --attack tracker``, and query errors as ``starshade measure`` prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.conftest import USERS, call, refused, told


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "users.csv"
    rows = [f"{u},{20 + u % 40},{'north' if u % 3 else 'south'}" for u in range(1, USERS + 1)]
    path.write_text("userId,Age,Home town\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def queried(ratings_csv: Path, people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("queried") / "out"
    asked = ("--method", "k-likeness", "--k", 4, "--items", "top:5", "--attributes", "exact")
    made = call("anonymize", ratings_csv, "--users", people, *asked, "--seed", 1, "--out", out)
    assert made.exit_code == 0, made.stderr
    return out


def test_the_background_is_a_list_of_names(ratings_csv: Path, people: Path) -> None:
    asked = ("attack", ratings_csv, "--users", people, "--attack", "tracker", "--items", "top:5")
    found = told(*asked, "--background", "Age, Home town", "--conditions", 3)
    again = told(*asked, "--background", "Age", "--background", "Home town", "--conditions", 3)
    assert found["config"] == again["config"]
    assert found["config"]["background"] == ["Age", "Home town"]
    assert [known["attributes"] for known in found["backgrounds"]] == [
        ["Age"],
        ["Age", "Home town"],
    ]
    assert len(found["by_length"]) == 3
    assert found["at_risk"]["rate"] >= found["breached"]["rate"] > 0
    assert not told(*asked, "--queries", 100)["complete"]
    text = call(*asked, "--background", "Age,Home town").stdout
    assert "Age + Home town" in text
    assert "by 2 conditions" in text


def test_a_release_singles_nobody_out(ratings_csv: Path, people: Path, queried: Path) -> None:
    truth = ("--original", ratings_csv, "--users", people, "--items", "top:5")
    found = told("attack", queried, *truth, "--attack", "tracker", "--background", "Age")
    assert found["at_risk"]["rate"] == found["refused"] == 0
    assert found["fewest"] >= found["floor"] == 4
    assert found["not_queried"] == []


def test_what_is_known_otherwise_is_of_no_use(ratings_csv: Path) -> None:
    asked = ("attack", ratings_csv, "--attack", "tracker")
    said = refused(*asked, "--known", 3, "--wrong", 1)
    assert "--known, --wrong: not applicable with the tracker attack" in said
    assert "--no-dates" in refused(*asked, "--no-dates")


def test_what_the_ratings_lack(ratings_csv: Path, people: Path) -> None:
    asked = ("attack", ratings_csv, "--attack", "tracker", "--background", "Shoe size")
    assert "no personal attributes" in refused(*asked)
    assert "'Shoe size'" in refused(*asked, "--users", people)


def test_measure_tells_how_far_averages_are_off(
    ratings_csv: Path, people: Path, queried: Path
) -> None:
    found = told("measure", ratings_csv, queried, "--users", people)
    for kind in ("and", "or", "range"):
        assert found[f"query_error_{kind}"] > 0
    assert found["query_error_conditions"] > 100
    text = " ".join(call("measure", ratings_csv, queried, "--users", people).stdout.split())
    assert "Averages of people who satisfy all conditions" in text
    without = call("measure", ratings_csv, queried)
    assert "query error: the ratings were read without Age" in without.stderr
