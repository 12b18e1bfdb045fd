import io
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import InputError
from starshade.kernels.text import netflix as kernel
from starshade.ratings.build import build
from starshade.ratings.readers.formats import netflix
from starshade.ratings.readers.formats.netflix import locate_netflix, netflix_batches, read_netflix
from starshade.ratings.readers.open import Request
from starshade.ratings.scale import Scale
from tests.naive import netflix as naive

MOVIES = {
    1: "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n",
    2: "2:\r\n822109,4,2005-09-05\r\n7,1,1999-12-31",
    10: "10:\n7,2,2000-02-29\n\n1488844,1,2005-01-01\n",
}
ROWS = [
    (1488844, 1, 3.0, "2005-09-06"),
    (822109, 1, 5.0, "2005-05-13"),
    (822109, 2, 4.0, "2005-09-05"),
    (7, 2, 1.0, "1999-12-31"),
    (7, 10, 2.0, "2000-02-29"),
    (1488844, 10, 1.0, "2005-01-01"),
]


def folder_of(tmp_path, movies=MOVIES):
    folder = tmp_path / "training_set"
    folder.mkdir()
    for movie, text in movies.items():
        (folder / f"mv_{movie:07}.txt").write_text(text, newline="")
    return folder


def combined_of(tmp_path):
    folder = tmp_path / "combined"
    folder.mkdir()
    (folder / "combined_data_1.txt").write_text(MOVIES[1] + MOVIES[2], newline="")
    (folder / "combined_data_2.txt").write_text(MOVIES[10], newline="")
    return folder


def tar_of(folder, file, mode="w"):
    with tarfile.open(file, mode) as archive:
        archive.add(folder, arcname="training_set")
    return file


def nested_of(folder, file):
    """As it was handed out: a tar.gz with training_set.tar and other files in it."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        for entry in sorted(folder.iterdir()):
            archive.add(entry, arcname=f"training_set/{entry.name}")
    with tarfile.open(file, "w:gz") as archive:
        for name, content in (("README", b"read me"), ("training_set.tar", inner.getvalue())):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def rows_of(path):
    rows = []
    for batch in netflix_batches(path):
        assert batch.first_row == len(rows)
        days = [str(np.datetime64(int(day), "D")) for day in batch.days]
        rows += zip(
            batch.users.tolist(), batch.items.tolist(), batch.ratings.tolist(), days, strict=True
        )
    return rows


FORMS = ["folder", "parent", "combined", "tar", "tar.gz", "tar.xz", "nested"]


def form(tmp_path, name):
    if name == "combined":
        return combined_of(tmp_path)
    folder = folder_of(tmp_path)
    if name in ("folder", "parent"):
        return folder if name == "folder" else tmp_path
    if name == "nested":
        return nested_of(folder, tmp_path / "nf_prize_dataset.tar.gz")
    modes = {"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz"}
    return tar_of(folder, tmp_path / f"set.{name}", modes[name])


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("block", [16, 60, 1 << 24])
def test_every_form_gives_the_same_rows(tmp_path, monkeypatch, name, block):
    monkeypatch.setattr(netflix, "_BLOCK", block)
    monkeypatch.setattr("starshade.ratings.readers.formats.plain._BLOCK", block)
    path = form(tmp_path, name)
    for threads in (1, 3):
        with budget.limits(threads=threads):
            assert sorted(rows_of(path)) == sorted(ROWS)


def test_one_file_alone(tmp_path):
    assert rows_of(folder_of(tmp_path) / "mv_0000002.txt") == ROWS[2:4]


@pytest.mark.parametrize("name", FORMS)
def test_rows_are_located_by_file_and_line(tmp_path, monkeypatch, name):
    monkeypatch.setattr(netflix, "_BLOCK", 60)
    monkeypatch.setattr("starshade.ratings.readers.formats.plain._BLOCK", 60)
    path = form(tmp_path, name)
    lines = {
        "1488844,1,2005-01-01": ("mv_0000010.txt, line 4", "combined_data_2.txt, line 4"),
        "7,1,1999-12-31": ("mv_0000002.txt, line 3", "combined_data_1.txt, line 6"),
    }
    for r, row in enumerate(rows_of(path)):
        text = f"{row[0]},{row[2]:g},{row[3]}"
        if text in lines:
            assert locate_netflix(path, r).endswith(lines[text])


def test_the_table(tmp_path):
    (tmp_path / "training_set.tar").write_bytes(
        tar_of(folder_of(tmp_path), tmp_path / "x").read_bytes()
    )
    folder = tmp_path / "training_set"
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    (tmp_path / "x").unlink()
    (tmp_path / "movie_titles.txt").write_bytes(b"1,2003,Dinosaur Planet\n2,NULL,Am\xe9lie, 2\n")
    table = read_netflix(tmp_path, Request(), build)
    assert table.scale == Scale(1, 5, 1)
    assert list(table.users) == ["7", "822109", "1488844"]
    assert table.item_names == ("Dinosaur Planet", "Amélie, 2", "10")
    assert table.report.format == "netflix"
    assert table.has_days
    assert not read_netflix(tmp_path, Request(dates=False), build).has_days


FIELD = st.sampled_from(
    ["1", "42", "007", "", "x", "5", "3.5", "-1", "2000-01-01", "2000-13-01", "1:", "9" * 19, '"1"']
)
LINE = st.one_of(
    st.just("1,5,2000-01-01"),
    st.integers(0, 99).map(lambda n: f"{n}:"),
    st.lists(FIELD, max_size=4).map(",".join),
    st.lists(FIELD, max_size=4).map(",".join).map(lambda s: s + ":"),
)


@given(st.lists(st.tuples(LINE, st.sampled_from(["\n", "\n", "\r\n", "\r\r\n"])), max_size=12))
def test_lines_are_parsed_as_the_slow_twin_does(lines):
    text = "".join(a + b for a, b in lines).encode() + b"\n"
    found = kernel.parse(np.frombuffer(text, np.uint8))
    rows, wrong = naive.parse(text)
    columns = found.users, found.movies, found.ratings, found.days
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == rows
    assert found.wrong == len(wrong)
    assert found.wrong_at.tolist() == wrong[:5]
    assert found.headless == sum(row[1] == -1 for row in rows)


def refused(path):
    with pytest.raises(InputError) as caught:
        rows_of(path)
    return str(caught.value)


def test_lines_of_another_form_are_named_and_counted(tmp_path):
    bad = "1:\n7,1,2000-01-01\n" + "seven,1,2000-01-01\n" * 7 + "8,1,2000-02-30\n"
    message = refused(folder_of(tmp_path, {1: bad, 2: "2:\n9,9\n"}))
    assert "mv_0000001.txt, line 3\n" in message
    assert "mv_0000001.txt, line 7\n" in message
    assert "line 8" not in message
    assert "… 9 lines in all" in message
    assert "seven" not in message


@pytest.mark.parametrize("text", ["7,1,2000-01-01\n", "", "x:\n7,1,2000-01-01\n"])
def test_a_file_that_begins_without_a_movie_is_refused(tmp_path, text):
    folder = folder_of(tmp_path, {1: MOVIES[1], 2: text})
    assert "mv_0000002.txt, line 1: the movie's id is missing" in refused(folder)


def test_two_kinds_in_one_folder_are_refused(tmp_path):
    folder = folder_of(tmp_path)
    (folder / "combined_data_1.txt").write_text(MOVIES[1])
    assert "which contain the same ratings" in refused(folder)


def test_no_ratings_at_all_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "no mv_*.txt" in refused(tmp_path / "empty")
    assert "no mv_*.txt" in refused(tar_of(tmp_path / "empty", tmp_path / "a.tar"))


@pytest.mark.parametrize("name", ["tar", "tar.gz", "tar.xz", "nested"])
def test_an_archive_cut_anywhere_is_refused(tmp_path, name):
    whole = form(tmp_path, name)
    content = whole.read_bytes()
    # the zeros at the end of a tar are many; those that matter are the first 512
    meaningful = len(content.rstrip(b"\0")) if name == "tar" else len(content)
    cut = tmp_path / f"cut.{name}"
    for size in {0, 1, 100, *range(512, meaningful, 512), meaningful - 1}:
        cut.write_bytes(content[:size])
        message = refused(cut)
        assert "Traceback" not in message


def test_a_damaged_gzip_is_refused(tmp_path):
    whole = tar_of(folder_of(tmp_path), tmp_path / "set.tar.gz", "w:gz")
    content = bytearray(whole.read_bytes())
    content[-6] ^= 1  # its own checksum
    whole.write_bytes(content)
    assert "damaged" in refused(whole)


def test_a_line_without_end_is_refused(tmp_path):
    folder = folder_of(tmp_path, {1: "1:\n"})
    (folder / "mv_0000001.txt").write_bytes(b"1:\n" + b"1" * (20 << 20))
    assert "more than 1 MB" in refused(folder)
