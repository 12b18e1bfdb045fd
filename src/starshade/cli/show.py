"""How results look for a person: a few figures, a paragraph, no markup from data."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starshade.figure import Figure, Shown, number
from starshade.plain import counted

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

    from starshade.attack.auxiliary.result import AuxiliaryResult
    from starshade.attack.risk_result import RiskResult
    from starshade.audit.reproduction.claims import Claim, Judged
    from starshade.audit.reproduction.papers import Paper
    from starshade.audit.reproduction.worked import Worked


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

    With `names` those in the first column stay whole, and the others give way. Beside numbers no
    word is cut: where there is little room, names go on in the next line, and heads give way first.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False)
    rows = list(rows)
    for i, name in enumerate(head):
        right = i and align == "right"
        whole = names and not i
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return _titled(title, table if align == "left" else _Whole(table, head, rows))


@dataclass
class _Whole:
    """A table that cuts no word of its cells."""

    table: Table
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        of = [[row[i] for row in self.rows] for i in range(len(self.head))]
        full = [_widest([name, *cells]) for name, cells in zip(self.head, of, strict=True)]
        if sum(full) + 3 * len(full) - 1 > options.max_width:  # with what stands between
            self.table.padding, self.table.pad_edge = (0, 1, 0, 0), False
            widths = [_widest(word for cell in cells for word in cell.split()) for cells in of]
            spare = options.max_width - 2 * len(full) + 2 - sum(widths)
            heads = [_widest(name.split()) for name in self.head]
            for wanted in (heads, [full[0], *heads[1:]], full):
                while spare > 0 and (short := [i for i, w in enumerate(wanted) if widths[i] < w]):
                    widths[min(short, key=widths.__getitem__)] += 1
                    spare -= 1
            for column, width in zip(self.table.columns, widths, strict=True):
                column.width, column.overflow = width, "fold"
        yield self.table


def _widest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)


def judged(claims: Sequence[Judged]) -> RenderableType:
    """Show a paper's claims and whether they hold, then ours."""
    titles = ("What the paper claims", "What we claim of our own methods")
    whose = [[each for each in claims if each.claim.ours is ours] for ours in (False, True)]
    return page(
        *(
            _titled(title, page(*map(_judged, own)))
            for title, own in zip(titles, whose, strict=True)
            if own
        ),
    )


def _judged(each: Judged) -> RenderableType:
    claim = each.claim
    rows = [
        ("holds if", claim.holds_if),
        ("here", each.found and each.found.text),
        ("verdict", each.verdict),
        ("cause" if each.cause else "why", each.cause or each.reason or None),
    ]
    return _titled(f"{claim.number}  {claim.place}: {claim.says}", figures(rows))


def worked(tables: Sequence[Worked]) -> RenderableType:
    """Show in a line each how many cells of a table worked by hand are the same here."""
    rows = [(each.number, f"{each.equal} of {each.cells} cells") for each in tables]
    return figures(rows, "Worked by hand in the paper, and equal here")


def explained(paper: Paper) -> RenderableType:
    """Show how a paper is read, and what would count as true of each of its claims."""
    from starshade.audit.reproduction.configurations import explained as table

    choices = table(paper.choices)
    return page(
        words(f"{paper.authors}, {paper.title}", style="bold"),
        columns(choices.head, choices.rows, title=choices.title, align="left"),
        *(_explained(claim, paper.words(claim)) for claim in paper.claims),
    )


def _explained(claim: Claim, ways: Sequence[str]) -> RenderableType:
    about = f"; judged on {claim.about} alone" if claim.about else ""
    whose = " (ours)" if claim.ours else f" (as {claim.same})" if claim.same else ""
    rows = [
        ("holds if", None if claim.lost else f"{claim.holds_if}{about}"),
        ("cannot be tested", claim.lost or None),
        ("why", None if claim.lost else claim.why or None),
        ("decided by", claim.decided or None),
        ("run", claim.configuration),
        ("if not", "; ".join(f"tried {way}" for way in ways) or None),
    ]
    return _titled(f"{claim.number}{whose}  {claim.place}: {claim.says}", figures(rows))


def _titled(title: str, table: RenderableType) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    return Group(Text(title, style="bold"), table) if title else table


_FEW = 5  # names whose candidates are shown in any case
_LISTED = 100  # candidates shown at most


def describe(result: Shown, *, tables: bool = True) -> Any:
    """Show a result: its paragraph, its figures and, unless they are not wanted, its tables."""
    found = [figures(result.found)] if any(f.value is not None for f in result.found) else []
    return page(words(str(result)), *found, *(_tables(result) if tables else ()))


def _tables(result: Shown) -> list[Any]:
    return [columns(each.head, each.rows, title=each.title) for each in result.tables]


def describe_risk(result: RiskResult, path: str, listed: int) -> Any:
    """Show how few facts identify how many users, and where the list is."""
    return page(
        describe(result),
        words(
            f"{path}: {counted(listed, 'user')}, those found by fewest facts "
            "first. It names people: keep "
            "it, and the ratings, private. Without those whom you hold back the others stand in a "
            "smaller crowd, and may stand out in it: attack what is left again."
        ),
    )


def describe_people(result: AuxiliaryResult, *, candidates: bool) -> Any:
    """Show the answer for each name; also the candidates of few names, or where asked for."""
    listed: list[tuple[str, str, str, str]] = []
    if candidates or len(result.per_name) <= _FEW:
        listed = [row for answer in result.per_name for row in answer.candidate_rows()]
    more = len(listed) - _LISTED
    return page(
        describe(result),
        columns(result.candidate_head, listed[:_LISTED], title="Candidates", align="left")
        if listed
        else None,
        words(f"… and {more:,} more candidates: --json has all") if more > 0 else None,
    )
