"""A study's figures as pictures for a page: narrow panels whose colours follow the style."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

from starshade.audit.reproduction.figures import Figure
from starshade.chart import SCHEMA, Spec, colours
from starshade.report.charts import layers
from starshade.report.picture import CONFIG, PALETTE, inline, palette_css

_WIDTH, _HEIGHT = 400, 250  # of a panel, without its legend
_ROW = 19  # height of a line of the legend
_LETTERS = 46  # in such a line
_DARK = ["#58b4f0", "#ff8b45", "#2ccb9c", "#e8a3cb", "#f2b63c", "#a5dcff", "#dd6fa5", "#a9a9a9"]
#: what else charts are drawn in → its name in the palette
_PLAIN = {"black": "ink", "#555": "muted", "#777": "limit"}


def pictures(figure: Figure) -> dict[str, str]:
    """Draw each panel of a figure: an SVG element by what the panel shows."""
    measures = dict.fromkeys(series.measure for series in figure.series)
    return {measure: inline(_panel(figure, measure)) for measure in measures}


def pictures_css() -> str:
    """Return the style of the pictures for light and dark."""
    light = colours(len(_DARK))
    dark = "\n".join(
        f'svg [{what}="{colour}"] {{ {what}: {counterpart}; }}'
        for colour, counterpart in zip(light, _DARK, strict=True)
        for what in ("fill", "stroke")
    )
    plain = "\n".join(
        f'svg [{what}="{colour}"] {{ {what}: var(--{name}); }}'
        for colour, name in _PLAIN.items()
        for what in ("fill", "stroke")
    )
    dark_screen = "@media screen and (prefers-color-scheme: dark)"
    return f"{palette_css()}\n{plain}\n{dark_screen} {{ {dark} }}"


def _panel(figure: Figure, measure: str) -> Spec:
    lines = [series for series in figure.series if series.measure == measure]
    labels = list(dict.fromkeys(series.label for series in lines))
    mistakes = {series.mistakes for series in figure.series} - {""}
    marks = [mark for mark in figure.marks if measure in mark.measures]
    named = 1 + len({mark.label for mark in figure.marks}) if marks else 0
    rows = sum(map(len, map(_wrapped, labels))) + len(mistakes) + named
    described = f"Fig. {figure.number}, {measure}: {figure.title}. Lines: {'; '.join(labels)}."
    if marks:
        described += " The paper: " + "; ".join(f"{m.label} ({m.y:g})" for m in marks) + "."
    return {
        "$schema": SCHEMA,
        "description": described,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 4, "right": 12, "top": 4, "bottom": 4},
        "width": _WIDTH,
        "height": _HEIGHT + _ROW * (0 if figure.unit == "users" else rows),
        "layer": _legends(layers(figure, measure), labels),
        "config": dict(CONFIG) | {"legend": _LEGEND},
    }


_LEGEND = {
    "orient": "bottom",
    "direction": "vertical",
    "columns": 1,
    "labelLimit": 0,
    "labelFontSize": 12.5,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "layout": {"bottom": {"anchor": "start", "direction": "vertical", "margin": 2}},
    "labelColor": PALETTE["ink"][0],
    "titleColor": PALETTE["muted"][0],
    "offset": 6,
}


def _wrapped(label: str) -> list[str]:
    return textwrap.wrap(label, _LETTERS)


def _legends(drawn: Any, labels: list[str]) -> Any:
    """Leave out of the legend what is in other panels; colours stay those of the whole figure."""
    if isinstance(drawn, list):
        return [_legends(each, labels) for each in drawn]
    if not isinstance(drawn, Mapping):
        return drawn
    if drawn.get("field") == "line" and drawn.get("legend"):
        lines = json.dumps({label: _wrapped(label) for label in labels}, ensure_ascii=False)
        own = {"values": labels, "labelExpr": f"({lines})[datum.label]"}
        return {**drawn, "legend": drawn["legend"] | own}
    return {key: each if key == "data" else _legends(each, labels) for key, each in drawn.items()}
