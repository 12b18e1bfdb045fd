"""Synthetic data of Netflix's size, drawn and written to the store: time, peak memory, counts.

    python benchmarks/synth.py                     # 480,189 x 17,770, 100,480,507 ratings
    python benchmarks/synth.py --like movielens-100k
    python benchmarks/synth.py --n-users 48000     # a tenth

The job runs in a process of its own, so that the peak is its own; kernels are compiled before
the clock starts. No other tool draws such data, so there is no rival to time; beside it stands
what the disk alone needs to take as many bytes as the store has.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
import time
from argparse import SUPPRESS
from pathlib import Path

import numpy as np

from at_hand import Options, run_job


def job(like: str, n_users: int | None, out: str) -> dict[str, float]:
    """Draw and save; runs in its own process."""
    from starshade.ratings.synth.synth import synthesize

    synthesize(n_users=30, rng=0)  # compiles, or loads what was compiled
    started = time.perf_counter()
    table = synthesize(like, n_users=n_users, rng=0)  # type: ignore[arg-type]
    drawn = time.perf_counter()
    table.save(out)
    saved = time.perf_counter()
    users, items = table.user_support, table.item_support
    return {
        "users": table.n_users,
        "items": table.n_items,
        "ratings": table.n_ratings,
        "median_user": float(np.median(users)),
        "largest_user": int(users.max()),
        "median_item": float(np.median(items)),
        "largest_item": int(items.max()),
        "draw_s": drawn - started,
        "save_s": saved - drawn,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def disk_alone(n_bytes: int, scratch: Path) -> float:
    """Seconds to write and flush so many bytes."""
    block = os.urandom(1 << 24)
    started = time.perf_counter()
    with (scratch / "bytes").open("wb") as file:
        for _ in range(0, n_bytes, len(block)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - started


def main() -> None:
    arguments = Options(__doc__)
    arguments.add_argument("--like", default="netflix", smoke="movielens-100k")
    arguments.add_argument("--n-users", type=int, smoke=200)
    arguments.add_argument("--scratch", type=Path, help="where to write; deleted at the end")
    arguments.add_argument("--job", help=SUPPRESS)
    options = arguments.parse_args()
    if options.job:
        print(json.dumps(job(options.like, options.n_users, options.job)))
        return
    scratch = Path(tempfile.mkdtemp(prefix="starshade-synth-", dir=options.scratch))
    try:
        command = ["--like", options.like, "--job", scratch / "store"]
        if options.n_users is not None:
            command += ["--n-users", options.n_users]
        found = run_job(*command)
        size = sum(file.stat().st_size for file in (scratch / "store").iterdir())
        alone = disk_alone(size, scratch)
    finally:
        shutil.rmtree(scratch)
    print(f"{found['users']:,} users x {found['items']:,} items, {found['ratings']:,} ratings")
    print(f"ratings per user: median {found['median_user']:g}, most {found['largest_user']:,}")
    print(f"ratings per item: median {found['median_item']:g}, most {found['largest_item']:,}")
    total = found["draw_s"] + found["save_s"]
    print(f"draw {found['draw_s']:.1f} s, save {found['save_s']:.1f} s, together {total:.1f} s")
    print(f"peak memory {found['peak_gb']:.2f} GB")
    print(f"store {size / 1e9:.2f} GB; the disk alone takes {alone:.1f} s for as many bytes")


if __name__ == "__main__":
    main()
