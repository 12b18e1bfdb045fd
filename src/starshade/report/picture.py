"""Shared by the pictures of a report: colours in light and dark, size, and inline SVG.

Each picture is drawn once, in the colours of the light page. The page's style gives every colour
of `PALETTE` its counterpart in the dark (`palette_css`), so one SVG serves light, dark and print.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from starshade.chart import SCHEMA, Spec, drawable, svg_of
from starshade.query.statement import shown

#: what a colour is for → in the light, in the dark; the light ones are those of the SVG
PALETTE: Mapping[str, tuple[str, str]] = {
    "ink": ("#1d2025", "#e9ebee"),
    "muted": ("#565b63", "#b3b8c1"),
    "grid": ("#e2e4e8", "#363b44"),
    "before": ("#b84f00", "#ff9f5c"),  # vermilion and blue: apart for the colour-blind too
    "after": ("#0067a3", "#6fbff5"),
    "limit": ("#5f646d", "#a9afb9"),
    "wide": ("#7db3d8", "#2c6590"),
    "perhaps": ("#a6abb4", "#5b616b"),
}
INK, MUTED, GRID, BEFORE, AFTER, LIMIT, WIDE, PERHAPS = (light for light, _ in PALETTE.values())

WIDTH = 400  # of a picture, all in all
CONFIG: Spec = {
    "font": "sans-serif",
    "background": None,
    "view": {"stroke": None},
    "text": {"color": INK, "fontSize": 12},
    "axis": {
        "gridColor": GRID,
        "domainColor": LIMIT,
        "tickColor": LIMIT,
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 200,
    },
}
_NOISE = re.compile(
    r' (?:role|aria-[a-z]+|pointer-events|xmlns:xlink|version|class)="[^"]*"'
    r'|<path(?: [a-z-]+="[^"]*")* d=""(?: [a-z-]+="[^"]*")*/>'
)


def palette_css() -> str:
    """Return style for the pictures: a variable for each colour, and its use.

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


def inline(spec: Spec) -> str:
    """Draw a picture with one accessible name and no named parts.

    Without the drawing package it is a sentence: the name.
    """
    spec = _visible(spec)
    name = escape(spec["description"])
    if not drawable():
        return f"<p>{name}</p>"
    svg = _NOISE.sub("", svg_of(spec))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{name}" ', 1)


def _visible(spec: Any) -> Any:
    """Escape what cannot be seen in the texts of a picture, and what no SVG may hold."""
    if isinstance(spec, Mapping):
        return {key: _visible(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [_visible(value) for value in spec]
    return shown(spec) if isinstance(spec, str) else spec


def picture_of(description: str, body: Spec) -> Spec:
    """Return the specification of a picture, with its text alternative."""
    return {
        "$schema": SCHEMA,
        "description": description,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 12, "right": 12, "top": 4, "bottom": 4},  # fonts differ in width
        "width": WIDTH,
        **body,
        "config": CONFIG,
    }
