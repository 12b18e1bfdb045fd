"""What remains of every original rating in a release of each method, beside item averages.

MovieLens 100K (STARSHADE_DATA, default ../shared/data), or a file that is named; the table is
Markdown, in percent, but for the skill:

    python benchmarks/what_remains.py
    python benchmarks/what_remains.py ratings.csv --k 10 --methods k-exchange "predictive, pooled"

Cells on the ten most rated items, for `k-exchange` on all as well; averaged profiles on all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import starshade as ss
from at_hand import Options, ratings_of
from starshade.release.table import Release

TOP = {"items": ss.top_items(10)}
NEAR = {"eps": 2, "nulls": "zero"}
METHODS: dict[str, Callable[[int], Any]] = {
    "k-exchange": lambda k: ss.KExchange(k, **TOP),
    "k-exchange, all items": lambda k: ss.KExchange(k),
    "k-likeness": lambda k: ss.KLikeness(k, **TOP),
    "k-member": lambda k: ss.KMember(k, **TOP),
    "mondrian": lambda k: ss.Mondrian(k, **TOP),
    "mondrian-relaxed": lambda k: ss.MondrianRelaxed(k, **TOP),
    "interval": lambda k: ss.IntervalAnonymizer(k, **NEAR, **TOP),
    "suppress": lambda k: ss.SuppressAnonymizer(k, **NEAR, **TOP),
    **{
        f"predictive, {profile}": lambda k, profile=profile: ss.PredictiveAnonymizer(
            k, profile=profile
        )
        for profile in ("simple", "padded", "model", "pooled")
    },
}
COLUMNS = {
    "exact (disclosed)": "utility_exact",
    "half a step": "utility_half_step",
    "within one step": "utility_one_step",
    "wider, farther": "utility_wider",
    "value open": "utility_existence_only",
    "perhaps rated": "utility_ambiguous",
    "suppressed": "utility_suppressed",
    "**read within one step**": "recoverable_within_step",
    "empty cells filled": "imputed_share",
    "**improvement over item means**": "improvement_over_item_means",
}


def row(name: str, release: Release, ratings: ss.Ratings) -> tuple[str, float]:
    found = ss.WhatRemains().measure(release, ratings).figures
    cells = [_cell(key, found[key]) for key in COLUMNS.values()]
    return f"| {name} | {' | '.join(cells)} |", found["item_means_within_step"] or 0.0


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if key == "improvement_over_item_means" else f"{100 * value:.1f}"


def main() -> None:
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ratings = ratings_of(options.ratings)
    print(f"| method | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    for name in options.methods:
        release = METHODS[name](options.k).anonymize(ratings, rng=options.seed)
        line, averages = row(name, release, ratings)
        print(line, flush=True)
    print(f"\nA list of item averages is within one step of {averages:.1%} of the ratings.")


if __name__ == "__main__":
    main()
