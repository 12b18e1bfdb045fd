r"""A store of shards over growing sizes: written within a bound of memory, attacked, released.

Synthetic ratings with a long tail, of which every user's lie scattered over a Parquet file. Each
job is the command itself, in a process of its own. Up to `--whole` million the attack on shards and
the one on a store without them are of the same people with the same facts, and their answers are
compared.

    python benchmarks/shards.py                      # 10 and 30 million ratings
    python benchmarks/shards.py --millions 100       # others; the disk must hold 60 bytes a rating
    python benchmarks/shards.py --millions 100 300 1000 --items 50000 --memory 4G \
        --targets 10000 --k 50 --whole 0             # a billion; about an hour on two cores
    python benchmarks/shards.py --millions 10 --kills 5   # and each job killed, and gone on with

Peak memory is the process's, pages of the store that it looked at included.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from at_hand import Options

PER_USER = 200
PARTS = 20  # of the file: each has some of everybody's ratings
USERS_AT_ONCE = 100_000
MEASURED = ("seconds", "read_seconds", "postings_per_second")


class Job(NamedTuple):
    """A command on a store of shards, and what it leaves behind."""

    words: list[str]
    out: str | None = None
    exits: tuple[int, ...] = (0,)


class Spent(NamedTuple):
    """What a process took: seconds, of the processors too, and its peak memory in GB."""

    seconds: float
    processors: float
    gigabytes: float
    said: dict[str, Any]


def ratings_file(path: Path, millions: float, n_items: int) -> None:
    """Write about so many ratings, in an order that has nothing to do with users."""
    n_users = int(millions * 1_000_000) // PER_USER
    rng = np.random.default_rng(int(millions))
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


def run(*arguments: str, exits: tuple[int, ...] = (0,), until: float | None = None) -> Spent | None:
    """Run a command of starshade and measure its process; None: it was killed after `until`."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "starshade", *arguments, "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if until is not None:
            try:
                process.wait(until)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                return None
        said = process.stdout.read()
        if process.returncode is None:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            spent = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6
        else:
            spent = 0.0, 0.0
    if process.returncode not in exits:
        raise SystemExit(f"starshade {' '.join(arguments)} failed")
    return Spent(time.perf_counter() - began, *spent, json.loads(said))


def line(what: str, *spent: Spent) -> None:
    """Print what a job took; of several runs the quickest by its processors."""
    best = min(spent, key=lambda each: each.processors)
    print(
        f"  {what:<34} {best.seconds:8.1f} s {best.processors:8.1f} s of processors "
        f"{best.gigabytes:6.2f} GB",
        flush=True,
    )


def jobs_of(folder: Path, options: Namespace) -> dict[str, Job]:
    """Return the jobs over shards, in their order."""
    shards, release, receipt = (str(folder / name) for name in ("shards", "release", "receipt"))
    convert = ["data", "convert", str(folder / "r.parquet"), "--out", shards]
    known = ["--known", "8", "--wrong", "2", "--day-error", "14", "--seed", "1"]
    predictive = ["--method", "predictive", "--profile", "pooled", "--seed", "1"]
    written = ["--k", str(options.k), "--out", release, "--private", receipt]
    check = ["check", shards, "--k", "5", "--model"]
    jobs = {
        "Parquet to shards": Job([*convert, "--shards", options.shards], shards),
        "describe": Job(["data", "describe", shards]),
        "attack": Job(["attack", shards, *known, "--targets", str(options.targets)]),
        "check k-anonymity": Job([*check, "k-anonymity"], exits=(0, 1)),
        "check k-eps": Job([*check, "k-eps", "--eps", "1"], exits=(0, 1)),
        "check k-eps-l": Job(
            [*check, "k-eps-l", "--eps", "1", "--l", "1", "--sensitive", "0"], exits=(0, 1)
        ),
        "pooled release": Job(["anonymize", shards, *predictive, *written], release),
    }
    return {name: job for name, job in jobs.items() if name in (options.jobs or jobs)}


def known_again(job: Job, spent: Spent) -> str:
    """Return what is the same however often a job was killed: its answer, or what it wrote.

    A store of ratings has a random lineage, in its manifests.
    """
    digest = hashlib.sha256()
    if job.out is None:
        said = {key: value for key, value in spent.said.items() if key not in MEASURED}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    for file in sorted(Path(job.out).rglob("*")):
        if file.is_file() and file.name not in ("shards.json", "store.json"):
            with file.open("rb") as content:
                digest.update(str(file.relative_to(job.out)).encode())
                digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


def kill(job: Job, once: Spent, memory: list[str], kills: int, rng: random.Random) -> str:
    """Kill a job at some instants, going on each time; tell how it ended."""
    wanted = known_again(job, once)
    aside = None if job.out is None else Path(f"{job.out}-whole")
    if aside is not None and job.out is not None:
        Path(job.out).rename(aside)
    receipt = (
        Path(job.words[job.words.index("--private") + 1]) if "--private" in job.words else None
    )
    if receipt is not None:
        receipt.rename(f"{receipt}-whole")
    killed, ended = 0, None
    while ended is None:
        # so many fit about into the time of one run
        until = rng.uniform(0.1, 1.9) / kills * once.seconds if killed < kills else None
        ended = run(*job.words, *memory, "--resume", exits=job.exits, until=until)
        killed += ended is None
        if job.out is not None and Path(job.out).exists():  # killed, but only after all was there
            ended = once
    found = known_again(job, ended)
    if aside is not None:
        shutil.rmtree(aside)
    return f"killed {killed} times, {'the same' if found == wanted else 'ANOTHER RESULT'}"


def compared(folder: Path, jobs: dict[str, Job], options: Namespace) -> None:
    """Do the same on a store without shards as on the one with them, in turns."""
    whole, shards = str(folder / "whole"), str(folder / "shards")
    written = run("data", "convert", str(folder / "r.parquet"), "--out", whole)
    assert written is not None
    line("Parquet to a store", written)
    for name, job in jobs.items():
        results: dict[str, list[Spent]] = {shards: [], whole: []}
        for _ in range(options.rounds):
            for store, found in results.items():
                words = [store if word == shards else word for word in job.words]
                spent = run(*words, exits=job.exits)
                assert spent is not None
                found.append(spent)
        answers = {known_again(job, each) for found in results.values() for each in found}
        line(f"{name}, shards", *results[shards])
        line(f"{name}, store", *results[whole])
        least = [min(each.processors for each in found) for found in results.values()]
        same = "the same answers" if len(answers) == 1 else "OTHER ANSWERS"
        print(
            f"  shards to store: {least[0] / least[1]:.2f} times the processors, {same}", flush=True
        )


def measure(folder: Path, millions: float, options: Namespace) -> None:
    """Write so many ratings and do every job with them."""
    if not (folder / "r.parquet").exists():
        ratings_file(folder / "r.parquet", millions, options.items)
    rng, memory = random.Random(millions), ["--memory", options.memory]
    print(f"{millions:,g} million ratings asked for, {options.items:,} items")
    jobs = jobs_of(folder, options)
    for name, job in jobs.items():
        if job.out is not None and Path(job.out).exists():
            continue
        spent = run(*job.words, *memory, exits=job.exits)
        assert spent is not None
        line(f"{name}, {options.memory}", spent)
        if name == "Parquet to shards":
            said = spent.said
            print(
                f"  {said['ratings']:,} ratings, {said['users']:,} users, {said['shards']} shards"
            )
        if options.kills and name in (options.killed or jobs):
            print(f"    {kill(job, spent, memory, options.kills, rng)}", flush=True)
    if millions <= options.whole:
        compared(folder, {name: jobs[name] for name in options.compared if name in jobs}, options)


def main() -> None:
    """Measure each size."""
    parser = Options(__doc__)
    parser.add_argument("--millions", type=float, nargs="+", default=[10, 30], smoke=[0.02])
    parser.add_argument("--items", type=int, default=10_000, smoke=500)
    parser.add_argument("--memory", default="1G", help="for each job; default 1G")
    parser.add_argument("--shards", default="auto", smoke="2", help="default auto")
    parser.add_argument("--targets", type=int, default=1000, smoke=20)
    parser.add_argument("--k", type=int, default=50, smoke=5)
    few = ["Parquet to shards", "attack", "check k-eps-l", "pooled release"]
    parser.add_argument("--jobs", nargs="+", smoke=few, help="some of them only")
    parser.add_argument("--whole", type=int, default=100, help="millions that one store may have")
    compared = ["attack", "check k-anonymity", "check k-eps", "check k-eps-l"]
    parser.add_argument(
        "--compared", nargs="+", default=compared, smoke=["attack"], help="jobs on both stores"
    )
    parser.add_argument("--rounds", type=int, default=2, smoke=1, help="of the comparison")
    parser.add_argument("--kills", type=int, default=0, smoke=1, help="of each job")
    parser.add_argument("--killed", nargs="+", smoke=["attack"], help="some of the jobs only")
    parser.add_argument("--scratch", help="a folder on a disk with room")
    parser.add_argument("--keep", type=Path, help="work here; what is there is not made again")
    options = parser.parse_args()
    for millions in options.millions:
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            measure(options.keep.absolute(), millions, options)
            continue
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            measure(Path(folder), millions, options)


if __name__ == "__main__":
    main()
