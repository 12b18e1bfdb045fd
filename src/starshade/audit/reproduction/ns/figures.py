"""NS's figures of attacks on any data, drawn from what a bench measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.tradeoff import TradeOff
from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.figures import Figure, Level, Point, Series, Skipped
from starshade.audit.reproduction.ns import plan
from starshade.audit.reproduction.ns.bench import Bench, Run, Runs, why_impossible
from starshade.audit.reproduction.ns.configurations import OURS, PRINTED, READ
from starshade.audit.reproduction.ns.extra import takes_away
from starshade.audit.reproduction.ns.samples import FEWEST
from starshade.audit.reproduction.ns.under import LITTLE, WELL, error_curve
from starshade.figure import Rate
from starshade.plain import counted

_WHOLE, _NO_DATES = "the whole figure", "the data have no dates"
_LARGEST_PHI = 6
_KNOWN = (2, 4, 6, 8)
#: (what measures, what is known) → a rate; None: there is nobody of whom it speaks
_Measure: TypeAlias = Callable[[Bench, Knowledge], Rate | None]


def skipped(bench: Bench) -> tuple[Skipped, ...]:
    """Name figures, and single points, that the data cannot give."""
    left = []
    if not bench.can_sample:
        why = f"{counted(bench.ratings.n_users, 'user')}: a sample takes {FEWEST} or more"
        left += [Skipped(figure, _WHOLE, why) for figure in ("1b", *["5c"] * bench.dated)]
    if not bench.dated:
        left += [Skipped(figure, "the curve with dates", _NO_DATES) for figure in ("1", "7")]
        left += [Skipped(figure, _WHOLE, _NO_DATES) for figure in (*plan.DATED, *_ALSO)]
    for figure in plan.NUMBERS:
        if bench.dated or figure not in plan.DATED:
            for line in plan.lines_of(figure, bench.star):
                left += _skipped(bench, figure, line)
    return tuple(left)


def _skipped(bench: Bench, figure: str, line: plan.Line) -> list[Skipped]:
    """Name the points of a line that the data cannot give; the line alone, if it has no other."""
    missing = {k: why for k in line.settings if (why := why_impossible(bench.ratings, k))}
    if not missing:
        return []
    points = (
        "" if len(missing) == len(line.settings) else ": " + ", ".join(map(plan.label_of, missing))
    )
    reasons = set(missing.values())
    why = reasons.pop() if len(reasons) == 1 else "no user has enough ratings"
    return [Skipped(figure, f"{line.name}, {line.mistakes}{points}", why)]


def attack_figures(bench: Bench) -> Iterator[Figure]:
    """Draw up the figures of attacks; those without any point are left out."""
    for number in plan.NUMBERS:
        if bench.dated or number not in plan.DATED:
            drawn = _figure(bench, number)
            if drawn.series:
                yield drawn
    for number, also in _ALSO.items():
        if bench.dated and (bench.can_sample or number != "5c"):
            drawn = also(bench)
            if drawn.series:
                yield drawn


def _figure(bench: Bench, number: str) -> Figure:
    measures = _MEASURES[number]
    lines = [(line, READ) for line in plan.lines_of(number, bench.star)]
    if number == "11" and bench.dated:  # as its caption has it
        lines += [(line, PRINTED) for line in plan.lines_of("6", bench.star)]
    series = [
        _series(bench, line, name, read, OURS if name == plan.TOP1 else configuration)
        for name, read in measures.items()
        for line, configuration in lines
    ]
    prior = math.log2(max(bench.ratings.n_users, 1))
    levels = (Level(prior, "knowing nothing"), Level(plan.NETFLIX_BITS, "knowing nothing, Netflix"))
    if number == "11":
        levels = (Level(prior, "knowing nothing"), Level(prior / 2, "half of that"))
    bits = plan.BITS in measures
    return Figure(
        number=number,
        title=plan.title_of(number, bench.star),
        x_title="known cells",
        y_title="entropy (bits)" if bits else "share of targets",
        unit="bits" if bits else "share",
        series=tuple(each for each in series if each.points),
        marks=plan.marks_of(number),
        levels=levels if bits else (),
    )


def _series(
    bench: Bench,
    line: plan.Line,
    measure: str,
    read: _Measure,
    configuration: str,
    attacked: Callable[[Bench, Knowledge], int] | None = None,
) -> Series:
    """Draw a line; `attacked`: how many people a point rests on, where not on those of a run."""
    points = (_point(bench, k, read, attacked or _attacked) for k in line.settings)
    return Series(line.name, measure, tuple(filter(None, points)), line.mistakes, configuration)


def _attacked(bench: Bench, knowledge: Knowledge) -> int:
    return sum(len(bench.people(knowledge, run)) for run in range(bench.runs))


def _point(
    bench: Bench,
    knowledge: Knowledge,
    read: _Measure,
    attacked: Callable[[Bench, Knowledge], int],
) -> Point | None:
    try:
        rate, targets = read(bench, knowledge), attacked(bench, knowledge)
    except Untestable:
        return None
    if rate is None:
        return None
    return Point.of(
        knowledge.known,
        rate,
        label=plan.label_of(knowledge),
        knowledge=knowledge,
        targets=targets,
        ineligible=bench.ratings.n_users - len(bench.able(knowledge)),
    )


def _of_present(name: str) -> _Measure:
    return lambda bench, knowledge: bench.rate(bench.attacked(knowledge), name)


def _no_answer_absent(bench: Bench, knowledge: Knowledge) -> Rate:
    return complement(bench.rate(bench.absent(knowledge), "named"))


def _omega(bench: Bench, knowledge: Knowledge) -> Rate:
    found = bench.rate(bench.attacked(knowledge), "success")
    return min(found, _no_answer_absent(bench, knowledge), key=lambda rate: rate.rate)


def _bits_of_others(bench: Bench, knowledge: Knowledge) -> Rate | None:
    others = [{"bits": run["bits"][run["success"] == 0]} for run in bench.attacked(knowledge)]
    some: list[Run] = [run for run in others if len(run["bits"])]
    return bench.rate(some, "bits") if some else None


def complement(rate: Rate) -> Rate:
    """Return the share of all others."""
    return Rate(1 - rate.rate, 1 - rate.high, 1 - rate.low)


_BEST_GUESS: dict[str, _Measure] = {
    plan.SUCCESS: _of_present("success"),
    plan.TOP1: _of_present("top1"),
}
#: figure → what it shows of each setting
_MEASURES: dict[str, dict[str, _Measure]] = {
    **dict.fromkeys(("4", "8", "9", "10", "12"), _BEST_GUESS),
    "5": {
        plan.SUCCESS: _BEST_GUESS[plan.SUCCESS],
        plan.NOT_FOUND: _no_answer_absent,
        plan.OMEGA: _omega,
    },
    "6": {plan.BITS: _of_present("bits"), plan.BITS_OF_OTHERS: _bits_of_others},
    "11": {plan.BITS: _of_present("bits")},
}


def _shares(number: str, title: str, series: list[Series], x_title: str = "known cells") -> Figure:
    some = tuple(each for each in series if each.points)
    return Figure(number, title, x_title, "share of targets", "share", some)


def _beside_scoreboard(bench: Bench) -> Figure:
    attacks = {"Scoreboard": Bench.scoreboard, "Scoreboard-RH": Bench.attacked}
    measures = {plan.SUCCESS: ("success", READ), plan.TOP1: ("top1", OURS)}
    series = [
        _series(bench, replace(line, name=f"{name}, {line.name}"), measure, read, configuration)
        for measure, (key, configuration) in measures.items()
        for name, run in attacks.items()
        for line in plan.lines_of("4", bench.star)
        for read in [lambda bench, k, run=run, key=key: bench.rate(run(bench, k), key)]
    ]
    return _shares(
        "4b", "Scoreboard (unique match) and Scoreboard-RH, settings of Fig. 4 (ours)", series
    )


def _over_phi(bench: Bench) -> Figure:
    """Draw both errors over φ (Def. 3, footnote 4), up to φ = 6."""
    series = []
    for wrong in (0, 2):
        knowledge = replace(WELL, wrong=wrong)
        try:
            curve = error_curve(bench, knowledge)
        except Untestable:
            continue
        series += [
            Series(name, f"{plan.label_of(knowledge)}: {_equal(curve)}", points, configuration=READ)
            for name, points in _errors(curve).items()
        ]
    title = "Both errors over φ, dates ±14 days (ours)"
    return _shares("5b", title, series, "φ, least eccentricity of a match")


def _errors(curve: TradeOff) -> dict[str, tuple[Point, ...]]:
    def points(shares: tuple[float, ...]) -> tuple[Point, ...]:
        pairs = zip(curve.phi, shares, strict=True)
        return tuple(Point(phi, share) for phi, share in pairs if phi <= _LARGEST_PHI)

    return {
        "present, not found": points(curve.false_negative),
        "absent, a record named": points(curve.false_match_absent),
    }


def _equal(curve: TradeOff) -> str:
    if curve.equal_error_phi is None:
        return "nowhere equal"
    return f"equal at φ = {curve.equal_error_phi:.2f}, {curve.equal_error_rate:.1%}"


def _of_a_tenth(bench: Bench) -> Figure:
    """Draw a real sample of a tenth: people in it, and people who are not."""
    lines = [line for line in plan.lines_of("5", bench.star) if line.knowledge.day_error == 14]
    shown = {"in it": "in the tenth", "among all": "the same people among all"}
    series = [
        _of_tenth(bench, replace(line, name=name), who)
        for who, name in (*shown.items(), ("outside", "outside the tenth"))
        for line in lines
    ]
    out = [replace(line, name="removed from the data, as in Fig. 5") for line in lines]
    series += [_series(bench, line, plan.NOT_FOUND, _no_answer_absent, READ) for line in out]
    return _shares("5c", "A random tenth of the people, dates ±14 days (ours)", series)


def _of_tenth(bench: Bench, line: plan.Line, who: str) -> Series:
    def runs(knowledge: Knowledge) -> Runs:
        return [run[who] for run in bench.tenth(knowledge)]

    def read(bench: Bench, knowledge: Knowledge) -> Rate:
        if who == "outside":
            return complement(bench.rate(runs(knowledge), "named"))
        return bench.rate(runs(knowledge), "success")

    def attacked(bench: Bench, knowledge: Knowledge) -> int:
        return sum(len(run["named"]) for run in runs(knowledge))

    measure = plan.NOT_FOUND if who == "outside" else plan.SUCCESS
    return _series(bench, line, measure, read, READ, attacked)


def _with_more_known(bench: Bench) -> Figure:
    """Draw what extra knowledge takes away from false matches on absent people (§5)."""
    found: dict[str, list[Point]] = {}
    for known in _KNOWN:
        knowledge = replace(LITTLE, known=known)
        try:
            runs = takes_away(bench, knowledge)
            rejected = takes_away(bench, knowledge, after=True)
            runs |= {"both, checked afterwards": rejected["both"]}
        except Untestable:
            continue
        for name, each in runs.items():
            targets = sum(len(run["named"]) for run in each)
            rate = bench.rate(each, "named")
            beside = {"label": plan.label_of(knowledge), "knowledge": knowledge, "targets": targets}
            found.setdefault(name, []).append(Point.of(known, rate, **beside))
    series = [
        Series(name, "absent, a record named", tuple(points), configuration=READ)
        for name, points in found.items()
    ]
    title = "False matches removed by the number of ratings and the first day: dates ±3 days (ours)"
    return replace(_shares("12b", title, series), dotted=True)


#: ours, of which each needs dates
_ALSO = {
    "4b": _beside_scoreboard, "5b": _over_phi, "5c": _of_a_tenth, "12b": _with_more_known
}  # fmt: skip
