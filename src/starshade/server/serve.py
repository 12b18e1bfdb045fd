"""Start and serve the studio until it is stopped."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.errors import ConfigError, OutputError
from starshade.naming import speak
from starshade.progress import note
from starshade.project.file import NAME, key_of
from starshade.ratings.readers.addresses.address import hidden
from starshade.server.entrance import HOST, Entrance

if TYPE_CHECKING:
    from fastapi import FastAPI

    from starshade.server.jobs.engine import Engine
    from starshade.server.jobs.store import Store

PORT = 8321  # tried first, where none is given
_PATIENCE = 2  # seconds for answers that are still being sent
_BACKLOG = 128
_WAY_IN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>starshade studio</title>
<meta http-equiv="refresh" content="0;url={address}"></head>
<body><p><a href="{address}">Go to the studio</a></p></body></html>
"""


@dataclass(frozen=True)
class Opened:
    """A running studio."""

    address: str  # what to open in a browser; it holds the token, so it is a secret
    port: int
    work: Path  # where everything is kept


def open_studio(
    work: str | Path,
    *,
    ratings: str | None = None,
    port: int | None = None,
    plain_host: bool = False,
    browser: bool = True,
    most_upload: int = 4 * 10**9,
    tell: Callable[[Opened], None],
) -> None:
    """Serve the studio on this machine until it is interrupted.

    The folder `work` is made if it does not exist; `ratings`: the first data set; port
    None: 8321, or any that is free; `plain_host`: serve 127.0.0.1, with the token in every
    address, in place of a name in ``.localhost`` and a cookie; `most_upload`: bytes; `tell` is
    called when the studio is ready.
    """
    _ensure_installed()
    from starshade.server.app import create_app
    from starshade.server.ask.labels import as_field
    from starshade.server.jobs.engine import Engine
    from starshade.server.jobs.store import Store
    from starshade.server.page.project import first_data

    first = first_data(ratings)
    if first:
        first["path"] = _existing(first["path"])
    if first.keys() - {"path"}:
        said = sorted(key_of(name) for name in {*first, "ratings"} - {"path"})
        note(f"{NAME}: {', '.join(said)}")
    with closing(_listening(port)) as listening, closing(Store(Path(work))) as store:
        number = int(listening.getsockname()[1])
        entrance = Entrance.draw(number, plain_host=plain_host)
        engine = Engine(store)
        engine.start()
        with closing(engine):
            app = create_app(store, engine, entrance=entrance, most_upload=most_upload)
            place = _begin(store, engine, first) if first else "/"
            opened = Opened(entrance.address(place), number, store.work)
            with speak(as_field()), _serving(app, listening):
                tell(opened)
                with _shown(opened) if browser else nullcontext():
                    _wait()


def _ensure_installed() -> None:
    for name in ("fastapi", "jinja2", "uvicorn"):
        if find_spec(name) is None:
            raise ConfigError(
                f"the studio needs {name}, which is not installed",
                advice="Install it: pip install 'starshade[web]'.",
            )


def _existing(ratings: str) -> str:
    path = str(Path(os.path.expanduser(ratings)).absolute())
    if not os.path.exists(path):
        raise ConfigError(
            f"{hidden(ratings)}: no such file or folder",
            advice="Give the path of your ratings.",
        )
    return path


def _begin(store: Store, engine: Engine, first: dict[str, Any]) -> str:
    from starshade.server.answers import Desk
    from starshade.server.routes import bring_path

    for data in store.all_data():
        same = {"path": data.source, **data.options} == first if len(first) > 1 else True
        if data.kind == "file" and data.source == first["path"] and same:
            return f"/data/{data.id}"
    return bring_path(Desk(store, engine, 0), first)


def _listening(port: int | None) -> socket.socket:
    """Listen on a port of the loopback address."""
    wanted = (PORT, 0) if port is None else (port,)
    for number in wanted:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((HOST, number))
            made.listen(_BACKLOG)
        except OSError as error:
            made.close()
            if number == wanted[-1]:
                raise OutputError(
                    f"port {number}: {os.strerror(error.errno or 0)}",
                    advice="Choose another one with --port, or leave it out.",
                ) from error
        else:
            return made
    raise AssertionError("the last port was returned or refused")


@contextmanager
def _serving(app: FastAPI, listening: socket.socket) -> Iterator[None]:
    """Serve in a thread: the main one hears Ctrl-C."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="error",  # what others send is not worth a warning
            access_log=False,  # addresses hold the token
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        app.state.closing.set()
        server.should_exit = True
        thread.join(_PATIENCE + 3)


@contextmanager
def _shown(opened: Opened) -> Iterator[None]:
    """Open the page in a browser through a file that only its owner can read.

    Every user of the machine can read command lines, and the address is a secret.
    """
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        yield  # a browser in the terminal would take it over
        return
    page = opened.work / "open.html"
    page.unlink(missing_ok=True)
    with os.fdopen(os.open(page, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(_WAY_IN.format(address=escape(opened.address)))
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
    try:
        yield
    finally:
        page.unlink(missing_ok=True)


def _wait() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return
