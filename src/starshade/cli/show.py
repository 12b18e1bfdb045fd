"""How results look for a person: a few figures, a paragraph, no markup from data."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

from starshade.audit.reproduction.check import Check
from starshade.figure import Figure, number

__all__ = ["columns", "command", "figures", "judged", "page", "words"]


def page(*parts: RenderableType | None) -> RenderableType:
    """Put parts one under the other, a blank line between."""
    from rich.console import Group
    from rich.text import Text

    shown = [part for part in parts if part is not None]
    spaced = [entry for part in shown for entry in (part, Text(""))]
    return Group(*spaced[:-1])


def words(text: str, style: str = "") -> RenderableType:
    """Show a paragraph as it is."""
    from rich.text import Text

    return Text(text, style=style)


def figures(rows: Iterable[Figure | tuple[str, Any]], title: str = "") -> RenderableType:
    """Show figures, or names and values, in two columns; what there is none of is left out."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for row in rows:
        if isinstance(row, Figure):
            row = row.title, None if row.value is None else row.text
        name, value = row
        if value is not None:
            table.add_row(
                Text(f"  {name}"), Text(value if isinstance(value, str) else number(value))
            )
    return _titled(title, table)


def command(*words: str) -> RenderableType:
    """Show a command to be copied: quoted for a shell, never broken into lines."""
    from rich.text import Text

    return Text(f"  {shlex.join(words)}", no_wrap=True, overflow="ignore")


def columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    align: str = "right",
    *,
    names: bool = False,
) -> RenderableType:
    """Show a small table with a head; all columns but the first are aligned by `align`.

    Names in the first column stay whole, and the others give way.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for i, name in enumerate(head):
        right = i and align == "right"
        whole = names and not i
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return _titled(title, table)


def judged(checks: Sequence[Check]) -> RenderableType:
    """Show what a paper says of its curves and whether it holds, then what we say of ours."""
    from starshade.audit.reproduction.check import apart

    titles = ("What the paper says", "What we say of our own methods")
    head = ("figure", "what is said", "on", "here", "holds")
    return page(
        *(
            columns(
                head,
                [(c.figure, c.says, c.where, c.ours, "yes" if c.holds else "no") for c in own],
                title=title,
                align="left",
            )
            for title, own in zip(titles, apart(checks), strict=True)
            if own
        )
    )


def _titled(title: str, table: RenderableType) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    return Group(Text(title, style="bold"), table) if title else table
