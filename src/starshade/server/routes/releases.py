"""A release's page, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, RedirectResponse, Response

from starshade.server.outcome.answers import Desk, found, html, missing
from starshade.server.page.release import release_page
from starshade.server.routes.data import Id

__all__ = ["REPORT_POLICY", "release_routes"]

#: a report has its style in itself, and neither runs nor loads anything
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox"
)


def release_routes(desk: Desk) -> APIRouter:
    """Return the routes of releases; their number is that of the job that made them."""
    router = APIRouter(prefix="/releases/{job_id}")
    store = desk.store

    @router.get("")
    def show(job_id: Id) -> Response:
        job = found(store.job, job_id)
        if job.kind != "release" or job.state != "done":
            return RedirectResponse(f"/jobs/{job_id}", 303)
        return html("release.html.j2", release_page(store, job))

    @router.get("/report")
    def report(
        job_id: Id, edition: Annotated[Literal["internal", "public"], Query()] = "internal"
    ) -> Response:
        name = "report-public.html" if edition == "public" else "report.html"
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return FileResponse(there(job_id, name), media_type="text/html", headers=headers)

    @router.get("/download")
    def download(job_id: Id) -> Response:
        name = f"starshade-release-{job_id}.zip"
        return FileResponse(
            there(job_id, "release.zip"), media_type="application/zip", filename=name
        )

    @router.get("/receipt")
    def receipt(job_id: Id) -> Response:
        name = f"starshade-receipt-{job_id}-keep-secret.json"
        return FileResponse(
            there(job_id, "receipt.json"), media_type="application/json", filename=name
        )

    def there(job_id: int, name: str) -> Path:
        """Return a file of a finished release."""
        job = found(store.job, job_id)
        file = store.places.release(job_id) / name
        if job.kind != "release" or job.state != "done" or not file.is_file():
            raise missing(
                "this file is not here",
                "The release was not finished, or its folder was changed. Make it again.",
            )
        return file

    return router
