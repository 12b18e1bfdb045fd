from __future__ import annotations

import io
import os
import socket
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

from starshade.errors import ConfigError, InputError, ReleaseError
from starshade.files.side import (
    ITEM_LIST,
    KEY_FILE,
    SIDE_TABLE,
    STORE_COLUMN,
    check_side,
    open_appending,
    open_side,
    read_side,
    read_side_text,
    read_stream,
)
from starshade.ratings.read import read_ratings

SMALL = replace(ITEM_LIST, most=4)


def test_a_regular_file_is_read_through_links_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    (tmp_path / "link").symlink_to("file")
    assert read_side(tmp_path / "link", ITEM_LIST).endswith(b"a\r\nb\rc\n")
    assert read_side_text(str(tmp_path / "link"), ITEM_LIST) == "a\nb\nc\n"
    with open_side(tmp_path / "file", ITEM_LIST) as file:
        assert file.read(3) == b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("pipe", "it is a pipe"),
        ("socket", "it is a socket"),
        ("folder", "it is a folder"),
        ("device", "it is a device"),
        ("nowhere", "No such file"),
        ("loop", "symbolic links"),
        ("n" * 10_000, "too long"),
        ("a\0b", "null byte"),
    ],
)
def test_anything_else_is_refused_before_it_is_opened(tmp_path: Path, what: str, said: str) -> None:
    with chdir(tmp_path):
        os.mkfifo("pipe")
        Path("folder").mkdir()
        Path("device").symlink_to("/dev/zero")
        Path("loop").symlink_to("loop")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
        for kind in (ITEM_LIST, KEY_FILE, SIDE_TABLE, STORE_COLUMN):
            with pytest.raises(kind.error, match=said) as caught:
                check_side(what, kind)
            assert caught.value.advice
            assert len(str(caught.value)) < 600


def test_a_file_is_read_up_to_the_size_of_its_kind(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"1234")
    assert read_side(place, SMALL) == b"1234"
    with place.open("wb") as file:
        file.truncate(10 * 2**30)
    for kind, error in ((SMALL, ConfigError), (KEY_FILE, ReleaseError), (SIDE_TABLE, InputError)):
        with pytest.raises(error, match=r"10,737,418,240 bytes; at most [\d,]+ bytes are read"):
            open_side(place, kind)


def test_a_file_that_grows_ends_at_that_size() -> None:
    with pytest.raises(ConfigError, match="more; at most 4 bytes"):
        read_stream(io.BytesIO(b"12345"), SMALL, "standard input")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_file_of_the_kernel_is_refused(tmp_path: Path) -> None:
    status = Path("/proc/self/status")  # as /proc/kmsg, whose readers wait: a file of size 0
    with pytest.raises(ConfigError, match="it is a file of the kernel"):
        read_side(status, SMALL)
    (tmp_path / "link.csv").symlink_to(status)
    with pytest.raises(InputError, match="is a file of the kernel"):
        read_ratings(tmp_path / "link.csv")
    with pytest.raises(InputError, match="is a file of the kernel"):
        read_ratings(tmp_path / "link.csv", format="movielens-100k")
    (tmp_path / "empty").touch()
    assert read_side(tmp_path / "empty", SMALL) == b""


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"ab\xff")
    with pytest.raises(ConfigError, match=r"items .*file': not UTF-8 \(byte 2\)"):
        read_side_text(tmp_path / "file", ITEM_LIST)


def test_only_a_regular_file_is_appended_to(tmp_path: Path) -> None:
    place = tmp_path / "log"
    for _ in range(2):
        with os.fdopen(open_appending(place), "a") as file:
            file.write("line\n")
    assert place.read_text() == "line\nline\n"
    os.mkfifo(tmp_path / "pipe")
    for other, said in ((tmp_path / "pipe", "is a pipe"), (Path("/dev/null"), "is a device")):
        with pytest.raises(OSError, match=said):
            open_appending(other)
