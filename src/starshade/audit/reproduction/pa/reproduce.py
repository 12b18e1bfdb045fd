"""`reproduce_pa`: PA's tables, figures and claims on any data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from starshade import budget
from starshade.arguments import typed
from starshade.audit.attempts import check_ks, seeds_of, size_of
from starshade.audit.reproduction.claims import judge
from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.pa.bench import FEWEST, Bench
from starshade.audit.reproduction.pa.claims import CLAIMS, WAYS
from starshade.audit.reproduction.pa.configurations import CHOICES, LARGE, LINES
from starshade.audit.reproduction.pa.facts import histogram
from starshade.audit.reproduction.pa.figures import (
    bins_figure,
    error_figure,
    measured,
    pair_figure,
    rank_figure,
    releases_of,
    rows_of,
)
from starshade.audit.reproduction.pa.grids import grids_of, tables_of
from starshade.audit.reproduction.pa.padding import level_rows
from starshade.audit.reproduction.pa.released import REFIT_CELLS
from starshade.audit.reproduction.pa.result import LevelRow, PredictiveStudy
from starshade.audit.reproduction.pa.worked import worked_tables
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import known_data, refuse_few
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import announced, note
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.rng import Rng, generator, resolve_seed

KS = (5, 10, 50)
_USERS, _ITEMS = 2_000, 2_000  # of the ratings that are made up where no data are given
_SMALL = 2_000_000  # ratings from which on threads are worth having
_LARGE = 20_000_000  # ratings from which on no more than `LARGE` is run


@typed
@announced("study: Chang et al.")
def reproduce_pa(
    ratings: Ratings | None = None,
    *,
    n_users: int | None = None,
    n_items: int | None = None,
    k: int | Sequence[int] = KS,
    runs: int = 5,
    share: float = 0.1,
    parts: Parts | None = None,
    rng: Rng = None,
) -> PredictiveStudy:
    """Run the experiments of Chang, Thompson, Wang and Yao on any ratings.

    Parameters
    ----------
    ratings : Ratings, optional
        None: made-up ratings like Netflix's.
    n_users, n_items : int, optional
        Size of made-up ratings if none are given; None: 2,000 of each. The Netflix Prize has
        480,189 and 17,770.
    k : int or sequence of int
        Least sizes of a group, each at least 2.
    runs : int
        Runs of each experiment, each with its own seed; at least 1.
    share : float
        Share of held-out ratings, above 0 and below 1.
    parts : Parts, optional
        Storage of finished parts; None: in memory.
    rng : int, Generator or None

    Returns
    -------
    PredictiveStudy
        Tables 1-3 and Figs 3-5 with the paper's numbers, verdicts on its claims, and the effect of
        each change from its algorithm to ours.

    Raises
    ------
    ConfigError
        A parameter out of range, fewer than two users or items, or too few to hold any out.
    """
    if runs < 1:
        raise ConfigError(f"{called('runs')} {runs}: at least 1")
    tried, seed = check_ks(k), resolve_seed(rng)
    synthetic = ratings is None
    if ratings is None:
        size = {"n_users": n_users or _USERS, "n_items": n_items or _ITEMS}
        ratings = synthesize("netflix", **size, rng=generator(seed, "made-up ratings"))
    refuse_few(ratings)
    lines = LARGE if ratings.n_ratings > _LARGE else tuple(LINES)
    _say_memory(ratings, tried)
    bench = Bench(
        ratings, tuple(tried), tuple(seeds_of(seed, runs)), share, parts or Parts(), lines
    )
    bench.held(bench.seeds[0])  # refuses a share, before any work
    # on few ratings threads wait for each other five times as long as they work
    with budget.limits(threads=1 if ratings.n_ratings < _SMALL else None):
        return _studied(bench, synthetic, seed)


def _studied(bench: Bench, synthetic: bool, seed: int) -> PredictiveStudy:
    ratings = bench.ratings
    ways, skipped = measured(bench)
    rows = tuple(rows_of(bench, ways))
    if not rows:
        why = "the original predicts no held-out rating, or all without error"
        skipped.append(Skipped("1, 3", "the tables", why))
    grids, missing = grids_of(bench, ways)
    figures: list[Figure] = []
    left: list[Skipped] = []
    makers: tuple[tuple[str, Callable[[], Iterable[Figure]]], ...] = (
        ("3", lambda: bins_figure(bench)),
        ("4", lambda: pair_figure(bench)),
        ("5", lambda: rank_figure(bench, ways)),
        ("6", lambda: error_figure(rows)),
    )
    for number, make in makers:
        try:
            figures += list(make())
        except Untestable as why:
            left.append(Skipped(number, "the figure", str(why)))
    levels = tuple(_levels(bench, left))
    left += [
        Skipped("claims", f"k = {k}", f"fewer than {FEWEST} groups; claims over k exclude it")
        for k in bench.ks
        if k not in bench.judged_ks
    ]
    claims = judge(CLAIMS, bench, data="" if synthetic else known_data(ratings), ways=WAYS)
    releases = list(releases_of(bench, ways))
    return PredictiveStudy(
        data={**size_of(ratings), "synthetic": synthetic},
        claims=claims,
        tables=rows,
        histogram=levels,
        releases=releases,
        figures=tuple(figures),
        grids=(*tables_of(rows, levels, releases), *grids),
        worked=worked_tables(),
        choices=CHOICES,
        skipped=(*skipped, *left, *missing),
        runs=len(bench.seeds),
        share=bench.share,
        times=bench.parts.times(_release_of),
        seed=seed,
        digest=digest_of(ratings),
    )


def _release_of(part: str) -> str:
    name = part.removeprefix("all: ").rpartition(", seed ")[0]
    return name if name.rpartition(", k = ")[0] in LINES else ""


def _levels(bench: Bench, left: list[Skipped]) -> Iterator[LevelRow]:
    try:
        found = histogram(bench, bench.seeds[0])
    except Untestable as why:
        left.append(Skipped("Table 2", "histogram", str(why)))
    else:
        yield from level_rows(found, bench.ratings.scale)


def _say_memory(ratings: Ratings, ks: Sequence[int]) -> None:
    """Say what will be needed, as far as it grows: ratings, one release, what is made of it."""
    table = ratings.n_ratings * (ratings.columns.itemsize + ratings.codes.itemsize)
    profiles = ratings.n_users // min(ks) * ratings.n_items
    learned = _EACH * min(REFIT_CELLS, profiles)
    need = 4 * table + 8 * ratings.n_ratings + 3 * profiles + learned + 8 * 17 * 4 * ratings.n_users
    note(f"about {budget.amount(need)} of memory: ratings and one release at a time")


_EACH = 40  # bytes of a cell of profiles that a recommender learns from
