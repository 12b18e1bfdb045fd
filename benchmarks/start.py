"""How long it takes until starshade is there: `import starshade`, `--help`, a first use.

    python benchmarks/start.py

Each is a process of its own, started several times; what is told is the least time of the clock
and of the processor, beside an interpreter that does nothing. How many modules are loaded is held
by tests/house/test_lazy.py; times depend on the machine, so that no test asserts one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

STARTS = {
    "python -c pass": ["-c", "pass"],
    "import starshade": ["-c", "import starshade"],
    "starshade --help": ["-m", "starshade", "--help"],
    "starshade audit --help": ["-m", "starshade", "audit", "--help"],
    "starshade.Scale(1, 5, 1)": ["-c", "import starshade; starshade.Scale(1, 5, 1)"],
}
RUNS = 7


def timed(arguments: list[str]) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    before, started = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    took, after = time.perf_counter() - started, os.times()
    user = after.children_user - before.children_user
    return took, user + after.children_system - before.children_system


def main() -> None:
    print(f"{'':26}{'clock':>9}{'processor':>11}")
    for name, arguments in STARTS.items():
        timed(arguments)  # what is compiled is there, and files are in memory
        runs = [timed(arguments) for _ in range(RUNS)]
        clock, processor = (min(each) for each in zip(*runs, strict=True))
        print(f"{name:26}{clock:7.3f} s{processor:9.3f} s")


if __name__ == "__main__":
    main()
