"""What is measured for each claim about attacks: (bench, way) → a statistic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.tradeoff import SLACK, TradeOff, trade_off
from starshade.attack.view import View
from starshade.audit.reproduction.claims import Estimate, Floats, Untestable
from starshade.audit.reproduction.ns.bench import PHI, Bench, Run, Runs, beside, found_in, within
from starshade.audit.reproduction.ns.configurations import PRINTED, READ
from starshade.audit.reproduction.ns.extra import takes_away
from starshade.audit.reproduction.ns.plan import lines_of
from starshade.audit.reproduction.ns.samples import CHANGED
from starshade.audit.reproduction.ns.scorer import scored

WELL = Knowledge(known=8, wrong=2, day_error=14)
LITTLE = Knowledge(known=2, day_error=3)
RARE = Knowledge(known=8, wrong=2, day_error=None, outside_top=500)
UNDATED = Knowledge(known=8, day_error=None)


def noisy(bench: Bench) -> Knowledge:
    """Return ratings ±1, days ±14, 6 of 8 right: Figs 9, 10 and 12."""
    return replace(WELL, rating_error=bench.star)


def error_curve(bench: Bench, knowledge: Knowledge, way: str = "") -> TradeOff:
    """Return both errors over φ, of all runs together."""
    there, gone = _present(bench, knowledge, way), _gone(bench, knowledge, way)
    found = np.concatenate([run["eccentricity"] * run["right"] for run in there])
    named = np.concatenate([run["eccentricity"] for run in gone])
    return trade_off(found, named, PHI)


def _equal_phi(curve: TradeOff) -> float:
    if curve.equal_error_phi is None:
        raise Untestable(f"both errors are nowhere equal: {curve.reason}")
    return curve.equal_error_phi


def _over(run: Run, phi: float) -> Floats:
    eccentricity = run["eccentricity"]
    return ((eccentricity > 0) & (eccentricity >= phi * (1 - SLACK))).astype(np.float64)


def _known(bench: Bench, knowledge: Knowledge, way: str) -> Knowledge:
    """Return what is known under a way that changes this."""
    if way == "top-share":
        return replace(knowledge, outside_top=bench.as_large(knowledge.outside_top))
    if way == "all-right":
        return replace(knowledge, wrong=0)
    return replace(knowledge, day_error=None) if way == "no-dates" else knowledge


def _present(
    bench: Bench, knowledge: Knowledge, way: str = "", among: Knowledge | None = None
) -> Runs:
    knowledge = _known(bench, knowledge, way)
    if way == "threshold":
        return bench.lettered(knowledge, bench.reading(similarity="threshold"), among)
    return bench.attacked(knowledge, way if way in CHANGED else "", among)


def _gone(bench: Bench, knowledge: Knowledge, way: str = "") -> Runs:
    knowledge = _known(bench, knowledge, way)
    if way == "threshold":
        return bench.lettered(knowledge, bench.reading(similarity="threshold"), absent=True)
    return bench.absent(knowledge, way if way in CHANGED else "")


def _key(way: str) -> str:
    return "top1" if way == "answer" else "success"


def _found(
    bench: Bench, way: str, among: Knowledge | None = None, **settings: Knowledge
) -> list[dict[str, Floats]]:
    """Return success under a way, by setting; `among`: the same people in all of them."""
    of: dict[str, tuple[Runs, str]] = {}
    for name, knowledge in settings.items():
        found: Runs = _present(bench, knowledge, way, among)
        if way == "equal-phi":
            phi = _equal_phi(error_curve(bench, knowledge))
            found = [{"success": _over(run, phi) * run["right"]} for run in found]
        of[name] = found, _key(way)
    return beside(**of)


def _ratio(bench: Bench, way: str, above: Knowledge, below: Knowledge) -> Estimate:
    runs = _found(bench, way, _widest(above, below), above=above, below=below)
    if not any(run["below"].any() for run in runs):
        raise Untestable("nobody is found with what it is compared to")
    return bench.estimate(runs, lambda mean: mean["above"] / max(mean["below"], 1e-9))


def _less(bench: Bench, way: str, one: Knowledge, other: Knowledge) -> Estimate:
    runs = _found(bench, way, _widest(one, other), one=one, other=other)
    return bench.estimate(runs, lambda mean: mean["one"] - mean["other"])


def _widest(*settings: Knowledge) -> Knowledge:
    """Return what asks most of a person: who can be attacked so can be in every setting."""
    items = [knowledge.wrong for knowledge in settings if knowledge.wrong_kind == "item"]
    return Knowledge(
        known=max(knowledge.known for knowledge in settings),
        outside_top=max(knowledge.outside_top for knowledge in settings),
        wrong=max(items, default=0),
        wrong_kind="item" if items else "value",
    )


def _success(bench: Bench, way: str, knowledge: Knowledge) -> Estimate:
    return bench.estimate(_found(bench, way, it=knowledge), lambda mean: mean["it"])


def known_well(bench: Bench, way: str) -> Estimate:
    """Measure ns-41."""
    return _success(bench, way, WELL)


def known_little(bench: Bench, way: str) -> Estimate:
    """Measure ns-42."""
    return _success(bench, way, LITTLE)


def rare_known_well(bench: Bench, way: str) -> Estimate:
    """Measure ns-52."""
    return _success(bench, way, RARE)


def two_without_dates(bench: Bench, way: str) -> Estimate:
    """Measure ns-51."""
    return _success(bench, way, Knowledge(known=2, day_error=None, outside_top=500))


def without_dates(bench: Bench, way: str) -> Estimate:
    """Measure ns-53."""
    return _success(bench, way, replace(RARE, outside_top=100))


def tolerates_values(bench: Bench, way: str) -> Estimate:
    """Measure ns-31."""
    return _ratio(bench, way, WELL, Knowledge(known=6, day_error=14))


def tolerates_days(bench: Bench, way: str) -> Estimate:
    """Measure ns-32."""
    return _ratio(bench, way, WELL, replace(WELL, day_error=3))


def tolerates_items(bench: Bench, way: str) -> Estimate:
    """Measure ns-55."""
    wrong = replace(noisy(bench), wrong_kind="item")
    return _ratio(bench, way, wrong, replace(noisy(bench), known=6, wrong=0))


def rare_helps(bench: Bench, way: str) -> Estimate:
    """Measure ns-34."""
    return _less(bench, way, replace(UNDATED, outside_top=100), UNDATED)


def items_worse_than_values(bench: Bench, way: str) -> Estimate:
    """Measure ns-56."""
    return _less(bench, way, noisy(bench), replace(noisy(bench), wrong_kind="item"))


def scoreboard_with_mistakes(bench: Bench, way: str) -> Estimate:
    """Measure ns-30."""
    runs = [{"top1": run["top1"]} for run in bench.scoreboard(WELL)]
    return bench.estimate(runs, lambda mean: mean["top1"])


def wrong_among_named(bench: Bench, way: str) -> Estimate:
    """Measure ns-33."""
    found = bench.attacked(WELL)
    if not any(run["named"].any() for run in found):
        raise Untestable("no record stands out")
    runs = beside(named=(found, "named"), right=(found, "success"))
    return bench.estimate(runs, lambda mean: 1 - mean["right"] / max(mean["named"], 1e-9))


def weights_help(bench: Bench, way: str) -> Estimate:
    """Measure ns-35."""
    known = _known(bench, WELL, way)
    plain = bench.lettered(known, bench.reading(weighted=False))
    runs = beside(
        with_=(bench.lettered(known, bench.reading()), "success"), without=(plain, "success")
    )
    return bench.estimate(runs, lambda mean: mean["with_"] - mean["without"])


def signed_fails(bench: Bench, way: str) -> Estimate:
    """Measure ns-68."""
    printed = bench.lettered(WELL, bench.reading(PRINTED))
    runs = beside(printed=(printed, "success"), read=(bench.attacked(WELL), "success"))
    if not any(run["read"].any() for run in runs):
        raise Untestable("nobody is found as read")
    return bench.estimate(runs, lambda mean: mean["printed"] / max(mean["read"], 1e-9))


def standing_out_helps(bench: Bench, way: str) -> Estimate:
    """Measure ns-36."""
    runs = [{"at": _over(run, PHI), "none": _over(run, 0.0)} for run in bench.absent(WELL)]
    return bench.estimate(runs, lambda mean: mean["at"] / max(mean["none"], 1e-9))


def wrong_steps(bench: Bench, way: str) -> Estimate:
    """Measure ns-37."""
    curve = error_curve(bench, WELL)
    missed, matched = np.diff(curve.false_negative), np.diff(curve.false_match_absent)
    return Estimate.exact(float((missed < 0).sum() + (matched > 0).sum()))


def errors_can_be_equal(bench: Bench, way: str) -> Estimate:
    """Measure ns-38."""
    curve = error_curve(bench, WELL)
    gaps = np.abs(np.array(curve.false_negative) - np.array(curve.false_match_absent))
    return Estimate.exact(float(gaps.min()))


def errors_at_phi(bench: Bench, way: str) -> Estimate:
    """Measure ns-39."""
    settings = [replace(WELL, wrong=w, day_error=d) for w in (0, 2) for d in (3, 14)]
    return bench.estimate(
        _both_errors(bench, way, settings),
        lambda mean: max(
            abs(1 - mean[f"found {n}"] - mean[f"named {n}"]) for n in range(len(settings))
        ),
    )


def _both_errors(bench: Bench, way: str, settings: list[Knowledge]) -> list[dict[str, Floats]]:
    of: dict[str, tuple[Runs, str]] = {}
    for n, knowledge in enumerate(settings):
        of[f"found {n}"] = _present(bench, knowledge, way), "success"
        of[f"named {n}"] = _gone(bench, knowledge, way), "named"
    return beside(**of)


def omega(bench: Bench, way: str) -> Estimate:
    """Measure ns-47."""
    if way == "equal-phi":
        phi = _equal_phi(error_curve(bench, WELL))
        pairs = zip(bench.attacked(WELL), bench.absent(WELL), strict=True)
        runs = [{"found 0": _over(a, phi) * a["right"], "named 0": _over(b, phi)} for a, b in pairs]
    else:
        runs = _both_errors(bench, way, [WELL])
    return bench.estimate(runs, lambda mean: min(mean["found 0"], 1 - mean["named 0"]))


def perturbed_is_imprecise(bench: Bench, way: str) -> Estimate:
    """Known as it was, attacked as it was published."""

    def make(view: View, known: Known, run: int) -> Run:
        truth = bench.view().original
        return found_in(
            view, replace(WELL, day_error=0).draw(truth, known.users, bench.seed_of(run))
        )

    moved = bench.each("days moved, known as they were", WELL, None, "moved-days", make)
    runs = beside(moved=(moved, "success"), known=(bench.attacked(WELL), "success"))
    return bench.estimate(runs, lambda mean: mean["moved"] - mean["known"])


def small_noise(bench: Bench, way: str) -> Estimate:
    """Known as it was, attacked with some cells altered."""
    reading = bench.reading(similarity="threshold") if way == "threshold" else None

    def make(view: View, known: Known, run: int) -> Run:
        told = WELL.draw(bench.view().original, known.users, bench.seed_of(run))
        if reading is None:
            return found_in(view, told)
        return scored(view.original, told, within(reading, WELL))

    noise = bench.each(f"altered, known as they were ({way or READ})", WELL, None, "altered", make)
    runs = beside(noise=(noise, "success"), plain=(_present(bench, WELL, way), "success"))
    if not any(run["plain"].any() for run in runs):
        raise Untestable("nobody is found")
    return bench.estimate(runs, lambda mean: mean["noise"] / max(mean["plain"], 1e-9))


def bits_of_others(bench: Bench, way: str) -> Estimate:
    """Measure ns-43."""
    runs = [
        {"bits": run["bits"] * (1 - run["success"]), "others": 1 - run["success"]}
        for run in _present(bench, LITTLE, way)
    ]
    return bench.estimate(runs, lambda mean: mean["bits"] / max(mean["others"], 1e-9))


def bits_known_well(bench: Bench, way: str) -> Estimate:
    """Measure ns-44."""
    runs = [{"bits": run["bits"]} for run in _present(bench, WELL, way)]
    return bench.estimate(runs, lambda mean: mean["bits"])


def rises_with_known(bench: Bench, way: str) -> Estimate:
    """Measure ns-45."""
    ends: dict[str, tuple[Runs, str]] = {}
    key = _key(way)
    for figure in ("4", "8", "9", "10", "12"):
        for n, line in enumerate(lines_of(figure, bench.star)):
            among = _widest(*line.settings)
            for at, knowledge in (("first", line.settings[0]), ("last", line.settings[-1])):
                try:
                    ends[f"{at} {figure} {n}"] = bench.attacked(knowledge, "", among), key
                except Untestable:
                    continue
    return _least_step(bench, ends)


def _least_step(bench: Bench, ends: dict[str, tuple[Runs, str]]) -> Estimate:
    """Return the least of "last …" less "first …", each of the same people."""
    lines = [name.removeprefix("first ") for name in ends if name.startswith("first ")]
    if not lines:
        raise Untestable("nobody of whom so much can be known")
    sizes = {name: len(runs[0][key]) for name, (runs, key) in ends.items()}
    most = max(sizes.values())
    lines = [name for name in lines if sizes[f"first {name}"] == most]
    runs = beside(**{name: end for name, end in ends.items() if name.split(" ", 1)[1] in lines})
    return bench.estimate(
        runs, lambda mean: min(mean[f"last {name}"] - mean[f"first {name}"] for name in lines)
    )


def falls_with_error(bench: Bench, way: str) -> Estimate:
    """Measure ns-46."""
    exact, star = Knowledge(known=8, day_error=14), bench.star
    pairs = {
        "days": (exact, replace(exact, day_error=3)),
        "no days": (replace(exact, day_error=None), exact),
        "ratings": (replace(exact, rating_error=star), exact),
        "values": (WELL, exact),
        "items": (replace(WELL, wrong_kind="item"), exact),
    }
    ends: dict[str, tuple[Runs, str]] = {}
    key, among = _key(way), _widest(*pairs["items"])
    for name, (worse, better) in pairs.items():
        ends[f"first {name}"] = bench.attacked(worse, "", among), key
        ends[f"last {name}"] = bench.attacked(better, "", among), key
    return _least_step(bench, ends)


def found_in_tenth(bench: Bench, way: str) -> Estimate:
    """Measure ns-48."""
    key = "top1" if way == "answer" else "success"
    runs = [{"tenth": run["in it"][key], "all": run["among all"][key]} for run in bench.tenth(WELL)]
    return bench.estimate(runs, lambda mean: mean["tenth"] - mean["all"])


def absent_from_tenth(bench: Bench, way: str) -> Estimate:
    """Measure ns-49."""
    reading = None
    if way == "threshold":
        reading = within(bench.reading(similarity="threshold"), WELL)
    found, phi = bench.tenth(WELL, reading), PHI
    if way == "equal-phi":
        right = np.concatenate([r["in it"]["eccentricity"] * r["in it"]["right"] for r in found])
        gone = np.concatenate([run["outside"]["eccentricity"] for run in found])
        phi = _equal_phi(trade_off(right, gone, PHI))
    runs = [{"named": _over(run["outside"], phi)} for run in found]
    return bench.estimate(runs, lambda mean: 1 - mean["named"])


def extra_takes_away(bench: Bench, way: str) -> Estimate:
    """Measure ns-50."""
    found = takes_away(bench, LITTLE, after=way == "rejected")
    runs = beside(none=(found["nothing more"], "named"), both=(found["both"], "named"))
    if not any(run["none"].any() for run in runs):
        raise Untestable("nobody absent is named, so nothing can be taken away")
    return bench.estimate(runs, lambda mean: 1 - mean["both"] / max(mean["none"], 1e-9))


def popularity(bench: Bench, way: str) -> Estimate:
    """Measure ns-54."""
    settings = {f"top {n}": replace(noisy(bench), outside_top=n) for n in (0, 100, 500)}
    runs = _found(bench, way, _widest(*settings.values()), **settings)
    return bench.estimate(
        runs, lambda mean: max(abs(a - b) for a, b in combinations(mean.values(), 2))
    )


def worst_bits(bench: Bench, way: str) -> Estimate:
    """Measure ns-57."""
    prior = np.log2(max(bench.ratings.n_users, 2))
    runs = []
    for knowledge in _of_figure_11(bench, way):
        try:
            runs.append(_present(bench, knowledge, way))
        except Untestable:
            continue
    if not runs:
        raise Untestable("nobody of whom so much can be known")
    size = max(len(each[0]["bits"]) for each in runs)
    of = {str(n): (each, "bits") for n, each in enumerate(runs) if len(each[0]["bits"]) == size}
    return bench.estimate(beside(**of), lambda mean: max(mean.values()) / prior)


def _of_figure_11(bench: Bench, way: str) -> Iterator[Knowledge]:
    for line in lines_of("6" if way == "caption" else "11", bench.star):
        yield from line.settings


def number_helps(bench: Bench, way: str) -> Estimate:
    """Measure ns-58."""
    of: dict[str, tuple[Runs, str]] = {}
    among = Knowledge(known=8)
    for line in lines_of("12", bench.star):
        for knowledge in line.settings:
            if not knowledge.about_count:
                told = replace(knowledge, about_count=True)
                of[f"without {knowledge.name}"] = _present(bench, knowledge, way, among), "success"
                of[f"with {knowledge.name}"] = _present(bench, told, way, among), "success"
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


RHO0 = (0.5, 1.0, 1.5, 3.0)
D0 = (10.0, 30.0, 60.0, 120.0)


def grid(bench: Bench) -> dict[tuple[float, float], Runs]:
    """Attack with other ρ0 and d0 than the paper's."""
    settings = [(rho0, d0) for rho0 in RHO0 for d0 in D0]
    return {
        (rho0, d0): bench.lettered(noisy(bench), bench.reading(rho0=rho0, d0=d0))
        for rho0, d0 in settings
    }


def theirs_is_best(bench: Bench, way: str) -> Estimate:
    """Measure ns-59."""
    runs = beside(**{f"{rho0} {d0}": (each, "success") for (rho0, d0), each in grid(bench).items()})
    return bench.estimate(runs, lambda mean: mean["1.5 30.0"] - max(mean.values()))


def columns_reveal(bench: Bench, way: str) -> Estimate:
    """Measure ns-61."""
    with_ratings = replace(RARE, outside_top=0)
    alone = replace(with_ratings, ratings=False)
    prior = float(np.log2(max(bench.ratings.n_users, 2)))
    runs = beside(
        alone=(_present(bench, alone, way), "bits"),
        ratings=(_present(bench, with_ratings, way), "bits"),
    )
    return bench.estimate(
        runs, lambda mean: (prior - mean["alone"]) / max(prior - mean["ratings"], 1e-9)
    )
