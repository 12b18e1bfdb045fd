"""Two releases of 480,000 people, together: joint classes and pinned ratings, on made-up data.

People rate some of the items by a taste; two releases put them into groups of k by two views of
what they rated. Counted is what `attack --attack composition` counts, then a few targets are
attacked by what is known of them. Each job runs in a process of its own; medians are printed:

    python benchmarks/composition.py               # 10, 30 and 50 items
    python benchmarks/composition.py --people 10000
"""

from __future__ import annotations

import json
import statistics
import time
from argparse import SUPPRESS

import numpy as np

from at_hand import Options, peak_mb, run_job
from starshade.anonymize.generalize import generalize
from starshade.attack.composition.composed import composition_of
from starshade.attack.composition.composition import Composition
from starshade.attack.knowledge import Knowledge
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.build import Provenance, generalized_release
from starshade.release.manifest import Claim
from starshade.release.table import Release

K = 5
TARGETS = 10  # of the likelihood, whose time grows with targets times joint classes


def made_up(people: int, items: int) -> Ratings:
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(people, 2)) @ rng.normal(size=(2, items))
    rating = np.clip(np.round(3.5 + 0.7 * taste + rng.normal(size=taste.shape)), 1, 5)
    rated = rng.random(rating.shape) < np.linspace(0.6, 0.2, items)
    rated[np.arange(people), rng.integers(0, items, people)] = True
    rows, columns = np.nonzero(rated)
    return Ratings(
        scale=Scale(1, 5, 1),
        users=Vocabulary(np.arange(people)),
        items=Vocabulary(np.arange(items)),
        indptr=np.searchsorted(rows, np.arange(people + 1)),
        columns=columns.astype(np.int32),
        codes=(rating[rated] - 1).astype(np.uint8),
        levels=np.arange(1.0, 6.0),
    )


def released(ratings: Ratings, seed: int) -> Release:
    """Group people by their place on a line through what they rated."""
    rng = np.random.default_rng(seed)
    full = np.zeros((ratings.n_users, ratings.n_items), dtype=np.float32)
    full[np.repeat(np.arange(len(full)), ratings.user_support), ratings.columns] = ratings.values()
    place = np.argsort(full @ rng.normal(size=ratings.n_items).astype(np.float32), kind="stable")
    groups = np.empty(len(full), dtype=np.int64)
    groups[place] = np.minimum(np.arange(len(full)) // K, len(full) // K - 1)
    made = Provenance("made up", seed, claims=(Claim(model="k-anonymity", parameters={"k": K}),))
    return generalized_release(ratings, groups, generalize("ndgh", ratings, groups), made)


def job(people: int, items: int) -> dict[str, float]:
    ratings = made_up(people, items)
    first, second = released(ratings, 1), released(ratings, 2)
    few = ratings.keep_users(np.arange(100))
    early, late = released(few, 1), released(few, 2)
    composition_of([early, late], few)  # loads the kernels, as does the attack
    known = Knowledge(known=2)
    Composition(earlier=[early]).run(late, known, original=few, targets=2, rng=0)
    start = time.perf_counter()
    counts = composition_of([first, second], ratings).counts
    counted = time.perf_counter() - start
    peak = peak_mb()
    start = time.perf_counter()
    attack = Composition(earlier=[first])
    attack.run(second, known, original=ratings, targets=TARGETS, rng=0)
    return {
        "counted": counted,
        "attacked": time.perf_counter() - start,
        "peak_mb": peak,
        "classes": counts.classes,
        "below_k": (counts.people_below_k or 0) / people,
        "pinned": (counts.people_certain or 0) / people,
    }


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--people", type=int, default=480_000, smoke=1000)
    parser.add_argument("--items", type=int, nargs="+", default=[10, 30, 50], smoke=[10])
    parser.add_argument("--rounds", type=int, default=3, smoke=1)
    parser.add_argument("--job", type=int, nargs=2, help=SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(job(*options.job)))
        return
    print(f"{'people x items':>18}{'counted':>10}{'peak':>10}{f'and {TARGETS} targets':>16}")
    for items in options.items:
        runs = [run_job("--job", options.people, items) for _ in range(options.rounds)]
        of = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        print(
            f"{options.people:>11,} x {items:>4}{of['counted']:>8.1f} s{of['peak_mb']:>7,.0f} MB"
            f"{of['attacked']:>14.1f} s   {of['classes']:,.0f} joint classes, "
            f"{of['below_k']:.1%} below {K}, pinned {of['pinned']:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
