"""The page of a data set: what was recognised, and the forms of its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from starshade.figure import Table
from starshade.plain import counted, percent
from starshade.ratings.shape import bars_of, figures_of, spread_of
from starshade.server.ask.asking import Asking, Facts, form
from starshade.server.ask.data import MAPPING, undecided, values_before
from starshade.server.ask.labels import ASKINGS, FORM_OF
from starshade.server.ask.release import FEWEST, RELEASE
from starshade.server.ask.suggest import after_failure, with_data
from starshade.server.forms import Form, Sent
from starshade.server.jobs.store import DataRow, JobKind, JobRow, Store
from starshade.server.page.first import facts_with_rows, rows_table
from starshade.server.page.frame import (
    KINDS,
    Shown,
    frame,
    job_line,
    latest_reading,
    options_of,
    shape_of,
)
from starshade.server.page.job import field_at_fault, files_of, job_view
from starshade.server.page.project import asked_by_project
from starshade.server.parts import Chart, Figure, Link, Next, sentence, without_paths

#: the forms of a data set, by the end of their address
FORMS: Mapping[str, Asking] = {asking.id: asking for asking in ASKINGS.values()}

_LISTED = 30  # jobs
_WORK: tuple[JobKind, ...] = ("attack", "compare", "release")
_ROLES = {"user": "people", "item": "items", "rating": "ratings", "day": "dates", "users": "people"}


def data_page(
    store: Store,
    data: DataRow,
    *,
    most_upload: int = 0,
    given: Sent | None = None,
    refused: Mapping[str, Form] | None = None,
) -> Shown:
    """Build the page of a data set.

    `most_upload`: the most bytes of an additional file.

    `given` is what the address says: ``form`` names the one to unfold, ``failed`` the job that
    failed with it, the rest fills it in; `refused`: forms that were sent and refused, by id.
    """
    given, ok = given or {}, data.facts is not None
    reading = latest_reading(store, data.id)
    shown = reading if reading is not None and reading.state != "done" else None
    jobs = store.jobs(data.id, kinds=_WORK, limit=_LISTED)
    options, files = options_of(store, data), files_of(store, data)
    facts = facts_with_rows(store, data, options)
    forms = {
        name: _form(asking, data, facts, given, options)
        for name, asking in FORMS.items()
        if _offered(name, data)
    }
    if "mapping" in forms and (undecided(facts) or (data.facts is None and reading is None)):
        forms["mapping"] = replace(forms["mapping"], open=True)
    for job in (shown, _to_change(store, data, given)):
        if job is not None and job.state == "failed" and FORM_OF[job.kind] in forms:
            forms[FORM_OF[job.kind]] = _failed(forms[FORM_OF[job.kind]], job, files)
    forms |= refused or {}
    return Shown(
        frame=frame(store, data.name),
        id=data.id,
        kind_text=KINDS[data.kind],
        ok=ok,
        undecided=undecided(facts),
        reading=None if shown is None else job_view(shown, files),
        intro=_intro(data, shown),
        figures=[Figure.of(each.to_dict()) for each in figures_of(facts)] if ok else (),
        rows=rows_table(facts["preview"]),
        most=most_upload,
        columns=_columns(facts, options),
        histogram=_histogram(facts) if ok else None,
        per_user=spread_of(facts) if ok else None,
        notes=[without_paths(note, files) for note in map(str, facts.get("notes") or ())],
        next=_next(data, shown, jobs),
        jobs=[*map(job_line, jobs)],
        jobs_left_out=store.job_count(data.id, kinds=_WORK) - len(jobs),
        delete=_delete(data),
        **(dict.fromkeys(FORMS) | forms),
    )


def _offered(name: str, data: DataRow) -> bool:
    """Whether data have a form: none before they were read, no release of too few people."""
    if name == "mapping":
        return data.kind != "synthetic"
    if data.facts is None or undecided(data.facts):
        return False
    return bool(name == "attack" or data.facts["users"] >= FEWEST)


def _form(
    asking: Asking, data: DataRow, facts: Facts, given: Sent, options: Mapping[str, Any]
) -> Form:
    unfold = (given.get("form") or [""])[0] == asking.id
    filled: Sent = values_before(options) if asking is MAPPING else given if unfold else {}
    if asking is RELEASE and not filled:
        fields = {each.name for each in asking.settings(facts)}
        filled, said = asked_by_project(data, fields)
        asking = replace(asking, intro=f"{asking.intro} {said}".strip())
    return form(asking, f"/data/{data.id}/{asking.id}", facts, filled, unfold=unfold)


def _to_change(store: Store, data: DataRow, given: Sent) -> JobRow | None:
    number = (given.get("failed") or [""])[0]
    form_id = (given.get("form") or [""])[0]
    for job in store.jobs(data.id, kinds=_WORK, states=("failed",)):
        if (str(job.id), FORM_OF[job.kind]) == (number, form_id):
            return job
    return None


def _failed(form: Form, job: JobRow, files: Mapping[str, str]) -> Form:
    """Show the error of a failed job in its form: at the field at fault, or on top."""
    view, wrong = job_view(job, files), field_at_fault(job)
    made = tuple(
        replace(field, error=sentence(without_paths(job.error or "", files)))
        if wrong is not None and field.name == wrong.name
        else field
        for field in form.fields
    )
    form = replace(form, fields=made, open=True)
    if job.kind == "read":  # the page says on top why ratings could not be read
        return form
    at = ", ".join(field.label for field in made if field.error)
    error = f"Failed. Check: {at}." if at else view.error
    return replace(form, error=error, advice=view.advice)


def _intro(data: DataRow, reading: JobRow | None) -> str:
    if data.facts is None:
        if reading is not None and reading.state in ("queued", "running"):
            return "The ratings are being read. The result appears here automatically."
        if reading is not None and reading.state == "failed":
            return "The ratings could not be read. See the message, and correct the settings below."
        if reading is None:
            return "Not read yet. Assign the columns."
        return "Reading did not finish. Run it again."
    return f"{shape_of(data)}. Check the columns and the scale before you continue."


def _next(data: DataRow, reading: JobRow | None, jobs: tuple[JobRow, ...]) -> tuple[Next, ...]:
    if reading is not None and reading.state == "failed":
        return after_failure(reading)
    if data.facts is None:
        return ()
    if again := undecided(data.facts):
        what = counted(again, "rating repeats", "ratings repeat")
        why = f"{what} an item that the same person rated before. Choose which rating counts."
        return (Next(why, Link("Choose", f"/data/{data.id}#mapping")),)
    return with_data(data, jobs)


def _columns(facts: Facts, options: Mapping[str, Any]) -> Table | None:
    mapping = facts.get("mapping")
    if not mapping:
        return None
    rows = tuple((_ROLES.get(str(r), str(r)).replace("_", " "), str(c)) for r, c in mapping.items())
    others = {"users": ", ".join(facts.get("attributes") or ()), "item_names": "item names"}
    for name, what in others.items():
        if options.get(name):
            rows += ((what or "personal attributes", f"the file {Path(options[name]).name}"),)
    return Table("Role of each column", ("Role", "Column"), rows)


def _histogram(facts: Facts) -> Chart | None:
    bars = list(bars_of(facts))
    if not bars:
        return None
    values = [{"rating": name, "share": share} for name, _, share in bars]
    most, _, highest = max(bars, key=lambda bar: bar[2])
    return Chart(
        title="Distribution of ratings",
        spec={
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "data": {"values": values},
            "width": "container",
            "height": 180,
            "mark": {"type": "bar"},
            "encoding": {
                "x": {"field": "rating", "type": "ordinal", "sort": None, "title": "rating",
                      "axis": {"labelAngle": 0}},
                "y": {"field": "share", "type": "quantitative", "title": "share of all ratings",
                      "axis": {"format": ".0%"}},
                "tooltip": [{"field": "rating"}, {"field": "share", "format": ".1%"}],
            },
        },
        text=f"The most frequent rating is {most}, with {percent(highest)} of all.",
        table=Table(
            "Distribution of ratings",
            ("Rating", "Ratings", "Share"),
            tuple((name, f"{n:,}", percent(share)) for name, n, share in bars),
        ),
    )  # fmt: skip


def _delete(data: DataRow) -> Form:
    uploaded = "the uploaded file, " if data.kind == "upload" else ""
    kept = " Your file itself is not removed." if data.kind == "file" else ""
    return Form(
        id="delete",
        action=f"/data/{data.id}/delete",
        title="Remove these data",
        intro=f"Removes {uploaded}the ratings, and all their results and releases from the studio. "
        f"This cannot be undone.{kept}",
        submit="Remove permanently",
        fields=(),
    )
