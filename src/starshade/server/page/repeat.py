"""The command that reproduces a release of the studio, byte for byte."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from starshade.anonymize.registry import ENTRIES
from starshade.audit.settings import AuditSettings
from starshade.plain import join_list
from starshade.ratings.settings import ReadingSettings
from starshade.registry import find
from starshade.server.jobs.store import DataRow, JobRow, Store
from starshade.server.page.job import source_of
from starshade.setting import Setting, settings_of

#: settings that have another name on the command line
_CALLED = {"null_values": "null", "sensitive_attributes": "sensitive-attribute"}


def command_of(store: Store, data: DataRow, job: JobRow) -> str:
    """Return the command that reproduces a release; empty where there is none.

    Synthetic ratings have no file, and no command holds out ratings. A second line audits the
    release as the studio did, if its policy or thresholds were changed.
    """
    seed = (job.result or {}).get("seed")
    if data.kind == "synthetic" or job.settings.get("held_out") or seed is None:
        return ""
    method = str(job.settings["method"])
    words = ["starshade", "anonymize", str(source_of(store, data)), "--method", method]
    own = settings_of(find(ENTRIES, method, "method").declaration())
    words += _spelled(job.settings.get("config") or {}, {each.name: each for each in own})
    if job.settings.get("items"):
        words += ["--items", str(job.settings["items"])]
    reading = {each.name: each for each in settings_of(ReadingSettings)}
    read = [*_spelled(read_as(store, job), reading)]
    again = f"starshade-release-{job.id}"
    receipt = ["--private", f"{again}-keep-secret.json", "--seed", str(seed)]
    made = shlex.join([*words, *read, "--out", again, *receipt])
    usual = {"policy": AuditSettings.policy, "threshold": None}
    judging: dict[str, Any] = {
        name: value
        for name, default in usual.items()
        if (value := job.settings.get(name, default)) != default
    }
    if not judging:
        return made
    judging |= {name: job.settings[name] for name in ("known", "targets") if name in job.settings}
    words = ["starshade", "audit", str(source_of(store, data)), again, *read, *receipt]
    return f"{made}\n{shlex.join([*words, *_spelled(judging, {})])}"


def read_as(store: Store, job: JobRow) -> Mapping[str, Any]:
    """Return the reading settings of the ratings of a release."""
    reads = store.jobs(job.data_id, kinds=("read",), states=("done",))
    return next((each.settings for each in reads if each.id < job.id), {})


def _spelled(values: Mapping[str, Any], declared: Mapping[str, Setting]) -> Iterator[str]:
    for name, value in values.items():
        flag = _CALLED.get(name, name.replace("_", "-"))
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
            continue
        commas = name in declared and declared[name].commas
        several = value if isinstance(value, list | tuple) and not commas else [value]
        for one in several:
            text = join_list(one) if isinstance(one, list | tuple) else f"{one}"
            yield from [f"--{flag}={text}"] if text.startswith("-") else [f"--{flag}", text]
