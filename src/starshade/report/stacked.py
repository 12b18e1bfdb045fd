"""Stacked bars: the utility of the ratings, and the content of the cells of a release.

Both draw the data of a dossier, so a report and a page show the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starshade.chart import Spec, encoded, marks
from starshade.plain import percent
from starshade.report.picture import (
    AFTER,
    BEFORE,
    GRID,
    INK,
    LIMIT,
    PERHAPS,
    WIDE,
    WIDTH,
    picture_of,
)

Kinds = Sequence[Mapping[str, Any]]

_BAR = 46  # height of a bar with its title
_LINE = 19  # of a line of text
_COLOURS = {
    "exact": BEFORE,
    "one_step": AFTER,
    "wider": WIDE,
    "existence_only": LIMIT,
    "ambiguous": PERHAPS,
    "suppressed": INK,
    "left-out": GRID,
}
_OF_PROFILES = {
    "half_step": AFTER,
    "one_step": WIDE,
    "wider": PERHAPS,
    "suppressed": INK,
    "left-out": GRID,
}
_OF_CELLS = {
    "one_rating": AFTER,
    "several_ratings": WIDE,
    "perhaps_rated": PERHAPS,
    "no_rating": GRID,
}
_SQUARE: Spec = {"size": 110, "xOffset": 6, "opacity": 1, "filled": True}
_SQUARE |= {"stroke": LIMIT, "strokeWidth": 0.5}


@dataclass(frozen=True)
class _Bar:
    title: str
    parts: tuple[tuple[float, str], ...]  # share, colour; from left to right


def remains_bar(remains: Mapping[str, Any]) -> Spec:
    """Draw the utility of a release above that of item means, and the improvement over these.

    `remains`: as `starshade.audit.dossier.remains.remains_section` returns it.
    """
    kinds, skill = remains["kinds"], remains["improvement_over_item_means"]
    colours = _colours(kinds)
    near, base = remains["within_step"], remains["item_means_within_step"]
    bars = [
        _bar(f"This release: {percent(near)} within ±1 step", kinds, colours),
        _Bar(
            f"Item means: {percent(base)} within ±1 step",
            ((base, colours["one_step"]), (1 - base, colours["wider"])),
        ),
    ]
    worth = "not measured" if skill is None else f"{skill:.2f}".replace("-", "−")
    notes = [f"Improvement over item means: {worth} (1: exact, below 0: worse)"]
    said = f"Utility of the ratings. {_listed(kinds)}. {remains['text']}"
    return _drawn(said, bars, _legend(kinds, colours), notes, at=base)


def kinds_bar(kinds: Kinds) -> Spec:
    """Draw the utility of the ratings alone; `kinds` as of `remains_bar`."""
    colours = _colours(kinds)
    kinds = [kind for kind in kinds if kind["share"] > 0]
    bar = _bar("All ratings of the original data", kinds, colours)
    return _drawn(f"Utility of the ratings. {_listed(kinds)}.", [bar], _legend(kinds, colours), [])


def _colours(kinds: Kinds) -> Mapping[str, str]:
    return _OF_PROFILES if any(kind["name"] == "half_step" for kind in kinds) else _COLOURS


def cells_bar(kinds: Kinds) -> Spec:
    """Draw the content of the cells: ``name``, ``label`` and ``share`` of each kind."""
    bar = _bar("All cells of the release", kinds, _OF_CELLS)
    said = f"Content of the cells. {_listed(kinds)}."
    return _drawn(said, [bar], _legend(kinds, _OF_CELLS), [])


def _bar(title: str, kinds: Kinds, colours: Mapping[str, str]) -> _Bar:
    return _Bar(title, tuple((kind["share"], colours.get(kind["name"], GRID)) for kind in kinds))


def _legend(kinds: Kinds, colours: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [
        (kind["label"], percent(kind["share"]), colours.get(kind["name"], GRID)) for kind in kinds
    ]


def _listed(kinds: Kinds) -> str:
    return ", ".join(f"{kind['label']}: {percent(kind['share'])}" for kind in kinds)


def _drawn(
    said: str,
    bars: Sequence[_Bar],
    legend: Sequence[tuple[str, str, str]],
    notes: Sequence[str],
    at: float | None = None,
) -> Spec:
    """Draw bars, a legend, and notes below; `at`: a line through each bar."""
    titles = [_text(bar.title, _BAR * i + 8) for i, bar in enumerate(bars)]
    parts = [part for i, bar in enumerate(bars) for part in _parts(bar, _BAR * i + 18)]
    top = _BAR * len(bars) + 10
    ends = top + _LINE * len(legend)
    rows = [
        {"label": label, "share": share, "y": top + _LINE * i, "colour": colour}
        for i, (label, share, colour) in enumerate(legend)
    ]
    titles += [_text(note, ends + 4 + _LINE * i) for i, note in enumerate(notes)]
    x, y = encoded("x", scale={"domain": [0, 1], "nice": False}, axis=None), _pixels("y")
    fill = {"field": "colour", "type": "nominal", "scale": None, "legend": None}
    across = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "color": fill}
    place, far = ({"x": {"value": x_}, "y": y} for x_ in (0, WIDTH - 30))
    layers = [
        marks("rect", across, parts, stroke=LIMIT, strokeWidth=0.5),
        marks("text", place | {"text": {"field": "text"}}, titles, align="left", color=INK),
        marks("square", place | {"color": fill}, rows, **_SQUARE),
        marks("text", place | {"text": {"field": "label"}}, rows, align="left", dx=20, color=INK),
        marks("text", far | {"text": {"field": "share"}}, rows, align="right", color=INK),
    ]
    if at is not None:
        line = {"x": x, "y": y, "y2": {"field": "y2"}}
        mark = [{"x": at, "y": _BAR * i + 16, "y2": _BAR * i + 40} for i in range(len(bars))]
        layers.append(marks("rule", line, mark, color=INK, strokeDash=[4, 3], strokeWidth=1.5))
    height = ends + _LINE * len(notes) + 4
    return picture_of(said, {"height": height, "layer": layers})


def _text(text: str, y: int) -> dict[str, Any]:
    return {"text": text, "y": y}


def _parts(bar: _Bar, top: int) -> list[dict[str, Any]]:
    found, start = [], 0.0
    for share, colour in bar.parts:
        if share > 0:
            found.append({"x": start, "x2": start + share, "colour": colour, "y": top})
        start += share
    return [part | {"y2": top + 18} for part in found]


def _pixels(field: str) -> Spec:
    """Place by pixels from the top."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}
