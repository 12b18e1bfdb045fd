"""`attack --attack predicate`, and `check --model k-m`, of a release and its original."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.conftest import Made, call, refused, told


def test_predicates_of_a_release(made: Made, ratings_csv: Path) -> None:
    asked = ("attack", made.folder, "--original", ratings_csv, "--attack", "predicate")
    found = told(*asked, "--seed", 1)
    assert (found["non_members"], found["credit"]) == (None, "compatible")
    assert found["classes"] == found["classes_tested"]
    assert found["singling_out"]["rate"] > found["baseline"]
    assert [each["most"] for each in found["low_weight"]] == [0.1, 0.01]
    assert set(found["forced"]) == {
        *("cells", "one_value", "no_member", "each_once"),
        *("people", "people_one_value", "people_each_once"),
    }
    linked = told(*asked, "--seed", 1, "--private", made.receipt)
    assert linked["credit"] == "linked"
    assert linked["singling_out"] == found["singling_out"]
    assert told(*asked, "--seed", 1, "--threads", 1)["low_weight"] == found["low_weight"]
    shown = " ".join(call(*asked, "--seed", 1, "--classes", 3).stdout.split())
    assert "in 3 of the" in shown
    assert "no non-members were given to check them" in shown
    assert "Singling out by weight of the predicates" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--classes", 0), "--classes = 0: must be a whole number, 1 or more"),
        (("--targets", 3), "Omit --targets; --classes sets the number of classes."),
        (("--phi", 1), "--phi"),
    ],
)
def test_what_predicates_refuse(
    options: tuple[object, ...], said: str, made: Made, ratings_csv: Path
) -> None:
    asked = ("attack", made.folder, "--original", ratings_csv, "--attack", "predicate")
    assert said in " ".join(refused(*asked, *options).split())


def test_k_m_of_a_release_and_its_original(made: Made, ratings_csv: Path) -> None:
    asked = ("check", made.folder, "--model", "k-m", "--m", 2)
    found = told(*asked, "--original", ratings_csv)
    assert found["parameters"] == {"k": 4, "m": 2}  # k as claimed
    assert found["smallest_class"] >= 4
    assert [each["people"] for each in found["sizes"]] == [0, 0]
    said = " ".join(refused(*asked).split())
    assert "are in the original alone" in said
    assert "(--original RATINGS)" in said
    failing = ("--k", found["smallest_class"] + 1, "--original", ratings_csv, "--explain")
    shown = call(*asked, *failing)
    assert shown.exit_code == 1
    text = " ".join(shown.stdout.split())
    assert f"The model holds for k up to {found['smallest_class']:,}." in text
    assert "ratings of a person agree with" in text


def test_k_m_of_ratings(ratings_csv: Path) -> None:
    one, two = (
        told("check", ratings_csv, "--model", "k-m", "--k", 5, "--m", m, code=1) for m in (1, 2)
    )
    assert two["sizes"][0] == one["sizes"][0]
    assert one["failing_records"] <= two["failing_records"] == two["sizes"][1]["people"]
    said = refused("check", ratings_csv, "--model", "k-m", "--k", 5, "--m", 3)
    assert "--m = 3: must be a whole number from 1 to 2" in said
    assert "--m" in refused("check", ratings_csv, "--model", "k-m", "--k", 5)
