"""How well a release predicts ratings held out before it was made, beside means and the original.

MovieLens 100K (STARSHADE_DATA, default ../shared/data), or a file that is named; the table is
Markdown, means over the seeds:

    python benchmarks/utility_round.py
    python benchmarks/utility_round.py ratings.csv --methods "predictive, k = 5" --seeds 1
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import starshade as ss
from at_hand import Options, ratings_of
from starshade.utility.round import error_text

METHODS: dict[str, Any] = {
    **{f"predictive, k = {k}": ss.PredictiveAnonymizer(k=k) for k in (5, 11, 20)},
    "k-exchange, k = 5, top:10": ss.KExchange(k=5, items=ss.top_items(10)),
}
ERRORS = {
    "read": "held_out_read",
    "original": "held_out_original",
    "trained on it": "held_out_trained",
    "user + item means": "held_out_user_item_means",
    "item means": "held_out_item_means",
}


def row(name: str, rounds: list[ss.UtilityRound]) -> str:
    """Return a row of the table: a dash where a seed has no error."""
    covered = fmean(each.held_out_covered or 0 for each in rounds)
    columns = [[getattr(each, key) for each in rounds] for key in ERRORS.values()]
    errors = [error_text(None if None in each else fmean(each)) for each in columns]
    return f"| {name} | {100 * covered:.1f} % | {' | '.join(errors)} |"


def main() -> None:
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], smoke=[1])
    options = parser.parse_args()
    ratings = ratings_of(options.ratings)
    print(f"| release | covered | {' | '.join(ERRORS)} |\n|---|{'---|' * (1 + len(ERRORS))}")
    for name in options.methods:
        made = {seed: METHODS[name].anonymize(ratings, rng=seed) for seed in options.seeds}
        rounds = [ss.utility_round(ratings, release, rng=seed) for seed, release in made.items()]
        print(row(name, rounds), flush=True)


if __name__ == "__main__":
    main()
