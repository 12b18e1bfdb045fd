"""The fast path for plain delimited text with integer ids.

Blocks of whole lines are parsed on all threads and handed on in file order. The first line that
is not plain (see `kernels.text.plain`) ends it with `NotPlain`: nothing is guessed, and the caller
starts again from the first row with the general reader, which takes anything and explains what
it cannot take.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np

from starshade import budget
from starshade.kernels.text import plain
from starshade.kernels.warm import announce
from starshade.progress import note
from starshade.ratings.staging import Batch

UNREADABLE = memoryview(b'"\n')  # a block that no fast parser takes

_LF = 10
_BLOCK = 1 << 24  # bytes parsed at once
_SMALL = 1 << 20  # a file below is read whole
_LONGEST_LINE = 1 << 20
_MOST_THREADS = 8  # more would only hold more blocks in memory: parsing is not the bottleneck
_ISO_DATE = re.compile(rb"\d{4}-\d{2}-\d{2}")

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class NotPlain(Exception):  # noqa: N818 - a turn of the road, not a fault
    """Row number `row` (from 0, over all files) cannot be read by the fast path."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} is not plain")
        self.row = row


def plain_batches(
    paths: Sequence[Path],
    *,
    delimiter: str,
    header: bool,
    columns: tuple[int, int, int, int | None],
    n_columns: int,
) -> Iterator[Batch]:
    """Read rows of user, item, rating and perhaps a date from plain text files.

    `paths`: read one after the other; rows are numbered over all. `delimiter`: one ASCII character,
    or two equal ones (``::``). `header`: whether the first line of each file is passed over.
    `columns`: positions (from 0) of user, item, rating and date; no date: None. `n_columns`: fields
    of every line; those not asked for may hold any text without quotes. Yields: int64 ids;
    days None without a date column. Dates are seconds since 1970, or YYYY-MM-DD if the first row
    has one.
    """
    announce("the fast text reader", plain._parse_lines)
    blocks = _blocks_of(paths, header)
    first = next(blocks, memoryview(b""))
    mark = delimiter.encode()
    kinds = np.full(n_columns, plain.SKIP)
    kinds[list(columns[:3])] = plain.USER, plain.ITEM, plain.RATING
    if columns[3] is not None:
        iso = _has_iso_date(first, mark, columns[3])
        kinds[columns[3]] = plain.ISO_DATE if iso else plain.SECONDS
    row = blanks = 0

    def parse(block: memoryview) -> plain.Lines:
        return plain.parse_lines(np.frombuffer(block, dtype=np.uint8), mark, kinds)

    with closing(in_order(parse, chain([first], blocks))) as parsed:
        for lines in parsed:
            if len(lines.users):
                days = None if columns[3] is None else lines.days
                yield Batch(lines.users, lines.items, lines.ratings, days, row)
            row += len(lines.users)
            blanks += lines.blanks
            if not lines.plain:
                raise NotPlain(row)
    if blanks:
        note(f"{blanks:,} blank lines skipped")


def in_order(
    work: Callable[[_Task], _Result], tasks: Iterable[_Task]
) -> Generator[_Result, None, None]:
    """Do `work` on every task, a few at a time on threads; yield the results in order."""
    threads = min(budget.threads(), _MOST_THREADS)
    waiting: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def line_blocks(file: BinaryIO) -> Iterator[memoryview]:
    """Cut the rest of a file into blocks of whole lines, each ended by a line feed.

    A line of more than a megabyte is no row of a table: it comes as `UNREADABLE`.
    """
    head = file.read(min(_SMALL, _BLOCK))
    if len(head) < min(_SMALL, _BLOCK):  # thousands of small files take no large buffers
        if head:
            yield memoryview(head if head.endswith(b"\n") else head + b"\n")
        return
    while True:
        # one buffer for the block and the rest of its last line: no byte is copied twice
        block = np.empty(_BLOCK + _LONGEST_LINE + 1, dtype=np.uint8).data
        block[: len(head)] = head
        size = len(head) + file.readinto(block[len(head) : _BLOCK])  # type: ignore[attr-defined]
        head = b""
        if not size:
            return
        if block[size - 1] != _LF:
            rest = file.readline(_LONGEST_LINE)
            block[size : size + len(rest)] = rest
            size += len(rest)
        if block[size - 1] != _LF:
            if file.read(1):
                yield UNREADABLE
                return
            block[size] = _LF
            size += 1
        yield block[:size]


def _blocks_of(paths: Sequence[Path], header: bool) -> Iterator[memoryview]:
    for path in paths:
        with open(path, "rb") as file:
            if header and file.readline(_LONGEST_LINE).count(b'"') % 2:
                yield UNREADABLE  # the header goes on behind a line break
                return
            yield from line_blocks(file)


def _has_iso_date(block: memoryview, delimiter: bytes, place: int) -> bool:
    for line in BytesIO(block[:_LONGEST_LINE]):
        if line.strip():
            fields = line.rstrip(b"\r\n").split(delimiter)
            return place < len(fields) and bool(_ISO_DATE.fullmatch(fields[place]))
    return False
