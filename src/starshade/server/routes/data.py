"""The first page, and everything that is done to a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from starshade.errors import ConfigError, InputError, StarshadeError
from starshade.server.ask.again import FORM_OF
from starshade.server.ask.asking import Asking, as_sent, job_settings
from starshade.server.ask.data import PATH, SYNTHETIC
from starshade.server.forms import Sent
from starshade.server.jobs.rows import DataKind, JobKind, JobRow
from starshade.server.jobs.work_folder import PART
from starshade.server.outcome.answers import Desk, found, go_to, html, missing, sent_form
from starshade.server.page.data import FORMS, data_page
from starshade.server.page.home import home_page
from starshade.server.uploads import file_name, receive, shown_name
from starshade.server.words import sentence

__all__ = ["Id", "bring_path", "data_routes", "start_job"]

Id = Annotated[int, InPath(ge=1, le=2**63 - 1)]
Given = Annotated[Sent, Depends(sent_form)]

_KINDS = {form: kind for kind, form in FORM_OF.items()}


def data_routes(desk: Desk) -> APIRouter:
    """Return the routes of data sets."""
    router = APIRouter()
    store = desk.store

    @router.get("/")
    def home() -> Response:
        return html("home.html.j2", home_page(store, most_upload=desk.most_upload))

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
        return html("home.html.j2", page, 422)

    @router.post("/data/upload")
    async def upload(request: Request, name: Annotated[str, Query()] = "") -> Response:
        shown = shown_name(name)
        store.ensure_there()
        part = store.work / "uploads" / f"{PART}{uuid4().hex}"
        await receive(request.stream(), part, declared=_length(request), most=desk.most_upload)
        try:
            data = await run_in_threadpool(store.add_upload, shown, file_name(shown), part)
        except StarshadeError:
            part.unlink(missing_ok=True)
            raise
        await run_in_threadpool(start_job, desk, "read", data.id, {})
        return go_to(request, f"/data/{data.id}")

    @router.get("/data/{data_id}")
    def show(request: Request, data_id: Id) -> Response:
        query = request.query_params
        given = {name: query.getlist(name) for name in query}
        return html("data.html.j2", data_page(store, found(store.data, data_id), given=given))

    @router.post("/data/{data_id}/delete")
    def delete(request: Request, data_id: Id) -> Response:
        data = found(store.data, data_id)
        try:
            store.remove_data(data_id)
        except ConfigError as error:
            page = data_page(store, data)
            said = {"error": sentence(error.message), "advice": error.advice}
            page.delete = replace(page.delete, **said, open=True)
            return html("data.html.j2", page, 409)
        return go_to(request, "/")

    @router.post("/data/{data_id}/{what}")
    def work(request: Request, data_id: Id, what: str, sent: Given) -> Response:
        data = found(store.data, data_id)
        if what not in FORMS or (what == "mapping" and data.kind == "synthetic"):
            raise missing("there is nothing at this address")
        asking, facts = FORMS[what], data.facts or {}
        settings, errors = job_settings(asking, facts, sent)
        error = "" if what == "mapping" or data.facts else "These data were not read yet."
        if errors or error:
            refused = as_sent(asking, f"/data/{data_id}/{what}", facts, sent, errors, error=error)
            return html("data.html.j2", data_page(store, data, refused={what: refused}), 422)
        job = start_job(desk, _KINDS[what], data_id, settings)
        return go_to(request, f"/data/{data_id}" if what == "mapping" else f"/jobs/{job.id}")

    return router


def start_job(desk: Desk, kind: JobKind, data_id: int, settings: Mapping[str, Any]) -> JobRow:
    """Ask for work; what is asked for already, by a second click or tab, is asked for once."""
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
    return _bring(desk, "synthetic", f"Made up like {like}", like, options)


def _bring(desk: Desk, kind: DataKind, name: str, source: str, options: Mapping[str, Any]) -> str:
    data = desk.store.add_data(kind, name, source, options)
    start_job(desk, "read", data.id, options)
    return f"/data/{data.id}"


def _length(request: Request) -> int | None:
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None
