"""How easy synthetic data are to attack, beside the real data that they resemble.

Runs Scoreboard-RH in thirteen settings on MovieLens 100K (where STARSHADE_DATA, default
../shared/data, has it) and on synthetic data like it, and prints success, expected top-1 and
mean entropy in bits side by side, with the reference of an independent implementation:

    python benchmarks/synth_realism.py --tables 3 --draws 5

Synthetic figures are means over so many tables of different seeds; the last column is the
largest distance, in points, of one table's success from the reference.
"""

from __future__ import annotations

import numpy as np

from at_hand import ML_100K, Options, public
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.ratings.read import read_ratings
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings

# knowledge, and the reference on MovieLens 100K: success, expected top-1, bits
SETTINGS = (
    (Knowledge(known=2, day_error=3), (0.374, 0.912, 2.19)),
    (Knowledge(known=4, day_error=3), (0.787, 0.997, 1.00)),
    (Knowledge(known=8, wrong=2, day_error=14), (0.821, 0.998, 1.19)),
    (Knowledge(known=8, wrong=2, wrong_kind="item", day_error=14), (0.689, 0.931, 1.30)),
    (Knowledge(known=8, wrong=2, rating_error=1, day_error=14), (0.514, 0.903, 2.05)),
    (
        Knowledge(known=8, wrong=2, wrong_kind="item", rating_error=1, day_error=14),
        (0.363, 0.737, 2.33),
    ),
    (Knowledge(known=4, day_error=None), (0.490, 0.933, 2.33)),
    (Knowledge(known=6, day_error=None), (0.762, 0.994, 1.65)),
    (Knowledge(known=8, day_error=None), (0.883, 1.000, 1.30)),
    (Knowledge(known=8, wrong=2, day_error=None), (0.631, 0.982, 2.06)),
    (Knowledge(known=8, wrong=2, day_error=None, outside_top=100), (0.854, 0.996, 0.92)),
    (
        Knowledge(known=8, wrong=2, wrong_kind="item", day_error=None, outside_top=100),
        (0.686, 0.906, 1.23),
    ),
    (Knowledge(known=8, day_error=0), (0.974, 1.000, 0.40)),
)


def figures(ratings: Ratings, knowledge: Knowledge, draws: int) -> np.ndarray:
    """Success, expected top-1 and mean bits, averaged over draws of the knowledge."""
    runs = [ScoreboardRH().run(ratings, knowledge, rng=seed) for seed in range(draws)]
    return np.mean(
        [[r.success.rate, r.expected_top1.rate, r.entropy_bits.mean] for r in runs], axis=0
    )


def main() -> None:
    arguments = Options(__doc__)
    arguments.add_argument("--tables", type=int, default=3, smoke=1, help="synthetic tables")
    arguments.add_argument(
        "--draws", type=int, default=5, smoke=1, help="of the knowledge for each"
    )
    arguments.add_argument("--users", type=int, default=943, smoke=200, help="in a synthetic table")
    arguments.add_argument("--seed", type=int, default=1000, help="seed of the first table")
    options = arguments.parse_args()
    file = public(ML_100K)
    real = None if file is None else read_ratings(file)
    tables = [
        synthesize(n_users=options.users, rng=options.seed + k) for k in range(options.tables)
    ]

    print(f"{'':64}{'success':^23} {'expected top-1':^23} {'bits':^20}")
    heading = f"{'real':>7} {'refer.':>7} {'synth.':>7} "
    print(f"{'':64}{heading * 3}{'worst':>6}")
    for knowledge, reference in SETTINGS:
        ours = np.array([figures(table, knowledge, options.draws) for table in tables])
        found = np.full(3, np.nan) if real is None else figures(real, knowledge, options.draws)
        row = "".join(
            f"{a:7.3f} {b:7.3f} {c:7.3f} "
            for a, b, c in zip(found, reference, ours.mean(axis=0), strict=True)
        )
        worst = 100 * np.abs(ours[:, 0] - reference[0]).max()
        print(f"{knowledge.name:64}{row}{worst:6.1f}", flush=True)


if __name__ == "__main__":
    main()
