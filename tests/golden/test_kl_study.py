"""KL §5 where the figures are known: Table 1 by hand, MovieLens 100K by others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starshade.audit.reproduction.kl.measured import DGH_A, DGH_B, DGH_C, LIKENESS, MONDRIAN

from starshade.audit.compare.compare import compare
from starshade.audit.reproduction.kl.study import GeneralizationStudy, reproduce_kl
from starshade.ratings.read import read_ratings
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from tests.golden import kl


@pytest.fixture(scope="module")
def table_1() -> Ratings:
    return replace(kl.ratings(), attributes=kl.people())


@pytest.fixture(scope="module")
def study(table_1: Ratings) -> GeneralizationStudy:
    return reproduce_kl(table_1, ks=[3], runs=2, draws=2, rng=1)


def test_any_nuclei_have_dm_34_on_table_1(study: GeneralizationStudy) -> None:
    rows = [row for row in study.losses if row["line"] == LIKENESS]
    assert [(row["k"], row["dm"]) for row in rows] == [(3, 34), (3, 34)]
    assert [row["c_avg"] for row in rows] == [pytest.approx(10 / 9)] * 2


def test_mondrian_on_table_1(study: GeneralizationStudy) -> None:
    rows = [row for row in study.losses if row["line"] == MONDRIAN]
    assert [row["dm"] for row in rows] == [3 * 3 + 3 * 3 + 4 * 4] * 2
    assert [round(row["gen_iloss"], 3) for row in rows] == [0.274, 0.274]


def test_the_original_of_table_1(study: GeneralizationStudy) -> None:
    # tuples 4 and 5 are equal, and 8 to 10
    (row,) = [row for row in study.losses if row["k"] == 1]
    assert (row["dm"], row["gen_iloss"]) == (5 * 1 + 2 * 2 + 3 * 3, 0)
    assert row["c_avg"] == pytest.approx(10 / 7)


def test_table_1_is_compared_by_the_same_figures(table_1: Ratings) -> None:
    found = compare(table_1, ["k-likeness", "mondrian"], [3], rng=1)
    likeness, mondrian = (row.figures for row in found.rows)
    assert (likeness["dm"], mondrian["dm"]) == (34, 34)
    assert mondrian["gen_iloss"] == pytest.approx(0.274, abs=5e-4)
    assert found.attribute == "Age"
    assert found.original["classes"] == 7


@pytest.mark.real
def test_ten_most_rated_of_movielens_at_k_10(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data", users=ml100k_dir / "u.user")
    found = reproduce_kl(replace(ratings, attributes=None), ks=[10], runs=1, rng=3)
    data = {key: found.data[key] for key in ("users", "items", "ratings", "users_left_out")}
    assert data == {"users": 927, "items": 10, "ratings": 4863, "users_left_out": 16}
    at = {row["line"]: row for row in found.losses if row["k"] == 10}
    assert at[LIKENESS]["c_avg"] == 927 / (92 * 10)
    assert at[LIKENESS]["dm"] >= 9347
    classes = [at[name]["c_avg"] for name in (LIKENESS, DGH_B, DGH_A, DGH_C)]
    assert classes == sorted(classes)


@pytest.mark.real
def test_the_original_movielens_has_few_equal_records(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data", users=ml100k_dir / "u.user")
    found = compare(ratings, ["mondrian"], [10], items=top_items(10), rng=3)
    rows = {tuple(row) for row in _dense(top_items(10).apply(ratings))}
    assert found.original["classes"] == len(rows)
    assert found.rows[0].figures["query_error"] is not None


def _dense(ratings: Ratings) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in ratings.dense().tolist()]
