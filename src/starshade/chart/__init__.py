"""Charts as Vega-Lite specifications: plain data that a notebook or a browser draws.

A chart is a dict with its data inside. A notebook shows it as Vega-Lite where it can, else as SVG
(with the optional extra ``starshade[report]``), else as a sentence.

Every chart has a subtitle with its basis, 95 % intervals, and a text (``description``, which
becomes the SVG's accessible name). Its colours suit colour-blind readers; shapes and dashes
repeat them.
"""

from __future__ import annotations

from collections.abc import Container
from importlib.util import find_spec
from typing import Any

from starshade.errors import ConfigError

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
#: what notebooks call such a specification
VEGALITE_MIME = "application/vnd.vegalite.v5+json"
_VERSION = "5.17"
# Okabe and Ito's palette, safe for colour-blind readers; then two, one of them grey
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
_COLOURS += ["#882255", "#777777"]
DISTINCT = len(_COLOURS)  # lines that colours alone tell apart

Spec = dict[str, Any]

#: how every chart looks
CONFIG: Spec = {
    "font": "sans-serif",
    "background": "white",
    "view": {"stroke": None},
    "axis": {"gridColor": "#eee", "labelFontSize": 11, "titleFontSize": 12, "titlePadding": 8},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "labelLimit": 260},
    "title": {"fontSize": 15, "subtitleFontSize": 11, "subtitleColor": "#555"},
}


class Chart(Spec):
    """A Vega-Lite v5 specification that a notebook draws when it is the last line of a cell.

    It is the dict itself: ``json.dump(chart, file)`` writes what any Vega-Lite viewer opens.

    Parameters
    ----------
    title, subtitle : str
        What is shown; its basis.
    description : str
        The chart as text, with its main values, for readers who cannot see it.
    body : dict
        The rest of the specification.

    Examples
    --------
    >>> dots = Chart("Two", "an example", "Two points.", {"data": {"values": []}, "mark": "point"})
    >>> str(dots)
    'Two (an example). Two points.'
    """

    def __init__(self, title: str, subtitle: str, description: str, body: Spec) -> None:
        super().__init__(
            {
                "$schema": SCHEMA,
                "description": f"{title} ({subtitle}). {description}",
                "title": {"text": title, "subtitle": subtitle, "anchor": "start", "offset": 16},
                **body,
                "config": CONFIG,
            }
        )

    def beside(self, other: Chart, *, title: str, subtitle: str) -> Chart:
        """Return this chart and another as two panels of one.

        Parameters
        ----------
        other : Chart
            The panel on the right.
        title, subtitle : str
            Of both together; each keeps its own title over its panel.
        """
        panels = [_panel(self), _panel(other)]
        return Chart(title, subtitle, f"{self} {other}", {"hconcat": panels, "spacing": 28})

    def svg(self) -> str:
        """Render the chart.

        Returns
        -------
        str
            An SVG document.

        Raises
        ------
        ConfigError
            The optional extra ``starshade[report]`` is not installed.
        """
        return svg_of(self)

    def __str__(self) -> str:
        return str(self["description"])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text; IPython would print the dict."""
        printer.text(str(self))

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, Any]:
        """Return what a notebook can show: Vega-Lite, SVG, text."""
        shown: dict[str, Any] = {VEGALITE_MIME: dict(self), "text/plain": str(self)}
        if drawable():
            shown["image/svg+xml"] = self.svg()
        return shown


def _panel(chart: Chart) -> Spec:
    whole = ("$schema", "config", "description")
    panel = {name: part for name, part in chart.items() if name not in whole}
    return panel | {"title": small_title(chart["title"]["text"])}


def drawable() -> bool:
    """Return whether charts can be drawn as SVG."""
    return find_spec("vl_convert") is not None


def svg_of(spec: Spec) -> str:
    """Render a specification; ConfigError where the optional extra is not installed."""
    try:
        import vl_convert
    except ImportError as error:
        raise ConfigError(
            "charts as SVG need an optional package that is not installed",
            advice="pip install 'starshade[report]'",
        ) from error
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VERSION))


def colours(n: int) -> list[str]:
    """Return n colours, repeated after the eighth."""
    return [_COLOURS[i % len(_COLOURS)] for i in range(n)]


def encoded(field: str, kind: str = "quantitative", **more: Any) -> Spec:
    """Return the encoding of a field."""
    return {"field": field, "type": kind, **more}


def marks(kind: str, encoding: Spec, values: Any = None, **look: Any) -> Spec:
    """Return a layer of marks of one kind; `values`: its own data."""
    data = {} if values is None else {"data": {"values": values}}
    return {**data, "mark": {"type": kind, **look}, "encoding": encoding}


def small_title(text: str) -> Spec:
    """Return the title of one panel of several."""
    return {"text": text, "fontSize": 12, "fontWeight": "normal", "anchor": "start"}
