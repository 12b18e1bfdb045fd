"""A store of shards over growing sizes: written within a bound of memory, attacked, checked.

Synthetic ratings with a long tail, of which every user's lie scattered over a Parquet file. Each
job is the command itself, in a process of its own; the attack on shards and the one on a store
without them are of the same people with the same facts, and their answers are compared, as are the
verdicts of the checks.

    python benchmarks/shards.py                      # 10 and 30 million ratings
    python benchmarks/shards.py --millions 100       # others; the disk must hold 60 bytes a rating
    python benchmarks/shards.py --memory 1G --shards 8 --targets 500

Peak memory is the process's, pages of the store that it looked at included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PER_USER = 200
PARTS = 20  # of the file: each has some of everybody's ratings
USERS_AT_ONCE = 100_000
SETTINGS = ("--known", "8", "--wrong", "2", "--day-error", "14", "--seed", "1", "--json")
CHECKS = (
    ("k-anonymity", "--k", "5"),
    ("k-eps", "--k", "5", "--eps", "1"),
    ("k-eps-l", "--k", "5", "--eps", "1", "--l", "1", "--sensitive", "0"),
)
MEASURED = ("seconds", "read_seconds", "postings_per_second")


class Spent(NamedTuple):
    """What a process took: seconds, of the processors too, and its peak memory in GB."""

    seconds: float
    processors: float
    gigabytes: float
    said: dict[str, Any]


def ratings_file(path: Path, millions: int) -> None:
    """Write about so many ratings, in an order that has nothing to do with users."""
    n_users, n_items = millions * 1_000_000 // PER_USER, 500 * PARTS
    rng = np.random.default_rng(millions)
    schema = pa.schema(
        {"user": pa.int64(), "item": pa.int64(), "rating": pa.float32(), "date": pa.date32()}
    )
    with pq.ParquetWriter(path, schema) as writer:
        for part in range(PARTS):
            for first in range(0, n_users, USERS_AT_ONCE):
                users = np.arange(first, min(first + USERS_AT_ONCE, n_users))
                user = np.repeat(users, rng.poisson(PER_USER / PARTS * 1.1, len(users)))
                item = (rng.random(len(user)) ** 3 * (n_items // PARTS)).astype(np.int64)
                cells = np.unique(user * n_items + item * PARTS + part)
                rng.shuffle(cells)
                n = len(cells)
                days = (12_000 + rng.integers(0, 2_000, n)).astype(np.int32)
                columns = [
                    pa.array(cells // n_items),
                    pa.array(cells % n_items),
                    pa.array(rng.integers(1, 6, n).astype(np.float32)),
                    pa.array(days).cast(pa.date32()),
                ]
                writer.write_table(pa.table(columns, schema=schema))


def run(*arguments: str) -> Spent:
    """Run a command of starshade and measure its process."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "starshade", *arguments, "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: a check that does not hold
        raise SystemExit(f"starshade {' '.join(arguments)} failed")
    seconds = time.perf_counter() - began
    spent = usage.ru_utime + usage.ru_stime
    return Spent(seconds, spent, usage.ru_maxrss / 1e6, json.loads(said))


def line(what: str, *spent: Spent) -> None:
    """Print what a job took; of several runs the quickest by its processors."""
    best = min(spent, key=lambda each: each.processors)
    print(
        f"  {what:<34} {best.seconds:8.1f} s {best.processors:8.1f} s of processors "
        f"{best.gigabytes:6.2f} GB",
        flush=True,
    )


def measure(folder: Path, millions: int, options: argparse.Namespace) -> None:
    """Write, open, attack and check so many ratings."""
    file, whole, shards = (str(folder / name) for name in ("r.parquet", "whole", "shards"))
    ratings_file(Path(file), millions)
    written = run(
        "data", "convert", file, "--out", shards, "--shards", options.shards,
        "--memory", options.memory,
    )  # fmt: skip
    said = written.said
    print(f"{said['ratings']:,} ratings, {said['users']:,} users, {said['shards']} shards")
    line(f"Parquet to shards, {options.memory}", written)
    line("Parquet to a store", run("data", "convert", file, "--out", whole))
    line("describe, shards", run("data", "describe", shards))
    stores, rounds = {"shards": shards, "store": whole}, options.rounds
    who = ("--targets", str(options.targets), *SETTINGS)
    beside(f"attack, {options.targets:,} targets", "attack", stores, who, rounds)
    for model in CHECKS:
        beside(f"check, {model[0]}", "check", stores, ("--model", *model), rounds)


def beside(
    what: str, command: str, stores: dict[str, str], settings: tuple[str, ...], rounds: int
) -> None:
    """Do the same on the shards and on the store, in turns; compare times and answers."""
    done: dict[str, list[Spent]] = {kind: [] for kind in stores}
    for _ in range(rounds):
        for kind, store in stores.items():
            done[kind].append(run(command, store, *settings))
    answers = {
        json.dumps({k: v for k, v in each.said.items() if k not in MEASURED}, sort_keys=True)
        for results in done.values()
        for each in results
    }
    for kind, results in done.items():
        line(f"{what}, {kind}", *results)
    least = [min(each.processors for each in results) for results in done.values()]
    same = "the same answers" if len(answers) == 1 else "OTHER ANSWERS"
    print(f"  shards to store: {least[0] / least[1]:.2f} times the processors, {same}", flush=True)


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--millions", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--memory", default="1G", help="for the sort; default 1G")
    parser.add_argument("--shards", default="auto", help="default auto")
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--scratch", help="a folder on a disk with room")
    options = parser.parse_args()
    for millions in options.millions:
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            measure(Path(folder), millions, options)


if __name__ == "__main__":
    main()
