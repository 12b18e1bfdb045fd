"""Predictive anonymization at Netflix's size, on two cores: from the store to a verified release.

Draws synthetic ratings of the Netflix Prize's size (once, into the scratch folder), then makes a
padded release at k = 5 and k = 50, each in a process of its own, and prints the seconds of every
stage, peak memory, the release's size on disk, and the largest temporary file seen meanwhile:

    python benchmarks/predictive.py                       # 480,189 x 17,770, about 100 million
    python benchmarks/predictive.py --store netflix/      # ratings that are there already
    python benchmarks/predictive.py --growth              # over users, then over items
    python benchmarks/predictive.py --rival               # beside scikit-learn, at a size that fits

Nothing else makes such releases. The rival is what somebody would write who has the memory: the
padded rows as one dense matrix, scikit-learn's k-means with m/k centres on it, means of its
clusters. It promises no least size, so some of its clusters hold a single person; it is told here
beside its time.
"""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
import threading
import time
from argparse import SUPPRESS, Namespace
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from at_hand import Options, installed, named, run_job

NETFLIX = (480_189, 17_770)
ROUNDS = 8  # of bounded t-means; the rival has as many


class Stages:
    """Adds up the seconds of each task as it is announced; of nested ones the outermost."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[tuple[str, float]] = []

    def start(self, label: str, total: float | None) -> int:
        """Begin a task."""
        self._open.append((label, time.perf_counter()))
        return len(self._open)

    def advance(self, handle: int, amount: float) -> None:
        """Nothing to do: only ends count."""

    def stop(self, handle: int) -> None:
        """End a task."""
        label, started = self._open.pop()
        if not self._open:
            self.seconds[label] += time.perf_counter() - started

    def note(self, message: str) -> None:
        """Nothing to do."""


class LargestFile:
    """Watches a folder for the largest file in it, but for what is named."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.most = folder, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> LargestFile:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            for path in self.folder.rglob("*"):
                try:
                    self.most = max(self.most, path.stat().st_size)
                except OSError:  # gone meanwhile
                    continue


def job(store: str, k: int, profile: str, grouping: str, out: str) -> dict[str, Any]:
    """Make, save and verify one release; runs in a process of its own."""
    from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
    from starshade.progress import watch
    from starshade.ratings.read import read_ratings
    from starshade.ratings.synth.synth import synthesize

    method = PredictiveAnonymizer(k=k, profile=profile, grouping=grouping)
    small = synthesize(n_users=300, n_items=100, rng=0)  # compiles, or loads what was compiled
    method_small = PredictiveAnonymizer(k=5, profile=profile, grouping=grouping)
    with tempfile.TemporaryDirectory(dir=Path(out).parent) as warm:
        method_small.anonymize(small, rng=0).save(Path(warm) / "release")
    stages = Stages()
    with LargestFile(Path(out).parent) as files, watch(stages):
        started = time.perf_counter()
        ratings = read_ratings(store)
        opened = time.perf_counter()
        release = method.anonymize(ratings, rng=0)
        made = time.perf_counter()
        release.save(out)
        saved = time.perf_counter()
    return {
        "users": ratings.n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings,
        "groups": 0 if release.exact is None else release.exact.groups,
        "smallest": int(release.classes.sizes.min()),
        "seconds": saved - started,
        "open": opened - started,
        "make": made - opened,
        "save": saved - made,
        "stages": dict(stages.seconds),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "release_gb": sum(f.stat().st_size for f in Path(out).iterdir()) / 1e9,
        "largest_file_gb": files.most / 1e9,
    }


def rival_job(store: str, k: int, which: str) -> dict[str, Any]:
    """Group dense padded rows, ours or scikit-learn's; runs in a process of its own."""
    from starshade.ratings.read import read_ratings
    from starshade.recommend.regularized_svd import RegularizedSVD

    ratings = read_ratings(store)
    factors = RegularizedSVD().fit(ratings, rng=0)
    few = ratings.keep_users(np.arange(400))
    GROUPINGS[which](few, RegularizedSVD(sweeps=1, holdout=0).fit(few, rng=0), k)  # compiles
    started = time.perf_counter()
    groups = GROUPINGS[which](ratings, factors, k)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    padded = dense(ratings, factors)
    sizes = np.bincount(groups)
    means = np.zeros((len(sizes), padded.shape[1]), np.float32)
    np.add.at(means, groups, padded)
    means /= np.maximum(sizes, 1)[:, None]
    error = float(np.sqrt(np.mean((padded - means[groups]) ** 2)))
    return {
        "seconds": seconds,
        "peak_gb": peak,
        "error": error,
        "smallest": int(sizes[sizes > 0].min()),
        "alone": int(sizes[sizes < k].sum()),
    }


def dense(ratings: Any, factors: Any) -> np.ndarray:
    """Return the padded table as one matrix: ratings, and unclipped predictions elsewhere."""
    rows = factors.rows(np.arange(ratings.n_users)).astype(np.float32)
    user = np.repeat(np.arange(ratings.n_users), np.diff(ratings.indptr))
    rows[user, ratings.columns] = ratings.levels[ratings.codes]
    return rows


def by_starshade(ratings: Any, factors: Any, k: int) -> np.ndarray:
    from starshade.anonymize.predictive.bins import group_users
    from starshade.recommend.padded import Padded

    return group_users(Padded(ratings, factors), k, 0)


def by_scikit_learn(ratings: Any, factors: Any, k: int) -> np.ndarray:
    rows = dense(ratings, factors)
    means = installed("sklearn.cluster").KMeans(
        len(rows) // k, init="random", n_init=1, max_iter=ROUNDS, random_state=0
    )
    return means.fit_predict(rows)


GROUPINGS = {"starshade": by_starshade, "scikit-learn": by_scikit_learn}


def make_store(scratch: Path, users: int, items: int) -> Path:
    """Draw ratings as dense as Netflix's and store them, unless that was done."""
    store = scratch / f"store-{users}-{items}"
    if not store.exists():
        run_job("--make", store, users, items)
    return store


def draw(store: str, users: int, items: int) -> dict[str, Any]:
    from starshade.ratings.synth.synth import synthesize

    ratings = 100_480_507 * users // NETFLIX[0] * items // NETFLIX[1]
    table = synthesize(
        "netflix", n_users=users, n_items=items, n_ratings=max(users, ratings), rng=0
    )
    table.save(store)
    return {}


def run(store: Path, k: int, how: tuple[str, str], scratch: Path) -> dict[str, Any]:
    place = Path(tempfile.mkdtemp(prefix="release-", dir=scratch))
    try:
        return run_job("--job", store, k, *how, place / "release")
    finally:
        shutil.rmtree(place)


HEAD = (
    "       users   items     ratings   k  groups   seconds   open   make   save   peak GB  "
    "release GB  largest file GB"
)


def line(found: dict[str, Any], k: int) -> str:
    return (
        f"{found['users']:12,} {found['items']:7,} {found['ratings']:11,} {k:3} "
        f"{found['groups']:7,} {found['seconds']:9.1f} {found['open']:6.1f} {found['make']:6.1f} "
        f"{found['save']:6.1f} {found['peak_gb']:9.2f} {found['release_gb']:11.2f} "
        f"{found['largest_file_gb']:16.2f}"
    )


def whole(store: Path, ks: list[int], how: tuple[str, str], scratch: Path) -> None:
    print(f"{', '.join(how)}: from the store to the saved and verified release\n{HEAD}")
    for k in ks:
        found = run(store, k, how, scratch)
        print(line(found, k), flush=True)
        for stage, seconds in found["stages"].items():
            print(f"    {stage:40s} {seconds:8.1f} s")


def growth(options: Namespace, how: tuple[str, str], scratch: Path) -> None:
    print(f"{', '.join(how)}: growing users, then growing items\n{HEAD}")
    users, items = options.users, options.items
    sizes = [(n, max(items)) for n in users] + [(min(users), n) for n in items]
    for size in dict.fromkeys(sizes):
        store = make_store(scratch, *size)
        for k in options.k:
            print(line(run(store, k, how, scratch), k), flush=True)


def rival(k: int, users: list[int], scratch: Path) -> None:
    print(f"grouping alone, k = {k}: starshade, then scikit-learn's k-means on dense rows")
    print("     users   items  by            seconds  peak GB   error  smallest  in too small")
    for size in ((n, min(2_000, n // 5)) for n in users):
        store = make_store(scratch, *size)
        for which in GROUPINGS:
            found = run_job("--group", store, k, which)
            print(
                f"{size[0]:10,} {size[1]:7,}  {which:13s} {found['seconds']:7.2f} "
                f"{found['peak_gb']:8.2f} {found['error']:7.4f} {found['smallest']:9,} "
                f"{found['alone']:13,}",
                flush=True,
            )


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--store", type=Path, help="ratings; drawn where none are named")
    parser.add_argument("--scratch", type=Path, help="where to write; kept when named")
    parser.add_argument("--k", type=int, nargs="+", default=[5, 50], smoke=[5])
    growing = [60_000, 120_000, 240_000, 480_189], [2_220, 4_440, 8_885, 17_770]
    parser.add_argument("--users", type=int, nargs="+", default=growing[0], smoke=[400])
    parser.add_argument("--items", type=int, nargs="+", default=growing[1], smoke=[80])
    parser.add_argument(
        "--rival-users", type=int, nargs="+", default=[5_000, 10_000, 20_000], smoke=[400]
    )
    parser.add_argument("--profile", default="padded")
    parser.add_argument("--grouping", default="exchange", help="t-means is the paper's")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--rival", action="store_true")
    parser.add_argument("--job", nargs=5, help=SUPPRESS)
    parser.add_argument("--group", nargs=3, help=SUPPRESS)
    parser.add_argument("--make", nargs=3, help=SUPPRESS)
    options = parser.parse_args()
    if options.job:
        store, k, profile, grouping, out = options.job
        print(json.dumps(job(store, int(k), profile, grouping, out)))
    elif options.group:
        store, k, which = options.group
        print(json.dumps(rival_job(store, int(k), which)))
    elif options.make:
        store, users, items = options.make
        print(json.dumps(draw(store, int(users), int(items))))
    else:
        if options.store:
            named(options.store)
        if options.rival:
            installed("sklearn.cluster")
        how = options.profile, options.grouping
        scratch = options.scratch or Path(tempfile.mkdtemp(prefix="starshade-predictive-"))
        scratch.mkdir(parents=True, exist_ok=True)
        try:
            if options.smoke or options.growth:
                growth(options, how, scratch)
            if options.smoke or options.rival:
                rival(options.k[0], options.rival_users, scratch)
            if options.smoke or not (options.growth or options.rival):
                size = options.users[-1], options.items[-1]
                store = options.store or make_store(scratch, *size)
                whole(store, options.k, how, scratch)
        finally:
            if options.scratch is None:
                shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
