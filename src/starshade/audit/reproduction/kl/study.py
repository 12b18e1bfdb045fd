"""`reproduce_kl`: every figure of KL §5, every claim, every worked example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starshade.arguments import typed
from starshade.audit.attempts import check_ks, compile_first, numeric_attribute, seeds_of, size_of
from starshade.audit.reproduction.claims import judge
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.claims import CLAIMS, WAYS
from starshade.audit.reproduction.kl.configurations import CHOICES
from starshade.audit.reproduction.kl.figures import (
    answers_of,
    loss_figures,
    losses_of,
    query_figures,
    tables_of,
    time_figures,
)
from starshade.audit.reproduction.kl.grid import code_times, grids, in_the_same_code
from starshade.audit.reproduction.kl.lines import KS, lines_of
from starshade.audit.reproduction.kl.worked import worked_tables
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import PaperStudy, known_data, refuse_few
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.select import ItemSelection, top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.rng import Rng, generator, resolve_seed


@dataclass(frozen=True, kw_only=True)
class GeneralizationStudy(PaperStudy):
    """KL §5 on other data.

    Attributes
    ----------
    losses : list of dict
        Behind Figs 10-12: a row per line, k and run.
    queries : list of dict
        Behind Figs 13-15: a row per line, k, kind, size and run.
    attribute : str or None
        The attribute that queries average.
    """

    key = "kl"
    authors = "Riyana & Natwichai"
    whose = "The experiments of Riyana and Natwichai"

    losses: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    attribute: str | None

    def __str__(self) -> str:
        numbers = ", ".join(figure.number for figure in self.figures)
        of_paper = " These are the paper's own data." if self.data["paper_data"] else ""
        left = f" Left out, with reasons: {len(self.skipped)}." if self.skipped else ""
        return (
            f"{self.whose} on {self.size}: figures {numbers}.{of_paper} {self.verdicts} Points "
            f"are means of {counted(self.runs, 'run')}; times are medians and depend on the "
            f"machine.{left}"
        )


_TOP = 10  # the paper's number of movies
_PAPERS_OWN = (927, 10, 4_863)


@typed
@announced("study: Riyana & Natwichai")
def reproduce_kl(
    ratings: Ratings | None = None,
    *,
    items: ItemSelection | None = None,
    k: int | Sequence[int] = KS,
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
    k : int or sequence of int
        Each at least 2; k = 1, the original, is added.
    runs : int
        Runs of each experiment, each with its own seed; at least 1.
    draws : int
        Maximum number of conditions per item set and kind in a run (`QueryError`); each run
        draws its own.
    attribute : str, optional
        The numeric personal attribute that queries average. None: age, else the first numeric
        one; without any the figures of queries are left out.
    parts : Parts, optional
        Storage of finished parts; None: in memory.
    rng : int, Generator or None

    Returns
    -------
    GeneralizationStudy
        Figs 10-16, verdicts on the paper's claims, its worked examples.

    Raises
    ------
    ConfigError
        A parameter out of range, an unknown item or attribute, fewer than two users or items.

    Notes
    -----
    KL's queries run at k = 2, and in addition at k = 5, for any `k`.
    """
    if runs < 1 or draws < 1:
        raise ConfigError(f"{called('runs')} {runs}, {called('draws')} {draws}: at least 1 of each")
    tried, seed = check_ks(k), resolve_seed(rng)
    synthetic = ratings is None
    if ratings is None:
        ratings = synthesize(rng=generator(seed, "made-up ratings"))
    refuse_few(ratings)
    table = (top_items(min(_TOP, ratings.n_items)) if items is None else items).apply(ratings)
    numeric = numeric_attribute(table, attribute)  # refused before the long work
    lines, unfit = lines_of(table.scale)
    seeds = tuple(seeds_of(seed, runs))
    bench = Bench(ratings, table, lines, tried, seed, seeds, parts or Parts(), numeric, draws)
    compile_first((ln.at(min(tried)) for ln in lines if ln.reading is None), table, seeds[0])
    measured, times, refused = losses_of(bench)
    answers, unasked = answers_of(bench)
    codes = list(code_times(bench))
    figures = (
        *loss_figures(bench, measured),
        *query_figures(bench, answers),
        *time_figures(bench, times, codes),
    )
    data = known_data(ratings)
    return GeneralizationStudy(
        data={
            **size_of(table),
            "synthetic": synthetic,
            "users_left_out": ratings.n_users - table.n_users,
            "paper_data": bool(data)
            and (table.n_users, table.n_items, table.n_ratings) == _PAPERS_OWN,
        },
        figures=figures,
        losses=measured,
        queries=answers,
        claims=judge(CLAIMS, bench, data=data, ways=WAYS),
        worked=worked_tables(),
        choices=CHOICES,
        grids=(*grids(bench), *tables_of(measured, answers)),
        skipped=(*unfit, *refused, *unasked),
        attribute=numeric,
        runs=runs,
        times=in_the_same_code(codes),
        seed=seed,
        digest=digest_of(table),
    )
