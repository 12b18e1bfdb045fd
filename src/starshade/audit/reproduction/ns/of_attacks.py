"""What is measured for claims on attacks: (bench, way) → a statistic with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.tradeoff import trade_off
from starshade.attack.sparsity.nearest import nearest_records
from starshade.attack.view import View
from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.audit.reproduction.ns import under as u
from starshade.audit.reproduction.ns.bench import PHI, Bench, Run, Runs, beside, found_in, within
from starshade.audit.reproduction.ns.configurations import PRINTED, READ
from starshade.audit.reproduction.ns.extra import takes_away
from starshade.audit.reproduction.ns.of_data import matching
from starshade.audit.reproduction.ns.plan import lines_of
from starshade.audit.reproduction.ns.samples import CHANGED
from starshade.audit.reproduction.ns.scorer import scored
from starshade.audit.reproduction.parts import Part
from starshade.ratings.table import Ratings

RHO0, D0 = (0.5, 1.0, 1.5, 3.0), (10.0, 30.0, 60.0, 120.0)
_PHIS = 300  # at which both errors are compared
_LEAST = 0.02  # of a success that may double


def grid(bench: Bench) -> dict[tuple[float, float], Runs]:
    """Attack with other ρ0 and d0 than the paper's."""
    known = u.scaled(bench, u.NOISY)
    settings = [(rho0, d0) for rho0 in RHO0 for d0 in D0]
    return {(r, d): bench.lettered(known, bench.reading(rho0=r, d0=d)) for r, d in settings}


def theirs_is_best(bench: Bench, way: str) -> Estimate:
    """Set the paper's ρ0 and d0 against the best of the grid."""
    runs = beside(**{f"{r} {d}": (each, "success") for (r, d), each in grid(bench).items()})
    return bench.estimate(runs, lambda mean: mean["1.5 30.0"] - max(mean.values()))


def scoreboard_with_mistakes(bench: Bench, way: str) -> Estimate:
    """Ask how often Scoreboard is right where some of what is known is wrong."""
    return u.mean_of(bench, bench.scoreboard(u.WELL), "top1")


def wrong_among_named(bench: Bench, way: str) -> Estimate:
    """Count the wrong ones among records that stand out."""
    named = bench.attacked(u.WELL)
    runs = [{"above": r["named"] & ~r["success"], "below": r["named"]} for r in named]
    return u.ratio_of(bench, runs, "no record stands out")


def weights_help(bench: Bench, way: str) -> Estimate:
    """Take weights away."""
    known = u.known_under(bench, u.WELL, way)
    readings = (bench.reading(), bench.reading(weighted=False))
    one, other = (bench.lettered(known, reading) for reading in readings)
    return u.less_of(bench, beside(one=(one, "success"), other=(other, "success")))


def signed_fails(bench: Bench, way: str) -> Estimate:
    """Score by signed differences, as printed."""
    printed, read = bench.lettered(u.WELL, bench.reading(PRINTED)), bench.attacked(u.WELL)
    runs = beside(above=(printed, "success"), below=(read, "success"))
    return u.ratio_of(bench, runs, "no target is found as read")


def standing_out_helps(bench: Bench, way: str) -> Estimate:
    """Name whoever comes first, and whoever stands out alone."""
    gone = [run["eccentricity"] for run in bench.absent(u.WELL)]
    runs = [{"above": u.reaching(own, PHI), "below": u.reaching(own, 0.0)} for own in gone]
    return u.ratio_of(bench, runs, "no record comes first alone for an absent target")


def wrong_steps(bench: Bench, way: str) -> Estimate:
    """Count the steps of both errors over φ that go the other way."""
    curve = u.error_curve(bench, u.WELL)
    missed, matched = np.diff(curve.false_negative), np.diff(curve.false_match_absent)
    return Estimate.exact(float((missed < 0).sum() + (matched > 0).sum()))


def errors_can_be_equal(bench: Bench, way: str) -> Estimate:
    """Seek the φ at which both errors are nearest to each other."""
    there, gone = u.eccentricities(bench, u.WELL)
    everyone = np.concatenate([*there, *gone])
    phis = np.unique(np.quantile(everyone, np.linspace(0, 1, _PHIS), method="nearest"))
    runs = [
        {f"{phi}": 1.0 - u.reaching(own, phi) - u.reaching(taken, phi) for phi in phis}
        for own, taken in zip(there, gone, strict=True)
    ]
    return bench.estimate(runs, lambda mean: min(map(abs, mean.values())))


def _both_errors(bench: Bench, way: str, *settings: Knowledge) -> Runs:
    of: dict[str, tuple[Runs, str]] = {}
    for n, knowledge in enumerate(settings):
        of[f"found {n}"] = u.present(bench, knowledge, way), "success"
        of[f"named {n}"] = u.present(bench, knowledge, way, absent=True), "named"
    return beside(**of)


def errors_at_phi(bench: Bench, way: str) -> Estimate:
    """Compare both errors at φ = 1.5."""
    settings = [replace(u.WELL, wrong=w, day_error=d) for w in (0, 2) for d in (3, 14)]
    return bench.estimate(
        _both_errors(bench, way, *settings),
        lambda mean: max(abs(1 - mean[f"found {n}"] - mean[f"named {n}"]) for n in range(4)),
    )


def omega(bench: Bench, way: str) -> Estimate:
    """Ask for both: found when there, and nobody named when not."""
    runs = _both_errors(bench, way, u.WELL)
    if way == "equal-phi":
        phi = u.equal_phi(u.error_curve(bench, u.WELL))
        pairs = zip(*u.eccentricities(bench, u.WELL), strict=True)
        runs = [{"found 0": u.reaching(a, phi), "named 0": u.reaching(b, phi)} for a, b in pairs]
    return bench.estimate(runs, lambda mean: min(mean["found 0"], 1 - mean["named 0"]))


def perturbed_is_imprecise(bench: Bench, way: str) -> Estimate:
    """Know days as they were, and attack them moved."""
    exact = replace(u.WELL, day_error=0)

    def make(view: View, known: Known, run: int) -> Run:
        truth = bench.view().original
        return found_in(view, exact.draw(truth, known.users, bench.seed_of(run)))

    moved = bench.each("days moved, known as they were", u.WELL, None, "moved-days", make)
    return u.less_of(
        bench, beside(one=(moved, "success"), other=(bench.attacked(u.WELL), "success"))
    )


def small_noise(bench: Bench, way: str) -> Estimate:
    """Know cells as they were, and attack some of them altered."""
    reading = bench.reading(similarity="threshold") if way == "threshold" else None

    def make(view: View, known: Known, run: int) -> Run:
        told = u.WELL.draw(bench.view().original, known.users, bench.seed_of(run))
        if reading is None:
            return found_in(view, told)
        return scored(view.original, told, within(reading, u.WELL))

    noise = bench.each(
        f"altered, known as they were ({way or READ})", u.WELL, None, "altered", make
    )
    runs = beside(above=(noise, "success"), below=(u.present(bench, u.WELL, way), "success"))
    return u.ratio_of(bench, runs, "no target is found")


def _least_step(bench: Bench, ends: dict[str, tuple[Runs, str]]) -> Estimate:
    """Return the least of "last …" less "first …", each of the same people."""
    lines = [name.removeprefix("first ") for name in ends if name.startswith("first ")]
    if not lines:
        raise Untestable("no eligible target")
    sizes = {name: len(runs[0][key]) for name, (runs, key) in ends.items()}
    most = max(sizes.values())
    lines = [name for name in lines if sizes[f"first {name}"] == most]
    runs = beside(**{name: end for name, end in ends.items() if name.split(" ", 1)[1] in lines})
    return u.least_of(bench, runs, [(f"last {name}", f"first {name}") for name in lines])


def rises_with_known(bench: Bench, way: str) -> Estimate:
    """Follow success along every line of the figures."""
    ends: dict[str, tuple[Runs, str]] = {}
    for figure in ("4", "8", "9", "10", "12"):
        for n, line in enumerate(lines_of(figure, bench.star)):
            among = u.widest(*line.settings)
            for at, knowledge in (("first", line.settings[0]), ("last", line.settings[-1])):
                try:
                    ends[f"{at} {figure} {n}"] = bench.attacked(knowledge, "", among), u.key_of(way)
                except Untestable:
                    continue
    return _least_step(bench, ends)


def falls_with_error(bench: Bench, way: str) -> Estimate:
    """Make what is known worse in five ways."""
    exact = Knowledge(known=8, day_error=14)
    pairs = {
        "days": (exact, replace(exact, day_error=3)),
        "no days": (replace(exact, day_error=None), exact),
        "ratings": (replace(exact, rating_error=bench.star), exact),
        "values": (u.WELL, exact),
        "items": (replace(u.WELL, wrong_kind="item"), exact),
    }
    ends: dict[str, tuple[Runs, str]] = {}
    among = u.widest(*pairs["items"])
    for name, pair in pairs.items():
        for at, knowledge in zip(("first", "last"), pair, strict=True):
            ends[f"{at} {name}"] = bench.attacked(knowledge, "", among), u.key_of(way)
    return _least_step(bench, ends)


def found_in_tenth(bench: Bench, way: str) -> Estimate:
    """Seek people in a random tenth, and the same people among all."""
    tenths = bench.tenth(u.WELL)
    one, other = ([run[who] for run in tenths] for who in ("in it", "among all"))
    return u.less_of(bench, beside(one=(one, u.key_of(way)), other=(other, u.key_of(way))))


def absent_from_tenth(bench: Bench, way: str) -> Estimate:
    """Seek people in a random tenth that they are not in."""
    reading = within(bench.reading(similarity="threshold"), u.WELL) if way == "threshold" else None
    known, phi = u.known_under(bench, u.WELL, way), PHI
    tenths = bench.tenth(known, reading, way if way in CHANGED else "")
    if way == "equal-phi":
        right = np.concatenate([r["in it"]["eccentricity"] * r["in it"]["right"] for r in tenths])
        gone = np.concatenate([run["outside"]["eccentricity"] for run in tenths])
        phi = u.equal_phi(trade_off(right, gone, PHI))
    runs = [{"named": u.reaching(run["outside"]["eccentricity"], phi)} for run in tenths]
    return bench.estimate(runs, lambda mean: 1 - mean["named"])


def extra_takes_away(bench: Bench, way: str) -> Estimate:
    """Count the false matches that the number of ratings and the first day take away."""
    named = takes_away(bench, u.LITTLE, after=way == "rejected")
    pairs = zip(named["no further knowledge"], named["both"], strict=True)
    runs = [{"above": 1.0 * a["named"] - b["named"], "below": a["named"]} for a, b in pairs]
    return u.ratio_of(bench, runs, "no absent target has a match, so none can be removed")


def columns_reveal(bench: Bench, way: str) -> Estimate:
    """Count the records that as many others have whose columns alone are the same."""
    columns, values = bench.view("all-columns").copies, bench.view().copies
    if (values == bench.ratings.n_users).all():
        raise Untestable("all records are equal")
    return Estimate.exact(float((columns == values).mean()))


def bits_of_others(bench: Bench, way: str) -> Estimate:
    """Count the bits missing of those who are not found."""
    runs = u.present(bench, u.LITTLE, way)
    others = [{"above": r["bits"] * ~r["success"], "below": ~r["success"]} for r in runs]
    return u.ratio_of(bench, others, "all targets are found")


def bits_known_well(bench: Bench, way: str) -> Estimate:
    """Count the bits missing of all."""
    return u.mean_of(bench, u.present(bench, u.WELL, way), "bits")


def popularity(bench: Bench, way: str) -> Estimate:
    """Compare known items of any popularity with less and less popular ones."""
    settings = {f"top {n}": replace(u.NOISY, outside_top=n) for n in (0, 100, 500)}
    runs = u.found(bench, way, u.widest(*settings.values()), **settings)
    return bench.estimate(
        runs, lambda mean: max(abs(a - b) for a, b in combinations(mean.values(), 2))
    )


def worst_bits(bench: Bench, way: str) -> Estimate:
    """Seek the worst point of Fig. 11."""
    prior = np.log2(max(bench.ratings.n_users, 2))
    runs = []
    for line in lines_of("6" if way == "caption" else "11", bench.star):
        for knowledge in line.settings:
            try:
                runs.append(u.present(bench, knowledge, way))
            except Untestable:
                continue
    if not runs:
        raise Untestable("no eligible target")
    size = max(len(each[0]["bits"]) for each in runs)
    of = {str(n): (each, "bits") for n, each in enumerate(runs) if len(each[0]["bits"]) == size}
    return bench.estimate(beside(**of), lambda mean: max(mean.values()) / prior)


def number_helps(bench: Bench, way: str) -> Estimate:
    """Seek the point of Fig. 12 at which the number of ratings helps most."""
    of: dict[str, tuple[Runs, str]] = {}
    settings = [k for line in lines_of("12", bench.star) for k in line.settings]
    among, names = Knowledge(known=8), []
    for knowledge in (each for each in settings if not each.about_count):
        plain = u.present(bench, knowledge, way, among)
        if np.mean([run["success"].mean() for run in plain]) >= _LEAST:
            names.append(knowledge.name)
            told = u.present(bench, replace(knowledge, about_count=True), way, among)
            of[f"without {names[-1]}"], of[f"with {names[-1]}"] = (
                (plain, "success"),
                (told, "success"),
            )
    if not names:
        raise Untestable("without the number no target is found")
    return bench.estimate(
        beside(**of),
        lambda mean: max(mean[f"with {n}"] / max(mean[f"without {n}"], _LEAST) for n in names),
    )


def _halves(bench: Bench, **of: tuple[Runs, str]) -> Runs:
    """Part people in those with less and with more similar peers; figures of each half."""

    def make(view: View, known: Known, run: int) -> Part:
        return {"near": nearest_records(view.original, known.users, bench.star, 0)[0][:, 0]}

    eight = Knowledge(known=8, ratings=False, dates=False)
    near = [run["near"] for run in bench.each("nearest records", eight, None, "", make)]
    if all(len(np.unique(own)) == 1 for own in near):
        raise Untestable("all records have equally similar peers")
    runs = []
    for own, figures in zip(near, beside(**of), strict=True):
        sparse = np.argsort(np.argsort(own, kind="stable")) < len(own) // 2
        sides = {"sparse": sparse, "crowded": ~sparse}
        runs.append(
            sides
            | {
                f"{side} {name}": on * each
                for side, on in sides.items()
                for name, each in figures.items()
            }
        )
    return runs


def _apart(mean: Mapping[str, float], name: str) -> float:
    """Return a mean of the sparse half less that of the crowded one."""
    sparse, crowded = (mean[f"{side} {name}"] / mean[side] for side in ("sparse", "crowded"))
    return sparse - crowded


def sparse_are_found(bench: Bench, way: str) -> Estimate:
    """Compare success on people with less and with more similar peers."""
    runs = _halves(bench, found=(u.present(bench, u.WELL, way), u.key_of(way)))
    return _unlike(bench.estimate(runs, lambda mean: _apart(mean, "found")))


def sparse_need_less(bench: Bench, way: str) -> Estimate:
    """Compare how many items must be known until nobody else has them all."""

    def make(view: View, known: Known, run: int) -> Part:
        rng = np.random.default_rng(bench.seed_of(run))
        own = [_until_alone(view.original, rng.permutation(items)) for items in known.items]
        return {"items": np.array(own, np.float64)}

    eight = Knowledge(known=8, ratings=False, dates=False)
    until = bench.each("items until alone", eight, None, "", make)
    return bench.estimate(_halves(bench, items=(until, "items")), lambda m: _apart(m, "items"))


def _until_alone(table: Ratings, items: NDArray[np.int32]) -> int:
    for n in range(1, len(items) + 1):
        if len(matching(table, items[:n])) == 1:
            return n
    return len(items) + 1


def sparse_bear_errors(bench: Bench, way: str) -> Estimate:
    """Compare what is lost by mistakes, and by days that are known less well."""
    right = replace(u.WELL, wrong=0)
    settings = {"right": right, "wrong": u.WELL, "near": replace(right, day_error=3)}
    runs = _halves(
        bench, **{n: (u.present(bench, of, way), u.key_of(way)) for n, of in settings.items()}
    )

    def lost(mean: Mapping[str, float]) -> float:
        wrong, right, near = (_apart(mean, name) for name in ("wrong", "right", "near"))
        return max(right - wrong, near - right)

    return _unlike(bench.estimate(runs, lost))


def _unlike(found: Estimate) -> Estimate:
    if found.low == found.high == 0:
        raise Untestable("both halves are equal")
    return found
