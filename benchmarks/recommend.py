"""The regularized SVD beside implicit, Surprise and LensKit: error and time.

Each fit runs in a process of its own, with the settings each library has by default (implicit
with 16 factors), on nine tenths of the ratings; printed are the error (RMSE) on the last tenth,
the mean over seeds 0-4 (one seed from a million ratings on), the wall clock and the processors'
own time of one fit, kernels compiled before, and the peak memory of the whole process:

    python benchmarks/recommend.py                  # MovieLens, and a million synthetic ratings
    python benchmarks/recommend.py --store STORE    # and ours alone on a stored table

Libraries that are not installed sit out (``pip install 'starshade[compare,lenskit]'``). MovieLens
is looked for in STARSHADE_DATA (default ../shared/data).
"""

from __future__ import annotations

import json
import os
import resource
import time
from argparse import SUPPRESS
from pathlib import Path
from typing import Any

import numpy as np

from at_hand import PUBLIC, Options, drawn, named, public, ratings_of, run_job
from starshade.errors import ConfigError
from starshade.ratings.holdout import hold_out
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.recommend.registry import ENTRIES
from starshade.registry import find

WHO: dict[str, tuple[str, dict[str, Any]]] = {
    "starshade": ("regularized-svd", {}),
    "starshade, no biases": ("regularized-svd", {"biases": False}),
    "implicit ALS": ("implicit-als", {}),
    "Surprise SVD": ("surprise-svd", {}),
    "LensKit biased MF": ("lenskit-biased-mf", {}),
}
DRAWN = "synthetic"
DATA = (*PUBLIC, DRAWN)
MANY = 1_000_000  # ratings; one seed is enough from here on


def place(name: str) -> Path | None:
    """Return where data lie; None where they are public and not there."""
    return public(PUBLIC[name]) if name in PUBLIC else named(name)


def table(name: str, n: int) -> Ratings:
    if name == DRAWN:
        return synthesize(n_users=n * 6040 // MANY, n_items=3706, n_ratings=n, rng=1)
    return ratings_of(place(name))


def job(who: str, name: str, n: int) -> dict[str, float]:
    """Fit, and tell how well and how fast; in this process."""
    kind, settings = WHO[who]
    make = find(ENTRIES, kind, "recommender").load()
    warm = synthesize(n_users=30, n_items=20, n_ratings=200, rng=0)
    make(**settings | {"factors": 2}).fit(warm, rng=0).predict(np.array([0]), np.array([0]))
    ratings = table(name, n)
    errors, walls, clocks = [], [], []
    for seed in range(1 if ratings.n_ratings >= MANY else 5):
        train, probe = hold_out(ratings, 0.1, rng=seed)
        train.by_item  # noqa: B018 (as a stored table has it)
        wall, clock = time.perf_counter(), time.process_time()
        model = make(**settings).fit(train, rng=seed)
        walls.append(time.perf_counter() - wall)
        clocks.append(time.process_time() - clock)
        users = np.repeat(np.arange(probe.n_users), probe.user_support)
        missed = model.predict(users, probe.columns) - probe.values()
        errors.append(float(np.sqrt(np.mean(missed**2))))
    return {
        "rmse": float(np.mean(errors)),
        "seconds": float(np.median(walls)),
        "processor": float(np.median(clocks)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def whole(store: str) -> dict[str, float]:
    """Fit everything in a store; the peak is that of memory of our own, not of mapped files."""
    kind, settings = WHO["starshade"]
    make = find(ENTRIES, kind, "recommender").load()
    make(factors=2).fit(synthesize(n_users=30, n_items=20, n_ratings=200, rng=0), rng=0)
    ratings = ratings_of(store)
    wall, clock = time.perf_counter(), time.process_time()
    make(**settings).fit(ratings, rng=0)
    own = Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0]
    return {
        "seconds": time.perf_counter() - wall,
        "processor": time.process_time() - clock,
        "own_mb_at_the_end": int(own) / 1e3,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--store", smoke=drawn)
    parser.add_argument("--synthetic", type=int, default=MANY, smoke=5_000, help="ratings")
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--job", nargs=2, help=SUPPRESS)
    chosen = parser.parse_args()
    if chosen.job:
        try:
            who, name = chosen.job
            found = job(who, name, chosen.synthetic) if who else whole(name)
            print(json.dumps(found))
        except ConfigError as error:
            print(json.dumps({"absent": error.message}))
        return
    data = [name for name in chosen.data if name == DRAWN or place(name)]
    jobs = [(who, name) for name in data for who in WHO]
    if chosen.store:
        named(chosen.store)
    for who, name in jobs + ([("", chosen.store)] if chosen.store else []):
        found = run_job(
            *("--job", who, name, "--synthetic", chosen.synthetic),
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # as implicit asks for
        )
        shown = "  ".join(
            f"{key} {value:,.4f}" if key == "rmse" else f"{key} {value:,.2f}"
            for key, value in found.items()
            if key != "absent"
        )
        who = who or "starshade, everything"
        print(f"{name!s:16} {who:22} {shown or found['absent']}", flush=True)


if __name__ == "__main__":
    main()
