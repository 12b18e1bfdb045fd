"""`reproduce_kl`: every figure of KL §5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.audit.attempts import check_ks, numeric_attribute, seeds_of, size_of
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.kl.checks import check_figures
from starshade.audit.reproduction.kl.measured import (
    KS,
    QUERY_KS,
    lines_of,
    loss_figures,
    measure_losses,
    original_loss,
    query_all,
    query_figures,
    time_figure,
)
from starshade.audit.reproduction.study import Check, PaperStudy
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.select import ItemSelection, top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.rng import Rng, generator, resolve_seed


@dataclass(frozen=True)
class GeneralizationStudy(PaperStudy):
    """KL §5 on other data.

    Attributes
    ----------
    data : dict
        Size and scale of what was anonymized.
    figures : tuple of Figure
        In the paper's order.
    losses : list of dict
        Behind Figs 10-12 and 16: a row per line, k and run.
    queries : list of dict
        Behind Figs 13-15: a row per line, k, kind, size and run.
    checks : tuple of Check
        The paper's sentences about its curves, held against ours.
    skipped : tuple of Skipped
        What the data could not give, and why.
    attribute : str or None
        What queries averaged.
    runs : int
        Of everything, each with a seed of its own.
    seconds : float
    seed : int
    digest : str
    version : str
    """

    key = "kl"
    authors = "Riyana & Natwichai"
    whose = "The experiments of Riyana and Natwichai"

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    losses: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    attribute: str | None
    runs: int
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    def __str__(self) -> str:
        return self._said(
            self.checks,
            f"Points are means of {counted(self.runs, 'run')}, times medians, which depend on the "
            "machine.",
        )


_TOP = 10  # the paper's number of movies
_NO_QUERIES = Skipped("13-15", "queries", "the data have no numeric personal attribute to average")


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
    rng : int, Generator or None

    Returns
    -------
    GeneralizationStudy
        Figs 10-16, and the paper's sentences about its curves held against ours.

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
    tried, seed, started = check_ks(ks), resolve_seed(rng), perf_counter()
    synthetic = ratings is None
    if ratings is None:
        ratings = synthesize(rng=generator(seed, "made-up ratings"))
    if not ratings.n_ratings:
        raise ConfigError("without ratings there is nothing to reproduce")
    chosen = top_items(min(_TOP, ratings.n_items)) if items is None else items
    table = chosen.apply(ratings)
    numeric = numeric_attribute(table, attribute)  # refused before the long work
    lines, unfit = lines_of(table.scale)
    seeds = seeds_of(seed, runs)
    original = original_loss(table)
    measured, refused = measure_losses(table, lines, tried, seeds)
    answers, unasked = (
        ([], [_NO_QUERIES])
        if numeric is None
        else query_all(table, lines, QUERY_KS, seeds, attribute=numeric, draws=draws)
    )
    figures = (
        *loss_figures(lines, measured, original),
        *query_figures(answers, numeric or ""),
        *time_figure(lines, measured),
    )
    return GeneralizationStudy(
        data={
            **size_of(table),
            "synthetic": synthetic,
            "users_left_out": ratings.n_users - table.n_users,
        },
        figures=figures,
        losses=[original, *measured],
        queries=answers,
        checks=check_figures(figures),
        skipped=(*unfit, *refused, *unasked),
        attribute=numeric,
        runs=runs,
        seconds=perf_counter() - started,
        seed=seed,
        digest=digest_of(table),
    )
