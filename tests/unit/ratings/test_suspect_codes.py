"""Ratings that may be codes for "no answer" are named together; others raise no question."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.project.write import open_questions
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.faults import outlying
from starshade.ratings.shards.convert import convert_to_shards
from starshade.ratings.synth.synth import synthesize
from tests.naive import outlying as naive
from tests.unit.ratings.samples import write


def survey(body: Sequence[float], codes: Sequence[float] = (), share: float = 0.05) -> Any:
    """Answers of 80 people to 12 questions, drawn from a scale and from codes."""
    rng = np.random.default_rng(1)
    cells = rng.choice(np.array(body, dtype=float), (80, 12))
    for code in codes:
        cells[rng.random(cells.shape) < share] = code
    columns = {f"q{j}": cells[:, j] for j in range(cells.shape[1])}
    return pa.table({"id": np.arange(1000, 1080), **columns})


def notes_on(frame: Any) -> tuple[str, ...]:
    return read_ratings(frame, wide=True, id_col="id").report.notes


def long_of(frame: Any) -> Any:
    names = [name for name in frame.column_names if name != "id"]
    return pa.table(
        {
            "user": np.repeat(frame.column("id").to_numpy(), len(names)),
            "item": names * len(frame),
            "rating": np.column_stack([frame.column(name) for name in names]).ravel(),
        }
    )


GROUPS = {
    "ess": (range(11), [77, 88, 99]),
    "ess, one digit": (range(1, 6), [8, 9]),
    "digits above an unused one": (range(1, 6), [7, 8, 9]),
    "two digits above an unused one": (range(1, 6), [7, 8]),
    "one digit above an unused one": (range(1, 8), [9]),
    "from 0": (range(5), [6, 7, 8, 9]),
    "issp": (range(1, 6), [-1, -2, -8]),
    "wvs": (range(1, 11), [-5, -4, -2, -1]),
    "cchs": (range(11), [95, 96, 97, 98, 99]),
    "spss": (range(1, 6), [-2147483648]),
    "unlisted": (range(1, 8), [-100, -2]),
    "bipolar": (range(-5, 6), [-99]),
    "one": (range(1, 11), [-1]),
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("long", [False, True])
def test_all_codes_are_named_with_what_to_type(name: str, long: bool) -> None:
    body, codes = GROUPS[name]
    frame = survey(body, codes)
    notes = read_ratings(long_of(frame)).report.notes if long else notes_on(frame)
    (said,) = notes
    wanted = ", ".join(str(code) for code in sorted(codes))
    assert said.endswith(f"for 'no answer': if so, add null_values=[{wanted}]")
    again = read_ratings(frame, wide=True, id_col="id", null_values=[str(code) for code in codes])
    assert (again.scale.minimum, again.scale.maximum) == (min(body), max(body))


def counts_of(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(2).zipf(1.6, n).clip(max=5000).astype(float)


def jester() -> Any:
    rng = np.random.default_rng(3)
    cells = rng.uniform(-10, 10, (60, 8)).round(2)
    return pa.table({"id": np.arange(60), **{f"j{j}": cells[:, j] for j in range(8)}})


QUIET: dict[str, Callable[[], Any]] = {
    "jester without 99": jester,
    "1 to 10 without 2": lambda: survey([1, *range(3, 11)]),
    "1 to 10 without 6": lambda: survey([*range(1, 6), *range(7, 11)]),
    "1 to 7 without 6": lambda: survey([*range(1, 6), 7]),
    "1 to 9": lambda: survey(range(1, 10)),
    "0 to 10 by twos": lambda: survey(range(0, 11, 2)),
    "a slider alone": lambda: survey(range(101)),
    "a slider by tens": lambda: survey(range(0, 101, 10)),
    "minus 3 to 3": lambda: survey(range(-3, 4)),
    "minus 5 to 5 without 0": lambda: survey([*range(-5, 0), *range(1, 6)]),
    "half stars": lambda: survey(np.arange(1, 11) / 2),
    "thumbs": lambda: survey([-1, 1]),
}


@pytest.mark.parametrize("name", QUIET)
def test_a_scale_raises_no_question(name: str) -> None:
    frame = QUIET[name]()
    assert notes_on(frame) == ()
    assert read_ratings(long_of(frame)).report.notes == ()


def test_counts_raise_no_question() -> None:
    rng = np.random.default_rng(8)
    heavy = [rng.zipf(1.6, n).astype(float) for n in rng.integers(30, 3000, 60)]
    for plays in (*map(counts_of, (50, 300, 5000)), *(each[each < 1e6] for each in heavy)):
        n = len(plays)
        frame = pa.table({"user": np.arange(n), "item": np.zeros(n, int), "plays": plays})
        notes = read_ratings(frame, rating_col="plays").report.notes
        assert all(said.startswith("these look like counts") for said in notes)


def test_movielens_raises_no_question() -> None:
    ratings = synthesize(n_users=200, n_items=100, rng=1)
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    frame = pa.table({"user": users, "item": ratings.columns, "rating": ratings.values()})
    assert read_ratings(frame).report.notes == ()


def crossing() -> Any:
    rng = np.random.default_rng(4)
    cells = np.where(rng.random((80, 12)) < 0.6, 0, rng.integers(1, 11, (80, 12)))
    return pa.table({"id": np.arange(80), **{f"q{j}": cells[:, j] for j in range(12)}})


def _gz(frame: Any, folder: Path) -> Path:
    rows = "".join("{user},{item},{rating}\n".format(**row) for row in frame.to_pylist())
    return write(folder / "r.csv.gz", gzip.compress(f"user,item,rating\n{rows}".encode()))


def _db(frame: Any, folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "r.db")) as db, db:
        db.execute("CREATE TABLE r (user, item, rating)")
        rows = [tuple(row.values()) for row in frame.to_pylist()]
        db.executemany("INSERT INTO r VALUES (?, ?, ?)", rows)
    return folder / "r.db"


def _pq(frame: Any, folder: Path) -> Path:
    pq.write_table(frame, folder / "r.parquet")
    return folder / "r.parquet"


@pytest.mark.parametrize("source", [_gz, _db, _pq])
def test_a_prevailing_zero_is_questioned(source: Callable[..., Path], tmp_path: Path) -> None:
    path = source(long_of(crossing()), tmp_path)
    (said,) = read_ratings(path).report.notes
    assert "of the ratings and may mean 'not rated': if so, add null_values=[0]" in said
    convert_to_shards(path, tmp_path / "shards", 2)
    assert read_ratings(tmp_path / "shards").report.notes == (said,)
    again = read_ratings(path, null_values=["0"])
    assert str(again.scale) == "1:10:1"


def test_zeros_that_prevail_in_a_filled_frame_are_questioned() -> None:
    rng = np.random.default_rng(5)
    cells = np.where(rng.random((50, 10)) < 0.7, 0, rng.choice([1, 1, 1, 2, 3], (50, 10)))
    full = pa.table({"id": np.arange(50), **{f"q{j}": cells[:, j] for j in range(10)}})
    assert "may mean 'not rated'" in notes_on(full)[0]
    frame = long_of(full)
    assert read_ratings(frame).report.notes == ()  # counts with zeros, in a long table


def test_zero_is_an_answer_where_others_are_as_frequent() -> None:
    assert notes_on(survey(range(11))) == ()
    assert notes_on(survey([0, 0, *range(11)])) == ()


def test_a_lone_value_far_from_a_scale_is_questioned() -> None:
    for value in (44, 55):
        rows = survey(range(1, 6)).to_pydict()
        rows["q1"][3] = float(value)
        frame = pa.table(rows)
        for notes in (notes_on(frame), read_ratings(long_of(frame)).report.notes):
            assert notes == (
                f"{value} may be a code for 'no answer': if so, add null_values=[{value}]",
            )


@pytest.mark.parametrize("top", [range(1, 6), np.arange(1, 11) / 2])
def test_a_rare_zero_is_noted_as_an_end_of_the_scale(top: Any, tmp_path: Path) -> None:
    frame = long_of(survey(top, [0], 0.006))
    n, zeros = len(frame), frame.column("rating").to_pylist().count(0)
    step = "1" if len(top) == 5 else "0.5"
    (said,) = read_ratings(frame).report.notes
    assert said == (
        f"0 is {100 * zeros / n:.1f}% of the ratings and an end of the inferred scale, 0:5:{step}: "
        "if it means 'not rated', add null_values=[0]"
    )
    convert_to_shards(_pq(frame, tmp_path), tmp_path / "shards", 2)
    assert read_ratings(tmp_path / "shards").report.notes == (said,)
    assert open_questions(read_ratings(frame)) == ()  # a project asks nothing
    assert read_ratings(frame, scale=f"0:5:{step}").report.notes == ()


def counted_plays(n: int = 400) -> Any:
    plays = np.floor(np.random.default_rng(3).lognormal(3.5, 1.8, n)) + 1
    return pa.table({"user": np.arange(n) // 10, "item": np.arange(n) % 10, "rating": plays})


def test_counts_are_noted(tmp_path: Path) -> None:
    frame = counted_plays()
    plays = frame.column("rating").to_numpy()
    half = np.sort(plays)[len(plays) // 2 - 1]
    (said,) = read_ratings(frame).report.notes
    assert said.startswith(
        f"these look like counts, not ratings on a scale: whole numbers up to {plays.max():.0f}, "
        f"half of them at most {half:.0f}. Bands, their logarithm, or 1 in every row are easier "
    )
    convert_to_shards(_pq(frame, tmp_path), tmp_path / "shards", 2)
    assert read_ratings(tmp_path / "shards").report.notes == (said,)
    assert open_questions(read_ratings(frame)) == ()
    assert read_ratings(frame, scale=f"1:{plays.max():.0f}").report.notes == ()


RNG = np.random.default_rng(4)
SCALES = {
    "stars": RNG.integers(1, 6, 400),
    "one to ten": RNG.integers(1, 11, 400),
    "slider": RNG.integers(0, 101, 400),
    "slider, mostly low": np.minimum(RNG.geometric(0.08, 400) - 1, 99).tolist() + [100] * 9,
    "jester": np.round(RNG.uniform(-10, 10, 400), 2),
    "few large levels": RNG.choice([1, 10, 100, 1000], 400),
    "exam points": RNG.integers(0, 801, 400),
}


@pytest.mark.parametrize("name", SCALES)
def test_scales_are_not_called_counts(name: str) -> None:
    values = np.asarray(SCALES[name], dtype=float)
    n = len(values)
    frame = pa.table({"user": np.arange(n) // 10, "item": np.arange(n) % 10, "rating": values})
    assert not [said for said in read_ratings(frame).report.notes if "counts" in said]


def test_a_row_that_sums_up_others_holds_no_codes() -> None:
    rows = survey(range(1, 6)).to_pydict()
    rows["id"] = [f"p{i}" for i in rows["id"]]
    for column, cells in rows.items():
        cells += ["Total"] if column == "id" else [100.0]
    for notes in (notes_on(pa.table(rows)), read_ratings(long_of(pa.table(rows))).report.notes):
        (said,) = notes
        assert "remove rows that summarize others" in said
    rows["q1"][3] = rows["q2"][5] = rows["q3"][7] = 99.0
    assert any("99 may be a code" in note for note in notes_on(pa.table(rows)))


def test_codes_of_one_digit_are_named_where_they_are_rare_or_frequent() -> None:
    for share in (0.015, 0.12):
        frame = survey(range(1, 6), [7, 8, 9], share)
        for notes in (notes_on(frame), read_ratings(long_of(frame)).report.notes):
            assert "7, 8 and 9 may be codes" in notes[0]


def test_a_level_beside_rare_ones_may_be_unused_by_chance() -> None:
    levels = np.array([1.0, 2, 3, 4, 5, 7, 8, 9])
    for often, marked in ((9, 0), (10, 3)):
        counts = np.array([20, 20, 20, 20, often, 5, 5, 5])
        assert np.count_nonzero(outlying(levels, counts)) == marked


LEVEL = st.one_of(
    st.integers(-12, 12),
    st.sampled_from([-9999, -99, -98, -8, 66, 77, 88, 95, 96, 99, 100, 888, 999, 9999]),
    st.integers(-4, 20).map(lambda half: half / 2),
    st.integers(-300, 300),
)


@settings(max_examples=400)
@given(counts=st.dictionaries(LEVEL, st.integers(0, 40), min_size=1, max_size=16))
def test_outlying_levels_are_those_found_one_by_one(counts) -> None:
    levels = sorted(map(float, counts))
    marked = outlying(np.array(levels), np.array([counts[level] for level in levels]))
    assert set(np.array(levels)[marked]) == naive.outlying(counts)


@settings(max_examples=300)
@given(
    low=st.integers(-5, 1),
    n_levels=st.integers(2, 12),
    codes=st.sets(
        st.sampled_from([-99, -8, -2, -1, 6, 7, 8, 9, 66, 77, 88, 97, 98, 99, 999, 5000]),
        min_size=1,
        max_size=7,
    ),
    data=st.data(),
)
def test_codes_above_and_below_a_scale_are_those_found_one_by_one(
    low, n_levels, codes, data
) -> None:
    body = range(low, low + n_levels)
    counts = {level: data.draw(st.integers(0, 60)) for level in body}
    counts |= {code: data.draw(st.integers(1, 20)) for code in codes}
    levels = sorted(counts)
    marked = outlying(np.array(levels, float), np.array([counts[level] for level in levels]))
    assert {level for level, is_one in zip(levels, marked, strict=True) if is_one} == (
        naive.outlying(counts)
    )
