"""KL Figs 10-16: what every line loses, how wrong answers become, how long it takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.points import Points
from starshade.anonymize.prepare import prepare
from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import ORIGINAL, compile_first, made_of, untouched
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.figures import Figure, Series, Skipped
from starshade.audit.reproduction.study import Row, attempts, points_of
from starshade.progress import silence, task
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.table import Release
from starshade.utility.losses import AverageClassSize, Discernibility, GeneralizationLoss
from starshade.utility.query_error import QueryError


def original_loss(ratings: Ratings) -> Row:
    """Measure the ratings as they are: classes are records that happen to be equal."""
    return _row(ORIGINAL, 1, 1, untouched(ratings), ratings)


def measure_losses(
    ratings: Ratings, lines: Sequence[Line], ks: Sequence[int], seeds: Sequence[int]
) -> tuple[list[Row], list[Skipped]]:
    """Make and measure a release of every line at every k, once for each seed, in turns.

    Each k is at least 2; what a method refuses is skipped, with its words. A row per line, k and
    run.
    """
    methods = {(line.name, k): line.at(k) for line in lines for k in ks}
    rows: dict[tuple[str, int], list[Row]] = {way: [] for way in methods}
    refused: dict[tuple[str, int], str] = {}
    compile_first((line.at(min(ks)) for line in lines), ratings, seeds[0])
    with task("anonymizing", len(seeds) * len(methods)) as step:
        for seed in seeds:
            for way, made in attempts(methods.items(), ratings, seed, refused, step):
                own, (name, k) = rows[way], way
                row = _row(name, k, len(own) + 1, made.release, ratings)
                alone = _time_groups(methods[way], ratings, k, seed)
                own.append(row | {"seconds": made.seconds, "grouping_seconds": alone})
    return [row for own in rows.values() for row in own], _skipped(refused)


def _row(line: str, k: int, run: int, release: Release, ratings: Ratings) -> Row:
    dm = Discernibility().measure(release).figures["dm"]
    assert dm is not None
    return {
        "line": line,
        "k": k,
        "run": run,
        "dm": int(dm),
        "c_avg": AverageClassSize(k).measure(release).figures["c_avg"],
        "gen_iloss": GeneralizationLoss().measure(release, ratings).figures["gen_iloss"],
        # from ratings to release; for the groups alone
        "seconds": None,
        "grouping_seconds": None,
    }


def _time_groups(method: Anonymizer, ratings: Ratings, k: int, seed: int) -> float:
    """Return the seconds of what methods differ in; every one of these forms groups."""
    assert isinstance(method, Grouping)
    with silence():
        table = prepare(ratings, k, rare_items="keep").ratings
        points = Points(table, np.empty((table.n_users, 0), np.uint8))
        started = perf_counter()
        method.group(points, seed)
        return perf_counter() - started


def _skipped(refused: dict[tuple[str, int], str]) -> list[Skipped]:
    """Say what was refused, alike refusals once."""
    ks_of: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (name, k), reason in refused.items():
        ks_of[name, reason].append(str(k))
    return [
        Skipped("10-12, 16", f"{name}, k = {', '.join(ks)}", reason)
        for (name, reason), ks in ks_of.items()
    ]


def query_all(
    ratings: Ratings,
    lines: Sequence[Line],
    ks: Sequence[int],
    seeds: Sequence[int],
    *,
    attribute: str,
    draws: int,
) -> tuple[list[Row], list[Skipped]]:
    """Ask the same queries of a release of every line at every k, once for each seed.

    The attribute is averaged; lines that are not `queried` are passed over; `draws`: conditions for
    each set of items and kind, at most. What a method refuses is skipped, with its words. A row
    per line, k, kind and size of condition (of a range its width), and run; errors are means in per
    cent, |x - x0|/x (KL Eq. 7; x is the release's) and over the truth x0.
    """
    methods = {(line.name, k): line.at(k, "exact") for k in ks for line in lines if line.queried}
    rows: dict[tuple[str, int, str, int], list[Row]] = defaultdict(list)
    refused: dict[tuple[str, int], str] = {}
    with task("asking queries", len(seeds) * len(methods)) as step:
        for seed in seeds:
            measure = QueryError(attribute=attribute, draws=draws, seed=seed)
            for (name, k), made in attempts(methods.items(), ratings, seed, refused, step):
                with silence():
                    steps = measure.measure(made.release, ratings).steps
                for one in steps:
                    if one.error is not None:
                        own = rows[name, k, one.kind, one.size]
                        own.append(
                            {
                                "line": name,
                                "k": k,
                                "kind": one.kind,
                                "size": one.size,
                                "run": len(own) + 1,
                                "error": one.error,
                                "error_of_truth": one.error_of_truth or 0.0,
                                "conditions": one.conditions,
                            }
                        )
    skipped = [
        Skipped("13-15", f"{name}, k = {k}", reason) for (name, k), reason in refused.items()
    ]
    if not rows and not skipped:
        skipped = [Skipped("13-15", "queries", "no condition has an answer on these ratings")]
    return [row for own in rows.values() for row in own], skipped


ASKED_AT = "k = {}"
WHOLE, ALONE = "from ratings to release", "forming groups alone"

_LOSSES = (
    ("10", "Discernibility", "dm", "DM"),
    ("11", "Average class size C_AVG", "c_avg", "records / (classes · k)"),
    ("12", "Generalization loss (GenILoss)", "gen_iloss", "mean width of a cell"),
)
_QUERIES = (
    ("13", "or", "Query error under OR", "items in the condition"),
    ("14", "and", "Query error under AND", "items in the condition"),
    ("15", "range", "Query error of rating ranges", "width of the range"),
)
_Dotted = partial(Figure, dotted=True)


def loss_figures(lines: Sequence[Line], rows: Sequence[Row], original: Row) -> Iterator[Figure]:
    """Make Figs 10-12: a panel for the methods, one for k-Likeness under each hierarchy."""
    panels = {
        "methods": [line for line in lines if not line.is_hierarchy],
        "k-Likeness under each hierarchy": [line for line in lines if line.method == "k-likeness"],
    }
    for number, title, name, y_title in _LOSSES:
        first = points_of([original], "k", name)
        series = tuple(
            Series(line.name, panel, first + points)
            for panel, own in panels.items()
            for line in own
            if (points := points_of(rows, "k", name, line=line.name))
        )
        if series:
            yield _Dotted(number, title, "k", y_title, "number", series, y_log=name == "dm")


def query_figures(rows: Sequence[Row], attribute: str) -> Iterator[Figure]:
    """Make Figs 13-15: a panel for each k."""
    for number, kind, title, x_title in _QUERIES:
        own = [row for row in rows if row["kind"] == kind]
        series = tuple(
            Series(line, ASKED_AT.format(k), points_of(own, "size", "error", line=line, k=k))
            for k, line in dict.fromkeys((row["k"], row["line"]) for row in own)
        )
        if series:
            y_title = f"relative error of AVG({attribute}), %"
            yield _Dotted(number, title, x_title, y_title, "number", series)


def time_figure(lines: Sequence[Line], rows: Sequence[Row]) -> Iterator[Figure]:
    """Make Fig 16: the whole way, and what methods differ in."""
    series = tuple(
        Series(line.name, panel, points)
        for panel, name in ((WHOLE, "seconds"), (ALONE, "grouping_seconds"))
        for line in lines
        if not line.is_hierarchy and (points := points_of(rows, "k", name, median, line=line.name))
    )
    if series:
        title = "Time of anonymizing"
        yield _Dotted("16", title, "k", "seconds (median)", "seconds", series, y_log=True)


KS = tuple(range(2, 21))
QUERY_KS = (2, 5)  # the paper's, and one that is used in practice
LIKENESS, DGH_A, DGH_B, DGH_C = (
    f"k-Likeness, {hierarchy}" for hierarchy in ("NDGH", "DGH (a)", "DGH (b)", "DGH (c)")
)
MEMBER, MONDRIAN, RELAXED = "k-Member", "Mondrian", "Mondrian relaxed"
EXCHANGE = "k-exchange (ours)"


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    name: str
    # `method`, `hierarchy`: as starshade names them
    method: str
    hierarchy: str
    # whether queries are asked of it: the paper leaves two hierarchies out there
    queried: bool = True

    @property
    def is_hierarchy(self) -> bool:
        """Whether it differs from k-Likeness with NDGH in the hierarchy alone."""
        return self.method == "k-likeness" and self.name != LIKENESS

    def at(self, k: int, attributes: str = "none") -> Anonymizer:
        """Return the method; no item is left out."""
        settings = {"k": k, "hierarchy": self.hierarchy, "attributes": attributes}
        return made_of(find(ENTRIES, self.method, "method"), settings | {"rare_items": "keep"})


def lines_of(scale: Scale) -> tuple[tuple[Line, ...], tuple[Skipped, ...]]:
    """Return the lines that a scale allows, and those that it does not.

    The paper's three hierarchies are made for null = 0 and the ratings 1 to 5; elsewhere two
    halves of the scale stand for (b).
    """
    fits = scale == Scale(1, 5, 1)
    middle = Line(DGH_B, "k-likeness", "dgh-b" if fits else "dgh")
    shallow = (
        Line(DGH_A, "k-likeness", "dgh-a", queried=False),
        Line(DGH_C, "k-likeness", "dgh-c", queried=False),
    )
    lines = (  # in this order the lines have the same colours in every figure
        Line(LIKENESS, "k-likeness", "ndgh"),
        Line(MEMBER, "k-member", "range"),
        Line(MONDRIAN, "mondrian", "range"),
        Line(RELAXED, "mondrian-relaxed", "range"),
        Line(EXCHANGE, "k-exchange", "ndgh"),
        middle,
        *(shallow if fits else ()),
    )
    if fits:
        return lines, ()
    reason = f"made for the ratings 1 to 5, not for scale {scale}; (b) is two halves of it"
    return lines, tuple(Skipped("10-12", line.name, reason) for line in shallow)
