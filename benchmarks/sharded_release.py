"""What a release loses by being made shard by shard, and what it costs.

Of each data set a tenth of the ratings is held out. Profiles are made of the rest as one table and
as seven shards, with the same seeds, and the held-out ratings are predicted from their users' own
profiles (the target deviation of PA §7): the figure of the shards over that of the table.

    python benchmarks/sharded_release.py                      # synthetic, and MovieLens where it is
    python benchmarks/sharded_release.py --cost 10            # 10 million ratings, at 1G, k = 50

MovieLens is looked for where `at_hand.py` says.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import starshade as ss
from at_hand import PUBLIC, Options, public
from shards import line, ratings_file, run
from starshade.ratings.shards.write import write_shards

SHARDS = 7


def data(users: int) -> Iterator[tuple[str, ss.Ratings]]:
    """Yield the data sets that are there, by name."""
    for name, place in PUBLIC.items():
        if (file := public(place)) is not None:
            yield name, ss.read_ratings(file)
    drawn = ss.synthesize("netflix", n_users=users, n_items=users // 10, rng=1)
    yield "synthetic, like netflix", drawn


def off(release: ss.Release, train: ss.Ratings, probe: ss.Ratings) -> float:
    """Return how far held-out ratings are from their users' profiles."""
    found = ss.TargetDeviation().measure(release, original=train, probe=probe).to_dict()
    deviation = found["target_deviation_release"]
    assert deviation is not None
    return float(deviation)


def losses(ratings: ss.Ratings, method: ss.PredictiveAnonymizer, seeds: int) -> list[float]:
    """Return the deviation of shards over that of the table, for each seed."""
    out = []
    for seed in range(seeds):
        train, probe = ss.hold_out(ratings, 0.1, rng=seed)
        whole = off(method.anonymize(train, rng=seed), train, probe)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_shards(train, folder / "s", SHARDS)
            receipt = folder / "receipt.json"
            with ss.anonymized_shards(method, ss.open_shards(folder / "s"), seed) as release:
                release.save(folder / "r", private=receipt)
            back = ss.read_release(folder / "r", private=receipt)
            out.append(off(back, train, probe) / whole)
    return out


def cost(millions: float, k: int) -> None:
    """Print what a release of so many ratings takes, as shards and as one table."""
    with tempfile.TemporaryDirectory() as place:
        file, whole, shards = (str(Path(place) / name) for name in ("r.parquet", "whole", "shards"))
        ratings_file(Path(file), millions, 10_000)
        run("data", "convert", file, "--out", shards, "--shards", str(SHARDS), "--memory", "1G")
        run("data", "convert", file, "--out", whole)
        for what, store, more in (("shards", shards, ("--memory", "1G")), ("store", whole, ())):
            out = str(Path(place) / f"release-{what}")
            made = run(
                "anonymize", store, "--method", "predictive", "--k", str(k), "--seed", "1",
                "--out", out, "--private", f"{out}.json", *more,
            )  # fmt: skip
            line(f"pooled, k = {k}, {millions:,g} million, {what}", made)


def main() -> None:
    """Measure each data set."""
    parser = Options(__doc__)
    parser.add_argument("--seeds", type=int, default=3, smoke=1)
    parser.add_argument("--users", type=int, default=20_000, smoke=400, help="of synthetic data")
    parser.add_argument("--k", type=int, nargs="+", default=[5, 20, 50], smoke=[5])
    parser.add_argument(
        "--cost", type=float, metavar="MILLIONS", smoke=0.02, help="time and memory"
    )
    options = parser.parse_args()
    if options.cost:
        cost(options.cost, options.k[-1])
        if not options.smoke:
            return
    for name, ratings in data(options.users):
        print(f"{name}: {ratings.n_ratings:,} ratings, {ratings.n_users:,} users")
        for profile in ("pooled", "padded", "model", "simple"):
            for k in options.k:
                found = losses(
                    ratings, ss.PredictiveAnonymizer(k=k, profile=profile), options.seeds
                )
                print(
                    f"  {profile:<8} k = {k:<3} shards over table: "
                    f"{statistics.mean(found):.4f} ({min(found):.4f} to {max(found):.4f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
