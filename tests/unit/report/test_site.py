"""The site of all papers."""

from __future__ import annotations

import csv
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.papers import PAPERS
from starshade.chart import colours
from starshade.errors import ConfigError
from starshade.report.panels import pictures
from starshade.report.site import save_site
from tests.unit.report.stub_study import PAPER, everything


@pytest.fixture(autouse=True)
def stubbed() -> Iterator[None]:
    papers: Any = PAPERS
    papers["xx"] = PAPER
    yield
    del papers["xx"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site") / "site"


@pytest.fixture
def pages(site: Path) -> dict[str, str]:
    if not site.exists():
        names = save_site(everything(), site)
        assert names == ("claims.csv", "index.html", "times.html", "xx.html")
    return {path.name: path.read_text("utf-8") for path in site.iterdir()}


def test_only_its_owner_may_look(site: Path, pages: dict[str, str]) -> None:
    assert stat.S_IMODE(site.stat().st_mode) == 0o700
    assert all("<strong>Internal.</strong>" in p for n, p in pages.items() if n != "claims.csv")


def test_made_up_ratings_are_nobody_s(tmp_path: Path) -> None:
    found = everything()
    save_site(replace(found, data=found.data | {"synthetic": True}), tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "<strong>Internal.</strong>" not in page
    assert "These pages contain no real person." in page
    assert "made-up ratings, 30 users" in page


def test_pages_load_nothing_and_lead_only_to_each_other(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        if name == "claims.csv":
            continue
        assert "<script" not in page
        assert not re.findall(r'\b(?:src|xlink:href)="', page)
        assert "Content-Security-Policy" in page
        for link in re.findall(r'href="([^"]*)"', page):
            file, _, anchor = link.partition("#")
            assert (file or name) in pages, link
            assert not anchor or f'id="{anchor}"' in pages[file or name], link


def test_a_sentence_of_two_papers_is_counted_once() -> None:
    found = everything()
    (study,) = found.studies
    other: Any = replace(
        study, claims=tuple(replace(e, claim=replace(e.claim, same="xx-01")) for e in study.claims)
    )
    first = replace(found, studies=(study, other)).summary[0]
    assert first.startswith(
        "7 claims of 2 papers decided by data: 1 holds, 2 do not, 4 cannot be tested"
    )
    assert "7 claims shared by two papers: counted once." in first
    (alone, _) = replace(found, studies=(replace(other, claims=other.claims[1:]),)).summary[:2]
    assert alone.startswith("6 claims of 1 paper")  # the other is not here


def test_ten_lines_sum_up(pages: dict[str, str]) -> None:
    found = everything()
    assert len(found.summary) <= 10
    assert found.summary[0].startswith(
        "7 claims of 1 paper decided by data: 1 holds, 2 do not, 4 cannot be tested"
    )
    # the abstract's first, then the introduction's
    assert found.summary[1].endswith(
        "Holds: a record is found by <b>eight</b> ratings (share found: 0.9003). "
        "Does not hold: the error rises with k | steeply (least step of the error: -0.4997; "
        "holds with half stars made whole: 0.2503)."
    )
    assert "1 shown by an intervention, 1 unknown" in found.summary[2]
    for why in ("other ratings", "data lack what is needed", "lost", "interval crosses"):
        assert f"{why}" in found.summary[3]
    assert found.summary[4].startswith("Worked examples: 3 of 4 cells in 1 table")
    assert found.table.rows == (("Nobody & Sons", "7", "1", "2", "4", "0 of 0"),)
    assert "needs personal attributes" in pages["index.html"]
    assert pages["index.html"].count("<li>") >= len(found.summary)


def test_a_paper_s_page_has_all_of_it(pages: dict[str, str]) -> None:
    page = pages["xx.html"]
    for number in range(1, 9):
        assert f'id="xx-0{number}"' in page
    for said in (
        "a record is found by &lt;b&gt;eight",
        "holds with half stars made whole: 0.2503",
        "with a third of the ratings: -0.4997, not met",
        "0.6 [0.4, 0.8]",
        "stands in a figure that the text lost",
        "Errata of the papers",
        "<b>5</b>",
        "the paper: 4",
        "padded (as-read, but groups by exchange)",
        "1.0256 at k = 4",
        "the data have no dates",
    ):
        assert said in page, said
    assert page.count("<svg") == 2, "one for each panel"


def test_a_line_has_one_colour_in_all_panels_and_the_legend_of_its_own() -> None:
    lines = [
        Series(name, measure, (Point(1, 1), Point(2, 2)))
        for measure, names in (("left", ("alpha", "beta")), ("right", ("beta", "gamma")))
        for name in names
    ]
    drawn = pictures(Figure("1", "A title", "k", "error", "number", tuple(lines)))
    legends = {name: set(re.findall(r">(alpha|beta|gamma)<", svg)) for name, svg in drawn.items()}
    assert legends == {"left": {"alpha", "beta"}, "right": {"beta", "gamma"}}
    strokes = {
        name: set(re.findall(r'stroke="(#[0-9A-F]{6})"', svg)) for name, svg in drawn.items()
    }
    first, second, third = colours(3)
    assert strokes["left"] >= {first, second}
    assert third not in strokes["left"]
    assert strokes["right"] >= {second, third}
    assert first not in strokes["right"]


def test_a_long_name_stands_whole_in_the_legend() -> None:
    words = [f"word{i}" for i in range(12)]
    line = Series.of(" ".join(words), "", (2, 4), (1, 2), configuration="as-read")
    (svg,) = pictures(Figure("1", "A title", "k", "error", "number", (line,))).values()
    shown = re.findall(r">([^<>]+)<", svg)
    assert re.findall(r"word\d+", " ".join(shown)) == words


def test_seconds_stand_among_the_times_alone(pages: dict[str, str], tmp_path: Path) -> None:
    save_site(everything(seconds=9.75), tmp_path / "slow")
    differ = [n for n in pages if (tmp_path / "slow" / n).read_text("utf-8") != pages[n]]
    assert differ == ["times.html"]
    assert "How long it takes" in pages["times.html"]


def test_claims_can_be_joined_with_those_of_other_data(pages: dict[str, str]) -> None:
    rows = list(csv.DictReader(pages["claims.csv"].splitlines()))
    assert {row["data"] for row in rows} == {"30 users, 20 items, 90 ratings"}
    assert [row["claim"] for row in rows] == [f"xx-0{i}" for i in range(1, 9)]


def test_a_claim_for_each_paper_is_enough_and_none_too(tmp_path: Path) -> None:
    found = everything()
    bare = replace(found, studies=tuple(replace(s, claims=(), worked=()) for s in found.studies))
    assert bare.summary == (
        "0 claims of 1 paper decided by data: 0 hold, 0 do not, 0 cannot be tested. "
        "Data: 30 users, 20 items, 90 ratings.",
        "Nobody & Sons: 0 claims decided by data: 0 hold, 0 do not, 0 cannot be tested.",
    )
    save_site(bare, tmp_path / "site")


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ConfigError) as refused:
        save_site(everything(), tmp_path / "site")
    assert "pip install 'starshade[report]'" in str(refused.value.advice)
    assert not list(tmp_path.iterdir())
