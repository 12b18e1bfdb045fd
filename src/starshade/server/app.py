"""The studio's application: the guard, the addresses, the templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

if TYPE_CHECKING:
    from starshade.server.engine import Engine
    from starshade.server.store import Store

__all__ = ["create_app"]

_PAGES = (
    "/",
    "/data/{data_id}",
    "/jobs/{job_id}",
    "/jobs/{job_id}/events",
    "/jobs/{job_id}/panel",
    "/releases/{job_id}",
    "/releases/{job_id}/report",
    "/releases/{job_id}/download",
    "/releases/{job_id}/receipt",
)
_ACTIONS = (
    "/data/path",
    "/data/synthetic",
    "/data/upload",
    "/data/{data_id}/mapping",
    "/data/{data_id}/attack",
    "/data/{data_id}/compare",
    "/data/{data_id}/release",
    "/data/{data_id}/delete",
    "/jobs/{job_id}/cancel",
    "/jobs/{job_id}/again",
)


def create_app(store: Store, engine: Engine, *, token: str, port: int) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    store : Store
    engine : Engine
    token : str
        What the address opened first must carry (``?token=``).
    port : int
        Where it will listen: requests for another host or port are refused.
    """
    app = FastAPI(openapi_url=None)
    for path in _PAGES:
        app.add_api_route(path, _soon, methods=["GET"])
    for path in _ACTIONS:
        app.add_api_route(path, _soon, methods=["POST"])
    return app


def _soon() -> PlainTextResponse:
    return PlainTextResponse("not built yet", status_code=501)
