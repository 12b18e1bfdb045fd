"""SR's tables of results: verdicts, predictions, whose slicing it is, and Fig. 3(b)'s readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.charted import released_rules
from starshade.audit.reproduction.sr.measured import PREDICTED_KS, Job, K, Timed
from starshade.audit.reproduction.sr.work import SHOWN
from starshade.figure import Table


def verdicts(bench: Bench, timed: Mapping[Job, Timed]) -> Table:
    """Tell what the check says with the paper's defaults; every search says the same."""
    one, two = bench.grid.star, 2 * bench.grid.star
    rows = [
        (
            job.workload.name, job.nulls, "yes" if run.satisfied else "no", f"{run.records:,}",
            f"{run.failing_records:,}", f"{run.smallest_class:,}",
        )
        for job, run in timed.items()
        if (job.k, job.eps, job.l, job.share, job.search) == (K, one, two, 100, "tree")
    ]  # fmt: skip
    head = ("data", "nulls", "satisfied", "records", "failing", "smallest ball")
    return Table(f"Whether the data are ({K}, {one:g}, {two:g})-anonymous", head, tuple(rows))


def predictions(bench: Bench) -> Iterator[Table]:
    """Tell how well attributes are predicted, beside the majority's share."""
    rows = []
    for at, attribute in enumerate(bench.attributes):
        for nulls, partition in released_rules(bench):
            for k in PREDICTED_KS:
                runs = [bench.predicted(nulls, partition, k, seed) for seed in bench.seeds]
                if any("refused" in run for run in runs):
                    continue
                before, after, most = (
                    np.mean([run[name][at].mean(axis=0) for run in runs], axis=0)
                    for name in ("before", "after", "majority")
                )
                released = float(np.mean([run["released"] for run in runs]))
                rows.append((
                    attribute, f"{k}", nulls, partition, f"{released:.1%}", f"{most:.1%}",
                    *(f"{right:.1%} ({100 * (right - most):+.1f})"
                      for right in (before[0], after[0])),
                    *(f"{before[i]:.3f} → {after[i]:.3f}" for i in (1, 2)),
                ))  # fmt: skip
    head = (
        "attribute", "k", "nulls", "clipped group", "people released", "most frequent class",
        "right before (points beyond it)", "right after", "balanced accuracy", "AUC",
    )  # fmt: skip
    if rows:
        yield Table("Accuracy of predicting an attribute (Fig. 8)", head, tuple(rows))


def savings(bench: Bench) -> Table:
    """Tell what slicing and our tree save."""
    rows = []
    for (part, reading), eps in product(bench.places, bench.grid.eps):
        try:
            found = bench.cells(reading, eps, bench.seeds[0])
            walked = bench.tree(reading, eps, bench.seeds[0])
        except Untestable:
            continue
        n, p = len(found["ball"]), int(found["items"])
        slab, cells = float(found["slab"].mean()), float(found["cells"].mean())
        figures = (n * p, n + cells, slab + cells, walked / n)
        rows.append((
            part.name, reading.nulls, f"{eps:g}", f"{slab / n:.1%}",
            *(f"{figure:,.0f}" for figure in figures), f"{found['ball'].mean():,.1f}",
        ))  # fmt: skip
    head = (
        "data", "nulls", "ε", "records in the first slab", "cells of all pairs",
        "cells with early stopping", "cells of slicing", "cells of our tree", "ball",
    )  # fmt: skip
    return Table("Cells touched per record after slicing on the first attribute", head, tuple(rows))


_ALSO: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("slicing, ends at the first failure", "slicing", {"first": True}, ""),
    ("slicing, ε ≥ R without a search", "slicing", {"short_cut": True}, ""),
)


def courses(bench: Bench) -> Table:
    """Tell the work of slicing and of every pair over ε, under each reading."""
    rows, seed, grid = [], bench.seeds[0], bench.grid
    asked: dict[str, Any] = {"k": K, "l": 2 * grid.star}
    for (part, base), (words, search, change, _) in product(bench.places, SHOWN + _ALSO):
        with suppress(Untestable):
            reading = replace(base, **change)
            works = [
                bench.work(search, eps, seed, reading=reading, **asked).sum() for eps in grid.eps
            ]
            rows.append((part.name, base.nulls, words, *(f"{work:,.0f}" for work in works)))
    head = ("data", "nulls", "search", *(f"ε = {eps:g}" for eps in grid.eps))
    scale = bench.ratings.scale
    title = (
        f"Cells touched over ε, up to the scale's width, {scale.width:g}, and R, "
        f"{scale.cost_of_null:g} (Fig. 3b, Fig. 5b)"
    )
    return Table(title, head, tuple(rows))
