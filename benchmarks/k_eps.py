"""Who is ε-proximate to whom: starshade's tree beside slicing, all pairs, and SciPy's cKDTree.

Each job runs in a process of its own, interleaved; medians of time are printed with the ratio to
the tree's, peak memory (of the whole process, imports included), the growth exponent between
sizes, and whether all counted the same:

    python benchmarks/k_eps.py                     # up to 100,000 records, some minutes
    python benchmarks/k_eps.py --largest 1000000   # the tree alone beyond 200,000 (cKDTree: a
                                                   # sample of queries, scaled up and marked ~)

Twenty items, ε = 1, two cores. "Full" counts every ball to its end, "capped" may stop at k = 20,
which answers yes or no with the failing records; slicing, all pairs and cKDTree count fully
either way. The data are rows of MovieLens 100K's top 20 drawn again and again, where
STARSHADE_DATA (default ../shared/data) has it, and a survey of 20 questions answered 1-6 with
correlated answers and missing blocks. Null counts as 0 unless --nulls says otherwise; cKDTree
knows no other rule.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import time
from argparse import SUPPRESS, Namespace

import numpy as np

from at_hand import ML_100K, Options, peak_mb, public, run_job, up_to

ITEMS, EPS, K = 20, 1, 20
SIZES = (6_250, 12_500, 25_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
LARGEST = {"tree": 10**9, "cKDTree": 200_000, "slicing": 200_000, "pairwise": 100_000}
SAMPLE = 2_000  # queries put to a cKDTree of more records than that


def movielens(n: int) -> np.ndarray:
    """Rows of MovieLens 100K's most rated items, drawn again and again."""
    file = public(ML_100K)
    if file is None:
        return np.empty((0, ITEMS), dtype=np.uint8)
    users, items, ratings = np.loadtxt(file, dtype=np.int64, usecols=(0, 1, 2)).T
    full = np.zeros((users.max() + 1, items.max() + 1), dtype=np.uint8)
    full[users, items] = ratings
    top = np.argsort(-(full > 0).sum(axis=0), kind="stable")[:ITEMS]
    rows = full[:, np.sort(top)]
    rows = rows[rows.any(axis=1)]
    return rows[np.random.default_rng(1).integers(0, len(rows), n)]


def survey(n: int) -> np.ndarray:
    """Answers 1-6 that three leanings explain in part; blocks of five questions skipped."""
    rng = np.random.default_rng(2)
    leaning = rng.normal(size=(n, 3)) @ rng.normal(size=(3, ITEMS))
    answers = np.clip(np.round(0.8 * (leaning + rng.normal(size=(n, ITEMS))) + 3.5), 1, 6)
    skipped = np.repeat(rng.random((n, 4)) < 0.15, ITEMS // 4, axis=1)
    return np.where(skipped, 0, answers).astype(np.uint8)


DATA = {"movielens": movielens, "survey": survey}
TOP = {"movielens": 5, "survey": 6}


def as_ratings(matrix: np.ndarray, top: int) -> object:
    from starshade.ratings.scale import Scale
    from starshade.ratings.table import Ratings
    from starshade.ratings.vocabulary import Vocabulary

    rows, columns = np.nonzero(matrix)
    return Ratings(
        scale=Scale(1, top, 1),
        users=Vocabulary(np.arange(len(matrix))),
        items=Vocabulary(np.arange(matrix.shape[1])),
        indptr=np.searchsorted(rows, np.arange(len(matrix) + 1)),
        columns=columns.astype(np.int32),
        codes=matrix[rows, columns] - np.uint8(1),
        levels=np.arange(1.0, top + 1),
    )


def ours(matrix: np.ndarray, top: int, nulls: str, search: str, stop_at: int | None) -> tuple:
    """Return seconds from the table of ratings to the counts, and the counts."""
    from starshade.ratings.proximity.balls import ball_sizes
    from starshade.ratings.proximity.space import space_of

    def count(table):
        space = space_of(table, np.arange(ITEMS), EPS, nulls)
        return ball_sizes(space, search=search, stop_at=stop_at)

    count(as_ratings(matrix[:300], top))  # loads the kernels
    table = as_ratings(matrix, top)
    start = time.perf_counter()
    sizes = count(table)
    return time.perf_counter() - start, sizes


def scipy_tree(matrix: np.ndarray) -> tuple:
    from scipy.spatial import cKDTree

    rows = matrix.astype(np.float64)
    asks = rows
    if len(rows) > LARGEST["cKDTree"]:
        asks = rows[np.random.default_rng(3).choice(len(rows), SAMPLE, replace=False)]
    start = time.perf_counter()
    tree = cKDTree(rows)
    built = time.perf_counter() - start
    sizes = tree.query_ball_point(asks, EPS, p=np.inf, return_length=True, workers=2)
    asked = time.perf_counter() - start - built
    return built + asked * len(rows) / len(asks), sizes


def job(name: str, data: str, n: int, nulls: str, stop_at: int | None) -> dict[str, object]:
    matrix = DATA[data](n)
    if name == "cKDTree":
        seconds, sizes = scipy_tree(matrix)
    else:
        seconds, sizes = ours(matrix, TOP[data], nulls, name, stop_at)
    capped = np.minimum(sizes, stop_at or 2**62).astype(np.int64)
    return {
        "seconds": seconds,
        "peak_mb": peak_mb(),
        "failing": int((sizes < K).sum()),
        "mean": float(sizes.mean()),
        "digest": hashlib.sha256(capped.tobytes()).hexdigest() if len(sizes) == n else None,
    }


def measure(data: str, n: int, options: Namespace, before: dict[str, float]) -> None:
    names = [name for name in LARGEST if n <= LARGEST[name] or name == "cKDTree"]
    if options.nulls != "zero":
        names.remove("cKDTree")
    for label, stop_at in (("full", 0), ("capped", K)):
        runs: dict[str, list[dict]] = {name: [] for name in names}
        for i in range(options.rounds):
            for name in names:
                if name != "tree" and ((i > 0 and n > 50_000) or label == "capped"):
                    continue  # long, or the full count again: once is enough
                runs[name].append(run_job("--job", name, data, n, options.nulls, stop_at))
        told(f"{data}, {n:,} x {ITEMS}, eps = {EPS}, nulls = {options.nulls}, {label}", label,
             n, runs, before)  # fmt: skip


def told(title: str, label: str, n: int, runs: dict, before: dict[str, float]) -> None:
    tree = statistics.median(r["seconds"] for r in runs["tree"])
    first = runs["tree"][0]
    print(f"\n{title}: {first['failing']:,} below {K}", end="")
    print(f", mean ball {first['mean']:,.1f}" if label == "full" else "")
    for name, done in runs.items():
        if label == "capped" and name != "tree":
            continue
        seconds = statistics.median(r["seconds"] for r in done)
        about = "~" if done[0]["digest"] is None else " "
        key = f"{label} {name}"
        growth = ""
        if key in before:
            size, then = before[key]
            growth = f"   grows with n^{math.log(seconds / then) / math.log(n / size):.2f}"
        before[key] = (n, seconds)
        peak = max(r["peak_mb"] for r in done)
        ratio = f"{seconds / tree:8.1f} x" if name != "tree" else " " * 10
        print(f"  {name:9s}{about}{seconds:9.3f} s  {ratio}  peak {peak:6,.0f} MB{growth}")
    if label == "capped":
        key = "full cKDTree"
        if key in before and before[key][0] == n:
            print(f"  cKDTree's full count takes {before[key][1] / tree:.1f} x as long")
    digests = {r["digest"] for done in runs.values() for r in done} - {None}
    if len(digests) > 1:
        raise SystemExit("the counts differ")


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--largest", type=int, default=100_000, smoke=500)
    parser.add_argument("--smallest", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    parser.add_argument("--nulls", default="zero", choices=["strict", "ignore", "zero"])
    parser.add_argument("--job", nargs=5, help=SUPPRESS)
    options = parser.parse_args()
    if options.job:
        name, data, n, nulls, stop_at = options.job
        print(json.dumps(job(name, data, int(n), nulls, int(stop_at) or None)))
        return
    for data in DATA:
        if not len(DATA[data](1)):
            print(f"\n{data}: skipped, MovieLens 100K not found")
            continue
        before: dict[str, float] = {}
        for n in up_to(options.largest, SIZES):
            if n >= options.smallest:
                measure(data, n, options, before)


if __name__ == "__main__":
    main()
