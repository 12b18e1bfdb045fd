"""A studio of its own port and folder, and Debian's Chromium to look at it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.house.floors import SRC

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SCREENS = SRC.parents[1] / "test-out" / "screens"
ADDRESS = re.compile(r'"address": "(http://[^"]+)"')


@dataclass
class Seen:
    """A page that is watched: what it asked for elsewhere, and what went wrong in it."""

    page: Any
    at: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str) -> Any:
        return self.page.goto(self.at + path)

    @property
    def path(self) -> str:
        return str(self.page.url).removeprefix(self.at)

    def shoot(self, name: str) -> None:
        SCREENS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENS / f"studio-{name}.png", full_page=True)

    def expect_whole(self) -> None:
        """Nothing went wrong, and nothing went elsewhere."""
        assert not self.faults, "\n".join(self.faults)


Look = Callable[..., Seen]


def until(page: Any, true: str, argument: Any = None) -> None:
    """Wait until JavaScript is true; the policy of a report keeps Playwright's own waiter out."""
    for _ in range(1200):
        if page.evaluate(true, argument):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"it never came to be: {true} ({argument})")


def press_tab(page: Any) -> None:
    """Press Tab, and wait until something else has the focus."""
    before = page.evaluate_handle("document.activeElement")
    page.keyboard.press("Tab")
    until(page, "e => document.activeElement !== e", before)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install 'starshade[dev]'")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def started(work: Path, *options: str) -> Iterator[str]:
    """Start a studio; yield the address that lets in."""
    command = [
        sys.executable,
        "-c",
        "from starshade.cli.studio import studio; studio()",
        "--work",
        str(work),
        "--no-browser",
    ]
    process = subprocess.Popen(
        [*command, "--max-upload", "1M", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        told = []
        for line in process.stdout:
            told.append(line)
            if found := ADDRESS.search(line):
                break
        else:
            pytest.fail("no address: " + "".join(told))
        yield found[1]
    finally:
        process.terminate()
        process.wait(timeout=120)
        process.stdout.close()


@pytest.fixture(scope="module")
def studio(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a studio; yield its address with the token."""
    with started(tmp_path_factory.mktemp("studio") / "work") as address:
        yield address


@pytest.fixture(scope="module")
def look(chromium: Any, studio: str) -> Iterator[Look]:
    """Open a window of some width on the studio's first page."""
    windows = []

    def opened(width: int = 1280, **options: Any) -> Seen:
        window = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        window.set_default_timeout(60_000)
        windows.append(window)
        return watched(window.new_page(), studio)

    yield opened
    for window in windows:
        window.close()


def watched(page: Any, address: str) -> Seen:
    """Watch a page, and open it at the address that lets in."""
    at = address.split("?")[0].rstrip("/")
    page.goto(address)
    page.wait_for_url(lambda url: "token" not in url)
    seen = Seen(page, at)
    ours = (at + "/", "data:", "blob:", "about:")
    page.on("request", lambda r: r.url.startswith(ours) or seen.faults.append(r.url))
    page.on("pageerror", lambda error: seen.faults.append(str(error)))
    page.on("console", lambda m: m.type == "error" and seen.faults.append(f"{m.text} {m.location}"))
    page.on("dialog", lambda d: (seen.faults.append(d.message), d.dismiss()))
    return seen


@pytest.fixture(scope="session")
def ratings_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small file whose name and ids are markup."""
    path = tmp_path_factory.mktemp("ratings") / "<b>films & co.csv"
    lines = ["user,item,rating"]
    for user in range(90):
        for item in range(24):
            mixed = (user * 7919 + item * 104_729 + user * item * 31) % 97
            if mixed < 60 - item:
                lines.append(
                    f"<i>person{user}</i>,<img src=x onerror=alert({item})>,{mixed % 5 + 1}"
                )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
