"""A release of every method, audited beside an earlier one of the same people, or of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from starshade.anonymize.registry import ENTRIES
from starshade.audit.verdict import Audit
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.registry import Entry
from tests.contract.cast import CAST
from tests.contract.make import make
from tests.policies import NO_LIMITS

every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
RATINGS, LATER, OTHERS = CAST["ordinary"], CAST["duplicate records"], CAST["full rows"]
TOGETHER = "their joint classes may be smaller than k"


def stored(ratings: Ratings, lineage: str | None) -> Ratings:
    return ratings.annotate(lineage=lineage and lineage * 32)


def audited(folder: Path, mine: Ratings, method: Any, *earlier: Path) -> dict[str, Any]:
    method.anonymize(mine, rng=1).save(folder / "new", private=folder / "new.json")
    judge = Audit(threshold=NO_LIMITS, known=(1,), targets=5, shadows=0)
    return judge.run(
        mine, folder / "new", private=folder / "new.json", earlier=earlier, rng=0
    ).to_dict()


@every
@pytest.mark.parametrize(
    ("own", "earlier", "its", "says"),
    [
        ("a", RATINGS, "a", "is a release of the same data"),
        ("a", OTHERS, "a", "is a release of the same data"),  # the lineage alone tells
        ("a", RATINGS, "b", "fits these ratings"),  # one file, stored twice
        ("a", RATINGS, None, "fits these ratings"),
        (None, RATINGS, "a", "fits these ratings"),
        (None, RATINGS, None, "fits these ratings"),
        ("a", LATER, None, "whether it is of the same people at another time is unknown"),
        (None, OTHERS, "a", "whether it is of the same people at another time is unknown"),
        (
            "a",
            LATER,
            "b",
            "whether it is of the same people at another time is unknown",
        ),  # stored again
    ],
)
def test_it_may_not_leave_beside_one_of_the_same_people(
    entry: Entry, own: str | None, earlier: Ratings, its: str | None, says: str, tmp_path: Path
) -> None:
    wider = replace(make(entry), k=3)  # so that the two are not the same
    wider.anonymize(stored(earlier, its), rng=1).save(tmp_path / "old")
    found = audited(tmp_path, stored(RATINGS, own), make(entry), tmp_path / "old")
    assert found["pass"] is False
    (reason,) = (text for text in found["reasons"] if TOGETHER in text)
    assert reason.startswith(f"Composition: {tmp_path / 'old'}")
    assert says in reason
    assert ("made from one store" in reason) is (own is None or own != its)


@every
@pytest.mark.parametrize("lineage", ["a", None])
def test_it_may_beside_itself(entry: Entry, lineage: str | None, tmp_path: Path) -> None:
    method, mine = make(entry), stored(RATINGS, lineage)
    alone = audited(tmp_path, mine, method)
    (check,) = (each for each in alone["checks"] if each["name"] == "composition")
    assert check["status"] == "not applicable"
    (tmp_path / "next").mkdir()
    found = audited(tmp_path / "next", mine, method, tmp_path / "new")
    (finding,) = (each for each in found["checks"] if each["name"] == "composition")
    assert finding["status"] == "not applicable"
    assert "is identical to this release, file by file" in finding["text"]
    assert found["pass"] is alone["pass"]


@every
def test_it_may_beside_one_of_other_data(entry: Entry, tmp_path: Path) -> None:
    elsewhere = Vocabulary.of([f"other {key}" for key in OTHERS.items])
    others = replace(stored(OTHERS, "b"), items=elsewhere)
    make(entry).anonymize(others, rng=1).save(tmp_path / "old")
    found = audited(tmp_path, stored(RATINGS, "a"), make(entry), tmp_path / "old")
    (finding,) = (each for each in found["checks"] if each["name"] == "composition")
    assert finding["status"] == "not applicable"
    assert finding["text"].startswith(f"{tmp_path / 'old'} is of other data")
    assert TOGETHER not in str(found)
