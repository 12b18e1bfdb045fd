"""The first rows of a file, and which column is taken for what and why: for its owner's eyes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from starshade.errors import InputError
from starshade.ratings.readers.columns import NUMBER
from starshade.ratings.readers.formats.dialects import name_format, untyped
from starshade.ratings.readers.formats.tables import ParquetSource
from starshade.ratings.readers.open import Request, agreeing_head, by_place, settled
from starshade.ratings.readers.recognise.aliases import MAILS, listing, matching, normalized
from starshade.ratings.readers.recognise.detect import bare, find
from starshade.ratings.readers.recognise.inputs import is_packed, plain_text
from starshade.scratch import scratch_folder

_ROWS = 200  # looked at
_LARGE = 1 << 26  # bytes of an archive beyond which it is not unpacked for a look
_FEWEST = 3  # columns: user, item, rating
_ROLES = ("user", "item", "rating", "day")


@dataclass(frozen=True)
class Preview:
    """What stands in the first rows.

    `columns`: their names; 1, 2, … where no line names them (`named`). `rows`: as text. `roles`:
    role → column, of those that are known. `why`: role → why this column, or why none.
    """

    columns: tuple[str, ...]
    named: bool
    rows: tuple[tuple[str, ...], ...]
    roles: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)

    def called(self, column: str) -> str:
        """Return what a column is called; one without a name by what stands in it first."""
        if self.named or not self.rows:
            return column
        return f"column {column}, with {self.rows[0][self.columns.index(column)][:40]}"

    @property
    def complete(self) -> bool:
        """Whether ratings can be read without another word."""
        return {"user", "item", "rating"} <= self.roles.keys()


def preview(source: str | Path, **options: Any) -> Preview | None:
    """Look at the first rows of a file, without reading all of it.

    Parameters
    ----------
    source : path
        As of `starshade.read_ratings`, and `options` too.

    Returns
    -------
    Preview or None
        None where there are no columns to choose: a store, the Netflix Prize's files, fewer than
        three columns, and an archive that is too large to be unpacked for a look.

    Raises
    ------
    InputError
        The file is no table of ratings.
    ConfigError
        Options that are unknown or contradict each other.
    """
    request, path = Request(**options), Path(source)
    if path.is_file() and path.stat().st_size > _LARGE and is_packed(path):
        return None
    with scratch_folder() as scratch:
        inputs = find(source, scratch)
        if inputs.kind == "parquet":
            return _explained(_of_parquet(ParquetSource(inputs.files[:1])), request, {})
        if inputs.kind != "text":
            return None
        first = plain_text(inputs.files[0], scratch)
        head = agreeing_head([first], request)
        named, rows = head.dialect.header, tuple(map(tuple, head.rows))
        looked = Preview(untyped(head.columns), named, rows)
        if len(looked.columns) < _FEWEST:
            return None
        placed: dict[str, str] = {}
        if not named and not request.wide:
            name = bare(Path(inputs.files[0].path).name)
            format_ = request.format or name_format(name, head.dialect, head.columns)
            with suppress(InputError):
                placed = by_place(head, format_, request, first.shown)[0]
        return _explained(looked, request, placed)


def _of_parquet(source: ParquetSource) -> Preview:
    batch = next(islice(source.batches(source.columns), 1), None)
    columns = [] if batch is None else batch.slice(0, _ROWS).to_pydict().values()
    texts = [["" if cell is None else str(cell) for cell in column] for column in columns]
    return Preview(source.columns, True, tuple(zip(*texts, strict=True)))


def _explained(looked: Preview, request: Request, placed: Mapping[str, str]) -> Preview:
    """Say which column is taken for what, as `read_ratings` does."""
    if request.wide:
        return looked
    given = placed or settled(looked.columns, request)
    roles, why = {}, {}
    for role in _ROLES if request.dates else _ROLES[:3]:
        settled_on = given.get(role)
        names = [settled_on] if settled_on else matching(looked.columns, role)
        names = [name for name in names if name == settled_on or name not in given.values()]
        if len(names) == 1 and names[0] in looked.columns:
            roles[role] = names[0]
            why[role] = f"{_known(looked, role, names[0])}; {_seen(looked, role, names[0])}"
        elif names:
            why[role] = f"{listing(names)} all fit: choose one"
        else:
            why[role] = "no column has a known name for it" + ": choose one" * (role != "day")
    return replace(looked, roles=roles, why=why)


def _known(looked: Preview, role: str, column: str) -> str:
    if not looked.named:
        return f"no line names the columns; this is column {column} of {len(looked.columns)}"
    if role == "user" and normalized(column) in MAILS:
        return "e-mail addresses, one value per user"
    if role == "item" and column not in matching(looked.columns, "item"):
        return "no column has item ids: titles are used, and one title is one item"
    return "a usual name for it"


def _seen(looked: Preview, role: str, column: str) -> str:
    place = looked.columns.index(column)
    cells: Sequence[str] = [row[place] for row in looked.rows if place < len(row)]
    of = f"in the first {len(cells):,} rows"
    if role == "rating":
        numbers = [float(cell) for cell in cells if NUMBER.fullmatch(cell.strip())]
        if not numbers:
            return f"no numbers {of}"
        odd = f", {len(cells) - len(numbers)} not numbers" if len(numbers) < len(cells) else ""
        return f"{min(numbers):g} to {max(numbers):g} {of}{odd}"
    return f"{len(set(cells)):,} different values {of}"
