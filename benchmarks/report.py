"""What a report costs on MovieLens 100K, its attacks included, beside what its parts cost.

For each release every job runs in a process of its own, the jobs interleaved, after one round that
compiles: reading the ratings; the audit alone; the dossier (the audit, who stands out, and all
figures); the HTML of both editions; and the whole command ``starshade report``, from its start to
the file. Medians over the rounds of seconds, of the processors' own seconds, and of peak memory:

    python benchmarks/report.py ml-100k/u.data
    python benchmarks/report.py ml-100k/u.data --rounds 5 --methods k-likeness
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from argparse import SUPPRESS
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import starshade as ss
from at_hand import Options, named, ratings_of, run_job

METHODS = {
    "k-likeness": ss.KLikeness(k=5, items=ss.top_items(10)),
    "k-member": ss.KMember(k=5, items=ss.top_items(100)),
    "interval": ss.IntervalAnonymizer(k=5, eps=2, nulls="zero", items=ss.top_items(10)),
    "predictive": ss.PredictiveAnonymizer(k=5, profile="pooled"),
}
PARTS = ("read", "audit", "dossier", "html", "command")


def work(part: str, ratings: str, place: Path) -> dict[str, float]:
    """Do one part in this process; return what it took."""
    from starshade.audit.dossier.dossier import compile_dossier
    from starshade.report.page import render_report

    release, receipt = place / "release", place / "receipt.json"
    started, spent = perf_counter(), process_time()
    table = ss.read_ratings(ratings)
    if part != "read":
        started, spent = perf_counter(), process_time()
    if part == "audit":
        ss.Audit().run(table, release, private=receipt, rng=0)
    if part in ("dossier", "html"):
        dossier = compile_dossier(table, release, private=receipt, rng=0)
        if part == "html":
            started, spent = perf_counter(), process_time()
            for public in (False, True):
                render_report(dossier, public=public)
    return {"seconds": perf_counter() - started, "own": process_time() - spent, "peak": peak()}


def peak(who: int = resource.RUSAGE_SELF) -> float:
    """Return the most memory held, in MB."""
    return resource.getrusage(who).ru_maxrss * 1024 / 1e6


def run(part: str, ratings: str, place: Path) -> dict[str, float]:
    """Do one part in a process of its own."""
    if part != "command":
        return run_job(ratings, "--part", part, "--place", place, stderr=subprocess.DEVNULL)
    out = place / "report.html"
    out.unlink(missing_ok=True)
    call = [sys.executable, "-m", "starshade", "report", ratings, str(place / "release")]
    call += ["--private", str(place / "receipt.json"), "--seed", "0", "--out", str(out), "-q"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = perf_counter()
    subprocess.run(call, check=True, capture_output=True)
    seconds = perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "own": own, "peak": peak(resource.RUSAGE_CHILDREN)}


def main() -> None:
    """Print a table for each method."""
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    parser.add_argument("--warm-ups", type=int, default=1, smoke=0, help="rounds not counted")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), smoke=["k-likeness"]
    )
    parser.add_argument("--part", choices=PARTS, help=SUPPRESS)
    parser.add_argument("--place", type=Path, help=SUPPRESS)
    asked = parser.parse_args()
    asked.ratings = str(named(asked.ratings))
    if asked.part:
        print(json.dumps(work(asked.part, asked.ratings, asked.place)))
        return
    table = ratings_of(asked.ratings)
    for name in asked.methods:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            release = METHODS[name].anonymize(table, rng=0)
            release.save(place / "release", private=place / "receipt.json")
            rounds = [
                {part: run(part, asked.ratings, place) for part in PARTS}
                for _ in range(asked.warm_ups + asked.rounds)
            ][asked.warm_ups :]
            size = (place / "report.html").stat().st_size
        print(f"\n{name}: {release!r}; {size:,} bytes of HTML (internal)")
        print(f"{'part':10}{'seconds':>9}{'own':>9}{'peak MB':>9}")
        for part in PARTS:
            seconds, own, most = (
                median(found[part][key] for found in rounds) for key in ("seconds", "own", "peak")
            )
            print(f"{part:10}{seconds:9.2f}{own:9.2f}{most:9.0f}", flush=True)


if __name__ == "__main__":
    main()
