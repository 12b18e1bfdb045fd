"""Scoreboard-RH beside a NumPy script and an obvious pandas one, over growing sizes.

Each job runs in a process of its own, interleaved; medians over the rounds are printed, with
targets and postings (cells looked at) per second, postings per second that the processors worked
(which others on the machine disturb less), peak memory, and the share of the same targets that
each found, which must agree:

    python benchmarks/attack.py                     # up to 10 million ratings
    python benchmarks/attack.py --largest 100       # also Netflix's size, 100 million

The data are synthetic (`starshade data synth`). Known are 8 cells, 2 of them wrong, days within
14. The scripts are given that knowledge and the ratings in the layout they like best, and only
their attack is timed; they report the best guess alone, while ours also has profiles and
entropies. Theirs attack fewer targets where they are slow. A kernel that ran as fast as the
postings can be read from memory (7 bytes each, once) would reach the limit in the last line.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# users, items, ratings, like; targets for ours, NumPy, pandas
SIZES = (
    (943, 1682, 100_000, "movielens-100k", (943, 943, 100)),
    (10_000, 3_000, 1_000_000, "netflix", (4000, 400, 20)),
    (60_000, 8_000, 10_000_000, "netflix", (2000, 100, 5)),
    (480_189, 17_770, 100_480_507, "netflix", (1000, 20, 0)),
)
PHI, RHO0, D0 = 1.5, 1.5, 30.0
THREADS = len(os.sched_getaffinity(0))


def prepare(folder: Path, size: tuple) -> None:
    """Make the ratings and draw what is known of the targets, once for all jobs."""
    from starshade.attack.knowledge import Knowledge
    from starshade.ratings.synth import synthesize

    users, items, ratings, like, targets = size
    table = synthesize(like, n_users=users, n_items=items, n_ratings=ratings, rng=1)
    knowledge = Knowledge(known=8, wrong=2, day_error=14)
    eligible = np.flatnonzero(knowledge.eligible_users(table))
    chosen = np.sort(np.random.default_rng(2).permutation(eligible)[: max(targets)])
    known = knowledge.draw(table, chosen, 3)
    np.random.default_rng(4).shuffle(order := np.arange(len(chosen)))
    for name in ("indptr", "columns", "codes", "days"):
        np.save(folder / name, getattr(table, name))
    for name in ("users", "items", "ratings", "days"):
        np.save(folder / f"known_{name}", getattr(known, name)[order])


def load(folder: Path, n: int) -> tuple:
    """Return the table's columns and what is known of the first n targets."""
    names = ("indptr", "columns", "codes", "days")
    known = (f"known_{name}" for name in ("users", "items", "ratings", "days"))
    return (
        [np.load(folder / f"{name}.npy") for name in names],
        [np.load(folder / f"{name}.npy")[:n] for name in known],
    )


def ours(folder: Path, n: int, threads: int) -> dict:
    import numba

    from starshade.attack.knowledge import Known
    from starshade.attack.scoreboard_rh import ScoreboardRH
    from starshade.attack.view import look
    from starshade.ratings.scale import Scale
    from starshade.ratings.table import Ratings
    from starshade.ratings.vocabulary import Vocabulary

    numba.set_num_threads(threads)
    (indptr, columns, codes, days), known = load(folder, n)
    table = Ratings(
        Scale(1, 5, 1),
        Vocabulary(np.arange(len(indptr) - 1)),
        Vocabulary(np.arange(columns.max() + 1)),
        *(indptr, columns, codes, np.arange(1.0, 6.0), days),
    )
    started = time.perf_counter()
    view = look(table, None, None)
    indexed = time.perf_counter()
    about = Known(*known)
    ScoreboardRH().judge(view, about.take(slice(0, 2)))  # loads the kernel
    started_attack = clock()
    found, postings = ScoreboardRH().judge(view, about)
    return told(started_attack, n, found.success.mean(), postings) | {
        "index": indexed - started,
    }


def by_item(columns: np.ndarray, codes: np.ndarray, days: np.ndarray, indptr: np.ndarray) -> tuple:
    order = np.argsort(columns, kind="stable")
    users = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))[order]
    starts = np.searchsorted(columns[order], np.arange(columns.max() + 2))
    return starts, users, codes[order] + 1.0, days[order].astype(np.float64)


def numpy_script(folder: Path, n: int, threads: int) -> dict:
    """Score by whole arrays, item by item; each user appears once per item."""
    (indptr, columns, codes, days), (users, items, ratings, when) = load(folder, n)
    starts, raters, stars, dates = by_item(columns, codes, days, indptr)
    support = np.diff(starts)
    n_users = len(indptr) - 1
    started = clock()
    right = postings = 0
    for t in range(n):
        scores = np.zeros(n_users)
        for item, rating, day in zip(items[t], ratings[t], when[t], strict=True):
            cells = slice(starts[item], starts[item + 1])
            near = np.exp(-np.abs(stars[cells] - rating) / RHO0)
            near += np.exp(-np.abs(dates[cells] - day) / D0)
            scores[raters[cells]] += near / np.log(max(support[item], 2))
            postings += support[item]
        second, best = np.partition(scores, -2)[-2:]
        if (best - second) / scores.std() >= PHI:
            right += scores.argmax() == users[t]
    return told(started, n, right / n, postings)


def pandas_script(folder: Path, n: int, threads: int) -> dict:
    """Score as one would in a notebook: join, compute, group, sort."""
    import pandas as pd

    (indptr, columns, codes, days), (users, items, ratings, when) = load(folder, n)
    frame = pd.DataFrame(
        {
            "user": np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)),
            "item": columns,
            "rating": codes + 1.0,
            "day": days.astype(float),
        }
    )
    support = frame.groupby("item").size().rename("support")
    n_users = len(indptr) - 1
    started = clock()
    right = postings = 0
    for t in range(n):
        aux = pd.DataFrame({"item": items[t], "aux_rating": ratings[t], "aux_day": when[t]})
        rows = frame[frame["item"].isin(aux["item"])].merge(aux, on="item").join(support, on="item")
        near = np.exp(-(rows["rating"] - rows["aux_rating"]).abs() / RHO0)
        near += np.exp(-(rows["day"] - rows["aux_day"]).abs() / D0)
        rows["score"] = near / np.log(rows["support"].clip(lower=2))
        scores = rows.groupby("user")["score"].sum()
        scores = scores.reindex(range(n_users), fill_value=0.0).sort_values(ascending=False)
        if (scores.iloc[0] - scores.iloc[1]) / scores.std(ddof=0) >= PHI:
            right += scores.index[0] == users[t]
        postings += len(rows)
    return told(started, n, right / n, postings)


JOBS = {"ours": ours, "numpy": numpy_script, "pandas": pandas_script}


def clock() -> tuple[float, float]:
    """Return the time on the wall and on the processors."""
    return time.perf_counter(), time.process_time()


def told(started: tuple[float, float], targets: int, success: float, postings: int) -> dict:
    seconds, busy = (now - then for now, then in zip(clock(), started, strict=True))
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return {
        "targets": targets,
        "success": float(success),
        "targets_s": targets / seconds,
        "postings_s": float(postings) / seconds,
        "postings_cpu": float(postings) / busy,
        "peak_mb": peak,
    }


def run(job: str, folder: Path, n: int, threads: int) -> dict:
    command = [sys.executable, __file__, "--job", job, str(folder), str(n), str(threads)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def read_limit(folder: Path) -> float:
    """Return postings per second if only their 7 bytes were read from memory, on every core."""
    array = np.zeros(2**27, dtype=np.uint8).view(np.uint64)
    started = time.perf_counter()
    for _ in range(3):
        array.max()
    return 3 * array.nbytes / (time.perf_counter() - started) * THREADS / 7


def measure(size: tuple, rounds: int) -> None:
    users, items, ratings, like, targets = size
    print(f"\n{users:,} x {items:,}, {ratings:,} ratings, like {like}")
    plan = [("ours", targets[0], t) for t in sorted({1, THREADS})]
    plan += [("numpy", targets[1], 1), ("pandas", targets[2], 1)]
    plan = [entry for entry in plan if entry[1]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, __file__, "--prepare", name, str(ratings)], check=True)
        runs: dict[tuple, list[dict]] = {entry: [] for entry in plan}
        same = [run("ours", folder, n, 1)["success"] for _, n, _ in plan]
        for _ in range(rounds):
            for entry in plan:
                runs[entry].append(run(entry[0], folder, *entry[1:]))
        limit = read_limit(folder)
    print(
        f"{'':20}{'targets/s':>12}{'postings/s':>14}{'a cpu second':>14}{'peak MB':>10}"
        f"{'targets':>9}  found (ours)"
    )
    base = None
    for entry, expected in zip(plan, same, strict=True):
        middle = {key: statistics.median(r[key] for r in runs[entry]) for key in runs[entry][0]}
        label = f"{entry[0]}, {entry[2]} thread" + "s" * (entry[2] > 1)
        base = base or middle["targets_s"]
        print(
            f"{label:20}{middle['targets_s']:12,.1f}{middle['postings_s'] / 1e6:12,.0f} M"
            f"{middle['postings_cpu'] / 1e6:12,.0f} M"
            f"{middle['peak_mb']:10,.0f}{entry[1]:9,}  {middle['success']:.3f} ({expected:.3f})"
            + (f"  index {middle['index']:.2f} s" if "index" in middle else "")
            + ("" if entry[0] == "ours" else f"  ours is {base / middle['targets_s']:,.0f} x")
        )
    print(f"{'reading alone':20}{'':12}{limit / 1e6:12,.0f} M")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=float, default=11, help="million ratings")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        job, folder, n, threads = args.job
        print(json.dumps(JOBS[job](Path(folder), int(n), int(threads))))
    elif args.prepare:
        folder, ratings = args.prepare
        prepare(Path(folder), next(size for size in SIZES if size[2] == int(ratings)))
    else:
        for size in SIZES:
            if size[2] <= args.largest * 1.01e6:
                measure(size, args.rounds)


if __name__ == "__main__":
    main()
