"""The pictures of a report: Vega-Lite specifications, and those as SVG that style can colour.

Each picture is drawn once, in the colours of the light page. The page's style gives every colour
of `PALETTE` its counterpart in the dark (`palette_css`), so one SVG serves light, dark and print.
Pictures are narrow, as they are read on a phone too, and each says in words what it shows; the
figures themselves stand in a table beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from starshade.chart import SCHEMA, Spec, encoded, marks, svg_of
from starshade.plain import counted, percent
from starshade.progress import task
from starshade.query.statement import shown

#: what a colour is for → in the light, in the dark; the light ones are those of the SVG
PALETTE: Mapping[str, tuple[str, str]] = {
    "ink": ("#1d2025", "#e9ebee"),
    "muted": ("#565b63", "#b3b8c1"),
    "grid": ("#e2e4e8", "#363b44"),
    "before": ("#b84f00", "#ff9f5c"),  # vermilion and blue: apart for the colour-blind too
    "after": ("#0067a3", "#6fbff5"),
    "limit": ("#5f646d", "#a9afb9"),
}
_INK, _MUTED, _GRID, _BEFORE, _AFTER, _LIMIT = (light for light, _ in PALETTE.values())

_SIDES = ("before", "after")
_WIDTH = 400  # of a picture, all in all
_ROW = 24  # height of a bar with its space
CONFIG: Spec = {
    "font": "sans-serif",
    "background": None,
    "view": {"stroke": None},
    "text": {"color": _INK, "fontSize": 12},
    "axis": {
        "gridColor": _GRID,
        "domainColor": _LIMIT,
        "tickColor": _LIMIT,
        "labelColor": _MUTED,
        "titleColor": _MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 200,
    },
}
_SHARE = {"format": "~%", "tickCount": 5}
_NOISE = re.compile(
    r' (?:role|aria-[a-z]+|pointer-events|xmlns:xlink|version|class)="[^"]*"'
    r'|<path(?: [a-z-]+="[^"]*")* d=""(?: [a-z-]+="[^"]*")*/>'
)


def pictures(content: Mapping[str, Any]) -> dict[str, str]:
    """Draw the pictures of a dossier.

    `content` is `Dossier.public` or `Dossier.internal`. An SVG element by name; what has
    nothing to draw is left out.
    """
    specs = charts(content)
    drawn = {}
    with task("drawing the report", len(specs)) as step:
        for name, spec in specs.items():
            drawn[name] = inline(spec)
            step(1)
    return drawn


def palette_css() -> str:
    """Return style for the pictures: a variable for each colour, and what is drawn in it.

    The dark counterparts are for screens alone: what is printed is dark on white.
    """
    light, dark = (
        " ".join(f"--{name}: {pair[side]};" for name, pair in PALETTE.items()) for side in (0, 1)
    )
    drawn = "\n".join(
        f'svg [{what}="{colour}"] {{ {what}: var(--{name}); }}'
        for name, (colour, _) in PALETTE.items()
        for what in ("fill", "stroke")
    )
    dark_screen = "@media screen and (prefers-color-scheme: dark)"
    return f":root {{ {light} }}\n{dark_screen} {{ :root {{ {dark} }} }}\n{drawn}"


def charts(content: Mapping[str, Any]) -> dict[str, Spec]:
    """Return the Vega-Lite specification of each picture that a dossier has data for."""
    if content["edition"] == "public":
        return _of_release(content["holds"]) if content["holds"] else {}
    data, drawn = content["data"], {}
    if content["attacks"]:
        drawn["attacks"] = _attacks(content["attacks"])
    if content["stand_out"]["steps"]:
        drawn["stand_out"] = _stand_out(content["stand_out"]["steps"])
    for name, figure, title in (
        ("ratings", "histogram", "share of the ratings"),
        ("ratings_per_user", "ratings_per_user", "share of the users"),
    ):
        bins = data[figure]["bins"]
        if bins:
            drawn[name] = _bars([(each["label"], each["share"]) for each in bins], title)
    if data["long_tail"]["points"]:
        drawn["long_tail"] = _curve(data["long_tail"]["points"])
    if content["histogram"]:
        drawn["histogram"] = _before_after(content["histogram"])
    return drawn


def _of_release(holds: Mapping[str, Any]) -> dict[str, Spec]:
    drawn = {}
    for name, bins, title in (
        ("classes", holds["classes"]["bins"], "records in a class of this size"),
        ("cells", holds["cells"]["histogram"], "share of the cells with a rating"),
    ):
        rows = [(each["label"], each["share"]) for each in bins]
        if rows:
            drawn[name] = _bars(rows, title, colour=_AFTER)
    return drawn


def inline(spec: Spec) -> str:
    """Draw, and keep what is seen: one picture with one name, no parts that are read out."""
    spec = _visible(spec)
    svg = _NOISE.sub("", svg_of(spec))
    name = escape(spec["description"])
    return svg.replace("<svg ", f'<svg role="img" aria-label="{name}" ', 1)


def _visible(spec: Any) -> Any:
    """Escape what cannot be seen in the texts of a picture, and what no SVG may hold."""
    if isinstance(spec, Mapping):
        return {key: _visible(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [_visible(value) for value in spec]
    return shown(spec) if isinstance(spec, str) else spec


def _chart(description: str, body: Spec) -> Spec:
    return {
        "$schema": SCHEMA,
        "description": description,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 12, "right": 12, "top": 4, "bottom": 4},  # fonts differ in width
        "width": _WIDTH,
        **body,
        "config": CONFIG,
    }


def _attacks(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Draw a line for each attack and knowledge, a mark before and one after, 1/k and a guess."""
    values = [
        {"row": i, "name": f"{row['attack']}: {row['knowledge']}", "side": side, **row[side]}
        for i, row in enumerate(rows)
        for side in _SIDES
        if row[side] is not None
    ]
    names = [
        {"row": i, "name": f"{row['attack']}: {row['knowledge']}"}
        | {name: row[name] for name in ("limit", "guessing")}
        for i, row in enumerate(rows)
    ]
    y = encoded("row", "ordinal", axis=None)
    axis = _SHARE | {"title": "right record named, share of the cases"}
    x = encoded("rate", scale={"domain": [0, 1]}, axis=axis)
    colour = _by_side([_BEFORE, _AFTER])
    shape = _by_side(["circle", "diamond"])
    named = {"y": y, "x": {"datum": 0}, "text": {"field": "name"}}
    across = {"y": y, "x": {"datum": 0}, "x2": {"datum": 1}}
    interval = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}, "color": colour}
    dots = {"y": y, "x": x, "color": colour, "shape": shape}
    layers = [
        marks("text", named, names, align="left", dx=2, dy=-14, color=_MUTED),
        marks("rule", across, names, color=_GRID),
        *_ticks(names, x, y),
        marks("rule", interval, values, strokeWidth=2.5, strokeCap="butt"),
        marks("point", dots, values, filled=True, size=75, opacity=1),
    ]
    return _chart(_attacks_in_words(rows), {"height": {"step": 40}, "layer": layers})


def _by_side(shown: list[str]) -> Spec:
    return encoded("side", "nominal", scale={"domain": list(_SIDES), "range": shown}, legend=None)


def _attacks_in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    best = {}
    for side in _SIDES:
        rates = [row[side]["rate"] for row in rows if row[side] is not None]
        best[side] = percent(max(rates)) if rates else "not known"
    return (
        "How often each attack names the right record, before and after. The highest rate in the "
        f"ratings is {best['before']}, in the release {best['after']}; the limit is "
        f"{percent(rows[0]['limit'])}."
    )


def _ticks(rows: Sequence[Mapping[str, Any]], x: Spec, y: Spec) -> list[Spec]:
    """Set each row a long tick at the limit, where there is one, and a short one at a guess."""
    return [
        marks(
            "tick",
            {"y": y, "x": x | {"field": name}},
            [row for row in rows if row[name] is not None],
            color=_LIMIT,
            size=size,
            thickness=2,
        )
        for name, size in (("limit", 14), ("guessing", 7))
    ]


def _stand_out(steps: Sequence[Mapping[str, Any]]) -> Spec:
    rows = [(counted(step["known"], "rating"), step["identified"]["rate"]) for step in steps]
    return _bars(rows, "identified, share of the people", colour=_BEFORE, whole=True)


def _bars(
    rows: Sequence[tuple[str, float]],
    title: str,
    *,
    colour: str = _BEFORE,
    whole: bool = False,
) -> Spec:
    values = [
        {"row": i, "label": label, "share": share, "text": percent(share)}
        for i, (label, share) in enumerate(rows)
    ]
    most = max((share for _, share in rows), default=0) or 1.0
    # room for the figure at the end of the longest bar
    scale = {"domain": [0, (1.0 if whole else most) * 1.16], "nice": False}
    axis = {"title": None, "ticks": False, "domain": False, "labelPadding": 6}
    body = {
        "height": {"step": _ROW},
        "data": {"values": values},
        "encoding": {
            "y": encoded("label", "ordinal", sort={"field": "row"}, axis=axis),
            "x": encoded("share", scale=scale, axis=None),
        },
        "layer": [
            {"mark": {"type": "bar", "color": colour, "height": {"band": 0.72}}},
            marks("text", {"text": {"field": "text"}}, align="left", dx=5),
        ],
    }
    listed = ", ".join(f"{label}: {percent(share)}" for label, share in rows)
    return _chart(f"{title.capitalize()}. {listed}.", body)


def _curve(points: Sequence[Mapping[str, Any]]) -> Spec:
    values = [{"items": 0.0, "ratings": 0.0}, *points]
    whole = {"domain": [0, 1]}
    along = _SHARE | {"title": "of the items, the most rated first", "grid": False}
    x = encoded("items", scale=whole, axis=along)
    y = encoded("ratings", scale=whole, axis=_SHARE | {"title": "of the ratings"})
    body = {
        "height": 200,
        "data": {"values": values},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "area", "color": _BEFORE, "opacity": 0.15}},
            {"mark": {"type": "line", "color": _BEFORE, "strokeWidth": 2}},
        ],
    }
    listed = ", ".join(f"{percent(p['items'])} hold {percent(p['ratings'])}" for p in points)
    return _chart(f"Share of the ratings on the most rated items: {listed}.", body)


def _before_after(histogram: Mapping[str, Any]) -> Spec:
    levels = histogram["levels"]
    values = [
        {"row": i, "level": level, "side": side, "share": share}
        for side in _SIDES
        for i, (level, share) in enumerate(zip(levels, histogram[side], strict=True))
    ]
    axis = {"title": "rating", "labelAngle": 0, "labelOverlap": "parity"}
    body = {
        "height": 190,
        "data": {"values": values},
        "mark": {"type": "bar"},
        "encoding": {
            "x": encoded("level", "ordinal", sort={"field": "row"}, axis=axis),
            "xOffset": {"field": "side", "sort": list(_SIDES)},
            "y": encoded("share", axis=_SHARE | {"title": "share of the ratings"}),
            "color": _by_side([_BEFORE, _AFTER]),
        },
    }
    listed = ", ".join(
        f"{level}: {percent(b)} and {percent(a)}"
        for level, b, a in zip(levels, histogram["before"], histogram["after"], strict=True)
    )
    return _chart(f"Share of the ratings at each level, before and after. {listed}.", body)
