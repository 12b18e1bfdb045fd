"""`reproduce_sq`: the satisfaction problem (SQ), with SR's measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.audit.reproduction.claims import Judged, judge
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.sq.claims import CLAIMS, WAYS
from starshade.audit.reproduction.sq.configurations import CHOICES
from starshade.audit.reproduction.sr.charted import jobs_of, time_figures, work_figures
from starshade.audit.reproduction.sr.grids import grids_of
from starshade.audit.reproduction.sr.measured import run_jobs, skipped_of
from starshade.audit.reproduction.sr.study import SpeedStudy, bench_of, data_of, times_of
from starshade.audit.reproduction.sr.worked import worked_tables
from starshade.audit.reproduction.study import known_data
from starshade.audit.reproduction.worked import Worked
from starshade.figure import Table
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.rng import Rng, resolve_seed

_NUMBERS = {"3a": "1a", "3b": "1b", "5a": "2a", "5ac": "2ac", "5b": "2b", "5bc": "2bc"}


@dataclass(frozen=True)
class SatisfactionStudy(SpeedStudy):
    """SQ on other data; fields as in SR's `Study`."""

    key = "sq"
    authors = "Sun, Wang & Li"
    whose = "The experiments of Sun, Wang and Li"
    made_up = "made-up survey"

    data: dict[str, Any]
    claims: tuple[Judged, ...]
    figures: tuple[Figure, ...]
    worked: tuple[Worked, ...]
    choices: tuple[Choice, ...]
    grids: tuple[Table, ...]
    skipped: tuple[Skipped, ...]
    times: dict[str, Any]
    repeats: int
    runs: int
    seed: int
    digest: str
    version: str = field(default=__version__)


@typed
@announced("study: Sun, Wang & Li")
def reproduce_sq(
    ratings: Ratings | None = None,
    *,
    sensitive: Sequence[str] = (),
    top: int = 20,
    repeats: int = 3,
    runs: int = 5,
    parts: Parts | None = None,
    rng: Rng = None,
) -> SatisfactionStudy:
    """Run the experiments on the satisfaction problem on any ratings.

    Parameters
    ----------
    ratings, sensitive, top, repeats, runs, parts, rng
        As `reproduce_sr` has them.

    Returns
    -------
    SatisfactionStudy
        Figs 1 and 2, and the paper's claims held against what was measured.

    Raises
    ------
    ConfigError
        As `reproduce_sr`.
    """
    seed = resolve_seed(rng)
    bench, synthetic = bench_of(
        ratings, sensitive, top, None, trials=0, runs=runs, parts=parts, seed=seed
    )
    timed, refused = run_jobs(
        jobs_of(bench.workloads, bench.grid, "35"), repeats=repeats, seed=seed
    )
    drawn = (
        *work_figures(bench, "35"),
        *time_figures(bench.workloads, bench.grid, timed),
    )
    figures = [
        replace(each, number=_NUMBERS[each.number]) for each in drawn if each.number in _NUMBERS
    ]
    return SatisfactionStudy(
        data=data_of(bench, synthetic=synthetic),
        claims=judge(CLAIMS, bench, data=known_data(bench.ratings), ways=WAYS),
        figures=tuple(sorted(figures, key=lambda figure: figure.place)),
        worked=tuple(each for each in worked_tables() if each.number in _WORKED),
        choices=CHOICES,
        grids=grids_of(bench),
        skipped=tuple(replace(each, figure="1-2") for each in skipped_of(refused)),
        times=times_of(timed),
        repeats=repeats,
        runs=runs,
        seed=seed,
        digest=digest_of(bench.ratings),
    )


_WORKED = ("Table 1", "§4.1, examples")
