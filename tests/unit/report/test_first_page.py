"""Page 1 of the internal report: five answers, three pictures, at most 350 words."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from starshade.report.outline import OUTLINES
from starshade.report.page import render_report
from tests.unit.report.dossiers import Shown, small_dossier
from tests.unit.report.test_page import Page

HEADINGS = ["Decision", "Why the data need protection", "Utility", "Residual risk", "Sign-off"]
#: blocks of each template of the internal report, each once
BLOCKS = sorted(block for section in OUTLINES["iso27559"].sections for block in section.blocks)


@pytest.fixture(scope="module", params=["within", "above"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    thresholds = {} if request.param == "above" else None
    place = tmp_path_factory.mktemp("first")
    made = {} if thresholds is None else {"threshold": thresholds}
    return small_dossier(place, **made).internal()


def first_page(html: str) -> str:
    return html[html.index("<body") : html.index('<nav id="contents"')]


def headings(html: str, level: int = 2) -> list[str]:
    found = re.findall(rf"<h{level}\b[^>]*>(.*?)</h{level}>", html, re.S)
    return [re.sub("<[^>]+>", "", each) for each in found]


def test_it_has_five_answers_three_pictures_and_few_words(told: dict[str, Any]) -> None:
    page = first_page(render_report(shown(told), public=False))
    assert headings(page) == HEADINGS
    assert page.count('class="dots"') == 2  # one picture: before and after
    assert page.count("<svg role") == 1
    assert page.count('class="bar"') == sum(
        row["bar"] is not None for row in told["first"]["risks"]
    )
    assert len(Page(page).text.split()) <= 350
    for row in told["first"]["risks"]:
        assert f"{row['title']} {row['value']} {row['threshold']}" in Page(page).text


def test_the_dots_are_those_of_the_figures(told: dict[str, Any]) -> None:
    page = first_page(render_report(shown(told), public=False))
    for side in ("before", "after"):
        assert page.count(f'<circle class="{side}"') == told["first"]["protection"][f"dots_{side}"]


@pytest.mark.parametrize("name", OUTLINES)
def test_a_template_orders_the_same_blocks(name: str, told: dict[str, Any]) -> None:
    outline = OUTLINES[name]
    assert sorted(block for each in outline.sections for block in each.blocks) == BLOCKS
    html = render_report(shown(told), public=False, template=name)
    assert [each for each in headings(html) if each not in (*HEADINGS, "Contents")] == [
        each.title for each in outline.sections
    ]
    assert outline.source in unescape(html)


def test_what_limits_the_report_is_its_first_line(told: dict[str, Any]) -> None:
    text = Page(render_report(shown({**told, "notices": ["Ten people."]}), public=False)).text
    assert text.index("Ten people.") < text.index(told["verdict"]["headline"])


def shown(told: dict[str, Any]) -> Any:
    return Shown(told)


def test_notices(tmp_path: Path) -> None:
    from starshade.audit.dossier.dossier import compile_dossier
    from tests.unit.report.dossiers import people

    ratings = people(12)
    told = small_dossier(tmp_path, ratings=ratings).internal()
    assert told["notices"] == ["The release has 12 records: too few for reliable figures."]
    bare = compile_dossier(ratings, tmp_path / "release", rng=0).internal()
    assert bare["notices"][0].startswith("No private key file was given")


def test_without_key_file_nothing_is_known_of_the_attack(tmp_path: Path) -> None:
    from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
    from starshade.audit.dossier.dossier import compile_dossier
    from starshade.audit.verdict import Audit
    from tests.unit.report.dossiers import people

    ratings = people()
    small_dossier(tmp_path, ratings=ratings, method=PredictiveAnonymizer(k=5))
    bare = compile_dossier(ratings, tmp_path / "release", audit=Audit(shadows=0), rng=0)
    page = Page(first_page(render_report(bare, public=False))).text
    assert "Not measured in the release." in page
    assert "The adversary knows" not in page


def test_an_acceptance_has_its_bound_or_is_of_what_was_not_measured(told: dict[str, Any]) -> None:
    decided = {"policy": "partner v1", "reason": "few", "by": "J. Doe", "until": "2099-01-01"}
    for up_to, text in (("12%", "up to 12%."), ("not measured", "(not measured).")):
        accepted = [{"risk": "linkability", "up_to": up_to, **decided}]
        page = first_page(render_report(shown({**told, "accepted": accepted}), public=False))
        assert f"{text} Few" in Page(page).text
