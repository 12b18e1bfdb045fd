"""The pictures of a report: Vega-Lite specifications, and those as SVG that style can colour.

Pictures are narrow, to fit a phone, and each has a text alternative; the figures are in a table
next to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starshade.chart import Spec, encoded, marks
from starshade.plain import counted, percent
from starshade.progress import task
from starshade.report.picture import AFTER, BEFORE, GRID, LIMIT, MUTED, inline, picture_of
from starshade.report.stacked import cells_bar, kinds_bar, remains_bar

_SIDES = ("before", "after")
_ROW = 24  # height of a bar with its space
_SHARE = {"format": "~%", "tickCount": 5}


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


def charts(content: Mapping[str, Any]) -> dict[str, Spec]:
    """Return the Vega-Lite specification of each picture that a dossier has data for."""
    if content["audience"] == "public":
        return _of_release(content["holds"]) if content["holds"] else {}
    data, drawn = content["data"], {}
    if content["attacks"]:
        drawn["attacks"] = _attacks(content["attacks"])
    if content["stand_out"]["steps"]:
        drawn["stand_out"] = _stand_out(content["stand_out"]["steps"])
    for name, figure, title in (
        ("ratings", "histogram", "share of ratings"),
        ("ratings_per_user", "ratings_per_user", "share of users"),
    ):
        bins = data[figure]["bins"]
        if bins:
            drawn[name] = _bars([(each["label"], each["share"]) for each in bins], title)
    if data["long_tail"]["points"]:
        drawn["long_tail"] = _curve(data["long_tail"]["points"])
    if content["remains"]:
        drawn["remains"] = remains_bar(content["remains"])
        drawn["remains_small"] = kinds_bar(content["remains"]["kinds"])
    if content["histogram"]:
        drawn["histogram"] = _before_after(content["histogram"])
    return drawn


def _of_release(holds: Mapping[str, Any]) -> dict[str, Spec]:
    kinds = holds["cells"]["kinds"]
    drawn = {"says": cells_bar(kinds)} if kinds else {}
    for name, bins, title in (
        ("classes", holds["classes"]["bins"], "share of records, by class size"),
        ("cells", holds["cells"]["histogram"], "share of cells with a rating"),
    ):
        rows = [(each["label"], each["share"]) for each in bins]
        if rows:
            drawn[name] = _bars(rows, title, colour=AFTER)
    return drawn


def _attacks(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Draw a line for each knowledge, a mark before and one after, threshold and baseline."""
    rows = strongest(rows)
    values = [
        {"row": i, "name": row["knew"], "side": side, **row[side]}
        for i, row in enumerate(rows)
        for side in _SIDES
        if row[side] is not None
    ]
    names = [
        {"row": i, "name": row["knew"]} | {name: row[name] for name in ("threshold", "baseline")}
        for i, row in enumerate(rows)
    ]
    y = encoded("row", "ordinal", axis=None)
    axis = _SHARE | {"title": "re-identified, share of targets"}
    x = encoded("rate", scale={"domain": [0, 1]}, axis=axis)
    colour = _by_side([BEFORE, AFTER])
    shape = _by_side(["circle", "diamond"])
    named = {"y": y, "x": {"datum": 0}, "text": {"field": "name"}}
    across = {"y": y, "x": {"datum": 0}, "x2": {"datum": 1}}
    interval = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}, "color": colour}
    dots = {"y": y, "x": x, "color": colour, "shape": shape}
    layers = [
        marks("text", named, names, align="left", dx=2, dy=-14, color=MUTED),
        marks("rule", across, names, color=GRID),
        *_ticks(names, x, y),
        marks("rule", interval, values, strokeWidth=2.5, strokeCap="butt"),
        marks("point", dots, values, filled=True, size=75, opacity=1),
    ]
    return picture_of(_attacks_in_words(rows), {"height": {"step": 40}, "layer": layers})


def strongest(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each knowledge, with the strongest attack before and after."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        kept = found.setdefault(row["knew"], dict(row))
        for side in _SIDES:
            rates = [each for each in (kept[side], row[side]) if each is not None]
            kept[side] = max(rates, key=lambda rate: float(rate["rate"]), default=None)
    return list(found.values())


def _by_side(shown: list[str]) -> Spec:
    return encoded("side", "nominal", scale={"domain": list(_SIDES), "range": shown}, legend=None)


def _attacks_in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    best = {}
    for side in _SIDES:
        rates = [row[side]["rate"] for row in rows if row[side] is not None]
        best[side] = percent(max(rates)) if rates else "not measured"
    return (
        f"Re-identification. Highest initial risk, in the original data: {best['before']}; highest "
        f"residual risk, in the release: {best['after']}; threshold: "
        f"{percent(rows[0]['threshold'])}."
    )


def _ticks(rows: Sequence[Mapping[str, Any]], x: Spec, y: Spec) -> list[Spec]:
    """Set each row a long tick at the threshold, if there is one, a short one at the baseline."""
    return [
        marks(
            "tick",
            {"y": y, "x": x | {"field": name}},
            [row for row in rows if row[name] is not None],
            color=LIMIT,
            size=size,
            thickness=2,
        )
        for name, size in (("threshold", 14), ("baseline", 7))
    ]


def _stand_out(steps: Sequence[Mapping[str, Any]]) -> Spec:
    rows = [(counted(step["known"], "rating"), step["identified"]["rate"]) for step in steps]
    return _bars(rows, "identified, share of people", colour=BEFORE, whole=True)


def _bars(
    rows: Sequence[tuple[str, float]],
    title: str,
    *,
    colour: str = BEFORE,
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
    return picture_of(f"{title.capitalize()}. {listed}.", body)


def _curve(points: Sequence[Mapping[str, Any]]) -> Spec:
    values = [{"items": 0.0, "ratings": 0.0}, *points]
    whole = {"domain": [0, 1]}
    along = _SHARE | {"title": "share of items, most rated first", "grid": False}
    x = encoded("items", scale=whole, axis=along)
    y = encoded("ratings", scale=whole, axis=_SHARE | {"title": "share of ratings"})
    body = {
        "height": 200,
        "data": {"values": values},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "area", "color": BEFORE, "opacity": 0.15}},
            {"mark": {"type": "line", "color": BEFORE, "strokeWidth": 2}},
        ],
    }
    listed = ", ".join(f"{percent(p['items'])} hold {percent(p['ratings'])}" for p in points)
    return picture_of(f"Share of ratings on the most rated items: {listed}.", body)


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
            "y": encoded("share", axis=_SHARE | {"title": "share of ratings"}),
            "color": _by_side([BEFORE, AFTER]),
        },
    }
    listed = ", ".join(
        f"{level}: {percent(b)} and {percent(a)}"
        for level, b, a in zip(levels, histogram["before"], histogram["after"], strict=True)
    )
    return picture_of(f"Share of ratings at each level, before and after. {listed}.", body)
