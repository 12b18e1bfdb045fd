"""What every line loses at every k, and how long it takes (KL Figs 10-12, 16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.points import Points
from starshade.anonymize.prepare import prepare
from starshade.audit.attempts import ORIGINAL, attempt, compile_first, untouched
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.kl.plan import Line
from starshade.errors import UnmetError, UserError
from starshade.progress import silence, task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.class_sizes import AverageClassSize, Discernibility
from starshade.utility.generalization_loss import GeneralizationLoss

__all__ = ["Loss", "Measured", "measure_losses", "original_loss"]


@dataclass(frozen=True)
class Loss:
    """The three figures of one release."""

    dm: float
    c_avg: float
    gen_iloss: float


@dataclass(frozen=True)
class Measured:
    """One line at one k, run by run."""

    line: str
    k: int  # 1: the original
    losses: tuple[Loss, ...]
    seconds: tuple[float, ...] = ()  # from ratings to release; empty for the original
    grouping: tuple[float, ...] = ()  # for the groups alone


def original_loss(ratings: Ratings) -> Measured:
    """Measure the ratings as they are: classes are records that happen to be equal."""
    return Measured(ORIGINAL, 1, (_loss(untouched(ratings), ratings, 1),))


def measure_losses(
    ratings: Ratings, lines: Sequence[Line], ks: Sequence[int], seeds: Sequence[int]
) -> tuple[list[Measured], list[Skipped]]:
    """Make and measure a release of every line at every k, once for each seed, in turns.

    Each k is at least 2; what a method refuses is skipped, with its words.
    """
    ways = [(line, k) for line in lines for k in ks]
    measured: dict[tuple[Line, int], list[tuple[Loss, float, float]]] = {}
    refused: dict[tuple[Line, int], str] = {}
    compile_first((line.at(min(ks)) for line in lines), ratings, seeds[0])
    with task("anonymizing", len(seeds) * len(ways)) as step:
        for seed in seeds:
            for line, k in ways:
                if (line, k) not in refused:
                    try:
                        run = _run(line.at(k), ratings, k, seed)
                    except (UserError, UnmetError) as error:
                        refused[line, k] = error.message
                    else:
                        measured.setdefault((line, k), []).append(run)
                step(1)
    return [_together(line, k, runs) for (line, k), runs in measured.items()], _skipped(refused)


def _run(method: Anonymizer, ratings: Ratings, k: int, seed: int) -> tuple[Loss, float, float]:
    made = attempt(method, ratings, seed)
    return _loss(made.release, ratings, k), made.seconds, _time_groups(method, ratings, k, seed)


def _time_groups(method: Anonymizer, ratings: Ratings, k: int, seed: int) -> float:
    """Return the seconds of what methods differ in; every one of these forms groups."""
    assert isinstance(method, Grouping)
    with silence():
        table = prepare(ratings, k, rare_items="keep").ratings
        points = Points(table, np.empty((table.n_users, 0), np.uint8))
        started = perf_counter()
        method.group(points, seed)
        return perf_counter() - started


def _loss(release: Release, ratings: Ratings, k: int) -> Loss:
    figures = {
        **Discernibility().measure(release).figures,
        **AverageClassSize(k).measure(release).figures,
        **GeneralizationLoss().measure(release, ratings).figures,
    }
    dm, c_avg, gen_iloss = (figures[name] for name in ("dm", "c_avg", "gen_iloss"))
    assert dm is not None
    assert c_avg is not None
    assert gen_iloss is not None
    return Loss(float(dm), float(c_avg), float(gen_iloss))


def _together(line: Line, k: int, runs: list[tuple[Loss, float, float]]) -> Measured:
    losses, seconds, grouping = zip(*runs, strict=True)
    return Measured(line.name, k, losses, seconds, grouping)


def _skipped(refused: dict[tuple[Line, int], str]) -> list[Skipped]:
    """Say what was refused, alike refusals once."""
    ks_of: dict[tuple[str, str], list[int]] = {}
    for (line, k), reason in refused.items():
        ks_of.setdefault((line.name, reason), []).append(k)
    return [
        Skipped("10-12, 16", f"{name}, k = {', '.join(map(str, ks))}", reason)
        for (name, reason), ks in ks_of.items()
    ]
