import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget, progress
from starshade.kernels.text import plain as kernel
from starshade.ratings.readers.formats import plain
from starshade.ratings.readers.formats.plain import NotPlain, plain_batches
from tests.naive import plain as naive

FOUR = {"columns": (0, 1, 2, 3), "n_columns": 4}


def rows_of(paths, **dialect):
    """All rows that are read, and whether the end was reached."""
    rows = []
    try:
        for batch in plain_batches(paths, **dialect):
            assert batch.first_row == len(rows)
            days = [None] * len(batch) if batch.days is None else batch.days.tolist()
            rows += zip(
                batch.users.tolist(), batch.items.tolist(), batch.ratings.tolist(), days,
                strict=True,
            )  # fmt: skip
    except NotPlain as stop:
        return rows[: stop.row], False
    return rows, True


def read(tmp_path, text, *, delimiter=",", header=False, **columns):
    file = tmp_path / "ratings.txt"
    file.write_bytes(text)
    return rows_of([file], delimiter=delimiter, header=header, **(columns or FOUR))


def same(a, b):
    """Equal, with NaN never and −0.0 told from 0.0."""
    return a == b and [math.copysign(1, r[2]) for r in a] == [math.copysign(1, r[2]) for r in b]


IDS = st.sampled_from(
    [
        "0",
        "1",
        "42",
        "007",
        "-1",
        "+1",
        "1.0",
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775808",
        "٣",
        "",
        " 1",
        "1 ",
        '"1"',
        "1e3",
        "18446744073709551617",
    ]
)
NUMBERS = st.one_of(
    st.sampled_from(
        [
            "0",
            "5",
            "-5",
            "3.5",
            "-0",
            "-0.0",
            ".5",
            "5.",
            ".",
            "-",
            "-.",
            "1e5",
            "nan",
            "inf",
            "1_0",
            "+3",
            "0x1",
            "4,5",
            "1.2.3",
            "--1",
            "05",
            "٣.٥",
            "",
            " 3",
            "3 ",
            "0.1",
            "123456789012345",
            "1234567890123456",
            "0.00000000000001",
        ]
    ),
    st.decimals(-10, 10, places=3, allow_nan=False).map(str),
    st.floats(-100, 100).map(repr),
    st.integers(0, 10**15).map(lambda n: f"{n}"[:-4] + "." + f"{n:05}"[-4:]),
)
DATES = st.one_of(
    st.integers(0, 2 * 10**9).map(str),
    st.dates().map(str),
    st.sampled_from(
        [
            "99999999999",
            "100000000000",
            "-1",
            "2000-02-30",
            "1900-02-29",
            "0000-01-01",
            "2000-13-01",
        ]
    ),
    st.sampled_from(["", "2000-1-1", "2000-01-011", "20000101", "2000/01/01", "1.5"]),
)
TITLES = st.sampled_from(["", "Heat (1995)", "Amélie", 'The "Best"', "a b", "x\ry", ":", "1"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\r\r\n", ""])


@st.composite
def files(draw):
    """Text of a few lines, all plain but for one field that may be anything."""
    delimiter = draw(st.sampled_from([",", "\t", ";", "|", "::", " "]))
    iso = draw(st.booleans())
    places = draw(st.permutations(range(5)))
    dates = st.dates().map(str) if iso else st.integers(0, 10**10).map(str)
    tame = [
        st.integers(0, 10**18 - 1).map(str),
        st.integers(0, 10**6).map(str),
        st.decimals(-10, 10, places=2).map(str),
        dates,
        st.sampled_from(["", "Amélie", "a_b"]),
    ]
    roles = draw(st.lists(st.tuples(*tame).map(list), min_size=1, max_size=6))
    odd = draw(st.integers(0, 4))
    draw(st.sampled_from(roles))[odd] = draw([IDS, IDS, NUMBERS, DATES, TITLES][odd])
    lines = [delimiter.join(row[places.index(c)] for c in range(5)) for row in roles]
    return delimiter, places, "".join(line + draw(ENDS) for line in lines).encode()


@given(files(), st.booleans())
def test_it_does_what_the_slow_twin_does(tmp_path, file, dated):
    delimiter, places, text = file
    columns = (*places[:3], places[3] if dated else None)
    found, complete = read(tmp_path, text, delimiter=delimiter, columns=columns, n_columns=5)
    body = text if text.endswith(b"\n") else text + b"\n"
    first = next((line for line in body.split(b"\n") if line.strip()), b"").rstrip(b"\r")
    fields = first.split(delimiter.encode())
    iso = dated and len(fields) > places[3] and bool(naive.DATE.fullmatch(fields[places[3]]))
    expected = naive.parse(body, delimiter.encode(), columns, 5, iso=iso)
    assert complete == expected[1]
    assert same(found, expected[0])


@given(NUMBERS)
def test_a_rating_is_what_float_says(text):
    body = f"1,1,{text}\n".encode()
    lines = kernel.parse_lines(
        np.frombuffer(body, np.uint8), b",", np.array([kernel.USER, kernel.ITEM, kernel.RATING])
    )
    if lines.plain:
        (found,) = lines.ratings.tolist()
        assert (found, math.copysign(1, found)) == (float(text), math.copysign(1, float(text)))
    else:
        assert not len(lines.users)


def test_every_day_of_the_calendar(tmp_path):
    days = np.arange("0001-01-01", "9999-12-31", 97, dtype="datetime64[D]")
    leap = np.array(["2000-02-29", "1904-02-29", "1970-01-01", "9999-12-31"], "datetime64[D]")
    days = np.concatenate([days, leap])
    found, complete = read(tmp_path, "".join(f"1,1,1,{day}\n" for day in days).encode())
    assert complete
    assert [row[3] for row in found] == days.astype(np.int64).tolist()


@pytest.mark.parametrize("small", [16, 1 << 20])
def test_blocks_are_joined_in_order(tmp_path, monkeypatch, small):
    monkeypatch.setattr(plain, "_BLOCK", 64)
    monkeypatch.setattr(plain, "_SMALL", small)
    lines = [f"{n},{n % 7},{n % 5 + 1},{n * 1000}" for n in range(500)]
    for end in ("\n", "\r\n"):
        for last in ("", end):
            for threads in (1, 2, 3):
                with budget.limits(threads=threads):
                    found, complete = read(tmp_path, (end.join(lines) + last).encode())
                assert complete
                assert [row[0] for row in found] == list(range(500))


def test_files_follow_one_another_each_with_its_header(tmp_path):
    (tmp_path / "a").write_text("user,item,rating\n1,2,3\n4,5,6")
    (tmp_path / "b").write_text('"user","item",rating\r\n7,8,9\r\n')
    (tmp_path / "empty").write_text("user,item,rating")
    found, complete = rows_of(
        [tmp_path / "a", tmp_path / "empty", tmp_path / "b"],
        delimiter=",",
        header=True,
        columns=(0, 1, 2, None),
        n_columns=3,
    )
    assert complete
    assert found == [(1, 2, 3.0, None), (4, 5, 6.0, None), (7, 8, 9.0, None)]


@pytest.mark.parametrize(
    "text",
    [
        b'"user\nname",item,rating,when\n1,2,3,4\n',  # a header that goes on
        b"u,i,r,t\n" + b"1" * (3 << 20) + b",2,3,4\n",  # no line of a table
        b"u,i,r,t\n1,2,3\n",
        b"u,i,r,t\n1,2,3,4,5\n",
        b"u,i,r,t\n1,2,3,4\r1,2,3,4\n",
        b"u,i,r,t\n1,2,3,4\n   \n",
        b"u,i,r,t\n1,2,\xef\xbb\xbf3,4\n",
        "u,i,r,t\n1,2,3,4\n".encode("utf-16"),
    ],
)
def test_what_is_not_plain_is_left_to_the_general_reader(tmp_path, text):
    assert read(tmp_path, text, header=True, **FOUR)[1] is False


def test_a_quote_in_a_field_that_nobody_asked_for_is_not_plain(tmp_path):
    skipping = {"columns": (0, 2, 3, 4), "n_columns": 5}
    assert read(tmp_path, b"1,a,2,3,0\n1,b,2,3,0\n", **skipping)[1] is True
    assert read(tmp_path, b'1,a,2,3,0\n1,"b",2,3,0\n', **skipping)[1] is False


def test_dates_that_change_their_style_are_not_plain(tmp_path):
    assert read(tmp_path, b"1,1,1,2000-01-01\n1,2,1,86400\n") == ([(1, 1, 1.0, 10_957)], False)
    assert read(tmp_path, b"1,1,1,86400\n1,2,1,2000-01-01\n") == ([(1, 1, 1.0, 1)], False)


def test_blank_lines_are_passed_over_and_said(tmp_path):
    class Watcher:
        def __init__(self):
            self.notes = []

        def note(self, message):
            self.notes.append(message)

    watcher = Watcher()
    with progress.watch(watcher):
        found, complete = read(tmp_path, b"\n1,1,1,0\n\n\r\n2,1,1,0\n\n")
    assert complete
    assert len(found) == 2
    assert "4 blank lines skipped" in watcher.notes


def test_work_is_taken_a_few_tasks_ahead_and_kept_in_order():
    taken = []
    tasks = (taken.append(n) or n for n in range(100))
    with budget.limits(threads=2):
        results = plain.in_order(lambda n: n * n, tasks)
        assert [next(results) for _ in range(10)] == [n * n for n in range(10)]
        assert len(taken) <= 13
        assert list(results) == [n * n for n in range(10, 100)]


def test_an_empty_file_has_no_rows(tmp_path):
    assert read(tmp_path, b"") == ([], True)


def test_nothing_is_read_after_the_consumer_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "_BLOCK", 64)
    (tmp_path / "a").write_text("1,2,3,4\n" * 10_000)
    batches = plain_batches([tmp_path / "a"], delimiter=",", header=False, **FOUR)
    assert len(next(batches)) == 8
    batches.close()


@pytest.mark.real
def test_movielens_100k(ml100k_dir):
    (batch,) = plain_batches([ml100k_dir / "u.data"], delimiter="\t", header=False, **FOUR)
    expected = np.loadtxt(ml100k_dir / "u.data", dtype=np.int64)
    found = np.stack([batch.users, batch.items, batch.ratings.astype(np.int64), batch.days], 1)
    assert np.array_equal(found[:, :3], expected[:, :3])
    assert np.array_equal(found[:, 3], expected[:, 3] // 86_400)
