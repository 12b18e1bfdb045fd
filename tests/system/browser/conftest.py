"""A studio of its own port and folder, and Debian's Chromium to look at it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.house.floors import SRC

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SCREENS = SRC.parents[1] / "test-out" / "screens"
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*token=\S+")


@dataclass
class Seen:
    """A page that is watched: what it asked for elsewhere, and what went wrong in it."""

    page: Any
    at: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(self.at + path)

    def shoot(self, name: str) -> None:
        self.page.screenshot(path=SCREENS / f"studio-{name}.png", full_page=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install 'starshade[dev]'")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a studio; yield its address with the token."""
    work = tmp_path_factory.mktemp("studio") / "work"
    command = [sys.executable, "-m", "starshade", "studio", "--work", str(work), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        told.append(line)
        if found := ADDRESS.search(line):
            break
    else:
        pytest.fail("no address: " + "".join(told))
    yield found[0]
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()


@pytest.fixture
def look(chromium: Any, studio: str) -> Iterator[Any]:
    """Open a window of a size; at the end nothing may have gone wrong or gone elsewhere."""
    at = studio.split("/?")[0]
    windows, all_seen = [], []

    def opened(width: int = 1280, **options: Any) -> Seen:
        window = chromium.new_context(
            viewport={"width": width, "height": 900}, accept_downloads=True, **options
        )
        window.set_default_timeout(60_000)
        page = window.new_page()
        seen = Seen(page, at)
        windows.append(window)
        all_seen.append(seen)
        page.on("request", lambda r: _foreign(r.url, at) and seen.faults.append(r.url))
        page.on("pageerror", lambda error: seen.faults.append(str(error)))
        page.on("console", lambda m: m.type == "error" and seen.faults.append(m.text))
        page.on("dialog", lambda d: (seen.faults.append(d.message), d.dismiss()))
        page.goto(studio)
        page.wait_for_url(lambda url: "token" not in url)
        return seen

    SCREENS.mkdir(parents=True, exist_ok=True)
    yield opened
    for window in windows:
        window.close()
    faults = [fault for seen in all_seen for fault in seen.faults]
    assert not faults, "\n".join(faults)


def _foreign(url: str, at: str) -> bool:
    return not url.startswith((at + "/", "data:", "blob:", "about:"))
