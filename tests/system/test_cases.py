"""Inputs with the trouble of public reports: read as expected, or refused with the reason.

Each is read as it stands, gzipped, as Parquet and from SQLite, in Python and as a command.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade.cli.options.spelling import as_option, words_of
from starshade.errors import UserError
from starshade.plain import join_list
from starshade.ratings.read import read_ratings
from starshade.ratings.settings import ReadingSettings
from starshade.setting import setting_of, settings_of
from tests.system.conftest import call, told

CASES = Path(os.environ.get("STARSHADE_CASES", Path(__file__).parents[3] / "shared" / "cases"))
WIDE: Mapping[str, Any] = {"wide": True}


@dataclass(frozen=True)
class Case:
    """A file and how it is read.

    `shape`: users, items, ratings and scale; None: it is refused. `says`: what stands in the notes,
    or in the reason. `tables`: whether its rows may as well be Parquet and SQLite.
    """

    path: str
    says: str = ""
    shape: tuple[int, int, int, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tables: bool = True


def read(path: str, shape: tuple[int, int, int, str], says: str = "", **options: Any) -> Case:
    return Case(path, says, shape, options)


def refused(path: str, says: str, *, tables: bool = False, **options: Any) -> Case:
    return Case(path, says, None, options, tables)


FULL = (60, 20, 646, "1:5:1")
QUALTRICS = WIDE | {"id_col": "ResponseId", "null_values": ["-99"]}
ABOUT = ["StartDate", "EndDate", "Status", "IPAddress", "Progress"]
KUAIREC = {"user_col": "user_id", "item_col": "video_id", "rating_col": "watch_ratio"}
JESTER = WIDE | {"header": False, "id_col": "#", "attribute_cols": ["1"]}
TOKENS = ("\\N", "NULL", "NaN", "NA", "None", "n/a", "-", "")

TABLE = [
    refused("01-header-trailing-comma/ratings.csv", "The header has one field more"),
    refused("01-header-trailing-comma/shifted.csv", "one field more than the header"),
    read("01-header-trailing-comma/trailing_both.csv", FULL, "one without a name"),
    read("02-amazon2023-ms-negative/good.csv", FULL),
    refused("02-amazon2023-ms-negative/ratings.csv", "line 8: date '-1262304000000'"),
    read(
        "02-amazon2023-ms-negative/ratings.csv",
        FULL,
        "2 rows without a date",
        null_values=["-62135596800", "-1262304000000"],
    ),
    refused("02-amazon2023-ms-negative/mixed_s_ms.csv", "of another form than the first one"),
    refused("03-amazon2023-jsonl/Beauty.jsonl", "this is JSON"),
    refused("03-amazon2023-jsonl/Beauty.jsonl.gz", "this is JSON"),
    refused("03-amazon2023-jsonl/Beauty_5.json.gz", "this is JSON"),
    refused("03-amazon2023-jsonl/array.json", "this is JSON"),
    refused("03-amazon2023-jsonl/yelp_academic_dataset_review.json", "this is JSON"),
    refused("04-kuairec-duplicates/big_matrix.csv", "may be the date", tables=True, **KUAIREC),
    read(
        "04-kuairec-duplicates/big_matrix.csv",
        (60, 20, 646, "0.2:1.74:0.01"),
        **KUAIREC,
        day_col="time",
        on_duplicate="last",
    ),
    refused(
        "05-qualtrics-three-headers/survey.csv", "'LocationLatitude'", tables=True, **QUALTRICS
    ),
    read(
        "05-qualtrics-three-headers/survey.csv",
        (60, 10, 482, "1:7:1"),
        "2 rows below the header skipped",
        **QUALTRICS,
        item_cols=["Q1_*"],
    ),
    refused(
        "05-qualtrics-three-headers/survey_one_header.csv",
        "'StartDate,EndDate,Status,IPAddress,Progress,Duration (in seconds),LocationLatitude,"
        "Q2_TEXT'",
        tables=True,
        **QUALTRICS,
    ),
    refused(
        "05-qualtrics-three-headers/survey_one_header.csv",
        "'Duration (in seconds)', 'LocationLatitude'",
        tables=True,
        **QUALTRICS,
        attribute_cols=[*ABOUT, "Q2_TEXT"],
    ),
    read(
        "05-qualtrics-three-headers/survey_one_header.csv",
        (60, 10, 482, "1:7:1"),
        **QUALTRICS,
        attribute_cols=[*ABOUT, "Duration (in seconds)", "LocationLatitude", "Q2_TEXT"],
    ),
    refused(
        "05-qualtrics-three-headers/labels_oneheader.csv",
        "answers as text: 'Q1_1', 'Q1_2'",
        tables=True,
        **QUALTRICS,
    ),
    read("07-anime-minus-one/rating.csv", (80, 20, 844, "-1:10:1"), "-1 may be a code"),
    read("07-anime-minus-one/rating.csv", (80, 20, 673, "1:10:1"), null_values=["-1"]),
    read("08-bookcrossing-zero/BX-Book-Ratings.csv", (80, 20, 844, "0:10:1"), "0 is 64 %"),
    read("08-bookcrossing-zero/BX-Book-Ratings.csv", (80, 20, 302, "1:10:1"), null_values=["0"]),
    refused("08-bookcrossing-zero/BX-Books.csv", "no column is recognised as the user, the rating"),
    refused(
        "08-bookcrossing-zero/BX-Book-Ratings.csv",
        "not UTF-8",
        users=str(CASES / "08-bookcrossing-zero" / "BX-Users.csv"),
    ),
    refused(
        "09-lastfm360k-plays/usersha1-artmbid-artname-plays.tsv", "the columns of user, item and"
    ),
    read(
        "09-lastfm360k-plays/user_artists.dat",
        (60, 20, 646, "1:9286"),
        "these look like counts, not ratings on a scale: whole numbers up to 9286",
        rating_col="weight",
    ),
    read("10-unary-no-rating/purchases_ones.csv", (60, 20, 646, "1:1:1"), rating_col="bought"),
    read("10-unary-no-rating/ones_rating.tsv", (60, 20, 646, "1:1:1"), "no header"),
    refused("10-unary-no-rating/purchases.csv", "column that is 1 in every row", tables=True),
    refused("10-unary-no-rating/bool.csv", "1 for true", tables=True),
    refused("10-unary-no-rating/thumbs.csv", "0 for false, no or dislike", tables=True),
    refused("11-rerating-latest-not-last-row/ratings.csv", "(the latest date", tables=True),
    read("11-rerating-latest-not-last-row/ratings.csv", FULL, on_duplicate="last"),
    refused("14-day-first-dates/ambiguous.csv", "date '01/01/2021'", tables=True),
    read("14-day-first-dates/ambiguous.csv", FULL, dates=False),
    refused("14-day-first-dates/dayfirst.csv", "dates that cannot be read", tables=True),
    refused("14-day-first-dates/oracle_ddmonrr.csv", "date '01-JAN-20'", tables=True),
    read("14-day-first-dates/oracle.csv", FULL),
    refused("14-day-first-dates/some_empty.csv", "date '0000-00-00'", tables=True),
    read(
        "14-day-first-dates/some_empty.csv",
        FULL,
        "143 rows without a date",
        null_values=["0000-00-00"],
    ),
    read("14-day-first-dates/goodreads_string.csv", FULL, "'date_added'"),
    refused("15-decimal-comma/ratings.csv", "Replace the comma by a point", tables=True),
    refused("15-decimal-comma/bewertungen.csv", "no column is recognised as the user", tables=True),
    refused(
        "15-decimal-comma/bewertungen.csv",
        "a decimal comma",
        tables=True,
        user_col="Benutzer",
        rating_col="Bewertung",
        dates=False,
    ),
    read("16-leading-zeros-ids/music.csv", (60, 40, 646, "1:5:1")),
    refused("18-cat-with-headers/cat.csv", "line 302: rating 'rating' is not a number"),
    refused("18-cat-with-headers/total.csv", "line 648: no item id"),
    read("18-cat-with-headers/unnamed.csv", FULL, "one without a name"),
    read("18-cat-with-headers/unnamed0.csv", FULL, "'Unnamed: 0'"),
    *(
        case
        for n, token in enumerate(TOKENS)
        for case in (
            refused(
                f"19-null-tokens/tok{n}.csv", "declare the value that means not rated", tables=True
            ),
            read(
                f"19-null-tokens/tok{n}.csv",
                (60, 20, 596, "1:5:1"),
                "50 rows not rated",
                null_values=[token],
            ),
        )
    ),
    read("23-whitespace-aligned/aligned.txt", FULL, "taken as user, item, rating"),
    read("23-whitespace-aligned/ratings_data.txt", FULL, "taken as user, item, rating"),
    read("23-whitespace-aligned/aligned.txt", FULL, delimiter=" "),
    read("24-utf16-excel/unicode.txt", FULL),
    refused("24-utf16-excel/sep.csv", "a separator line for Excel"),
    refused("24-utf16-excel/latin1.csv", "not UTF-8"),
    refused("24-utf16-excel/cp1252.csv", "not UTF-8"),
    *(
        case
        for name, found, codes, shape in (
            ("ess_77_88_99", "0:99:1", ["77", "88", "99"], (80, 12, 845, "0:10:1")),
            ("ess_88_99_only", "0:99:1", ["88", "99"], (80, 12, 844, "0:10:1")),
            ("wvs_neg", "-5:10:1", ["-5", "-4", "-2", "-1"], (80, 12, 849, "1:10:1")),
            ("wvs_only_m1", "-1:10:1", ["-1"], (80, 12, 850, "1:10:1")),
        )
        for case in (
            read(
                f"25-survey-missing-codes/{name}.csv",
                (80, 12, 960, found),
                "null_values=[" + ", ".join(codes) + "]",
                **WIDE,
            ),
            read(f"25-survey-missing-codes/{name}.csv", shape, **WIDE, null_values=codes),
        )
    ),
    read("26-jester-99/jester-data-1.csv", (80, 15, 1200, "-10:99"), "99 may be a code", **JESTER),
    read("26-jester-99/jester-data-1.csv", (80, 15, 822, "-10:9.99"), **JESTER, null_values=["99"]),
    *(
        refused(f"27-other-file-formats/ratings.{ending}", f"this is {what}")
        for ending, what in (
            ("xlsx", "a workbook"),
            ("xls", "an Excel workbook"),
            ("sav", "an SPSS file"),
            ("dta", "a Stata file"),
            ("pkl", "a Python pickle"),
            ("feather", "an Arrow"),
            ("orc", "an ORC file"),
            ("npz", "a NumPy archive"),
            ("mtx", "a Matrix Market file"),
            ("mat", "a MATLAB file"),
        )
    ),
    Case("28-null-ratings-parquet-sqlite/ratings.parquet", "93 rows", (60, 20, 553, "1:5:1")),
    Case("28-null-ratings-parquet-sqlite/r.db", "93 rows", (60, 20, 553, "1:5:1")),
    *(
        read(path, (40, 3, 120, "1:5:1"), **WIDE, attribute_cols=["age", "city"])
        for path in (
            "29-attribute-hierarchies/float_ages.csv",
            "29-attribute-hierarchies/starred.csv",
            "36-init-then-run/people.csv",
        )
    ),
    refused("29-attribute-hierarchies/age.csv", "no column is recognised", **WIDE),
    refused("36-init-then-run/people.csv", "'age,city'", tables=True, **WIDE),
    read("30-ten-rows-eleven-columns/small.csv", (10, 11, 110, "1:5:1"), **WIDE),
    read("36-init-then-run/wide.csv", (80, 12, 960, "0:99:1"), "88 and 99 may be codes", **WIDE),
    read("37-users-csv-beside/mine.csv", (60, 20, 800, "1:5:1")),
    read("37-users-csv-beside/other.csv", FULL, "'Unnamed: 0'"),
    refused(
        "37-users-csv-beside/other.csv",
        "none of its users is in the ratings",
        users=str(CASES / "37-users-csv-beside" / "users.csv"),
    ),
    Case("37-users-csv-beside/p.parquet", "", (60, 20, 553, "1:5:1")),
]


@pytest.fixture(autouse=True)
def _cases() -> None:
    if not CASES.is_dir():
        pytest.skip("no cases of odd inputs; set STARSHADE_CASES to their folder")


def in_python(source: Path, case: Case) -> str:
    """Read, compare, and return the notes or the reason."""
    if case.shape is None:
        with pytest.raises(UserError) as caught:
            read_ratings(source, **case.options)
        return str(caught.value)
    ratings = read_ratings(source, **case.options)
    scale = str(ratings.scale)
    assert (ratings.n_users, ratings.n_items, ratings.n_ratings, scale) == case.shape
    return "\n".join(ratings.report.notes)


def options_of(case: Case) -> list[str]:
    words: list[str] = []
    for name, value in case.options.items():
        if isinstance(value, bool):
            words.append(as_option(name, value))
        else:
            listed = setting_of(ReadingSettings, name).commas
            words += words_of(as_option(name), join_list(value) if listed else value)
    return words


NAMES = re.compile(
    r"\b(" + "|".join(s.name for s in settings_of(ReadingSettings) if "_" in s.name) + r")\b"
)
OPTIONS = re.compile(r"(?<![\w-])--[a-z]")


def plainly(text: str) -> str:
    """Return a text as both doors have it: without the names of settings, quotes and breaks."""
    return re.sub(r"\W+", "", NAMES.sub("", re.sub(r"--[a-z-]+|null_values", "", text)))


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.path}-{len(case.options)}")
def test_a_case_as_it_stands(case: Case) -> None:
    file = CASES / case.path
    said = in_python(file, case)
    assert plainly(case.says) in plainly(said)
    assert not OPTIONS.search(said)
    if case.shape is not None:
        found = told("data", "describe", file, *options_of(case))
        assert (found["users"], found["items"], found["ratings"]) == case.shape[:3]
    result = call("data", "describe", file, *options_of(case))
    assert result.exit_code == (2 if case.shape is None else 0), result.stderr
    shown = result.stderr + result.stdout
    assert plainly(case.says) in plainly(shown)
    assert "Traceback" not in shown
    assert not NAMES.search(shown.replace(str(CASES), ""))


def rows_of(file: Path) -> list[list[str]]:
    """Split a text of rows into fields, by the delimiter it has."""
    raw = file.read_bytes()
    text = raw.decode("utf-16" if raw[:2] == b"\xff\xfe" else "utf-8-sig")
    mark = next(mark for mark in ("\t", ";", ",") if mark in text.split("\n", 1)[0])
    rows = list(csv.reader(text.splitlines(keepends=True), delimiter=mark))
    if not rows[0][0].isdigit():
        return rows
    return [[str(place) for place in range(1, len(rows[0]) + 1)], *rows]  # no header


def typed(column: Sequence[str]) -> list[Any]:
    """Return whole numbers, numbers or texts; nothing where a number is missing."""
    if not any(len(text) > 1 and text[0] == "0" and text[1] != "." for text in column):
        for kind in (int, float):
            with contextlib.suppress(ValueError):
                return [kind(text) if text else None for text in column]
    return list(column)


TEXTS = [
    case
    for case in TABLE
    if case.tables
    and case.path.endswith((".csv", ".dat"))
    and case.options.get("header") is None
    and "trailing" not in case.path
]


# what is refused of a text may be a number, or missing, where columns have types
FORMS = ("gzip", "parquet", "sqlite", "typed parquet")
FORMED = [(case, form) for case in TEXTS for form in FORMS[: 3 + (case.shape is not None)]]


@pytest.mark.parametrize(
    ("case", "form"), FORMED, ids=lambda of: of if isinstance(of, str) else of.path
)
def test_a_case_in_another_form(case: Case, form: str, tmp_path: Path) -> None:
    file = CASES / case.path
    if form == "gzip":
        source = tmp_path / f"{file.name}.gz"
        source.write_bytes(gzip.compress(file.read_bytes()))
    else:
        names, *rows = rows_of(file)
        source = tmp_path / f"table.{form.split()[-1]}"
        if form.endswith("parquet"):
            as_type = typed if form.startswith("typed") else list
            columns = [pa.array(as_type(column)) for column in zip(*rows, strict=True)]
            pq.write_table(pa.table(columns, names), source)
        else:
            with closing(sqlite3.connect(source)) as database, database:
                listed = ", ".join(f'"{name}"' for name in names)
                marks = ", ".join("?" * len(names))
                database.execute(f"CREATE TABLE ratings ({listed})")
                database.executemany(f"INSERT INTO ratings VALUES ({marks})", rows)
    said = in_python(source, case)
    by_line = re.sub(r"line \d+: ", "", case.says)  # there are only rows
    assert plainly(case.says if form == "gzip" else by_line) in plainly(said)


def test_the_later_rating_counts() -> None:
    file = CASES / "11-rerating-latest-not-last-row" / "ratings.csv"
    with file.open() as handle:
        rows = list(csv.DictReader(handle))
    latest = {}
    for row in sorted(rows, key=lambda row: int(row["timestamp"])):
        latest[row["userId"], row["movieId"]] = float(row["rating"])
    frame = read_ratings(file, on_duplicate="last").to_pandas()
    keys = zip(frame.user.astype(str), frame.item.astype(str), strict=True)
    assert dict(zip(keys, frame.rating, strict=True)) == latest


@pytest.mark.parametrize(
    ("path", "options", "question", "answer", "plan"),
    [
        (
            "36-init-then-run/wide.csv",
            ("--wide",),
            "88 and 99 may be codes",
            '["88", "99"]',
            "80 people, 12 items",
        ),
        ("07-anime-minus-one/rating.csv", (), "-1 may be a code", '["-1"]', "80 people"),
        ("37-users-csv-beside/mine.csv", (), "", "", "60 people"),
        ("37-users-csv-beside/other.csv", (), "", "", "60 people"),
        ("37-users-csv-beside/p.parquet", (), "", "", "60 people"),
    ],
)
def test_a_project_is_begun_and_its_run_planned(
    path: str,
    options: tuple[str, ...],
    question: str,
    answer: str,
    plan: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    begun = call("init", CASES / path, *options, "--yes")
    assert begun.exit_code == 0, begun.stderr
    ignored = "users.csv does not match these ratings and is ignored" in begun.stderr
    assert ignored == path.endswith(("other.csv", "p.parquet"))
    checked = told("check-config")
    assert checked["problems"] == []
    assert [question in each for each in checked["questions"]] == [True] * bool(question)
    planned = call("run", "--dry-run")
    assert planned.exit_code == (2 if question else 0)
    assert question in planned.stderr
    if question:
        file = tmp_path / "starshade.toml"
        file.write_text(file.read_text().replace("[data]\n", f"[data]\nnull-values = {answer}\n"))
        planned = call("run", "--dry-run")
    assert planned.exit_code == 0, planned.stderr
    assert plan in planned.stdout
