"""What methods lose, and how long they take: k-exchange beside k-likeness and its rivals.

First the quality table, on the 10 most rated items of MovieLens 100K (STARSHADE_DATA, default
../shared/data; survey-like rows where it is absent): GenILoss at k = 2, 5, 10, 20 over five
seeds (mean, least and greatest), DM, C_AVG and seconds of grouping. Then all items at once. Then
growth, k = 10 on 20 columns: the rows bootstrapped (a tenth of the cells moved by one) and
survey-like, with time, the processors' own time (others may
disturb) and peak memory. Each job runs in a process of its own.

    python benchmarks/generalize.py                     # up to 100,000 records
    python benchmarks/generalize.py --largest 1000000   # k-Member sits this one out
"""

from __future__ import annotations

import json
import statistics
import time
from argparse import SUPPRESS
from typing import Any

import numpy as np

from at_hand import Options, peak_mb, run_job, up_to
from k_likeness import DATA, as_ratings, movielens

METHODS = ("k-exchange", "k-likeness", "k-member", "mondrian", "mondrian-relaxed")
GROWTH = (10_000, 100_000, 1_000_000)
LARGEST = {"k-member": 100_000}  # its time grows with the square of the records
ALL_ITEMS = 10_000  # columns: as many as there are


def job(name: str, data: str, n: int, m: int, k: int, seeds: int) -> dict[str, Any]:
    """Group once for each seed, by one method; the kernels are loaded before."""
    from starshade.anonymize.order import by_content
    from starshade.anonymize.points import Points
    from starshade.anonymize.prepare import prepare
    from starshade.anonymize.registry import ENTRIES
    from starshade.registry import find

    method = find(ENTRIES, name, "method").load()(k)
    table = prepare(as_ratings(DATA[data](n, m)), k).ratings
    none = np.empty((table.n_users, 0), dtype=np.uint8)
    few = table.keep_users(np.arange(min(table.n_users, 4000)))
    method.group(Points(few, none[: few.n_users]), 0)
    runs = []
    for seed in range(1, seeds + 1):
        points = Points(by_content(table, seed).ratings, none)
        start, busy = time.perf_counter(), time.process_time()
        groups = method.group(points, seed)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        runs.append({"seconds": seconds, "busy": busy, **figures(points, groups, k)})
    return {"runs": runs, "peak_mb": peak_mb(), "records": table.n_users, "items": table.n_items}


def figures(points: Any, groups: np.ndarray, k: int) -> dict[str, float]:
    """GenILoss, DM and C_AVG of groups, a null counting as the level below the scale."""
    matrix = points.dense()
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    first = np.cumsum(sizes) - sizes
    matrix = matrix[order]
    spread = np.maximum.reduceat(matrix, first).astype(np.int64) - np.minimum.reduceat(
        matrix, first
    )
    column = np.maximum(1, matrix.max(axis=0).astype(np.int64) - matrix.min(axis=0))
    return {
        "loss": float(((spread / column).sum(axis=1) * sizes).sum() / matrix.size),
        "dm": float((sizes**2).sum()),
        "c_avg": len(groups) / (len(sizes) * k),
    }


def show(data: str, n: int, m: int, ks: list[int], seeds: int) -> None:
    for k in ks:
        print(f"\n{data}, {n:,} x {m if m < ALL_ITEMS else 'all'}, k = {k}")
        for name in METHODS:
            if n > LARGEST.get(name, n):
                print(f"  {name:17s} not run at this size")
                continue
            found = run_job("--job", name, data, n, m, k, seeds)
            runs = found["runs"]
            loss = [r["loss"] for r in runs]
            dm, c_avg = (statistics.mean(r[f] for r in runs) for f in ("dm", "c_avg"))
            print(
                f"  {name:17s} GenILoss {statistics.mean(loss):.4f} "
                f"({min(loss):.4f}-{max(loss):.4f})  DM {dm:,.0f}  C_AVG {c_avg:.3f}  "
                f"{statistics.median(r['seconds'] for r in runs):.3f} s, "
                f"processors {statistics.median(r['busy'] for r in runs):.3f} s  "
                f"peak {found['peak_mb']:,.0f} MB",
                flush=True,
            )


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--largest", type=int, default=100_000, smoke=0)
    parser.add_argument("--people", type=int, default=927, smoke=200, help="of the first table")
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10, 20], smoke=[5])
    parser.add_argument("--seeds", type=int, default=5, smoke=1)
    parser.add_argument("--job", nargs=6, help=SUPPRESS)
    options = parser.parse_args()
    if options.job:
        name, data, *numbers = options.job
        print(json.dumps(job(name, data, *map(int, numbers))))
        return
    real = len(movielens(1, 1)) > 0
    show("movielens" if real else "survey", options.people, 10, options.k, options.seeds)
    if real:
        show("movielens", 943, ALL_ITEMS, [5], options.seeds)
    for n in up_to(options.largest, GROWTH):
        for data in ("movielens", "survey"):
            if real or data == "survey":
                show(data, n, 20, [10], 1)


if __name__ == "__main__":
    main()
