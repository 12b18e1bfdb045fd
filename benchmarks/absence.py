"""How often somebody is named who is not in the data, over growing synthetic data (NS §5, Fig. 5).

Every target is attacked twice by Scoreboard-RH, with their record and without it. Printed are
success, the false matches of absent targets at φ = 1.5, and φ and rate at which both errors are
equal:

    python benchmarks/absence.py                        # up to 100,000 users
    python benchmarks/absence.py --data ml-100k/u.data  # also on these ratings, over five seeds
"""

from __future__ import annotations

import statistics

import starshade as ss
from at_hand import Options, ratings_of, up_to

USERS = (1_000, 10_000, 100_000)
KNOWN = {
    "8, 2 wrong values": ss.Knowledge(known=8, wrong=2, day_error=14),
    "8, 2 wrong items": ss.Knowledge(known=8, wrong=2, wrong_kind="item", day_error=14),
    "8 exact, no days": ss.Knowledge(known=8, dates=False),
}


def show(name: str, results: list[ss.AttackResult], known: str) -> None:
    curves = [result.tradeoff for result in results]
    equal = [(c.equal_error_phi, c.equal_error_rate) for c in curves if c.equal_error_rate]
    phi, rate = (statistics.mean(side) for side in zip(*equal, strict=True))
    print(
        f"{name:32}{known:20}"
        f"{statistics.mean(r.success.rate for r in results):9.3f}"
        f"{statistics.mean(r.false_match_absent.rate for r in results):9.3f}"
        f"{phi:9.2f}{rate:9.3f}",
        flush=True,
    )


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--data", help="ratings to attack too")
    parser.add_argument("--targets", type=int, default=2000, smoke=100)
    parser.add_argument("--largest", type=int, default=100_000, smoke=300, help="users")
    args = parser.parse_args()
    print(f"{'data':32}{'known':20}{'success':>9}{'absent':>9}{'equal φ':>9}{'at':>9}")
    attack = ss.ScoreboardRH(absent=True)
    if args.data:
        ratings = ratings_of(args.data)
        for known, knowledge in KNOWN.items():
            show("given, 5 seeds", [attack.run(ratings, knowledge, rng=s) for s in range(5)], known)
    for like in ("movielens-100k", "netflix"):
        for n in up_to(args.largest, USERS):
            ratings = ss.synthesize(like, n_users=n, rng=0)
            name = f"{like}, {n:,} × {ratings.n_items:,}"
            for known, knowledge in KNOWN.items():
                found = attack.run(ratings, knowledge, targets=args.targets, rng=1)
                show(name, [found], known)


if __name__ == "__main__":
    main()
