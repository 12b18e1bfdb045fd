"""What releases of random halves of the people tell of who is in them, for each method.

The table is Markdown, in percent but for the AUC and the seconds of the processors; an interval is
beside the rate at 1 % false alarms with 8 ratings known. What a method is given follows its name:

    python benchmarks/shadows.py ml-100k/u.data --seeds 1 2 3
    python benchmarks/shadows.py ml-100k/u.data --methods "pooled 5" --shadows 1 4 8 16 32 64
    python benchmarks/shadows.py --drawn 3000 1000 300000 --methods "pooled 5" "pooled 11"
    python benchmarks/shadows.py --drawn 6040 3700 1000000 --methods "pooled 5"

Without --all, 1,000 people are asked about: in tables of fewer, everybody.
"""

from __future__ import annotations

import time
from typing import Any

from at_hand import Options, peak_mb, ratings_of
from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.shadows.inference_result import InferenceResult
from starshade.attack.shadows.linkability import Linked
from starshade.attack.shadows.membership_result import MembershipResult
from starshade.attack.shadows.predicates import SingledOut
from starshade.audit.checks.attribute import attribute_disclosure
from starshade.audit.original.table import OneTable
from starshade.audit.shadows import ByShadows, measure_by_shadows
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.profiles import Profiles
from starshade.release.table import Release

METHODS: dict[str, Any] = {
    **{f"pooled {k}": PredictiveAnonymizer(k=k) for k in (5, 11, 20)},
    "pooled 5, item support 10%": PredictiveAnonymizer(k=5, item_support="10%"),
    **{
        f"{profile} 5, rare items kept": PredictiveAnonymizer(
            k=5, profile=profile, rare_items="keep"
        )
        for profile in ("pooled", "model", "padded", "simple")
    },
    "k-exchange 5, top:10": KExchange(k=5, items=top_items(10)),
}
HEAD = (
    "method",
    "seed",
    "shadows",
    "people",
    "items",
    "AUC, 8 known",
    "found, 8 known",
    "AUC, all known",
    "found, all known",
    "most active tenth",
    "values gained: all, best",
    '"rated?" gained: all, best, residual',
    "linkability",
    "singling out",
    "attribute",
    "CPU",
)


def row(name: str, ratings: Ratings, seed: int, shadows: int, targets: int | None) -> list[str]:
    """Return a row of the table."""
    release = METHODS[name].anonymize(ratings, rng=seed)
    before = time.process_time()
    found = measure_by_shadows(release, ratings, shadows=shadows, targets=targets, seed=seed)
    spent = time.process_time() - before
    return [
        name,
        str(seed),
        str(shadows),
        *membership(found.membership),
        *inference(found.inference[8]),
        excess(found.linkability[8]),
        excess(found.singling_out),
        attribute(release, ratings, found, seed),
        f"{spent:.1f}",
    ]


def membership(found: MembershipResult | str) -> list[str]:
    if isinstance(found, str):
        return [found, *"–" * 6]
    by = {at.known: at for at in found.by_known}
    out = [f"{found.targets:,}", f"{found.catalogue:,}"]
    for known in (8, None):
        auc, alarm = by[known].auc, by[known].at(0.01)
        out.append("–" if auc is None else f"{auc.rate:.3f}")
        out.append("–" if alarm is None else percent(alarm.tpr) + "*" * alarm.rough)
    own = by[None].own
    groups = {} if own is None else own.groups
    share, _ = groups.get("the most active tenth", (float("nan"), 0))
    return [*out, f"{100 * share:.1f}"]


def inference(found: InferenceResult | str) -> list[str]:
    if isinstance(found, str):
        return ["–", "–"]
    gains = [
        [way and way.gained.rate for way in some]
        for some in (
            [way.value for way in found.adversaries],
            [way.rated for way in found.adversaries],
        )
    ]
    return [", ".join(f"{100 * g:+.1f}" for g in some if g is not None) for some in gains]


def percent(rate: Any) -> str:
    return f"{100 * rate.rate:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def excess(found: Linked | SingledOut | str) -> str:
    return "–" if isinstance(found, str) else percent(found.excess)


def attribute(release: Release, ratings: Ratings, found: ByShadows, seed: int) -> str:
    if not isinstance(release.classes, Profiles):
        return "–"
    told = attribute_disclosure(OneTable(ratings, release), found.ends, seed)
    share = told.attribute_disclosure
    return "–" if share is None else f"{100 * share:.1f}"


def main() -> None:
    """Print a table, a row for each method, seed and number of shadows."""
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--shadows", type=int, nargs="+", default=[16], smoke=[2])
    parser.add_argument(
        "--drawn", type=int, nargs=3, metavar=("USERS", "ITEMS", "RATINGS"), help="drawn instead"
    )
    parser.add_argument("--all", action="store_true", help="everybody is asked about")
    asked = parser.parse_args()
    if asked.drawn:
        users, items, n = asked.drawn
        ratings = synthesize(n_users=users, n_items=items, n_ratings=n, rng=1)
    else:
        ratings = ratings_of(asked.ratings)
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    for name in asked.methods:
        for seed in asked.seeds:
            for shadows in asked.shadows:
                cells = row(name, ratings, seed, shadows, None if asked.all else 1000)
                print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\nPeak memory: {peak_mb():,.0f} MB")


if __name__ == "__main__":
    main()
