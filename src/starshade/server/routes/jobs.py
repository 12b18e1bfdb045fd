"""A job's page, its progress as it happens, and cancelling or repeating it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from starshade.errors import ConfigError
from starshade.server.jobs.events import follow
from starshade.server.outcome.answers import Desk, found, go_to, html, rendered
from starshade.server.page.job import job_page
from starshade.server.routes.data import Id, start_job

__all__ = ["job_routes"]


def job_routes(desk: Desk) -> APIRouter:
    """Return the routes of jobs."""
    router = APIRouter(prefix="/jobs/{job_id}")
    store = desk.store

    @router.get("")
    def show(job_id: Id) -> Response:
        return html("job.html.j2", job_page(store, found(store.job, job_id)))

    @router.get("/panel")
    def panel(job_id: Id) -> Response:
        return html("job_panel.html.j2", job_page(store, found(store.job, job_id)))

    @router.get("/events")
    def events(job_id: Id) -> Response:
        found(store.job, job_id)

        def look() -> tuple[str, str | None]:
            try:
                job = store.job(job_id)
            except ConfigError:  # removed meanwhile, in another tab
                return "", "cancelled"
            shown = rendered("job_panel.html.j2", job_page(store, job))
            return shown, job.state if job.ended else None

        return StreamingResponse(follow(look, desk.closing), media_type="text/event-stream")

    @router.post("/cancel")
    def cancel(request: Request, job_id: Id) -> Response:
        found(store.job, job_id)
        desk.engine.cancel(job_id)
        return go_to(request, f"/jobs/{job_id}")

    @router.post("/again")
    def again(request: Request, job_id: Id) -> Response:
        job = found(store.job, job_id)
        if not job.ended:
            return go_to(request, f"/jobs/{job_id}")
        anew = start_job(desk, job.kind, job.data_id, job.settings)
        return go_to(request, f"/data/{job.data_id}" if job.kind == "read" else f"/jobs/{anew.id}")

    return router
