"""What the reproductions of all papers have in common: checked sentences, a study's frame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, ClassVar, TypeVar

import numpy as np

from starshade.audit.attempts import Attempt, attempt
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.claims import Judged
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.figures import Figure, Point, Skipped
from starshade.audit.reproduction.worked import Worked
from starshade.errors import UnmetError, UserError
from starshade.figure import Table, payload
from starshade.markup import block, paragraph, table
from starshade.plain import counted
from starshade.ratings.table import Ratings

Row = dict[str, Any]
_Way = TypeVar("_Way")


class PaperStudy:
    """What every study is beside what it holds; each is a frozen dataclass of its own."""

    key: ClassVar[str]
    authors: ClassVar[str]
    whose: ClassVar[str]  # how its paragraph begins
    made_up: ClassVar[str] = "made-up ratings"
    data: dict[str, Any]
    claims: tuple[Judged, ...]
    worked: tuple[Worked, ...]
    choices: tuple[Choice, ...]
    grids: tuple[Table, ...]
    figures: tuple[Figure, ...]
    skipped: tuple[Skipped, ...]
    times: dict[str, Any]  # seconds, of whatever was timed
    seed: int
    version: str

    def __getattr__(self, name: str) -> Any:
        if name in ("claims", "worked", "choices", "grids"):  # of a study that has none yet
            return ()
        if name == "times":
            return {}
        raise AttributeError(name)

    @property
    def clocked(self) -> tuple[Figure, ...]:
        """The figures that depend on the clock."""
        return tuple(figure for figure in self.figures if figure.unit == "seconds")

    @property
    def steady(self) -> tuple[Figure, ...]:
        """The figures that the same request gives again, to the byte."""
        return tuple(figure for figure in self.figures if figure.unit != "seconds")

    @property
    def size(self) -> str:
        """How much data was looked at."""
        data = self.data
        made = f"{self.made_up}, " if data.get("synthetic") else ""
        return (
            f"{made}{data['users']:,} users, {data['items']:,} items, {data['ratings']:,} ratings"
        )

    def rests_on(self, figure: Figure) -> str:
        """Say on what a figure rests beside the size of the data; empty: on a count of all."""
        points = [point for series in figure.series for point in series.points]
        targets = [point.targets for point in points if point.targets is not None]
        if targets:
            least, most = min(targets), max(targets)
            of = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            return f"{of} targets per point, 95 % intervals"
        runs = getattr(self, "runs", None)
        if runs is None or all(point.low is None for point in points):
            return ""
        if figure.unit == "seconds":
            return f"medians of {counted(runs, 'run')}, from the fastest to the slowest"
        return f"means of {counted(runs, 'run')}, from the least to the greatest"

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        return {"reproduces": self.key, **payload(self)}

    def apart(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return it as two: without anything that depends on the clock, and that alone."""
        whole = self.to_dict()
        timed = {figure.number for figure in self.clocked}
        times: dict[str, Any] = {
            name: whole.pop(name) for name in ("times", "seconds") if name in whole
        }
        figures = whole.pop("figures")
        own = [each for each in figures if each["figure"] not in timed]
        times["figures"] = [each for each in figures if each["figure"] in timed]
        return whole | {"figures": own}, {"reproduces": self.key, **times}

    def _said(self, checks: Sequence[Check], after: str, before: str = "") -> str:
        """Say what came of it; `before` and `after`: how many checks hold."""
        data, numbers = self.data, ", ".join(figure.number for figure in self.figures)
        left = f"Left out, with the reason: {len(self.skipped)}." if self.skipped else ""
        head = (
            f"{self.whose} on {data['users']:,} users, {data['items']:,} items and "
            f"{data['ratings']:,} ratings: figures {numbers}."
        )
        return " ".join(filter(None, (head, before, told_apart(checks), after, left)))

    def _repr_html_(self) -> str:
        rows = [(f"Fig. {figure.number}", figure.title) for figure in self.figures]
        shown = table(("figure", "what it shows"), rows) if rows else ""
        return block(f"{self.authors}, on these ratings", paragraph(str(self)), shown)


def attempts(
    ways: Iterable[tuple[_Way, Anonymizer]],
    ratings: Ratings,
    seed: int,
    refused: dict[_Way, str],
    step: Callable[[float], None],
) -> Iterator[tuple[_Way, Attempt]]:
    """Make a release in every way that was not refused before; add what is, with the words."""
    for way, method in ways:
        if way not in refused:
            try:
                made = attempt(method, ratings, seed)
            except (UserError, UnmetError) as error:
                refused[way] = error.message
            else:
                yield way, made
        step(1)


def points_of(
    rows: Iterable[Row],
    x: str,
    y: str,
    middle: Callable[[Sequence[float]], float] = fmean,
    **where: Any,
) -> tuple[Point, ...]:
    """Return a point for each x of the rows that agree, with the least and the greatest y."""
    ys: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        if row[y] is not None and all(row[name] == value for name, value in where.items()):
            ys[row[x]].append(float(row[y]))
    return tuple(Point(at, middle(own), min(own), max(own)) for at, own in ys.items())


#: a data set that papers speak of → users, items, and how many of each rating there are
_KNOWN = {
    "MovieLens 100K": (943, 1_682, (6_110, 11_370, 27_145, 34_174, 21_201)),
    "the Netflix Prize's ratings": (
        480_189,
        17_770,
        (4_617_990, 10_132_080, 28_811_247, 33_750_958, 23_168_232),
    ),
}


def known_data(ratings: Ratings) -> str:
    """Return the name of the data set that these ratings are; empty: none that papers speak of.

    Told by counts alone: made-up ratings of the same size are not taken for it.
    """
    for name, (users, items, counts) in _KNOWN.items():
        if (ratings.n_users, ratings.n_items, ratings.n_ratings) == (users, items, sum(counts)):
            found = np.bincount(ratings.codes, minlength=len(counts)).tolist()
            if found == list(counts):
                return name
    return ""


_DUST = 1e-9


@dataclass(frozen=True)
class Check:
    """One sentence of the paper, or a promise of ours, on one line of a figure."""

    figure: str
    says: str  # the paper's words in quotation marks, or ours
    where: str  # the data, the null rule, the line
    ours: str  # the figures that decide
    holds: bool

    @property
    def is_ours(self) -> bool:
        """Whether it is a sentence of ours that the paper does not have."""
        return self.says.startswith("ours")


def apart(checks: Sequence[Check]) -> tuple[list[Check], list[Check]]:
    """Return the paper's sentences, and our own claims."""
    papers = [check for check in checks if not check.is_ours]
    return papers, [check for check in checks if check.is_ours]


def told_apart(checks: Sequence[Check]) -> str:
    """Count how many of the paper's sentences hold, and how many of our own claims."""
    papers, ours = apart(checks)
    text = (
        f"What the paper says of its curves was held against ours in {len(papers)} places; it "
        f"holds in {sum(check.holds for check in papers)}."
    )
    if ours:
        holding = sum(check.holds for check in ours)
        text += f" Our own claims were held in {len(ours)} places; they hold in {holding}."
    return text


def rises(points: Sequence[Point], slack: float = 0) -> bool:
    """Tell whether the end is plainly above the beginning, and nothing plainly falls."""
    pairs = combinations(points, 2)
    return is_above(points[-1], points[0], slack) and not any(
        is_above(a, b, slack) for a, b in pairs
    )


def falls(points: Sequence[Point], slack: float = 0) -> bool:
    """Tell whether the end is plainly below the beginning, and nothing plainly rises."""
    return rises(points[::-1], slack)


def is_above(a: Point, b: Point, slack: float = 0) -> bool:
    """Tell whether a point is plainly above another: their runs are apart, by a share `slack`."""
    return a.lowest > b.highest + _DUST and a.y > (1 + slack) * b.y
