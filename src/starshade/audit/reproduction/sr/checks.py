"""What SR §7 says of its curves, held against ours; each by the figures it rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from starshade.audit.reproduction.figures import Figure, Point
from starshade.audit.reproduction.sr.charted import PARTITION_NAMES, SEARCH_NAMES
from starshade.audit.reproduction.sr.measured import Predicted
from starshade.audit.reproduction.study import Check, falls, is_above, rises

__all__ = ["Check", "check_figures"]

_SLACK = 0.1  # times differ plainly when the runs do not overlap and the medians by so much
_THREE = 2.5  # times as fast that passes for "almost 3"
_CLOSE, _PAPER = 0.03, 0.75  # of accuracies: "very close", "around"


def check_figures(figures: tuple[Figure, ...], predicted: list[Predicted]) -> tuple[Check, ...]:
    """Check every sentence that has a figure here."""
    by_number = {figure.number: figure for figure in figures}
    return (
        *_of_times(by_number),
        *_of_searches(by_number),
        *_of_losses(by_number),
        *_of_accuracy(predicted),
    )


def _of_times(figures: dict[str, Figure]) -> Iterator[Check]:
    sayings = {
        "3a": ("“increasing with the increased data percentage”", _rises),
        "3b": ("“initially becomes lower but then increases monotonically” (over ε)", _dips),
        "4a": ("“the cost drops as k grows”", _falls),
        "4b": ("“the running time increases with l”", _rises),
    }
    for number, (says, test) in sayings.items():
        for line in figures[number].series if number in figures else ():
            if len(line.points) > 1:
                where = f"{line.measure}, {line.name}"
                yield Check(number, says, where, _course(line.points), test(line.points))


def _of_searches(figures: dict[str, Figure]) -> Iterator[Check]:
    faster = "slicing “far more efficient” than every pair"
    sayings = {"5a": faster, "5b": "slicing “almost 3 times faster”", "6a": faster, "6b": faster}
    for number, says in sayings.items():
        for measure, lines in _lines(figures[number]).items() if number in figures else ():
            if len(lines) < len(SEARCH_NAMES):
                continue
            every, slicing = (lines[SEARCH_NAMES[search]] for search in ("pairwise", "slicing"))
            ratios = [every[x] / slicing[x] for x in sorted(every.keys() & slicing.keys())]
            if number == "5a":  # the most data
                ratios = ratios[-1:]
            ours = f"{median(ratios):.2g} times as fast"
            if len(ratios) > 1:
                ours += f" ({min(ratios):.2g} to {max(ratios):.2g})"
            need = _THREE if number == "5b" else 1 + _SLACK
            yield Check(number, says, measure, ours, median(ratios) >= need)


def _of_losses(figures: dict[str, Figure]) -> Iterator[Check]:
    for number, says, up in (
        ("7a", "“less distortion as ε increases”", False),
        ("7b", "“the error grows with k”", True),
    ):
        if number not in figures:
            continue
        for line in figures[number].series:
            where, ys = f"{line.measure}, {line.name}", [point.y for point in line.points]
            if len(ys) > 1:
                up_to = ys if up else ys[::-1]
                course = all(a <= b + 1e-9 for a, b in pairwise(up_to)) and up_to[-1] > up_to[0]
                ours = f"{ys[0]:.4g} → {ys[-1]:.4g}"
                yield Check(number, says, where, ours, course)
            if number == "7a":
                here = f", here {widest:g}" if (widest := line.points[-1].x) != 5 else ""
                says_zero = (
                    f"“when ε = 5”{here}, all of the scale, “the information loss reaches 0”"
                )
                yield Check(number, says_zero, where, f"{ys[-1]:.4g}", ys[-1] == 0)
        yield from _cluster_against_whole(figures[number])


def _cluster_against_whole(figure: Figure) -> Iterator[Check]:
    names = [PARTITION_NAMES[partition] for partition in ("whole", "cluster")]
    for measure, lines in _lines(figure).items():
        whole, cluster = (lines.get(name, {}) for name in names)
        common = sorted(whole.keys() & cluster.keys())
        if common:
            totals = [sum(side[x] for x in common) for side in (whole, cluster)]
            ours = f"{totals[1]:.4g} against {totals[0]:.4g}, summed over the points"
            never = all(cluster[x] <= whole[x] + 1e-9 for x in common)
            yield Check(figure.number, "ours: never more than whole groups", measure, ours, never)


def _lines(figure: Figure) -> dict[str, dict[str, dict[float, float]]]:
    """Return measure → name → x → y."""
    lines: dict[str, dict[str, dict[float, float]]] = defaultdict(dict)
    for line in figure.series:
        lines[line.measure][line.name] = {point.x: point.y for point in line.points}
    return lines


def _of_accuracy(predicted: list[Predicted]) -> Iterator[Check]:
    if not predicted:
        return
    for nulls, partition in dict.fromkeys((entry.nulls, entry.partition) for entry in predicted):
        own = [e for e in predicted if (e.nulls, e.partition) == (nulls, partition)]
        moved = [entry.found.difference for entry in own]
        low, high = min(rate.low for rate in moved), max(rate.high for rate in moved)
        least, most = (100 * pick(rate.rate for rate in moved) for pick in (min, max))
        ours = f"{least:+.1f} to {most:+.1f} points over k, all intervals within "
        ours += f"[{100 * low:+.1f}, {100 * high:+.1f}]"
        close = "“very close to the original accuracy”: within 3 points"
        holds = all(entry.found.within(100 * _CLOSE) for entry in own)
        yield Check("8", close, f"{nulls}, {PARTITION_NAMES[partition]}", ours, holds)
    prediction = predicted[0].found
    after = [entry.found.anonymized.rate for entry in predicted]
    ours = f"{min(after):.1%} to {max(after):.1%} after, {prediction.original} before"
    around = all(abs(rate - _PAPER) <= _CLOSE for rate in after)
    yield Check("8", "“around 75 %”", f"{prediction.attribute}, every k", ours, around)
    ours = f"{prediction.original}, and {prediction.majority} without any rating"
    no_more = prediction.original.rate - prediction.majority.rate <= _CLOSE
    says = "ours: the share of the most frequent class explains it, to 3 points"
    yield Check("8", says, prediction.attribute, ours, no_more)


def _course(points: tuple[Point, ...]) -> str:
    first, last = points[0], points[-1]
    least = min(points, key=lambda point: point.y)
    text = f"{_seconds(first.y)} → {_seconds(last.y)}, {last.y / first.y:.2g} times"
    if least not in (first, last):
        text += f"; least {_seconds(least.y)} at {least.x:g}"
    return text


def _seconds(y: float) -> str:
    return f"{1000 * y:.3g} ms" if y < 1 else f"{y:.3g} s"


def _rises(points: Sequence[Point]) -> bool:
    return rises(points, _SLACK)


def _falls(points: Sequence[Point]) -> bool:
    return falls(points, _SLACK)


def _dips(points: tuple[Point, ...]) -> bool:
    """Tell whether some point between is plainly below both ends, after which nothing falls."""
    least = min(range(len(points)), key=lambda i: points[i].y)
    ends = points[0], points[-1]
    return all(is_above(end, points[least], _SLACK) for end in ends) and _rises(points[least:])
