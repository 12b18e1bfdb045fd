r"""The engine spark beside the engine local: seconds and memory of one attack, growing sizes.

Each cluster is Spark's own on this machine, executors being processes of their own with one
processor each. Peak memory is that of each kind of process, looked at twenty times a second: the
driver's Python and Java, and Python of all executors together.

    python benchmarks/spark.py                # 10 and 100 million ratings, one and two executors
    python benchmarks/spark.py --millions 1   # quick

It needs Java and pyspark: pip install 'starshade[spark]'.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from shards import MEASURED, ratings_file, run

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


def attack(store: Path, engine: list[str], targets: int) -> tuple[float, dict[str, float], Any]:
    """Attack a store; returns seconds, peaks and the answer."""
    known = ["--known", "8", "--wrong", "2", "--day-error", "14", "--seed", "1"]
    command = [sys.executable, "-m", "starshade", "attack", str(store), *known, *engine]
    command += ["--targets", str(targets)]
    began = time.perf_counter()
    with subprocess.Popen(
        [*command, "--json", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        most = peaks(process)
        assert process.stdout is not None
        said = json.loads(process.stdout.read())
    return time.perf_counter() - began, most, {k: v for k, v in said.items() if k not in MEASURED}


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--millions", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--shards", default="8")
    parser.add_argument("--scratch", help="a folder on a disk with room")
    options = parser.parse_args()
    for millions in options.millions:
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            rows, store = Path(folder) / "r.parquet", Path(folder) / "s"
            ratings_file(rows, millions, options.items)
            run("data", "convert", str(rows), "--out", str(store), "--shards", options.shards)
            print(
                f"{millions} million ratings, {options.shards} shards, {options.targets:,} targets"
            )
            answers = []
            for name, engine in ENGINES.items():
                seconds, most, said = attack(store, engine, options.targets)
                answers.append(said)
                held = ", ".join(f"{kind} {most[kind]:.2f} GB" for kind in sorted(most))
                print(f"  {name:<22} {seconds:7.1f} s   {held}", flush=True)
            print(
                "  the same answers" if all(a == answers[0] for a in answers) else "  OTHER ANSWERS"
            )


if __name__ == "__main__":
    main()
