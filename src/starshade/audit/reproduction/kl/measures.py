"""What the claims are judged by, by number: functions of a bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise
from types import MappingProxyType

import numpy as np

from starshade.audit.reproduction.claims import Estimate, Untestable
from starshade.audit.reproduction.kl import theorem, worked
from starshade.audit.reproduction.kl.bench import QUERY_KS, Bench, Run
from starshade.audit.reproduction.kl.looks import (
    ALGORITHMS,
    FEW,
    View,
    mean_of,
    rank_correlation,
)
from starshade.audit.reproduction.kl.readings import (
    DGH_A,
    DGH_B,
    DGH_C,
    EXCHANGE,
    LIKENESS,
    MEMBER,
    MONDRIAN,
)

Measure = Callable[[Bench, str], Estimate]
Pick = Callable[[Iterable[float]], float]
_PAPERS = (LIKENESS, DGH_A, DGH_B, DGH_C, MEMBER, MONDRIAN)
_ASKED = (LIKENESS, DGH_B, MEMBER, MONDRIAN)
_KINDS = ("or", "and", "range")


def _ratios(
    column: str,
    above: Sequence[str],
    below: Sequence[str],
    pick: Pick,
    ks: Sequence[int] | None = None,
    *,
    away: bool = False,
) -> Measure:
    """`above` over each of `below`, picked over pairs and k; `away`: how far that is from 1."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        tops, bottoms = view.lines(above), view.lines([x for x in below if x not in above])
        own = [k for k in view.ks if ks is None or k in ks]
        if not own:
            raise Untestable("there is no such k")
        over_k = mean_of if way == "mean" else pick

        def statistic(mean: Mapping[str, float]) -> float:
            return pick(
                over_k(_over(mean[f"{a}, {k}"], mean[f"{b}, {k}"], away) for k in own)
                for a in tops
                for b in bottoms
            )

        return view.estimate(view.losses((*tops, *bottoms), column, own), statistic)

    return measure


def _over(a: float, b: float, away: bool) -> float:
    ratio = a / b if b else (1.0 if not a else np.inf)
    return abs(ratio - 1) if away else ratio


def _over_lines(
    column: str,
    names: Sequence[str],
    over_k: Callable[[Sequence[int], list[float]], float],
    pick: Pick,
) -> Measure:
    """Return what `over_k` makes of each line's values over k, picked over the lines."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        lines, ks = view.lines(names), view.ks
        if len(ks) < 2:
            raise Untestable("there is one k alone")
        return view.estimate(
            view.losses(lines, column, ks),
            lambda mean: pick(over_k(ks, [mean[f"{name}, {k}"] for k in ks]) for name in lines),
        )

    return measure


def _picked(column: str, names: Sequence[str], pick: Pick) -> Measure:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        runs = view.losses(view.lines(names), column, view.ks)
        return view.estimate(runs, lambda mean: pick(mean.values()))

    return measure


def _error_trend(kind: str, pick: Pick) -> Measure:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        runs, sizes = view.errors(_ASKED, kind, 2)
        return view.estimate(
            runs,
            lambda mean: pick(
                rank_correlation(sizes, [mean[f"{name}, {size}"] for size in sizes])
                for name in _ASKED
            ),
        )

    return measure


def _error_ratio(kind: str, rivals: Sequence[str], most: int | None = None) -> Measure:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        runs, sizes = view.errors((LIKENESS, *rivals), kind, 2)
        own = [size for size in sizes if most is None or size <= most]

        def statistic(mean: Mapping[str, float]) -> float:
            totals = {n: sum(mean[f"{n}, {s}"] for s in own) for n in (LIKENESS, *rivals)}
            return max(_over(totals[LIKENESS], totals[rival], False) for rival in rivals)

        return view.estimate(runs, statistic)

    return measure


def _greatest_error(kind: str, above: int) -> Measure:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        runs, sizes = view.errors((LIKENESS,), kind, 2)
        own = [f"{LIKENESS}, {size}" for size in sizes if size > above]
        return view.estimate(runs, lambda mean: max(mean[each] for each in own))

    return measure


def _work(statistic: Callable[[Sequence[int], list[Mapping[str, float]]], float]) -> Measure:
    """Work is counted; over seeds alone it has an interval."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        ks = view.ks
        found = [statistic(ks, [view.work(k, seed) for k in ks]) for seed in view.bench.seeds]
        return Estimate(float(np.mean(found)), min(found), max(found), len(found))

    return measure


def _trend_of_work(names: Sequence[str], pick: Pick) -> Measure:
    return _work(
        lambda ks, found: pick(rank_correlation(ks, [one[name] for one in found]) for name in names)
    )


def _six(rivals: Sequence[str]) -> Measure:
    """k-Likeness over each rival, greatest over DM, C_AVG, GenILoss, and three kinds of query."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        names = (LIKENESS, *rivals)
        losses = {c: view.losses(names, c, view.ks) for c in ("dm", "c_avg", "loss")}
        errors = {kind: view.errors(names, kind, 2)[0] for kind in _KINDS}
        runs = [
            {
                f"{column}: {key}": value
                for column, each in (losses | errors).items()
                for key, value in each[i].items()
            }
            for i in range(len(view.bench.seeds))
        ]

        def total(mean: Mapping[str, float], column: str, name: str) -> float:
            start = f"{column}: {name}, "
            return sum(value for key, value in mean.items() if key.startswith(start))

        def ratio(mean: Mapping[str, float], column: str, rival: str) -> float:
            if column in _KINDS:
                return _over(total(mean, column, LIKENESS), total(mean, column, rival), False)
            at = (f"{column}: {{}}, {k}" for k in view.ks)
            return mean_of(
                _over(mean[a.format(LIKENESS)], mean[a.format(rival)], False) for a in at
            )

        return view.estimate(
            runs,
            lambda mean: max(
                ratio(mean, column, rival) for column in (*losses, *errors) for rival in rivals
            ),
        )

    return measure


def _ours_errs(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    names = (EXCHANGE, LIKENESS, MEMBER, MONDRIAN)
    runs: list[Run] = [{} for _ in view.bench.seeds]
    for kind in _KINDS:
        for k in QUERY_KS:
            for run, own in zip(runs, view.errors(names, kind, k)[0], strict=True):
                run |= {f"{kind}, {k}: {key}": value for key, value in own.items()}

    def total(mean: Mapping[str, float], name: str) -> float:
        return sum(value for key, value in mean.items() if f": {name}, " in key)

    return view.estimate(
        runs,
        lambda mean: max(
            _over(total(mean, EXCHANGE), total(mean, rival), False) for rival in names[1:]
        ),
    )


def _guarantee(bench: Bench, way: str) -> Estimate:
    names = [name for name in _PAPERS if name in bench.lines]
    return Estimate.exact(
        min(
            float(bench.losses(name, k, seed)["least"][0]) / k
            for name in names
            for k in bench.ks
            for seed in bench.seeds
        )
    )


def _data(bench: Bench, way: str) -> Estimate:
    whole = bench.whole
    size = whole.n_users == 943, whole.n_items == 1_682, whole.n_ratings == 100_000
    return Estimate.exact(
        float(sum(size) + (whole.user_support.min() == 20) + (whole.item_support.min() == 1))
    )


def _selection(bench: Bench, way: str) -> Estimate:
    return Estimate.exact(
        float((bench.ratings.n_users == 927) + (bench.ratings.n_ratings == 4_863))
    )


def _same_order(bench: Bench, way: str) -> Estimate:
    ten, twenty = View(bench, way), View(bench.changed("twenty"), way)
    pairs = list(combinations(ALGORITHMS, 2))
    runs = [
        {f"ten: {key}": value for key, value in a.items()}
        | {f"twenty: {key}": v for key, v in b.items()}
        for a, b in zip(
            ten.losses(ALGORITHMS, "loss", ten.ks),
            twenty.losses(ALGORITHMS, "loss", ten.ks),
            strict=True,
        )
    ]

    def sign(mean: Mapping[str, float], of: str, a: str, b: str, k: int) -> bool:
        return mean[f"{of}: {a}, {k}"] < mean[f"{of}: {b}, {k}"]

    return ten.estimate(
        runs,
        lambda mean: mean_of(
            sign(mean, "ten", a, b, k) == sign(mean, "twenty", a, b, k)
            for a, b in pairs
            for k in ten.ks
        ),
    )


def _steps_of_classes(bench: Bench, way: str) -> Estimate:
    names = ALGORITHMS if way == "lower" else _PAPERS

    def over_k(ks: Sequence[int], classes: list[float]) -> float:
        return min(a / b if way == "lower" else b / a for a, b in pairwise(classes))

    return _over_lines("classes", names, over_k, min)(bench, way)


def _rest_trend(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    ks, seed = view.ks, bench.seeds[0]
    rest = [view.work(k, seed)["rest"] for k in ks]
    return Estimate.exact(rank_correlation([bench.ratings.n_users % k for k in ks], rest))


def _example(name: str) -> Measure:
    return lambda bench, way: Estimate.exact(worked.example(name, three=way == "three"))


def _rest_share(ks: Sequence[int], found: list[Mapping[str, float]]) -> float:
    return mean_of(each["rest"] / each["likeness"] for each in found)


def _times_less(ks: Sequence[int], found: list[Mapping[str, float]]) -> float:
    return sum(each["member"] for each in found) / sum(each["likeness"] for each in found)


def _mondrian(ks: Sequence[int], found: list[Mapping[str, float]]) -> float:
    return max(each["mondrian"] / min(each["likeness"], each["member"]) for each in found)


_DGHS = (DGH_A, DGH_B, DGH_C)
_OTHERS = tuple(name for name in _PAPERS if name != LIKENESS)
_SPREAD = partial(_over_lines, over_k=lambda ks, values: max(values) / min(values))
_RISES = partial(_over_lines, over_k=rank_correlation)
MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "kl-01": _example("queries"),
        "kl-02": _example("dm"),
        "kl-03": _example("c_avg"),
        "kl-04": _example("gen_iloss"),
        "kl-06": lambda b, way: Estimate.exact(theorem.agreement(of_sets=way == "of S")),
        "kl-07": lambda b, way: Estimate.exact(theorem.kept_share(widened=way == "widened")),
        "kl-08": _guarantee,
        "kl-09": _picked("near", (LIKENESS,), min),
        "kl-10": _ratios("loss", (LIKENESS,), _DGHS, max),
        "kl-13": _data,
        "kl-14": _selection,
        "kl-15": _same_order,
        "kl-16": _RISES("dm", _PAPERS, pick=min),
        "kl-17": _ratios("dm", (MONDRIAN,), _PAPERS, min),
        "kl-18": _ratios("dm", (LIKENESS,), _OTHERS, max),
        "kl-19": _ratios("dm", (LIKENESS,), (MEMBER,), max, away=True),
        "kl-20": _ratios("dm", (DGH_C,), (LIKENESS, DGH_A, DGH_B), min),
        "kl-21": _ratios("dm", (DGH_B,), (DGH_A, DGH_C), max),
        "kl-22": _SPREAD("c_avg", _PAPERS, pick=max),
        "kl-23": _steps_of_classes,
        "kl-24": _ratios("c_avg", (LIKENESS,), (MEMBER,), max, away=True),
        "kl-25": _ratios("c_avg", (MONDRIAN,), (LIKENESS, MEMBER), min),
        "kl-26": _picked("c_avg", (LIKENESS, DGH_B, MEMBER), max),
        "kl-27": _picked("exact share", (LIKENESS, MEMBER), min),
        "kl-28": _RISES("loss", _PAPERS, pick=min),
        "kl-29": _ratios("loss", (MEMBER,), _PAPERS, max),
        "kl-30": _ratios("loss", (LIKENESS,), (MONDRIAN,), max),
        "kl-31": _ratios("loss", (LIKENESS,), (MEMBER,), max, range(2, 8), away=True),
        "kl-32": _ratios("loss", (DGH_B,), (DGH_A, DGH_C), max),
        "kl-33": _error_trend("or", max),
        "kl-34": _error_ratio("or", (MEMBER,), FEW),
        "kl-35": _ratios("c_avg", (LIKENESS,), (MEMBER,), max, (2,)),
        "kl-36": _greatest_error("or", 0),
        "kl-37": _error_trend("and", min),
        "kl-38": _error_ratio("and", (MEMBER, MONDRIAN)),
        "kl-39": _error_trend("range", max),
        "kl-40": _error_ratio("range", (MEMBER, MONDRIAN)),
        "kl-41": _greatest_error("range", 1),
        "kl-42": _trend_of_work(("likeness", "mondrian"), max),
        "kl-43": _trend_of_work(("member",), min),
        "kl-44": _work(_mondrian),
        "kl-45": _work(_times_less),
        "kl-46": _work(_rest_share),
        "kl-47": _rest_trend,
        "kl-48": _six((MEMBER, MONDRIAN)),
        "kl-49": _six((MEMBER,)),
        "kl-50": _six((MONDRIAN,)),
        "kl-52": _ratios("loss", (EXCHANGE,), ALGORITHMS, max),
        "kl-53": _ours_errs,
        "kl-54": _picked("c_avg", (EXCHANGE,), max),
    }
)
