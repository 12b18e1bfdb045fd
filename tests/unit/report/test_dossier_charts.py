"""The pictures of a report: their colours in light, dark and print, their names, their figures."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from starshade.audit.dossier.dossier import Dossier
from starshade.report.dossier_charts import charts, pictures
from starshade.report.page import render_report
from starshade.report.picture import PALETTE, palette_css
from tests.unit.report.dossiers import Shown, small_dossier

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def dossier(tmp_path_factory: pytest.TempPathFactory) -> Dossier:
    return small_dossier(tmp_path_factory.mktemp("dossier"))


@pytest.fixture(scope="module")
def told(dossier: Dossier) -> dict[str, Any]:
    return dossier.internal()


@pytest.fixture(scope="module")
def drawn(dossier: Dossier) -> dict[str, ElementTree.Element]:
    both = pictures(dossier.internal()) | pictures(dossier.public())
    return {name: ElementTree.fromstring(svg) for name, svg in both.items()}


def test_there_is_a_picture_of_each(drawn: dict[str, ElementTree.Element]) -> None:
    assert set(drawn) == {
        "attacks",
        "stand_out",
        "ratings",
        "ratings_per_user",
        "long_tail",
        "histogram",
        "remains",
        "remains_small",
        "says",
        "classes",
        "cells",
    }


def test_every_colour_has_its_counterpart_in_the_dark(
    drawn: dict[str, ElementTree.Element],
) -> None:
    style = palette_css()
    known = {light for light, _ in PALETTE.values()}
    for name, svg in drawn.items():
        for element in svg.iter():
            for what in ("fill", "stroke"):
                colour = element.get(what)
                assert colour in (None, "none", "transparent", *known), (name, element.tag)
                if colour in known:
                    assert f'svg [{what}="{colour}"]' in style
            if element.tag == f"{SVG}text":  # else it is black, in the dark too
                assert element.get("fill") in known
            assert element.get("style") is None


@pytest.mark.parametrize(("side", "scheme"), [(0, "light"), (1, "dark")])
def test_marks_and_text_stand_out_from_the_page(
    told: dict[str, Any], side: int, scheme: str
) -> None:
    html = render_report(_shown(told), public=False)
    ground = re.findall(r"--page: (#\w{6})", html)[side]
    for name, colours in PALETTE.items():
        least = 1.2 if name in ("grid", "wide", "perhaps") else 4.5  # these have an outline
        assert _contrast(colours[side], ground) >= least, name


def test_contrast_is_measured_as_wcag_does() -> None:
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_each_picture_is_one_thing_with_a_name(drawn: dict[str, ElementTree.Element]) -> None:
    for svg in drawn.values():
        assert svg.get("role") == "img"
        assert svg.get("aria-label")
        inner = [element for element in svg.iter() if element is not svg]
        assert not [e for e in inner if e.get("role") or e.get("aria-label") or e.get("id")]


def test_the_attack_picture_shows_what_is_known_before_and_after(
    told: dict[str, Any], drawn: dict[str, ElementTree.Element]
) -> None:
    svg = drawn["attacks"]
    said = [element.text for element in svg.iter(f"{SVG}text")]
    known = list(dict.fromkeys(row["knew"] for row in told["attacks"]))
    assert "4 ratings, exactly" in known
    assert set(known) <= set(said)
    assert not [text for text in said if "likelihood" in (text or "")]
    marks = _marks(svg)
    assert len(marks["before"]) == len(marks["after"]) == len(known)
    # further right is more often: the order of marks is the order of the rates
    for side, found in marks.items():
        rates = [
            max(row[side]["rate"] for row in told["attacks"] if row["knew"] == knew)
            for knew in known
        ]
        assert all(
            (found[i] < found[j]) == (rates[i] < rates[j])
            for i in range(len(known))
            for j in range(len(known))
        )


def test_thresholds_and_baselines_are_ticked_where_there_are_some(told: dict[str, Any]) -> None:
    layers = charts(told)["attacks"]["layer"]
    ticks = [layer for layer in layers if layer["mark"]["type"] == "tick"]
    known = len({row["knew"] for row in told["attacks"]})
    assert [len(layer["data"]["values"]) for layer in ticks] == [known] * 2
    free = {**told, "attacks": [{**row, "threshold": None} for row in told["attacks"]]}
    ticks = [x for x in charts(free)["attacks"]["layer"] if x["mark"]["type"] == "tick"]
    assert [len(layer["data"]["values"]) for layer in ticks] == [0, known]


def test_bars_say_their_figure(told: dict[str, Any], drawn: dict[str, ElementTree.Element]) -> None:
    said = [element.text for element in drawn["ratings"].iter(f"{SVG}text")]
    for each in told["data"]["histogram"]["bins"]:
        assert each["label"] in said
        assert f"{each['share']:.1%}" in said


def test_bars_stand_in_the_order_that_is_told(told: dict[str, Any]) -> None:
    # neither of the alphabet nor of size
    steps = [
        {"known": m, "identified": {"rate": rate}} for m, rate in ((2, 0.5), (16, 0.1), (4, 0.3))
    ]
    few = {**told, "stand_out": {**told["stand_out"], "steps": steps}}
    svg = ElementTree.fromstring(pictures(few)["stand_out"])
    labels = {}
    for text in svg.iter(f"{SVG}text"):
        place = re.match(r"translate\([\d.-]+,([\d.-]+)\)", text.get("transform") or "")
        if place and (text.text or "").endswith("ratings"):
            labels[float(place[1])] = text.text
    assert [labels[y] for y in sorted(labels)] == ["2 ratings", "16 ratings", "4 ratings"]


def _marks(svg: ElementTree.Element) -> dict[str, list[float]]:
    """Return where the points of each side lie, from left to right, in the order of the rows."""
    found: dict[str, list[tuple[float, float]]] = {"before": [], "after": []}
    for path in svg.iter(f"{SVG}path"):
        place = re.fullmatch(r"translate\(([\d.-]+),([\d.-]+)\)", path.get("transform") or "")
        for side, points in found.items():
            if place and path.get("fill") == PALETTE[side][0]:
                points.append((float(place[2]), float(place[1])))
    return {side: [x for _, x in sorted(points)] for side, points in found.items()}


def _contrast(one: str, other: str) -> float:
    """Return WCAG's contrast ratio of two colours."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(c * w for c, w in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def _shown(told: dict[str, Any]) -> Any:
    return Shown(told)
