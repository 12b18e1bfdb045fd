"""The verdict on releases of each method, by each policy.

Two data sets (STARSHADE_DATA, default ../shared/data) and two that are drawn; the table is
Markdown. After FAIL and INCOMPLETE stand the checks that did not pass, the upper end of the
interval of each beside it (the largest where two numbers of ratings are known):

    python benchmarks/verdicts.py
    python benchmarks/verdicts.py --data "ml-latest-small" --methods "predictive, k = 11" --seed 2
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import starshade as ss
from at_hand import PUBLIC, Options, public, ratings_of
from starshade.audit.checks.check import verdict_of
from starshade.audit.checks.policy import POLICIES, Policy, read_policy
from starshade.audit.make import make_release
from starshade.plain import percent

TOP = ss.top_items(10)
METHODS: dict[str, Any] = {
    **{f"predictive, k = {k}": ss.PredictiveAnonymizer(k=k) for k in (5, 11, 20)},
    "predictive, k = 50": ss.PredictiveAnonymizer(k=50),
    "predictive, k = 50, item support 10 %": ss.PredictiveAnonymizer(k=50, item_support="10%"),
    "predictive, k = 5, item support 2 %": ss.PredictiveAnonymizer(k=5, item_support="2%"),
    "predictive padded, k = 5": ss.PredictiveAnonymizer(k=5, profile="padded"),
    "predictive simple, k = 5": ss.PredictiveAnonymizer(k=5, profile="simple"),
    "k-exchange, k = 5, top:10": ss.KExchange(k=5, items=TOP),
    "k-exchange, k = 5, top:10, disclosure weight 0.2": ss.KExchange(
        k=5, items=TOP, disclosure_weight=0.2
    ),
    "k-likeness, k = 5, top:10": ss.KLikeness(k=5, items=TOP),
    "mondrian, k = 5, top:10": ss.Mondrian(k=5, items=TOP),
    "interval, k = 5, ε = 1": ss.IntervalAnonymizer(k=5, eps=1.0, items=TOP),
    "suppress, k = 5, ε = 1": ss.SuppressAnonymizer(k=5, eps=1.0, items=TOP),
}
DRAWN: Mapping[str, tuple[int, int, int]] = {
    "3,000 people, 100 ratings each": (3000, 1000, 300_000),
    "2,000 people, 15 ratings each": (2000, 500, 30_000),
}
DATA = [*PUBLIC, *DRAWN]


def table(name: str) -> ss.Ratings | None:
    """Read or draw a data set; None: it is not there."""
    if name not in DRAWN:
        file = public(PUBLIC[name])
        return file and ratings_of(file)
    users, items, ratings = DRAWN[name]
    return ss.synthesize(n_users=users, n_items=items, n_ratings=ratings, rng=1)


def cell(result: ss.AuditResult, policy: Policy) -> str:
    """Return the verdict of an audit's figures by a policy, and what did not pass."""
    checks = [replace(each, threshold=policy.thresholds.get(each.name)) for each in result.checks]
    verdict = verdict_of(checks, [finding.passed for finding in result.findings])
    worst: dict[str, float] = {}
    for each in checks:
        if each.fails or each.status == "not measured":
            high = each.rate.high if each.rate else -1.0
            worst[each.name] = max(high, worst.get(each.name, high))
    missed = [
        f"{n} {percent(high)}" if high >= 0 else f"{n}: no figure" for n, high in worst.items()
    ]
    missed += [finding.name for finding in result.findings if not finding.passed]
    return f"**{verdict}**" + f" {', '.join(missed)}" * bool(missed)


def verdicts(ratings: ss.Ratings, method: Any, seed: int) -> list[str]:
    """Make a release, audit it once, and return its verdict by each policy."""
    with tempfile.TemporaryDirectory() as folder:
        out, private = Path(folder, "release"), Path(folder, "private.json")
        try:
            make_release(ratings, method, out=out, private=private, rng=seed)
        except ss.StarshadeError as error:
            return [str(error).partition("\n")[0]] * len(POLICIES)
        result = ss.Audit().run(ratings, out, private=private, rng=seed)
        return [cell(result, read_policy(name)) for name in POLICIES]


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, smoke=DATA[-1:])
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), smoke=[next(iter(METHODS))]
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"| data | release | {' | '.join(POLICIES)} |\n|---|---|{'---|' * len(POLICIES)}")
    for name in options.data:
        ratings = table(name)
        for method in options.methods if ratings else ():
            found = " | ".join(verdicts(ratings, METHODS[method], options.seed))
            print(f"| {name} | {method} | {found} |", flush=True)


if __name__ == "__main__":
    main()
