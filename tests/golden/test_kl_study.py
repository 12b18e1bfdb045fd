"""KL §5 where the figures are known: Table 1 by hand, MovieLens 100K by others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from starshade.audit.compare.compare import compare
from starshade.audit.reproduction.kl.readings import DGH_A, DGH_B, DGH_C, LIKENESS, MONDRIAN
from starshade.audit.reproduction.kl.study import GeneralizationStudy, reproduce_kl
from starshade.audit.reproduction.kl.theorem import SETS, agreement, covers, splits
from starshade.audit.reproduction.kl.worked import example, worked_tables
from starshade.audit.reproduction.kl.worked import table_1 as papers_table
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


def test_the_worked_tables_are_the_papers_but_for_errata() -> None:
    tables = {table.number: table for table in worked_tables()}
    assert list(tables) == [
        "§1.1, queries 1 to 8",
        "Table 2",
        "Table 3",
        "§3.1, examples",
        "Tables 5 and 6",
    ]
    for number in ("§1.1, queries 1 to 8", "Table 2", "Table 3"):
        assert tables[number].equal == tables[number].cells, number
    losses = tables["§3.1, examples"]
    assert losses.ours[-1] == ("GenILoss", "0.406", "0.243")
    assert (losses.cells - losses.equal, "Erratum" in losses.note) == (1, True)
    proof = tables["Tables 5 and 6"]
    both = [cell for row in proof.ours for cell in row if cell == "{0,1}"]
    assert proof.cells - proof.equal == len(both) > 0


def test_the_papers_table_is_the_one_typed_in_for_tests() -> None:
    own = papers_table()
    names = ("Warcross", "Joy Ride", "Egomaniac", "Pachinko", "Geekerella")
    columns = [list(own.items).index(name) for name in names]
    typed = [[v or 0 for v in row] for row in kl.TABLE_1]
    assert np.nan_to_num(own.dense())[:, columns].tolist() == typed
    assert own.attributes is not None
    assert own.attributes.equals(kl.people())


def test_the_examples_figures_and_their_erratum() -> None:
    assert (example("queries"), example("dm")) == (8, 34)
    assert example("c_avg") == pytest.approx(10 / 9)
    assert example("gen_iloss") == pytest.approx(0.406, abs=5e-4)
    assert example("gen_iloss", three=True) == pytest.approx(2.9 * 6 / 50)


def test_the_reduction_has_a_counter_example() -> None:
    """{1,2,3} and {4,5,6} are complete in the graph of 124, 235, 136, 456, and 123 is no set."""
    assert covers(SETS)
    assert splits(SETS)
    sets = tuple(map(frozenset, ((0, 1, 3), (1, 2, 4), (0, 2, 5), (3, 4, 5))))
    assert not covers(sets)
    assert splits(sets)
    assert agreement(of_sets=True) == 1 > agreement(of_sets=False)


@pytest.mark.real
def test_the_papers_own_data_are_known(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    found = reproduce_kl(ratings, ks=[2], runs=1, rng=3)
    assert found.data["paper_data"]
    assert "paper's own data" in str(found)
    held = {each.claim.number: each.verdict for each in found.claims}
    assert (held["kl-13"], held["kl-14"]) == ("holds", "holds")


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
