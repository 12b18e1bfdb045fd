"""k^m-anonymity against its slow twin, by hand, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.baselines import Mondrian
from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import ConfigError
from starshade.kernels import facts
from starshade.privacy import k_m
from starshade.privacy.k_m import KM, KMVerdict
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, record_release
from starshade.release.cells import Cells, cells_of
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from tests.naive import k_m as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.profiles import averaged

STARS = Scale(1, 5, 1)
METHODS: dict[str, Any] = {
    "sets": KLikeness(k=2, rare_items="keep"),
    "ranges": Mondrian(k=2, rare_items="keep"),
}
TABLES = ratings_tables(min_users=2, max_users=9, max_items=4)


class Range:
    """The ratings of a range."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __contains__(self, rating: float) -> bool:
        return self.low - 1e-9 <= rating <= self.high + 1e-9


def records(cells: Cells) -> list[tuple[dict, int]]:
    """What each row's cells may be, and how many records it stands for."""
    symbols, out = cells.symbols, []
    for row in range(cells.n_groups):
        told: dict[int, Any] = {}
        for place in range(cells.indptr[row], cells.indptr[row + 1]):
            s = cells.codes[place]
            members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]].tolist()
            low = max(float(symbols.low[s]), symbols.scale.minimum)
            ranged = symbols.is_range[s]
            told[int(cells.columns[place])] = Range(low, symbols.high[s]) if ranged else members
        out.append((told, int(cells.sizes[row])))
    return out


def compare(verdict: KMVerdict, data: Cells, people: Ratings, k: int, m: int) -> None:
    rows = [
        dict(zip(part.columns.tolist(), part.values().tolist(), strict=True))
        for part in (people.keep_users(np.array([u])) for u in range(people.n_users))
    ]
    slow = naive.k_m(rows, records(data), k, m)
    assert verdict.failing_records == len(slow.people[-1])
    assert verdict.satisfied == (not slow.people[-1])
    assert verdict.smallest_class == slow.fewest[-1]
    assert [(c.people, c.fewest) for c in verdict.sizes] == [
        (len(who), fewest) for who, fewest in zip(slow.people, slow.fewest, strict=True)
    ]
    sizes = [entry["size"] for entry in verdict.worst]
    assert sizes == sorted(sizes)
    assert (sizes[:1] == [slow.fewest[-1]]) == (not verdict.satisfied)
    for entry in verdict.worst:
        alone = [
            {i: row[i] for i in entry["items"]} for row in rows if set(entry["items"]) <= set(row)
        ]
        fits = [
            sum(n for cells, n in records(data) if all(v in cells.get(i, ()) for i, v in f.items()))
            for f in alone
        ]
        assert entry["size"] in fits


@given(TABLES, st.integers(2, 4), st.sampled_from([1, 2]))
def test_ratings_are_the_twins(ratings: Ratings, k: int, m: int) -> None:
    assume(ratings.n_users >= k)
    compare(KM(k=k, m=m).check(ratings), cells_of(ratings), ratings, k, m)


def released(method: str, ratings: Ratings) -> Release:
    if method in METHODS:
        assume((ratings.user_support > 0).sum() >= 2)
        made = METHODS[method].anonymize(ratings, rng=0)
        assert isinstance(made, Release)
        return made
    ratings = shown = ratings.drop_empty_users()
    assume(ratings.n_users > 0)
    if method == "left out":
        ratings = shown = ratings.keep_users(np.arange(0, ratings.n_users, 2))
    if method == "moved":
        shown = replace(ratings, codes=(len(ratings.levels) - 1 - ratings.codes).astype(np.uint8))
    return record_release(ratings, shown, Provenance(method="by hand", seed=0))


@pytest.mark.parametrize("method", [*METHODS, "moved", "left out"])
@given(ratings=TABLES, k=st.integers(2, 4), m=st.sampled_from([1, 2]))
def test_releases_are_the_twins(method: str, ratings: Ratings, k: int, m: int) -> None:
    release = released(method, replace(ratings, days=None))
    assume(release.n_records >= k)
    people = ratings.keep_items(ratings.items.indices(release.classes.items))
    verdict = KM(k=k, m=m).check(release, original=ratings)
    compare(verdict, release.classes, people, k, m)
    if method in METHODS:  # a person's own class fits whatever is known of them
        assert KM(k=2, m=m).check(release).satisfied


def test_by_hand() -> None:
    """1 and 2 are each shared by two people, 1 with 2 by one alone."""
    ratings = table([{0: 1, 1: 2}, {0: 1, 1: 3}, {0: 4, 1: 2}, {0: 4, 1: 3}], STARS)
    one, two = (KM(k=2, m=m).check(ratings) for m in (1, 2))
    assert (one.satisfied, one.smallest_class, one.worst) == (True, 2, ())
    assert (two.satisfied, two.failing_records, two.smallest_class) == (False, 4, 1)
    assert two.worst == ({"items": [0, 1], "size": 1},)
    assert [(c.size, c.people, c.fewest) for c in two.sizes] == [(1, 0, 2), (2, 4, 1)]
    assert "leave 4 of 4 people" in str(two)
    assert "one rating, chosen by the adversary, leaves no person" in str(two)
    assert "at least 2 records" in str(one)
    assert two.explain()[0] == "items 0, 1: ratings of a person agree with 1 record"
    told = json.loads(json.dumps(two.to_dict()))
    assert told["sizes"][1] == {"size": 2, "people": 4, "fewest": 1}
    # three people, one of whom alone has a rating of an item nobody else rated
    assert KM(k=2, m=1).check(table([{0: 1}, {0: 1}, {0: 1, 1: 5}], STARS)).failing_records == 1


def test_what_fits_nobody_does_not_fail() -> None:
    """Whose ratings were left out, and what was moved, fits no record."""
    original = table([{0: 1}, {0: 1}, {0: 5}], STARS)
    shown = original.keep_users(np.array([0, 1]))
    release = record_release(shown, shown, Provenance(method="by hand", seed=0))
    assert KM(k=2, m=2).check(release, original=original).satisfied


def test_days_are_not_known() -> None:
    days = [{0: 1}, {0: 9}]
    assert KM(k=2, m=1).check(table([{0: 1}, {0: 1}], STARS, days=days)).satisfied


def test_nothing_was_rated() -> None:
    verdict = KM(k=2, m=2).check(table([{}, {}], STARS, n_items=2))
    assert (verdict.satisfied, verdict.vacuous, verdict.passed) == (True, True, False)
    assert "no item has a rating" in str(verdict)


@given(TABLES)
def test_pieces_and_threads_change_nothing(ratings: Ratings) -> None:
    whole = KM(k=2, m=2).check(ratings).to_dict() | {"seconds": 0}
    with pytest.MonkeyPatch.context() as patch, budget.limits(threads=2):
        patch.setattr(k_m, "_AT_ONCE", 1)
        patch.setattr("starshade.kernels.arrays._WORTH_IT", 0)
        assert facts.cut(np.ones(3, np.int64)) != [(0, 3)]
        assert KM(k=2, m=2).check(ratings).to_dict() | {"seconds": 0} == whole


def test_what_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = table([{0: 1, 1: 2}, {0: 1, 1: 3}, {0: 4, 1: 2}, {0: 4, 1: 3}], STARS)
    for k, m in ((1, 1), (2, 0), (2, 3), (2, 1.5)):
        with pytest.raises(ConfigError):
            KM(k=k, m=m)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="records = 4"):
        KM(k=5, m=1).check(ratings)
    release: Release = KLikeness(k=2).anonymize(ratings, rng=0)
    release.save(tmp_path / "out")
    back = read_release(tmp_path / "out")
    with pytest.raises(ConfigError, match="in the original alone"):
        KM(k=2, m=1).check(back)
    assert KM(k=2, m=1).check(back, original=ratings).satisfied
    with pytest.raises(ConfigError, match="not in the original"):
        KM(k=2, m=1).check(back, original=ratings.keep_items(np.array([0])))
    with pytest.raises(ConfigError, match="means and no sets"):
        KM(k=2, m=1).check(averaged(ratings, np.array([0, 0, 1, 1]), "simple", step=0.5))
    monkeypatch.setattr(k_m, "_MOST_WORK", 3.0)
    with pytest.raises(ConfigError, match="takes too long") as told:
        KM(k=2, m=2).check(ratings)
    assert "m=1" in str(told.value)
    assert KM(k=2, m=1).check(ratings).satisfied
    with (
        budget.limits(memory=1),
        pytest.raises(ConfigError, match="k-m: 320 bytes needed, 1 byte allowed"),
    ):
        KM(k=2, m=1).check(ratings)
