"""Results as HTML for notebooks: escaped text, and tables that anybody can read.

No colour is set but by opacity of the page's own, so that light and dark both work; what matters
is said in words. Everything given is taken for text and escaped: titles of items and names of
columns come from strangers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_LINE = "border:0;border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)"
_CELL = f"padding:.25em 1em .25em 0;text-align:left;vertical-align:top;background:none;{_LINE}"
_NUMBER = f"{_CELL};text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
_TABLE = "border-collapse:collapse;border:0;margin:.5em 0;color:inherit;background:none"
_CAPTION = "text-align:left;font-weight:bold;padding:.25em 0;color:inherit;caption-side:top"


def block(title: str, *parts: str) -> str:
    """Put parts made here together under a title; parts that are empty are left out."""
    head = f"<p><strong>{escape(title)}</strong></p>"
    return f'<div style="max-width:60em">{head}{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """Return text as a paragraph; empty text is none."""
    return f"<p>{escape(text)}</p>" if text else ""


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    numbers: Iterable[int] = (),
) -> str:
    """Return a table whose first column names its rows; columns at `numbers` stand on the right."""
    right = frozenset(numbers)
    styles = [_NUMBER if place in right else _CELL for place in range(len(head))]
    heads = "".join(
        f'<th scope="col" style="{style}">{escape(name)}</th>'
        for name, style in zip(head, styles, strict=True)
    )
    lines = "".join(_row(row, styles) for row in rows)
    title = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    return (
        '<div style="overflow-x:auto" tabindex="0" role="group" '
        f'aria-label="{escape(caption) or "table"}"><table style="{_TABLE}">'
        f"{title}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _row(cells: Sequence[str], styles: Sequence[str]) -> str:
    first, *others = (
        f'style="{style}">{escape(cell)}</' for cell, style in zip(cells, styles, strict=True)
    )
    rest = "".join(f"<td {cell}td>" for cell in others)
    return f'<tr style="background:none"><th scope="row" {first}th>{rest}</tr>'
