"""What the verifier carries from one block of rows to the next, and what it counts at a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from starshade.errors import ReleaseError
from starshade.ratings.scale import Scale
from starshade.release.folder.digest import ratings_digest
from starshade.release.verify import records as verify_records
from starshade.release.verify import rows as verify_rows
from starshade.release.verify.rows import Failed
from starshade.release.verify.truth import check_rare
from starshade.release.verify.verify import verify_folder
from tests.strategies import table
from tests.unit.release.changes import k_eps, released
from tests.unit.release.damage import change, permute, say

STARS = Scale(1, 5, 1)
#: five classes, of 2, 1, 3, 1 and 2 records; ascending by content as a release has them
ROWS = [
    *[{1: 2}] * 2,
    {0: 1},
    *[{0: 2, 1: 1}] * 3,
    {0: 4, 1: 3},
    *[{0: 5, 1: 1}] * 2,
]
CLASSES = [0, 0, 1, 2, 2, 2, 3, 4, 4]
BLOCKS = [1, 2, 3, 5, 1000]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    released(table(ROWS, STARS), claims=(k_eps(1, 1),)).save(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture(params=BLOCKS)
def rows_at_once(request: pytest.FixtureRequest) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_rows, "_BATCH", request.param)
        yield request.param


@pytest.fixture(params=BLOCKS)
def records_at_once(request: pytest.FixtureRequest) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_records, "_BLOCK", 2 * request.param)  # two items
        yield request.param


def test_the_rows_are_as_this_file_says(saved: Path) -> None:
    told = pq.ParquetFile(saved / "records.parquet").read()
    assert told.column("group").to_pylist() == CLASSES


def test_what_is_whole_passes_however_it_is_cut(
    saved: Path, rows_at_once: int, records_at_once: int
) -> None:
    assert verify_folder(saved)["classes"] == 5


def test_any_two_rows_that_change_places_are_found(saved: Path, rows_at_once: int) -> None:
    whole = (saved / "cells.parquet").read_bytes()
    n = sum(map(len, ROWS))
    for i in range(n - 1):
        order = [*range(i), i + 1, i, *range(i + 2, n)]
        change(saved, "cells.parquet", lambda c, order=order: permute(c, order))
        with pytest.raises(ReleaseError, match="cell order"):
            verify_folder(saved)
        (saved / "cells.parquet").write_bytes(whole)


def test_any_row_that_stands_twice_is_found(saved: Path, rows_at_once: int) -> None:
    whole = (saved / "cells.parquet").read_bytes()
    n = sum(map(len, ROWS))
    for i in range(n):
        order = [*range(i + 1), i, *range(i + 1, n)]
        change(saved, "cells.parquet", lambda c, order=order: permute(c, order))
        with pytest.raises(ReleaseError, match="cell order"):
            verify_folder(saved)
        (saved / "cells.parquet").write_bytes(whole)


def number(folder: Path, classes: list[int], rows: list[dict[int, int]]) -> None:
    """Write other classes and contents, a class for each record."""

    def cells(columns: dict[str, list[Any]]) -> None:
        placed = [(r, i, v) for r, row in enumerate(rows) for i, v in sorted(row.items())]
        columns["record"] = [r for r, _, _ in placed]
        columns["group"] = [classes[r] for r, _, _ in placed]
        columns["item"] = [str(i + 1) for _, i, _ in placed]
        columns["members"] = [bytes([1 << v]) for _, _, v in placed]

    change(folder, "records.parquet", lambda columns: columns.update(group=list(classes)))
    change(folder, "cells.parquet", cells)
    say(folder, classes=classes[-1] + 1)


def test_equal_records_apart_are_found_anywhere(saved: Path, records_at_once: int) -> None:
    for i in range(len(ROWS) - 1):
        if CLASSES[i] == CLASSES[i + 1]:
            split = [c + (j > i) for j, c in enumerate(CLASSES)]
            number(saved, split, ROWS)
            with pytest.raises(ReleaseError, match="equal records in different classes"):
                verify_folder(saved)


def test_records_that_differ_together_are_found_anywhere(saved: Path, records_at_once: int) -> None:
    for i in range(len(ROWS) - 1):
        if CLASSES[i] != CLASSES[i + 1]:
            joined = [c - (j > i) for j, c in enumerate(CLASSES)]
            number(saved, joined, ROWS)
            with pytest.raises(ReleaseError, match="different ones in one"):
                verify_folder(saved)


def test_classes_that_do_not_ascend_are_found_anywhere(saved: Path, records_at_once: int) -> None:
    contents = [ROWS[CLASSES.index(c)] for c in range(5)]
    for c in range(4):
        turned = [*contents[:c], contents[c + 1], contents[c], *contents[c + 2 :]]
        number(saved, CLASSES, [turned[each] for each in CLASSES])
        with pytest.raises(ReleaseError, match="class order"):
            verify_folder(saved)


@pytest.mark.parametrize("claimed", [(2,), (3,), (4,), (2, 3), (3, 2), (2, 4), (4, 2), (4, 3, 2)])
@pytest.mark.parametrize("asked", ["keep", "drop"])
def test_no_item_has_fewer_raters_than_the_greatest_k(claimed: tuple[int, ...], asked: str) -> None:
    original = table([{0: 1, 1: 1}, {0: 1, 1: 1}, {0: 1, 1: 1}, {0: 1}], STARS)  # 4 and 3 raters
    facts: dict[str, Any] = {
        "claims": [{"model": "m", "parameters": {"k": k}} for k in claimed] + [{"parameters": {}}],
        "rare_items": asked,
        "config": {},
    }
    if asked == "drop" and max(claimed) > 3:
        with pytest.raises(Failed, match="an item has fewer than 4 raters"):
            check_rare(original, facts)
    else:
        check_rare(original, facts)
    check_rare(original, facts | {"claims": []})


@pytest.mark.parametrize(("near", "same"), [(0.0, True), (4e-9, True), (6e-9, False)])
@pytest.mark.parametrize("at", [0.0, 1.0, -1.0])
def test_which_ratings_are_the_same_to_a_receipt(at: float, near: float, same: bool) -> None:
    """Ratings are one to 8 decimals, on either side; 0 has no sign."""
    base = table([{0: 0.5, 1: 0.0}, {0: 0.25}], Scale(-2, 2))
    zero = int(np.flatnonzero(base.levels == 0.0)[0])

    def digest(value: float) -> str:
        levels = base.levels.copy()
        levels[zero] = value
        return ratings_digest(replace(base, levels=levels))

    for value in (at + near, at - near, -0.0 if at == near == 0 else at):
        assert (digest(value) == digest(at)) == (same or value == at)


@pytest.mark.parametrize(("record", "message"), [(-1, "not listed"), (9, "not listed")])
def test_records_lie_between_the_first_and_the_last(saved: Path, record: int, message: str) -> None:
    def other(columns: dict[str, list[Any]]) -> None:
        columns["record"][0 if record < 0 else -1] = record

    change(saved, "cells.parquet", other)
    with pytest.raises(ReleaseError, match=message):
        verify_folder(saved)
