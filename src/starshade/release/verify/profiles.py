"""The verifier's own reading of layout "profile": a byte a cell, a row a class.

Rows are looked at some at a time as they stand in the file, so that a release of gigabytes needs
little memory to be verified.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.progress import task
from starshade.release.verify.rows import Failed, Written, require_columns
from starshade.release.verify.truth import (
    People,
    check_raters,
    check_stated,
    left_out,
)

if TYPE_CHECKING:
    from starshade.release.table import Private

_BLOCK = 2**19  # cells looked at together: what is counted of them stays near the processor
_BUFFER = 2**20
_DUST = 1e-3  # of a step, by which a released mean may be further away than half of one
_KINDS = (None, "padded", "simple", "model", "pooled")


@dataclass(frozen=True, eq=False)
class Shown:
    """Which items the classes show: their cell is not null.

    `times` (n_items,): classes that show an item. `bits`: a bit per class, where sets of items are
    to be counted.
    """

    classes: int
    times: NDArray[np.int64]
    bits: NDArray[np.uint8] | None


def walk_profiles(written: Written, private: Private | None, facts: dict[str, Any]) -> Shown:
    """Check ``profiles.parquet``: shape, order and levels; with the original, what they rest on.

    The link must be one-to-one. A cell of profile "simple" is the mean of the ratings of those of
    the class who rated the item, to the nearest level, and a null where fewer did than the
    settings' `min_raters` (by default where nobody did) or, with a claim of diversity, a fake
    edge. A cell of "padded" is the mean where the whole class rated the item.
    The shares of invented cells and of cells that rest on one rater are those that the owner knows.
    """
    n_items, kind = len(written.items), facts.get("profile")
    n_levels = _levels_of(facts)
    if kind not in _KINDS:
        raise Failed("release.json", "an unknown kind of profile")
    least = facts["config"].get("min_raters", 1)
    if type(least) is not int or least < 1:
        raise Failed("release.json", "min_raters is not a number of people")
    settings = facts["config"].get("profile"), facts["config"].get("step")
    if facts["method"] == "predictive" and settings != (kind, facts["profile_step"]):
        raise Failed("release.json", "kind or step of profile differ from the settings")
    sizes = np.bincount(written.group_of_record)
    truth = None if private is None else _Truth(written, private, facts)
    times, packed = np.zeros(n_items, dtype=np.int64), list[NDArray[np.uint8]]()
    set_sizes = [c["parameters"]["b"] for c in facts["claims"] if c["model"] == "diversity"]
    sets = truth is not None and max(set_sizes, default=1) > 1
    previous, first = b"", 0
    for group, size, rows, levels in blocks_of(written):
        stop = first + len(group)
        if not np.array_equal(group, np.arange(first, stop)):
            raise Failed("class order", "classes are not 0, 1, 2, …")
        if stop > len(sizes) or not np.array_equal(size, sizes[first:stop]):
            raise Failed("count", "sizes differ from the records")
        if any(not a < b for a, b in zip([previous, *rows[:-1]], rows, strict=True) if a):
            raise Failed("class order", "two classes are equal or not sorted by content")
        if int(levels.max(initial=0)) > n_levels:
            raise Failed("cells", "a level beyond the scale")
        if kind not in (None, "simple") and not levels.all():
            raise Failed("cells", f"a null in a profile of kind {kind}")
        shown = levels != 0
        times += shown.sum(axis=0)
        if sets:
            packed.append(np.packbits(shown, axis=1))
        if truth is not None:
            truth.look(first, levels)
        previous, first = rows[-1] if rows else previous, stop
    if first != len(sizes):
        raise Failed("count", f"{len(sizes)} classes in the records, {first} in the profiles")
    if truth is not None:
        truth.settle()
    return Shown(first, times, _by_item(np.vstack(packed), n_items) if packed else None)


def _by_item(rows: NDArray[np.uint8], n_items: int) -> NDArray[np.uint8]:
    """Turn rows of a bit per item into rows of a bit per class."""
    out = [
        np.packbits(np.unpackbits(rows[:, start : start + 64], axis=1), axis=0).T
        for start in range(0, rows.shape[1], 64)
    ]
    return np.vstack(out)[:n_items]


def _levels_of(facts: dict[str, Any]) -> int:
    """Return how many levels there are; they run from the scale's minimum to its maximum."""
    step = facts["profile_step"]
    width = facts["scale"]["maximum"] - facts["scale"]["minimum"]
    if type(step) not in (int, float) or not 0 < step < sys.float_info.max:
        raise Failed("release.json", "the profile step is not a positive number")
    steps: float = width / step
    if steps > 254.5 or abs(steps - round(steps)) > 1e-6 or (width and not round(steps)):
        raise Failed("release.json", "the profile step does not divide the scale")
    return round(steps) + 1


def blocks_of(
    written: Written,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], list[bytes], NDArray[np.uint8]]]:
    """Yield number, size and profile of some classes at a time, as bytes and as a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place, n_items = written.folder / "profiles.parquet", len(written.items)
    require_columns(written.folder, place.name, ("group", "size", "profile"))
    with place.open("rb") as raw:
        file = pq.ParquetFile(raw, buffer_size=_BUFFER)
        if file.schema_arrow.field("profile").type != pa.binary(n_items):
            raise Failed("columns", "profiles.parquet: not a byte for each item")
        for batch in _batches(file, max(1, _BLOCK // max(n_items, 1))):
            if any(column.null_count for column in batch.columns):
                raise Failed("columns", "profiles.parquet: a null")
            group, size = (batch.column(i).to_numpy().astype(np.int64) for i in (0, 1))
            rows = batch.column(2).to_pylist()
            levels = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), n_items)
            yield group, size, rows, levels


def _batches(file: Any, rows: int) -> Iterator[Any]:
    """Yield some rows at a time, row group by row group: else all that was read stays held."""
    import pyarrow as pa

    try:
        with task("counting profiles.parquet", file.metadata.num_rows) as advance:
            for part in range(file.num_row_groups):
                for batch in file.iter_batches(rows, row_groups=[part], use_threads=False):
                    yield batch
                    advance(batch.num_rows)
    except (OSError, pa.ArrowException):
        raise Failed("files", "profiles.parquet cannot be read as Parquet") from None


class _Truth:
    """The original, laid out class by class, against what the profiles say."""

    def __init__(self, written: Written, private: Private, facts: dict[str, Any]) -> None:
        self.people = People(written, private)
        people = int(self.people.sizes.sum())
        check_raters(self.people.raters, facts, people, left_out(private))
        self.facts, self.kind, self.exact = facts, facts.get("profile"), private.exact
        self.class_of_record = written.group_of_record
        self.least: int = facts["config"].get("min_raters", 1)
        # cells counted so far: not null, rated by one member, not standing for ratings
        self.shown = self.single = self.invented = 0

    def look(self, first: int, levels: NDArray[np.uint8]) -> None:
        """Count what the cells of some classes, from number `first` on, rest on."""
        last = first + len(levels)
        sizes = self.people.sizes[first:last]
        start, stop = np.searchsorted(self.class_of_record, [first, last]).tolist()
        rows = list(self.people.rated(start, stop))
        record, item, rating = (np.concatenate([row[i] for row in rows]) for i in range(3))
        place = (self.class_of_record[record] - first) * levels.shape[1] + item
        cells = levels.ravel()
        raters = np.bincount(place, minlength=len(cells))
        shown = cells != 0
        self.shown += int(np.count_nonzero(shown))
        self.single += int(np.count_nonzero((raters == 1) & shown))
        if self.kind == "simple":
            enough = raters >= self.least
            if enough[~shown].any():
                raise Failed("truth", "a class does not show an original rating")
            if self._away(cells, raters, place, rating, shown & enough):
                raise Failed("truth", "a cell is not the mean of its raters")
            self.invented += int(np.count_nonzero(shown & ~enough))
            return
        self.invented += int(np.count_nonzero((raters == 0) & shown))
        if self.kind == "padded":
            whole = raters.reshape(levels.shape) == sizes[:, None]
            if self._away(cells, raters, place, rating, whole.ravel()):
                raise Failed("truth", "a cell rated by the whole class is not its mean")

    def _away(
        self,
        cells: NDArray[np.uint8],
        raters: NDArray[np.int64],
        place: NDArray[np.int64],
        rating: NDArray[np.float64],
        wanted: NDArray[np.bool_],
    ) -> int:
        """Count the cells asked for that are not the mean of their ratings."""
        of_wanted = wanted[place]
        total = np.bincount(place[of_wanted], weights=rating[of_wanted], minlength=len(cells))
        at = np.flatnonzero(wanted)
        step = self.facts["profile_step"]
        value = self.facts["scale"]["minimum"] + step * (cells[at].astype(np.float64) - 1)
        away = np.abs(total[at] / raters[at] - value)
        return int(np.count_nonzero(away > (0.5 + _DUST) * step))

    def settle(self) -> None:
        """Compare the counts with what is said."""
        exact, whole = self.exact, max(self.shown, 1)
        fakes = any(claim["model"] == "diversity" for claim in self.facts["claims"])
        if self.kind == "simple" and self.invented and not fakes:
            raise Failed("truth", "a cell is not the mean of its raters")
        if self.kind is not None:
            check_stated(exact.imputed_cells, self.invented / whole, "imputed")
        if self.kind in ("padded", "simple"):
            check_stated(exact.single_rater_cells, self.single / whole, "with one rater")
