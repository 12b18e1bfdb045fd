"""Every privacy model, on every table of the cast and on its release."""

from __future__ import annotations

import json

import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import UserError
from starshade.privacy.registry import ENTRIES
from starshade.registry import Entry
from tests.contract.cast import CAST
from tests.contract.make import K, make

every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
KEYS = {"model", "satisfied", "records", "failing_records", "smallest_group", "worst", "seconds"}


@every
@pytest.mark.parametrize("name", [name for name in CAST if name != "one user"])
def test_on_ratings(entry: Entry, name: str) -> None:
    verdict = make(entry).check(CAST[name])
    found = json.loads(json.dumps(verdict.to_dict()))
    assert set(found) >= KEYS
    assert found["model"] == entry.name
    assert found["records"] == CAST[name].n_users
    assert found["satisfied"] == (found["failing_records"] == 0)
    assert (found["worst"] == []) == found["satisfied"]
    assert str(verdict)
    assert verdict._repr_html_()


@every
@pytest.mark.parametrize("name", [name for name in CAST if name not in ("one user", "nobody")])
def test_on_a_release(entry: Entry, name: str) -> None:
    release = KLikeness(k=K).anonymize(CAST[name], rng=0)
    verdict = make(entry).check(release)
    assert verdict.records == release.n_records
    assert make(entry).check(release).to_dict() | {"seconds": 0} == verdict.to_dict() | {
        "seconds": 0
    }


@every
def test_more_is_asked_than_there_is(entry: Entry) -> None:
    with pytest.raises(UserError):
        make(entry).check(CAST["one user"])


@every
def test_equal_records_are_seen(entry: Entry) -> None:
    assert make(entry).check(CAST["all alike"]).satisfied
    assert not make(entry).check(CAST["two users"]).satisfied
