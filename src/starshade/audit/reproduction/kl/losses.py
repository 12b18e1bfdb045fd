"""What every line loses at every k, and how long it takes (KL Figs 10-12, 16)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.points import Points
from starshade.anonymize.prepare import prepare
from starshade.audit.attempts import ORIGINAL, compile_first, untouched
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.kl.plan import Line
from starshade.audit.reproduction.shared import Row, attempts
from starshade.progress import silence, task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.class_sizes import AverageClassSize, Discernibility
from starshade.utility.generalization_loss import GeneralizationLoss

__all__ = ["measure_losses", "original_loss"]


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
