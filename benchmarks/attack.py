"""Scoreboard-RH beside a NumPy script, an obvious pandas one and the reading of its input alone.

Each job runs in a process of its own, interleaved, over growing sizes; medians over the rounds:

    python benchmarks/attack.py                     # up to 10 million ratings
    python benchmarks/attack.py --largest 100       # also Netflix's size, 100 million
    python benchmarks/attack.py --everybody         # every user at Netflix's size, nothing else

The data are synthetic (`starshade data synth`). Known are 8 cells, 2 of them wrong, days within
14. A *posting* is one cell of an item that the adversary knows of: a user, a rating, a day.

- "full" is the whole result, with profiles and entropies; "best guess" stops at the match, which
  is all that the scripts do.
- "reading" is the limit that the hardware sets: a plain compiled loop that adds up the users,
  ratings and days of the same postings of the same targets (4 + 1 + 2 bytes each).
- The scripts are given the knowledge and the ratings in the layout they like best, and only their
  attack is timed. They attack fewer targets where they are slow; "found" is the share of these
  that they found, beside ours on the same ones, which must agree.
- Besides postings per second on the wall there are those per second that the processors worked,
  which others on the machine disturb less, and nanoseconds of a processor for each posting: the
  cost is linear where they stay the same over the sizes.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from argparse import SUPPRESS
from pathlib import Path

import numpy as np

from at_hand import Options, installed, peak_mb, run_job

# users, items, ratings, like; targets for ours, NumPy, pandas
SIZES = (
    (943, 1682, 100_000, "movielens-100k", (943, 943, 100)),
    (10_000, 3_000, 1_000_000, "netflix", (4000, 400, 20)),
    (60_000, 8_000, 10_000_000, "netflix", (2000, 100, 5)),
    (480_189, 17_770, 100_480_507, "netflix", (1000, 20, 2)),
)
NETFLIX = SIZES[-1]
PHI, RHO0, D0 = 1.5, 1.5, 30.0
THREADS = len(os.sched_getaffinity(0))


def prepare(folder: Path, size: tuple, *, everyone: bool = False) -> int:
    """Make the ratings and draw what is known of the targets, once for all jobs; count these."""
    from starshade.attack.knowledge import Knowledge
    from starshade.ratings.synth.synth import synthesize

    users, items, ratings, like, targets = size
    table = synthesize(like, n_users=users, n_items=items, n_ratings=ratings, rng=1)
    knowledge = Knowledge(known=8, wrong=2, day_error=14)
    eligible = np.flatnonzero(knowledge.eligible_users(table))
    chosen = np.sort(
        np.random.default_rng(2).permutation(eligible)[: None if everyone else max(targets)]
    )
    known = knowledge.draw(table, chosen, 3)
    np.random.default_rng(4).shuffle(order := np.arange(len(chosen)))
    for name in ("indptr", "columns", "codes", "days"):
        np.save(folder / name, getattr(table, name))
    for name in ("users", "items", "ratings", "days"):
        np.save(folder / f"known_{name}", getattr(known, name)[order])
    return len(order)


def load(folder: Path, n: int) -> tuple:
    """Return the table's columns and what is known of the first n targets."""
    names = ("indptr", "columns", "codes", "days")
    known = (f"known_{name}" for name in ("users", "items", "ratings", "days"))
    return (
        [np.load(folder / f"{name}.npy") for name in names],
        [np.load(folder / f"{name}.npy")[:n] for name in known],
    )


def look_at(folder: Path, n: int, threads: int) -> tuple:
    """Return the data as an adversary sees them, and what is known of n targets."""
    import numba

    from starshade.attack.knowledge import Known
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
    return look(table, None, None), Known(*known)


def full(folder: Path, n: int, threads: int) -> dict:
    """Attack as `starshade attack` does, everything included but reading the data."""
    from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH

    view, known = look_at(folder, n, threads)
    ScoreboardRH().judge(view, known.take(slice(0, 2)))  # loads the kernel
    started = clock()
    found, postings = ScoreboardRH().judge(view, known)
    return told(started, n, found.success.mean(), postings)


def best_guess(folder: Path, n: int, threads: int) -> dict:
    """Score and match, without the second pass that entropies need."""
    from starshade.attack.scoreboard_rh.scoreboard_rh import stands_out
    from starshade.attack.scoreboard_rh.scoring import Pricing, block_of, goal_of, prepare
    from starshade.kernels.attack.scoreboard import score

    view, known = look_at(folder, n, threads)
    pricing, goal = Pricing(RHO0, D0), goal_of(view, 1.0, absent=False)
    score(block_of(view), *prepare(view, known.take(slice(0, 2)), pricing), goal)
    started = clock()
    aux, tables = prepare(view, known, pricing)
    summaries = score(block_of(view), aux, tables, goal)
    right = stands_out(summaries, PHI) & (summaries["own"] == summaries["top"])
    postings = np.diff(view.postings.indptr)[aux.item].sum()
    return told(started, n, right.mean(), postings)


def reading(folder: Path, n: int, threads: int) -> dict:
    """Read the same postings once and do nothing with them but add up."""
    from concurrent.futures import ThreadPoolExecutor

    from numba import njit

    @njit(nogil=True)
    def read(items, indptr, users, codes, days):
        total = 0
        for item in items:
            cells = slice(indptr[item], indptr[item + 1])
            who, what, when = users[cells], codes[cells], days[cells]
            for p in range(len(who)):
                total += np.int64(who[p]) + np.int64(what[p]) + np.int64(when[p])
        return total

    view, known = look_at(folder, n, threads)
    cells = view.postings
    columns = (cells.indptr, cells.users, cells.codes, cells.days)
    read(known.items[0], *columns)
    started = clock()
    with ThreadPoolExecutor(threads) as pool:
        parts = [known.items[t : t + 32].ravel() for t in range(0, n, 32)]
        list(pool.map(lambda items: read(items, *columns), parts))
    return told(started, n, float("nan"), np.diff(cells.indptr)[known.items].sum())


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
    pd = installed("pandas")
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


JOBS = {
    "full": full,
    "best guess": best_guess,
    "reading": reading,
    "numpy": numpy_script,
    "pandas": pandas_script,
}


def clock() -> tuple[float, float]:
    """Return the time on the wall and on the processors."""
    return time.perf_counter(), time.process_time()


def told(started: tuple[float, float], targets: int, success: float, postings: int) -> dict:
    seconds, busy = (now - then for now, then in zip(clock(), started, strict=True))
    return {
        "wall": seconds,
        "busy": busy,
        "success": float(success),
        "targets_s": targets / seconds,
        "postings_s": float(postings) / seconds,
        "postings_cpu": float(postings) / busy,
        "peak_mb": peak_mb(),
    }


def plan_of(size: tuple, threads: int) -> list[tuple]:
    """List the jobs: which, how many targets, how many threads."""
    ours, numpy, pandas = size[-1]
    ways = [
        (job, ours, t) for t in sorted({1, threads}) for job in ("full", "best guess", "reading")
    ]
    return [*ways, ("numpy", numpy, 1), ("pandas", pandas, 1)]


def measure(size: tuple, rounds: int, threads: int) -> None:
    users, items, ratings, like, _ = size
    print(f"\n{users:,} x {items:,}, {ratings:,} ratings, like {like}", flush=True)
    plan = plan_of(size, threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_job("--prepare", name, ratings)
        runs: dict[tuple, list[dict]] = {entry: [] for entry in plan}
        for turn in range(rounds):
            for entry in plan:
                once = entry[0] in ("numpy", "pandas") and size is NETFLIX
                if turn == 0 or not once:  # the scripts take minutes to start there
                    runs[entry].append(run_job("--job", entry[0], folder, *entry[1:]))
        same = {
            n: results[0]["success"] for (name, n, _), results in runs.items() if name == "full"
        }
        for n in {n for _, n, _ in plan} - set(same):
            same[n] = run_job("--job", "full", folder, n, 1)["success"]
    show({entry: middle(results) for entry, results in runs.items()}, same, users)


def middle(results: list[dict]) -> dict:
    return {key: statistics.median(r[key] for r in results) for key in results[0]}


def show(found: dict[tuple, dict], same: dict[int, float], users: int) -> None:
    """Print a table, and what follows from it."""
    print(
        f"{'':23}{'targets/s':>10}{'postings/s':>12}{'a cpu second':>14}{'ns of a cpu':>12}"
        f"{'peak MB':>9}{'targets':>9}  found (ours)"
    )
    for (job, n, threads), row in found.items():
        label = f"{job}, {threads} thread" + "s" * (threads > 1)
        share = "" if job == "reading" else f"  {row['success']:.3f} ({same[n]:.3f})"
        print(
            f"{label:23}{row['targets_s']:10,.1f}{row['postings_s'] / 1e6:10,.0f} M"
            f"{row['postings_cpu'] / 1e6:12,.0f} M{1e9 / row['postings_cpu']:12.2f}"
            f"{row['peak_mb']:9,.0f}{n:9,}{share}"
        )
    rows = {(job, threads): row for (job, _, threads), row in found.items()}
    for threads in sorted({threads for _, threads in rows}):
        ours, guess, read = (rows[job, threads] for job in ("full", "best guess", "reading"))
        print(
            f"{threads} thread{'s' * (threads > 1)}: the full result takes "
            f"{guess['postings_cpu'] / ours['postings_cpu']:.2f} x the best guess, "
            f"{read['postings_cpu'] / ours['postings_cpu']:.2f} x reading alone; "
            f"all {users:,} users would take {users / ours['targets_s']:,.0f} s"
        )
    for job in ("numpy", "pandas"):
        ratio = rows["full", 1]["postings_cpu"] / rows[job, 1]["postings_cpu"]
        print(f"the {job} script takes {ratio:,.0f} x as long, one thread beside one thread")


def everybody(size: tuple) -> None:
    """Attack every user of whom 8 cells can be known."""
    users, items, ratings, *_ = size
    print(f"\n{users:,} x {items:,}, {ratings:,} ratings: every user", flush=True)
    with tempfile.TemporaryDirectory() as name:
        n = run_job("--prepare", name, ratings, "all")
        row = run_job("--job", "full", name, n, THREADS)
    print(
        f"{n:,} targets in {row['wall']:,.0f} s on {THREADS} threads ({row['busy']:,.0f} s of the "
        f"processors): {row['postings_s'] / 1e6:,.0f} M postings/s "
        f"({row['postings_cpu'] / 1e6:,.0f} M a cpu second), found {row['success']:.3f}, "
        f"peak {row['peak_mb']:,.0f} MB"
    )


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--largest", type=float, default=11, smoke=0.1, help="million ratings")
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    parser.add_argument("--threads", type=int, default=THREADS, smoke=1, help="beside one")
    parser.add_argument("--everybody", action="store_true", help="all users at Netflix's size")
    parser.add_argument("--job", nargs=4, help=SUPPRESS)
    parser.add_argument("--prepare", nargs="+", help=SUPPRESS)
    args = parser.parse_args()
    if args.job:
        job, folder, n, threads = args.job
        print(json.dumps(JOBS[job](Path(folder), int(n), int(threads))))
    elif args.prepare:
        folder, ratings, *everyone = args.prepare
        size = next(size for size in SIZES if size[2] == int(ratings))
        print(prepare(Path(folder), size, everyone=bool(everyone)))
    else:
        sizes = [size for size in SIZES if size[2] <= args.largest * 1.01e6]
        if args.smoke or args.everybody:
            everybody(sizes[-1] if args.smoke else NETFLIX)
        if not args.everybody:
            installed("pandas")
            for size in sizes:
                measure(size, args.rounds, args.threads)


if __name__ == "__main__":
    main()
