"""Who may talk to the studio: a browser on this machine that was given the address.

The studio shows personal data and runs work, and any web page that is open in the same browser can
send requests to 127.0.0.1. So nothing is answered before these hold:

- ``Host`` is this machine's name with our port. A foreign name that was made to point here (DNS
  rebinding) arrives with that name in ``Host``.
- ``Origin``, where the browser states one, is our own; and ``Sec-Fetch-Site`` does not say that
  another site sent something.
- A cookie holds the token that was printed when the studio was started. It is set by opening the
  address with ``?token=`` once, for this site alone and out of reach of scripts. Style sheets and
  scripts, which say nothing about anybody, need none: refusals are to be readable.

Every answer tells the browser to load nothing from elsewhere, to run no script that is written
into a page, to show the page in no foreign frame, and to keep nothing.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from html import escape
from typing import Literal
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: makes the answer to what is refused: request, status, message, advice
Refuse = Callable[[Request, int, str, str], Response]

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # "no-referrer" would take our own Origin away too
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FRESH = "Open the address that was printed where the studio was started; it ends in ?token=…"
_WELCOME = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>starshade studio</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<meta http-equiv="refresh" content="0;url={place}"></head>
<body><main><h1>Welcome</h1><p><a href="{place}">Go to the studio</a></p></main></body></html>
"""


def hosts(port: int) -> frozenset[str]:
    """Return what ``Host`` may say.

    Examples
    --------
    >>> sorted(hosts(8000))
    ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']
    """
    names = ("127.0.0.1", "localhost", "[::1]")
    return frozenset(f"{name}:{port}" for name in names) | (
        frozenset(names) if port == 80 else frozenset()
    )


def cookie_name(port: int) -> str:
    """Return the cookie's name: cookies are kept by host, whatever the port."""
    return f"starshade-{port}"


def guard(app: ASGIApp, *, token: str, port: int, refuse: Refuse) -> ASGIApp:
    """Let through to `app` what may pass; all else is answered by `refuse`."""
    ours = hosts(port)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        if scope["type"] != "http":  # no page of ours opens a web socket
            await send({"type": "websocket.close", "code": 1008})
            return
        protected = _protecting(send)
        if scope["method"] == "HEAD":
            scope, protected = {**scope, "method": "GET"}, _without_body(protected)
        request = Request(scope)
        wrong = _foreign(request, ours)
        if wrong is not None:
            await refuse(request, 403, *wrong)(scope, receive, protected)
            return
        entered = _entry(request, token, port)
        if entered == "welcome":
            await _welcome(request, token, port)(scope, receive, protected)
        elif entered is None:
            await app(scope, receive, protected)
        else:
            await refuse(request, 403, entered, _FRESH)(scope, receive, protected)

    return guarded


def _protecting(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return protected


def _without_body(send: Send) -> Send:
    """Answer as to GET, the headers alone; a body that never ends is not waited for."""
    ended = False

    async def bodiless(message: Message) -> None:
        nonlocal ended
        if message["type"] != "http.response.body":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b""})

    return bodiless


def _foreign(request: Request, ours: frozenset[str]) -> tuple[str, str] | None:
    """Say what shows that another site is behind a request; None: nothing."""
    names = [value.lower() for value in request.headers.getlist("host")]
    if len(names) != 1 or names[0] not in ours:
        return (
            "This request was sent to another name than this machine's, and is refused.",
            _FRESH,
        )
    origins = request.headers.getlist("origin")
    allowed = {f"http://{host}" for host in ours}
    other = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if any(origin.lower() not in allowed for origin in origins) or (
        other and request.method != "GET"
    ):
        return (
            "This request was sent by another web page, and is refused.",
            "If you did not ask for anything, close that page. " + _FRESH,
        )
    return None


def _entry(request: Request, token: str, port: int) -> Literal["welcome"] | str | None:
    """Say whether the visitor may come in (None), has just shown the token, or why not."""
    if request.scope["path"].startswith("/static/"):
        return None
    if request.method == "GET" and "token" in request.query_params:
        if _same(request.query_params["token"], token):
            return "welcome"
        return "The token in this address is not this studio's; each start has its own."
    if _same(_cookie(request, port), token):
        return None
    return "This page needs the studio's token, and the browser did not send it."


def _cookie(request: Request, port: int) -> str:
    """Return what our cookie says; other sites' cookies on this host may be anything."""
    for header in request.headers.getlist("cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == cookie_name(port):
                return value
    return ""


def _same(sent: str, token: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "replace"), token.encode())


def _welcome(request: Request, token: str, port: int) -> Response:
    """Set the cookie and go to the address without the token.

    By a page, not by a redirect: whoever comes from a link on another site would be redirected
    without the cookie, as it is for this site alone.
    """
    kept = [(k, v) for k, v in parse_qsl(request.url.query) if k != "token"]
    path = quote(request.scope["path"].lstrip("/\\"))  # two slashes would begin another host
    place = f"/{path}" + (f"?{urlencode(kept)}" if kept else "")
    response = HTMLResponse(_WELCOME.format(place=escape(place)))
    response.set_cookie(cookie_name(port), token, httponly=True, samesite="strict", path="/")
    return response
