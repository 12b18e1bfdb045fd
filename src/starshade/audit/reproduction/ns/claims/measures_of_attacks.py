"""What is measured for claims on attacks: mistakes, absence, what was published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.tradeoff import trade_off
from starshade.attack.view import View
from starshade.audit.reproduction.claims import Estimate, Untestable
from starshade.audit.reproduction.ns.bench import PHI, Bench, Run, Runs, beside, found_in, within
from starshade.audit.reproduction.ns.claims.under import (
    LITTLE,
    RARE,
    UNDATED,
    WELL,
    equal_phi,
    error_curve,
    gone,
    key_of,
    known_under,
    less,
    over,
    present,
    ratio,
    widest,
)
from starshade.audit.reproduction.ns.configurations import PRINTED, READ
from starshade.audit.reproduction.ns.extra import takes_away
from starshade.audit.reproduction.ns.plan import lines_of
from starshade.audit.reproduction.ns.scorer import scored


def _both_errors(bench: Bench, way: str, settings: list[Knowledge]) -> Runs:
    of: dict[str, tuple[Runs, str]] = {}
    for n, knowledge in enumerate(settings):
        of[f"found {n}"] = present(bench, knowledge, way), "success"
        of[f"named {n}"] = gone(bench, knowledge, way), "named"
    return beside(**of)


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


def tolerates_values(bench: Bench, way: str) -> Estimate:
    """Measure ns-31."""
    return ratio(bench, way, WELL, Knowledge(known=6, day_error=14))


def tolerates_days(bench: Bench, way: str) -> Estimate:
    """Measure ns-32."""
    return ratio(bench, way, WELL, replace(WELL, day_error=3))


def rare_helps(bench: Bench, way: str) -> Estimate:
    """Measure ns-34."""
    return less(bench, way, replace(UNDATED, outside_top=100), UNDATED)


def scoreboard_with_mistakes(bench: Bench, way: str) -> Estimate:
    """Measure ns-30."""
    runs = beside(top1=(bench.scoreboard(WELL), "top1"))
    return bench.estimate(runs, lambda mean: mean["top1"])


def wrong_among_named(bench: Bench, way: str) -> Estimate:
    """Measure ns-33."""
    found = bench.attacked(WELL)
    if not any(run["named"].any() for run in found):
        raise Untestable("no record stands out")
    runs = [{"wrong": run["named"] & ~run["success"], "named": run["named"]} for run in found]
    return bench.estimate(runs, lambda mean: mean["wrong"] / max(mean["named"], 1e-9))


def weights_help(bench: Bench, way: str) -> Estimate:
    """Measure ns-35."""
    known = known_under(bench, WELL, way)
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
    runs = [{"at": over(run, PHI), "none": over(run, 0.0)} for run in bench.absent(WELL)]
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


def omega(bench: Bench, way: str) -> Estimate:
    """Measure ns-47."""
    if way == "equal-phi":
        phi = equal_phi(error_curve(bench, WELL))
        pairs = zip(bench.attacked(WELL), bench.absent(WELL), strict=True)
        runs = [{"found 0": over(a, phi) * a["right"], "named 0": over(b, phi)} for a, b in pairs]
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
    runs = beside(noise=(noise, "success"), plain=(present(bench, WELL, way), "success"))
    if not any(run["plain"].any() for run in runs):
        raise Untestable("nobody is found")
    return bench.estimate(runs, lambda mean: mean["noise"] / max(mean["plain"], 1e-9))


def rises_with_known(bench: Bench, way: str) -> Estimate:
    """Measure ns-45."""
    ends: dict[str, tuple[Runs, str]] = {}
    key = key_of(way)
    for figure in ("4", "8", "9", "10", "12"):
        for n, line in enumerate(lines_of(figure, bench.star)):
            among = widest(*line.settings)
            for at, knowledge in (("first", line.settings[0]), ("last", line.settings[-1])):
                try:
                    ends[f"{at} {figure} {n}"] = bench.attacked(knowledge, "", among), key
                except Untestable:
                    continue
    return _least_step(bench, ends)


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
    key, among = key_of(way), widest(*pairs["items"])
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
        phi = equal_phi(trade_off(right, gone, PHI))
    runs = [{"named": over(run["outside"], phi)} for run in found]
    return bench.estimate(runs, lambda mean: 1 - mean["named"])


def extra_takes_away(bench: Bench, way: str) -> Estimate:
    """Measure ns-50."""
    found = takes_away(bench, LITTLE, after=way == "rejected")
    runs = beside(none=(found["nothing more"], "named"), both=(found["both"], "named"))
    if not any(run["none"].any() for run in runs):
        raise Untestable("nobody absent is named, so nothing can be taken away")
    return bench.estimate(runs, lambda mean: 1 - mean["both"] / max(mean["none"], 1e-9))


def columns_reveal(bench: Bench, way: str) -> Estimate:
    """Measure ns-61."""
    with_ratings = replace(RARE, outside_top=0)
    alone = replace(with_ratings, ratings=False)
    prior = float(np.log2(max(bench.ratings.n_users, 2)))
    runs = beside(
        alone=(present(bench, alone, way), "bits"),
        ratings=(present(bench, with_ratings, way), "bits"),
    )
    return bench.estimate(
        runs, lambda mean: (prior - mean["alone"]) / max(prior - mean["ratings"], 1e-9)
    )
