"""Reading ratings into the store, beside DuckDB's own CSV → Parquet.

Makes rating files with a fixed seed (integer ids, header ``userId,movieId,rating,timestamp``, once
ordered by user and once shuffled; the four combined files of the Netflix Prize), then runs each
job in a process of its own, interleaved, and prints medians:

    python benchmarks/read.py --ratings 100_000_000 --scratch /tmp/starshade-read

Both write to the same disk; ours also sorts, validates, stores every cell twice (by user and by
item), and flushes to the disk before it says that it is done. "busy" is the processors' time, which
others on the machine disturb less. The scratch folder needs about 110 bytes per rating and is
deleted at the end, unless ``--keep``.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, Namespace
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from at_hand import Options, installed, peak_mb, run_job

COLUMNS = ("userId", "movieId", "rating", "timestamp")
ROUND = 1 << 22  # rows made at once


# ------------------------------------------------------------------ the files


def made(n: int, n_users: int, n_items: int, seed: int) -> tuple[np.ndarray, ...]:
    """Users, items, half stars × 2 and days of n ratings, by user; no pair twice."""
    rng = np.random.default_rng(seed)
    weight = rng.lognormal(0, 1.2, n_users)
    size = np.maximum(1, weight / weight.sum() * n * 1.15).astype(np.int64)
    size = np.minimum(size, n_items // 4)
    parts = []
    edges = np.searchsorted(np.cumsum(size), np.arange(0, size.sum() + ROUND, ROUND))
    for first, last in pairwise(edges):
        users = np.repeat(np.arange(first, last), size[first:last])
        # a long tail: item rank ~ square of a uniform number
        items = (rng.random(len(users)) ** 2 * n_items).astype(np.int64)
        parts.append(np.unique(users * n_items + items))
    pairs = np.concatenate(parts)[:n]
    keys = rng.permutation(n_items)  # popular items have any id
    users = (pairs // n_items).astype(np.int32)
    items = keys[pairs % n_items].astype(np.int32)
    ratings = rng.choice(np.arange(1, 11, dtype=np.uint8), len(pairs))
    days = rng.integers(9_131, 17_000, len(pairs), dtype=np.int32)
    return users, items, ratings, days


def text_of(columns: tuple[np.ndarray, ...], query: str, file: Path, header: bool) -> None:
    """Write arrays as CSV through a DuckDB query over ``t(u, i, r, d)``."""
    import pyarrow as pa

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(columns[0]), ROUND):
            part = [pa.array(c[start : start + ROUND]) for c in columns]
            yield pa.RecordBatch.from_arrays(part, names=["u", "i", "r", "d"])

    schema = pa.schema({"u": pa.int32(), "i": pa.int32(), "r": pa.uint8(), "d": pa.int32()})
    t = pa.RecordBatchReader.from_batches(schema, batches())
    with installed("duckdb").connect() as con:
        con.register("t", t)
        con.sql(f"COPY ({query}) TO '{file}' (FORMAT csv, HEADER {header})")


def make_csv(scratch: Path, n: int) -> None:
    columns = made(n, max(10, n // 200), max(40, min(60_000, n // 100)), seed=1)
    query = (
        "SELECT u + 1 AS userId, i + 1 AS movieId, r / 2 AS rating, "
        "d::BIGINT * 86400 + 43210 AS timestamp FROM t"
    )
    text_of(columns, query, scratch / "by_user.csv", header=True)
    order = np.random.default_rng(2).permutation(len(columns[0]))
    columns = tuple(column[order] for column in columns)
    text_of(columns, query, scratch / "shuffled.csv", header=True)


def make_netflix(scratch: Path, n: int) -> None:
    """Write four combined files: `movie:` lines, then user,rating,date in any order of users."""
    folder = scratch / "netflix"
    folder.mkdir()
    users, items, ratings, days = made(n, max(10, n // 208), max(40, min(17_770, n // 100)), seed=3)
    within = np.random.default_rng(4).integers(0, 1 << 32, len(users), dtype=np.uint64)
    order = np.argsort((items.astype(np.uint64) << np.uint64(32)) | within)
    del within
    users, items, ratings, days = (c[order] for c in (users, items, ratings, days))
    # DuckDB writes the rows; movie lines go in as rows of their own
    query = (
        "SELECT CASE WHEN r = 0 THEN (i + 1) || ':' ELSE (u * 5 + 6) || ',' || (r + 1) // 2 || "
        "',' || strftime(DATE '1970-01-01' + d, '%Y-%m-%d') END AS line FROM t"
    )
    starts = np.flatnonzero(np.diff(items, prepend=-1))
    with_heads = [np.insert(c, starts, c[starts]) for c in (users, items, ratings, days)]
    heads = starts + np.arange(len(starts))
    with_heads[2][heads] = 0
    cuts = [*heads[np.linspace(0, len(heads), 5)[:4].astype(int)].tolist(), len(with_heads[0])]
    for k in range(4):
        part = tuple(c[cuts[k] : cuts[k + 1]] for c in with_heads)
        file = folder / f"combined_data_{k + 1}.txt"
        text_of(part, query, file, header=False)
        unquote(file)


def unquote(file: Path) -> None:
    """Take off the quotes that a CSV writer puts around lines with commas."""
    plain = file.with_suffix(".plain")
    with open(file, "rb") as source, open(plain, "wb") as out:
        while block := source.read(1 << 24):
            out.write(block.replace(b'"', b""))
    plain.rename(file)


# ------------------------------------------------------------------ the jobs


def job_duckdb(source: Path, target: Path) -> None:
    with installed("duckdb").connect() as con:
        con.sql(f"COPY (SELECT * FROM read_csv('{source}')) TO '{target}' (FORMAT parquet)")


def job_ours(source: Path, target: Path) -> None:
    from starshade.ratings.read import read_ratings

    start = time.perf_counter()
    ratings = read_ratings(source)
    read = time.perf_counter()
    ratings.save(target)
    done = time.perf_counter()
    print(f"  {ratings}: read {read - start:.2f} s, saved {done - read:.2f} s", file=sys.stderr)


def job_open(source: Path, target: Path) -> None:
    from starshade.ratings.read import read_ratings

    read_ratings(source)


JOBS = {"duckdb": job_duckdb, "ours": job_ours, "open": job_open}


def run(job: str, source: Path, target: Path) -> dict[str, float]:
    """Run a job in a process of its own."""
    for old in (target, target.with_suffix(".tmp")):
        shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)
    return run_job("--job", job, source, target)


def report(name: str, runs: list[dict[str, float]]) -> tuple[float, float]:
    """Print medians; return the time that passed and the processors' time."""
    seconds = statistics.median(r["seconds"] for r in runs)
    busy = statistics.median(r["busy"] for r in runs)
    peak = max(r["peak_mb"] for r in runs)
    each = " ".join(f"{r['seconds']:.1f}" for r in runs)
    print(
        f"{name:34s} {seconds:7.2f} s ({each})   busy {busy:6.2f} s   peak {peak:6,.0f} MB",
        flush=True,
    )
    return seconds, busy


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--ratings", type=int, default=100_000_000, smoke=2_000)
    parser.add_argument("--scratch", type=Path, help="where to write [default: a new folder]")
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    parser.add_argument("--only", choices=["csv", "netflix"])
    parser.add_argument("--keep", action="store_true", help="keep the scratch folder")
    parser.add_argument("--job", nargs=3, metavar=("JOB", "SOURCE", "TARGET"))
    parser.add_argument("--make", choices=["csv", "netflix"], help=SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, source, target = options.job
        start = time.perf_counter()
        JOBS[job](Path(source), Path(target))
        seconds, busy = time.perf_counter() - start, time.process_time()
        print(json.dumps({"seconds": seconds, "busy": busy, "peak_mb": peak_mb()}))
        return
    if options.make:
        {"csv": make_csv, "netflix": make_netflix}[options.make](options.scratch, options.ratings)
        return
    measure(options)


def measure(options: Namespace) -> None:
    installed("duckdb")
    scratch = options.scratch or Path(tempfile.mkdtemp(prefix="starshade-read-"))
    scratch.mkdir(parents=True, exist_ok=True)
    for kind, file in (("csv", "shuffled.csv"), ("netflix", "netflix/combined_data_4.txt")):
        if options.only in (None, kind) and not (scratch / file).exists():
            command = [sys.executable, __file__, "--make", kind, "--ratings", str(options.ratings)]
            subprocess.run([*command, "--scratch", str(scratch)], check=True)
    print(f"{options.ratings:,} ratings, medians of {options.rounds} interleaved runs")
    if options.only != "netflix":
        for order in ("by_user", "shuffled"):
            measure_csv(scratch, order, options.rounds)
    if options.only != "csv":
        source = scratch / "netflix"
        run("ours", source, scratch / "store")  # warm-up
        rounds = [run("ours", source, scratch / "store") for _ in range(options.rounds)]
        report("Netflix text -> store", rounds)
    rounds = [run("open", scratch / "store", scratch / "nothing") for _ in range(options.rounds)]
    report("reopening the store", rounds)
    if options.keep:
        print(f"files kept in {scratch}")
    else:
        shutil.rmtree(scratch)


def measure_csv(scratch: Path, order: str, rounds: int) -> None:
    source = scratch / f"{order}.csv"
    theirs, ours = [], []
    for _ in range(rounds):
        theirs.append(run("duckdb", source, scratch / "theirs.parquet"))
        ours.append(run("ours", source, scratch / "store"))
    a = report(f"DuckDB CSV -> Parquet, {order}", theirs)
    b = report(f"starshade CSV -> store, {order}", ours)
    print(f"{'':34s} {b[0] / a[0]:7.2f} x DuckDB's time   {b[1] / a[1]:.2f} x its work", flush=True)


if __name__ == "__main__":
    main()
