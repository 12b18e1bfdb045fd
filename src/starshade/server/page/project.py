"""The project file `starshade.toml`: the one of the current folder, and one for a release."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from starshade.errors import ConfigError
from starshade.project.file import NAME, Project, key_of, read_project
from starshade.ratings.readers.addresses.address import is_address
from starshade.ratings.settings import ReadingSettings
from starshade.server.ask.labels import field_of, form_values
from starshade.server.jobs.store import DataRow, JobRow, Store
from starshade.server.page.job import source_of
from starshade.server.page.repeat import read_as
from starshade.setting import setting_of

_FILES = ("users", "item_names")
_AUDIT = ("policy", "known", "targets", "threshold")


def first_data(ratings: str | None) -> dict[str, Any]:
    """Return the first data set: its path and reading settings; empty: none.

    `ratings`: as the command line has them; None: those of the project file.

    Raises
    ------
    ConfigError
        Something is wrong in the project file.
    """
    project = read_project()
    its = None if project is None else project.data.get("ratings")
    if project is None or its is None or (ratings is not None and ratings != its):
        return {} if ratings is None else {"path": ratings}
    if is_address(str(its)):
        raise ConfigError(
            f"{NAME}: [data] ratings is an address; the studio reads only files on this machine",
            advice="Save the ratings first: starshade data convert --out FILE, then starshade "
            "studio FILE.",
        )
    reading: dict[str, Any] = {}
    for name, value in project.data.items():
        if name not in ("ratings", "show_values"):
            reading[name] = list(value) if isinstance(value, tuple) else value
    reading |= {name: os.path.abspath(reading[name]) for name in _FILES if name in reading}
    return {"path": str(its), **reading}


def asked_by_project(data: DataRow, fields: Collection[str]) -> tuple[dict[str, list[str]], str]:
    """Return the release settings of the project file, and a sentence on them.

    `fields`: those of the form; the sentence lists what else the file sets. Both are empty where
    there is no such file, or it is about other ratings.
    """
    project: Project | None = None
    with suppress(ConfigError):  # said when the studio was started, or by `starshade check-config`
        project = read_project()
    its = None if project is None else project.data.get("ratings")
    if project is None or its is None or os.path.abspath(str(its)) != data.source:
        return {}, ""
    release = {name: value for name, value in project.release.items() if name != "method"}
    items = release.pop("items", None)
    settings: dict[str, Any] = {"method": project.method, "config": release}
    if str(items).startswith("top:"):
        settings["items"] = items
    settings |= {name: project.audit[name] for name in _AUDIT if name in project.audit}
    settings["context"] = project.stated.stated
    values = {
        name: [*map(str, value)] if isinstance(value, list | tuple) else [str(value)]
        for name, value in form_values("release", settings).items()
        if value is not None
    }
    if "items" not in settings:  # all of them, or a file
        values[field_of("release", "items", settings)] = [""]
    left = [name for name, value in values.items() if name not in fields and any(value)]
    left += project.audit.keys() - {*_AUDIT}
    besides = f"; this form cannot set {', '.join(sorted(map(key_of, left)))}" if left else ""
    return values, f"Filled in from {NAME}{besides}."


def project_of(store: Store, data: DataRow, job: JobRow) -> str:
    """Return a project file that repeats a release; empty where that is impossible.

    Synthetic ratings have no file, and held-out ratings are no setting of it.
    """
    if data.kind != "file" or job.settings.get("held_out"):
        return ""
    reading = {
        name: value
        for name, value in read_as(store, job).items()
        if value != setting_of(ReadingSettings, name).default
    }
    release: dict[str, Any] = {"method": job.settings["method"]}
    release |= job.settings.get("config") or {}
    if job.settings.get("items"):
        release["items"] = job.settings["items"]
    audit = {name: job.settings[name] for name in _AUDIT if job.settings.get(name)}
    source = Path(source_of(store, data))
    from starshade.project.write import text_of  # loads NumPy

    said = {"ratings": str(source), **reading}
    return text_of(said, release, audit, context=job.settings.get("context"))
