"""How long it takes until starshade is there: `import starshade`, `--help`, a first use.

    python benchmarks/start.py

Each is a process of its own, started several times; what is told is the least time of the clock
and of the processor, beside an interpreter that does nothing. How many modules are loaded is held
by tests/house/test_lazy.py; times depend on the machine, so that no test asserts one.

Then the first commands on MovieLens 100K, each with an empty kernel cache of its own and again with
what the first call compiled: seconds of the processor, children included, and of the clock.
`--commands attack audit` measures some of them.
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
EXCHANGE = "anonymize {data} --k 5 --method k-exchange --items top:10 --seed 1"
PREDICTIVE = "anonymize {data} --k 5 --method predictive --seed 1"
#: commands; `{release}` is one of the same ratings by k-exchange, made beforehand
FIRST = {
    "demo": "demo --out demo --seed 1",
    "data describe": "data describe {data}",
    "attack": "attack {data} --seed 1",
    "anonymize k-exchange": EXCHANGE + " --out out --private out.json",
    "anonymize predictive": PREDICTIVE + " --out out --private out.json",
    "audit": "audit {data} {release} --private {release}.json --seed 1",
}


def timed(arguments: list[str], folder: Path | None = None) -> tuple[float, float]:
    """Seconds of the clock and of the processor; in a folder with a kernel cache of its own."""
    own = {} if folder is None else {"NUMBA_CACHE_DIR": str(folder / "cache")}
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **own},
        cwd=folder,
    )
    if done.returncode not in (0, 1, 4):  # an audit may fail or be incomplete
        raise SystemExit(done.stderr)
    took, after = time.perf_counter() - started, os.times()
    user = after.children_user - before.children_user
    return took, user + after.children_system - before.children_system


def first_use(words: str) -> tuple[list[tuple[float, float]], int]:
    """Measure a command with an empty cache and again; count the kernels that it compiled."""
    with tempfile.TemporaryDirectory() as name:
        folder, times = Path(name), []
        for _ in range(2):
            times.append(timed(["-m", "starshade", *words.split()], folder))
            for made in ("out", "demo"):
                shutil.rmtree(folder / made, ignore_errors=True)
            for file in (*folder.glob("*.json"), *folder.glob("*.html")):
                file.unlink()
        return times, sum(1 for _ in (folder / "cache").rglob("*.nbc"))


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--runs", type=int, default=7, smoke=1, help="of each start")
    parser.add_argument("--rounds", type=int, default=3, smoke=1, help="of first uses")
    parser.add_argument("--commands", nargs="+", choices=FIRST, help="first uses [default: all]")
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
    print(f"\n{'first use':22}{'processor':>11}{'clock':>9}{'kernels':>9}{'again':>11}{'clock':>9}")
    with tempfile.TemporaryDirectory() as name:
        release = f"{name}/release"
        words = f"{EXCHANGE} --out {release} --private {release}.json".format(data=data)
        timed(["-m", "starshade", *words.split()])
        for command in options.commands or FIRST:
            words = FIRST[command].format(data=data, release=release)
            rounds = [first_use(words) for _ in range(options.rounds)]
            cold, warm = (
                min((times[i] for times, _ in rounds), key=lambda t: t[1]) for i in (0, 1)
            )
            print(
                f"{command:22}{cold[1]:9.1f} s{cold[0]:7.1f} s{rounds[0][1]:9}"
                f"{warm[1]:9.1f} s{warm[0]:7.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
