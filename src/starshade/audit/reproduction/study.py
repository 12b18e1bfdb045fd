"""Shared by the reproductions: a study's results, attempted releases, known data sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, TypeVar

import numpy as np

from starshade._version import __version__
from starshade.audit.attempts import Attempt, attempt, size_of
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.claims import Judged, told
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.figures import Figure, Point, Skipped
from starshade.audit.reproduction.worked import Worked
from starshade.errors import ConfigError, UserError
from starshade.figure import Table, payload
from starshade.markup import block, paragraph, table
from starshade.plain import counted
from starshade.ratings.table import Ratings

Row = dict[str, Any]
_Way = TypeVar("_Way")


@dataclass(frozen=True, kw_only=True)
class PaperStudy:
    """A paper's experiments on other data: the results of every study.

    Attributes
    ----------
    data : dict
        Size and scale of the data; ``synthetic``: whether they were made up.
    claims : tuple of Judged
        The paper's claims and ours, with verdicts.
    figures : tuple of Figure
        In the paper's order.
    worked : tuple of Worked
        The paper's worked examples, with our value for each cell.
    choices : tuple of Choice
        The points at which the three configurations differ.
    grids : tuple of Table
        Tables on the paper's open questions.
    skipped : tuple of Skipped
        Parts that the data do not support, and why.
    runs : int
        Runs of each experiment, each with its own seed.
    times : dict
        Seconds; nothing else depends on the clock but figures in seconds.
    seed : int
    digest : str
        SHA-256 over the ratings.
    version : str
    """

    key: ClassVar[str]
    authors: ClassVar[str]
    whose: ClassVar[str]  # how its paragraph begins
    made_up: ClassVar[str] = "made-up ratings"

    data: dict[str, Any]
    claims: tuple[Judged, ...]
    figures: tuple[Figure, ...]
    worked: tuple[Worked, ...]
    choices: tuple[Choice, ...]
    grids: tuple[Table, ...]
    skipped: tuple[Skipped, ...]
    runs: int
    times: dict[str, Any]
    seed: int
    digest: str
    version: str = field(default=__version__)

    @property
    def clocked(self) -> tuple[Figure, ...]:
        """The figures that depend on the clock."""
        return tuple(figure for figure in self.figures if figure.unit == "seconds")

    @property
    def steady(self) -> tuple[Figure, ...]:
        """The figures that the same request gives again, to the byte."""
        return tuple(figure for figure in self.figures if figure.unit != "seconds")

    @property
    def verdicts(self) -> str:
        """The verdicts, counted."""
        return told(self.claims, "the paper", self.runs)

    @property
    def size(self) -> str:
        """The size of the data."""
        made = f"{self.made_up}, " if self.data.get("synthetic") else ""
        return made + sized(self.data)

    def rests_on(self, figure: Figure) -> str:
        """Return what a figure's points are means or medians of; empty: complete counts."""
        points = [point for series in figure.series for point in series.points]
        targets = [point.targets for point in points if point.targets is not None]
        if targets:
            least, most = min(targets), max(targets)
            of = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            return f"{of} targets per point, 95 % intervals"
        if all(point.low is None for point in points):
            return ""
        runs = counted(self.runs, "run")
        if figure.unit == "seconds":
            return f"medians of {runs}; bars from the fastest to the slowest"
        return f"means of {runs}; bars from the least to the greatest"

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

    def _repr_html_(self) -> str:
        rows = [(f"Fig. {figure.number}", figure.title) for figure in self.figures]
        shown = table(("figure", "what it shows"), rows) if rows else ""
        return block(f"{self.authors}, on these ratings", paragraph(str(self)), shown)


def sized(data: Row) -> str:
    """Return the size of the data as text."""
    return ", ".join(counted(data[f"{each}s"], each) for each in ("user", "item", "rating"))


def refuse_few(ratings: Ratings) -> None:
    """Refuse ratings that are too few to contradict any claim."""
    if min(ratings.n_users, ratings.n_items) < 2 or not ratings.n_ratings:
        raise ConfigError(
            f"{sized(size_of(ratings))}: nothing to reproduce with fewer than two users or items"
        )


def attempts(
    ways: Iterable[tuple[_Way, Anonymizer]],
    ratings: Ratings,
    seed: int,
    refused: dict[_Way, str],
    step: Callable[[float], None],
) -> Iterator[tuple[_Way, Attempt]]:
    """Make a release in every way not refused before; add refusals with their messages."""
    for way, method in ways:
        if way not in refused:
            try:
                made = attempt(method, ratings, seed)
            except UserError as error:
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


NETFLIX = "the Netflix Prize's ratings"
NETFLIX_USERS, NETFLIX_ITEMS, NETFLIX_RATINGS = 480_189, 17_770, 100_480_507
#: a data set that papers speak of → users, items, and how many of each rating there are
_KNOWN = {
    "MovieLens 100K": (943, 1_682, (6_110, 11_370, 27_145, 34_174, 21_201)),
    NETFLIX: (
        NETFLIX_USERS,
        NETFLIX_ITEMS,
        (4_617_990, 10_132_080, 28_811_247, 33_750_958, 23_168_232),
    ),
}


def known_data(ratings: Ratings) -> str:
    """Return the name of the data set that these ratings are; empty: none that papers speak of.

    Counts decide, except for made-up ratings of the same size.
    """
    for name, (users, items, counts) in _KNOWN.items():
        if (ratings.n_users, ratings.n_items, ratings.n_ratings) == (users, items, sum(counts)):
            found = np.bincount(ratings.codes, minlength=len(counts)).tolist()
            if found == list(counts):
                return name
    return ""
