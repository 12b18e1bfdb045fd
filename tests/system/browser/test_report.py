"""Both editions of the report in a real browser: wide, narrow, dark, on paper, by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.ratings.select import top_items
from starshade.report.page import save_report
from starshade.report.picture import PALETTE
from tests.policies import NO_LIMITS
from tests.system.browser.conftest import SCREENS, press_tab, until
from tests.unit.report.dossiers import half_stars, small_dossier

pytestmark = pytest.mark.slow

EDITIONS = ("public", "internal")
WIDER = "e => e.tabIndex === 0 && e.scrollWidth > e.clientWidth + 1"
A4 = 665  # pixels of an A4 page between its margins


@dataclass
class Open:
    """A page of the report, and whatever it asked for or complained of."""

    page: Any
    faults: list[str] = field(default_factory=list)

    def style(self, selector: str, name: str) -> str:
        """Return what the browser made of the style of the first such element."""
        js = "([s, n]) => getComputedStyle(document.querySelector(s)).getPropertyValue(n)"
        return str(self.page.evaluate(js, [selector, name]))

    def width(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollWidth"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("report")
    found = {}
    for edition, most in zip(EDITIONS, (1, 0), strict=True):  # one passes, one does not
        (place / edition).mkdir()
        dossier = small_dossier(place / edition, threshold={**NO_LIMITS, "attribute": most})
        file = place / f"{edition}.html"
        found[edition] = save_report(dossier, file, public=edition == "public")
    return found


class Opened:
    """Opens editions in windows of their own, and closes them."""

    def __init__(self, browser: Any, files: dict[str, Path]) -> None:
        self._browser, self._files = browser, files
        self._windows: list[Any] = []

    def __call__(self, edition: str, width: int = 1280, scheme: str = "light") -> Open:
        window = self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self._windows.append(window)
        page = window.new_page()
        found = Open(page)
        file = self._files[edition].as_uri()
        page.on("request", lambda r: r.url.split("#")[0] == file or found.faults.append(r.url))
        page.on("console", lambda m: found.faults.append(m.text))
        page.on("pageerror", lambda error: found.faults.append(str(error)))
        page.goto(file)
        return found

    def close(self) -> None:
        for window in self._windows:
            window.close()


@pytest.fixture
def opened(chromium: Any, files: dict[str, Path]) -> Iterator[Opened]:
    windows = Opened(chromium, files)
    yield windows
    windows.close()


@pytest.mark.parametrize(
    ("edition", "width", "scheme"),
    [
        ("public", 1280, "light"),
        ("public", 360, "dark"),
        ("internal", 1280, "dark"),
        ("internal", 360, "light"),
    ],
)
def test_it_fits_is_accessible_and_asks_for_nothing(
    opened: Opened, edition: str, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    report = opened(edition, width, scheme)
    SCREENS.mkdir(parents=True, exist_ok=True)
    shot = SCREENS / f"report-{edition}-{width}-{scheme}.png"
    report.page.screenshot(path=shot, full_page=True)
    assert report.width() == width
    found = axe.run(report.page).response["violations"]
    assert not [f"{each['id']}: {each['nodes'][0]['html']}" for each in found]
    assert not report.faults


def test_pictures_follow_the_readers_light_and_dark(opened: Opened) -> None:
    for scheme, side in (("light", 0), ("dark", 1)):
        report = opened("internal", scheme=scheme)
        for name in ("before", "after"):
            marks = f'figure svg [fill="{PALETTE[name][0]}"]'
            assert report.style(marks, "fill") == _rgb(PALETTE[name][side])
        assert report.style(".first svg text", "fill") == _rgb(PALETTE["ink"][side])


def test_paper_is_dark_on_white_whatever_the_screen_is(opened: Opened) -> None:
    report = opened("internal", A4, "dark")
    assert report.style("body", "background-color") != "rgb(255, 255, 255)"
    report.page.emulate_media(media="print", color_scheme="dark")
    assert report.style("body", "background-color") == "rgb(255, 255, 255)"
    assert report.style("body", "color") == _rgb(PALETTE["ink"][0])
    assert report.style('figure svg [fill="#b84f00"]', "fill") == _rgb(PALETTE["before"][0])
    assert report.style(".skip", "display") == "none"
    assert report.style("nav", "display") == "block"  # the annex's contents are printed
    assert report.width() <= A4  # nothing is cut off at the margin
    assert not report.page.eval_on_selector_all(".wide", f"all => all.filter({WIDER}).length")


def test_it_prints(opened: Opened) -> None:
    for edition in EDITIONS:
        pdf = opened(edition).page.pdf(prefer_css_page_size=True)
        SCREENS.mkdir(parents=True, exist_ok=True)
        (SCREENS / f"report-{edition}.pdf").write_bytes(pdf)
        assert pdf.startswith(b"%PDF-")
        pages = re.findall(rb"/MediaBox \[([\d. ]+)\]", pdf)
        assert set(pages) <= {b"0 0 595.91998 842.88", b"0 0 594.95996 841.91998", b"0 0 595 842"}
        assert len(pages) == 2 if edition == "public" else 5 <= len(pages) <= 12


WITH_PEOPLE = KExchange(
    k=5,
    items=top_items(10),
    attributes="generalized",
    quasi_identifiers=("Age", "Gender"),
    sensitive_attributes=("Occupation",),
    l=2,
    rare_values="blank",
)


@pytest.mark.parametrize(
    ("method", "threshold", "verdict"),
    [
        (KExchange(k=5), NO_LIMITS, "PASS"),
        (KExchange(k=5), {"class-size": 50}, "FAIL"),
        (KExchange(k=5, items=top_items(10)), {**NO_LIMITS, "membership": 0.1}, "INCOMPLETE"),
        (WITH_PEOPLE, NO_LIMITS, "PASS"),
        (PredictiveAnonymizer(k=5, profile="pooled"), NO_LIMITS, "PASS"),
        (PredictiveAnonymizer(k=5, profile="simple", b=1, l=2), NO_LIMITS, "PASS"),
    ],
    ids=["passes", "fails", "incomplete", "people", "pooled", "simple"],
)
def test_the_public_edition_fits_two_pages(
    chromium: Any, tmp_path: Path, method: Any, threshold: dict[str, float], verdict: str
) -> None:
    dossier = small_dossier(tmp_path, threshold=threshold, method=method, ratings=half_stars())
    assert dossier.audit.verdict == verdict
    file = save_report(dossier, tmp_path / "report.html", public=True)
    page = chromium.new_page()
    page.goto(file.as_uri())
    pdf = page.pdf(prefer_css_page_size=True)
    page.close()
    assert len(re.findall(rb"/MediaBox", pdf)) == 2


def test_tables_too_wide_are_scrolled_by_keyboard(opened: Opened) -> None:
    page = opened("internal", 360).page
    press_tab(page)
    assert page.evaluate("document.activeElement.textContent") == "To the decision"
    page.keyboard.press("Enter")
    until(page, "location.hash === '#decision'")
    scrolled = set()
    for _ in range(32):
        press_tab(page)
        if page.evaluate(f"({WIDER})(document.activeElement)"):
            page.keyboard.press("ArrowRight")
            until(page, "document.activeElement.scrollLeft > 0")
            scrolled.add(page.evaluate("document.activeElement.ariaLabel"))
    wide = f"all => all.filter({WIDER}).map(e => e.ariaLabel)"
    assert scrolled == set(page.eval_on_selector_all("[tabindex]", wide))
    assert len(scrolled) > 1


def test_contents_lead_to_their_places(opened: Opened) -> None:
    page = opened("internal").page
    for link in page.locator("nav a").all():
        link.click()
        place = link.get_attribute("href")
        until(page, "place => location.hash === place", place)
        page.locator(f"{place} h2").wait_for()


def _rgb(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"
