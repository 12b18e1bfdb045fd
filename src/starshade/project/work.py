"""Do the job of a project file: make, judge, report, and publish if the verdict allows it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from starshade._version import __version__
from starshade.anonymize.registry import ENTRIES
from starshade.audit.dossier.dossier import gather
from starshade.audit.make import KeepsGroups, make_release
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, OutputError, StarshadeError
from starshade.plain import counted
from starshade.progress import note, silence
from starshade.project.accept import Decision, expired, ways_out
from starshade.project.check import texts_in
from starshade.project.file import FOLDER, NAME, Project
from starshade.project.inputs import content_of, inputs_of
from starshade.project.ran import Ran, again, ran_of
from starshade.project.refuse import (
    identity,
    refuse_found_scale,
    refuse_open_question,
    refuse_thresholds,
)
from starshade.project.state import (
    AT_RISK,
    PUBLIC,
    REPORT,
    Done,
    Keep,
    Published,
    State,
    latest_in,
    left,
    move,
)
from starshade.project.write import left_out, open_questions
from starshade.ratings.read import read_ratings
from starshade.ratings.select import parse_items
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.folder.digest import digest_of
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from starshade.report.page import save_report
from starshade.report.people import save_people

#: release, its name, the release that it continues and that one's key file → the command
Remake = Callable[[Release, str, tuple[str, str] | None], str | None]


@dataclass(frozen=True)
class Job:
    """What a run works with.

    `inputs`: see `starshade.project.inputs.inputs_of`. `name`: of the job, see `job_of`; `made`:
    of the part of it that makes the release.
    """

    project: Project
    ratings: Ratings
    keep: Keep
    remake: Remake
    inputs: str = ""
    name: str = ""
    made: str = ""


def work(
    project: Project,
    keep: Keep,
    state: State,
    to: Path,
    *,
    inputs: str,
    seed: Callable[[], int],
    remake: Remake,
    dry: bool,
) -> Ran:
    """Do what is left of a job; arguments as `starshade.project.run.run` has them.

    `to`: the published place. `inputs`: a digest of what is read, where it is known.
    """
    method = _method(project)
    refuse_thresholds(project, state)
    with _step(1) as said:
        ratings = read_ratings(_source(project), **_reading(project))
        said(
            f"{counted(ratings.n_users, 'person', 'people')}, {counted(ratings.n_items, 'item')}, "
            f"{counted(ratings.n_ratings, 'rating')}"
        )
    refuse_open_question(project, ratings)
    inputs = inputs if inputs_of(project) == inputs else ""  # a file may have changed meanwhile
    job = Job(project, ratings, keep, remake, inputs, job_of(project, ratings))
    if state.last is not None and state.last.job == job.name:
        keep.write(replace(state, last=replace(state.last, inputs=inputs)))
        return again(keep, state.last)
    job = replace(job, made=_made_of(project, ratings))
    if state.last is not None and state.last.out and state.last.made == job.made:
        return _judged_again(job, state, dry=dry)
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
        plan = _plan(ratings, method, after, place)
        return Ran(name, None, "", str(place), dry=True, plan=plan)
    folder = _begin(keep, job.made)
    # a run that is not published keeps its seed: another would be another try
    drawn = state.seeds[job.made] if job.made in state.seeds else seed()
    state = replace(state, seeds={job.made: drawn})
    keep.write(state)
    with _step(2) as said:
        release = _made(ratings, method, folder, after, drawn)
        said(f"{name} by {method.name}, k = {method.k}, {counted(release.n_records, 'record')}")
    out = Published(name, str(place), identity(folder / "release"))
    lies = folder / "release", folder / "receipt.json"
    judged = _audited(job, release, lies, folder, state, drawn, out, remake(release, name, last))
    notes = notes_of(ratings, release)
    return replace(_ended(job, state, out, judged), notes=notes)


_STEPS = ("read", "anonymize", "audit", "report", "publish")


@contextmanager
def _step(number: int) -> Iterator[Callable[[str], None]]:
    """Say in one line that a step is done, what came out and how long it took."""
    said, started = list[str](), perf_counter()
    yield said.append
    seconds = perf_counter() - started
    note(f"{number}/{len(_STEPS)} {_STEPS[number - 1]}: {' '.join(said)} ({seconds:.1f} s)")


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
    settings: dict[str, Any] = {
        "release": dict(project.release),
        "audit": dict(project.audit),
        "publish": dict(project.publish),
    }
    facts = [__version__, digest_of(ratings), ratings.item_names, settings, project.statements]
    files = [*map(content_of, texts_in(settings))]
    said = json.dumps([*facts, files], sort_keys=True, default=str, allow_nan=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _made_of(project: Project, ratings: Ratings) -> str:
    """Return a name for what makes a release, however it is judged and wherever it goes."""
    return job_of(replace(project, audit={}, publish={}, context={}, accepted=()), ratings)


def _source(project: Project) -> str:
    source = project.data.get("ratings")
    if source is None:
        raise ConfigError(
            f"{NAME}: [data] lacks ratings", advice='Name the file: ratings = "FILE".'
        )
    return str(source)


def _reading(project: Project) -> dict[str, Any]:
    return {name: value for name, value in project.data.items() if name != "ratings"}


def _method(project: Project) -> Any:
    settings = dict(project.method_settings)
    if "items" in settings:
        settings["items"] = parse_items(str(settings["items"]))
    return find(ENTRIES, project.method, "method").load()(**settings)


def _refuse_taken(place: Path) -> None:
    """Refuse where something else lies in the place of the release or of the link to it."""
    link = latest_in(place.parent)
    taken = [place] * os.path.lexists(place) + [link] * (link.exists() and not link.is_symlink())
    if taken:
        raise OutputError(
            f"{taken[0]}: contains something that this project did not publish",
            advice='Move it away, or choose another folder: [publish] to = "FOLDER".',
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
        beside = ", continuing the previous release"
        nobodys = f" and {counted(invented, 'dummy record')}" if invented else ""
    else:
        chosen = ratings if getattr(method, "items", None) is None else method.items.apply(ratings)
    people = counted(chosen.n_users, "person", "people")
    return (
        f"{people}{nobodys}, {counted(chosen.n_items, 'item')}, "
        f"{counted(chosen.n_ratings, 'rating')} would be released by {method.name} with k = "
        f"{method.k}{beside}, audited, and published as {place} if the audit allows it."
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
        note("the release comes from an earlier run")
    else:
        make_release(ratings, method, out=release, private=receipt, rng=seed, after=after)
    return read_release(release, private=receipt)


def _audited(
    job: Job,
    release: Release,
    lies: tuple[Path, Path],
    folder: Path,
    state: State,
    seed: int,
    leaving: Published,
    command: str | None,
) -> Decision:
    """Audit a release beside all that are published, decide, and write its reports.

    `lies`: where it and its key file are. `folder`: of the reports, which name where both are when
    the run has ended. There is a public report only where the release may be published.
    """
    keep, publish, (place, receipt) = job.keep, job.project.publish, lies
    with _step(3) as said:
        dossier = gather(
            job.ratings,
            release,
            place,
            private=receipt,
            audit=Audit(**job.project.audit),
            earlier=[*publish.get("earlier", ()), *(each.folder for each in state.published)],
            earlier_private=[
                *publish.get("earlier_private", ()),
                *(keep.receipt(each.name) for each in state.published),
            ],
            accepted=lambda audit: Decision.of(audit, job.project.accepted).rows,
            context=job.project.stated,
            notices=expired(job.project.accepted),
            seed=seed,
            command=command,
        )
        said(dossier.audit.headline)
    judged = Decision.of(dossier.audit, job.project.accepted)
    judged = replace(judged, advice=ways_out(judged, release))
    for gap in judged.gaps:
        note(gap)
    for file in (REPORT, PUBLIC, AT_RISK):
        (folder / file).unlink(missing_ok=True)
    with _step(4) as said:
        if judged.published_by:
            dossier = dossier.moved(leaving.folder, str(keep.receipt(leaving.name)))
            save_report(dossier, folder / PUBLIC, public=True)
        save_people(dossier, folder / AT_RISK)
        save_report(dossier, folder / REPORT, public=False)
        said(f"{FOLDER}/reports/{leaving.name}.html")
    return judged


def _done(job: Job, judged: Decision, name: str, place: str, *, out: bool) -> Done:
    audit = judged.audit
    return Done(
        job.name,
        audit.passed,
        audit.headline,
        name,
        place,
        audit.reasons,
        judged.advice,
        made=job.made if out else "",
        out=out,
        inputs=job.inputs,
        checks=tuple(check.to_dict() for check in audit.checks),
        verdict=audit.verdict,
        policy=audit.policy.title,
        published_by=judged.published_by,
    )


def _judged_again(job: Job, state: State, *, dry: bool) -> Ran:
    """Audit the newest published release again, as the ratings and [release] have not changed."""
    assert state.last is not None
    keep, out = job.keep, state.published[-1]
    if dry:
        plan = f"{out.folder} would be audited again: the ratings and [release] have not changed."
        return Ran(out.name, None, "", out.folder, dry=True, plan=plan)
    folder, receipt = _begin(keep, job.made), keep.receipt(out.name)
    release = read_release(out.folder, private=receipt)
    assert release.private is not None
    before = replace(state, published=state.published[:-1])
    lies, seed = (Path(out.folder), receipt), release.private.seed
    command = job.remake(release, out.name, _last_of(keep, before, job.project))
    judged = _audited(job, release, lies, folder, before, seed, out, command)
    if not judged.published_by:
        keep.withdraw(out.name)
    for public in (False, True):
        keep.report(job.made, out.name, public=public)
    last = _done(job, judged, out.name, out.folder, out=True)
    keep.write(replace(state, last=last))
    keep.clear()
    notes = notes_of(job.ratings, release)
    return replace(ran_of(last), audit=judged.audit, notes=notes)


def _ended(job: Job, state: State, release: Published, judged: Decision) -> Ran:
    keep, folder, audit = job.keep, job.keep.work / job.made, judged.audit
    keep.report(job.made, release.name)
    if not judged.published_by:
        keep.withdraw(release.name)
        last = _done(job, judged, release.name, str(folder / "release"), out=False)
        keep.write(replace(state, last=last))
        note(f"5/{len(_STEPS)} publish: no, {audit.verdict} under policy {audit.policy.title}")
        return replace(ran_of(last), audit=audit)
    with _step(5) as said:
        shutil.copyfile(folder / "receipt.json", keep.receipt(release.name))
        keep.receipt(release.name).chmod(0o600)
        last = _done(job, judged, release.name, release.folder, out=True)
        state = replace(state, leaving=release, last=last)
        keep.write(state)
        move(folder / "release", Path(release.folder))
        left(keep, state)
        keep.clear()
        said(release.folder)
    return replace(ran_of(last), audit=audit)


def notes_of(ratings: Ratings, release: Release) -> str:
    """Say who is left out, and which records are nobody's."""
    return " ".join(_notes(ratings, release))


def _notes(ratings: Ratings, release: Release) -> Iterator[str]:
    exact = release.exact
    assert exact is not None
    if exact.users_without_rating:
        yield left_out(exact.users_without_rating, ratings.n_users)
    if exact.users_deleted:
        many = counted(exact.users_deleted, "person", "people")
        yield f"{many} could not be protected by this method and are left out too."
    if exact.dummy_records:
        yield (
            f"{exact.dummy_records:,} of its {counted(release.n_records, 'record')} are dummy "
            "records: they pad classes with too few people."
        )
