"""Every privacy model, on every table of the cast and on its release."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import pyarrow as pa
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import ConfigError, UserError
from starshade.privacy.registry import ENTRIES
from starshade.privacy.verdict import Verdict
from starshade.ratings.table import Ratings
from starshade.registry import Entry
from starshade.release.build import Provenance, record_release
from starshade.release.table import Release
from tests.contract.cast import CAST
from tests.contract.make import K, make

every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
KEYS = {"model", "satisfied", "records", "failing_records", "smallest_class", "worst", "seconds"}

# what a model may refuse: cells that it is not about, a spread that no data can have, a sensitive
# item that was left out of the release
REFUSED = {"k-eps": "several members", "k-eps-l": "several members|Theorem 1|not among the items"}


def peopled(ratings: Ratings) -> Ratings:
    """Give everybody an age and a job, some a null in their place."""
    n = ratings.n_users
    job = ["a" if u % 2 else "b" if u % 5 != 4 else None for u in range(n)]
    age = [float(20 + u % 3) if u % 7 else None for u in range(n)]
    people = {"age": pa.array(age, pa.float64()), "job": pa.array(job, pa.string())}
    return replace(ratings, attributes=pa.table(people))


@cache
def grouped(name: str) -> Release:
    return KLikeness(k=K, attributes="exact").anonymize(peopled(CAST[name]), rng=0)


def judged(entry: Entry, data: Ratings | Release) -> Verdict | None:
    """Check; None where the model refuses data that it is not about."""
    try:
        verdict = make(entry).check(data)
    except ConfigError as error:
        if entry.name in REFUSED and re.search(REFUSED[entry.name], str(error)):
            return None
        raise
    assert isinstance(verdict, Verdict)
    return verdict


def record_by_record(ratings: Ratings) -> Release:
    """Release a table as it is."""
    return record_release(
        ratings,
        ratings,
        Provenance(method="by hand", seed=0),
        attributes="exact",
    )


@every
@pytest.mark.parametrize("name", [name for name in CAST if name != "one user"])
def test_on_ratings(entry: Entry, name: str) -> None:
    verdict = judged(entry, peopled(CAST[name]))
    if verdict is None:
        return
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
    release = grouped(name)
    verdict = judged(entry, release)
    if verdict is None:
        return
    assert verdict.records == release.n_records
    assert make(entry).check(release).to_dict() | {"seconds": 0} == verdict.to_dict() | {
        "seconds": 0
    }


@every
@pytest.mark.parametrize("name", [name for name in CAST if name not in ("one user", "nobody")])
def test_ratings_released_as_they_are_are_judged_as_they_are(entry: Entry, name: str) -> None:
    plain = replace(peopled(CAST[name]), days=None)
    verdict, released = judged(entry, plain), judged(entry, record_by_record(plain))
    if verdict is None or released is None:
        assert verdict is released
        return
    same = ("satisfied", "records", "failing_records", "smallest_class")
    assert [getattr(released, f) for f in same] == [getattr(verdict, f) for f in same]


@every
def test_more_is_asked_than_there_is(entry: Entry) -> None:
    alone = peopled(CAST["one user"])
    if entry.name == "t-closeness":  # one record is distributed as the whole table of it
        assert make(entry).check(alone).satisfied
        return
    with pytest.raises(UserError):
        make(entry).check(alone)


@every
def test_equal_records_are_seen(entry: Entry) -> None:
    if entry.name == "diversity":  # the other way round: equal records are one group alone
        assert not make(entry).check(CAST["all alike"]).satisfied
        assert make(entry).check(CAST["two users"]).satisfied
        return
    assert make(entry).check(peopled(CAST["all alike"])).satisfied
    verdict = judged(entry, peopled(CAST["two users"]))
    assert verdict is None or not verdict.satisfied
