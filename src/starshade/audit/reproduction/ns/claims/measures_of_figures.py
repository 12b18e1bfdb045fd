"""What is measured for claims on the figures of §5: numbers and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.audit.reproduction.claims import Estimate, Untestable
from starshade.audit.reproduction.ns.bench import Bench, Runs, beside
from starshade.audit.reproduction.ns.claims.under import (
    LITTLE,
    RARE,
    WELL,
    found,
    less,
    noisy,
    present,
    ratio,
    success,
    widest,
)
from starshade.audit.reproduction.ns.plan import lines_of


def _of_figure_11(bench: Bench, way: str) -> Iterator[Knowledge]:
    for line in lines_of("6" if way == "caption" else "11", bench.star):
        yield from line.settings


RHO0 = (0.5, 1.0, 1.5, 3.0)
D0 = (10.0, 30.0, 60.0, 120.0)


def grid(bench: Bench) -> dict[tuple[float, float], Runs]:
    """Attack with other ρ0 and d0 than the paper's."""
    settings = [(rho0, d0) for rho0 in RHO0 for d0 in D0]
    return {
        (rho0, d0): bench.lettered(noisy(bench), bench.reading(rho0=rho0, d0=d0))
        for rho0, d0 in settings
    }


def known_well(bench: Bench, way: str) -> Estimate:
    """Measure ns-41."""
    return success(bench, way, WELL)


def known_little(bench: Bench, way: str) -> Estimate:
    """Measure ns-42."""
    return success(bench, way, LITTLE)


def rare_known_well(bench: Bench, way: str) -> Estimate:
    """Measure ns-52."""
    return success(bench, way, RARE)


def two_without_dates(bench: Bench, way: str) -> Estimate:
    """Measure ns-51."""
    return success(bench, way, Knowledge(known=2, day_error=None, outside_top=500))


def without_dates(bench: Bench, way: str) -> Estimate:
    """Measure ns-53."""
    return success(bench, way, replace(RARE, outside_top=100))


def tolerates_items(bench: Bench, way: str) -> Estimate:
    """Measure ns-55."""
    wrong = replace(noisy(bench), wrong_kind="item")
    return ratio(bench, way, wrong, replace(noisy(bench), known=6, wrong=0))


def items_worse_than_values(bench: Bench, way: str) -> Estimate:
    """Measure ns-56."""
    return less(bench, way, noisy(bench), replace(noisy(bench), wrong_kind="item"))


def bits_of_others(bench: Bench, way: str) -> Estimate:
    """Measure ns-43."""
    runs = [
        {"bits": run["bits"] * ~run["success"], "others": ~run["success"]}
        for run in present(bench, LITTLE, way)
    ]
    return bench.estimate(runs, lambda mean: mean["bits"] / max(mean["others"], 1e-9))


def bits_known_well(bench: Bench, way: str) -> Estimate:
    """Measure ns-44."""
    runs = [{"bits": run["bits"]} for run in present(bench, WELL, way)]
    return bench.estimate(runs, lambda mean: mean["bits"])


def popularity(bench: Bench, way: str) -> Estimate:
    """Measure ns-54."""
    settings = {f"top {n}": replace(noisy(bench), outside_top=n) for n in (0, 100, 500)}
    runs = found(bench, way, widest(*settings.values()), **settings)
    return bench.estimate(
        runs, lambda mean: max(abs(a - b) for a, b in combinations(mean.values(), 2))
    )


def worst_bits(bench: Bench, way: str) -> Estimate:
    """Measure ns-57."""
    prior = np.log2(max(bench.ratings.n_users, 2))
    runs = []
    for knowledge in _of_figure_11(bench, way):
        try:
            runs.append(present(bench, knowledge, way))
        except Untestable:
            continue
    if not runs:
        raise Untestable("nobody of whom so much can be known")
    size = max(len(each[0]["bits"]) for each in runs)
    of = {str(n): (each, "bits") for n, each in enumerate(runs) if len(each[0]["bits"]) == size}
    return bench.estimate(beside(**of), lambda mean: max(mean.values()) / prior)


def number_helps(bench: Bench, way: str) -> Estimate:
    """Measure ns-58."""
    of: dict[str, tuple[Runs, str]] = {}
    among = Knowledge(known=8)
    for line in lines_of("12", bench.star):
        for knowledge in line.settings:
            if not knowledge.about_count:
                told = replace(knowledge, about_count=True)
                of[f"without {knowledge.name}"] = present(bench, knowledge, way, among), "success"
                of[f"with {knowledge.name}"] = present(bench, told, way, among), "success"
    runs = beside(**of)
    least = 0.02
    names = [name.removeprefix("without ") for name in of if name.startswith("without ")]
    plain = {name: np.mean([run[f"without {name}"].mean() for run in runs]) for name in names}
    names = [name for name in names if plain[name] >= least]
    if not names:
        raise Untestable("without the number nobody is found")
    return bench.estimate(
        runs,
        lambda mean: max(mean[f"with {n}"] / max(mean[f"without {n}"], least) for n in names),
    )


def theirs_is_best(bench: Bench, way: str) -> Estimate:
    """Measure ns-59."""
    runs = beside(**{f"{rho0} {d0}": (each, "success") for (rho0, d0), each in grid(bench).items()})
    return bench.estimate(runs, lambda mean: mean["1.5 30.0"] - max(mean.values()))
