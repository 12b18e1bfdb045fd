"""The job of a project file: read, anonymize, audit, report, publish if the verdict allows it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.anonymize.registry import ENTRIES
from starshade.audit.dossier.dossier import gather
from starshade.audit.make import KeepsGroups, make_release
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, OutputError, StarshadeError
from starshade.plain import counted
from starshade.progress import note, silence
from starshade.project.check import texts_in
from starshade.project.file import NAME, Project
from starshade.project.ran import Ran, facts_of
from starshade.project.refuse import (
    identity,
    refuse_changed,
    refuse_found_scale,
    refuse_limits,
    refuse_open_question,
)
from starshade.project.settings import PublishSettings
from starshade.project.state import Done, Keep, Published, State, kept, move
from starshade.project.write import open_questions
from starshade.ratings.places.place import refuse_in_release
from starshade.ratings.read import read_ratings
from starshade.ratings.select import parse_items
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.folder.digest import digest_of
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from starshade.report.page import save_report

#: release, its name, where that lies which it continues and its receipt → what makes it again
Remake = Callable[[Release, str, tuple[str, str] | None], str | None]


def run(
    project: Project,
    folder: Path,
    *,
    seed: Callable[[], int],
    remake: Remake = lambda release, name, after: None,
    dry: bool = False,
) -> Ran:
    """Do the job of a project, or what is left of it.

    Parameters
    ----------
    project : Project
    folder : Path
        Where its file lies; paths in it are relative to this, the working folder.
    seed : callable
        Draws a seed; asked once a job.
    remake : callable
        Says to a release the command that makes it again, for the owner's report.
    dry : bool
        Read the data and say what would be done, or why it cannot be.

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
        refuse_open_question(project, ratings)
        job = job_of(project, ratings)
        if state.last is not None and state.last.job == job:
            if state.last.passed:
                keep.clear()  # a kill may have left its receipt there
            return _again(state.last)
        made = _made_of(project, ratings)
        if state.last is not None and state.last.out and state.last.made == made:
            return _judged_again(project, ratings, keep, state, job, remake, dry=dry)
        name = f"release-{len(state.published) + 1}"
        place = to / name
        _refuse_taken(place)
        last = _last_of(keep, state, project) if isinstance(method, KeepsGroups) else None
        after = None if last is None else read_release(last[0], private=last[1])
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
        out = Published(name, str(place), identity(work / "release"))
        lies = work / "release", work / "receipt.json"
        again = remake(release, name, last)
        audit = _audited(project, ratings, release, lies, work, keep, state, drawn, out, again)
        facts = facts_of(ratings, release, audit)
        return replace(_ended(keep, state, job, made, out, audit), facts=facts)


def question_of(project: Project) -> str:
    """Return the open question that a run would refuse; empty: none, or they cannot be read.

    The ratings are read only where the file leaves it open what they may be.
    """
    if project.version < 2 or {"null_values", "scale"} & set(project.data):
        return ""
    try:
        with silence():
            ratings = read_ratings(_source(project), **_reading(project))
    except StarshadeError:
        return ""
    return next(iter(open_questions(ratings)), "")


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


def _last_of(keep: Keep, state: State, project: Project) -> tuple[str, str] | None:
    """Say where the release lies that the next one continues, and its receipt; None: the first."""
    if state.published:
        last = state.published[-1]
        return last.folder, str(keep.receipt(last.name))
    earlier = project.publish.get("earlier", ())
    receipts = project.publish.get("earlier_private", ())
    return (earlier[-1], receipts[-1]) if earlier and receipts else None


def _plan(ratings: Ratings, method: Any, after: Release | None, place: Path) -> str:
    beside = nobodys = ""
    if after is not None:
        kept = method.who_stays(ratings, after)  # refused as when it is made
        chosen, invented = kept.ratings, int(kept.invented.sum())
        beside = ", continuing the last one"
        nobodys = f" and {counted(invented, 'record')} of nobody" if invented else ""
    else:
        chosen = ratings if getattr(method, "items", None) is None else method.items.apply(ratings)
    people = counted(chosen.n_users, "person", "people")
    return (
        f"{people}{nobodys}, {counted(chosen.n_items, 'item')}, "
        f"{counted(chosen.n_ratings, 'rating')} "
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
    lies: tuple[Path, Path],
    work: Path,
    keep: Keep,
    state: State,
    seed: int,
    leaving: Published,
    command: str | None,
) -> AuditResult:
    """Judge a release beside all that are out, and write both editions of the report.

    `lies`: where it and its receipt are. The report names where they are when the run has ended.
    """
    out, (folder, receipt) = state.published, lies
    dossier = gather(
        ratings,
        release,
        folder,
        private=receipt,
        audit=Audit(**project.audit),
        earlier=[*project.publish.get("earlier", ()), *(each.folder for each in out)],
        earlier_private=[
            *project.publish.get("earlier_private", ()),
            *(keep.receipt(each.name) for each in out),
        ],
        seed=seed,
        command=command,
    )
    if dossier.passed:
        dossier = dossier.moved(leaving.folder, str(keep.receipt(leaving.name)))
    for public, file in ((False, "report.html"), (True, "report-public.html")):
        (work / file).unlink(missing_ok=True)
        save_report(dossier, work / file, public=public)
    return dossier.audit


def _judged_again(
    project: Project,
    ratings: Ratings,
    keep: Keep,
    state: State,
    job: str,
    remake: Remake,
    *,
    dry: bool,
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
    lies, seed = (Path(out.folder), receipt), release.private.seed
    again = remake(release, out.name, _last_of(keep, before, project))
    audit = _audited(project, ratings, release, lies, work, keep, before, seed, out, again)
    _reported(keep, work, out.name)
    last = replace(
        state.last, job=job, passed=audit.passed, headline=audit.headline, reasons=audit.reasons
    )
    keep.write(replace(state, last=last))
    keep.clear()
    facts = facts_of(ratings, release, audit)
    return replace(_again(last), again=False, audit=audit, facts=facts)


def _reported(keep: Keep, work: Path, name: str) -> None:
    for file, suffix in (("report.html", ""), ("report-public.html", "-public")):
        os.replace(work / file, keep.reports / f"{name}{suffix}.html")


def _ended(
    keep: Keep, state: State, job: str, made: str, release: Published, audit: AuditResult
) -> Ran:
    work, headline = keep.work / job, audit.headline
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
