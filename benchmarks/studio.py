"""The studio's pages while it works: how long each takes, idle and beside a job.

    python benchmarks/studio.py                       # ML-100K's size
    python benchmarks/studio.py --like netflix        # 480,189 x 17,770, 100,480,507 ratings

The command itself is started, as a person would, and asked over a socket of this machine, one page
after the other, as forms and links say: made-up ratings are drawn, then an attack runs, and all the
while the pages are asked for again and again. The rival is the same page with nothing to do. The
clock of the first page begins before the command does.
"""

from __future__ import annotations

import http.cookiejar
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from argparse import Namespace
from html.parser import HTMLParser
from pathlib import Path

from at_hand import Options

LIMIT = 1.0  # seconds that a page may take


class Forms(HTMLParser):
    """The forms of a page: action -> what would be sent if nothing were touched."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: dict[str, list[tuple[str, str]]] = {}
        self._form: list[tuple[str, str]] | None = None
        self._select: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a control with what it would send."""
        told = {name: value or "" for name, value in attrs}
        has = {name for name, _ in attrs}
        if tag == "form":
            self._form = self.forms.setdefault(told.get("action", ""), [])
        elif self._form is None:
            return
        elif tag == "input" and "name" in has:
            kind = told.get("type", "text")
            if kind not in ("checkbox", "radio", "file", "submit") or "checked" in has:
                self._form.append((told["name"], told.get("value", "")))
        elif tag == "select":
            self._select = told.get("name")
        elif tag == "option" and self._select and "selected" in has:
            self._form.append((self._select, told.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        """Leave a form."""
        if tag == "form":
            self._form = None


class Visitor:
    """A browser without pictures; counts what each page took."""

    def __init__(self, address: str) -> None:
        cookies = http.cookiejar.CookieJar()
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies)).open
        self.root = address.split("/?")[0]
        # not every resolver knows names in .localhost
        port, self._host = (
            urllib.parse.urlsplit(address).port,
            urllib.parse.urlsplit(address).netloc,
        )
        self._machine = f"http://127.0.0.1:{port}"
        self.at = ""
        self.took: dict[str, list[float]] = {}
        self.get(address.removeprefix(self.root))

    def get(self, path: str) -> str:
        """Open a page."""
        return self._asked(path, None)

    def post(self, path: str, values: list[tuple[str, str]]) -> str:
        """Send a form."""
        return self._asked(path, urllib.parse.urlencode(values).encode())

    def _asked(self, path: str, body: bytes | None) -> str:
        started = time.perf_counter()
        headers = {"Host": self._host} | ({} if body is None else {"Origin": self.root})
        request = urllib.request.Request(self._machine + path, body, headers)
        with self._open(request, timeout=60) as answer:
            page = answer.read().decode()
            self.at = urllib.parse.urlsplit(answer.url).path
        kind = ("POST " if body else "") + re.sub(r"\d+", "N", path.split("?")[0])
        self.took.setdefault(kind, []).append(time.perf_counter() - started)
        return page


def filled(page: str, action: str, **changes: str) -> list[tuple[str, str]]:
    """Return a form's values as they stand, some of them changed."""
    values = next(own for path, own in Forms(page).forms.items() if path.endswith(action))
    return [pair for pair in values if pair[0] not in changes] + list(changes.items())


def until_done(visitor: Visitor, pages: list[str], limit: float) -> str:
    """Ask for pages in turn until the job at the last of them has ended; return its last page."""
    ends = time.monotonic() + limit
    while time.monotonic() < ends:
        for path in pages:
            page = visitor.get(path)
        panel = visitor.get(pages[-1] + "/panel")
        state = re.search(r'data-state="(\w+)"', panel)
        if state is not None and state[1] not in ("queued", "running"):
            if state[1] != "done":
                raise SystemExit(f"the job ended {state[1]}:\n{panel}")
            return page
    raise SystemExit(f"not done after {limit:g} s")


def told(title: str, took: dict[str, list[float]]) -> float:
    print(f"\n{title}\n{'page':<24}{'asked':>7}{'median ms':>12}{'largest ms':>12}")
    for kind, times in sorted(took.items()):
        middle = statistics.median(times)
        print(f"{kind:<24}{len(times):>7,}{1e3 * middle:>12.1f}{1e3 * max(times):>12.1f}")
    return max(max(times) for times in took.values())


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--like", default="movielens-100k")
    parser.add_argument("--users", smoke="200", help="[default: as many as in --like]")
    parser.add_argument("--idle", type=int, default=50, smoke=1, help="pages when there is no job")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one job")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        started = time.perf_counter()
        command = [sys.executable, "-m", "starshade", "studio", "--no-browser"]
        studio = subprocess.Popen(
            [*command, "--work", str(Path(scratch) / "work")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        try:
            visit(studio, started, asked)
        finally:
            studio.send_signal(signal.SIGINT)
            studio.wait(30)


def visit(studio: subprocess.Popen[str], started: float, asked: Namespace) -> None:
    assert studio.stdout is not None
    address = next(
        found[0]
        for line in studio.stdout
        if (found := re.search(r"http://\S+token=\S+", line)) is not None
    )
    visitor = Visitor(address)
    home = visitor.get("/")
    print(f"from the command to its first page: {time.perf_counter() - started:.2f} s")
    for _ in range(asked.idle):
        visitor.get("/")
    told("idle", visitor.took)
    visitor.took = {}
    begun = time.perf_counter()
    size = {"n_users": asked.users} if asked.users else {}
    visitor.post("/data/synthetic", filled(home, "/data/synthetic", like=asked.like, **size))
    job = visitor.at
    if not job.startswith("/jobs/"):  # the page of the data names its job
        found = re.search(r"/jobs/\d+", visitor.get(job))
        assert found is not None
        job = found[0]
    until_done(visitor, ["/", job], asked.limit)
    worst = told(f"while {asked.like} is drawn ({time.perf_counter() - begun:.0f} s)", visitor.took)
    found = re.search(r"/data/\d+", visitor.get("/"))
    assert found is not None
    page = visitor.get(found[0])
    visitor.took, begun = {}, time.perf_counter()
    visitor.post(f"{found[0]}/attack", filled(page, f"{found[0]}/attack"))
    until_done(visitor, ["/", found[0], visitor.at], asked.limit)
    worst = max(
        worst, told(f"while it is attacked ({time.perf_counter() - begun:.0f} s)", visitor.took)
    )
    print(f"\nthe slowest page took {worst:.3f} s (limit {LIMIT:g} s)")


if __name__ == "__main__":
    main()
