"""What has rows that other libraries can take: blocks by Arrow's stream, or one frame."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from starshade.errors import ConfigError
from starshade.naming import aside

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

ROWS = 1 << 20  # of a block, about


class Framed:
    """Something whose rows come in blocks.

    Whatever takes Arrow streams takes it as it is: ``polars.DataFrame(x)``, ``pyarrow.table(x)``,
    ``duckdb.sql("select * from x")``; DuckDB and ``pyarrow.RecordBatchReader.from_stream(x)`` go
    from block to block, so the memory needed is that of one.
    """

    def _rows(self) -> pa.RecordBatchReader:
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """Return all rows as one PyArrow table.

        Raises
        ------
        ConfigError
            It needs more memory than may be used.
        """
        import pyarrow as pa

        from starshade import budget

        reader, blocks, needed, left = self._rows(), [], 0, budget.left(0)
        for block in reader:
            needed += block.nbytes
            if needed > left:
                raise ConfigError(
                    "all rows as one frame need more memory than the "
                    f"{budget.amount(max(left, 0))} that may be used",
                    advice=f"Allow more memory{aside('memory')}, or read blocks: "
                    "pyarrow.RecordBatchReader.from_stream of it, or `starshade data "
                    "convert`.",
                )
            blocks.append(block)
        return pa.Table.from_batches(blocks, schema=reader.schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows as a pandas frame; words and names are categories.

        Raises
        ------
        ConfigError
            pandas is not installed, or the rows need more memory than may be used.
        """
        _library("pandas")
        frame: pd.DataFrame = self.to_arrow().to_pandas(date_as_object=False)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return all rows as a Polars frame; words and names are categories.

        Raises
        ------
        ConfigError
            Polars is not installed, or the rows need more memory than may be used.
        """
        frame: pl.DataFrame = _library("polars").from_arrow(self.to_arrow())
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._rows().__arrow_c_stream__(requested_schema)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(
            f"a frame of {name} needs the package {name}, which is not installed",
            advice=f"pip install {name}; or use to_arrow(), which needs no other package.",
        ) from None
