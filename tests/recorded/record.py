"""Write down what today's code gives: ``python -m tests.recorded.record [--threads N]``.

A change that is to change nothing keeps `expected.json` as it is. One that changes something on
purpose records anew, and its differences are reviewed there.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.recorded.workshop import COMMANDS, Workshop, compact, digest

EXPECTED = Path(__file__).with_name("expected.json")
ANSWERS = Path(__file__).with_name("answers.json.gz")


def made_with() -> dict[str, str]:
    """Say what decides on the bytes of files, beside this code."""
    return {"numpy": np.__version__, "pyarrow": pa.__version__, "machine": platform.machine()}


def shortened(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the digest of its answer in the answer's place."""
    return entry | {"answer": digest(compact(entry["answer"]))}


def record(expected: Path, answers: Path, *more: str) -> None:
    """Run every command in an empty folder; write the two files."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        os.environ["XDG_STATE_HOME"] = place + "/.state"
        workshop = Workshop(*more)
        for name in COMMANDS:
            began = time.perf_counter()
            workshop.entry(name)
            print(f"{time.perf_counter() - began:6.2f} s  {name}", flush=True)
        given = {name: workshop.given[name] for name in COMMANDS}
    content = {
        "made with": made_with(),
        "entries": {name: shortened(entry) for name, entry in given.items()},
    }
    lines = [
        f" {compact(name).decode()}:{compact(entry).decode()}"
        for name, entry in content["entries"].items()
    ]
    head = f'{{"made with":{compact(content["made with"]).decode()},"entries":{{\n'
    expected.write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    packed = compact({name: entry["answer"] for name, entry in given.items()})
    answers.write_bytes(gzip.compress(packed, 9, mtime=0))


def load() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the expected entries, and the answers behind their digests."""
    answers = json.loads(gzip.decompress(ANSWERS.read_bytes()))
    return json.loads(EXPECTED.read_text(encoding="utf-8")), answers


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", help="threads of every command")
    options.add_argument("--out", type=Path, default=EXPECTED.parent, help="folder to write to")
    chosen = options.parse_args()
    threads = ("--threads", chosen.threads) if chosen.threads else ()
    record(chosen.out / EXPECTED.name, chosen.out / ANSWERS.name, *threads)
