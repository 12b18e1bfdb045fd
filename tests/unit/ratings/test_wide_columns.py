"""Which columns of a wide table are items: those that most are like, or those that are named."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.errors import ConfigError, InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.formats.wide import unlike_most
from tests.naive import unlike as naive
from tests.unit.ratings.samples import write

N = 40


def answers(low: int, high: int, n_columns: int, n_rows: int = N) -> dict[str, list[int | None]]:
    """Answers from low to high, each used in every column; some are missing."""
    span = high - low + 1
    return {
        f"q{j}": [
            None if (i + j) % 11 == 5 else low + (i * (j + 2) + i // span + j) % span
            for i in range(n_rows)
        ]
        for j in range(n_columns)
    }


def read(columns: dict[str, list], **options):
    n_rows = len(next(iter(columns.values())))
    table = {"id": [f"p{i}" for i in range(n_rows)], **columns}
    return read_ratings(pa.table(table), wide=True, **options)


EVERY = range(N)
UNLIKE = {
    "Duration (in seconds)": [200 + 7 * i for i in EVERY],
    "how_long": [200 + 7 * i for i in EVERY],
    "north": [48.2] * N,
    "east": [2.31 + i / 1000 for i in EVERY],
    "how_old": [18 + i for i in EVERY],
    "slider": [(37 * i) % 101 for i in EVERY],
    "respondent number": list(EVERY),
    "how_far": [100] * N,
    "mean of the answers": [1 + (i % 13) / 3.1 for i in EVERY],
    "gender": [i % 2 + 1 for i in EVERY],  # by its name
    "Status": [0] * N,
    "age_group": [1 + i % 4 for i in EVERY],
    "region_code": [1 + i % 5 for i in EVERY],
    "wave": [1 + i % 2 for i in EVERY],
    "consent": [1] * N,
    "form_complete": [2] * N,
}


@pytest.mark.parametrize("name", UNLIKE)
@pytest.mark.parametrize(("low", "high"), [(1, 5), (1, 7)])
def test_a_column_unlike_most_is_no_item_until_somebody_says_so(name, low, high) -> None:
    items = answers(low, high, 6)
    table = {"q": items.pop("q0"), name: UNLIKE[name], **items}
    with pytest.raises(InputError, match="probably none") as caught:
        read(table)
    assert f": '{name}'\n" in str(caught.value)
    assert f'attribute_cols=["{name}"]' in caught.value.advice
    assert "item_cols=" in caught.value.advice
    assert read(table, attribute_cols=[name]).n_items == 6
    assert read(table, item_cols=list(table)).n_items == 7
    left = read(table, item_cols=["q*"])
    assert left.n_items == 6
    assert left.report.notes == (f"columns not read: '{name}'",)


LIKE = {
    "few distinct values": answers(1, 5, 6) | {"a": [3] * N, "b": [1, 5] * (N // 2)},
    "1 to 7 among 1 to 5": answers(1, 5, 6) | {"a": [1 + i % 7 for i in EVERY]},
    "0 to 10 among 1 to 5": answers(1, 5, 6) | {"a": [i % 11 for i in EVERY]},
    "half steps": answers(1, 5, 6) | {"a": [1 + (i % 9) / 2 for i in EVERY]},
    "a code": answers(1, 5, 6) | {"a": [99 if i % 2 else 4 for i in EVERY]},
    "one wrong answer": answers(1, 5, 6) | {"a": [55, *[3, 4] * (N // 2)][:N]},
    "nobody's": answers(1, 5, 6) | {"a": [None] * N},
    "only sliders": answers(0, 100, 5),
    "two columns": {"a": [1 + i % 5 for i in EVERY], "b": [18 + i for i in EVERY]},
    "no most": answers(1, 5, 3) | {f"b{j}": [100 * j + i for i in EVERY] for j in range(4, 7)},
}


@pytest.mark.parametrize("kind", LIKE)
def test_columns_alike_are_items(kind) -> None:
    assert read(LIKE[kind]).n_items == len(LIKE[kind]) - (kind == "nobody's")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_rows", [6, 30, 200])
def test_real_ratings_and_counts_are_no_question(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    jester = np.clip(rng.normal(rng.uniform(-8, 8, 15), 4, (n_rows, 15)).round(2), -10, 10)
    jester[rng.random(jester.shape) < 0.3] = np.nan
    assert not unlike_most(jester).any()
    jester[np.isnan(jester)] = 99
    assert not unlike_most(jester).any()
    plays = np.floor(rng.lognormal(rng.normal(1.5, 1.5, 12), 1.2, (n_rows, 12)))
    assert not unlike_most(plays).any()


@st.composite
def tables(draw: st.DrawFn) -> list[list[float | None]]:
    """Columns of a scale and of other ranges, some on a finer grid; eighths are exact."""
    n_rows = draw(st.integers(1, 12))
    top, half = draw(st.integers(1, 10)), draw(st.booleans())
    ranges = [(0, top)] * draw(st.integers(2, 6)) + draw(
        st.lists(
            st.tuples(st.integers(-60, 60), st.integers(0, 90)).map(lambda r: (r[0], sum(r))),
            max_size=5,
        )
    )
    step = 8 // draw(st.sampled_from([1, 1, 2, 8]))
    cells = [
        st.integers(8 * low // step, 8 * high // step).map(lambda n: n * step / 8)
        for low, high in ranges
    ]
    odd = st.sampled_from([None, 99.0, -1.0, 2.125] if half else [None])
    return [
        draw(st.lists(st.one_of(cell, cell, cell, odd), min_size=n_rows, max_size=n_rows))
        for cell in cells
    ]


@settings(max_examples=300)
@given(columns=tables())
def test_columns_unlike_most_are_those_found_cell_by_cell(columns) -> None:
    values = np.array(columns, dtype=float).T
    assert set(np.flatnonzero(unlike_most(values))) == naive.unlike_most(columns)


QUALTRICS = """\
ResponseId,Q1,Q2,Q3
Response ID,"How much?
Please say","Why, then?",Which?
"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}","{""ImportId"":""QID3""}"
R_a,1,2,3
R_b,5,,4
"""


def test_qualtrics_lines_below_the_header_are_passed_over(tmp_path) -> None:
    path = write(tmp_path / "x.csv", QUALTRICS)
    ratings = read_ratings(path, wide=True)
    assert (ratings.n_users, ratings.n_items, ratings.n_ratings) == (2, 3, 5)
    assert "2 rows below the header skipped" in ratings.report.notes[0]
    # later rows are named by their own lines
    write(path, QUALTRICS.replace("R_b,5,,4", "R_b,5,,9"))
    with pytest.raises(InputError, match="line 6, column 4: rating 9"):
        read_ratings(path, wide=True, scale="1:5:1")
    attributes = read_ratings(path, wide=True, attribute_cols=["Q3"]).attributes
    assert attributes.to_pydict() == {"Q3": [3.0, 9.0]}


def test_other_lines_below_the_header_are_named(tmp_path) -> None:
    text = "respondent_id,Questions,b,c\n,Speed,Price,Taste\n1,3,4,5\n2,5,1,\n"
    with pytest.raises(InputError, match=r"rows that contain words.*\n.*x\.csv, line 2\n"):
        read_ratings(write(tmp_path / "x.csv", text), wide=True)


def test_answers_in_words_are_no_attributes(tmp_path) -> None:
    words = ("agree", "disagree", "neutral")
    rows = [f"{i},{words[i % 3]},{words[i // 3 % 3]},comment {i}" for i in range(9)]
    path = write(tmp_path / "x.csv", "\n".join(["id,Q1,Q2,why", *rows]) + "\n")
    with pytest.raises(InputError, match=r"answers as text: 'Q1', 'Q2'\n.*numbers: 'why'") as it:
        read_ratings(path, wide=True)
    assert 'attribute_cols=["why"]' in it.value.advice
    assert "item_cols" not in it.value.advice
    assert "Q1" not in it.value.advice


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (("x", ""), "answers as text: 'Q1', 'Q2', 'Q3'"),
        (("Yes", "No"), r"(?s)answers as text: 'Q1', 'Q2', 'Q3'.*1 for yes, 0 for no"),
        (("4,5", "3,0"), "a decimal comma"),
        (("A1", "A2"), "answers as text"),
        (("1", "NA"), r"declare the value that means not rated \(null_values\)"),
    ],
)
def test_answers_that_are_no_numbers_are_never_attributes(tmp_path, cells, says: str) -> None:
    rows = [f"{i};{cells[i % 2]};{cells[i // 2 % 2]};{cells[i // 4 % 2]}" for i in range(8)]
    path = write(tmp_path / "x.csv", "\n".join(["id;Q1;Q2;Q3", *rows]) + "\n")
    with pytest.raises(InputError) as caught:
        read_ratings(path, wide=True)
    assert caught.match(says)
    assert "attribute_cols" not in str(caught.value)


def test_a_column_without_a_name_is_not_read(tmp_path) -> None:
    path = write(tmp_path / "x.csv", '"",a,b,c\n1,5,4,3\n2,4,,1\n')
    ratings = read_ratings(path, wide=True, id_col="#")
    assert ratings.n_items == 3
    assert ratings.report.notes == ("columns not read: one without a name",)


def test_a_row_of_means_is_noted(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "id,a,b,c\n1,5,4,3\n2,4,,1\nMean,4.5,4,2\n")
    assert (
        read_ratings(path, wide=True)
        .report.notes[0]
        .startswith("some respondent ids are words such as Total or Mean")
    )


def test_the_list_to_type_names_those_given_too() -> None:
    table = answers(1, 5, 6) | {"born": UNLIKE["how_long"], "town": ["Rome"] * N}
    with pytest.raises(InputError) as caught:
        read(table, attribute_cols=["town"])
    assert 'attribute_cols=["born", "town"]' in caught.value.advice


def test_words_in_a_column_that_is_no_item_are_no_wrong_ratings() -> None:
    table = answers(1, 5, 6) | {"age": ["*", *map(str, range(19, 18 + N))]}
    with pytest.raises(InputError, match="'age'") as caught:
        read(table)
    assert "is not a number" not in str(caught.value)
    assert "null_values" not in str(caught.value)


def test_named_items() -> None:
    table = answers(1, 5, 3) | {"q[1]": [1] * N}
    assert list(read(table, item_cols=["Q0", "q2"]).items) == ["q0", "q2"]
    assert list(read(table, item_cols=["q[1]"]).items) == ["q[1]"]
    assert list(read(table, item_cols=["*"], attribute_cols=["q1"]).items) == ["q0", "q2", "q[1]"]
    with pytest.raises(InputError, match=r"no column 'x\*' for the items \(item_cols\)"):
        read(table, item_cols=["x*"])
    with pytest.raises(ConfigError, match="'q1' cannot be both an item and the id or an attribute"):
        read(table, item_cols=["q1"], attribute_cols=["q1"])
    long = pa.table({"user": [1], "item": [1], "rating": [1]})
    with pytest.raises(ConfigError, match="apply to wide tables only"):
        read_ratings(long, item_cols=["a"])


REDCAP = "record_id,q1,q2,q3\n" + "".join(
    f"{i},{i % 5 + 1},{i * 3 % 5 + 1},{i * 2 % 4 + 1}\n" for i in range(1, 40)
)


def test_ids_that_programs_write_are_known(tmp_path) -> None:
    for name in ("record_id", "CASEID", "Study ID", "RespNo"):
        path = write(tmp_path / "x.csv", REDCAP.replace("record_id", name))
        assert read_ratings(path, wide=True).n_items == 3


IDS = {
    "record_id": EVERY,
    "CaseId": [(37 * i) % 1000 for i in EVERY],
    "Serial No.": [f"S{i}" for i in EVERY],
    "nothing known": range(1, N + 1),
    "with gaps": range(5, 3 * N + 5, 3),
    "in any order": [(17 * i) % N + 1 for i in EVERY],
}


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("top", [5, 100])
def test_ids_are_no_item_where_the_rows_are_numbered(name: str, top: int) -> None:
    items = {f"s{j}": [(7 * i * (j + 3) + j) % (top + 1) for i in EVERY] for j in range(6)}
    table = pa.table({name: list(IDS[name]), **items})
    with pytest.raises(InputError, match="probably none") as caught:
        read_ratings(table, wide=True, id_col="#")
    assert f"or because their values number the rows: '{name}'" in caught.value.message
    assert f'id_col="{name}"' in caught.value.advice
    assert "attribute_cols" not in caught.value.advice
    assert read_ratings(table, wide=True, id_col=name).n_items == 6
    assert read_ratings(table, wide=True, id_col="#", attribute_cols=[name]).n_items == 6
    assert read_ratings(table, wide=True, id_col="#", item_cols=["s*"]).n_items == 6


def test_the_advice_offers_a_column_like_an_id_first(tmp_path) -> None:
    path = write(tmp_path / "x.csv", REDCAP.replace("record_id", "plot_no"))
    with pytest.raises(InputError, match="no column is recognised as the respondent id") as caught:
        read_ratings(path, wide=True)
    assert caught.value.advice == (
        'If a column contains the respondents\' ids, name it: id_col="plot_no". To number the '
        'respondents, give id_col="#".'
    )


def test_answers_with_a_name_like_an_id_are_items() -> None:
    table = pa.table(answers(1, 5, 4) | {"yes or no": [1 + i % 2 for i in EVERY]})
    assert read_ratings(table, wide=True, id_col="#").n_items == 5


@pytest.mark.parametrize("index", ["user", "who", "level"])
def test_the_index_of_a_frame_is_no_item(index: str, tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(answers(1, 5, 4))
    frame.index = pandas.Index([i % 2 + 10 * i for i in EVERY], name=index)
    frame.to_parquet(tmp_path / "x.parquet")
    for source in (frame, tmp_path / "x.parquet"):
        numbered = read_ratings(source, wide=True, id_col="#")
        assert list(numbered.items) == ["q0", "q1", "q2", "q3"]
        assert numbered.report.notes == (f"columns not read: '{index}'",)
        by_index = read_ratings(source, wide=True)
        assert list(by_index.items) == ["q0", "q1", "q2", "q3"]
        assert by_index.users[1] == "11"


def test_columns_found_by_their_values_alone_are_not_advised_with_those_found_by_name() -> None:
    table = answers(1, 5, 6) | {
        "IPAddress": ["127.0.0.1"] * N,
        "Q2_1": [(37 * i) % 101 for i in EVERY],
        "Age": [18 + i for i in EVERY],
    }
    with pytest.raises(InputError) as caught:
        read(table)
    assert "\n  by their names: 'Age'\n  with values outside the range of most columns: 'Q2_1'" in (
        caught.value.message
    )
    assert caught.value.advice == (
        'If these describe the respondents: attribute_cols=["IPAddress", "Age"]. If \'Q2_1\' '
        'describe them too, add them. If not, name all items: item_cols=["A", "B"].'
    )


MONKEY = (
    "Respondent ID,Start,Rate these:,,,Age?\n,,Speed,Price,Taste,Open\n1,x,4,5,3,31\n2,y,3,4,4,28\n"
)


@pytest.mark.parametrize("text", [MONKEY, MONKEY.replace(",,,Age?", ",,More:,Age?")])
def test_names_in_the_second_line_are_recognised(text: str, tmp_path) -> None:
    with pytest.raises(InputError, match="their names are in line 2, as SurveyMonkey") as caught:
        read_ratings(write(tmp_path / "x.csv", text), wide=True)
    assert caught.value.advice == "Move these names to line 1, and remove line 2."


@pytest.mark.parametrize("first", ["anna", "1"])
def test_a_column_of_ids_without_a_name_is_no_second_header(first: str, tmp_path) -> None:
    path = write(tmp_path / "x.csv", f",a,b\n{first},1,2\nx2,3,4\n3,4,5\n")
    assert read_ratings(path, wide=True, id_col="#").n_items == 2


def test_columns_with_one_value_are_named() -> None:
    said = "columns with one value in all rows: 'agreed'. If these describe the respondents: "
    table = answers(1, 5, 4) | {"agreed": [1] * N}
    ratings = read(table)
    assert ratings.n_items == 5
    assert ratings.report.notes == (f'{said}attribute_cols=["agreed"]',)
    for quiet in (answers(1, 5, 4), {"a": [1] * N, "b": [1] * N}):
        assert read(quiet).report.notes == ()
    assert read(table, item_cols=["q*", "agreed"]).report.notes == ()
