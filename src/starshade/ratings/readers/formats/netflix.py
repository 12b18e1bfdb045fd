"""The Netflix Prize as it was handed out: ``mv_*.txt``, in a folder or tar, or combined files.

Small files are gathered to blocks of some megabytes, which are parsed on all threads. A block may
begin in the middle of a movie; its first rows get their movie when the block before is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from starshade.errors import InputError
from starshade.kernels.text import netflix as kernel
from starshade.kernels.warm import announce
from starshade.ratings.readers.beside import attach_names
from starshade.ratings.readers.formats.netflix_files import movie_titles, rating_files, whole
from starshade.ratings.readers.formats.plain import UNREADABLE, in_order, line_blocks
from starshade.ratings.readers.open import Request
from starshade.ratings.staging import Batch
from starshade.ratings.table import ReadReport

_BLOCK = 1 << 24
_NAMED = 5
_HEAD = re.compile(rb"\s*\d+:\r?\n")
_FORM = "expected a line `movie:`, then lines `user,rating,YYYY-MM-DD`"


def read_netflix(path: Path, request: Request, make: Callable[..., Any]) -> Any:
    """Read the Netflix Prize's training set, or any part of it.

    `path`: a folder of ``mv_*.txt`` or of ``combined_data_*.txt`` (or with ``training_set``, a
    folder or tar, in it), one of those files, or a tar of them, compressed or not. A
    ``movie_titles.txt`` beside them names the items. `make` makes the table, as `build` does.
    """
    report = ReadReport(
        source=str(path),
        format="netflix",
        mapping={"user": "customer", "item": "movie", "rating": "rating", "day": "date"},
    )
    ratings = make(
        netflix_batches(path, dates=request.dates),
        scale=request.scale,
        on_duplicate=request.on_duplicate,
        locate=partial(locate_netflix, path),
        report=report,
        show_values=request.show_values,
    )
    titles = movie_titles(path)
    return attach_names(ratings, titles) if titles else ratings


def netflix_batches(path: Path, *, dates: bool = True) -> Iterator[Batch]:
    """Yield the rows of all files, movie by movie."""
    announce("the Netflix reader", kernel._parse)
    movie, row, wrong = -1, 0, 0
    named: list[str] = []
    with closing(in_order(_parse, _blocks(path))) as parsed:
        for block, lines in parsed:
            lines.movies[: lines.headless] = movie
            if lines.last_movie >= 0:
                movie = lines.last_movie
            wrong += lines.wrong
            places = lines.wrong_at[: _NAMED - len(named)].tolist()
            named += [f"  {_line_at(path, block, place)}" for place in places]
            if len(lines.users):
                days = lines.days if dates else None
                yield Batch(lines.users, lines.movies, lines.ratings, days, row)
            row += len(lines.users)
    if not row and not wrong:
        raise InputError(
            f"{path}: it contains no ratings", advice="Check that its files are complete."
        )
    if wrong:
        more = [f"  … {wrong:,} lines in all"] if wrong > len(named) else []
        raise InputError(
            "\n".join([f"lines of another form ({_FORM})", *named, *more]),
            advice="Correct or remove those lines.",
        )


def locate_netflix(path: Path, row: int) -> str:
    """Name file and line of a row of `netflix_batches`, by reading it all again."""
    for block, lines in map(_parse, _blocks(path)):
        if row < len(lines.users):
            place = 0
            for line in bytes(block.text).splitlines(keepends=True):
                if line.strip() and not line.strip().endswith(b":"):
                    row -= 1
                if row < 0:
                    break
                place += len(line)
            return _line_at(path, block, place)
        row -= len(lines.users)
    return f"{path}, after its last line"


class _Piece(NamedTuple):
    """Where a part of a file lies in a block, and where in the file."""

    place: int
    shown: str
    position: int


class _Block(NamedTuple):
    """Whole lines of one or more files."""

    text: bytes | memoryview
    pieces: tuple[_Piece, ...]


def _parse(block: _Block) -> tuple[_Block, kernel.Parsed]:
    return block, kernel.parse(np.frombuffer(block.text, dtype=np.uint8))


def _blocks(path: Path) -> Iterator[_Block]:
    texts: list[memoryview] = []
    pieces: list[_Piece] = []
    size = 0
    with whole(path):
        for shown, file in rating_files(path):
            for position, text in _texts(shown, file):
                pieces.append(_Piece(size, shown, position))
                texts.append(text)
                size += len(text)
                if size >= _BLOCK:
                    yield _Block(texts[0] if len(texts) == 1 else b"".join(texts), tuple(pieces))
                    texts, pieces, size = [], [], 0
    yield _Block(b"".join(texts), tuple(pieces))


def _texts(shown: str, file: BinaryIO) -> Iterator[tuple[int, memoryview]]:
    """Yield whole lines of a file, with their place in it; the first must be a movie."""
    position = 0
    for text in line_blocks(file):
        if text is UNREADABLE:
            raise InputError(f"{shown}: a line of more than 1 MB ({_FORM})")
        if position == 0 and not _HEAD.match(text):
            break
        yield position, text
        position += len(text)
    if position == 0:
        raise InputError(
            f"{shown}, line 1: the movie's id is missing ({_FORM})",
            advice="Check that the file is complete.",
        )


def _line_at(path: Path, block: _Block, place: int) -> str:
    piece = [piece for piece in block.pieces if piece.place <= place][-1]
    left = piece.position + place - piece.place
    line = 1
    with whole(path):
        for shown, file in rating_files(path):
            if shown == piece.shown:
                while text := file.read(min(left, _BLOCK)):
                    line += text.count(b"\n")
                    left -= len(text)
                break
    return f"{piece.shown}, line {line}"
