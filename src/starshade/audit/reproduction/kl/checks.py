"""What KL §5 says of its curves, held against ours; each by the figures it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from starshade.audit.reproduction.figures import Figure, Point
from starshade.audit.reproduction.kl.measured import (
    ALONE,
    ASKED_AT,
    DGH_A,
    DGH_B,
    DGH_C,
    EXCHANGE,
    LIKENESS,
    MEMBER,
    MONDRIAN,
    QUERY_KS,
    RELAXED,
    WHOLE,
)
from starshade.audit.reproduction.study import Check, falls, is_above, rises

_NEAR = 0.05  # as a share: "comparable", "very close", "the same"
_STABLE = 0.25  # between the least and the greatest C_AVG: "rather stable"
_OPTIMAL = 1.1  # C_AVG "close to the optimal point"
_SAME_KS = range(2, 8)  # where k-Likeness loses "the same" as k-Member
_SLACK = 1e-9
_TENTH = 0.1  # times that differ by less count as equal
_MOVES = {True: "increased", False: "decreased"}
#: figure → sentence, error in per cent, and from where on (the figure's x)
_LIMITS = {
    "13": ("“less than 4 %”", 4.0, 0.0),
    "15": ("above a range of 1 “less than 1.0 %”", 1.0, 1.0),
}
_PAPERS = (LIKENESS, DGH_A, DGH_B, DGH_C, MEMBER, MONDRIAN)
_OURS_BELOW = "ours: k-exchange below {}"

Points: TypeAlias = tuple[Point, ...]
Lines: TypeAlias = dict[str, Points]


def check_figures(figures: Sequence[Figure]) -> tuple[Check, ...]:
    """Check every sentence that has a figure here."""
    return tuple(
        check
        for figure in figures
        if figure.number in _TESTS
        for check in _TESTS[figure.number](figure)
    )


def _lines(figure: Figure, measure: str | None = None) -> Lines:
    return {s.name: s.points for s in figure.series if measure in (None, s.measure)}


def _of_dm(figure: Figure) -> Iterator[Check]:
    lines = _lines(figure)
    for name, points in lines.items():
        says = "“increased when the k value is increased”"
        yield Check("10", says, name, _course(points), rises(points))
    lines = _released(lines)
    for name in (LIKENESS, DGH_A, DGH_B, DGH_C, MEMBER):
        says = "Mondrian: “higher impact … than the other”"
        yield from _compare("10", says, lines, name, MONDRIAN)
    for name in (MEMBER, MONDRIAN, DGH_A, DGH_B, DGH_C):
        says = "k-Likeness with NDGH: “the lowest impact”"
        yield from _compare("10", says, lines, LIKENESS, name, slack=_SLACK)
    yield from _close("10", "“comparable to the k-member algorithm”: within 5 %", lines)
    for name in (LIKENESS, DGH_A, DGH_B):
        yield from _compare("10", "DGH(c): “a higher impact”", lines, name, DGH_C)
    for name in (DGH_A, DGH_C):
        says = "DGH(b), whose range is larger: “the data utility is higher”"
        yield from _compare("10", says, lines, DGH_B, name)


def _of_c_avg(figure: Figure) -> Iterator[Check]:
    lines = _released(_lines(figure))
    for name, points in lines.items():
        if name not in _PAPERS:
            continue
        least, most = min(p.y for p in points), max(p.y for p in points)
        says = "“rather stable when the k value is increased”: within a quarter"
        ours = f"{least:.4g} to {most:.4g}"
        yield Check("11", says, name, ours, most <= (1 + _STABLE) * least)
    yield from _close("11", "k-Likeness and k-Member: “very close”, within 5 %", lines)
    for name in (LIKENESS, MEMBER):
        yield from _compare("11", "Mondrian: “rather high impact” against", lines, name, MONDRIAN)
    for name in (LIKENESS, DGH_B, MEMBER, EXCHANGE):
        if name in lines:
            most = max(p.y for p in lines[name])
            says = "“close to the optimal point … at 1”" if name != EXCHANGE else "ours: close to 1"
            ours = f"at most {most:.4g}"
            yield Check("11", f"{says}, at most 1.1", name, ours, most <= _OPTIMAL)


def _of_loss(figure: Figure) -> Iterator[Check]:
    lines = _lines(figure)
    for name, points in lines.items():
        says = "“when the k value is increased, the impact … is also increased”"
        yield Check("12", says, name, _course(points), rises(points))
    lines = _released(lines)
    for name in (LIKENESS, MONDRIAN, DGH_A, DGH_B, DGH_C):
        yield from _compare("12", "k-Member: “less impact than the other”", lines, MEMBER, name)
    for name in (MONDRIAN, DGH_A, DGH_B, DGH_C):
        says = "“followed by our k-likeness … with NDGH”"
        yield from _compare("12", says, lines, LIKENESS, name)
    says = "k = 2 to 7: “the same data utility” as k-Member, to 5 %"
    yield from _close("12", says, lines, _SAME_KS)
    for name in (LIKENESS, MEMBER, MONDRIAN, RELAXED):
        yield from _compare("12", _OURS_BELOW.format("it"), lines, EXCHANGE, name)


def _of_queries(figure: Figure) -> Iterator[Check]:
    """Hold the paper's sentences against its k = 2, ours against every k."""
    for measure in dict.fromkeys(series.measure for series in figure.series):
        lines = _lines(figure, measure)
        if measure == ASKED_AT.format(QUERY_KS[0]):
            yield from _of_its_queries(figure.number, lines, measure)
        for name in (LIKENESS, MEMBER, MONDRIAN):
            says = _OURS_BELOW.format("it on average")
            yield from _on_average(figure.number, says, lines, EXCHANGE, name, measure)


def _of_its_queries(number: str, lines: Lines, measure: str) -> Iterator[Check]:
    says, test = {
        "13": ("“the more attributes mean the less error”", falls),
        "14": ("“attributes … increased, the relative errors are also increased”", rises),
        "15": ("“the larger range … the less error”", falls),
    }[number]
    for name, points in lines.items():
        if name in _PAPERS and len(points) > 1:
            yield Check(number, says, f"{measure}, {name}", _course(points), test(points))
    if number in _LIMITS:
        says, limit, beyond = _LIMITS[number]
        for name in (LIKENESS, DGH_B):
            own = [point.y for point in lines.get(name, ()) if point.x > beyond]
            if own:
                ours = f"at most {max(own):.3g} %"
                yield Check(number, says, f"{measure}, {name}", ours, max(own) < limit)
    for name in (MEMBER, MONDRIAN):
        says = "k-Likeness with NDGH “outperforms”"
        yield from _compare(number, says, lines, LIKENESS, name, where=measure)


def _of_times(figure: Figure) -> Iterator[Check]:
    for measure in (WHOLE, ALONE):
        lines = _lines(figure, measure)
        for name in (LIKENESS, MONDRIAN, MEMBER):
            if len(points := lines.get(name, ())) > 1:
                up = name == MEMBER
                says = f"“when the k value is increased, the execution time … is {_MOVES[up]}”"
                holds = (rises if up else falls)(points, _TENTH)
                ours = _course(points, " s", _TENTH)
                yield Check("16", says, f"{measure}, {name}", ours, holds)
        for name in (LIKENESS, MEMBER):
            says = "Mondrian: “most efficient”"
            yield from _compare("16", says, lines, MONDRIAN, name, where=measure)
        yield from _faster(lines, measure)


def _faster(lines: Lines, measure: str) -> Iterator[Check]:
    pairs = _pairs(lines, LIKENESS, MEMBER)
    if pairs:
        ratios = [b.y / a.y for a, b in pairs]
        total = sum(b.y for _, b in pairs) / sum(a.y for a, _ in pairs)
        ours = f"{total:.2g} times as fast over all k ({min(ratios):.2g} to {max(ratios):.2g})"
        says = "k-Likeness faster than k-Member “by more than three times”"
        yield Check("16", says, measure, ours, total > 3)


def _compare(
    figure: str,
    says: str,
    lines: Lines,
    lower: str,
    upper: str,
    where: str = "",
    slack: float = -_SLACK,
) -> Iterator[Check]:
    pairs = _pairs(lines, lower, upper)
    if not pairs:
        return
    below = sum(a.y <= b.y + slack for a, b in pairs)
    ratios = [b.y / a.y for a, b in pairs if a.y]
    ours = f"the first is below at {below} of {len(pairs)} points"
    if ratios:
        ours += f"; the second is {min(ratios):.3g} to {max(ratios):.3g} times as high"
    place = f"{lower} – {upper}"
    yield Check(figure, says, f"{where}, {place}" if where else place, ours, below == len(pairs))


def _close(
    figure: str, says: str, lines: Lines, ks: Sequence[int] | None = None
) -> Iterator[Check]:
    pairs = [p for p in _pairs(lines, LIKENESS, MEMBER) if ks is None or p[0].x in ks]
    away = [a.y / b.y - 1 for a, b in pairs if b.y]
    if away:
        ours = f"{LIKENESS} is {100 * min(away):+.2g} to {100 * max(away):+.2g} % from it"
        holds = all(abs(one) <= _NEAR for one in away)
        yield Check(figure, says, f"{LIKENESS} – {MEMBER}", ours, holds)


def _on_average(
    figure: str, says: str, lines: Lines, lower: str, upper: str, where: str
) -> Iterator[Check]:
    pairs = _pairs(lines, lower, upper)
    if pairs:
        own, other = (sum(p[i].y for p in pairs) / len(pairs) for i in (0, 1))
        ours = f"{own:.3g} against {other:.3g} %"
        yield Check(figure, says, f"{where}, {lower} – {upper}", ours, own < other)


def _pairs(lines: Lines, a: str, b: str) -> list[tuple[Point, Point]]:
    of_b = {point.x: point for point in lines.get(b, ())}
    return [(point, of_b[point.x]) for point in lines.get(a, ()) if point.x in of_b]


def _released(lines: Lines) -> Lines:
    """Leave out k = 1, which is the original."""
    return {name: tuple(p for p in points if p.x > 1) for name, points in lines.items()}


def _course(points: Points, unit: str = "", slack: float = 0) -> str:
    first, last = points[0], points[-1]
    pairs = list(combinations(points, 2))
    up = sum(is_above(b, a, slack) for a, b in pairs)
    down = sum(is_above(a, b, slack) for a, b in pairs)
    return (
        f"{first.y:.4g}{unit} at {first.x:g} → {last.y:.4g}{unit} at {last.x:g}; of "
        f"{len(pairs)} pairs of points {up} plainly rise, {down} plainly fall"
    )


_TESTS = {
    "10": _of_dm,
    "11": _of_c_avg,
    "12": _of_loss,
    **dict.fromkeys(("13", "14", "15"), _of_queries),
    "16": _of_times,
}
