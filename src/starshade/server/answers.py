"""Responses of the studio: pages, fragments, redirects, and errors in one format.

A browser gets an error as a page; a script of ours, which asks for JSON, gets
``{"error": {"status", "message", "advice"}}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from starshade.errors import ConfigError, InternalError, OutputError, StarshadeError
from starshade.server.forms import Sent
from starshade.server.jobs.store import DataRow, JobRow
from starshade.server.page.frame import Shown, bare_frame
from starshade.server.parts import sentence
from starshade.server.uploads import TooLargeError

if TYPE_CHECKING:
    from jinja2 import Environment

    from starshade.server.jobs.engine import Engine
    from starshade.server.jobs.store import Store


Row = TypeVar("Row", DataRow, JobRow)

_MOST_FORM = 256 * 1024  # bytes of a form
_TITLES = {403: "Not allowed", 404: "Not found", 405: "Not found", 413: "Too large"}
_LEAVE = {"Connection": "close"}  # what is too large is not waited for
_LOST = "It may have been removed, or the address is mistyped. Start at the home page."


@dataclass(frozen=True)
class Desk:
    """The objects that the routes share."""

    store: Store
    engine: Engine
    most_upload: int  # bytes that are taken at most
    closing: Event = field(default_factory=Event)  # set when the studio is being ended


def html(request: Request, template: str, page: Any, status: int = 200) -> HTMLResponse:
    """Respond with a page."""
    return HTMLResponse(rendered(template, page, root_of(request)), status)


def root_of(request: Request) -> str:
    """Return the prefix of every path (see `guard`)."""
    return str(request.scope.get("app_root_path", request.scope.get("root_path", "")))


def rendered(template: str, page: Any, root: str = "") -> str:
    """Render a page; its texts are escaped.

    `root`: the prefix of every path in it.
    """
    return _environment(root).get_template(template).render(page=page)


@lru_cache(maxsize=2)  # where the root is not empty: pages, and refusals, which have none
def _environment(root: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("starshade.server"),
        autoescape=True,
        undefined=StrictUndefined,  # a name that no context has is a mistake of ours
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["at_root"] = lambda place: root + place if place.startswith("/") else place
    return made


def go_to(request: Request, place: str, **more: str) -> Response:
    """Redirect to a page; `more`: further fields for a script."""
    location = root_of(request) + place
    if _wants_json(request):
        return JSONResponse({"location": location, **more})
    return RedirectResponse(location, 303)


def _wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def refusal(request: Request, status: int, message: str, advice: str) -> Response:
    """Respond with an error."""
    message, advice = sentence(message), sentence(advice)
    if _wants_json(request):
        error = {"status": status, "message": message, "advice": advice}
        return JSONResponse({"error": error}, status, _LEAVE if status == 413 else None)
    title = _TITLES.get(status, "Error")
    page = Shown(frame=bare_frame(title), status=status, message=message, advice=advice)
    return html(request, "error.html.j2", page, status)


def failure(request: Request, error: Exception) -> Response:
    """Respond to an exception; an internal error is reported without details."""
    if isinstance(error, HTTPException):
        detail = error.detail if isinstance(error.detail, Mapping) else {}
        lost = "This address does not exist, or does not accept this request."
        message, advice = detail.get("message", lost), detail.get("advice", _LOST)
        return refusal(request, error.status_code, str(message), str(advice))
    if isinstance(error, StarshadeError) and not isinstance(error, InternalError):
        return refusal(request, _status(error), error.message, error.advice)
    bug = InternalError(type(error).__name__)  # its own words may quote an id
    return refusal(request, 500, bug.message, bug.advice)


def _status(error: StarshadeError) -> int:
    if isinstance(error, TooLargeError):
        return 413
    return 507 if isinstance(error, OutputError) else 400


def found(look: Callable[[int], Row], number: int) -> Row:
    """Return a row of the store; raise 404 if it does not exist."""
    try:
        return look(number)
    except ConfigError as error:
        raise missing(error.message, error.advice) from error


def missing(message: str, advice: str = "") -> HTTPException:
    """Return a 404 error."""
    return HTTPException(404, {"message": message, "advice": advice or _LOST})  # type: ignore[arg-type]


async def sent_form(request: Request) -> Sent:
    """Read a submitted form (a dependency)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM:
            raise TooLargeError(
                "the form is too large", advice="Shorten the text that you entered."
            )
    wrong = ConfigError(
        "the request is not a form", advice="Go back, reload the page, and try again."
    )
    if body and kind != "application/x-www-form-urlencoded":
        raise wrong
    try:
        text = body.decode("ascii")
        return parse_qs(text, keep_blank_values=True, max_num_fields=500, errors="strict")
    except ValueError as error:
        raise wrong from error
