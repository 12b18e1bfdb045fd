"""Where rows come from: one face for text, Parquet and frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Source"]


class Source(Protocol):
    """Columns of rows, read once from first to last.

    `columns`: names, each once.
    """

    columns: tuple[str, ...]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns in file order, nothing dropped; text columns as text."""

    def locate(self, row: int) -> str:
        """Say where a row (from 0, over all files) stands."""
