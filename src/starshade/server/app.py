"""The studio's application: access control, routes, errors."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from starshade.errors import StarshadeError
from starshade.server.answers import Desk, failure, refusal
from starshade.server.entrance import Entrance
from starshade.server.guard import HEADERS, guard
from starshade.server.routes import data_routes, job_routes, release_routes, style_routes

if TYPE_CHECKING:
    from starshade.server.jobs.engine import Engine
    from starshade.server.jobs.store import Store


def create_app(store: Store, engine: Engine, *, entrance: Entrance, most_upload: int) -> FastAPI:
    """Create the application.

    `entrance`: requests that come in another way are refused; `most_upload`: bytes of an upload
    at most.
    """
    app = FastAPI(openapi_url=None)
    app.state.closing = Event()  # to be set before the server is told to stop
    desk = Desk(store, engine, most_upload, app.state.closing)
    for routes in (data_routes, job_routes, release_routes, style_routes):
        app.include_router(routes(desk))
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    for kind in (StarshadeError, HTTPException):
        app.add_exception_handler(kind, failure)
    app.add_exception_handler(RequestValidationError, _nowhere)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _broken)
    app.add_middleware(guard, entrance=entrance, refuse=refusal)
    return app


def _nowhere(request: Request, error: Exception) -> Response:
    return failure(request, HTTPException(404))


def _gone(request: Request, error: Exception) -> Response:
    """Respond to a client that disconnected while sending; this is not a server error."""
    return Response(status_code=400)


def _broken(request: Request, error: Exception) -> Response:
    """Respond to an internal error; this runs outside the guard, which protects other responses."""
    response = failure(request, error)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
