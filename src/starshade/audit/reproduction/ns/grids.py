"""Open questions of NS as tables: readings, ρ0 and d0 and φ, random tenths, work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.tradeoff import SLACK
from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.configurations import one_change
from starshade.audit.reproduction.ns.bench import PHI, Bench, Runs
from starshade.audit.reproduction.ns.claims.measures_of_figures import D0, RHO0, grid
from starshade.audit.reproduction.ns.claims.under import LITTLE, RARE, WELL, error_curve, noisy
from starshade.audit.reproduction.ns.configurations import CHOICES, PRINTED, READ
from starshade.audit.reproduction.ns.plan import NUMBERS, lines_of
from starshade.figure import Table

_PHIS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
_SCORED = ("similarity", "strict")


def grids(bench: Bench) -> tuple[Table, ...]:
    """Draw up every table that the data allow."""
    tables = []
    for make in (_readings, _tuning, _phis, _tenths, work):
        try:
            tables.append(make(bench))
        except Untestable:
            continue
    return tuple(tables)


def _settings(bench: Bench) -> Iterator[Knowledge]:
    """Return the paper's main settings: those of which its text has a number, and the noisiest."""
    for knowledge in (WELL, LITTLE, RARE, noisy(bench)):
        try:
            bench.people(knowledge, 0)
        except Untestable:
            continue
        if bench.dated or not knowledge.knows_days:
            yield knowledge


def _readings(bench: Bench) -> Table:
    """As printed against as read, one change at a time, and what else could be meant."""
    ways = {PRINTED: bench.reading(PRINTED)}
    for key, changed in one_change(CHOICES, PRINTED, READ):
        if key in _SCORED:
            own = {name: changed[name] for name in _SCORED}
            ways[f"as-printed, but {key} as read"] = bench.reading(PRINTED, **own)
    ways |= {
        READ: bench.reading(),
        "as-read, but thresholds": bench.reading(similarity="threshold"),
        "as-read, but equal weights": bench.reading(weighted=False),
    }
    rows = [
        (knowledge.name, name, *_cells(bench, bench.lettered(knowledge, reading)))
        for knowledge in _settings(bench)
        for name, reading in ways.items()
    ]
    return Table(
        "As printed and as read",
        ("known", "configuration", "found", "a wrong one named", "must answer: right", "bits"),
        tuple(rows),
    )


def _cells(bench: Bench, runs: Runs) -> tuple[str, str, str, str]:
    wrong = [{"wrong": run["named"] & ~run["success"]} for run in runs]
    return (
        str(bench.rate(runs, "success")),
        str(bench.rate(wrong, "wrong")),
        str(bench.rate(runs, "top1")),
        f"{np.concatenate([run['bits'] for run in runs]).mean():.2f}",
    )


def _tuning(bench: Bench) -> Table:
    """Footnote 6: ρ0 and d0 by trial."""
    if not bench.dated:
        raise Untestable("the data have no dates")
    found = grid(bench)
    rows = [
        (f"ρ0 = {rho0:g}", *(str(bench.rate(found[rho0, d0], "success")) for d0 in D0))
        for rho0 in RHO0
    ]
    return Table(
        f"Found, by ρ0 (stars of five) and d0 (days): {noisy(bench).name} (as-read)",
        ("", *(f"d0 = {d0:g}" for d0 in D0)),
        tuple(rows),
    )


def _phis(bench: Bench) -> Table:
    """Footnotes 4 and 6: φ by trial."""
    there, gone = bench.attacked(WELL), bench.absent(WELL)
    ecc = np.concatenate([run["eccentricity"] for run in there])
    right = np.concatenate([run["right"] for run in there])
    absent = np.concatenate([run["eccentricity"] for run in gone])
    rows = []
    for phi in _PHIS:
        out = (ecc > 0) & (ecc >= phi * (1 - SLACK))
        named = (absent > 0) & (absent >= phi * (1 - SLACK))
        shares = ((out * right).mean(), (out * (1 - right)).mean(), named.mean())
        rows.append((f"{phi:g}", *(f"{value:.1%}" for value in shares)))
    curve = error_curve(bench, WELL)
    equal = curve.equal_error_phi
    if equal is not None and curve.equal_error_rate is not None:
        rate = f"{curve.equal_error_rate:.1%}"
        rows.append(
            (f"{equal:.2f}: both errors equal", f"{1 - curve.equal_error_rate:.1%}", "", rate)
        )
    return Table(
        f"By φ: {WELL.name} (as-read)",
        ("φ", "found", "a wrong one named", "absent, and somebody named"),
        tuple(rows),
    )


def _tenths(bench: Bench) -> Table:
    """Theorem 5 and §4.3: how sparse random tenths are."""
    whole = bench.sparsity.neighbours[0]
    near = [bench.sparsity_of_tenth(draw) for draw in range(20)]
    rows = []
    for eps in (0.25, 0.5, 0.75):
        shares = [float((each > eps).mean()) for each in near]
        delta = whole.delta(eps).rate
        rows.append(
            (
                f"{eps:g}",
                f"{delta:.2%}",
                f"{np.mean(shares):.2%} ({min(shares):.2%} to {max(shares):.2%})",
                f"{delta * 0.1 * 0.1:.3%}",
                f"{sum(each >= delta * 0.1 * 0.1 for each in shares)} of {len(shares)}",
            )
        )
    return Table(
        "Theorem 5: records with another one of Sim above ε, in 20 random tenths (γ = 0.1), "
        f"{len(near[0]):,} looked at in each",
        ("ε", "in all: δ", "in a tenth", "δγ/λ", "tenths with so many"),
        tuple(rows),
    )


def work(bench: Bench) -> Table:
    """Say what an attack costs: cells looked at for a target, the same on any machine."""
    settings = dict.fromkeys(
        knowledge
        for number in NUMBERS
        for line in lines_of(number, bench.star)
        for knowledge in line.settings
    )
    rows = []
    for knowledge in settings:
        try:
            runs = bench.attacked(knowledge)
        except Untestable:
            continue
        targets = sum(len(run["success"]) for run in runs)
        looked_at = sum(int(run["postings"].sum()) for run in runs)
        rows.append(
            (knowledge.name, f"{targets:,}", f"{looked_at:,}", f"{looked_at / targets:,.0f}")
        )
    if not rows:
        raise Untestable("nobody can be attacked")
    return Table(
        f"Work of Scoreboard-RH (φ = {PHI:g}): cells looked at; all there are: "
        f"{bench.ratings.n_ratings:,}",
        ("known", "targets", "cells", "cells for a target"),
        tuple(rows),
    )
