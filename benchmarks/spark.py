r"""The engine spark beside the engine local: seconds and memory of one attack, growing sizes.

And of a frame that is written as a store of shards, beside `data convert`.

Each cluster is Spark's own on this machine, executors being processes of their own with one
processor each. Peak memory is that of each kind of process, looked at twenty times a second: the
driver's Python and Java, and Python of all executors together.

    python benchmarks/spark.py                # 10 and 100 million ratings, one and two executors
    python benchmarks/spark.py --millions 1   # smaller; 0.02 is the smallest

It needs Java and pyspark: pip install 'starshade[spark]'.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from at_hand import Options
from shards import MEASURED, ratings_file
from starshade.ratings.shards.shards import open_shards

ENGINES = {
    "local": ["--engine", "local"],
    "spark, one executor": ["--engine", "spark", "--master", "local-cluster[1,1,1024]"],
    "spark, two executors": ["--engine", "spark", "--master", "local-cluster[2,1,1024]"],
}
KINDS = {"SparkSubmit": "driver, Java", "CoarseGrained": "executors, Java", "pyspark": "executors"}


def peaks(process: subprocess.Popen[bytes]) -> dict[str, float]:
    """Watch a process and those that it starts until it ends; peak GB of each kind together."""
    most: dict[str, float] = defaultdict(float)
    page = os.sysconf("SC_PAGE_SIZE") / 1e9
    while process.poll() is None:
        now: dict[str, float] = defaultdict(float)
        for entry in Path("/proc").glob("[0-9]*"):
            at: int | None = int(entry.name)
            while at is not None and at != process.pid:
                at = parent_of(at)
            if at is None:
                continue
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                held = int((entry / "statm").read_text().split()[1]) * page
            except OSError:  # it has ended
                continue
            now[next((kind for sign, kind in KINDS.items() if sign in words), "driver")] += held
        for kind, held in now.items():
            most[kind] = max(most[kind], held)
        time.sleep(0.05)
    return most


def parent_of(pid: int) -> int | None:
    """Return the parent of a process; None: the first of all, or gone."""
    try:
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return None
    return parent or None


#: writes Parquet as a store of shards: source, store, shards, engine and master
WRITE = """
import os, sys
import starshade, starshade.spark
source, out, shards, *engine = sys.argv[1:]
if "spark" in engine:
    from pyspark.sql import SparkSession
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master(engine[-1]).getOrCreate()
    with starshade.spark.open(session, source, out=out, shards=int(shards)):
        pass
    session.stop()
else:
    starshade.convert_to_shards(source, out, int(shards))
"""


def watched(name: str, *command: str) -> str:
    """Run Python and print what it took; returns what it said."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        most = peaks(process)
        assert process.stdout is not None
        said = process.stdout.read().decode()
    if process.returncode:
        raise SystemExit(f"{name} failed: {' '.join(command)}")
    seconds = time.perf_counter() - began
    held = ", ".join(f"{kind} {most[kind]:.2f} GB" for kind in sorted(most))
    print(f"  {name:<22} {seconds:7.1f} s   {held}", flush=True)
    return said


def attacked(store: Path, targets: int) -> list[Any]:
    """Attack a store with each engine; returns the answers."""
    known = ["--known", "8", "--wrong", "2", "--day-error", "14", "--seed", "1"]
    command = ["-m", "starshade", "attack", str(store), *known, "--targets", str(targets)]
    answers = []
    for name, engine in ENGINES.items():
        said = json.loads(watched(name, *command, *engine, "--json", "--quiet"))
        answers.append({key: value for key, value in said.items() if key not in MEASURED})
    return answers


def written(rows: Path, folder: Path, shards: str) -> list[Any]:
    """Write a store with each engine; returns what lies in each."""
    script, contents = folder / "write.py", []
    script.write_text(WRITE)
    for number, (name, engine) in enumerate(ENGINES.items()):
        out = folder / f"store-{number}"
        watched(name, str(script), str(rows), str(out), shards, *engine)
        contents.append(digest(out))
    return contents


def digest(store: Path) -> str:
    """Return a checksum of the ratings, wherever shards begin."""
    shards, columns = open_shards(store), [hashlib.sha256() for _ in range(5)]
    for number in range(len(shards)):
        part = shards.shard(number)
        users, counts = part.users.integers, np.diff(part.indptr)
        held = (users, counts, part.columns, part.codes, part.days)
        for column, found in zip(columns, held, strict=True):
            column.update(np.ascontiguousarray(found).data)
    return " ".join(column.hexdigest() for column in columns)


def main() -> None:
    """Measure each size."""
    parser = Options(__doc__)
    parser.add_argument("--millions", type=float, nargs="+", default=[10, 100], smoke=[0.02])
    parser.add_argument("--targets", type=int, default=10_000, smoke=20)
    parser.add_argument("--items", type=int, default=10_000, smoke=500)
    parser.add_argument("--shards", default="8", smoke="2")
    parser.add_argument("--scratch", help="a folder on a disk with room")
    options = parser.parse_args()
    for millions in options.millions:
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            rows, shards = Path(folder) / "r.parquet", options.shards
            ratings_file(rows, millions, options.items)
            print(f"{millions:g} million ratings, Parquet to {shards} shards")
            contents = written(rows, Path(folder), shards)
            print("  the same store" if same(contents) else "  OTHER STORES")
            print(f"attack, {options.targets:,} targets")
            answers = attacked(Path(folder) / "store-0", options.targets)
            print("  the same answers" if same(answers) else "  OTHER ANSWERS")


def same(results: list[Any]) -> bool:
    """Tell whether all results are one."""
    return all(each == results[0] for each in results)


if __name__ == "__main__":
    main()
