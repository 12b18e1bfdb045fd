"""``starshade studio`` as somebody starts it: a process, a port, an address, Ctrl-C."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from starshade.server import serve
from tests.system.conftest import call, refused

pytest.importorskip("uvicorn", reason="pip install 'starshade[web]'")

_PATIENCE = 120.0


@dataclass
class Open:
    """A studio that listens."""

    process: subprocess.Popen[str]
    address: str
    work: Path

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def ask(
        self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, str, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request(method, path, body, {"Host": self.host, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    def enter(self) -> dict[str, str]:
        """Open the printed address; return the cookie."""
        parts = urlsplit(self.address)
        status, _, headers = self.ask(f"{parts.path}?{parts.query}")
        assert status == 200
        return {"Cookie": headers["Set-Cookie"].partition(";")[0]}


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "starshade",
            "studio",
            "--no-browser",
            "--json",
            *map(str, arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    place = tmp_path_factory.mktemp("studio")
    ratings = place / "my ratings.csv"
    rows = [f"u{u},i{i},{(u * i) % 5 + 1}" for u in range(30) for i in range(u % 7, 12)]
    ratings.write_text("\n".join(["user,item,rating", *rows]))
    process = start(ratings, "--work", place / "work", "--max-upload", "1M")
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    yield Open(process, told["address"], Path(told["work"]))
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_only_this_machine_can_reach_it(studio: Open) -> None:
    assert re.fullmatch(rf"[0-9a-f]{{16}}\.localhost:{studio.port}", studio.host)
    others = {
        entry[4][0]
        for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        if not entry[4][0].startswith("127.")
    }
    for host in others:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, studio.port), timeout=_PATIENCE)


def test_the_address_leads_to_the_ratings_that_were_named(studio: Open) -> None:
    assert urlsplit(studio.address).path == "/data/1"
    cookie = studio.enter()
    until = time.monotonic() + _PATIENCE
    while "Work with these ratings" not in (text := studio.ask("/data/1", **cookie)[1]):
        assert time.monotonic() < until, text
        time.sleep(0.1)
    assert "my ratings.csv" in text
    assert "30 people, 12 items" in text


def test_the_first_page_takes_nothing_from_elsewhere(studio: Open) -> None:
    cookie = studio.enter()
    status, text, _ = studio.ask("/", **cookie)
    assert status == 200
    assert "http" not in text.replace("http-equiv", "")  # nothing from elsewhere


def test_who_has_no_token_or_comes_by_another_name_is_refused(studio: Open) -> None:
    assert studio.ask("/")[0] == 403
    cookie = studio.enter()
    for name in ("127.0.0.1", "localhost", "fedcba9876543210.localhost"):
        status, text, _ = studio.ask("/", **cookie, Host=f"{name}:{studio.port}")
        assert status == 403
        assert studio.host.split(".")[0] not in text
    assert studio.ask("/", **cookie, Host="evil.example")[0] == 403
    assert studio.ask("/", **cookie, Host=f"evil.example:{studio.port}")[0] == 403
    said = {"Origin": "http://evil.example", "Content-Length": "0"}
    assert studio.ask("/data/synthetic", method="POST", **cookie, **said)[0] == 403


def test_where_the_name_does_not_open_the_path_holds_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def visit() -> None:
        (opened,) = told
        studio = Open(process=None, address=opened.address, work=opened.work)  # type: ignore[arg-type]
        status, text, headers = studio.ask(urlsplit(opened.address).path)
        assert (status, headers["Set-Cookie"]) == (200, None)
        assert f'href="{urlsplit(opened.address).path}' in text
        assert studio.ask("/")[0] == 403

    told: list[serve.Opened] = []
    monkeypatch.setattr(serve, "_wait", visit)
    serve.open_studio(tmp_path / "w", plain_host=True, browser=False, tell=told.append)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{43}/", told[0].address)


@pytest.mark.parametrize("plain", [False, True])
def test_the_message_says_what_to_do_where_the_name_does_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    monkeypatch.setattr(serve, "_wait", lambda: None)
    option = ["--plain-host"] if plain else []
    out = call("studio", "--work", tmp_path / "w", "--no-browser", *option).output
    name = r"127\.0\.0\.1" if plain else r"[0-9a-f]{16}\.localhost"
    assert re.search(rf"^  http://{name}:\d+/\S+$", out, re.MULTILINE)
    assert ("restart the studio with --plain-host" in " ".join(out.split())) == (not plain)
    assert ("in its history" in " ".join(out.split())) == plain


def test_an_upload_that_breaks_off_leaves_nothing(studio: Open) -> None:
    cookie = studio.enter()
    with socket.create_connection(("127.0.0.1", studio.port)) as line:
        line.sendall(
            f"POST /data/upload?name=half.csv HTTP/1.1\r\nHost: {studio.host}\r\n"
            f"Cookie: {cookie['Cookie']}\r\nContent-Length: 500000\r\n\r\nuser,item".encode()
        )
        uploads = studio.work / "uploads"
        wait(lambda: list(uploads.iterdir()))  # it has begun
    wait(lambda: not list(uploads.iterdir()))
    assert "half.csv" not in studio.ask("/", **cookie)[1]


def wait(until: object) -> None:
    end = time.monotonic() + _PATIENCE
    while not until():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)


def test_ten_gigabytes_are_refused_before_they_come(studio: Open) -> None:
    cookie = studio.enter()
    with socket.create_connection(("127.0.0.1", studio.port)) as line:
        line.sendall(
            f"POST /data/upload?name=big.csv HTTP/1.1\r\nHost: {studio.host}\r\n"
            f"Cookie: {cookie['Cookie']}\r\nAccept: application/json\r\n"
            f"Content-Length: {10**10}\r\n\r\n".encode()
        )
        answer = line.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 413 ")
    assert "path on this machine" in answer


def test_a_second_one_in_the_same_folder_is_refused(studio: Open) -> None:
    process = start("--work", studio.work)
    _, stderr = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 2
    assert "another studio" in stderr


def test_a_port_that_is_taken_is_said(studio: Open, tmp_path: Path) -> None:
    text = refused("studio", "--work", tmp_path / "w", "--port", studio.port, "--no-browser")
    assert f"port {studio.port}" in text
    assert "--port" in text


def test_ratings_that_are_not_there_are_said_before_anything_is_made(tmp_path: Path) -> None:
    text = refused("studio", tmp_path / "none.csv", "--work", tmp_path / "w", "--no-browser")
    assert "no such file" in text
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("size", ["0", "much", "-1G"])
def test_a_size_that_is_none_is_said(tmp_path: Path, size: str) -> None:
    text = refused("studio", "--work", tmp_path / "w", f"--max-upload={size}", "--no-browser")
    assert "--max-upload" in text
    assert "500M" in text


def test_a_work_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    text = refused("studio", "--work", tmp_path / "file" / "w", "--no-browser")
    assert str(tmp_path / "file") in text


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "jinja2"])
def test_without_the_extra_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    text = refused("studio", "--work", tmp_path / "w", "--no-browser")
    assert f"the studio needs {missing}" in text
    assert "pip install 'starshade[web]'" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_quietly_also_while_a_page_follows_a_job(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = start("--work", tmp_path / "w")
    assert process.stdout is not None
    opened = Open(process, json.loads(process.stdout.readline())["address"], tmp_path / "w")
    cookie = opened.enter()
    body = b"like=netflix&seed=1"  # takes minutes
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert opened.ask("/data/synthetic", method="POST", body=body, **cookie, **kind)[0] == 303
    line = http.client.HTTPConnection("127.0.0.1", opened.port, timeout=_PATIENCE)
    line.request("GET", "/jobs/1/events", headers={"Host": opened.host, **cookie})
    answer = line.getresponse()
    assert answer.readline() == b"retry: 2000\n"
    with socket.create_connection(("127.0.0.1", opened.port)) as stranger:
        stranger.sendall(b"\0 no request\r\n\r\n")
        assert b" 400 " in stranger.recv(1000)
    assert opened.ask("/", method="HEAD", **cookie)[:2] == (200, "")
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=_PATIENCE)  # the job takes longer by far
    line.close()
    assert (process.returncode, stdout, stderr) == (0, "", "")
    assert not _alive(tmp_path / "w")


def test_the_browser_is_shown_the_way_in_without_telling_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # whoever lists the machine's processes sees what a browser is started with
    opened, seen = threading.Event(), []

    def browser(uri: str) -> None:
        file = Path(uri.removeprefix("file://"))
        seen.extend((uri, stat.S_IMODE(file.stat().st_mode), file.read_text()))
        opened.set()

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(serve.webbrowser, "open", browser)
    monkeypatch.setattr(serve, "_wait", lambda: opened.wait(_PATIENCE))
    told: list[serve.Opened] = []
    serve.open_studio(tmp_path / "w", tell=told.append)
    uri, mode, text = seen
    assert "token" not in uri
    assert mode == 0o600
    assert f'href="{told[0].address}"' in text
    assert not (tmp_path / "w" / "open.html").exists()


def test_without_a_screen_no_browser_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(serve.sys, "platform", "linux")
    monkeypatch.setattr(serve.webbrowser, "open", lambda uri: pytest.fail(uri))
    monkeypatch.setattr(serve, "_wait", lambda: None)
    serve.open_studio(tmp_path / "w", tell=lambda _: None)


def _alive(work: Path) -> list[str]:
    """Return the processes that still know the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(work).encode() in line:
                found.append(line.decode())
    return found


def test_help_says_what_it_is() -> None:
    out = call("studio", "--help")
    assert "Nothing leaves this machine" in " ".join(out.output.split())
