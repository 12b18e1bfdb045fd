"""Charts: what a notebook is offered, and that the words say what the picture shows."""

from __future__ import annotations

import builtins
import json
import math
from xml.etree import ElementTree

import pytest

from starshade import chart
from starshade.chart import VEGALITE_MIME, Chart
from starshade.chart.shapes import Axis, Bar, Dot, Level, bar_chart, curve_chart, dot_chart
from starshade.errors import ConfigError

SHARE = Axis("share", share=True)
DOTS = dot_chart(
    "Found",
    "10 records",
    [Dot("a", 0.5, 0.4, 0.6), Dot("b", 0.25), Dot("nobody", math.nan)],
    SHARE,
    Level(0.1, "guessing"),
)
BARS = bar_chart("Rated", "3 ratings", [Bar("1", 2, "x"), Bar("1", 1, "y")], "rating", Axis("n"))
CURVE = curve_chart(
    "Risk", "9 users", {"one": [(1, 0.1, 0.05, 0.2), (2, 0.4, 0.3, 0.5)], "two": [(1, 0.0)]},
    Axis("known", whole=True), SHARE, Level(0.3, "limit"),
)  # fmt: skip


def texts(svg: str) -> set[str]:
    root = ElementTree.fromstring(svg)
    return {"".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("}text")}


def test_the_words_name_every_figure() -> None:
    assert str(DOTS) == ("Found (10 records). a: 50.0% [40.0%, 60.0%]; b: 25.0%. guessing: 10.0%.")
    assert "1, x: 2; 1, y: 1." in str(BARS)
    assert "one: 2: 40.0%" in str(CURVE)
    assert "limit: 30.0%" in str(CURVE)


@pytest.mark.parametrize("drawn", [DOTS, BARS, CURVE, DOTS.beside(CURVE, title="B", subtitle="")])
def test_it_can_be_drawn_and_names_itself(drawn: Chart) -> None:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    svg = drawn.svg()
    assert drawn["title"]["text"] in texts(svg)
    assert "NaN" not in svg
    assert "http" not in svg.replace("http://www.w3.org/", "")


def test_legend_and_level_are_in_the_picture() -> None:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    assert {"one", "two", "limit", "known"} <= texts(CURVE.svg())
    assert {"a", "b", "guessing"} <= texts(DOTS.svg())


def test_a_notebook_gets_vega_lite_svg_and_words() -> None:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    shown = DOTS._repr_mimebundle_()
    assert set(shown) == {VEGALITE_MIME, "image/svg+xml", "text/plain"}
    assert json.loads(json.dumps(shown[VEGALITE_MIME], allow_nan=False)) == dict(DOTS)
    assert shown["text/plain"] == str(DOTS)


def test_without_the_extra_there_is_no_svg_and_the_message_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name == "vl_convert":
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(chart, "find_spec", lambda name: None)
    assert set(DOTS._repr_mimebundle_()) == {VEGALITE_MIME, "text/plain"}
    with pytest.raises(ConfigError, match=r"pip install 'starshade\[report\]'"):
        DOTS.svg()


def test_several_series_are_told_apart_by_more_than_colour() -> None:
    two = dot_chart("T", "s", [Dot("a", 1, series="x"), Dot("a", 2, series="y")], Axis("n"))
    assert '"shape"' in json.dumps(two)
    _, lines = CURVE["layer"][0]["layer"]
    assert lines["encoding"]["strokeDash"]["scale"]["domain"] == ["one", "two"]
