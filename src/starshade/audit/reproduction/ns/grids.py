"""NS's tables: §5, its theorems, readings, ρ0 and d0 and φ, random tenths, work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.attack.sparsity.few_facts import sample_sparsity
from starshade.audit.reproduction.configurations import one_change
from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.ns import under as u
from starshade.audit.reproduction.ns.bench import Bench, Runs
from starshade.audit.reproduction.ns.configurations import CHOICES, PRINTED, READ
from starshade.audit.reproduction.ns.of_attacks import D0, RHO0, grid
from starshade.audit.reproduction.ns.of_data import GAMMA, tenths
from starshade.audit.reproduction.ns.plan import NUMBERS, OFF_TOP, lines_of
from starshade.audit.reproduction.ns.shown import theorem_rows
from starshade.figure import Table
from starshade.ratings.describe import rated_outside_top

_PHIS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
_WORDS = {"similarity": "distances as read", "strict": "φ itself is a match"}


def grids(bench: Bench) -> tuple[Table, ...]:
    """Draw up every table that the data allow."""
    tables = []
    for make in (_off_top, _theorems, _few_facts, _tenths, _readings, _tuning, _phis, work):
        try:
            tables.append(make(bench))
        except Untestable:
            continue
    return tuple(tables)


def _settings(bench: Bench) -> Iterator[Knowledge]:
    """Return the paper's main settings: those of which its text has a number, and the noisiest."""
    for knowledge in (u.WELL, u.LITTLE, u.RARE, u.scaled(bench, u.NOISY)):
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
        if key in _WORDS:
            own = {name: changed[name] for name in _WORDS}
            ways[f"as-printed, but {_WORDS[key]}"] = bench.reading(PRINTED, **own)
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
        (
            "known",
            "configuration",
            "re-identified",
            "a wrong record named",
            "must answer: correct",
            "bits",
        ),
        tuple(rows),
    )


def _cells(bench: Bench, runs: Runs) -> tuple[str, str, str, str]:
    wrong = [{"wrong": run["named"] & ~run["success"]} for run in runs]
    bits = bench.rate(runs, "bits")
    return (
        str(bench.rate(runs, "success")),
        str(bench.rate(wrong, "wrong")),
        str(bench.rate(runs, "top1")),
        f"{bits.rate:.2f} [{bits.low:.2f}, {bits.high:.2f}]",
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
        f"Success by ρ0 (of five stars), d0 (days): {u.scaled(bench, u.NOISY).name} (as-read)",
        ("", *(f"d0 = {d0:g}" for d0 in D0)),
        tuple(rows),
    )


def _phis(bench: Bench) -> Table:
    """Footnotes 4 and 6: φ by trial."""
    curve = u.error_curve(bench, u.WELL)
    equal = [] if curve.equal_error_phi is None else [curve.equal_error_phi]
    rows = []
    for phi in sorted([*_PHIS, *equal]):
        runs = [
            {
                "right": u.reaching(there["eccentricity"], phi) & there["right"],
                "wrong": u.reaching(there["eccentricity"], phi) & ~there["right"],
                "absent": u.reaching(gone["eccentricity"], phi),
            }
            for there, gone in zip(bench.attacked(u.WELL), bench.absent(u.WELL), strict=True)
        ]
        shares = (bench.rate(runs, name) for name in runs[0])
        name = f"{phi:.2f}: both errors are equal" if phi in equal else f"{phi:g}"
        rows.append((name, *map(str, shares)))
    return Table(
        f"By φ: {u.WELL.name} (as-read)",
        ("φ", "re-identified", "a wrong record named", "absent, a record named"),
        tuple(rows),
    )


def _theorems(bench: Bench) -> Table:
    """Theorems 1 to 4: facts that they ask for."""
    names = ("theorem", "eps", "lineup", "delta", "facts", "facts_netflix")
    return Table(
        "Theorems 1 to 4: sufficient facts for any data",
        ("theorem", "ε", "k", "δ", "facts here", "among 480,189 records"),
        tuple(
            tuple(str(row.get(name, "–")) for name in names)
            for row in theorem_rows(bench.ratings.n_users)
        ),
    )


def _few_facts(bench: Bench) -> Table:
    """§4.2: facts that suffice on data as sparse as these."""
    head = ("agree", "ε", "t: at most ε have a neighbour with Sim above", "Theorem 2, as printed")
    return Table(
        "Theorems 2 and 3: sufficient facts on these data, δ = 1 − ε − t (corrected: all but 2ε "
        "are singled out, with coverage of the target's cells in place of Sim)",
        (*head, "users with as many", "Theorem 3, k = 10", "corrected", "users with as many"),
        tuple(
            (
                each.strictness,
                f"{each.eps:g}",
                f"{each.threshold:.3f}",
                *_facts(each.facts, each.users_with_printed_facts),
                _facts(each.lineup_facts, None)[0],
                *_facts(each.proven_facts, each.users_with_facts),
            )
            for each in bench.few_facts
        ),
    )


def _facts(facts: int | None, users: float | None) -> tuple[str, str]:
    return (
        "no number suffices" if facts is None else f"{facts:,}",
        "–" if users is None else f"{users:.1%}",
    )


def _off_top(bench: Bench) -> Table:
    """§5's table, with the paper's cells."""
    rows = {row.top: row.at_least for row in rated_outside_top(bench.ratings)}
    return Table(
        "§5, table: users by number of ratings outside the X most rated items "
        "(the paper's in brackets)",
        ("X", *(f"at least {n}" for n in OFF_TOP[100])),
        tuple(
            (f"{top:,}", *(f"{rows[top][n]:.1%} ({paper:.0%})" for n, paper in own.items()))
            for top, own in OFF_TOP.items()
        ),
    )


def _tenths(bench: Bench) -> Table:
    """Theorem 5 and §4.3: how sparse random tenths are."""
    whole, near = bench.sparsity.neighbours[0], tenths(bench)
    rows = []
    for eps in (0.25, 0.5, 0.75):
        shares = [float((each > eps).mean()) for each in near]
        delta = whole.delta(eps).rate
        least = sample_sparsity(delta, 0.1, GAMMA)
        rows.append(
            (
                f"{eps:g}",
                f"{delta:.2%}",
                f"{np.mean(shares):.2%} ({min(shares):.2%} to {max(shares):.2%})",
                f"{least:.3%}",
                f"{sum(each >= least for each in shares)} of {len(shares)}" if delta else "–",
            )
        )
    return Table(
        f"Theorem 5: records with a neighbour of Sim above ε in {len(near)} random tenths "
        f"(γ = {GAMMA:g}), {len(near[0]):,} tested in each",
        ("ε", "in all: δ", "in a tenth", "δγ/λ", "tenths with at least δγ/λ"),
        tuple(rows),
    )


def work(bench: Bench) -> Table:
    """Say what an attack costs: cells looked at for a target, the same on any machine."""
    cells: dict[str, dict[int, str]] = defaultdict(dict)
    lines = [line for number in NUMBERS for line in lines_of(number, bench.star)]
    for knowledge in (knowledge for line in lines for knowledge in line.settings):
        items = knowledge.wrong if knowledge.wrong_kind == "item" else 0
        which = f"outside top {knowledge.outside_top}" if knowledge.outside_top else "any items"
        own = cells[f"{which}, {items} of them wrong" if items else which]
        if knowledge.known not in own:
            with suppress(Untestable):
                runs = bench.attacked(knowledge)
                targets = sum(len(run["success"]) for run in runs)
                own[knowledge.known] = f"{sum(run['postings'][0] for run in runs) / targets:,.0f}"
    known = sorted({known for own in cells.values() for known in own})
    if not known:
        raise Untestable("no eligible target")
    return Table(
        "Work of Scoreboard-RH: cells read per target, whatever the mistakes, of "
        f"{bench.ratings.n_ratings:,}",
        ("known", *(f"{each} items" for each in known)),
        tuple((name, *(own.get(each, "–") for each in known)) for name, own in cells.items()),
    )
