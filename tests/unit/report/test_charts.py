"""Figures as charts."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from starshade.audit.reproduction.figures import Figure, Level, Mark, Point, Series
from starshade.chart import colours, svg_of
from starshade.errors import ConfigError
from starshade.report.charts import chart

ATTACK = Figure(
    "4", "A title", "known cells", "share of targets", "share",
    (
        Series("days ±3", "right", (Point(2, 0.5, 0.4, 0.6), Point(4, 0.7, 0.6, 0.8)), "all right"),
        Series("days ±3", "right", (Point(4, 0.3, 0.2, 0.4),), "2 wrong"),
        Series("days ±3", "bits", (Point(4, 3.0, 2.5, 3.5),), "2 wrong"),
    ),
    (Mark(2, 0.68, "68 % there", ("right",)),),
    (Level(0.9, "before"),),
)  # fmt: skip


TIMES = Figure(
    "3a", "A title", "% of the records", "seconds", "seconds",
    (Series("strict", "top", (Point(10, 0.5, 0.4, 0.6), Point(20, 0.7, 0.6, 0.8))),
     Series("zero", "top", (Point(10, 0.3, 0.2, 0.4),))),
    y_log=True, dotted=True,
)  # fmt: skip


def data_of(spec: Any) -> list[dict[str, Any]]:
    """All data in a specification, wherever they stand."""
    if isinstance(spec, list):
        return [row for part in spec for row in data_of(part)]
    if not isinstance(spec, dict):
        return []
    own = spec["data"]["values"] if "data" in spec else []
    return own + [row for key, part in spec.items() if key != "data" for row in data_of(part)]


def test_a_chart_holds_points_intervals_marks_and_levels() -> None:
    spec = chart(ATTACK, "80 users")
    rows = data_of(spec)
    assert spec["title"]["subtitle"] == "80 users"
    assert len(spec["hconcat"]) == 2, "one panel per measure"
    points = [(row["x"], row["y"], row["low"], row["high"]) for row in rows if "low" in row]
    assert points == [
        (2, 0.5, 0.4, 0.6),
        (4, 0.7, 0.6, 0.8),
        (4, 0.3, 0.2, 0.4),
        (4, 3.0, 2.5, 3.5),
    ]
    assert sum(row.get("label") == "68 % there" for row in rows) == 1, "only in its own panel"
    assert sum(row.get("label") == "before" for row in rows) == 2
    assert json.loads(json.dumps(spec)) == spec


def encodings(spec: Any) -> list[dict[str, Any]]:
    if isinstance(spec, list):
        return [found for part in spec for found in encodings(part)]
    if not isinstance(spec, dict):
        return []
    own = [spec["encoding"]] if "encoding" in spec else []
    return own + [found for part in spec.values() for found in encodings(part)]


def test_intervals_are_drawn_from_low_to_high() -> None:
    drawn = [e for e in encodings(chart(ATTACK, "")) if "y2" in e]
    assert [(e["y"]["field"], e["y2"]["field"]) for e in drawn] == [("low", "high")] * 2


def test_lines_that_share_a_point_stand_side_by_side() -> None:
    shown = [row["shown"] for row in data_of(chart(ATTACK, "")) if row.get("x") == 4]
    assert len(set(shown[:2])) == 2
    assert all(abs(x - 4) < 0.5 for x in shown)


def test_marks_of_the_paper_are_in_the_legend() -> None:
    picture = svg_of(chart(ATTACK, ""))
    assert "the paper" in picture
    assert "68 % there" in picture


def test_measured_points_have_dots_and_bars_and_no_dashes() -> None:
    spec = chart(TIMES, "")
    rows = [row for row in data_of(spec) if "low" in row]
    assert [(row["x"], row["y"], row["low"], row["high"]) for row in rows] == [
        (10, 0.5, 0.4, 0.6),
        (20, 0.7, 0.6, 0.8),
        (10, 0.3, 0.2, 0.4),
    ]
    kinds = [layer["mark"]["type"] for layer in spec["hconcat"][0]["layer"][0]["layer"]]
    assert kinds == ["rule", "line", "circle"]
    drawn = encodings(spec)
    assert not any("strokeDash" in encoding for encoding in drawn)
    assert all(e["y"]["scale"] == {"type": "log"} for e in drawn if "y" in e)
    axis = next(e["x"] for e in drawn if "x" in e)
    assert axis["axis"]["values"] == [10, 20]
    low, high = axis["scale"]["domain"]
    shown = [row["shown"] for row in rows]
    assert low < min(shown) < max(shown) < high
    assert len(set(shown)) == 3


def test_a_time_of_twenty_is_written_as_twenty() -> None:
    picture = svg_of(chart(TIMES, "three runs"))
    assert ">20<" in picture
    assert "three runs" in picture


def test_every_line_has_a_colour_of_its_own_and_says_its_configuration() -> None:
    lines = [Series("a", "m", (Point(1, i),), configuration=c) for i, c in enumerate(["", "ours"])]
    spec = chart(replace(ATTACK, series=tuple(lines), marks=()), "")
    scale = next(e["color"]["scale"] for e in encodings(spec) if "color" in e)
    assert scale["domain"] == ["a", "a (ours)"]
    assert len(set(scale["range"])) == 2
    assert colours(9)[8] == colours(1)[0]


def test_lines_keep_their_colour_in_another_configuration_of_another_panel() -> None:
    lines = [
        Series(name, panel, (Point(1, 1),), configuration=configuration)
        for panel, configuration in (("before", ""), ("after", "as-read"))
        for name in ("a", "b")
    ]
    spec = chart(replace(ATTACK, series=tuple(lines), marks=()), "")
    scale = next(e["color"]["scale"] for e in encodings(spec) if "color" in e)
    assert scale["domain"] == ["a", "b", "a (as-read)", "b (as-read)"]
    assert scale["range"] == colours(2) * 2


def test_more_lines_than_colours_are_told_apart_by_dashes() -> None:
    lines = [Series("", "m", (Point(1, i),), configuration=f"ours, but {i}") for i in range(10)]
    spec = chart(replace(ATTACK, series=tuple(lines), marks=()), "")
    drawn = next(e for e in encodings(spec) if "strokeDash" in e)
    looks = zip(
        drawn["color"]["scale"]["range"], drawn["strokeDash"]["scale"]["range"], strict=True
    )
    assert len({(colour, str(dash)) for colour, dash in looks}) == 10
    assert drawn["color"]["scale"]["domain"][0] == "ours, but 0"


def test_without_the_extra_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ConfigError, match=r"pip install 'starshade\[report\]'"):
        svg_of(chart(ATTACK, ""))
