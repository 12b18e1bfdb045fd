"""k-Likeness beside plain NumPy, over growing sizes.

Each job runs in a process of its own, interleaved, three rounds; medians are printed, with peak
memory, whether both formed the very same groups, the loss of the release (GenILoss), and how many
comparisons of two ratings a pass over all pairs would have to make in the same time:

    python benchmarks/k_likeness.py                    # up to 100,000 records
    python benchmarks/k_likeness.py --largest 1000000  # NumPy sits the last one out

The data are bootstrapped from MovieLens 100K's most rated items where STARSHADE_DATA (default
../shared/data) has it, with a random step up or down on a tenth of the cells (rows drawn twice
would be equal otherwise), and survey-like (every cell filled, 1-5, three latent tastes). The
NumPy side computes the distances of the records that are left and sorts them stably, which for
small integers is a radix sort. "Release" is the whole of `KLikeness.anonymize`: grouping,
generalizing, classes in content order.

Last come tables of many items, which stay sparse: all of MovieLens 100K, and 3,000 records x
10,000 items of a long tail.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import time
from argparse import SUPPRESS

import numpy as np

from at_hand import ML_100K, Options, peak_mb, public, run_job, up_to

K = 10
SIZES = (927, 10_000, 100_000, 1_000_000)
LARGEST_FOR_NUMPY = 100_000


def everything(n: int = 943, m: int = 1682) -> np.ndarray:
    """All of MovieLens 100K, users x items, null = 0."""
    file = public(ML_100K)
    if file is None:
        return np.empty((0, m), dtype=np.uint8)
    users, items, ratings = np.loadtxt(file, dtype=np.int64, usecols=(0, 1, 2)).T
    full = np.zeros((n, m), dtype=np.uint8)
    full[users - 1, items - 1] = ratings
    return full


def movielens(n: int, m: int) -> np.ndarray:
    """Rows of MovieLens 100K's m most rated items; drawn again and again if n is above 927."""
    full = everything()
    top = np.argsort(-(full > 0).sum(axis=0), kind="stable")[:m]
    rows = full[:, np.sort(top)]
    rows = rows[rows.any(axis=1)]
    if n <= len(rows) or not len(rows):
        return rows
    rng = np.random.default_rng(1)
    drawn = rows[rng.integers(0, len(rows), n)].astype(np.int8)
    step = np.where(rng.random(drawn.shape) < 0.5, 1, -1) * (rng.random(drawn.shape) < 0.1)
    return np.clip(drawn + step, 0, 5).astype(np.uint8)


def survey(n: int, m: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    taste = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + rng.normal(size=(n, m))
    return np.clip(np.round(0.8 * taste + 3), 1, 5).astype(np.uint8)


def long_tail(n: int, m: int) -> np.ndarray:
    """Each item rated by fewer than the one before, about a hundred ratings to a record."""
    rng = np.random.default_rng(4)
    rows = np.zeros((n, m), dtype=np.uint8)
    for row in rows:
        rated = np.unique((m * rng.random(100) ** 3).astype(np.int64))
        row[rated] = rng.integers(1, 6, len(rated))
    return rows


DATA = {
    "movielens": movielens,
    "survey": survey,
    "everything": everything,
    "long tail": long_tail,
}


def numpy_groups(matrix: np.ndarray, k: int, order: np.ndarray) -> np.ndarray:
    """Form the same groups with whole-array operations, as one would write it first."""
    rows = matrix[order].astype(np.int16)
    groups = np.full(len(rows), -1)
    left = np.arange(len(rows))
    formed = 0
    while len(left) >= k:
        away = np.abs(rows[left] - rows[left[0]]).sum(axis=1, dtype=np.int16)
        chosen = np.argsort(away, kind="stable")[1:k]  # the nucleus, at 0, comes first
        groups[left[0]] = groups[left[chosen]] = formed
        left = np.delete(left, np.append(chosen, 0))
        formed += 1
    for record in left:
        grouped = groups >= 0
        away = np.abs(rows[grouped] - rows[record]).sum(axis=1)
        groups[record] = np.bincount(groups[grouped], away, formed).argmin()
    out = np.empty(len(rows), dtype=np.int64)
    out[order] = groups
    return out


def job(name: str, data: str, n: int, m: int) -> dict[str, object]:
    matrix = DATA[data](n, m)
    order = np.random.default_rng(3).permutation(len(matrix))
    if name == "numpy":
        start = time.perf_counter()
        groups = numpy_groups(matrix, K, order)
        return told(start, groups)
    from starshade.anonymize.k_likeness import KLikeness, likeness_groups

    if name == "groups":
        few = matrix[:30_000]
        likeness_groups(few, K, np.arange(len(few)))  # loads the kernels
        start = time.perf_counter()
        return told(start, likeness_groups(matrix, K, order))
    table = as_ratings(matrix)
    KLikeness(K).anonymize(table.keep_users(np.arange(min(30_000, len(matrix)))), rng=0)
    start = time.perf_counter()
    release = KLikeness(K).anonymize(table, rng=0)
    figures = told(start, release.class_of_record)
    from starshade.utility.losses import GeneralizationLoss

    loss = GeneralizationLoss().measure(release, table).figures["gen_iloss"]
    return {**figures, "loss": loss}


def sparse_job(data: str, n: int, m: int, *, full: bool) -> dict[str, object]:
    """Group a table of many items, from sparse rows or (to compare) from the full table."""
    from starshade.anonymize.k_likeness import likeness_groups, sparse_likeness_groups
    from starshade.anonymize.order import seeded_order
    from starshade.anonymize.points import Points, sparse_rows

    matrix = DATA[data](n, m)
    table = as_ratings(matrix)
    del matrix
    points = Points(table, np.empty((table.n_users, 0), np.uint8))
    order = seeded_order(table.n_users, 0, "k-likeness")

    def groups() -> np.ndarray:
        if full:
            return likeness_groups(points.dense(), K, order)
        return sparse_likeness_groups(sparse_rows(points, order), K, order)

    groups()  # loads the kernels
    start = time.perf_counter()
    return told(start, groups())


def as_ratings(matrix: np.ndarray) -> object:
    from starshade.ratings.scale import Scale
    from starshade.ratings.table import Ratings
    from starshade.ratings.vocabulary import Vocabulary

    rows, columns = np.nonzero(matrix)
    return Ratings(
        scale=Scale(1, 5, 1),
        users=Vocabulary(np.arange(len(matrix))),
        items=Vocabulary(np.arange(matrix.shape[1])),
        indptr=np.searchsorted(rows, np.arange(len(matrix) + 1)),
        columns=columns.astype(np.int32),
        codes=matrix[rows, columns] - np.uint8(1),
        levels=np.arange(1.0, 6.0),
    )


def told(start: float, groups: np.ndarray) -> dict[str, object]:
    seconds = time.perf_counter() - start
    digest = hashlib.sha256(np.ascontiguousarray(groups, dtype=np.int64).tobytes()).hexdigest()
    return {"seconds": seconds, "peak_mb": peak_mb(), "records": len(groups), "digest": digest}


def vector_floor(comparisons: float) -> float:
    """Seconds that the comparisons would take at the speed of one-byte vector arithmetic.

    A comparison is a maximum, a minimum, a difference and a sum; each is charged what NumPy
    needs for one of them on bytes that lie in the nearest cache, on every core.
    """
    a, b, out = (np.zeros(8192, dtype=np.uint8) for _ in range(3))
    start = time.perf_counter()
    for _ in range(20_000):
        np.minimum(a, b, out=out)
    per_byte = (time.perf_counter() - start) / 20_000 / len(a)
    return 4 * comparisons * per_byte / len(os.sched_getaffinity(0))


def measure(data: str, n: int, m: int, rounds: int) -> None:
    names = ["groups", "release", *(["numpy"] if n <= LARGEST_FOR_NUMPY else [])]
    runs: dict[str, list[dict]] = {name: [] for name in names}
    for i in range(rounds):
        for name in names:
            if name == "numpy" and n > 10_000 and i > 0:
                continue  # a minute each; one is enough
            runs[name].append(run_job("--job", name, data, n, m))
    median = {name: statistics.median(r["seconds"] for r in runs[name]) for name in names}
    records = runs["groups"][0]["records"]
    # each nucleus meets everybody who is left: n, n - k, n - 2k, …
    comparisons = records * (records + K) / (2 * K) * m
    print(f"\n{data}, {records:,} x {m}, k = {K}; GenILoss {runs['release'][0]['loss']:.4f}")
    for name in names:
        peak = max(r["peak_mb"] for r in runs[name])
        print(f"  {name:8s} {median[name]:8.3f} s   peak {peak:6,.0f} MB")
    print(
        f"  all pairs would be {comparisons / median['groups'] / 1e9:.1f} G comparisons/s; at the "
        f"speed of vector arithmetic on bytes they take {vector_floor(comparisons):.3f} s"
    )
    if "numpy" in names:
        ratio = median["numpy"] / median["groups"]
        print(f"  {ratio:.0f} x as fast as NumPy; {agreement(runs, 'groups', 'numpy')}")
    if len({r["digest"] for r in runs["groups"]}) > 1:
        raise SystemExit("groups differ between runs")


def measure_sparse(data: str, n: int, m: int, rounds: int) -> None:
    names = ("sparse", "full")
    runs: dict[str, list[dict]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            runs[name].append(run_job("--job", name, data, n, m))
    print(f"\n{data}, {n:,} x {m:,}, k = {K}")
    for name in names:
        seconds = statistics.median(r["seconds"] for r in runs[name])
        peak = max(r["peak_mb"] for r in runs[name])
        print(f"  {name:8s} {seconds:8.3f} s   peak {peak:6,.0f} MB")
    print(f"  {agreement(runs, *names)}")


def agreement(runs: dict[str, list[dict]], *names: str) -> str:
    digests = {r["digest"] for name in names for r in runs[name]}
    return "the same groups" if len(digests) == 1 else "OTHER GROUPS"


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--largest", type=int, default=100_000, smoke=300)
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    tail = {"metavar": ("RECORDS", "ITEMS"), "default": [3_000, 10_000], "smoke": [300, 1_000]}
    parser.add_argument("--tail", type=int, nargs=2, **tail, help="size of the long tail")
    parser.add_argument("--job", nargs=4, help=SUPPRESS)
    options = parser.parse_args()
    if options.job:
        name, data, n, m = options.job
        if name in ("sparse", "full"):
            figures = sparse_job(data, int(n), int(m), full=name == "full")
        else:
            figures = job(name, data, int(n), int(m))
        print(json.dumps(figures))
        return
    for n in up_to(options.largest, SIZES):
        m = 10 if n <= SIZES[0] else 20
        for data in ("movielens", "survey"):
            if data == "movielens" and not len(movielens(n, m)):
                print(f"\nmovielens, {n:,} x {m}: skipped, MovieLens 100K not found")
                continue
            measure(data, n, m, options.rounds)
    for data, n, m in (("everything", 943, 1682), ("long tail", *options.tail)):
        if data == "everything" and not len(everything()):
            print("\nall of MovieLens 100K: skipped, not found")
            continue
        measure_sparse(data, n, m, options.rounds)


if __name__ == "__main__":
    main()
