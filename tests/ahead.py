"""Write down anew which kernels the commands compile: ``python -m tests.ahead``.

Each command is run on synthetic ratings with an empty cache and nothing compiled ahead, and what
it compiles goes into `starshade.kernels.ahead.LIST`. To be run when a kernel, its arguments or
its callers have changed; tests/unit/kernels/test_ahead.py fails where that was forgotten.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from starshade.kernels.ahead import LIST

#: what a newcomer does first, in this order: the use that is listed, and the command line
COMMANDS = {
    "data describe": "data describe u.data",
    "attack scoreboard-rh": "attack u.data --seed 1",
    "anonymize k-exchange": "anonymize u.data --k 3 --items top:10 --seed 1 --out out "
    "--private rec.json",
    "audit": "audit u.data out --private rec.json --seed 1",
    "anonymize predictive": "anonymize u.data --k 3 --method predictive --seed 1 --out predictive "
    "--private predictive.json",
    "demo": "demo --out demo --seed 1",
}
#: runs a program and writes down what Numba compiled for it, callees first
LISTENER = """
import json, sys, time
import starshade.kernels
from numba.core import event
from starshade.kernels.ahead.crew import write_types

found, running = [], []


class Listener(event.Listener):
    def on_start(self, _):
        running.append([time.process_time(), 0.0])

    def on_end(self, one):
        begun, of_callees = running.pop()
        seconds = time.process_time() - begun
        function = one.data["dispatcher"].py_func
        named = getattr(sys.modules[function.__module__], function.__qualname__, None)
        if named is one.data["dispatcher"] and function.__module__.startswith("starshade.kernels."):
            if running:
                running[-1][1] += seconds
            kernel = f"{function.__module__}:{function.__qualname__}"
            found.append([kernel, write_types(one.data["args"]), seconds - of_callees])
        elif running:
            running[-1][1] += of_callees


event.register("numba:compile", Listener())
try:
    {program}
finally:
    with open({out!r}, "w") as file:
        json.dump(found, file)
"""
RUN = "sys.argv = {words!r}; from starshade.__main__ import main; main()"


def record(program: str, folder: Path, **environment: str) -> list[list[Any]]:
    """Run a program and return kernel, types and seconds of what it compiled."""
    out = folder / "compiled.json"
    code = LISTENER.replace("{program}", program).replace("{out!r}", repr(str(out)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    assert done.returncode in (0, 1), done  # an audit may say no
    found: list[list[Any]] = json.loads(out.read_text())
    return found


def write_ratings(folder: Path) -> None:
    """Make up ratings and write them as MovieLens 100K is written."""
    words = ["data", "synth", "--seed", "1", "--out", "synth.csv", "--quiet"]
    subprocess.run([sys.executable, "-m", "starshade", *words], cwd=folder, check=True)
    with (folder / "synth.csv").open() as source, (folder / "u.data").open("w") as target:
        csv.writer(target, "excel-tab", lineterminator="\n").writerows(list(csv.reader(source))[1:])


def main() -> None:
    uses: dict[tuple[str, str], list[str]] = {}
    seconds: dict[tuple[str, str], float] = {}
    LIST.write_text("")  # so that nothing is compiled ahead
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_ratings(folder)
        for use, words in COMMANDS.items():
            program = RUN.format(words=["starshade", *words.split()])
            for kernel, types, took in record(
                program, folder, NUMBA_CACHE_DIR=str(folder / f"cache of {use}")
            ):
                uses.setdefault((kernel, types), []).append(use)
                seconds.setdefault((kernel, types), took)
    with LIST.open("w") as file:
        for (kernel, types), names in uses.items():
            entry = {"kernel": kernel, "for": names, "types": types}
            took = round(seconds[kernel, types], 1)
            file.write(json.dumps({**entry, "seconds": max(took, 0.1)}) + "\n")


if __name__ == "__main__":
    main()
