"""How well what was held out is predicted from each release (PA Tables 1 and 3, Fig 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from starshade.audit.attempts import Attempt, compile_first
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.pa import paper
from starshade.audit.reproduction.pa.measured import METRICS, Pairs, Ranks
from starshade.audit.reproduction.pa.plan import PADDED, Line, padding
from starshade.audit.reproduction.pa.result import Row
from starshade.audit.reproduction.shared import attempts
from starshade.progress import silence, task
from starshade.ratings.holdout import hold_out
from starshade.ratings.table import Ratings
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Release
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.recommender_error import RecommenderError
from starshade.utility.held_out.self_rank import SelfRank
from starshade.utility.held_out.similar_user import SimilarUserDeviation

__all__ = ["ORIGINAL", "Errors", "measure_errors"]

ORIGINAL = "original"
_SOURCES = {
    ("1", "release"): "rmse_release",
    ("1", "refit"): "rmse_refit",
    ("3", "release"): "similar_user_deviation_release",
    ("3", "refit"): "similar_user_deviation_refit",
}
_Figures = dict[str, float | None]
_RELEASES = ("groups", "nulls", "one_rater", "seconds")
_PAPERS = {"1": paper.TARGET, "3": paper.SIMILAR_USER}


@dataclass(frozen=True)
class Errors:
    """What came out of all runs."""

    rows: tuple[Row, ...]  # tables 1 and 3, the original first
    releases: list[dict[str, Any]]  # see `PredictiveStudy`
    ranks: tuple[Ranks, ...]
    pairs: tuple[Pairs, ...]  # both of the first run; pairs of `padded` at the largest k
    # what a method refuses, with its words, and what a measure could not give
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class _Held:
    """What one run learns from, what was set aside, and the seed of everything in it."""

    train: Ratings
    probe: Ratings
    seed: int

    def measured(self, measure: Any, release: Release, *own: Any) -> Any:
        """Measure a release; `own`: what the measure takes beside what learns."""
        learns = measure(*own, recommender=padding(), seed=self.seed)
        return learns.measure(release, original=self.train, probe=self.probe)


def measure_errors(
    ratings: Ratings,
    lines: Sequence[Line],
    ks: Sequence[int],
    seeds: Sequence[int],
    share: float,
) -> Errors:
    """Hold out, anonymize by every line at every k, and predict; once for each seed.

    `share`: of the ratings, held out; a seed settles this and everything else that a run draws.
    """
    methods = {(line.name, k): line.at(k) for line in lines for k in ks}
    runs: dict[tuple[str, int], list[_Figures]] = {}
    refused: dict[tuple[str, int], str] = {}
    ranks: list[Ranks] = []
    pairs: list[Pairs] = []
    compile_first((line.at(2) for line in lines), ratings, seeds[0])
    with task("anonymizing and predicting", len(seeds) * len(methods)) as step:
        for seed in seeds:
            held = _Held(*hold_out(ratings, share, rng=seed), seed)
            for way, made in attempts(methods.items(), held.train, seed, refused, step):
                with silence():
                    runs.setdefault(way, []).append(_measure(made, held))
                    if seed == seeds[0]:
                        ranks += _ranks(made.release, held, *way)
                        if way == (PADDED, ks[-1]):
                            pairs += _pairs(made.release, held)
    return Errors(
        tuple(_rows(runs)),
        [_release(line, k, own) for (line, k), own in runs.items()],
        tuple(ranks),
        tuple(pairs),
        tuple(Skipped("1, 3", f"{name}, k = {k}", why) for (name, k), why in refused.items()),
    )


def _measure(made: Attempt, held: _Held) -> _Figures:
    release, classes = made.release, made.release.classes
    exact = release.exact
    assert isinstance(classes, Profiles)
    assert exact is not None
    rated = float((classes.n_rated() * classes.sizes).sum())
    return {
        **held.measured(RecommenderError, release).figures,
        **held.measured(SimilarUserDeviation, release).figures,
        "groups": float(exact.groups),
        "nulls": 1 - rated / (release.n_records * classes.n_items),
        "one_rater": exact.single_rater_cells,
        "seconds": made.seconds,
    }


def _ranks(release: Release, held: _Held, line: str, k: int) -> Iterator[Ranks]:
    result = held.measured(SelfRank, release)
    median = result.figures["self_rank_median"]
    if median is not None:
        yield Ranks(line, k, result.within, float(median))


def _pairs(release: Release, held: _Held) -> Iterator[Pairs]:
    for metric in METRICS:
        result = held.measured(PairwiseDissimilarity, release, metric)
        for where, shares, name in (
            ("before", result.all_pairs, "dissimilarity_all"),
            ("within", result.within, "dissimilarity_within"),
        ):
            mean = result.figures[name]
            if mean is not None:
                yield Pairs(metric, where, shares, float(mean))


def _rows(runs: dict[tuple[str, int], list[_Figures]]) -> list[Row]:
    if not runs:
        return []
    base = {way: tuple(_number(run, "rmse_original") for run in own) for way, own in runs.items()}
    first = next(iter(base.values()))
    rows = [Row("1", ORIGINAL, None, "original", first, first, paper.ORIGINAL_RMSE)]
    for (table, reading), name in _SOURCES.items():
        for way, own in runs.items():
            if all(run.get(name) is not None for run in own):
                line, k = way
                errors = tuple(_number(run, name) for run in own)
                theirs = _PAPERS[table].get(way) if reading == "release" else None
                rows.append(Row(table, line, k, reading, errors, base[way], theirs))
    return rows


def _number(run: _Figures, name: str) -> float:
    value = run[name]
    assert value is not None
    return float(value)


def _release(line: str, k: int, runs: Sequence[_Figures]) -> dict[str, Any]:
    row: dict[str, Any] = {"line": line, "k": k}
    for name in _RELEASES:
        known = [value for run in runs if (value := run[name]) is not None]
        row[name] = fmean(known) if known else None
    is_papers = line in ("padded", "simple")
    row["paper_groups"] = paper.GROUPS.get(k) if is_papers else None
    row["paper_nulls"] = paper.NULLS_IN_SIMPLE.get(k) if line == "simple" else None
    return row
