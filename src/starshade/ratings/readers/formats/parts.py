"""A table whose folders say columns: ``year=2024/part-0.parquet``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from starshade.errors import InputError
from starshade.ratings.readers.formats.tables import Source

if TYPE_CHECKING:
    import pyarrow as pa


class Parts:
    """Sources with the same columns, one behind the other, each with values that hold for it all.

    `keys`: for each source column → value. What stands in a file is taken, where its folders say
    it too.
    """

    format: ClassVar[str] = "parquet"

    def __init__(
        self, sources: Sequence[Source], keys: Sequence[Mapping[str, str | None]], shown: str
    ) -> None:
        self.shown = shown
        self._sources = tuple(sources)
        self._keys = tuple(keys)
        first = self._sources[0].columns
        self.columns: tuple[str, ...] = (*first, *(key for key in keys[0] if key not in first))
        for source in self._sources[1:]:
            if set(source.columns) != set(first):
                raise InputError(
                    f"{source.locate(0).rpartition(',')[0]}: its columns differ "
                    f"from those of {shown}",
                    advice="Name only files of one table.",
                )
        self._starts = [0]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns; see `Source.batches`."""
        import pyarrow as pa

        self._starts = [0]
        for source, keys in zip(self._sources, self._keys, strict=True):
            inside = [name for name in columns if name in source.columns] or source.columns[:1]
            read = self._starts[-1]
            for block in source.batches(inside):
                read += len(block)
                arrays = [
                    block.column(name)
                    if name in source.columns
                    else pa.repeat(pa.scalar(keys[name], pa.string()), len(block))
                    for name in columns
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            self._starts.append(read)

    def locate(self, row: int) -> str:
        """Say where a row stands, in the part that has it."""
        place = min(bisect_right(self._starts, row) - 1, len(self._sources) - 1)
        return self._sources[place].locate(row - self._starts[place])
