"""The attack by likelihood beside Scoreboard-RH, over growing sizes: time, finds, memory.

Each job runs in a process of its own, interleaved, with the same targets and the same knowledge of
them; medians over the rounds. Seconds are the processors' own; the ratio is theirs:

    python benchmarks/likelihood.py                     # up to 10 million ratings, synthetic
    python benchmarks/likelihood.py --largest 101       # also Netflix's size, 100 million
    python benchmarks/likelihood.py --data ratings/     # these ratings instead
    python benchmarks/likelihood.py --figures           # how often the best guess is right (five
                                                        # seeds), and the right class of ten
                                                        # k-likeness releases (MovieLens 100K)
    python benchmarks/likelihood.py --list              # 300 names matched at once

Peak memory is the process's, pages of the store that it looked at included.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from argparse import SUPPRESS
from pathlib import Path
from typing import Any

import numpy as np

import starshade as ss
from at_hand import Options, drawn, peak_mb, ratings_of, run_job

# users, items, ratings, like, targets
SIZES = (
    (943, 1682, 100_000, "movielens-100k", 943),
    (10_000, 3_000, 1_000_000, "netflix", 4000),
    (60_000, 8_000, 10_000_000, "netflix", 2000),
    (480_189, 17_770, 100_480_507, "netflix", 1000),
)
THREADS = len(os.sched_getaffinity(0))
TIMED = {
    "nothing wrong": ss.Knowledge(known=8, day_error=14),
    "2 wrong values": ss.Knowledge(known=8, wrong=2, day_error=14),
    "2 wrong items": ss.Knowledge(known=8, wrong=2, wrong_kind="item", day_error=14),
}
ATTACKS: dict[str, Any] = {
    "scoreboard-rh": ss.ScoreboardRH(),
    "plain": ss.Likelihood(adversary="plain"),
    "informed": ss.Likelihood(),
}
GUESSED = {
    "2 exact, days ±14": ss.Knowledge(known=2, day_error=14),
    "4 exact, no days": ss.Knowledge(known=4, dates=False),
    "4, 1 wrong value, no days": ss.Knowledge(known=4, wrong=1, dates=False),
    "8, 4 wrong values, no days": ss.Knowledge(known=8, wrong=4, dates=False),
    "8, 4 wrong items, no days": ss.Knowledge(known=8, wrong=4, wrong_kind="item", dates=False),
    "8, 2 wrong values, ratings ±1, days ±14": ss.Knowledge(
        known=8, wrong=2, rating_error=1, day_error=14
    ),
}


def job(store: str, name: str, knowledge: str, targets: int, threads: int) -> dict[str, float]:
    """Attack with knowledge at hand, everything of the result included but its intervals."""
    import numba

    from starshade.attack.likelihood.informed import Model
    from starshade.attack.targets import choose_targets
    from starshade.attack.view import look

    numba.set_num_threads(threads)
    view, what = look(ratings_of(store), None, None), TIMED[knowledge]
    known = what.draw(view.original, choose_targets(view, what, targets, 2)[0], 3)
    attack = ATTACKS[name]
    seen = view if name == "scoreboard-rh" else Model(view, what)

    def judge(some: Any) -> Any:
        return attack.judge(seen, some)[0]

    judge(known.take(slice(0, 2)))  # loads the kernel
    started, busy = time.perf_counter(), time.process_time()
    found = judge(known)
    return {
        "wall": time.perf_counter() - started,
        "busy": time.process_time() - busy,
        "guess": float(np.mean(found.expected_top1)),
        "bits": float(np.mean(found.entropy_bits)),
        "targets": len(known),
        "peak": peak_mb() / 1024,
    }


def measure(store: Path, targets: int, rounds: int, knowledges: list[str]) -> None:
    """Time every attack with all that may be known, and print a table."""
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}
    for _ in range(rounds):
        for knowledge in knowledges:
            for name in ATTACKS:
                done = run_job("--job", store, name, knowledge, targets, THREADS)
                runs.setdefault((knowledge, name), []).append(done)
    print(
        f"{'8 known, days ±14':18}{'attack':15}{'targets':>8}{'seconds':>9}{'ratio':>7}"
        f"{'best guess':>12}{'bits':>7}{'peak GB':>9}"
    )
    for (knowledge, name), results in runs.items():
        row = {key: statistics.median(r[key] for r in results) for key in results[0]}
        beside = statistics.median(r["busy"] for r in runs[knowledge, "scoreboard-rh"])
        print(
            f"{knowledge:18}{name:15}{row['targets']:8,.0f}{row['busy']:9.2f}"
            f"{row['busy'] / beside:7.2f}{row['guess']:12.1%}{row['bits']:7.2f}{row['peak']:9.2f}",
            flush=True,
        )


def figures(path: str | Path | None, seeds: int, n_releases: int) -> None:
    """Print how often the best guess is right, and the right class of releases."""
    ratings = ratings_of(path)
    print(f"right when it must answer, means of {seeds} seeds")
    print(f"{'known':42}" + "".join(f"{name:>15}" for name in ATTACKS))
    for known, knowledge in GUESSED.items():
        shares = [mean_of(attack, ratings, knowledge, seeds) for attack in ATTACKS.values()]
        print(f"{known:42}" + "".join(f"{share:15.1%}" for share in shares), flush=True)
    print(
        f"\nthe right class of k-likeness, k = 5, top 10, named when it must answer: means of "
        f"{n_releases} releases, lowest and highest"
    )
    ratings = ratings.keep_items(np.sort(np.argsort(-ratings.item_support, kind="stable")[:10]))
    releases = [ss.KLikeness(k=5).anonymize(ratings, rng=seed) for seed in range(n_releases)]
    for known in (2, 4, 6, 8):
        knowledge = ss.Knowledge(known=known, dates=False)
        found = [classes(release, ratings, knowledge, s) for s, release in enumerate(releases)]
        rates = {name: [each[name] for each in found] for name in found[0]}
        told = (f"{n} {np.mean(r):.1%} ({min(r):.1%} to {max(r):.1%})" for n, r in rates.items())
        print(f"{known} known: " + ", ".join(told), flush=True)


def mean_of(attack: Any, ratings: ss.Ratings, knowledge: ss.Knowledge, seeds: int) -> float:
    runs = (attack.run(ratings, knowledge, rng=seed) for seed in range(seeds))
    return statistics.mean(found.expected_top1.rate for found in runs)


def classes(
    release: Any, ratings: ss.Ratings, knowledge: ss.Knowledge, seed: int
) -> dict[str, float]:
    """Return how often the right class is named, by one adversary and another."""
    more: dict[str, Any] = {"original": ratings, "rng": seed, "link": release.private.link}
    plain = ATTACKS["plain"].run(release, knowledge, **more)
    informed = ATTACKS["informed"].run(release, knowledge, **more)
    return {
        "plain": plain.class_linkage.rate,
        "informed": informed.class_linkage.rate,
        "at most": informed.upper_bound.rate,
    }


def match_list(path: str | Path | None) -> None:
    """Match 300 people by eight items of which four are wrong; every fifth is not in the data."""
    import pyarrow as pa

    ratings = ratings_of(path)
    what = ss.Knowledge(known=8, wrong=4, wrong_kind="item", dates=False)
    eligible = np.flatnonzero(what.eligible_users(ratings))
    users = np.sort(np.random.default_rng(0).permutation(eligible)[:300])
    known = what.draw(ratings, users, 1)
    kept = np.setdiff1d(np.arange(ratings.n_users), users[::5])
    record = {f"{u}": int(np.searchsorted(kept, u)) for u in users if u in kept}
    public = ss.read_auxiliary(
        pa.table(
            {
                "name": np.repeat([f"{u}" for u in users], known.items.shape[1]),
                "item": [ratings.items[int(item)] for item in known.items.ravel()],
                "rating": known.ratings.ravel(),
            }
        )
    )
    data = ratings.keep_users(kept)
    print(f"{len(record)} of {len(users)} names have a record")
    for weights in ("fitted", "plain"):
        found = ss.AuxiliaryAttack(one_to_one=True, weights=weights).run(data, public)
        placed = found.one_to_one.per_name
        right = [each.record == record.get(each.name, -1) for each in placed]
        named = sum(r and each.answer for r, each in zip(right, placed, strict=True))
        print(
            f"{weights}: {sum(right)} placed right, {named} named right, "
            f"{found.one_to_one.answered - named} wrong"
        )
    firsts = [(a.name, a.candidates[0].record) for a in found.per_name if a.candidates]
    named = sum(
        a.answer is not None and a.answer.record == record.get(a.name) for a in found.per_name
    )
    print(
        f"scoreboard-rh: best score right for {sum(r == record.get(n) for n, r in firsts)}, "
        f"{named} named right, {found.answered - named} wrong"
    )


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--largest", type=float, default=11, smoke=0.1, help="million ratings")
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    parser.add_argument(
        "--knowledge", nargs="+", choices=TIMED, default=list(TIMED), smoke=["2 wrong items"]
    )
    parser.add_argument("--seeds", type=int, default=5, smoke=1, help="of --figures")
    # one seed each: few people rated eight of ten items, and groups matter to them
    parser.add_argument("--releases", type=int, default=10, smoke=1, help="of --figures")
    parser.add_argument("--targets", type=int, default=1000, help="of --data")
    parser.add_argument("--data", smoke=drawn, help="ratings to measure, also for --figures")
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--job", nargs=5, help=SUPPRESS)
    args = parser.parse_args()
    if args.job:
        store, name, knowledge, targets, threads = args.job
        print(json.dumps(job(store, name, knowledge, int(targets), int(threads))))
        return
    if args.smoke or args.figures:
        figures(args.data, args.seeds, args.releases)
    if args.smoke or args.list:
        match_list(args.data)
    if args.smoke or not (args.data or args.figures or args.list):
        for users, items, n, like, targets in SIZES:
            if n > args.largest * 1e6:
                continue
            print(f"\n{users:,} x {items:,}, {n:,} ratings, like {like}", flush=True)
            with tempfile.TemporaryDirectory() as scratch:
                store = Path(scratch) / "store"
                make(users, items, n, like, store)
                measure(store, targets, args.rounds, args.knowledge)
    elif args.data and not (args.figures or args.list):
        ratings_of(args.data)
        measure(Path(args.data), args.targets, args.rounds, args.knowledge)


def make(users: int, items: int, n: int, like: str, store: Path) -> None:
    """Draw ratings and store them."""
    from starshade.ratings.write import write_ratings

    ratings = ss.synthesize(like, n_users=users, n_items=items, n_ratings=n, rng=1)
    write_ratings(ratings, store, "store")


if __name__ == "__main__":
    main()
