from __future__ import annotations

import pyarrow as pa
import pytest

from starshade.errors import ConfigError, InputError
from starshade.ratings.read import read_ratings
from tests.unit.ratings.samples import values, write

SURVEY = "Respondent ID,10,9,Age,Zip\nanna,4,99,30,02139\nberta, ,3.0,,10115\ncarl,99.0,99,41,\n"


def survey(tmp_path, text: str = SURVEY, **options):
    path = write(tmp_path / "survey.csv", text)
    options = {"wide": True, "attribute_cols": ["Age", "zip"], "null_values": ["99"]} | options
    return read_ratings(path, **options)


def test_blanks_and_declared_values_are_null(tmp_path) -> None:
    ratings = survey(tmp_path)
    assert values(ratings) == {("anna", "10"): 4.0, ("berta", "9"): 3.0}
    assert list(ratings.items) == ["9", "10"]


def test_attributes_are_typed_and_keep_leading_zeros(tmp_path) -> None:
    assert survey(tmp_path).attributes.to_pydict() == {
        "Age": [30.0, None],
        "Zip": ["02139", "10115"],
    }


def test_who_rated_nothing_is_dropped_and_counted(tmp_path) -> None:
    report = survey(tmp_path).report
    assert report.dropped_users == 1
    assert "1 respondent without a rating left out" in report.notes


def test_items_that_nobody_rated_are_left_out_and_counted(tmp_path) -> None:
    ratings = survey(tmp_path, SURVEY.replace("3.0", ""), attribute_cols=["Age", "Zip"])
    assert list(ratings.items) == ["10"]
    assert ratings.report.dropped_items == 1
    assert ratings.report.dropped_users == 2


def test_frames_and_parquet_types() -> None:
    frame = pa.table({"user": [1, 2], "a": pa.array([1.5, None]), "b": [2, 99], "c": [None, None]})
    ratings = read_ratings(frame, wide=True, null_values=[99])
    assert values(ratings) == {("1", "a"): 1.5, ("1", "b"): 2.0}


def test_respondents_can_be_numbered(tmp_path) -> None:
    ratings = survey(tmp_path, "a,b\n1,2\n3,\n", id_col="#", attribute_cols=[])
    assert values(ratings) == {("1", "a"): 1.0, ("1", "b"): 2.0, ("2", "a"): 3.0}


def test_a_table_without_a_header_is_addressed_by_number(tmp_path) -> None:
    text = "7,1,2\n8,99,3\n"
    ratings = survey(tmp_path, text, header=False, id_col="1", attribute_cols=[])
    assert values(ratings) == {("7", "2"): 1.0, ("7", "3"): 2.0, ("8", "3"): 3.0}


def test_only_one_item(tmp_path) -> None:
    ratings = survey(tmp_path, "id,Star Wars (1977)\na,4\nb,5\n", attribute_cols=[])
    assert list(ratings.items) == ["Star Wars (1977)"]


NO_ATTRIBUTES = {"attribute_cols": []}
DAMAGED = [
    ("nr,a\n1,4\n", NO_ATTRIBUTES, ["no column is recognised as the respondent id", 'id_col="#"']),
    (SURVEY, {"id_col": "who"}, ["no column 'who' for the respondent id", "it has 5 columns"]),
    (SURVEY, {"attribute_cols": ["Height"]}, ["no column 'Height'"]),
    (SURVEY.replace("berta", "anna"), {}, ["respondents with more than one row", "line 3: again"]),
    (SURVEY.replace("berta", ""), {}, ["without respondent id", "line 3"]),
    (SURVEY.replace("3.0", "good"), {}, ["line 3, column 3: rating 'good'"]),
    (SURVEY.replace("3.0", "7"), {"scale": "1:5:1"}, ["off the scale", "column 3: rating 7"]),
    (SURVEY.replace(",9,", ",10,"), {}, ["'10' occur more than once"]),
    ("id,a\nx,\n", NO_ATTRIBUTES, ["survey.csv: it contains no ratings"]),
    (SURVEY, NO_ATTRIBUTES, ["probably none", "'Age', 'Zip'", 'attribute_cols=["Age", "Zip"]']),
    # items that are given are taken for items, and their values for ratings
    (
        SURVEY,
        NO_ATTRIBUTES | {"scale": "1:5:1", "item_cols": ["9", "10", "Age"]},
        ["off the scale", "column 4: rating 30"],
    ),
]


@pytest.mark.parametrize(("text", "options", "parts"), DAMAGED)
def test_damaged(tmp_path, text: str, options, parts) -> None:
    with pytest.raises(InputError) as caught:
        survey(tmp_path, text, **options)
    for part in parts:
        assert part in str(caught.value)
    assert "anna" not in str(caught.value)


def test_the_first_five_are_those_further_up_whatever_the_column(tmp_path) -> None:
    rows = "".join(f"u{i},{'x' if i < 2 else 1},{'y' if i < 5 else 1}\n" for i in range(9))
    with pytest.raises(InputError) as caught:
        survey(tmp_path, "id,a,b\n" + rows, attribute_cols=[])
    lines = [line.strip().split("survey.csv, ")[1] for line in str(caught.value).split("\n")[1:6]]
    assert lines == [
        "line 2, column 2: rating 'x' is not a number",
        "line 2, column 3: rating 'y' is not a number",
        "line 3, column 2: rating 'x' is not a number",
        "line 3, column 3: rating 'y' is not a number",
        "line 4, column 3: rating 'y' is not a number",
    ]
    assert "7 cells in all" in str(caught.value)


def test_one_column_cannot_be_two_things(tmp_path) -> None:
    with pytest.raises(ConfigError, match="both id and attribute"):
        survey(tmp_path, attribute_cols=["Respondent ID"])
    with pytest.raises(ConfigError, match="no column is left"):
        survey(tmp_path, "id,Age,Zip\n1,2,3\n")
    with pytest.raises(ConfigError, match="not both"):
        survey(tmp_path, users=write(tmp_path / "people.csv", "user,x\nanna,1\n"))


def test_a_damaged_cell_far_down_is_named_by_its_line(tmp_path) -> None:
    rows = "".join(f"u{i},{'' if i % 3 else 4},5\n" for i in range(2000))
    text = "id,a,b\n" + rows + "late,4,9\n"
    with pytest.raises(InputError, match="line 2002, column 3: rating 9"):
        survey(tmp_path, text, attribute_cols=[], scale="1:5:1")


def test_declared_nulls_are_counted(tmp_path) -> None:
    text = "id,a,b\n1,99,4\n2,5,99\n3,99.0,\n"
    ratings = survey(tmp_path, text, **NO_ATTRIBUTES, null_values=["99"])
    assert "3 cells with 99 counted as not rated" in ratings.report.notes


@pytest.mark.parametrize(
    ("cells", "code"),
    [("1 5 99", "99"), ("0 5 -1", "-1"), ("1 2 999", "999"), ("1 5 60 99", ""), ("-1 0 1", "")],
)
def test_codes_for_no_answer_are_pointed_out(tmp_path, cells: str, code: str) -> None:
    text = "id,a\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells.split()))
    said = f"{code} may be a code for 'no answer': if so, add null_values=[{code}]"
    plain = NO_ATTRIBUTES | {"null_values": []}
    assert survey(tmp_path, text, **plain).report.notes == ((said,) if code else ())
    declared = survey(tmp_path, text, **plain, scale="-1:999")
    assert declared.report.notes == ()


def test_a_code_is_pointed_out_beside_an_attribute_that_was_not_declared(tmp_path) -> None:
    rows = [(1, 900, 5, 99, 4), (2, 3000, 99, 1, 2), (3, 50, 1, 99, 3)]
    text = "id,Income,a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    plain = NO_ATTRIBUTES | {"null_values": [], "item_cols": ["Income", "a", "b", "c"]}
    (said,) = survey(tmp_path, text, **plain).report.notes
    assert said.startswith("99 may be a code for 'no answer'")
    # counts may be far apart: where most items with it have more or as much, it is a count
    counts = text.replace("5,99,4", "80,99,4").replace("99,1,2", "99,70,2")
    assert survey(tmp_path, counts, **plain).report.notes == ()


def test_a_column_of_words_is_named_with_the_way_out(tmp_path) -> None:
    with pytest.raises(InputError, match=r'attribute_cols=\["Sex", "City"\]'):
        survey(tmp_path, "id,Sex,City,a\n1,m,Rome,4\n2,f,Bonn,x\n3,f,Bonn,5\n", **NO_ATTRIBUTES)
    frame = pa.table({"id": [1], "Member": [True], "a": [4]})
    with pytest.raises(InputError, match="without numbers: 'Member'") as caught:
        read_ratings(frame, wide=True)
    assert 'attribute_cols=["Member"]' in str(caught.value)
    nested = frame.append_column("list", pa.array([[1]]))
    with pytest.raises(InputError, match="column 'list': ratings of type list"):
        read_ratings(nested, wide=True, attribute_cols=["Member"])


def test_a_wide_table_that_nobody_called_wide(tmp_path) -> None:
    path = write(tmp_path / "x.csv", "ID;Q1;Q2;Q3;Q4\n1;5;4;3;2\n")
    with pytest.raises(
        InputError,
        match=r"wide=True, id_col=NAME; add attribute_cols=\[NAME, NAME\] only if",
    ) as caught:
        read_ratings(path)
    assert "recognised as the user, the item, the rating; the columns are 'ID', 'Q1'" in str(
        caught.value
    )
    bare = write(tmp_path / "y.csv", "1;5;4;3;2\n2;5;4;3;2\n")
    with pytest.raises(InputError, match=r'wide=True, header=False, id_col="#".*ids: id_col=1\.'):
        read_ratings(bare)
    assert list(read_ratings(bare, wide=True, header=False, id_col="1").items) == list("2345")
