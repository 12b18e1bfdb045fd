"""`reproduce_kl`: every figure, table and claim of KL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.audit.attempts import check_ks, numeric_attribute, seeds_of, size_of
from starshade.audit.reproduction.claims import Judged, Untestable, judge, told
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.claims import CLAIMS, WAYS
from starshade.audit.reproduction.kl.configurations import CHOICES
from starshade.audit.reproduction.kl.figures import (
    loss_figures,
    loss_rows,
    query_figures,
    query_rows,
    time_figure,
    times_of,
    work_figure,
)
from starshade.audit.reproduction.kl.grids import grids_of
from starshade.audit.reproduction.kl.readings import lines_of
from starshade.audit.reproduction.kl.worked import worked_tables
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import PaperStudy, known_data
from starshade.audit.reproduction.worked import Worked
from starshade.errors import ConfigError
from starshade.figure import Table
from starshade.naming import called
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.select import ItemSelection, top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.rng import Rng, generator, resolve_seed

KS = tuple(range(2, 21))
_TOP = 10  # the paper's number of movies
_PAPERS_DATA = "MovieLens 100K"


@dataclass(frozen=True)
class GeneralizationStudy(PaperStudy):
    """KL §5 on other data, or on its own.

    Attributes
    ----------
    data : dict
        Size and scale of what was anonymized; ``paper_data``: whether it is the paper's own.
    figures : tuple of Figure
        In the paper's order; 16a is of work in place of time.
    claims : tuple of Judged
        What the paper says, and whether it holds here.
    losses : list of dict
        Behind Figs 10-12: a row per line, k and run.
    queries : list of dict
        Behind Figs 13-15: a row per line, k, kind, size and run.
    grids : tuple of Table
        Which reading gives Fig. 12, which Fig. 16; cells compared.
    worked : tuple of Worked
        Tables 2, 3, 5, 6 and the queries of §1.1.
    choices : tuple of Choice
        The three configurations.
    skipped : tuple of Skipped
        What the data could not give, and why.
    attribute : str or None
        What queries averaged.
    runs : int
        Of everything, each with a seed of its own.
    times : dict
        Seconds over all k, by line and by what was timed.
    seed : int
    digest : str
    version : str
    """

    key = "kl"
    authors = "Riyana & Natwichai"
    whose = "The experiments of Riyana and Natwichai"

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    claims: tuple[Judged, ...]
    losses: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    grids: tuple[Table, ...]
    worked: tuple[Worked, ...]
    choices: tuple[Choice, ...]
    skipped: tuple[Skipped, ...]
    attribute: str | None
    runs: int
    times: dict[str, float]
    seed: int
    digest: str
    version: str = field(default=__version__)

    def __str__(self) -> str:
        data, numbers = self.data, ", ".join(figure.number for figure in self.figures)
        left = f"Left out, with the reason: {len(self.skipped)}." if self.skipped else ""
        own = "This is the paper's own data." if data["paper_data"] else ""
        text = (
            f"{self.whose} on {data['users']:,} users, {data['items']:,} items and "
            f"{data['ratings']:,} ratings: figures {numbers}."
        )
        points = (
            f"Points are means of {counted(self.runs, 'run')}, times medians, which depend on the "
            "machine."
        )
        return " ".join(filter(None, (text, own, told(self.claims), points, left)))


@typed
@announced("study: Riyana & Natwichai")
def reproduce_kl(
    ratings: Ratings | None = None,
    *,
    items: ItemSelection | None = None,
    ks: Sequence[int] = KS,
    runs: int = 5,
    draws: int = 20,
    attribute: str | None = None,
    parts: Parts | None = None,
    rng: Rng = None,
) -> GeneralizationStudy:
    """Run Riyana and Natwichai's experiments on any ratings.

    Parameters
    ----------
    ratings : Ratings, optional
        None: made-up ratings of MovieLens 100K's size.
    items : ItemSelection, optional
        Which items to release; None: the paper's ten most rated, all where there are fewer.
    ks : sequence of int
        Each at least 2; k = 1, the original, stands before them.
    runs : int
        How often everything is done, each time with a seed of its own; at least 1.
    draws : int
        Conditions asked for each set of items and each kind in a run, at most (`QueryError`);
        each run draws its own.
    attribute : str, optional
        The numeric personal attribute that queries average. None: age, else the first numeric
        one; without any the figures of queries are left out.
    parts : Parts, optional
        Where what was measured is kept; a later call with the same request goes on from it.
    rng : int, Generator or None

    Returns
    -------
    GeneralizationStudy
        Figs 10-16, every claim with its verdict, and which reading gives which figure.

    Raises
    ------
    ConfigError
        A parameter out of range, an unknown item or attribute, no ratings.

    Notes
    -----
    KL's queries are asked at k = 2 and, beside it, k = 5, whatever `ks` says.
    """
    if runs < 1 or draws < 1:
        raise ConfigError(f"{called('runs')} {runs}, {called('draws')} {draws}: at least 1 of each")
    tried, seed = check_ks(ks), resolve_seed(rng)
    synthetic = ratings is None
    if ratings is None:
        ratings = synthesize(rng=generator(seed, "made-up ratings"))
    if not ratings.n_ratings:
        raise ConfigError("without ratings there is nothing to reproduce")
    chosen = top_items(min(_TOP, ratings.n_items)) if items is None else items
    table = chosen.apply(ratings)
    numeric = numeric_attribute(table, attribute)  # refused before the long work
    lines, unfit = lines_of(table.scale)
    bench = Bench(
        table,
        ratings,
        {line.name: line for line in lines},
        tried,
        tuple(seeds_of(seed, runs)),
        draws,
        numeric,
        parts or Parts(),
    )
    known = "" if synthetic or items is not None else known_data(ratings)
    return _studied(bench, known, {"synthetic": synthetic}, list(unfit), seed)


def _studied(
    bench: Bench, known: str, data: dict[str, Any], left: list[Skipped], seed: int
) -> GeneralizationStudy:
    table, lines = bench.ratings, list(bench.lines.values())
    losses, refused = loss_rows(bench)
    queries: list[dict[str, Any]] = []
    if bench.attribute is None:
        refused.append(_NO_QUERIES)
    else:
        queries, unasked = query_rows(bench)
        refused += unasked
    figures = [
        *loss_figures(lines, losses),
        *query_figures(bench.lines, queries, bench.attribute or ""),
    ]
    claims = judge(CLAIMS, bench, data=known, ways=WAYS)
    grids = grids_of(bench)
    timed = time_figure(bench)
    figures += [timed] if timed else []
    try:
        figures.append(work_figure(bench))
    except Untestable as why:
        refused.append(Skipped("16a", "cells compared", str(why)))
    return GeneralizationStudy(
        data={
            **size_of(table),
            **data,
            "users_left_out": bench.whole.n_users - table.n_users,
            "paper_data": known == _PAPERS_DATA,
        },
        figures=tuple(figures),
        claims=claims,
        losses=losses,
        queries=queries,
        grids=grids,
        worked=worked_tables(),
        choices=CHOICES,
        skipped=(*left, *refused),
        attribute=bench.attribute,
        runs=len(bench.seeds),
        times=times_of(timed),
        seed=seed,
        digest=digest_of(table),
    )


_NO_QUERIES = Skipped("13-15", "queries", "the data have no numeric personal attribute to average")
