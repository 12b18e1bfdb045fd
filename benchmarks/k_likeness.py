"""k-Likeness beside plain NumPy, over growing sizes.

Each job runs in a process of its own, interleaved, three rounds; medians are printed, with peak
memory, whether both formed the very same groups, and how many single comparisons of two ratings
that is per second:

    python benchmarks/k_likeness.py                    # up to 100,000 records
    python benchmarks/k_likeness.py --largest 1000000  # NumPy sits the last one out

The data are bootstrapped from MovieLens 100K's most rated items where STARSHADE_DATA (default
../shared/data) has it, and survey-like (every cell filled, 1-5, three latent tastes). The NumPy
side computes the distances of the records that are left and sorts them stably, which for small
integers is a radix sort. "Release" is the whole of `KLikeness.anonymize`: grouping,
generalizing, classes in content order.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

K = 10
SIZES = ((927, 10), (10_000, 10), (100_000, 20), (1_000_000, 20))
LARGEST_FOR_NUMPY = 100_000


def movielens(n: int, m: int) -> np.ndarray:
    """Rows of MovieLens 100K's m most rated items; drawn again and again if n is above 927."""
    root = Path(__file__).parent.parent.parent / "shared" / "data"
    file = Path(os.environ.get("STARSHADE_DATA", root)) / "ml-100k" / "u.data"
    if not file.exists():
        return np.empty((0, m), dtype=np.uint8)
    users, items, ratings = np.loadtxt(file, dtype=np.int64, usecols=(0, 1, 2)).T
    full = np.zeros((users.max() + 1, items.max() + 1), dtype=np.uint8)
    full[users, items] = ratings
    top = np.argsort(-(full > 0).sum(axis=0), kind="stable")[:m]
    rows = full[:, np.sort(top)]
    rows = rows[rows.any(axis=1)]
    return rows if n <= len(rows) else rows[np.random.default_rng(1).integers(0, len(rows), n)]


def survey(n: int, m: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    taste = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + rng.normal(size=(n, m))
    return np.clip(np.round(0.8 * taste + 3), 1, 5).astype(np.uint8)


DATA = {"movielens": movielens, "survey": survey}


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
    return told(start, KLikeness(K).anonymize(table, rng=0).class_of_record)


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
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    digest = hashlib.sha256(np.ascontiguousarray(groups, dtype=np.int64).tobytes()).hexdigest()
    return {"seconds": seconds, "peak_mb": peak, "records": len(groups), "digest": digest}


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


def run(name: str, data: str, n: int, m: int) -> dict[str, object]:
    command = [sys.executable, __file__, "--job", name, data, str(n), str(m)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def measure(data: str, n: int, m: int, rounds: int) -> None:
    names = ["groups", "release", *(["numpy"] if n <= LARGEST_FOR_NUMPY else [])]
    runs: dict[str, list[dict]] = {name: [] for name in names}
    for i in range(rounds):
        for name in names:
            if name == "numpy" and n > 10_000 and i > 0:
                continue  # a minute each; one is enough
            runs[name].append(run(name, data, n, m))
    median = {name: statistics.median(r["seconds"] for r in runs[name]) for name in names}
    records = runs["groups"][0]["records"]
    # each nucleus meets everybody who is left: n, n - k, n - 2k, …
    comparisons = records * (records + K) / (2 * K) * m
    print(f"\n{data}, {records:,} x {m}, k = {K}")
    for name in names:
        peak = max(r["peak_mb"] for r in runs[name])
        print(f"  {name:8s} {median[name]:8.3f} s   peak {peak:6,.0f} MB")
    print(
        f"  {comparisons / median['groups'] / 1e9:.1f} G comparisons/s; at the speed of vector "
        f"arithmetic on bytes: {vector_floor(comparisons):.3f} s"
    )
    if "numpy" in names:
        same = {r["digest"] for name in ("groups", "numpy") for r in runs[name]}
        print(
            f"  {median['numpy'] / median['groups']:.0f} x as fast as NumPy; "
            f"{'the same groups' if len(same) == 1 else 'OTHER GROUPS'}"
        )
    if len({r["digest"] for r in runs["groups"]}) > 1:
        raise SystemExit("groups differ between runs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        name, data, n, m = options.job
        print(json.dumps(job(name, data, int(n), int(m))))
        return
    for n, m in SIZES:
        for data in DATA:
            if n > options.largest:
                continue
            if data == "movielens" and not len(movielens(n, m)):
                print(f"\nmovielens, {n:,} x {m}: skipped, MovieLens 100K not found")
                continue
            measure(data, n, m, options.rounds)


if __name__ == "__main__":
    main()
