"""Another program on this machine that serves web pages: it learns nothing that lets it in."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.system.browser.conftest import SCREENS, started, until

pytestmark = pytest.mark.slow

HOSTS = ("127.0.0.1", "localhost", "fedcba9876543210.localhost")


@dataclass
class Listener:
    """A server on a port of its own, and what browsers sent to it."""

    port: int = 0
    received: list[str] = field(default_factory=list)  # first line and headers of each request
    cookies: list[str] = field(default_factory=list)


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listening.received.append(f"{self.requestline}\n{self.headers}")
            listening.cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Another page</title><p>Another page</p>")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        listening.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield listening
        server.shutdown()
        thread.join()


def secrets_of(address: str) -> list[str]:
    """Return what the address holds that others must not learn."""
    parts = urlsplit(address)
    held = [parts.query.removeprefix("token=") or parts.path.strip("/")]
    if parts.hostname != "127.0.0.1":
        held.append(str(parts.hostname).split(".")[0])
    assert min(map(len, held)) >= 16
    return held


def status_of(port: int, cookie: str) -> int:
    """Ask for the studio's first page with a cookie, as any program on this machine can."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/", headers={"Cookie": cookie})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("options", [(), ("--plain-host",)], ids=["name", "plain-host"])
def test_another_port_receives_neither_cookie_nor_token(
    chromium: Any, listener: Listener, tmp_path: Path, options: tuple[str, ...]
) -> None:
    with started(tmp_path / "work", *options) as address:
        window = chromium.new_context()
        page = window.new_page()
        page.goto(address)
        page.locator("#path").wait_for()
        first, held = page.url, secrets_of(address)
        if not options:
            assert not any(secret in page.content() for secret in held)
        for host in HOSTS:
            elsewhere = f"http://{host}:{listener.port}"
            other = window.new_page()
            other.goto(f"{elsewhere}/opened")
            other.goto(f"{elsewhere}/again")  # cookies that were set come with the second request
            page.evaluate(
                "to => document.body.append(Object.assign(document.createElement('a'),"
                " {href: to, id: 'leave', textContent: 'leave'}))",
                f"{elsewhere}/by-link",
            )
            page.locator("#leave").click()
            page.wait_for_url(f"{elsewhere}/by-link")
            assert page.evaluate("document.referrer") == ""
            page.goto(first)
            page.locator("#path").wait_for()  # still let in
        for host in HOSTS:
            for way in ("opened", "again", "by-link"):
                assert any(
                    each.startswith(f"GET /{way} ") and f"Host: {host}:{listener.port}" in each
                    for each in listener.received
                ), (host, way)
        for each in listener.received:
            assert not any(secret in each for secret in held), each
        port = urlsplit(address).port or 0
        assert {status_of(port, cookie) for cookie in listener.cookies} == {403}
        if not options:
            # what remains, and shows that the listener hears cookies: it knows the very name
            page.goto(f"http://{urlsplit(address).hostname}:{listener.port}/named")
            assert held[0] in listener.cookies[-1]
        window.close()


def test_a_planted_cookie_does_not_lock_the_owner_out(chromium: Any, tmp_path: Path) -> None:
    with started(tmp_path / "work") as address:
        window = chromium.new_context()
        page = window.new_page()
        page.goto(address)
        page.locator("#path").wait_for()
        (ours,) = window.cookies()
        # a longer path is sent before ours
        window.add_cookies([{"name": ours["name"], "value": "planted", "domain": ours["domain"],
                             "path": "/data"}])  # fmt: skip
        parts = urlsplit(address)
        missing = page.goto(f"http://{parts.netloc}/data/1").status
        assert missing == 404  # let in, and there are no data yet
        # in place of ours
        window.add_cookies([{**ours, "value": "planted"}])
        assert page.goto(f"http://{parts.netloc}/").status == 403
        page.goto(address)
        page.locator("#path").wait_for()
        window.close()


def test_the_page_for_another_host_can_be_read(chromium: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with started(tmp_path / "work") as address:
        window = chromium.new_context(viewport={"width": 800, "height": 600})
        page = window.new_page()
        answer = page.goto(f"http://127.0.0.1:{urlsplit(address).port}/data/1")
        assert answer.status == 403
        until(page, "document.styleSheets.length > 0")
        text = page.locator("main").inner_text()
        assert "Open the address that the studio printed in its terminal." in text
        assert not any(secret in page.content() for secret in secrets_of(address))
        violations = axe.run(page).response["violations"]
        assert not [each["id"] for each in violations if each["impact"] != "minor"]
        SCREENS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENS / "studio-other-host.png", full_page=True)
        page.goto(address)
        page.locator("#path").wait_for()
        page.screenshot(path=SCREENS / "studio-first-page.png", full_page=True)
        window.close()
