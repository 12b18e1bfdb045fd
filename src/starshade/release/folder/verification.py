"""Verify a release by its files alone, without ratings and key file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from starshade._version import __version__
from starshade.arguments import typed
from starshade.errors import ReleaseError
from starshade.plain import counted
from starshade.progress import announced
from starshade.release.figures import counted_of
from starshade.release.folder.read import facts_of, file_faults, read_contents, read_manifest
from starshade.release.folder.write import folder_texts, hash_of
from starshade.release.manifest import FORMAT_VERSION, Claim, Manifest, OtherContentError
from starshade.release.readable.write import count_harmless
from starshade.release.table import Release
from starshade.release.verify.verify import Counted, check_tables, count_folder

Status: TypeAlias = Literal["PASS", "FAIL", "NOT VERIFIED"]
Outcome: TypeAlias = Literal["PASS", "FAIL", "INCOMPLETE"]
_Result = TypeVar("_Result")

#: what the files of a release cannot show
ONLY_OWNER = (
    "whether the cells hold the original ratings and attributes",
    "the method, its settings and the version of starshade",
    "the lineage and the ends of the scale",
    "figures in bands: suppressed people and items, imputed cells, dummy records",
)
ADVICE = (
    "Hashes do not show who wrote the files: an adversary can change both. Compare this SHA-256 "
    "with the one that the publisher states elsewhere."
)
#: what to do unless all of it holds
NEXT = {
    "PASS": "",
    "FAIL": "Do not use this release. Ask its publisher for an intact copy and for the SHA-256 of "
    "release.json.",
    "INCOMPLETE": "Do not rely on README.md and croissant.json, or verify them with the version "
    "of starshade that wrote the release.",
}
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")  # what may stand in a line of ours


@dataclass(frozen=True)
class Check:
    """One check: its status, and what was counted or what is wrong."""

    name: str
    status: Status
    detail: str


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`.

    Attributes
    ----------
    release : str
        Folder.
    sha256 : str
        SHA-256 of ``release.json``, which holds the hashes of all other files.
    checks : tuple of Check
        Files, contents, readable tables, descriptions, and each claim; ``release.json`` alone where
        its checksum is wrong.
    only_owner : tuple of str
        Facts that only the original ratings and the key file can verify.
    """

    release: str
    sha256: str
    checks: tuple[Check, ...]
    only_owner: tuple[str, ...] = field(default=ONLY_OWNER)

    @property
    def status(self) -> Outcome:
        """FAIL if a check fails; INCOMPLETE if none fails and one was not verified."""
        found = {check.status for check in self.checks}
        return "FAIL" if "FAIL" in found else "INCOMPLETE" if "NOT VERIFIED" in found else "PASS"

    @property
    def holds(self) -> bool | None:
        """Whether all checks pass; None if none fails and one was not verified."""
        return {"PASS": True, "FAIL": False, "INCOMPLETE": None}[self.status]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "release": self.release,
            "status": self.status,
            "holds": self.holds,
            "sha256": self.sha256,
            "checks": [vars(check) for check in self.checks],
            "only_owner": list(self.only_owner),
        }

    def __str__(self) -> str:
        failing = [check.name for check in self.checks if check.status == "FAIL"]
        if failing:
            number = f"{len(failing)} of {counted(len(self.checks), 'check')}"
            return f"FAIL: {number} failed ({', '.join(failing)})."
        if left := [check for check in self.checks if check.status == "NOT VERIFIED"]:
            said = "; ".join(f"{check.name} not verified ({check.detail})" for check in left)
            return f"INCOMPLETE: {said}."
        return f"PASS: all {counted(len(self.checks), 'check')} pass."


@typed
@announced("verifying the release")
def verify(path: str | Path) -> Verification:
    """Verify a release by its files alone.

    Independent code compares all files with their hashes, the readable tables with the exact files,
    the descriptions with the facts, and the counts, shares and claims of ``release.json`` with its
    own counts.

    Parameters
    ----------
    path : path
        Release folder.

    Raises
    ------
    ReleaseError
        Not a release, or a ``release.json`` that this version does not read.
    """
    folder = Path(path)
    try:
        manifest = read_manifest(folder)
    except OtherContentError as error:
        wrong = Check("release.json", "FAIL", error.message.removeprefix("release.json: "))
        return Verification(str(path), hash_of(folder / "release.json"), (wrong,))
    faults = "; ".join(f"{name}: {what}" for name, what in file_faults(folder, manifest))
    number = counted(len(manifest.files), "file")
    files = _check("files", faults, f"{number}, as release.json lists them; no other file")
    rest = _unverified("contents", "tables", "descriptions", *map(_named, manifest.claims))
    if not faults:
        rest = tuple(_contents(folder, manifest))
    return Verification(str(path), hash_of(folder / "release.json"), (files, *rest))


def _contents(folder: Path, manifest: Manifest) -> Iterator[Check]:
    """Yield the checks of the contents, tables, descriptions and claims."""
    facts = facts_of(manifest)
    release, fault = _tried(lambda: read_contents(folder, manifest))
    counts = None
    if release is not None:
        counts, fault = _tried(lambda: count_folder(folder, facts))
    yield _check("contents", fault, _sizes(manifest))
    if release is None or counts is None:
        yield from _unverified("tables", "descriptions", *map(_named, manifest.claims))
        return
    rows, fault = _tried(lambda: check_tables(folder, facts))
    said = ", ".join(f"{counted(n, 'row')} of {name}" for name, n in (rows or {}).items())
    yield _check("tables", fault, said or "no readable table in this release")
    if fault:
        yield from _unverified("descriptions")  # which hold the hashes of tables
    else:
        yield _descriptions(folder, release)
    yield from (_claim(claim, counts) for claim in manifest.claims)


def _tried(job: Callable[[], _Result]) -> tuple[_Result | None, str]:
    try:
        return job(), ""
    except ReleaseError as error:
        return None, error.message


def _check(name: str, fault: str, detail: str) -> Check:
    return Check(name, "FAIL", fault) if fault else Check(name, "PASS", detail)


def _unverified(*names: str) -> tuple[Check, ...]:
    return tuple(Check(name, "NOT VERIFIED", "an earlier check failed") for name in names)


def _sizes(manifest: Manifest) -> str:
    parts = (
        counted(manifest.records, "record"),
        counted(manifest.classes, "class", "classes"),
        counted(manifest.items, "item"),
    )
    return f"{', '.join(parts)}; shares as in release.json"


def _descriptions(folder: Path, release: Release) -> Check:
    """Compare the texts with those that this version writes for such a release."""
    manifest = release.manifest
    if manifest.format < FORMAT_VERSION:
        older = f"written by an earlier version: format {manifest.format}, now {FORMAT_VERSION}"
        return Check("descriptions", "NOT VERIFIED", older)
    if manifest.starshade != __version__:
        version = manifest.starshade if _VERSION.fullmatch(manifest.starshade) else "another name"
        other = f"written by version {version}; this is {__version__}"
        return Check("descriptions", "NOT VERIFIED", other)
    texts = folder_texts(release, manifest, count_harmless(release, manifest.files))
    faults = [name for name, text in texts.items() if (folder / name).read_bytes() != text.encode()]
    said = f"{', '.join(faults)}: not the text that starshade writes for this release"
    return _check("descriptions", said if faults else "", ", ".join(texts))


def _claim(claim: Claim, counts: Counted) -> Check:
    judged = counts.judge(claim.model_dump(mode="json"))
    fault = "" if judged.holds else f"not met ({counted_of(judged.verified) or 'unknown'})"
    if judged.holds and not judged.agrees(claim.verified):
        fault = "states figures other than those counted"
    return _check(_named(claim), fault, counted_of(judged.verified))


def _named(claim: Claim) -> str:
    """Name a claim with its parameters; item lists as counts."""
    said = (
        f"{name} = {counted(len(value), 'item') if isinstance(value, list) else value}"
        for name, value in claim.parameters.items()
    )
    return f"{claim.model} ({', '.join(said)})"
