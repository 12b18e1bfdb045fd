"""Small tables that come beside the data: somebody's public ratings, a mapping of items."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.readers.formats.recbole import untyped
from starshade.ratings.readers.formats.tables import FrameSource, ParquetSource, is_frame
from starshade.ratings.readers.recognise.aliases import normalized
from starshade.ratings.readers.recognise.inputs import Input, is_parquet, plain_text
from starshade.ratings.readers.recognise.sniff import Head, look
from starshade.ratings.readers.source import Source
from starshade.ratings.readers.text import TextSource

__all__ = ["Beside", "open_beside"]


@dataclass(frozen=True)
class Beside:
    """An opened table.

    `where`: the file as its owner calls it, or the kind of frame. `named`: whether its columns have
    names; otherwise they are called 1, 2, ….
    """

    source: Source
    where: str
    named: bool

    @property
    def counted(self) -> str:
        """What `lines` counts: "line" or "row"."""
        return "line" if isinstance(self.source, TextSource) else "row"

    def lines(self, n_rows: int) -> NDArray[np.int64]:
        """Return where each row stands: its line in a text, else its number; both from 1."""
        if isinstance(self.source, TextSource):
            return self.source.lines(n_rows)
        return np.arange(1, n_rows + 1)


def open_beside(
    source: Any,
    scratch: Path,
    *,
    known: Collection[str],
    what: str,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Beside:
    """Open a text file (perhaps compressed), a Parquet file or a frame.

    `scratch`: a folder for what has to be unpacked. `known`: names, normalized, of which a header
    must hold one: a first row of words may be data. `what`: what the table should hold, for
    messages. `delimiter`, `header`: as in `read_ratings`.
    """
    if is_frame(source):
        frame = FrameSource(source)
        return Beside(frame, frame.shown, True)
    if not isinstance(source, (str, Path)):
        raise ConfigError(
            f"{what} cannot be read from {type(source).__name__}",
            advice="Give a path, or a frame with columns.",
        )
    if not str(source):
        raise ConfigError(f"{what}: an empty path", advice="Name a file.")
    item = Input(Path(source), str(source))
    if is_parquet(item):
        return Beside(ParquetSource([item]), item.shown, True)
    plain = plain_text(item, scratch)
    head = _head(plain, known, what, delimiter, header)
    text = TextSource([plain], head.dialect, untyped(head.columns))
    return Beside(text, item.shown, head.dialect.header)


def _head(
    item: Input, known: Collection[str], what: str, delimiter: str | None, header: bool | None
) -> Head:
    if header is not None:
        return look(item, delimiter=delimiter, header=header, what=what)
    bare = look(item, delimiter=delimiter, header=False, what=what)
    if not any(normalized(cell) in known for cell in untyped(bare.rows[0])):
        return bare
    return look(item, delimiter=delimiter, header=True, what=what)
