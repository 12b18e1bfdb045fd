"""The three chart types: values with intervals, bars, curves.

Each takes plain data and returns a `Chart` whose description has the values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starshade.chart import Chart, Spec, colours, encoded, marks

_SHAPES = ["circle", "diamond", "square", "triangle-up"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
_LISTED = 12  # figures that a description lists; a curve names some of its points


@dataclass(frozen=True)
class Axis:
    """An axis of values."""

    title: str
    share: bool = False  # figures in [0, 1], written as percentages
    zero: bool = True  # it begins at 0
    log: bool = False
    whole: bool = False  # whole numbers only

    def encoding(self, field: str) -> Spec:
        """Return the encoding of a field on this axis."""
        scale: Spec = {"type": "log"} if self.log else {"zero": self.zero}
        if self.share and self.zero:
            scale["domainMin"] = 0
        axis: Spec = {"title": self.title, "format": "~%" if self.share else ",~r", "tickCount": 6}
        if self.whole:
            axis |= {"format": ",d", "tickMinStep": 1}
        return encoded(field, axis=axis, scale=scale)

    def text(self, value: float) -> str:
        """Format a value."""
        return f"{value:.1%}" if self.share else f"{value:,.4g}"


@dataclass(frozen=True)
class Dot:
    """A value with its 95 % interval, if any; `series` distinguishes values of one name."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    series: str = ""


@dataclass(frozen=True)
class Bar:
    """A bar; `series` distinguishes bars at one place."""

    place: str
    height: float
    series: str = ""


@dataclass(frozen=True)
class Level:
    """A reference value with its label."""

    value: float
    label: str


def dot_chart(
    title: str, subtitle: str, dots: Sequence[Dot], axis: Axis, level: Level | None = None
) -> Chart:
    """Draw values from top to bottom, each with its interval; NaN is left out.

    `level` is a line across, such as a baseline.
    """
    dots = [dot for dot in dots if not math.isnan(dot.value)]
    values = [
        {
            "name": dot.name,
            "value": dot.value,
            "low": dot.value if dot.low is None else dot.low,
            "high": dot.value if dot.high is None else dot.high,
            "series": dot.series,
        }
        for dot in dots
    ]
    names, series = _distinct(d.name for d in dots), _distinct(d.series for d in dots)
    y = encoded("name", "nominal", sort=names, axis={"title": None, "labelLimit": 300})
    plain: Spec = {"y": y, "color": _coloured(series)}
    shape: Spec = {}
    if len(series) > 1:
        plain["yOffset"] = {"field": "series", "sort": series}
        shape = {"shape": _series_encoding(series, _SHAPES)}
    ends = {"x": axis.encoding("low"), "x2": {"field": "high"}}
    x = {"x": axis.encoding("value")}
    tooltip = [{"field": name} for name in ("name", "series", "value", "low", "high")]
    shown = plain | shape | x | {"tooltip": tooltip}
    layers = [
        marks("rule", plain | ends, strokeWidth=1.5),
        marks("point", shown, filled=True, size=60, opacity=1),
    ]
    body = {
        "width": 420,
        "height": {"step": 24 if len(series) < 2 else 14},
        "layer": [{"data": {"values": values}, "layer": layers}, *_across(level, "x", axis)],
    }
    texts = [_dot_text(dot, axis) for dot in dots]
    return Chart(title, subtitle, _listed(texts) + _level_text(level, axis), body)


def bar_chart(title: str, subtitle: str, bars: Sequence[Bar], x: str, axis: Axis) -> Chart:
    """Draw bars in the order given; `x` is the title of the axis."""
    places, series = _distinct(b.place for b in bars), _distinct(b.series for b in bars)
    values = [{"place": b.place, "height": b.height, "series": b.series} for b in bars]
    encoding: Spec = {
        "x": encoded(
            "place",
            "nominal",
            sort=places,
            axis={"title": x, "labelAngle": 0, "labelOverlap": True},
        ),
        "y": axis.encoding("height"),
        "color": _coloured(series),
        "tooltip": [{"field": name} for name in ("place", "series", "height")],
    }
    if len(series) > 1:
        encoding["xOffset"] = {"field": "series", "sort": series}
    body = {
        "width": max(200, min(560, 28 * len(places) * max(1, len(series)))),
        "height": 240,
        "data": {"values": values},
        "mark": {"type": "bar"},
        "encoding": encoding,
    }
    texts = [f"{b.place}{f', {b.series}' if b.series else ''}: {axis.text(b.height)}" for b in bars]
    return Chart(title, subtitle, _listed(texts), body)


def curve_chart(
    title: str,
    subtitle: str,
    curves: Mapping[str, Sequence[tuple[float, ...]]],
    x: Axis,
    y: Axis,
    level: Level | None = None,
) -> Chart:
    """Draw lines, with a band where there are intervals.

    `curves`: name → points (x, y) or (x, y, low, high), x ascending.
    """
    names = list(curves)
    values = [
        {"x": p[0], "y": p[1], "low": p[2 if len(p) > 2 else 1], "high": p[-1], "series": name}
        for name, points in curves.items()
        for p in points
        if not math.isnan(p[1])
    ]
    plain: Spec = {"x": x.encoding("x"), "color": _coloured(names)}
    line: Spec = plain | {"y": y.encoding("y")}
    if len(names) > 1:
        line["strokeDash"] = _series_encoding(names, _DASHES)
    dotted = max(map(len, curves.values()), default=0) <= _LISTED
    band = {"y": y.encoding("low"), "y2": {"field": "high"}}
    layers = [marks("area", plain | band, opacity=0.2), marks("line", line, point=dotted)]
    body = {
        "width": 420,
        "height": 260,
        "layer": [{"data": {"values": values}, "layer": layers}, *_across(level, "y", y)],
    }
    texts = [
        f"{f'{name}: ' if name else ''}{x.text(p[0])}: {y.text(p[1])}"
        for name, points in curves.items()
        for p in _some(points)
    ]
    description = f"{y.title} by {x.title}: {_listed(texts)}{_level_text(level, y)}"
    return Chart(title, subtitle, description, body)


def _across(level: Level | None, side: str, axis: Axis) -> list[Spec]:
    if level is None:
        return []
    data = {"values": [{"at": level.value, "label": level.label}]}
    place = {side: axis.encoding("at")}
    look: Spec = {"align": "left", "baseline": "bottom", "color": "#555"}
    # next to the top of a vertical line
    look |= (
        {"dx": 0, "dy": -4, "fontSize": 10} if side == "x" else {"dx": 4, "dy": -2, "fontSize": 10}
    )
    edge = {"y": {"value": 0}} if side == "x" else {"x": {"value": 0}}
    name = place | edge | {"text": {"field": "label"}}
    rule = marks("rule", place, color="#555", strokeDash=[3, 3])
    return [{"data": data, "layer": [rule, marks("text", name, **look)]}]


def _coloured(series: Sequence[str]) -> Spec:
    if len(series) < 2:
        return {"value": colours(1)[0]}
    return _series_encoding(series, colours(len(series)))


def _series_encoding(series: Sequence[str], range_: Sequence[Any]) -> Spec:
    shown = [range_[i % len(range_)] for i in range(len(series))]
    scale = {"domain": list(series), "range": shown}
    return encoded("series", "nominal", scale=scale, legend={"title": None})


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


def _some(points: Sequence[tuple[float, ...]]) -> Sequence[tuple[float, ...]]:
    """Choose at most six points of a curve, the first and the last among them."""
    if len(points) <= 6:
        return points
    return [points[round(i * (len(points) - 1) / 5)] for i in range(6)]


def _dot_text(dot: Dot, axis: Axis) -> str:
    name = f"{dot.name}, {dot.series}" if dot.series else dot.name
    if dot.low is None or dot.high is None:
        return f"{name}: {axis.text(dot.value)}"
    return f"{name}: {axis.text(dot.value)} [{axis.text(dot.low)}, {axis.text(dot.high)}]"


def _level_text(level: Level | None, axis: Axis) -> str:
    return "" if level is None else f" {level.label}: {axis.text(level.value)}."


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - 2 * _LISTED
    shown = "; ".join(texts[: 2 * _LISTED])
    return f"{shown}; and {more:,} more." if more > 0 else f"{shown}."
