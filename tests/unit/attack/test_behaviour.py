"""What an attack must show on any data: a copy raises the alarm, a grouped release does not, more
knowledge finds more people, and those who are not there are seldom found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.ratings.read import read_ratings
from starshade.ratings.synth.synth import Like, synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.write import write_ratings
from starshade.release.build import Provenance, generalized_release
from starshade.release.cells import cells_of
from starshade.release.folder.read import read_release
from starshade.release.table import Release

EXACT = Knowledge(known=8, day_error=0)
UNDATED = Knowledge(known=8, dates=False)


def alarms(result: AttackResult, least: float = 0.95) -> bool:
    """Nearly everybody stands out, and the result says so with an interval."""
    success = result.success
    assert success.low <= success.rate <= success.high
    assert success.high - success.low < 0.05
    assert f"{success.rate:.1%} [{success.low:.1%}, {success.high:.1%}]" in str(result)
    return success.rate >= least


def verbatim(ratings: Ratings) -> Release:
    """Release everybody's cells as they are, each record a group of its own."""
    return generalized_release(
        ratings,
        np.arange(ratings.n_users),
        cells_of(ratings),
        Provenance(method="verbatim copy", seed=0, rare_items="keep"),
    )


@pytest.fixture(scope="module")
def sparse() -> Ratings:
    """More than 98 % of the cells are null."""
    ratings = synthesize("netflix", n_users=800, n_items=17_770, rng=1)
    assert ratings.n_ratings < 0.02 * ratings.n_users * ratings.n_items
    return ratings


@pytest.mark.real
def test_a_copy_of_movielens_raises_the_alarm(ml100k_dir: Path, tmp_path: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    write_ratings(ratings, tmp_path / "copy.parquet")
    copy = read_ratings(tmp_path / "copy.parquet")
    found = [ScoreboardRH().run(copy, EXACT, rng=seed) for seed in range(3)]
    assert all(alarms(result) for result in found)
    # the reference: 0.974 (definitions, "reference-values")
    assert np.mean([result.success.rate for result in found]) == pytest.approx(0.974, abs=0.015)


def test_a_copy_raises_the_alarm_when_most_cells_are_null(sparse: Ratings, tmp_path: Path) -> None:
    write_ratings(sparse, tmp_path / "copy.csv")
    found = ScoreboardRH().run(read_ratings(tmp_path / "copy.csv"), EXACT, rng=0)
    assert alarms(found)
    assert found.false_match.rate == 0


def test_a_wide_copy_raises_the_alarm_when_most_cells_are_null(
    sparse: Ratings, tmp_path: Path
) -> None:
    few = sparse.keep_users(np.arange(200))
    few = few.keep_items(np.flatnonzero(few.item_support))  # a column of blanks is not read
    assert few.n_ratings < 0.03 * few.n_users * few.n_items
    plain = dataclasses.replace(few, attributes=None)
    write_ratings(plain, tmp_path / "copy.csv", format="wide")
    copy = read_ratings(tmp_path / "copy.csv", wide=True, id_col="id", scale="1:5:1")
    assert copy.n_ratings == few.n_ratings
    assert copy.n_items == few.n_items
    found = ScoreboardRH().run(copy, Knowledge(known=12), rng=0)
    assert alarms(found)
    assert "no days" in found.knowledge["name"]  # such a table has none
    undated = dataclasses.replace(plain, days=None)
    same = ScoreboardRH().run(undated, Knowledge(known=12), rng=0)
    assert found.success == same.success


def test_a_release_that_is_a_copy_raises_the_alarm(sparse: Ratings, tmp_path: Path) -> None:
    verbatim(sparse).save(tmp_path / "out", private=tmp_path / "receipt")
    knowledge = Knowledge(known=12)
    plain = ScoreboardRH().run(sparse, dataclasses.replace(knowledge, dates=False), rng=0)
    for private in (tmp_path / "receipt", None):
        copy = read_release(tmp_path / "out", private=private)
        found = ScoreboardRH().run(copy, knowledge, original=sparse, rng=0)
        assert alarms(found)
        assert found.expected_top1.rate > 0.99
        assert found.class_contents_known.rate >= found.success.rate
        # a release has no days: what is found is what is found in the ratings without them
        assert found.success == plain.success
        assert found.entropy_bits.mean == pytest.approx(plain.entropy_bits.mean)


KNOWN_OF_A_RELEASE = [
    Knowledge(known=1),
    Knowledge(known=4),
    Knowledge(known=4, wrong=1),
    Knowledge(known=4, wrong=1, wrong_kind="item"),
    Knowledge(known=4, rating_error=1),
    Knowledge(known=2, outside_top=3),
    Knowledge(known=3, about_count=True),
    Knowledge(known=4, ratings=False),
]


@pytest.fixture(scope="module")
def popular() -> Ratings:
    ratings = synthesize(n_users=250, n_items=200, rng=2)
    return ratings.keep_items(ratings.most_rated(10))


@pytest.mark.parametrize("knowledge", KNOWN_OF_A_RELEASE, ids=lambda knowledge: knowledge.name)
@pytest.mark.parametrize("linked", [True, False], ids=["linked", "compatible"])
def test_a_release_by_k_likeness_raises_none(
    popular: Ratings, knowledge: Knowledge, linked: bool
) -> None:
    told = []
    for seed in range(3):
        for k, hierarchy in ((2, "ndgh"), (5, "dgh-b"), (10, "ndgh")):
            release = KLikeness(k=k, hierarchy=hierarchy).anonymize(popular, rng=seed)
            data = release if linked else dataclasses.replace(release, private=None)
            found = ScoreboardRH().run(data, knowledge, original=popular, rng=seed)
            assert found.targets > 60
            assert found.expected_top1.rate <= 1 / k
            assert found.success.rate == found.false_match.rate == 0
            assert f"Class contents are known for {found.class_contents_known}" in str(found)
            told.append(found.to_dict()["class_contents_known"]["rate"])
    assert 0 <= min(told) <= max(told) < 1
    if knowledge == Knowledge(known=4):
        assert max(told) > 0  # that k people share what is found hides it from nobody


@pytest.fixture(scope="module")
def people() -> Ratings:
    return synthesize(n_users=1000, rng=7)


Series = Callable[[Any], Knowledge]
SERIES: dict[str, tuple[list[Any], Series]] = {
    "more known": ([16, 8, 4, 2, 1], lambda m: Knowledge(known=m, day_error=3)),
    "more known, no days": ([16, 8, 4, 2], lambda m: Knowledge(known=m, dates=False)),
    "days less exact": ([0, 3, 14, 60], lambda d: Knowledge(known=4, day_error=d)),
    "ratings less exact": ([0, 1, 2, 4], lambda e: Knowledge(known=8, rating_error=e, dates=False)),
    "more wrong values": ([0, 1, 2, 4], lambda w: Knowledge(known=8, wrong=w)),
    "more wrong items": (
        [0, 1, 2, 4],
        lambda w: Knowledge(known=8, wrong=w, wrong_kind="item"),
    ),
}


@pytest.mark.parametrize("name", SERIES)
def test_less_knowledge_finds_fewer_people(people: Ratings, name: str) -> None:
    values, knowing = SERIES[name]
    found = [ScoreboardRH().run(people, knowing(value), rng=0) for value in values]
    rates = [result.success.rate for result in found]
    assert rates == sorted(rates, reverse=True)
    assert len(set(rates)) == len(rates)
    assert found[0].success.low > found[-1].success.high
    best = [result.expected_top1.rate for result in found]
    assert best == sorted(best, reverse=True)


@pytest.mark.parametrize("like", ["movielens-100k", "netflix"])
@pytest.mark.parametrize("wrong_kind", ["value", "item"])
def test_among_more_users_fewer_absent_ones_are_matched(like: Like, wrong_kind: Any) -> None:
    """NS §5: with more records, one that fits by chance stands out less from the next."""
    knowledge = Knowledge(known=8, wrong=2, wrong_kind=wrong_kind)
    found = []
    for n_users in (1000, 10_000):
        ratings = synthesize(like, n_users=n_users, rng=0)
        result = ScoreboardRH(absent=True).run(ratings, knowledge, targets=600, rng=1)
        assert result.false_match_absent is not None
        assert result.tradeoff is not None
        assert result.tradeoff.equal_error_phi is not None
        found.append(result)
    few, many = (result.false_match_absent for result in found)
    assert few is not None
    assert many is not None
    assert many.high < few.low
    # at every φ, not at 1.5 alone
    curves = [result.tradeoff for result in found]
    assert curves[0] is not None
    assert curves[1] is not None
    phis = np.arange(0.5, 4.1, 0.5)
    rates = [np.interp(phis, curve.phi, curve.false_match_absent) for curve in curves]
    assert (rates[1] <= rates[0] + 0.01).all()
