"""The interval anonymizer over growing sizes, and what clusters save on MovieLens 100K.

Each job runs in a process of its own: the whole of `IntervalAnonymizer.anonymize`, kernels
compiled before. Printed are seconds, peak memory and distortion for each cell, the whole pattern
groups of the paper beside ours:

    python benchmarks/interval.py                    # up to 100,000 records
    python benchmarks/interval.py --largest 1000000
    python benchmarks/interval.py --table            # MovieLens 100K alone

The data are bootstrapped from MovieLens 100K's 20 most rated items where STARSHADE_DATA (default
../shared/data) has it, and survey-like: 1-5, three latent tastes, and one respondent in four who
left out one of four blocks of questions.
"""

from __future__ import annotations

import json
import resource
import time

import numpy as np

from at_hand import Options, run_job, up_to
from k_likeness import movielens
from k_likeness import survey as filled_survey
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.table import Release

ITEMS, K, EPS = 20, 20, 1
SIZES = (10_000, 100_000, 1_000_000)


def survey(n: int, m: int) -> np.ndarray:
    """Answers of which one respondent in four left out a block of m/4 questions."""
    rows = filled_survey(n, m)
    rng = np.random.default_rng(3)
    block = rng.integers(0, 16, n)  # 0…3: which one is left out; the others answered all
    rows[(np.arange(m) // (m // 4))[None, :] == block[:, None]] = 0
    return rows


DATA = {"movielens": movielens, "survey": survey}


def table(rows: np.ndarray) -> Ratings:
    user, item = np.nonzero(rows)
    scale = Scale(1, 5, 1)
    return Ratings(
        scale=scale,
        users=Vocabulary(np.arange(len(rows))),
        items=Vocabulary(np.arange(rows.shape[1])),
        indptr=np.searchsorted(user, np.arange(len(rows) + 1)).astype(np.int64),
        columns=item.astype(np.int32),
        codes=(rows[user, item] - 1).astype(np.uint8),
        levels=scale.levels,
    )


def distortion(ratings: Ratings, release: Release) -> float:
    """Σ|t − t′|, a null against a rating costing R = 5, counted anew from the cells."""
    cells = release.cells()
    shown = np.zeros((cells.n_groups, ratings.n_items))
    row = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
    shown[row, cells.columns] = cells.symbols.members[cells.symbols.offsets[cells.codes]]
    true = np.nan_to_num(ratings.dense())
    after = shown[release.private.link.record]
    odd = (true == 0) != (after == 0)
    return float(np.abs(true - after)[~odd].sum() + 5 * odd.sum())


def job(data: str, n: int, partition: str, k: int, eps: float, nulls: str) -> dict[str, float]:
    method = IntervalAnonymizer(k, eps, partition=partition, nulls=nulls)
    method.anonymize(table(DATA[data](900, ITEMS)), rng=0)  # compiles
    ratings = table(DATA[data](n, ITEMS))
    start = time.perf_counter()
    release = method.anonymize(ratings, rng=0)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    kept = ratings.drop_empty_users()
    total = distortion(kept, release)
    cells = kept.n_users * kept.n_items
    return {"seconds": seconds, "peak_gb": peak, "distortion": total, "per_cell": total / cells}


def growth(largest: int) -> None:
    print("data       records      whole s   GB  per cell   cluster s   GB  per cell")
    for data in DATA:
        for n in up_to(largest, SIZES):
            found = [run_job("--job", data, n, p, K, EPS, "strict") for p in ("whole", "cluster")]
            shown = "  ".join(
                f"{f['seconds']:9.2f} {f['peak_gb']:4.2f} {f['per_cell']:9.4f}" for f in found
            )
            print(f"{data:9} {n:9,}  {shown}", flush=True)


def frontier() -> None:
    print("MovieLens 100K, 936 x 20, as it is: distortion")
    print("nulls   k  eps     whole   cluster    saved")
    for nulls in ("strict", "ignore"):
        for k in (5, 20):
            for eps in (1, 2):
                whole, cluster = (
                    run_job("--job", "movielens", 936, p, k, eps, nulls)["distortion"]
                    for p in ("whole", "cluster")
                )
                saved = 1 - cluster / whole
                print(f"{nulls:6} {k:2} {eps:4} {whole:9,.0f} {cluster:9,.0f} {saved:8.1%}")


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--largest", type=int, default=100_000, smoke=300)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--job", nargs=6)
    options = parser.parse_args()
    if options.job:
        data, n, partition, k, eps, nulls = options.job
        print(json.dumps(job(data, int(n), partition, int(k), float(eps), nulls)))
        return
    if len(movielens(1, ITEMS)):
        frontier()
    else:
        DATA.pop("movielens")
    if not options.table:
        growth(options.largest)


if __name__ == "__main__":
    main()
