"""Fake edges of `simple` releases, the paper's and drawn: how many, told how well, at what loss.

The ratings are released as simple profiles, repaired to (b, l) in both ways, checked and attacked
(`fake-edges`). For the error a tenth of the ratings is set aside (`hold_out`), the rest released
likewise, and a recommender trained on the release compared with the same one trained on the
original. Printed are means over the seeds, and the range of the AUC within items:

    python benchmarks/fake_edges.py ml-100k/u.data
    python benchmarks/fake_edges.py ml-latest-small/ratings.csv --seeds 2 --k 5 20 --b 2 --l 3
"""

from __future__ import annotations

from statistics import fmean

import starshade as ss
from at_hand import Options, ratings_of

HEADS = ("fake edges", "of cells", "certain", "AUC", "in items", "range", "fitted", "RMSE ratio")


def row(ratings: ss.Ratings, method: ss.PredictiveAnonymizer, seed: int) -> tuple[float, ...]:
    """Return what the attack finds, and the RMSE ratio."""
    release = method.anonymize(ratings, rng=seed)
    assert ss.Diversity(method.b, method.l).check(release, original=ratings).satisfied
    found = ss.FakeEdgesAttack().run(release, original=ratings, rng=seed)
    train, probe = ss.hold_out(ratings, 0.1, rng=seed)
    lost = ss.RecommenderError().measure(
        method.anonymize(train, rng=seed), original=train, probe=probe
    )
    rates = (found.auc, found.auc_within_items, found.fitted_within_items)
    return (
        found.fakes,
        found.fakes / found.cells,
        found.certain,
        *(rate.rate if rate else float("nan") for rate in rates),
        lost.figures["rmse_ratio_refit"],
    )


def main() -> None:
    """Print a table for each k."""
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--k", type=int, nargs="+", default=[5])
    parser.add_argument("--b", type=int, default=2)
    parser.add_argument("--l", type=int, default=3)
    parser.add_argument("--min-raters", type=int, default=1)
    parser.add_argument("--rare-items", choices=["drop", "keep"], default="drop")
    parser.add_argument("--seeds", type=int, default=3, smoke=1)
    asked = parser.parse_args()
    ratings = ratings_of(asked.ratings)
    for k in asked.k:
        print(f"\nk = {k}, (b, l) = ({asked.b}, {asked.l}), {asked.seeds} seeds")
        print(f"{'':8}" + "".join(f"{head:>14}" for head in HEADS))
        for way in ("mean", "drawn"):
            method = ss.PredictiveAnonymizer(
                k=k, profile="simple", b=asked.b, l=asked.l, min_raters=asked.min_raters,
                rare_items=asked.rare_items, fake_edges=way,
            )  # fmt: skip
            runs = [row(ratings, method, seed) for seed in range(asked.seeds)]
            n, share, certain, auc, inside, fitted, ratio = map(fmean, zip(*runs, strict=True))
            span = f"{min(run[4] for run in runs):.3f}-{max(run[4] for run in runs):.3f}"
            print(
                f"{way:8}{n:14,.0f}{share:14.1%}{certain:14,.0f}{auc:14.3f}{inside:14.3f}"
                f"{span:>14}{fitted:14.3f}{ratio:14.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
