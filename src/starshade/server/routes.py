"""The routes: data, jobs and their progress, releases."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from starshade.errors import ConfigError, InputError, StarshadeError
from starshade.report.picture import palette_css
from starshade.server.answers import Desk, found, go_to, html, missing, rendered, root_of, sent_form
from starshade.server.ask.asking import Asking, as_sent, job_settings
from starshade.server.ask.data import PATH, SYNTHETIC, undecided
from starshade.server.ask.labels import FORM_OF
from starshade.server.forms import Sent
from starshade.server.jobs.database import PART
from starshade.server.jobs.store import DataKind, DataRow, JobKind, JobRow
from starshade.server.page.data import FORMS, data_page
from starshade.server.page.first import facts_with_rows, first_rows
from starshade.server.page.frame import home_page, options_of
from starshade.server.page.job import job_page
from starshade.server.page.project import project_of
from starshade.server.page.release import release_page
from starshade.server.parts import sentence
from starshade.server.uploads import file_name, receive, shown_name

Id = Annotated[int, InPath(ge=1, le=2**63 - 1)]
Given = Annotated[Sent, Depends(sent_form)]
Name = Annotated[str, Query()]
More = Annotated[bool, Query()]
Role = Annotated[Literal["users", "item_names"], Query()]

_KINDS = {form: kind for kind, form in FORM_OF.items()}


def data_routes(desk: Desk) -> APIRouter:
    """Return the routes of data sets."""
    router = APIRouter()
    store = desk.store
    page_of = partial(data_page, store, most_upload=desk.most_upload)

    @router.get("/")
    def home(request: Request) -> Response:
        return html(request, "home.html.j2", home_page(store, most_upload=desk.most_upload))

    @router.post("/data/path")
    def by_path(request: Request, sent: Given) -> Response:
        return bring(request, PATH, sent, partial(bring_path, desk))

    @router.post("/data/synthetic")
    def made_up(request: Request, sent: Given) -> Response:
        return bring(request, SYNTHETIC, sent, partial(_make_up, desk))

    def bring(
        request: Request, asking: Asking, sent: Sent, add: Callable[[dict[str, Any]], str]
    ) -> Response:
        options, errors = job_settings(asking, {}, sent)
        if not errors:
            return go_to(request, add(options))
        refused = as_sent(asking, f"/data/{asking.id}", {}, sent, errors)
        page = home_page(store, most_upload=desk.most_upload, refused=refused)
        return html(request, "home.html.j2", page, 422)

    @router.post("/data/upload")
    async def upload(request: Request, name: Name = "", more: More = False) -> Response:
        shown = shown_name(name)
        part = await received(request)
        try:
            data = await run_in_threadpool(store.add_upload, shown, file_name(shown), part)
        except StarshadeError:
            part.unlink(missing_ok=True)
            raise
        if not more:
            await run_in_threadpool(begin, desk, data)
        return go_to(request, f"/data/{data.id}")

    @router.post("/data/{data_id}/beside")
    async def beside(
        request: Request, data_id: Id, role: Role, name: Name = "", more: More = False
    ) -> Response:
        await run_in_threadpool(found, store.data, data_id)
        file = file_name(shown_name(name))
        part = await received(request)
        try:
            kept = await run_in_threadpool(store.add_beside, data_id, role, file, part)
        except StarshadeError:
            part.unlink(missing_ok=True)
            raise
        if not more:
            await run_in_threadpool(begin, desk, store.data(data_id))
        return go_to(request, f"/data/{data_id}", path=str(kept))

    async def received(request: Request) -> Path:
        store.ensure_there()
        part = store.work / "uploads" / f"{PART}{uuid4().hex}"
        await receive(request.stream(), part, declared=_length(request), most=desk.most_upload)
        return part

    @router.get("/data/{data_id}")
    def show(request: Request, data_id: Id) -> Response:
        query = request.query_params
        given = {name: query.getlist(name) for name in query}
        return html(request, "data.html.j2", page_of(found(store.data, data_id), given=given))

    @router.post("/data/{data_id}/delete")
    def delete(request: Request, data_id: Id) -> Response:
        data = found(store.data, data_id)
        try:
            store.remove_data(data_id)
        except ConfigError as error:
            page = page_of(data)
            said = {"error": sentence(error.message), "advice": error.advice}
            page.delete = replace(page.delete, **said, open=True)
            return html(request, "data.html.j2", page, 409)
        return go_to(request, "/")

    @router.post("/data/{data_id}/{what}")
    def work(request: Request, data_id: Id, what: str, sent: Given) -> Response:
        data = found(store.data, data_id)
        if what not in FORMS or (what == "mapping" and data.kind == "synthetic"):
            raise missing("this address does not exist")
        asking, facts = FORMS[what], facts_with_rows(store, data, options_of(store, data))
        settings, errors = job_settings(asking, facts, sent)
        error = "" if what == "mapping" or data.facts else "These data are not read yet."
        if what != "mapping" and undecided(facts):
            error = "First choose which rating counts where a person rated an item twice."
        if errors or error:
            refused = as_sent(asking, f"/data/{data_id}/{what}", facts, sent, errors, error=error)
            return html(request, "data.html.j2", page_of(data, refused={what: refused}), 422)
        job = start_job(desk, _KINDS[what], data_id, settings)
        return go_to(request, f"/data/{data_id}" if what == "mapping" else f"/jobs/{job.id}")

    return router


_asking = threading.Lock()  # of two requests at once the second sees the job of the first


def start_job(desk: Desk, kind: JobKind, data_id: int, settings: Mapping[str, Any]) -> JobRow:
    """Start a job; an equal job that waits or runs is returned instead."""
    with _asking:
        for job in desk.store.jobs(data_id, kinds=(kind,), states=("queued", "running")):
            if job.settings == dict(settings):
                return job
        job = desk.store.add_job(kind, data_id, settings)
    desk.engine.wake()
    return job


def bring_path(desk: Desk, options: Mapping[str, Any]) -> str:
    """Add a file of this machine, and return the address of its page."""
    path = str(options["path"])
    others = {name: value for name, value in options.items() if name != "path"}
    try:
        name = shown_name(path)
    except InputError:  # a folder without a name: the root
        name = path
    return _bring(desk, "file", name, path, others)


def _make_up(desk: Desk, options: Mapping[str, Any]) -> str:
    like = options["like"]
    return _bring(desk, "synthetic", f"Synthetic {like}", like, options)


def _bring(desk: Desk, kind: DataKind, name: str, source: str, options: Mapping[str, Any]) -> str:
    data = desk.store.add_data(kind, name, source, options)
    begin(desk, data)
    return f"/data/{data.id}"


def begin(desk: Desk, data: DataRow) -> None:
    """Start reading, if the columns are complete."""
    options = options_of(desk.store, data) | desk.store.beside(data.id)
    looked = first_rows(desk.store, data, options)
    if looked is None or looked.complete or options.get("wide"):
        start_job(desk, "read", data.id, options)


def _length(request: Request) -> int | None:
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None


def style_routes(desk: Desk) -> APIRouter:
    """Return the route of the style sheet of report pictures."""
    router = APIRouter()

    @router.get("/pictures.css")
    def pictures() -> Response:
        return Response(palette_css(), media_type="text/css")

    return router


def job_routes(desk: Desk) -> APIRouter:
    """Return the routes of jobs."""
    router = APIRouter(prefix="/jobs/{job_id}")
    store = desk.store

    @router.get("")
    def show(request: Request, job_id: Id) -> Response:
        return html(request, "job.html.j2", job_page(store, found(store.job, job_id)))

    @router.get("/panel")
    def panel(request: Request, job_id: Id) -> Response:
        return html(request, "job_panel.html.j2", job_page(store, found(store.job, job_id)))

    @router.get("/events")
    def events(request: Request, job_id: Id) -> Response:
        found(store.job, job_id)

        def look() -> tuple[str, str | None]:
            try:
                job = store.job(job_id)
            except ConfigError:  # removed meanwhile, in another tab
                return "", "cancelled"
            shown = rendered("job_panel.html.j2", job_page(store, job), root_of(request))
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
        new = start_job(desk, job.kind, job.data_id, job.settings)
        return go_to(request, f"/data/{job.data_id}" if job.kind == "read" else f"/jobs/{new.id}")

    return router


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
    def show(request: Request, job_id: Id) -> Response:
        job = found(store.job, job_id)
        if job.kind != "release" or job.state != "done":
            return go_to(request, f"/jobs/{job_id}")
        return html(request, "release.html.j2", release_page(store, job))

    @router.get("/report")
    def report(
        job_id: Id, audience: Annotated[Literal["internal", "public"], Query()] = "internal"
    ) -> Response:
        name = "report-public.html" if audience == "public" else "report.html"
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return FileResponse(there(job_id, name), media_type="text/html", headers=headers)

    @router.get("/at-risk")
    def people_at_risk(job_id: Id) -> Response:
        name = f"starshade-at-risk-{job_id}-keep-secret.csv"
        return FileResponse(there(job_id, "at-risk.csv"), media_type="text/csv", filename=name)

    @router.get("/download")
    def download(job_id: Id) -> Response:
        name = f"starshade-release-{job_id}.zip"
        return FileResponse(
            there(job_id, "release.zip"), media_type="application/zip", filename=name
        )

    @router.get("/key")
    def key_file(job_id: Id) -> Response:
        name = f"starshade-key-{job_id}-keep-secret.json"
        return FileResponse(
            there(job_id, "receipt.json"), media_type="application/json", filename=name
        )

    @router.get("/project")
    def project(job_id: Id) -> Response:
        job = found(store.job, job_id)
        if job.kind != "release":
            raise missing("this job is not a release", "See the list of jobs.")
        text = project_of(store, store.data(job.data_id), job)
        if not text:
            raise missing(
                "there is no project file for this release",
                "It needs ratings from a file on this machine, and no held-out ratings.",
            )
        headers = {"Content-Disposition": 'attachment; filename="starshade.toml"'}
        return Response(text, media_type="application/toml", headers=headers)

    def there(job_id: int, name: str) -> Path:
        """Return a file of a finished release."""
        job = found(store.job, job_id)
        file = store.places.release(job_id) / name
        if job.kind != "release" or job.state != "done" or not file.is_file():
            raise missing(
                "this file does not exist",
                "The release is not finished, or its folder was changed. Make the release again.",
            )
        return file

    return router


_PAUSE = 0.5  # seconds between two looks
_QUIET = 15.0  # seconds after which a sign of life is sent


def event(name: str, data: str) -> str:
    r"""Format one event.

    Examples
    --------
    >>> event("done", "failed")
    'event: done\ndata: failed\n\n'
    """
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


async def follow(look: Callable[[], tuple[str, str | None]], closing: Event) -> AsyncIterator[str]:
    """Send ``panel`` whenever it changes, and ``done`` at the end.

    `look` returns the fragment as it is now, and the state that the job ended in or None; it reads
    from the disk, so it is called in a thread. Once `closing` is set nothing more is sent.
    """
    last, silent = None, 0.0
    yield "retry: 2000\n\n"
    while not closing.is_set():
        panel, ended = await run_in_threadpool(look)
        if panel != last:
            yield event("panel", panel)
            last, silent = panel, 0.0
        if ended is not None:
            yield event("done", ended)
            return
        await asyncio.sleep(_PAUSE)
        silent += _PAUSE
        if silent >= _QUIET:  # else a closed connection stays unnoticed
            yield ": still at work\n\n"
            silent = 0.0
