"""The site of all papers in a real browser: wide, narrow, light, dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.reproduction.papers import PAPERS
from starshade.report.site import save_site
from tests.system.browser.conftest import SCREENS
from tests.unit.report.stub_study import PAPER, everything

pytestmark = pytest.mark.slow

NAMES = ("index", "xx", "times")
A4 = 665  # pixels of an A4 page between its margins
WHITE = "rgb(255, 255, 255)"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    papers: Any = PAPERS
    papers["xx"] = PAPER
    place = tmp_path_factory.mktemp("site") / "site"
    save_site(everything(), place)
    yield place
    del papers["xx"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_is_accessible_and_asks_for_nothing(
    chromium: Any, site: Path, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    window = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, faults = window.new_page(), []
    page.on("request", lambda r: r.url.startswith(site.as_uri()) or faults.append(r.url))
    page.on("console", lambda m: faults.append(m.text))
    SCREENS.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width, name
        page.screenshot(path=SCREENS / f"site-{name}-{width}-{scheme}.png", full_page=True)
        found = axe.run(page).response["violations"]
        assert not found, [(each["id"], each["nodes"][0]["html"]) for each in found]
    assert not faults, "\n".join(faults)
    window.close()


def test_paper_is_dark_on_white_and_nothing_is_cut_off(chromium: Any, site: Path) -> None:
    window = chromium.new_context(viewport={"width": A4, "height": 900}, color_scheme="dark")
    page = window.new_page()
    page.emulate_media(media="print", color_scheme="dark")
    for name in NAMES:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == WHITE
        assert page.evaluate("document.documentElement.scrollWidth") <= A4
    page.goto((site / "xx.html").as_uri())
    line = page.locator('figure svg [stroke="#0072B2"]').first
    assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(0, 114, 178)"
    page.emulate_media(media="screen", color_scheme="dark")
    assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(88, 180, 240)"
    window.close()


def test_a_claim_is_found_by_its_number(chromium: Any, site: Path) -> None:
    window = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = window.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="Nobody & Sons").first.click()
    page.get_by_role("link", name="xx-06").first.click()
    assert page.url.endswith("xx.html#xx-06")
    top = page.evaluate("document.getElementById('xx-06').getBoundingClientRect().top")
    assert 0 <= top < 900
    page.get_by_role("link", name="Times").first.click()
    assert page.get_by_role("heading", name="How long it takes", exact=False).count() == 0
    assert "How long it takes" in page.inner_text("main")
    window.close()
