"""How well ratings that were held out are predicted from a release, by every option, on MovieLens.

A tenth of the ratings is set aside before anything is done (`hold_out`, one seed a run). The rest
is released with groups of k; each rating that was set aside is read from the released cell of its
user. Beside it the same recommender, with the same settings and seed, is fitted to the ratings
that were released from. What is printed is the mean over the seeds of the ratio of the two RMSEs,
its least and greatest, and the RMSE itself: fewer factors make a smaller ratio, as there is less
to lose, so ratios compare options at the same settings, and RMSEs compare settings.

    python benchmarks/prediction_quality.py ml-100k/u.data
    python benchmarks/prediction_quality.py ml-100k/u.data --k 5 --factors 3 --seeds 2
    python benchmarks/prediction_quality.py ml-100k/u.data --factors 3 --against 16

With `--against 16` the recommender on the original has 16 factors and its other settings by
default, whatever the releases were made with: the same releases, against a better one.

All items are released (rare_items="keep"), so every rating that was set aside is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import numpy as np

import starshade as ss
from at_hand import Options, ratings_of
from starshade.ratings.holdout import hold_out
from starshade.recommend.registry import Recommender
from starshade.recommend.regularized_svd import RegularizedSVD

#: what each row of the table asks for
OPTIONS: dict[str, dict[str, Any]] = {
    f"{profile}, {grouping}, {weights}": {
        "profile": profile,
        "grouping": grouping,
        "weights": weights,
    }
    for profile in ("padded", "model", "pooled")
    for grouping, weights in (
        ("t-means", "uniform"),  # the paper's
        ("exchange", "uniform"),
        ("exchange", "support"),  # the default
    )
}


def cells(ratings: ss.Ratings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return user, item and rating of every cell."""
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    return users, ratings.columns, ratings.values()


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def read_from(release: ss.Release, train: ss.Ratings, probe: ss.Ratings) -> float:
    """Return the RMSE of the released cells of these users on what was set aside."""
    users, items, truth = cells(probe)
    profiles, link = release.classes, release.private.link
    class_of_record = np.repeat(np.arange(profiles.n_groups), profiles.sizes)
    class_of_user = np.full(train.n_users, -1)
    class_of_user[train.users.indices(list(link.users))] = class_of_record[link.record]
    told = class_of_user[users] >= 0  # a user all of whose ratings were set aside has no record
    return rmse(profiles.values()[class_of_user[users[told]], items[told]], truth[told])


def runs(
    ratings: ss.Ratings, seeds: int, ks: list[int], factors: int, against: Recommender
) -> Iterator[tuple[str, int, float, float]]:
    """Yield option, k, RMSE of the recommender on the original, and RMSE of the release."""
    for seed in range(seeds):
        train, probe = hold_out(ratings, 0.1, rng=seed)
        users, items, truth = cells(probe)
        before = rmse(against.fit(train, rng=seed).predict(users, items), truth)
        for name, settings in OPTIONS.items():
            for k in ks:
                method = ss.PredictiveAnonymizer(
                    k=k, factors=factors, rare_items="keep", **settings
                )
                release = method.anonymize(train, rng=seed)
                yield name, k, before, read_from(release, train, probe)


def main() -> None:
    """Print one table for each number of factors."""
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 50], smoke=[5])
    parser.add_argument("--factors", type=int, nargs="+", default=[2, 3, 4, 8, 16], smoke=[2])
    parser.add_argument("--seeds", type=int, default=5, smoke=1)
    parser.add_argument(
        "--against", type=int, smoke=3, help="factors of the recommender on the original"
    )
    asked = parser.parse_args()
    ratings = ratings_of(asked.ratings)
    for factors in asked.factors:
        found: dict[tuple[str, int], list[tuple[float, float]]] = {}
        against: Recommender = ss.PredictiveAnonymizer(k=2, factors=factors).padding()
        if asked.against is not None:
            against = RegularizedSVD(factors=asked.against)
        for name, k, before, after in runs(ratings, asked.seeds, asked.k, factors, against):
            found.setdefault((name, k), []).append((before, after))
        first = next(iter(found.values()))
        print(
            f"\n{factors} factors; the recommender on the original, {asked.against or factors}: "
            f"RMSE {fmean(b for b, _ in first):.4f}, {asked.seeds} seeds"
        )
        columns = "".join(f"{f'k = {k}':^33}" for k in asked.k)
        print(
            f"{'':31}{columns}\n{'':31}" + f"{'ratio (least-greatest)    RMSE':>33}" * len(asked.k)
        )
        for name in OPTIONS:
            row = ""
            for k in asked.k:
                ratios = [after / before for before, after in found[name, k]]
                spread = f"({min(ratios):.4f}-{max(ratios):.4f})"
                error = fmean(after for _, after in found[name, k])
                row += f"  {fmean(ratios):.4f} {spread} {error:.4f} "
            print(f"{name:31}{row}", flush=True)


if __name__ == "__main__":
    main()
