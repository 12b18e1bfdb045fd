"""What a project's runs keep beside its file, in a folder for its owner alone.

::

    .starshade/
    ├── state.json          the last run, and what is out
    ├── receipts/NAME.json  of each release that is out
    ├── reports/NAME.html   with NAME-at-risk.csv and, of what is published, NAME-public.html
    └── work/               what a run has finished, until its release leaves or another run begins
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from starshade.errors import ConfigError, OutputError
from starshade.files.checksum import parse, with_checksum, without_checksum
from starshade.files.side import PROJECT_STATE, read_side
from starshade.progress import note
from starshade.project.file import FOLDER
from starshade.ratings.places.atomic import flush
from starshade.ratings.places.place import output_error

_STATE = "state.json"
_FORMAT = 1
_WITHIN = ("receipts", "reports", "work")
#: in the folder of a job: the reports and the list of people at risk
REPORT, PUBLIC, AT_RISK = "report.html", "report-public.html", "at-risk.csv"
_NAMES = {REPORT: "{}.html", PUBLIC: "{}-public.html", AT_RISK: "{}-at-risk.csv"}


@dataclass(frozen=True)
class Published:
    """A release that is out. `release`: the SHA-256 of its ``release.json``, as receipts say it."""

    name: str
    folder: str
    release: str


@dataclass(frozen=True)
class Done:
    """A run that ended with a verdict.

    `job`: of what, see `starshade.project.work.job_of`; `made`: the part of it that makes the
    release; `inputs`: see `starshade.project.inputs.inputs_of`. `passed`: the verdict is PASS.
    `published_by`: "policy" or "acceptance"; empty: it may not be published. `out`: its release is
    published, whatever a later verdict says. `checks`: as `AuditResult.checks`.
    """

    job: str
    passed: bool
    headline: str
    name: str
    folder: str  # where its release lies
    reasons: tuple[str, ...] = ()  # why it must not be published
    advice: tuple[str, ...] = ()  # what would lead to publication
    made: str = ""
    out: bool = False
    inputs: str = ""
    checks: tuple[dict[str, Any], ...] = ()
    verdict: str = ""
    policy: str = ""
    published_by: str = ""


@dataclass(frozen=True)
class State:
    """What is out, the last run, and a release that was on its way when this was written."""

    published: tuple[Published, ...] = ()
    last: Done | None = None
    leaving: Published | None = None
    seeds: dict[str, int] = field(default_factory=dict)


def _done(facts: dict[str, Any]) -> Done:
    lists = {name: tuple(facts.get(name, ())) for name in ("reasons", "advice", "checks")}
    return Done(**{**facts, **lists})


class Keep:
    """The folder, held by one run at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.receipts, self.reports, self.work = (folder / name for name in _WITHIN)

    def receipt(self, name: str) -> Path:
        """Say where the receipt of a release that is out lies."""
        return self.receipts / f"{name}.json"

    def all_receipts(self) -> list[Path]:
        """Return the receipts of what is out, and of what is not."""
        return [*sorted(self.receipts.glob("*.json")), *sorted(self.work.glob("*/receipt.json"))]

    def report(self, job: str, name: str, *, public: bool = False) -> None:
        """Put a report of a job, where there still is one, among the others.

        With the internal one goes the list of people at risk.
        """
        for file in (PUBLIC,) if public else (AT_RISK, REPORT):
            source = self.work / job / file
            if source.exists():
                os.replace(source, self._report(name, file))

    def withdraw(self, name: str) -> None:
        """Remove a public report: its release does not pass."""
        self._report(name, PUBLIC).unlink(missing_ok=True)

    def _report(self, name: str, file: str) -> Path:
        return self.reports / _NAMES[file].format(name)

    def read(self) -> State:
        """Read the state; nothing is known where there is none.

        Raises
        ------
        ConfigError
            It is damaged, or of another version.
        """
        place = self.folder / _STATE
        if not os.path.lexists(place):
            return State()
        raw = read_side(place, PROJECT_STATE)
        try:
            facts = without_checksum(parse(raw))
            if facts.pop("format") != _FORMAT:
                raise ConfigError(
                    f"{place}: was written by another version of starshade",
                    advice="Use that version for this project.",
                )
            return State(
                published=tuple(Published(**each) for each in facts["published"]),
                last=None if facts["last"] is None else _done(facts["last"]),
                leaving=None if facts["leaving"] is None else Published(**facts["leaving"]),
                seeds=facts["seeds"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                f"{place}: damaged; it records which releases are published and must be audited "
                "together with the next one",
                advice="Restore it from a backup.",
            ) from None

    def write(self, state: State) -> None:
        """Replace the state, whole or not at all."""
        facts: dict[str, Any] = {"format": _FORMAT, **asdict(state)}
        replace_file(self.folder / _STATE, json.dumps(with_checksum(facts), indent=1), 0o600)

    def clear(self, but: str = "") -> None:
        """Remove what earlier runs left unfinished, but for one."""
        for path in self.work.iterdir():
            if path.name == but:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def replace_file(place: Path, text: str, mode: int) -> None:
    """Write a file in the place of another, whole or not at all; one writer at a time."""
    part = place.with_name(f"{place.name}.part")
    try:
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(mode)
        os.replace(part, place)
        flush(place.parent)
    except OSError as error:
        raise output_error(error, place) from error


@contextmanager
def kept(project: Path) -> Iterator[Keep]:
    """Hold the folder of a project; refuse where another run is at work, or it is not the owner's.

    Raises
    ------
    OutputError
        Another run is at work there, or it cannot be written.
    """
    folder = project / FOLDER
    try:
        for path in (folder, *(folder / name for name in _WITHIN)):
            _own(path)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise output_error(error, folder) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield Keep(folder)
    except BlockingIOError:
        raise OutputError(
            f"{folder}: another run is in progress", advice="Wait until it ends."
        ) from None
    finally:
        os.close(handle)


def _own(path: Path) -> None:
    """Make a folder that only its owner may look into, unless it is there."""
    if path.is_symlink():
        raise OutputError(
            f"{path}: is a link, but project data must stay in this folder",
            advice="Replace it by a folder.",
        )
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        raise OutputError(f"{path}: is not a folder", advice="Move it away.") from None
    path.chmod(0o700)


def move(source: Path, place: Path) -> None:
    """Give a folder another place by one rename, on another disk by a copy that is renamed."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            source.rename(place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            copy = place.with_name(f".{place.name}.part")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(source, copy)
            copy.rename(place)
            shutil.rmtree(source)
        flush(place.parent)
    except OSError as error:
        raise output_error(error, place) from error


def left(keep: Keep, state: State) -> State:
    """Write down that what was leaving is published, after its public report and the link."""
    assert state.leaving is not None
    assert state.last is not None
    keep.report(state.last.made, state.leaving.name, public=True)
    link_latest(Path(state.leaving.folder))
    state = replace(state, published=(*state.published, state.leaving), leaving=None, seeds={})
    keep.write(state)
    return state


def latest_in(to: Path) -> Path:
    """Return the link to the newest release in a published place."""
    return to / "latest"


def link_latest(release: Path) -> None:
    """Let ``latest`` beside a release lead to it; there is a link at every moment.

    Where a file system has no links, or something else lies there, that is noted.
    """
    link = latest_in(release.parent)
    part = link.with_name(f".{link.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.symlink_to(release.name)
        if link.exists() and not link.is_symlink():
            raise FileExistsError(errno.EEXIST, "contains something else")
        os.replace(part, link)
        flush(release.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        note(f"{link}: was not linked to {release.name}: {error.strerror}")
