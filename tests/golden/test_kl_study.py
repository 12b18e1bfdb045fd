"""KL §5 where the figures are known: Table 1 by hand, MovieLens 100K by others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from starshade.audit.compare.compare import compare
from starshade.audit.reproduction.estimates import estimate
from starshade.audit.reproduction.kl import grid
from starshade.audit.reproduction.kl.lines import DGH_A, DGH_B, DGH_C, LIKENESS, MONDRIAN
from starshade.audit.reproduction.kl.study import GeneralizationStudy, reproduce_kl
from starshade.audit.reproduction.kl.worked import KNOWN
from starshade.ratings.read import read_ratings
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from tests.golden import kl


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Draw few times for intervals, which `test_claims.py` tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(estimate.__kwdefaults__, "draws", 40)
        yield


@pytest.fixture(scope="module")
def table_1() -> Ratings:
    return replace(kl.ratings(), attributes=kl.people())


@pytest.fixture(scope="module")
def study(table_1: Ratings) -> GeneralizationStudy:
    return reproduce_kl(table_1, k=[3], runs=2, draws=2, rng=1)


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
def test_ten_most_rated_of_movielens_at_k_10(
    ml100k_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "_INTERPRETED_MOST", 0)  # seconds, which nothing here looks at
    ratings = read_ratings(ml100k_dir / "u.data", users=ml100k_dir / "u.user")
    found = reproduce_kl(replace(ratings, attributes=None), k=[10], runs=1, rng=3)
    assert found.data["paper_data"]
    assert "the paper's own data" in str(found)
    judged = {each.claim.number: each for each in found.claims}
    assert judged["kl-13"].verdict == judged["kl-14"].verdict == "holds"
    data = {key: found.data[key] for key in ("users", "items", "ratings", "users_left_out")}
    assert data == {"users": 927, "items": 10, "ratings": 4863, "users_left_out": 16}
    at = {row["line"]: row for row in found.losses if row["k"] == 10}
    assert at[LIKENESS]["c_avg"] == 927 / (92 * 10)
    assert at[LIKENESS]["dm"] >= 9347
    classes = [at[name]["c_avg"] for name in (LIKENESS, DGH_B, DGH_A, DGH_C)]
    assert classes == sorted(classes)


def test_the_worked_tables_are_the_papers(study: GeneralizationStudy) -> None:
    """Every cell but one: 0.348, which counts a class of four as three."""
    unequal = {table.number: table.cells - table.equal for table in study.worked}
    assert unequal == {
        "Table 1": 0,
        "§1.1, Queries 1 to 8": 0,
        "Table 2": 0,
        "Table 3": 0,
        "Definitions 10 to 12": 1,
        "Table 4": 0,
        "Table 5": 0,
        "Table 6": 0,
    }
    (losses,) = [table for table in study.worked if table.number == "Definitions 10 to 12"]
    assert losses.ours[0] == ("Table 2", "34", "1.11", "0.406")
    assert losses.ours[1][3] == "0.243"
    assert "0.348" in losses.note


@pytest.mark.parametrize(("number", "printed"), [("Table 2", kl.TABLE_2), ("Table 3", kl.TABLE_3)])
def test_what_is_taken_for_printed_is_what_is_printed(
    study: GeneralizationStudy, number: str, printed: list[tuple[set[int | None], ...]]
) -> None:
    (table,) = [table for table in study.worked if table.number == number]
    for row, group in zip(table.paper, kl.CLASSES.tolist(), strict=True):
        for cell, members in zip(row, printed[group], strict=True):
            said = {int(c) for c in cell if c.isdigit()} or {0}
            ends = {member or 0 for member in members}
            assert said == (ends if number == "Table 3" else {min(ends), max(ends)})


def test_table_1_is_the_one_that_tests_know(study: GeneralizationStudy) -> None:
    assert study.worked[0].paper == tuple(
        tuple("" if cell is None else str(cell) for cell in row) for row in kl.TABLE_1
    )
    assert [tuple(row) for row in KNOWN] == [tuple(map(str, row)) for row in kl.PEOPLE]


@pytest.mark.real
def test_the_original_movielens_has_few_equal_records(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data", users=ml100k_dir / "u.user")
    found = compare(ratings, ["mondrian"], [10], items=top_items(10), rng=3)
    rows = {tuple(row) for row in _dense(top_items(10).apply(ratings))}
    assert found.original["classes"] == len(rows)
    assert found.rows[0].figures["query_error"] is not None


def _dense(ratings: Ratings) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in ratings.dense().tolist()]
