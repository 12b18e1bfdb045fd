"""Figures as Vega-Lite specifications, and those as SVG."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import pairwise

from starshade.audit.reproduction.figures import Figure, Series
from starshade.chart import (
    CONFIG,
    DISTINCT,
    SCHEMA,
    Spec,
    colours,
    encoded,
    marks,
    small_title,
    svg_of,
)

__all__ = ["CONFIG", "SCHEMA", "Spec", "chart", "colours", "svg_of"]

_DASHES = [[1, 0], [6, 3], [2, 2]]
_SHAPES = ["diamond", "triangle-up", "square"]
_DODGE = 0.045  # of an x step, between lines that share a point
_MARGIN = 0.3  # of an x step, left and right of the points
_FORMATS = {
    "share": ".0%",
    "bits": "~r",
    "users": ",d",
    "seconds": "~r",
    "points": ",~r",
    "number": ",~r",
}


def chart(figure: Figure, subtitle: str) -> Spec:
    """Draw a figure: one panel per measure, our lines with intervals, the paper's marks.

    A Vega-Lite v5 specification, the data inside; `subtitle`: the size of the data.
    """
    measures = list(dict.fromkeys(series.measure for series in figure.series))
    panels = [_panel(figure, measure, titled=len(measures) > 1) for measure in measures]
    return {
        "$schema": SCHEMA,
        "title": {
            "text": f"Fig. {figure.number}  {figure.title}",
            "subtitle": subtitle,
            "anchor": "start",
            "offset": 16,
        },
        "hconcat": panels,
        "spacing": 28,
        "resolve": {"scale": dict.fromkeys(("color", "strokeDash", "shape", "y"), "shared")},
        "config": CONFIG,
    }


def layers(figure: Figure, measure: str) -> list[Spec]:
    """Draw one panel of a figure."""
    lines = [series for series in figure.series if series.measure == measure]
    if figure.unit == "users":
        return [_bars(figure, lines)]
    return [*_lines(figure, lines), *_levels(figure), *_marks(figure, measure)]


def _panel(figure: Figure, measure: str, *, titled: bool) -> Spec:
    panel: Spec = {
        "width": 300 if titled else 460,
        "height": 280,
        "layer": layers(figure, measure),
    }
    if titled:
        panel["title"] = small_title(measure)
    return panel


def _lines(figure: Figure, lines: list[Series]) -> list[Spec]:
    """Lines with their intervals: bars at the few points of an attack, else a band."""
    dotted = _is_dotted(figure)
    gap = _step(figure)
    values = [
        {
            "x": point.x,
            "shown": point.x + (_DODGE * (i - (len(lines) - 1) / 2) * gap if dotted else 0),
            "y": point.y,
            "low": point.y if point.low is None else point.low,
            "high": point.y if point.high is None else point.high,
            "line": series.label,
            "mistakes": series.mistakes,
            "right": point.label,
        }
        for i, series in enumerate(lines)
        for point in series.points
        if not math.isnan(point.y)
    ]
    plain: Spec = {"x": _x_axis(figure, "shown"), "color": _colour(figure)}
    encoding = dict(plain)
    if any(s.mistakes for s in lines):
        encoding["strokeDash"] = _dash(figure)
    elif max(_labels(figure).values(), default=0) >= DISTINCT:
        encoding["strokeDash"] = _again(figure)
    ends = {"y": _y_axis(figure, "low"), "y2": {"field": "high"}}
    interval = {"type": "rule", "strokeWidth": 1.2} if dotted else {"type": "area", "opacity": 0.2}
    drawn: list[Spec] = [
        {"mark": interval, "encoding": plain | ends},
        marks("line", encoding | {"y": _y_axis(figure, "y")}),
    ]
    if dotted:
        fields = [{"field": name} for name in ("line", "mistakes", "right", "y", "low", "high")]
        encoding = plain | {"y": _y_axis(figure, "y"), "tooltip": fields}
        drawn.append(marks("circle", encoding, size=30, opacity=1))
    return [{"data": {"values": values}, "layer": drawn}]


def _bars(figure: Figure, lines: list[Series]) -> Spec:
    points = [point for series in lines for point in series.points]
    return {
        # what nobody did needs no bar
        "data": {"values": [{"x": point.x, "y": point.y} for point in points if point.y]},
        "mark": {"type": "rule", "strokeWidth": 3 if len(points) < 200 else 1},
        "encoding": {
            "x": _x_axis(figure, "x") | {"scale": {"domain": [0, len(points) - 1]}},
            "y": _y_axis(figure, "y"),
            "y2": {"datum": 0},
            "color": {"value": colours(1)[0]},
        },
    }


def _marks(figure: Figure, measure: str) -> list[Spec]:
    shown = [mark.to_dict() for mark in figure.marks if measure in mark.measures]
    if not shown:
        return []
    every = [mark.label for mark in figure.marks]
    encoding = {
        "x": _x_axis(figure, "x"),
        "y": _y_axis(figure, "y"),
        "shape": encoded(
            "label",
            "nominal",
            scale={"domain": every, "range": _SHAPES[: len(every)]},
            legend={"title": "the paper", "symbolFillColor": "black"},
        ),
        "tooltip": {"field": "label"},
    }
    return [marks("point", encoding, shown, filled=True, color="black", size=90, opacity=1)]


def _levels(figure: Figure) -> list[Spec]:
    if not figure.levels:
        return []
    y = _y_axis(figure, "y")
    text = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -2, "color": "#555"}
    label = {"y": y, "x": {"value": 0}, "text": {"field": "label"}}
    drawn = [
        marks("rule", {"y": y}, color="#777", strokeDash=[3, 3]),
        marks("text", label, **text, fontSize=10),
    ]
    return [{"data": {"values": [asdict(level) for level in figure.levels]}, "layer": drawn}]


def _x_axis(figure: Figure, field: str) -> Spec:
    axis: Spec = {"title": figure.x_title}
    scale: Spec = {"type": "log", "nice": False} if figure.x_log else {"zero": False}
    if _is_dotted(figure):
        xs, margin = _xs(figure), _MARGIN * _step(figure)
        axis |= {"values": xs, "format": "~r", "labelOverlap": "greedy", "labelSeparation": 3}
        scale |= {"domain": [xs[0] - margin, xs[-1] + margin], "nice": False}
    elif figure.x_log:
        decades = math.ceil(math.log10(max(2.0, *(p.x for s in figure.series for p in s.points))))
        axis |= {"format": ",d", "values": [10**i for i in range(decades + 1)]}
    return encoded(field, axis=axis, scale=scale)


def _y_axis(figure: Figure, field: str) -> Spec:
    scale: Spec = {"type": "log"} if figure.y_log else {"zero": True}
    if figure.unit == "share":
        scale["domain"] = [0, 1]
    axis = {"title": figure.y_title, "format": _FORMATS[figure.unit]}
    return encoded(field, axis=axis, scale=scale)


def _colour(figure: Figure) -> Spec:
    labels = _labels(figure)
    return encoded(
        "line",
        "nominal",
        scale={"domain": list(labels), "range": [colours(i + 1)[i] for i in labels.values()]},
        legend=_LEGEND,
    )


_LEGEND: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
_LEGEND |= {"symbolSize": 300, "symbolOpacity": 1}


def _labels(figure: Figure) -> dict[str, int]:
    """Return which colour each line has: one for a name, where no panel has a name twice."""
    series = figure.series
    pairs = {(each.measure, each.name, each.label) for each in series}
    by_name = len(pairs) == len({pair[:2] for pair in pairs})
    keys = list(dict.fromkeys(each.name if by_name else each.label for each in series))
    return {each.label: keys.index(each.name if by_name else each.label) for each in series}


def _again(figure: Figure) -> Spec:
    """Set lines apart whose colour is another one's too."""
    labels = _labels(figure)
    dashes = [_DASHES[i // DISTINCT % len(_DASHES)] for i in labels.values()]
    scale = {"domain": list(labels), "range": dashes}
    return encoded("line", "nominal", scale=scale, legend=_LEGEND)


def _dash(figure: Figure) -> Spec:
    mistakes = list(dict.fromkeys(series.mistakes for series in figure.series))
    return encoded(
        "mistakes",
        "nominal",
        scale={"domain": mistakes, "range": _DASHES[: len(mistakes)]},
        legend={"title": None, "symbolType": "stroke", "symbolSize": 300},
    )


def _is_dotted(figure: Figure) -> bool:
    return figure.dotted or any(series.mistakes for series in figure.series)


def _xs(figure: Figure) -> list[float]:
    return sorted({point.x for series in figure.series for point in series.points})


def _step(figure: Figure) -> float:
    """Return the least distance of two points that are not over each other."""
    xs = _xs(figure)
    return min((b - a for a, b in pairwise(xs)), default=1.0)
