"""Several releases of the same people, by commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system.conftest import Made, call, told


@dataclass(frozen=True)
class Two:
    """Releases of the same ratings, and what a command on the later one needs."""

    earlier: Made
    later: Made
    ratings: Path

    def attacked(self, *more: object) -> tuple[object, ...]:
        asked = ("--original", self.ratings, "--items", "top:10", "--private", self.later.receipt)
        return ("attack", self.later.folder, *asked, "--attack", "composition", "--known", 2, *more)

    def audited(self, *more: object) -> tuple[object, ...]:
        own = ("audit", self.ratings, self.later.folder, "--private", self.later.receipt)
        return (*own, "--known", 2, "--targets", 20, "--earlier", self.earlier.folder, *more)


@pytest.fixture(scope="module")
def two(made: Made, ratings_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Two:
    place = tmp_path_factory.mktemp("later")
    later = Made(place / "release", place / "receipt.json")
    call(
        *("anonymize", ratings_csv, "--k", "5", "--items", "top:10", "--seed", "2"),
        *("--out", later.folder, "--private", later.receipt),
    )
    return Two(made, later, ratings_csv)


def test_the_attack_counts_joint_classes(two: Two) -> None:
    beside = ("--earlier", two.earlier.folder, "--earlier-private", two.earlier.receipt)
    found = told(*two.attacked(*beside))
    assert (found["releases"], found["k"], len(found["per_release"])) == (2, 4, 2)
    assert found["people_below_k"] > 0
    assert [each["people_below_k"] for each in found["per_release"]] == [0, 0]
    assert found["config"]["changes"] == "none"
    shown = call(*two.attacked(*beside)).stdout
    assert "Single releases and composition" in shown
    assert found["people_below_k"] == found["people"] * found["below_k"]["rate"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (lambda two: ("--earlier", two.earlier.folder), "composition is not computable"),
        (
            lambda two: (
                *("--earlier", two.earlier.folder, "--earlier-private", two.later.receipt),
            ),
            "this key file belongs to none of the given releases",
        ),
        (
            lambda two: (
                *("--earlier", two.earlier.folder, "--earlier-private", two.earlier.receipt),
                *("--earlier-private", two.earlier.receipt),
            ),
            "belongs to the same release as",
        ),
        (
            lambda two: ("--earlier-private", two.earlier.receipt),
            "not applicable without --earlier",
        ),
        (lambda two: ("--earlier", two.ratings), "not a release"),
        (lambda two: ("--changes", "some"), "'some' is not one of"),
    ],
)
def test_what_it_cannot_do_is_said(two: Two, more: object, says: str) -> None:
    result = call(*two.attacked(*more(two)))  # type: ignore[operator]
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())


def test_the_audit_counts_them_too(two: Two) -> None:
    least = ("--threshold", "class-size=4")  # of the two that are claimed the attack takes 4
    found = told(*two.audited("--earlier-private", two.earlier.receipt, *least), code=1)
    (text,) = (each["text"] for each in found["checks"] if each["name"] == "composition")
    counted = told(
        *two.attacked("--earlier", two.earlier.folder, "--earlier-private", two.earlier.receipt)
    )
    assert f"{counted['people_below_k']:,} of the {counted['people']:,} people" in text
    found = told(*two.audited(), code=1)
    (text,) = (each["text"] for each in found["checks"] if each["name"] == "composition")
    assert "are not measured without the private key files" in text
