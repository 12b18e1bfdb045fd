"""What (b, l)-diversity of `simple` releases costs: fake edges, and error of who trains on them.

A tenth of the ratings is set aside (`hold_out`, one seed a run), the rest released as simple
profiles, repaired until every set of up to b items that somebody rated stands in l groups, and
checked. Printed are, over the seeds, the means of the fake edges (a cell added to a group counts
once for each of its members), of their share of all edges, and of the RMSE of a recommender
trained on the release over that of the same recommender on the original:

    python benchmarks/diversity.py ml-100k/u.data
    python benchmarks/diversity.py ml-100k/u.data --k 5 10 --seeds 3 --rare-items drop
"""

from __future__ import annotations

from statistics import fmean
from time import perf_counter

import starshade as ss
from at_hand import Options, ratings_of

ASKED = ((1, 0), (1, 2), (1, 3), (1, 5), (2, 2), (2, 3), (2, 5))


def edges(release: ss.Release) -> int:
    """Count users × items that the release shows."""
    profiles = release.classes
    return int((profiles.n_rated() * profiles.sizes).sum())


def row(train: ss.Ratings, probe: ss.Ratings, k: int, rare: str, seed: int) -> list[tuple]:
    """Return edges, whether the check holds, ratio and seconds, for each (b, l)."""
    out = []
    for b, least in ASKED:
        started = perf_counter()
        method = ss.PredictiveAnonymizer(k=k, profile="simple", b=b, l=least, rare_items=rare)
        release = method.anonymize(train, rng=seed)
        seconds = perf_counter() - started
        holds = not least or ss.Diversity(b, least).check(release).satisfied
        found = ss.RecommenderError().measure(release, original=train, probe=probe).figures
        out.append((edges(release), holds, found["rmse_ratio_refit"], seconds))
    return out


def main() -> None:
    """Print one table for each k."""
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--k", type=int, nargs="+", default=[5])
    parser.add_argument("--seeds", type=int, default=2, smoke=1)
    parser.add_argument("--rare-items", choices=["drop", "keep"], default="keep")
    asked = parser.parse_args()
    ratings = ratings_of(asked.ratings)
    parts = [ss.hold_out(ratings, 0.1, rng=seed) for seed in range(asked.seeds)]
    for k in asked.k:
        runs = [row(*part, k, asked.rare_items, seed) for seed, part in enumerate(parts)]
        print(f"\nk = {k}, rare items {asked.rare_items}, {asked.seeds} seeds")
        heads = f"{'fake edges':>12}{'share':>8}{'holds':>8}{'RMSE ratio':>12}{'seconds':>9}"
        print(f"{'(b, l)':10}{heads}")
        for place, (b, least) in enumerate(ASKED):
            found = [run[place] for run in runs]
            fake = [own[0] - run[0][0] for own, run in zip(found, runs, strict=True)]
            share = fmean(f / own[0] for f, own in zip(fake, found, strict=True))
            print(
                f"{f'({b}, {least})' if least else 'none':10}{fmean(fake):12,.0f}{share:8.1%}"
                f"{'yes' if all(own[1] for own in found) else 'NO':>8}"
                f"{fmean(own[2] for own in found):12.4f}{fmean(own[3] for own in found):9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
