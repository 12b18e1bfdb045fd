"""The whole story at Netflix's size: draw, convert, attack, release, audit, report.

Every step is the command that a person would give, in a process of its own, and is told with its
seconds, the processors' own seconds (other work on the machine does not count), and the most memory
that it held. The steps are made in a scratch folder that is removed at the end:

    python benchmarks/netflix_story.py                    # 480,189 x 17,770, about 100 million
    python benchmarks/netflix_story.py --users 60000 --items 4000 --ratings 6000000
    python benchmarks/netflix_story.py --steps draw release audit --shadows 0
    python benchmarks/netflix_story.py --shards auto --steps draw convert release audit
    python benchmarks/netflix_story.py --keep FOLDER      # what is there already is not made again

Nothing else attacks, releases and judges such data, so there is no rival; what single steps cost
beside theirs, the other benchmarks say.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

from at_hand import Options


class Step(NamedTuple):
    """What a step runs, what it leaves behind, and the exits that are no failure."""

    command: list[str]
    made: str | None = None
    exits: tuple[int, ...] = (0,)


def steps_of(options: Namespace) -> dict[str, Step]:
    """Return the steps in their order."""
    size = ["--n-users", options.users, "--n-items", options.items, "--n-ratings", options.ratings]
    whole = ["nf", "release", "--private", "receipt"]
    seed, targets = ["--seed", options.seed], ["--targets", options.targets]
    told = [*targets, "--shadows", options.shadows, *seed]
    drawn = ["data", "synth", "--like", "netflix", *size, "--out", "drawn.parquet", *seed]
    release = ["anonymize", "nf", "--method", "predictive", "--profile", "pooled", *seed]
    known = ["--known", 8, *targets, *seed]
    shards = [] if options.shards is None else ["--shards", options.shards]
    on_release = ["attack", "release", "--original", "nf", "--private", "receipt", *known]
    return {
        "draw": Step(drawn, "drawn.parquet"),
        "convert": Step(["data", "convert", "drawn.parquet", "--out", "nf", *shards], "nf"),
        "attack": Step(["attack", "nf", *known]),
        "release": Step(
            [*release, "--k", options.k, "--out", "release", "--private", "receipt"], "release"
        ),
        "attack the release": Step(on_release),
        "likelihood": Step([*on_release, "--attack", "likelihood"]),
        "check": Step(["check", "release", "--model", "review-graph", "--k", options.k]),
        "measure": Step(["measure", *whole]),
        "audit": Step(["audit", *whole, *told], exits=(0, 1)),
        "report": Step(["report", *whole, *told, "--out", "report.html"], exits=(0, 1)),
    }


def run(step: Step, folder: Path, options: Namespace) -> tuple[float, float, float]:
    """Run a step; return its seconds, those of the processors, and the gigabytes held at most."""
    common = ["--memory", options.memory, "--quiet"]
    words = [sys.executable, "-m", "starshade", *map(str, [*step.command, *common])]
    started = time.perf_counter()
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    if code not in step.exits:
        raise SystemExit(
            f"{' '.join(words)}\nended with {code}:\n{(folder / 'output').read_text()}"
        )
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = time.perf_counter() - started
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e9


def main() -> None:
    """Run what was asked for and print a table."""
    options = Options(__doc__)
    options.add_argument("--users", type=int, default=480_189, smoke=200)
    options.add_argument("--items", type=int, default=17_770, smoke=60)
    options.add_argument("--ratings", type=int, default=100_480_507, smoke=5_000)
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--targets", type=int, default=1000, smoke=20)
    options.add_argument("--shadows", type=int, default=4, smoke=0)
    options.add_argument("--memory", default="8G")
    options.add_argument("--shards", help="how many, or auto; left out: one table")
    options.add_argument("--seed", type=int, default=1)
    most = ["draw", "convert", "release", "likelihood", "check", "measure", "report"]
    options.add_argument(
        "--steps", nargs="*", smoke=most, help="some steps only; what they need is there"
    )
    options.add_argument("--keep", type=Path, help="work here, and leave everything")
    chosen = options.parse_args()
    steps = steps_of(chosen)
    print("| step | seconds | processors' seconds | peak memory |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (chosen.keep or Path(scratch)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        for name in chosen.steps or steps:
            if steps[name].made is not None and (folder / str(steps[name].made)).exists():
                continue
            seconds, processors, memory = run(steps[name], folder, chosen)
            print(f"| {name} | {seconds:.1f} | {processors:.1f} | {memory:.2f} GB |", flush=True)


if __name__ == "__main__":
    main()
