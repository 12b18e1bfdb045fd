"""What KL's claims are judged by: one figure of curves over k, over conditions, or of work.

Each function returns a measure: (bench, way) → the statistic with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from starshade.audit.reproduction.estimates import Estimate, Floats, Untestable, estimate
from starshade.audit.reproduction.kl.lines import DGH_A, DGH_B, DGH_C
from starshade.audit.reproduction.kl.work import Work

if TYPE_CHECKING:
    from starshade.audit.reproduction.kl.bench import Bench

Measure: TypeAlias = "Callable[[Bench, str], Estimate]"
Curves: TypeAlias = Mapping[str, Floats]
Pick: TypeAlias = Callable[[Sequence[float]], float]

#: a figure of a release, from the mean over its records
_WHOLE: dict[str, tuple[str, Callable[[float], float]]] = {
    "dm": ("size", lambda mean: mean),  # per record, which no ratio knows of
    "c_avg": ("share", lambda mean: 1 / mean),
    "gen_iloss": ("loss", lambda mean: mean),
    "rated": ("rated", lambda mean: mean),
    "more": ("members", lambda mean: mean - 1),
    "members": ("members", lambda mean: mean),
    "exact": ("exact", lambda mean: mean),
    "alike": ("alike", lambda mean: mean),
    "classes": ("classes", lambda mean: mean),
    "per class": ("per class", lambda mean: mean),
    "smallest": ("smallest", lambda mean: mean),  # over k
}


#: what an intervention takes in the place of a figure
_INSTEAD = {
    ("sizes", "classes"): "per class",
    ("rated", "gen_iloss"): "rated",
    ("sets", "gen_iloss"): "rated",
    ("sets+furthest", "gen_iloss"): "rated",
    ("members", "gen_iloss"): "more",
}


def curves(
    figure: str,
    lines: Sequence[str],
    statistic: Callable[[Curves], float],
    ks: Sequence[int] | None = None,
) -> Measure:
    """Take a statistic of curves over k, each point a mean over records and runs."""

    def measure(bench: Bench, way: str) -> Estimate:
        name, final = _WHOLE[_INSTEAD.get((way, figure), figure)]
        changed = bench.under(way)
        own = _kept(lines, way, bench)
        at, runs = changed.runs(own, name, ks)
        if len(at) < 2 and (ks is None or len(ks) > 1):
            raise Untestable(f"released only at k = {at[0]}: one point is not a curve")
        return estimate(
            runs,
            lambda mean: statistic(
                {line: np.array([final(mean[f"{line} {k}"]) for k in at]) for line in own}
            ),
            seed=bench.seed,
        )

    return measure


def _kept(lines: Sequence[str], way: str, bench: Bench) -> list[str]:
    """Leave out what a way sets apart, and what the scale of the ratings does not allow."""
    apart = (DGH_A, DGH_B, DGH_C) if way == "algorithms" else ()
    there = {line.name for line in bench.lines}
    return [line for line in dict.fromkeys(lines) if line not in apart and line in there]


def over(a: float, b: float) -> float:
    """Return a ratio, where there is one."""
    if not b:
        raise Untestable("the loss or error is 0, so there is no ratio")
    return float(a / b)


def summed(figure: str, tops: Sequence[str], bottoms: Sequence[str], pick: Pick = min) -> Measure:
    """Take the ratio of the sums over k of two lines; the least or greatest over the pairs."""
    return curves(figure, [*tops, *bottoms], _ratio(tops, bottoms, pick))


def _ratio(tops: Sequence[str], bottoms: Sequence[str], pick: Pick) -> Callable[[Curves], float]:
    def statistic(found: Curves) -> float:
        pairs = [
            over(found[top].sum(), found[bottom].sum())
            for top, bottom in product(tops, bottoms)
            if top in found and bottom in found
        ]
        if not pairs:
            raise Untestable("DGH (a) and (c) are made for the scale 1-5")
        return pick(pairs)

    return statistic


def away(figure: str, a: str, b: str, ks: Sequence[int] | None = None) -> Measure:
    """Take the furthest that one line is from another at any k, as a share."""
    return curves(
        figure,
        [a, b],
        lambda found: max(abs(over(x, y) - 1) for x, y in zip(found[a], found[b], strict=True)),
        ks,
    )


def course(figure: str, lines: Sequence[str], pick: Pick) -> Measure:
    """Take the share of pairs of k of which the greater has the greater figure; over lines."""
    return curves(figure, lines, lambda found: pick([rising(found[line]) for line in found]))


def ends(figure: str, lines: Sequence[str]) -> Measure:
    """Take the figure of the greatest k over that of the least k; the least over lines."""
    return curves(figure, lines, lambda found: min(over(y[-1], y[0]) for y in found.values()))


def spread(figure: str, lines: Sequence[str]) -> Measure:
    """Take a line's greatest figure over its least; the greatest over lines."""
    return curves(figure, lines, lambda found: max(over(y.max(), y.min()) for y in found.values()))


def greatest(figure: str, lines: Sequence[str]) -> Measure:
    """Take the greatest figure of any line at any k."""
    return curves(figure, lines, lambda found: max(float(y.max()) for y in found.values()))


def least(figure: str, lines: Sequence[str]) -> Measure:
    """Take the least figure of any line at any k."""
    return curves(figure, lines, lambda found: min(float(y.min()) for y in found.values()))


def rising(ys: Sequence[float] | Floats) -> float:
    """Return the share of pairs of points of which the later is the higher, half for equal ones."""
    return agreeing(range(len(ys)), ys)


def agreeing(xs: Sequence[float], ys: Sequence[float] | Floats) -> float:
    """Return the share of pairs that differ in x in which y goes the same way; half if equal."""
    points = sorted(zip(xs, map(float, ys), strict=True))
    pairs = [(b > a) + 0.5 * (b == a) for (x, a), (z, b) in combinations(points, 2) if z > x]
    if not pairs:
        raise Untestable("one point is not a curve")
    return float(np.mean(pairs))


def asked(
    kind: str,
    lines: Sequence[str],
    statistic: Callable[[Curves], float],
    sizes: Sequence[int] | None = None,
    k: int = 2,
) -> Measure:
    """Take a statistic of mean errors over sizes; the interval is over runs and conditions."""

    def measure(bench: Bench, way: str) -> Estimate:
        own = _kept(lines, way, bench)
        asked_of = range(1, 5) if way == "four" else sizes
        at, runs, conditions = bench.under(way).errors(own, kind, k, asked_of)

        def mean_errors(mean: Mapping[str, float]) -> Curves:
            return {
                line: np.array([mean[f"{line} {n}"] / mean[f"{line} {n} asked"] for n in at])
                for line in own
            }

        found = estimate(
            runs, lambda mean: statistic(mean_errors(mean)), seed=bench.seed, of="condition"
        )
        return replace(found, users=conditions)

    return measure


def asked_course(kind: str, lines: Sequence[str], pick: Pick) -> Measure:
    """Take the share of pairs of sizes of which the greater has the greater error; over lines."""
    return asked(kind, lines, lambda found: pick([rising(y) for y in found.values()]))


def asked_ratio(
    kind: str,
    tops: Sequence[str],
    bottoms: Sequence[str],
    pick: Pick = min,
    sizes: Sequence[int] | None = None,
    k: int = 2,
) -> Measure:
    """Take the ratio of two lines' mean errors; the least or greatest over the pairs."""
    return asked(kind, [*tops, *bottoms], _ratio(tops, bottoms, pick), sizes, k)


def several(measures: Sequence[Measure], pick: Callable[..., Estimate]) -> Measure:
    """Take the one that decides of several statistics, with its own interval."""

    def measure(bench: Bench, way: str) -> Estimate:
        return pick([each(bench, way) for each in measures], key=lambda found: found.value)

    return measure


def worked(statistic: Callable[[list[Work]], float]) -> Measure:
    """Take a statistic of what each algorithm does at every k: a count."""

    def measure(bench: Bench, way: str) -> Estimate:
        work = bench.work(way)
        if len(work) < 2:
            raise Untestable("one point is not a curve")
        return Estimate.exact(statistic(work))

    return measure


def wider(line: str) -> Measure:
    """Take the loss at k = 2 of a release of all items, less that of the most rated one alone."""

    def measure(bench: Bench, way: str) -> Estimate:
        changed = bench.under(way)
        runs = [
            {"all": whole[f"{line} 2"], "one": part[f"{line} 2"]}
            for whole, part in zip(
                *(each.runs([line], "loss", [2])[1] for each in (changed, changed.keeping(1))),
                strict=True,
            )
        ]
        return estimate(runs, lambda mean: mean["all"] - mean["one"], seed=bench.seed)

    return measure
