"""A public edition: no figure about who was left out, no number to be read off a bound."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.k_member import KMember
from starshade.anonymize.suppress.suppress import SuppressAnonymizer
from starshade.audit.dossier.bounds import bound_of, rounded
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.verdict import Audit
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

SCALE = Scale(1, 5, 1)
QUICK = Audit(known=(2,), targets=60)


def table(rows: list[tuple[int, int, int]]) -> Ratings:
    users, items, given = np.array(rows).T
    return Ratings.from_arrays(users, items, given.astype(float), scale=SCALE)


def compiled(
    method: Any, ratings: Ratings, folder: Path, *, linked: bool = True, audit: Audit = QUICK
) -> Dossier:
    method.anonymize(ratings, rng=1).save(folder / "out", private=folder / "r.json")
    receipt = folder / "r.json" if linked else None
    return compile_dossier(ratings, folder / "out", private=receipt, audit=audit, rng=1)


@pytest.mark.parametrize("linked", [True, False])
def test_attacks_on_people_left_out_are_the_owners(linked: bool, tmp_path: Path) -> None:
    rows = [(i, item, 3 + i // 10 % 2) for i in range(40) for item in range(4)]
    ratings = table([*rows, (40, 0, 1), (40, 1, 1), (40, 2, 5), (40, 3, 2)])
    found = compiled(SuppressAnonymizer(k=5, eps=0), ratings, tmp_path, linked=linked)
    own, public = found.internal(), found.public()
    assert own["attacks"]
    assert own["attacks_how"] == ""
    assert bool(public["attacks"]) == bool(public["stand_out"]["steps"]) == linked
    assert ("receipt" in public["attacks_how"]) == (not linked)
    assert ("of the cases" in public["verdict"]["paragraph"]) == linked
    if not linked:
        assert "receipt" in public["stand_out"]["withheld"]
        assert public["tracker"] is public["gives_away"] is None
        (attack,) = (row["text"] for row in public["findings"] if row["name"] == "attack")
        assert "not known: fewer than 5 people were left out" in attack
        assert "%" not in attack
        assert "41" not in json.dumps({**public, "files": []})


def test_a_withheld_number_of_people_is_in_no_interval_and_no_bound(tmp_path: Path) -> None:
    rows = [(i, item, 1 + (i * 7 + item * item) % 4) for i in range(27) for item in range(4)]
    rows += [(27 + i, 0, 3) for i in range(3)]  # of whom two ratings cannot be known
    found = compiled(KLikeness(k=5), table(rows), tmp_path)
    own, public = found.internal()["attacks"], found.public()["attacks"]
    assert {row["targets"] for row in own} == {27}
    for mine, told in zip(own, public, strict=True):
        assert told["targets"] is None
        for side in ("before", "after", "profile"):
            assert mine[side]["low"] is not None
            assert told[side] is None or told[side]["low"] is told[side]["high"] is None
            assert told["withheld"].get(side) != "less than 18.6%"  # 5 of 27


def test_a_rate_that_would_tell_the_number_is_withheld() -> None:
    assert bound_of(8 / 14, 14, 5, least=12).startswith("withheld")  # as 12 can be no 57.1%
    assert bound_of(1.0, 14, 5, least=12) == bound_of(0.0, 14, 5, least=12) == ""
    assert bound_of(4 / 7, 14, 5) == ""
    assert bound_of(407 / 2000, 2000, 5, least=1998) == ""
    assert bound_of(41 / 118, 118, 5, least=116) == "about 35%"
    assert {bound_of(4 / n, n, 5, least=56) for n in range(56, 60)} == {"less than 9.0%"}
    assert {bound_of(1 - 4 / n, n, 5, least=56) for n in range(56, 60)} == {"more than 91.0%"}


def test_no_figure_is_finer_than_a_table_shows_it(tmp_path: Path) -> None:
    rows = [(i, item, 1 + (i * 7 + item * item) % 4) for i in range(31) for item in range(4)]
    public = compiled(KLikeness(k=5), table(rows), tmp_path).public()

    def floats(told: Any) -> list[float]:
        if isinstance(told, dict):
            return [each for value in told.values() for each in floats(value)]
        if isinstance(told, list):
            return [each for value in told for each in floats(value)]
        return [told] if isinstance(told, float) else []

    assert floats(public)
    assert all(round(each, 4) == each for each in floats(public))
    assert rounded([1e-9, 0.0, 1 - 1e-9, 1.0]) == [0.0004, 0.0, 0.9996, 1.0]


def test_what_is_withheld_has_sentences_of_its_own(tmp_path: Path) -> None:
    rows = [(i, item, 2 + (i + item) % 3) for i in range(8) for item in range(4)]
    audit = Audit(known=(2, 4), targets=60)
    found = compiled(KMember(k=2), table(rows[:-2]), tmp_path, audit=audit)
    text = found.public()["verdict"]["paragraph"]
    assert "in withheld" not in text
    assert "withheld: fewer" not in text


def test_a_bound_above_the_limit_that_was_met_is_the_limit(tmp_path: Path) -> None:
    rows = [(i, item, 2 + (i + item) % 3) for i in range(12) for item in range(4)]
    found = compiled(KLikeness(k=5), table(rows), tmp_path)
    assert found.passed
    (attack,) = {row["withheld"].get("after", "told") for row in found.public()["attacks"]}
    assert attack == "at most 20.0%"
    assert "at most 20.0% in this release" in found.public()["verdict"]["paragraph"]


def test_attributes_that_the_release_has_not_are_the_owners(tmp_path: Path) -> None:
    rows = [(i, item, 2 + (i + item) % 3) for i in range(12) for item in range(4)]
    people = pa.table({"ward": [f"{i % 3}" for i in range(12)]})
    ratings = replace(table(rows), attributes=people)
    found = compiled(KLikeness(k=5, attributes="none"), ratings, tmp_path)
    assert found.internal()["data"]["attributes"] == ["ward"]
    assert found.public()["data"]["attributes"] == []
    assert "ward" not in json.dumps(found.public())
