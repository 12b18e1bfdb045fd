"""What PA's tables and figures are made of: the lines compared, errors, bins, pairs, ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import Attempt, compile_first, made_of
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.pa.result import Row
from starshade.audit.reproduction.study import attempts
from starshade.progress import silence, task
from starshade.ratings.holdout import hold_out
from starshade.ratings.table import Ratings
from starshade.recommend.registry import Recommender
from starshade.recommend.settings import Dissimilarity
from starshade.registry import find
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.utility.held_out.nearest import SelfRank, SimilarUserDeviation
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.recommender_error import RecommenderError

METRICS: tuple[Dissimilarity, ...] = ("weighted-sq", "closeness-0.5", "closeness-1.0", "weighted")


@dataclass(frozen=True, eq=False)
class BinSizes:
    """How many users have each centre for their nearest (Fig 3)."""

    centres: str  # means of clusters, or in each cluster the member nearest to its mean
    sizes: NDArray[np.int64]  # ascending; an empty bin counts

    @property
    def spread(self) -> float:
        """Standard deviation over mean: how skewed the sizes are."""
        return float(self.sizes.std() / self.sizes.mean())


@dataclass(frozen=True)
class Pairs:
    """Dissimilarities of pairs of users on padded rows (Fig 4)."""

    metric: str
    where: str  # all pairs of the users drawn, or pairs within a cluster
    shares: tuple[float, ...]  # of the pairs, in 20 bins of 0.05; the last holds 1 too
    mean: float

    @property
    def effective_bins(self) -> float:
        """How many bins the distribution fills: 1 / Σ share²."""
        return 1 / sum(share * share for share in self.shares)


@dataclass(frozen=True)
class Ranks:
    """Self-ranks of users on one release (Fig 5)."""

    line: str
    k: int
    # share of the users whose own profile is among the nearest 1 %, 2 %, …, 100 % of all
    within: tuple[float, ...]
    median: float  # percentile


PADDED, SIMPLE = "padded", "simple"
EXCHANGED = "padded, exchanged (ours)"
MODEL = "model, exchanged (ours)"
POOLED = "pooled, exchanged (ours)"


@dataclass(frozen=True, eq=False)
class Line:
    """One way to make a profile of a group."""

    name: str
    profile: str  # as starshade names it
    settings: dict[str, Any]  # how groups are formed

    def at(self, k: int) -> Anonymizer:
        """Return the method; no item is left out."""
        settings = {"k": k, "rare_items": "keep", "profile": self.profile, **self.settings}
        return made_of(find(ENTRIES, "predictive", "method"), settings)


_PAPERS = {"grouping": "t-means", "weights": "uniform"}
_OURS = {"grouping": "exchange", "weights": "support"}
LINES = (  # in this order the lines have the same colours in every figure
    Line(PADDED, "padded", _PAPERS),
    Line(SIMPLE, "simple", _PAPERS),
    Line(EXCHANGED, "padded", _OURS),
    Line(MODEL, "model", _OURS),
    Line(POOLED, "pooled", _OURS),
)


def padding() -> Recommender:
    """Return the recommender that pads: the same one predicts from originals and releases."""
    return PredictiveAnonymizer(k=2).padding()


KS = (5, 50)
ORIGINAL_RMSE = 0.951849  # Table 1; of the recommender on the data before anonymization

#: Table 1: (profile, k) → target deviation
TARGET = MappingProxyType(
    {
        ("padded", 5): 0.95970,
        ("padded", 50): 0.95871,
        ("simple", 5): 2.36947,
        ("simple", 50): 2.3771,
    }
)
#: Table 3: (profile, k) → similar-user deviation
SIMILAR_USER = MappingProxyType({("padded", 50): 1.00563, ("simple", 50): 1.17525})
#: Table 2: rating (0: null) → % of all cells before and after padding
HISTOGRAM = MappingProxyType(
    {
        0: (98.84, 0.0),
        1: (0.053, 0.79),
        2: (0.117, 14.12),
        3: (0.334, 46.71),
        4: (0.390, 33.49),
        5: (0.267, 4.89),
    }
)
GROUPS = MappingProxyType({50: 9_294})  # §7.2
NULLS_IN_SIMPLE = MappingProxyType({50: 0.80})  # §7.2; share of the cells
#: Fig 3, by the text of §4.2: the least and the greatest size of a cluster, about
BIN_SIZES = MappingProxyType({"virtual": (200, 900), "real": (50, 2000)})


ORIGINAL = "original"
_SOURCES = {
    ("1", "release"): "rmse_release",
    ("1", "refit"): "rmse_refit",
    ("3", "release"): "similar_user_deviation_release",
    ("3", "refit"): "similar_user_deviation_refit",
}
_Figures = dict[str, float | None]
_RELEASES = ("groups", "nulls", "one_rater", "seconds")
_COMPARED = {"1": TARGET, "3": SIMILAR_USER}


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
    rows = [Row("1", ORIGINAL, None, "original", first, first, ORIGINAL_RMSE)]
    for (table, reading), name in _SOURCES.items():
        for way, own in runs.items():
            if all(run.get(name) is not None for run in own):
                line, k = way
                errors = tuple(_number(run, name) for run in own)
                theirs = _COMPARED[table].get(way) if reading == "release" else None
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
    row["paper_groups"] = GROUPS.get(k) if is_papers else None
    row["paper_nulls"] = NULLS_IN_SIMPLE.get(k) if line == "simple" else None
    return row
