"""Aggregate queries with bounds over a large release.

A release of 480,000 synthetic survey records (20 questions, answers 1-6 and nulls, the attributes
Age and Income) is cut into classes of k records that lie next to each other in a sorted order;
how good the classes are does not matter here. Then random queries are asked of it, each with 10
conditions on 10 different questions, some of them in an OR, all of them parsed and planned anew:

    python benchmarks/query.py
    python benchmarks/query.py --records 100000 --k 5 --queries 50
    python benchmarks/query.py --profile

Printed are the median, the 95th percentile and the worst of the times, for COUNT, for AVG in strict
and in paper mode, and for all aggregates at once, and the 95th percentile of the processor's own
time, which others on the machine do not disturb; the time of the first query of each kind, which
sorts and adds up the attribute once; beside them DuckDB's for the same queries on the original (one
number each, without bounds, on as many threads as there are); and, as a measure of what the machine
can do, the time of merely reading the ten columns of class codes and the attribute.
"""

from __future__ import annotations

import cProfile
import pstats
import time

import numpy as np
import pyarrow as pa

from at_hand import Options, installed
from starshade.anonymize.generalize import generalize
from starshade.query.prepared import prepared
from starshade.query.query import Query
from starshade.ratings.synth.synth import synthesize
from starshade.release.build import Provenance, generalized_release
from starshade.release.manifest import Claim
from starshade.release.table import Release

CONDITIONS = 10
OPERATORS = ("= {}", "<> {}", "<= {}", ">= {}", "IN ({}, 6)", "BETWEEN 1 AND {}", "IS NOT NULL")


def make_release(records: int, k: int) -> tuple[Release, pa.Table]:
    """Return the release, and the original as a wide table."""
    ratings = synthesize("survey", n_users=records, n_items=20, rng=0)
    rng = np.random.default_rng(0)
    income = np.round(rng.lognormal(10, 0.6, records), 2)  # nearly as many values as records
    attributes = ratings.attributes
    if attributes is None:
        raise SystemExit("the synthetic survey has no attributes")
    attributes = attributes.select(["Age"]).append_column("Income", pa.array(income))
    ratings = ratings.annotate(attributes=attributes)
    rows = np.nan_to_num(ratings.dense()).astype(np.uint8)
    order = np.lexsort(rows.T[::-1])
    groups = np.empty(records, np.int64)
    groups[order] = np.minimum(np.arange(records) // k, records // k - 1)
    keys, columns = list(ratings.items), ratings.dense().T
    wide = {key: pa.array(c, mask=np.isnan(c)) for key, c in zip(keys, columns, strict=True)}
    release = generalized_release(
        ratings,
        groups,
        generalize("ndgh", ratings, groups),
        Provenance(
            method="by-order", seed=0, claims=(Claim(model="k-anonymity", parameters={"k": k}),)
        ),
        attributes="exact",
    )
    people = {name: attributes[name] for name in attributes.column_names}
    return release, pa.table({**wide, **people})


def random_condition(rng: np.random.Generator, keys: list[str]) -> str:
    parts = []
    for key in rng.permutation(keys)[:CONDITIONS]:
        operator = OPERATORS[rng.integers(len(OPERATORS))].format(rng.integers(1, 6))
        parts.append(f'{"NOT " if rng.random() < 0.2 else ""}"{key}" {operator}')
    split = int(rng.integers(2, CONDITIONS - 2))
    return f"({' OR '.join(parts[:split])}) AND " + " AND ".join(parts[split:])


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--records", type=int, default=480_000, smoke=2_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--queries", type=int, default=200, smoke=3)
    parser.add_argument("--profile", action="store_true", smoke=True, help="profile AVG")
    asked = parser.parse_args()
    rival = installed("duckdb").connect()
    started = time.perf_counter()
    release, original = make_release(asked.records, asked.k)
    rival.register("given", original)
    rival.execute("CREATE TABLE t AS SELECT * FROM given")
    print(
        f"{release.n_records:,} records in {release.classes.n_groups:,} classes x "
        f"{release.classes.n_items} items, made in {time.perf_counter() - started:.1f} s"
    )
    keys = list(release.classes.items)
    bounds = {"Age": (0.0, 120.0), "Income": (0.0, 1e8)}
    everything = "COUNT(*), COUNT(Age), SUM(Age), AVG(Age), MIN(Age), MAX(Age)"
    for what, mode in (
        ("COUNT(*)", "strict"), ("AVG(Age)", "strict"), ("AVG(Age)", "paper"),
        ("AVG(Income)", "strict"), ("AVG(Income)", "paper"), (everything, "paper"),
    ):  # fmt: skip
        rng = np.random.default_rng(1)
        conditions = [random_condition(rng, keys) for _ in range(asked.queries)]
        queries = [f"SELECT {what} FROM t WHERE {condition}" for condition in conditions]
        seconds, own, beside = [], [], []
        for sql in (queries[0], *queries):
            start, cpu = time.perf_counter(), time.thread_time()
            found = Query(sql, mode=mode, bounds=bounds).run(release)
            seconds.append(time.perf_counter() - start)
            own.append(time.thread_time() - cpu)
            start = time.perf_counter()
            (truth, *_) = rival.execute(sql).fetchone()
            beside.append(time.perf_counter() - start)
            if truth is not None and not found.low - 1e-6 <= truth <= found.high + 1e-6:
                raise SystemExit(f"the truth {truth} is outside of {found}")
        p50, p95 = np.quantile(seconds[1:], [0.5, 0.95]) * 1e3
        print(
            f"{what[:30]:30} {mode:6}  p50 {p50:6.1f}  p95 {p95:6.1f}  max "
            f"{max(seconds[1:]) * 1e3:6.1f} ms   first {seconds[0] * 1e3:6.1f} ms   "
            f"processor p95 {np.quantile(own[1:], 0.95) * 1e3:5.1f} ms   "
            f"DuckDB p50 {np.quantile(beside[1:], 0.5) * 1e3:5.1f} ms"
        )
        if asked.profile and what == "AVG(Age)":
            profile(queries, mode, bounds, release)
    table = prepared(release)
    start = time.perf_counter()
    for item in range(CONDITIONS):
        table.codes(item).astype(np.int64).sum()
    table.column("Age").totals.sum()
    print(f"reading ten columns of codes: {(time.perf_counter() - start) * 1e3:.1f} ms")


def profile(queries: list[str], mode: str, bounds: object, release: Release) -> None:
    profiler = cProfile.Profile()
    with profiler:
        for sql in queries:
            Query(sql, mode=mode, bounds=bounds).run(release)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main()
