"""How long it takes until starshade is there: `import starshade`, `--help`, a first use.

    python benchmarks/start.py

Each is a process of its own, started several times; what is told is the least time of the clock
and of the processor, beside an interpreter that does nothing. How many modules are loaded is held
by tests/house/test_lazy.py; times depend on the machine, so that no test asserts one.

Then what a newcomer does first on MovieLens 100K, one after the other with an empty kernel cache:
compiling ahead beside compiling each kernel when it is called, the rounds interleaved, and both
beside a second time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from at_hand import ML_100K, Options, public

STARTS = {
    "python -c pass": ["-c", "pass"],
    "import starshade": ["-c", "import starshade"],
    "starshade --help": ["-m", "starshade", "--help"],
    "starshade audit --help": ["-m", "starshade", "audit", "--help"],
    "starshade.Scale(1, 5, 1)": ["-c", "import starshade; starshade.Scale(1, 5, 1)"],
}
FIRST = {
    "data describe": "data describe {data}",
    "attack": "attack {data} --seed 1",
    "anonymize": "anonymize {data} --k 5 --items top:10 --out out --private rec.json --seed 1",
    "audit": "audit {data} out --private rec.json --seed 1",
}
WHEN_CALLED = (
    "from starshade.kernels import ahead; ahead.listed = lambda use: []; "
    "from starshade.__main__ import main; main()"
)


def timed(arguments: list[str], folder: Path | None = None) -> tuple[float, float]:
    """Seconds of the clock and of the processor; in a folder with a kernel cache of its own."""
    own = {} if folder is None else {"NUMBA_CACHE_DIR": str(folder / "cache")}
    before, started = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, **own},
        cwd=folder,
    )
    took, after = time.perf_counter() - started, os.times()
    user = after.children_user - before.children_user
    return took, user + after.children_system - before.children_system


def first_uses(data: Path, start: list[str]) -> tuple[list[float], list[float]]:
    """Seconds of the clock of each command: with an empty cache, and again."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = [], []
        for words in FIRST.values():
            for times in (cold, warm):
                if "--out" in words:
                    shutil.rmtree(Path(folder) / "out", ignore_errors=True)
                    (Path(folder) / "rec.json").unlink(missing_ok=True)
                told = [*start, *words.format(data=data).split()]
                times.append(timed(told, Path(folder))[0])
        return cold, warm


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--runs", type=int, default=7, smoke=1, help="of each start")
    parser.add_argument("--rounds", type=int, default=3, smoke=1, help="of first uses")
    options = parser.parse_args()
    print(f"{'':26}{'clock':>9}{'processor':>11}")
    for name, arguments in STARTS.items():
        timed(arguments)  # what is compiled is there, and files are in memory
        runs = [timed(arguments) for _ in range(options.runs)]
        clock, processor = (min(each) for each in zip(*runs, strict=True))
        print(f"{name:26}{clock:7.3f} s{processor:9.3f} s")
    data = public(ML_100K)
    if data is None:
        return
    data = data.resolve()
    rounds = [
        (first_uses(data, ["-m", "starshade"]), first_uses(data, ["-c", WHEN_CALLED]))
        for _ in range(options.rounds)
    ]
    print(f"\n{'first use':26}{'ahead':>9}{'when called':>13}{'ratio':>7}{'again':>9}")
    for i, name in enumerate(FIRST):
        ahead = min(ours[0][i] for ours, _ in rounds)
        lazy = min(theirs[0][i] for _, theirs in rounds)
        again = min(ours[1][i] for ours, _ in rounds)
        print(f"{name:26}{ahead:7.1f} s{lazy:11.1f} s{ahead / lazy:7.2f}{again:7.1f} s")


if __name__ == "__main__":
    main()
