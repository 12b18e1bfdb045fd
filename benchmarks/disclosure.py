"""What it costs that groups show fewer ratings plainly: the weight of k-exchange, as a curve.

The 10 most rated items of MovieLens 100K and ml-latest-small (STARSHADE_DATA, default
../shared/data), or of other ratings; k = 5, five seeds for each `disclosure_weight`. Means:
GenILoss, and beside it the loss without a weight; people whose class shows one of their
ratings (`users_rating_disclosed`), one that it shows but for null (whoever rated gave that), and
that they rated an item (`users_rating_exists`); seconds of a release.

    python benchmarks/disclosure.py
    python benchmarks/disclosure.py ratings.csv --k 10 --weights 0 0.2 --seeds 1
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from at_hand import PUBLIC, Options, drawn, public, ratings_of
from starshade import GeneralizationLoss, KExchange, Ratings, Release, top_items

WEIGHTS = (0, 0.05, 0.1, 0.2, 0.35, 0.5, 1, 2)


def but_for_null(release: Release) -> float:
    """Share of people whose class has a cell of one rating, or of one rating and null."""
    cells = release.cells()
    telling = (cells.symbols.n_members == 1)[cells.codes]
    hit = [telling[a:b].any() for a, b in zip(cells.indptr, cells.indptr[1:], strict=False)]
    return float(cells.sizes[hit].sum() / cells.n_records)


def means(ratings: Ratings, k: int, weight: float, seeds: int) -> Any:
    found = []
    for seed in range(1, seeds + 1):
        method = KExchange(k, items=top_items(10), disclosure_weight=weight)
        start = time.perf_counter()
        release = method.anonymize(ratings, rng=seed)
        seconds = time.perf_counter() - start
        figures = GeneralizationLoss().measure(release, ratings).figures
        told = release.manifest
        shown = told.users_rating_disclosed, but_for_null(release), told.users_rating_exists
        found.append((figures["gen_iloss"], *shown, seconds))
    return np.mean(found, axis=0)


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("ratings", nargs="*", smoke=lambda: [drawn()])
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS, smoke=[0.1])
    parser.add_argument("--seeds", type=int, default=5, smoke=1)
    options = parser.parse_args()
    for file in options.ratings or filter(None, map(public, PUBLIC.values())):
        ratings = ratings_of(file)
        means(ratings, options.k, 1.0, 1)  # compiles
        least = means(ratings, options.k, 0.0, options.seeds)[0]
        print(f"\n{ratings}, k = {options.k}")
        print("weight  GenILoss  times  shown  or null  exists  seconds")
        for weight in options.weights:
            found = means(ratings, options.k, weight, options.seeds)
            loss, shown, null, exists, seconds = found
            print(
                f"{weight:6g}  {loss:8.4f}  {loss / least:5.3f}  {shown:5.1%}  {null:7.1%}  "
                f"{exists:6.1%}  {seconds:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
