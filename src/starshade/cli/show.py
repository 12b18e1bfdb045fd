"""Results for a terminal: figures, paragraphs and tables, no markup from data."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starshade.figure import Figure, Shown, number
from starshade.plain import counted, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

    from starshade.attack.auxiliary.result import AuxiliaryResult
    from starshade.attack.risk_result import RiskResult
    from starshade.audit.reproduction.claims import Claim, Judged
    from starshade.audit.reproduction.papers import Paper
    from starshade.audit.reproduction.worked import Worked


def page(*parts: RenderableType | None) -> RenderableType:
    """Put parts below each other, separated by blank lines."""
    from rich.console import Group
    from rich.text import Text

    shown = [part for part in parts if part is not None]
    spaced = [entry for part in shown for entry in (part, Text(""))]
    return Group(*spaced[:-1])


def words(text: str, style: str = "") -> RenderableType:
    """Show a paragraph."""
    return _text(text, style)


def verdict(text: str, good: bool | None, rest: str = "") -> RenderableType:
    """Show a verdict in green, red or, if None, yellow, and the rest without colour."""
    from rich.text import Text

    colour = {True: "bold green", False: "bold red", None: "bold yellow"}[good]
    return Text.assemble(_text(text, colour), _text(rest))


_WORD = re.compile(r"^\s+\S+|\S+")
_HELD = "\ue000"  # a space at which no line ends
_INTERVAL = re.compile(r"\[[-−<]?\s?\d[^\[\]\n]{0,40}\]")


def decided(word: str, lines: Iterable[str]) -> RenderableType:
    """Show an audit's first screen, which begins with the verdict; nothing wraps."""
    from rich.console import Group
    from rich.text import Text

    first, *rest = lines
    good = {"PASS": True, "FAIL": False}.get(word)
    others = (Text(visible(line), no_wrap=True, overflow="ignore") for line in rest)
    return Group(verdict(word, good, first.removeprefix(word)), *others)


def _text(text: str, style: str = "") -> Text:
    """Return a text in which no interval is split at a line end; undo with `unheld`."""
    from rich.text import Text

    held = _INTERVAL.sub(lambda interval: interval[0].replace(" ", _HELD), visible(text))
    return Text(held, style=style)


def unheld(text: str) -> str:
    """Return what was rendered, with plain spaces."""
    return text.replace(_HELD, " ")


def figures(rows: Iterable[Figure | tuple[str, Any]], title: str = "") -> RenderableType:
    """Show figures, or names and values, in two columns; missing values are left out."""
    from rich.padding import Padding
    from rich.table import Table

    pairs = [
        (row.title, None if row.value is None else row.text) if isinstance(row, Figure) else row
        for row in rows
    ]
    table = Table.grid(padding=(0, 2))
    table.add_column(width=min(_widest(name for name, _ in pairs), _NAMES), overflow="fold")
    for name, value in pairs:
        if value is not None:
            table.add_row(_text(name), _text(value if isinstance(value, str) else number(value)))
    return _titled(title, Padding(table, (0, 0, 0, 2)))


def command(*words: str) -> RenderableType:
    """Show a command to copy: quoted for a shell, never wrapped."""
    from rich.text import Text

    return Text(f"  {visible(shlex.join(words))}", no_wrap=True, overflow="ignore")


def columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str = "",
    align: str = "right",
    *,
    names: bool = False,
) -> RenderableType:
    """Show a small table with a head; all columns but the first are aligned by `align`.

    No word is cut. In a narrow window cells wrap (with `names` not those of the first column), and
    columns that do not fit go to a second table below, each row under its name.
    """
    texts = [[_text(cell) for cell in row] for row in rows]
    return _titled(title, _Columns([_text(name) for name in head], texts, align == "right", names))


@dataclass
class _Columns:
    """A table that fits its columns to the width when it is drawn."""

    head: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    right: bool
    names: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        places, room = list(range(len(self.head))), options.max_width
        while places:
            n = next(
                (n for n in range(len(places), 2, -1) if self._least(places[:n]) <= room),
                min(len(places), 2),
            )
            yield self._table(places[:n], room)
            rest = places[n:]
            places = [0, *rest] if rest else []
            if rest:
                yield _text("")

    def _of(self, i: int) -> list[str]:
        return [row[i].plain for row in self.rows]

    def _least(self, places: Sequence[int]) -> int:
        """Return the cells that these columns need, where words go on in the next line."""
        return sum(self._narrow(i) for i in places) + 2 * len(places) - 2

    def _narrow(self, i: int) -> int:
        cells, head = self._of(i), self.head[i].plain.split()
        if not (self.names and not i):
            cells = [word for cell in cells for word in _WORD.findall(cell)]
        return _widest([*cells, *head])

    def _table(self, places: Sequence[int], room: int) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, show_edge=False)
        full = [_widest([self.head[i].plain, *self._of(i)]) for i in places]
        widths: list[int | None] = [None] * len(places)
        if sum(full) + 3 * len(full) - 1 > room:  # with what stands between
            table.padding, table.pad_edge = (0, 1, 0, 0), False
            widths = [*self._widths(places, full, room)]
        for i, width in zip(places, widths, strict=True):
            right = self.right and i > 0
            table.add_column(
                self.head[i], justify="right" if right else "left", width=width, overflow="fold"
            )
        for row in self.rows:
            table.add_row(*(row[i] for i in places))
        return table

    def _widths(self, places: Sequence[int], full: Sequence[int], room: int) -> list[int]:
        least = [self._narrow(i) for i in places]
        spare = room - 2 * len(places) + 2 - sum(least)
        if spare < 0:  # one word is longer than the line
            return [*least[:-1], max(1, least[-1] + spare)]
        cells = [[self.head[i].plain, *self._of(i)] for i in places]
        heights = [
            [_height(column, width) for width in range(narrow, wide + 1)]
            for column, narrow, wide in zip(cells, least, full, strict=True)
        ]
        added = [0] * len(places)
        while wider := [  # where so many more cells make most lines fewer, for each of them
            ((of[at] - of[at + more]) / more, -more, i)
            for i, (of, at) in enumerate(zip(heights, added, strict=True))
            for more in range(1, min(spare, len(of) - 1 - at) + 1)
        ]:
            _, less, i = max(wider)
            added[i] -= less
            spare += less
        return [narrow + more for narrow, more in zip(least, added, strict=True)]


def _height(cells: Iterable[str], width: int) -> int:
    """Return how many lines the cells of a column take, high ones counting more."""
    return sum(_lines(cell, width) ** 2 for cell in cells)


def _lines(cell: str, width: int) -> int:
    from rich.cells import cell_len

    lines = 0
    for text in cell.split("\n"):
        lines, used = lines + 1, -1
        for word in _WORD.findall(text):
            used += 1 + cell_len(word)
            if used > width:
                lines, used = lines + (used > cell_len(word)), cell_len(word)
    return lines


def _widest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def judged(claims: Sequence[Judged]) -> RenderableType:
    """Show the claims of a paper and ours, and whether they hold."""
    titles = ("Claims of the paper", "Our claims about our own methods")
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
        ("measured", each.found and each.found.text),
        ("verdict", each.verdict),
        ("cause" if each.cause else "reason", each.cause or each.reason or None),
    ]
    return _titled(f"{claim.number}  {claim.place}: {claim.says}", figures(rows))


def worked(tables: Sequence[Worked]) -> RenderableType:
    """Show how many cells of each table worked by hand are equal here."""
    rows = [(each.number, f"{each.equal} of {each.cells} cells") for each in tables]
    return figures(rows, "Tables worked by hand in the paper: equal cells")


def explained(paper: Paper) -> RenderableType:
    """Show the reading of a paper, and the criterion of each of its claims."""
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


_LITERATURE = ("dm", "classes", "smallest_class", "c_avg", "gen_iloss", "distortion")
_UNKNOWN = "Utility per rating is not measured without the private key file (--private)."
_BAR = 22  # cells of a bar that is full
_NAME = 22  # cells of an item's name, at most
_EIGHTHS = "▏▎▍▌▋▊▉█"


def useful(found: Iterable[Figure]) -> Iterator[RenderableType | None]:
    """Show utility, other measures, and those for comparison with the literature."""
    from starshade.utility.what_remains import WhatRemains

    left = {figure.key: figure for figure in found if figure.value is not None}
    first = [left.pop(each.key) for each in WhatRemains.FIGURES if each.key in left]
    papers = [left.pop(key) for key in _LITERATURE if key in left]
    yield _remains(first) if first else words(_UNKNOWN)
    if left:
        yield figures(left.values(), title="Other measures")
    if papers:
        yield figures(papers, title="For comparison with the literature")


def _remains(found: list[Figure]) -> RenderableType:
    """Draw a bar for each share of the ratings, then the figures to compare."""
    rows: list[tuple[str, Any]] = []
    for figure in found:
        share = figure.mean if figure.unit == "share" and figure.key != "imputed_share" else None
        rows.append((figure.title, f"{figure.text:>7} {_bar(share)}".rstrip()))
        if figure.key == "utility_left_out":
            rows.append(("", ""))
    return figures(rows, title="Utility: ratings recoverable from the release")


def _bar(share: float | None) -> str:
    eighths = round((share or 0) * _BAR * len(_EIGHTHS))
    whole, rest = divmod(eighths, len(_EIGHTHS))
    return _EIGHTHS[-1] * whole + (_EIGHTHS[rest - 1] if rest else "")


def examples(shown: Mapping[str, Any] | None) -> RenderableType | None:
    """Show example classes, one row per item, and how they were selected."""
    from rich.console import Group

    if shown is None:
        return None
    classes = shown["classes"]
    heads = [one["head"] for one in classes]
    said = zip(*(one["released"] for one in classes), strict=True)
    rows = [(_short(name), *cells) for name, cells in zip(shown["items"], said, strict=True)]
    title = "Example classes as published (–: not rated)"
    return Group(columns(("item", *heads), rows, title=title), words(shown["rule"]))


def _short(name: str) -> str:
    shown = "".join(c if c.isprintable() else "·" for c in name)  # a terminal obeys some characters
    return shown if len(shown) <= _NAME else f"{shown[: _NAME - 1]}…"


_NAMES = 54  # cells of the names of figures, at most; longer ones go on in the next line
_FEW = 5  # names whose candidates are shown in any case
_LISTED = 100  # candidates shown at most


def describe(result: Shown, *, tables: bool = True, text: RenderableType | None = None) -> Any:
    """Show a result: its paragraph, its figures and, by default, its tables."""
    found = [figures(result.found)] if any(f.value is not None for f in result.found) else []
    return page(text or words(str(result)), *found, *(_tables(result) if tables else ()))


def _tables(result: Shown) -> list[Any]:
    return [columns(each.head, each.rows, title=each.title) for each in result.tables]


def describe_risk(result: RiskResult | None, path: str, listed: int) -> Any:
    """Show how few known ratings identify users, and the list; None: of membership."""
    first = "highest membership risk" if result is None else "fewest known ratings"
    return page(
        None if result is None else describe(result),
        words(
            f"{path}: {counted(listed, 'user')}, {first} "
            "first. It names users: keep it and the ratings private. If you hold these users back, "
            "others may stand out: attack the rest again."
        ),
    )


def describe_people(result: AuxiliaryResult, *, candidates: bool) -> Any:
    """Show the answer for each name; also the candidates, for few names or on request."""
    listed: list[tuple[str, str, str, str]] = []
    if candidates or len(result.per_name) <= _FEW:
        listed = [row for answer in result.per_name for row in answer.candidate_rows()]
    more = len(listed) - _LISTED
    return page(
        describe(result),
        columns(result.candidate_head, listed[:_LISTED], title="Candidates", align="left")
        if listed
        else None,
        words(f"… and {more:,} more candidates (all with --json)") if more > 0 else None,
    )
