"""The job of a project file: read, anonymize, audit, report, publish if the verdict allows it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.anonymize.registry import ENTRIES
from starshade.audit.dossier.dossier import gather
from starshade.audit.make import KeepsGroups, make_release
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, OutputError
from starshade.figure import Shown
from starshade.plain import counted
from starshade.progress import note
from starshade.project.check import texts_in
from starshade.project.file import FOLDER, NAME, Project
from starshade.project.refuse import (
    identity,
    refuse_changed,
    refuse_found_scale,
    refuse_limits,
)
from starshade.project.settings import PublishSettings
from starshade.project.state import Done, Keep, Published, State, kept, move
from starshade.ratings.places.place import refuse_in_release
from starshade.ratings.read import read_ratings
from starshade.ratings.select import listed_items, parse_items
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import digest_of
from starshade.release.table import Release
from starshade.report.page import save_report


@dataclass(frozen=True)
class Ran(Shown):
    """What a run came to.

    `again`: nothing was new since the run before, so nothing was done. `to`: where the release
    lies; of a dry run, where it would go. `published`: it is out, also where it no longer passes.
    """

    name: str
    passed: bool | None
    headline: str
    to: str
    again: bool = False
    dry: bool = False
    plan: str = ""
    reasons: tuple[str, ...] = ()
    audit: AuditResult | None = None
    published: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return ``release, pass, verdict, out, again, dry_run, reasons``."""
        return {
            "release": self.name,
            "pass": self.passed,
            "verdict": self.headline,
            "out": self.to,
            "again": self.again,
            "dry_run": self.dry,
            "reasons": list(self.reasons),
        }

    def __str__(self) -> str:
        if self.dry:
            return f"{self.plan} Nothing was made."
        lies = "is published as" if self.published else "is not published, and stays at"
        where = f"{self.name} {lies} {self.to}."
        if self.published and not self.passed:
            where += " It is out, and would not be published as [audit] is now."
        if self.passed and self.audit is not None and not self.audit.answered:
            where += (
                " It holds what was asked of it; to publish only what is answered in full, say "
                'judge = "all" under [audit].'
            )
        if self.audit is not None:
            receipt = f", its receipt {FOLDER}/receipts/{self.name}.json" if self.published else ""
            where += f" A report on it is {FOLDER}/reports/{self.name}.html{receipt}."
        if self.again:
            return f"{self.headline}. Nothing is new since the last run: {where}"
        return f"{self.headline}. {where} {self.audit}"


def run(project: Project, folder: Path, *, seed: Callable[[], int], dry: bool = False) -> Ran:
    """Do the job of a project, or what is left of it.

    Parameters
    ----------
    project : Project
    folder : Path
        Where its file lies; paths in it are relative to this, the working folder.
    seed : callable
        Draws a seed; asked once a job.
    dry : bool
        Read the data and say what would be done.

    Raises
    ------
    ConfigError
        The file says no ratings, or its settings do not fit the data.
    UnmetError
        The data cannot be released so.
    OutputError
        Another run is at work, or a published place holds something else.
    """
    to = _published_place(project)
    with kept(folder) as keep:
        state = _settled(keep, keep.read())
        method = _method(project)
        refuse_limits(project, state)
        ratings = read_ratings(_source(project), **_reading(project))
        job = job_of(project, ratings)
        if state.last is not None and state.last.job == job:
            if state.last.passed:
                keep.clear()  # a kill may have left its receipt there
            return _again(state.last)
        made = _made_of(project, ratings)
        if state.last is not None and state.last.out and state.last.made == made:
            return _judged_again(project, ratings, keep, state, job, dry=dry)
        name = f"release-{len(state.published) + 1}"
        place = to / name
        _refuse_taken(place)
        after = _last_of(keep, state, project) if isinstance(method, KeepsGroups) else None
        if after is not None and method.items is not None and method.items.top is not None:
            method = replace(method, items=None)  # those of the release before
        if after is None:  # else the scale is that of the release before, which is out
            refuse_found_scale(ratings, method.k)
        if dry:
            return Ran(
                name, None, "", str(place), dry=True, plan=_plan(ratings, method, after, place)
            )
        work = _begin(keep, job)
        drawn = state.seeds[job] if job in state.seeds else seed()
        state = replace(state, seeds={job: drawn})
        keep.write(state)
        release = _made(ratings, method, work, after, drawn)
        lies, receipt = work / "release", work / "receipt.json"
        audit = _audited(project, ratings, release, lies, receipt, work, keep, state, drawn)
        published = Published(name, str(place), identity(lies))
        return _ended(keep, state, job, made, published, audit)


def job_of(project: Project, ratings: Ratings) -> str:
    """Return a name for what is to be done: of the data, the settings and this version.

    Files that settings name count by their content.
    """
    settings = {"release": dict(project.release), "audit": dict(project.audit)}
    settings["publish"] = dict(project.publish)
    facts = [__version__, digest_of(ratings), ratings.item_names, settings]
    files = [*map(_content, texts_in(settings))]
    said = json.dumps([*facts, files], sort_keys=True, default=str, allow_nan=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _content(text: str) -> str:
    """Return a digest of the file or release that a text names; empty where it names none."""
    path = Path(text)
    try:
        with (path / "release.json" if path.is_dir() else path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _made_of(project: Project, ratings: Ratings) -> str:
    """Return a name for what makes a release, however it is judged and wherever it goes."""
    return job_of(replace(project, audit={}, publish={}), ratings)


def _source(project: Project) -> str:
    source = project.data.get("ratings")
    if source is None:
        raise ConfigError(
            f"{NAME}: [data] lacks ratings", advice='Say where they are: ratings = "FILE".'
        )
    return str(source)


def _reading(project: Project) -> dict[str, Any]:
    return {name: value for name, value in project.data.items() if name != "ratings"}


def _method(project: Project) -> Any:
    settings = {name: value for name, value in project.release.items() if name != "method"}
    if "items" in settings:
        settings["items"] = parse_items(str(settings["items"]))
    return find(ENTRIES, project.method, "method").load()(**settings)


def _published_place(project: Project) -> Path:
    to = Path(str(project.publish.get("to", PublishSettings().to)))
    refuse_in_release(Path(os.path.realpath(to)), to)
    return to


def _settled(keep: Keep, state: State) -> State:
    """Finish what a kill left on its way out, and refuse where what is out has changed."""
    if state.leaving is not None:
        out = Path(state.leaving.folder)
        if out.exists() and identity(out) == state.leaving.release:
            state = _left(keep, state)
        else:
            state = replace(state, leaving=None, last=None)
            keep.write(state)
    for each in state.published:
        refuse_changed(each, keep.receipt(each.name))
    return state


def _refuse_taken(place: Path) -> None:
    if os.path.lexists(place):
        raise OutputError(
            f"{place}: holds something that this project did not publish",
            advice='Move it away, or publish elsewhere: [publish] to = "FOLDER".',
        )


def _last_of(keep: Keep, state: State, project: Project) -> Release | None:
    """Return the release that the next one continues; None: it is the first."""
    if state.published:
        last = state.published[-1]
        return read_release(last.folder, private=keep.receipt(last.name))
    earlier = project.publish.get("earlier", ())
    receipts = project.publish.get("earlier_private", ())
    return read_release(earlier[-1], private=receipts[-1]) if earlier and receipts else None


def _plan(ratings: Ratings, method: Any, after: Release | None, place: Path) -> str:
    beside = "" if after is None else ", continuing the last one"
    if after is not None:
        chosen = listed_items(list(after.classes.items)).apply(ratings)
    else:
        chosen = ratings if getattr(method, "items", None) is None else method.items.apply(ratings)
    people = counted(chosen.n_users, "person", "people")
    return (
        f"{people}, {counted(chosen.n_items, 'item')}, {counted(chosen.n_ratings, 'rating')} "
        f"would be released by {method.name} with k = {method.k}{beside}, judged, and if the "
        f"verdict allows it published as {place}."
    )


def _begin(keep: Keep, job: str) -> Path:
    """Return the folder of a job; what others left unfinished is removed."""
    keep.clear(but=job)
    work = keep.work / job
    work.mkdir(mode=0o700, exist_ok=True)
    return work


def _made(ratings: Ratings, method: Any, work: Path, after: Release | None, seed: int) -> Release:
    release, receipt = work / "release", work / "receipt.json"
    if release.exists() and receipt.exists():
        note("the release was made before this run was cut short")
    else:
        make_release(ratings, method, out=release, private=receipt, rng=seed, after=after)
    return read_release(release, private=receipt)


def _audited(
    project: Project,
    ratings: Ratings,
    release: Release,
    lies: Path,
    receipt: Path,
    work: Path,
    keep: Keep,
    state: State,
    seed: int,
) -> AuditResult:
    """Judge a release beside all that are out, and write both editions of the report."""
    out = state.published
    dossier = gather(
        ratings,
        release,
        lies,
        private=receipt,
        audit=Audit(**project.audit),
        earlier=[*project.publish.get("earlier", ()), *(each.folder for each in out)],
        earlier_private=[
            *project.publish.get("earlier_private", ()),
            *(keep.receipt(each.name) for each in out),
        ],
        seed=seed,
        command="starshade run",
    )
    for public, file in ((False, "report.html"), (True, "report-public.html")):
        (work / file).unlink(missing_ok=True)
        save_report(dossier, work / file, public=public)
    return dossier.audit


def _judged_again(
    project: Project, ratings: Ratings, keep: Keep, state: State, job: str, *, dry: bool
) -> Ran:
    """Judge the release that is out anew, as only [audit] or [publish] says something else."""
    assert state.last is not None
    out = state.published[-1]
    if dry:
        plan = f"{out.folder} would be judged again, as the ratings and [release] are those of it."
        return Ran(out.name, None, "", out.folder, dry=True, plan=plan)
    work, receipt = _begin(keep, job), keep.receipt(out.name)
    release = read_release(out.folder, private=receipt)
    assert release.private is not None
    before = replace(state, published=state.published[:-1])
    lies, seed = Path(out.folder), release.private.seed
    audit = _audited(project, ratings, release, lies, receipt, work, keep, before, seed)
    _reported(keep, work, out.name)
    last = replace(
        state.last, job=job, passed=audit.passed, headline=audit.word, reasons=audit.reasons
    )
    keep.write(replace(state, last=last))
    keep.clear()
    return replace(_again(last), again=False, audit=audit)


def _reported(keep: Keep, work: Path, name: str) -> None:
    for file, suffix in (("report.html", ""), ("report-public.html", "-public")):
        os.replace(work / file, keep.reports / f"{name}{suffix}.html")


def _ended(
    keep: Keep, state: State, job: str, made: str, release: Published, audit: AuditResult
) -> Ran:
    work, headline = keep.work / job, audit.word
    _reported(keep, work, release.name)
    if not audit.passed:
        stays = str(work / "release")
        last = Done(job, False, headline, release.name, stays, audit.reasons)
        keep.write(replace(state, last=last))
        return Ran(release.name, False, headline, stays, reasons=audit.reasons, audit=audit)
    shutil.copyfile(work / "receipt.json", keep.receipt(release.name))
    keep.receipt(release.name).chmod(0o600)
    last = Done(job, True, headline, release.name, release.folder, made=made, out=True)
    state = replace(state, leaving=release, last=last)
    keep.write(state)
    move(work / "release", Path(release.folder))
    _left(keep, state)
    keep.clear()
    return Ran(release.name, True, headline, release.folder, audit=audit, published=True)


def _left(keep: Keep, state: State) -> State:
    """Write down that what was leaving is out."""
    assert state.leaving is not None
    state = replace(state, published=(*state.published, state.leaving), leaving=None, seeds={})
    keep.write(state)
    return state


def _again(last: Done) -> Ran:
    return Ran(
        last.name,
        last.passed,
        last.headline,
        last.folder,
        again=True,
        reasons=last.reasons,
        published=last.out,
    )
