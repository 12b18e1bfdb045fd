"""Access control of the studio: only a browser on this machine with the address.

The studio shows personal data and runs work, and any web page that is open in the same browser can
send requests to this machine. Cookies ignore ports: a cookie of 127.0.0.1 is sent to every program
that listens there. So each start draws a host name of its own, ``<16 hex digits>.localhost``, which
browsers resolve to this machine, and nothing is answered before these hold:

- ``Host`` is exactly that name with our port: neither 127.0.0.1 nor a foreign name that was made to
  point here (DNS rebinding).
- ``Origin``, where the browser states one, is exactly our own; and ``Sec-Fetch-Site`` does not say
  that another site sent something.
- A cookie holds the token that was printed when the studio was started. It is set by opening the
  address with ``?token=`` once, for that name alone (no ``Domain``) and out of reach of scripts.
  Other pages can plant cookies of the same name, which come before or after ours: any that holds
  the token lets in.

Where the name does not open, the studio is served at 127.0.0.1 (``--plain-host``), without a
cookie: every path begins with the token, as the ASGI ``root_path``, so links and forms have it too.

In both ways style sheets and scripts, which contain no data, are open to all, so that refusals
are readable. Every answer tells the browser to load nothing from elsewhere, to run no script
that is written into a page, to show the page in no foreign frame, to keep nothing, and to send no
``Referer`` to other origins, of which another port is one.

What remains: a program on this machine that knows the name can listen under it on another port, and
receives the cookie once the browser loads a page from there. The name has 64 random bits; only the
printed address and the browser's own address bar and history hold it. No page prints it, and no
refusal names it. A name server sees it where a browser leaves names in ``.localhost`` to the
system's resolver and that one passes them on, against RFC 6761. With ``--plain-host`` the address
bar and the history hold the token itself, and so does every address that is copied from there.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from html import escape
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from starshade.server.entrance import Entrance

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
COOKIE = "starshade-studio"
_FRESH = "Open the address that the studio printed in its terminal."
_OTHERWISE = "If the browser cannot open it, restart the studio with --plain-host."
_NO_TOKEN = "This address does not contain the studio's token. Each start creates a new one."
_NO_COOKIE = "The browser did not send the studio's token, which this page requires."
_WELCOME = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>starshade studio</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<meta http-equiv="refresh" content="0;url={place}"></head>
<body><main><h1>Welcome</h1><p><a href="{place}">Go to the studio</a></p></main></body></html>
"""


def guard(app: ASGIApp, *, entrance: Entrance, refuse: Refuse) -> ASGIApp:
    """Pass allowed requests to `app`; answer others by `refuse`."""

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
        answer = _answer(Request(scope), entrance, refuse)
        await (app if answer is None else answer)(scope, receive, protected)

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
    """Send the headers of a GET response alone, without waiting for its body."""
    ended = False

    async def bodiless(message: Message) -> None:
        nonlocal ended
        if message["type"] != "http.response.body":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b""})

    return bodiless


def _answer(request: Request, entrance: Entrance, refuse: Refuse) -> Response | None:
    """Return a refusal, or the redirect of a browser with the token; None: the request may pass."""
    if request.scope["path"].startswith("/static/"):
        return None
    fault = _foreign(request, entrance)
    if fault is not None:
        return refuse(request, 403, *fault)
    shown = not entrance.root and request.method == "GET" and "token" in request.query_params
    if entrance.root:
        tokens = [request.scope["path"][1:].partition("/")[0]]
    elif shown:
        tokens = [request.query_params["token"]]
    else:
        tokens = _cookies(request)
    if not any(_same(token, entrance.token) for token in tokens):
        message = _NO_TOKEN if entrance.root or shown else _NO_COOKIE
        return refuse(request, 403, message, _FRESH)
    request.scope["root_path"] = entrance.root
    return _welcome(request, entrance) if shown else None


def _foreign(request: Request, entrance: Entrance) -> tuple[str, str] | None:
    """Return message and advice for a request to another host or from another page, or None."""
    if [value.lower() for value in request.headers.getlist("host")] != [entrance.host]:
        return (
            "The studio does not answer to this host name.",
            _FRESH if entrance.root else f"{_FRESH} {_OTHERWISE}",
        )
    own = f"http://{entrance.host}"
    other = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if any(origin.lower() != own for origin in request.headers.getlist("origin")) or (
        other and request.method != "GET"
    ):
        return (
            "Refused: another web page sent this request.",
            "If you did not send it, close that page. " + _FRESH,
        )
    return None


def _cookies(request: Request) -> list[str]:
    """Return what cookies of our name hold; other pages may have set some of them."""
    parts = ";".join(request.headers.getlist("cookie")).split(";")
    pairs = [part.strip().partition("=") for part in parts]
    return [value for name, _, value in pairs if name == COOKIE]


def _same(sent: str, token: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "replace"), token.encode())


def _welcome(request: Request, entrance: Entrance) -> Response:
    """Set the cookie and go to the address without the token.

    By a page, not by a redirect: a browser that comes from a link on another site would be
    redirected without the cookie, as it is for this site alone.
    """
    kept = [(k, v) for k, v in parse_qsl(request.url.query) if k != "token"]
    path = quote(request.scope["path"].lstrip("/\\"))  # two slashes would begin another host
    place = f"/{path}" + (f"?{urlencode(kept)}" if kept else "")
    response = HTMLResponse(_WELCOME.format(place=escape(place)))
    response.set_cookie(COOKIE, entrance.token, httponly=True, samesite="strict", path="/")
    return response
