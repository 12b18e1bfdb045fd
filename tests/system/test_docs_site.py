"""The documentation as a site: it builds without a warning, holds together, loads nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import starshade

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}

if find_spec("mkdocs") is None:
    pytest.skip("needs pip install 'starshade[docs]'", allow_module_level=True)


class Page(HTMLParser):
    """The anchors of a page, where it leads, and what it loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = {""}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") != "canonical":
            self.loads.append(found.get("href", ""))
        if tag in LOADING and LOADING[tag] in found:
            self.loads.append(found[LOADING[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; the tutorials are not run here: they have tests of their own."""
    out = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    told = {"STARSHADE_DOCS_EXECUTE": "false", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | told, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


@pytest.mark.slow
def test_every_page_of_the_folder_is_a_page_of_the_site(site: Path) -> None:
    written = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    assert written
    for file in written:
        assert (site / file.relative_to(DOCS)).with_suffix(".html").is_file(), file


@pytest.mark.slow
def test_every_link_leads_to_a_page_and_a_place_on_it(site: Path, pages: dict[Path, Page]) -> None:
    lost = []
    for file, page in pages.items():
        if file.name == "404.html":
            continue  # it stands in for any address, and links as if at the top of a server
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            there = target.is_file() and target.is_relative_to(site.resolve())
            anchors = pages[target].ids if there and target in pages else {unquote(parts.fragment)}
            if not there or unquote(parts.fragment) not in anchors:
                lost.append(f"{file.relative_to(site)}: {link}")
    assert not lost


@pytest.mark.slow
def test_no_page_loads_anything_from_another_machine(site: Path, pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        assert page.loads
        foreign = [url for url in page.loads if urlsplit(url).netloc]
        assert not foreign, file
        # nor do the pages' own scripts, where a notebook might want diagrams
        assert not re.search(r"import\(\s*[\"']https?:", file.read_text(encoding="utf-8")), file
    for sheet in site.rglob("*.css"):
        fetched = re.search(r"url\([\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8"))
        assert not fetched, sheet


@pytest.mark.slow
def test_every_public_name_is_shown(site: Path, pages: dict[Path, Page]) -> None:
    shown = set().union(*(pages[f].ids for f in (site / "reference" / "python").glob("*.html")))
    for name in starshade.__all__:
        assert name == "__version__" or f"starshade.{name}" in shown, name


@pytest.mark.slow
def test_the_index_of_keys_leads_to_the_commands(site: Path) -> None:
    page = (site / "reference" / "json.html").read_text(encoding="utf-8")
    (row,) = re.findall(r"<td><code>expected_top1</code></td>\s*<td>(.*?)</td>", page)
    assert '<a href="../command-line.html#starshade-attack">attack</a>' in row


def test_a_notebook_s_links_are_those_of_pages() -> None:
    names: dict[str, Any] = {"__file__": str(DOCS / "hooks.py")}
    exec((DOCS / "hooks.py").read_text(encoding="utf-8"), names)

    class Notebook:
        class file:  # noqa: N801
            src_uri = "tutorials/one.ipynb"

    given = (
        '<a href="../promise.md#queries"></a><a href="two.ipynb"></a><a href="https://a/b.md"></a>'
        '<script type="module">await import("https://there/mermaid.mjs")</script><script>1</script>'
    )
    assert names["on_post_page"](given, page=Notebook) == (
        '<a href="../promise.html#queries"></a><a href="two.html"></a>'
        '<a href="https://a/b.md"></a><script>1</script>'
    )


@pytest.mark.slow
def test_the_vendored_script_is_the_one_that_is_named(site: Path) -> None:
    copied = (site / "assets" / "iframe-worker" / "shim.js").read_bytes()
    assert copied == (DOCS / "assets" / "iframe-worker" / "shim.js").read_bytes()
    assert "Martin Donath" in (DOCS / "assets" / "iframe-worker" / "LICENSE").read_text()


def test_make_docs_builds_strictly() -> None:
    if shutil.which("make") is None:
        pytest.skip("needs make")
    told = subprocess.run(
        ["make", "--dry-run", "docs"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "mkdocs build --strict" in told.stdout


def test_the_first_page_s_figures_are_those_that_were_measured() -> None:
    first = (DOCS / "index.md").read_text(encoding="utf-8")
    attacks = (DOCS / "attacks.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| known \| structure .*\n(?:\|.*\n)+", attacks, re.M)
    (row,) = re.findall(r"^\| 4 \|.*$", table, re.M)
    figures = re.findall(r"([\d.]+) %", first)
    assert figures
    assert set(figures) <= {cell.strip() for cell in row.split("|")}


# ------------------------------------------------------------------ in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "width", "scheme"),
    [
        ("index", 1280, "light"),
        ("queries", 360, "dark"),
        ("reference/python/errors", 360, "dark"),
        ("tutorials/publish", 1280, "light"),
    ],
)
def test_a_page_is_readable(browser: Any, site: Path, path: str, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / path).with_suffix(".html").as_uri())
    screens = ROOT / "test-out" / "screens"
    screens.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=screens / f"docs-{path.replace('/', '-')}-{width}.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.run(page).response["violations"]
    serious = [
        (fault["id"], [node["html"][:150] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert not serious
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    context.close()


@pytest.mark.slow
def test_the_search_works_without_a_server(browser: Any, site: Path) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").fill("private key file")
    page.wait_for_selector(".md-search-result__item a", state="attached")
    found = page.locator(".md-search-result__item").all_inner_texts()
    assert any("release format" in text for text in found)
