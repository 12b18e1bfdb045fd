"""Draw mutants, try them in a copy of the checkout, and list the survivors."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.mutants.changes import Mutant, changes_of, mutant_of
from tests.mutants.nearest import SRC, Nearness

ROOT = Path(__file__).parents[2]
#: what is mutated; each part gives the same number of mutants
PARTS = {
    "verdict": ("audit/*.py", "audit/checks/*.py", "audit/original/*.py"),
    "verifier": ("release/verify/*.py", "release/match/*.py"),
    "attacks": ("attack/**/*.py",),
    "stores": ("ratings/shards/*.py", "project/*.py"),
}
_TEST_SECONDS = 60  # a test that takes longer has failed


@dataclass(frozen=True)
class Result:
    """A mutant and its outcome: killed by the "nearest" or by "wider" tests, or "survived"."""

    mutant: Mutant
    outcome: str
    killer: str  # the test that failed
    seconds: float


def sample(root: Path, seed: int, n: int) -> list[Mutant]:
    """Draw `n` mutants, of each part as many as of the others."""
    rng, drawn = random.Random(seed), list[Mutant]()
    for number, patterns in enumerate(PARTS.values()):
        paths = sorted({path for each in patterns for path in (root / SRC).glob(each)})
        every = [change for path in paths for change in changes_of(root, path.relative_to(root))]
        some = rng.sample(every, min(len(every), (n + number) // len(PARTS)))
        drawn += [mutant_of(root, change) for change in some]
    return drawn


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Copy the checkout; files keep their times, so that compiled kernels are used again."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        place = Path(folder).resolve() / "checkout"
        shutil.copytree(root, place, ignore=partial(_left_out, root))
        yield place


def _left_out(root: Path, folder: str, names: list[str]) -> set[str]:
    """Return what a copy does without: hidden files, and what the targets of `make` wrote."""
    made = ("site", "dist", "reproduction", "*-out") if Path(folder) == root else ()
    return shutil.ignore_patterns(".*", *made)(folder, names)


def first_failure(place: Path, tests: Sequence[str], seconds: float) -> str | None:
    """Run tests in a copy; return the first that fails, None if none does in this time."""
    options = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, "-m", "not slow and not real"]
    variables = {"PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
    process = subprocess.Popen(
        [*command, f"--timeout={_TEST_SECONDS}", *tests],
        cwd=place,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode in (0, 5):  # 5: no test was selected
        return None
    if process.returncode in (3, 4):
        raise RuntimeError(f"pytest cannot run:\n{text}")
    failed = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].split(" ", 1)[1].split(" - ")[0] if failed else "(the process died)"


def try_mutants(
    root: Path, place: Path, mutants: Sequence[Mutant], seconds: float, tiers: int = 2
) -> Iterator[Result]:
    """Try mutants one by one in the copy `place`, each for `seconds` at most."""
    near = Nearness(root)
    for mutant in mutants:
        started, outcome, killer = time.perf_counter(), "survived", None
        mutant.apply(place)
        named = zip(("nearest", "wider"), near.tiers(Path(mutant.path)), strict=True)
        for tier, tests in [*named][:tiers]:
            left = seconds - (time.perf_counter() - started)
            if killer is None and tests and left > 0:
                killer = first_failure(place, tests, left)
                outcome = outcome if killer is None else tier
        shutil.copy2(root / mutant.path, place / mutant.path)
        yield Result(mutant, outcome, killer or "", time.perf_counter() - started)


def main() -> int:
    """Report each mutant as it ends, then the survivors; fail if a killer fails without it."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample [default: 1]")
    parser.add_argument("-n", type=int, default=60, help="mutants to draw [default: 60]")
    parser.add_argument("--at", metavar="FILE[:LINE]", help="every mutant there, no sample")
    parser.add_argument(
        "--seconds", type=float, default=300, help="limit per mutant [default: 300]"
    )
    parser.add_argument("--nearest", action="store_true", help="run the nearest tests only")
    parser.add_argument("--json", action="store_true", help="write the results as JSON")
    options = parser.parse_args()
    if options.at:
        path, _, line = options.at.partition(":")
        every = [mutant_of(ROOT, change) for change in changes_of(ROOT, Path(path))]
        mutants = [each for each in every if line in ("", str(each.line))]
    else:
        mutants = sample(ROOT, options.seed, options.n)
    started, results = time.perf_counter(), list[Result]()
    with copied(ROOT) as place:
        for result in try_mutants(ROOT, place, mutants, options.seconds, 2 - options.nearest):
            results.append(result)
            each = (time.perf_counter() - started) / len(results)
            minutes = each * (len(mutants) - len(results)) / 60
            head = f"[{len(results)}/{len(mutants)}, {minutes:.0f} min left]"
            text = f"{head} {result.outcome:8} {result.seconds:4.0f} s  {result.mutant}"
            print(text, file=sys.stderr, flush=True)
        # a test that fails without a mutant has killed none; nor has a file that cannot be read
        killers = sorted({each.killer for each in results if each.killer.startswith("tests/")})
        broken = first_failure(place, killers, 10 * options.seconds) if killers else None
    survivors = [each.mutant for each in results if each.outcome == "survived"]
    if options.json:
        print(json.dumps([asdict(each) for each in results], indent=1))
    else:
        counts = Counter(each.outcome for each in results)
        print(", ".join(f"{n} {outcome}" for outcome, n in counts.most_common()))
        print(*survivors, sep="\n")
    if broken is not None:
        print(f"Error: {broken} fails without any mutant", file=sys.stderr)
    return int(broken is not None)


if __name__ == "__main__":
    sys.exit(main())
