"""Verify a release as its receiver can: by its files alone, without ratings and key file."""

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
from starshade.release.manifest import Claim, Manifest, OtherContentError
from starshade.release.readable.write import count_harmless
from starshade.release.table import Release
from starshade.release.verify.verify import Counted, check_tables, count_folder

Status: TypeAlias = Literal["PASS", "FAIL", "NOT VERIFIED"]
Outcome: TypeAlias = Literal["PASS", "FAIL", "INCOMPLETE"]
_Result = TypeVar("_Result")

#: what the files of a release cannot show
ONLY_OWNER = (
    "that the cells hold the original ratings and attributes",
    "the method, its settings and the version of starshade",
    "the lineage, and the ends of the scale",
    "figures in bands: people and items left out, invented cells and records",
)
ADVICE = (
    "Hashes do not show who wrote the files: a person who can change the files can change the "
    "hashes as well. Compare this SHA-256 with the one that the publisher gives by another way."
)
#: what to do unless all of it holds
NEXT = {
    "PASS": "",
    "FAIL": "Do not use this release: ask its publisher for a whole copy, and compare the SHA-256 "
    "of release.json with one that they give by another way.",
    "INCOMPLETE": "Verify it with the version of starshade that wrote it, or do not rely on "
    "README.md and croissant.json.",
}
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")  # what may stand in a line of ours


@dataclass(frozen=True)
class Check:
    """One thing that was verified: what was counted for it, or where it does not hold."""

    name: str
    status: Status
    detail: str


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`.

    Attributes
    ----------
    release : str
        The folder.
    sha256 : str
        Of its ``release.json``, which holds the hashes of all other files.
    checks : tuple of Check
        The files, their contents, the readable tables, the descriptions, and each claim; alone
        ``release.json`` where it is not what its checksum was computed for.
    only_owner : tuple of str
        What takes the original ratings and the key file.
    """

    release: str
    sha256: str
    checks: tuple[Check, ...]
    only_owner: tuple[str, ...] = field(default=ONLY_OWNER)

    @property
    def status(self) -> Outcome:
        """FAIL where a check fails; INCOMPLETE where none does and one could not be made."""
        found = {check.status for check in self.checks}
        return "FAIL" if "FAIL" in found else "INCOMPLETE" if "NOT VERIFIED" in found else "PASS"

    @property
    def holds(self) -> bool | None:
        """Whether all checks hold; None where none fails and one could not be made."""
        return {"PASS": True, "FAIL": False, "INCOMPLETE": None}[self.status]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
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
        return f"PASS: {counted(len(self.checks), 'check')} of this release hold."


@typed
@announced("verifying the release")
def verify(path: str | Path) -> Verification:
    """Verify a release by its files alone.

    All files are compared with their hashes, each cell of the readable tables with the exact files,
    the descriptions with what is described, and the counts, shares and claims of ``release.json``
    with what independent code counts.

    Parameters
    ----------
    path : path
        A release folder.

    Raises
    ------
    ReleaseError
        There is no release, or its ``release.json`` is none that this version reads.
    """
    folder = Path(path)
    try:
        manifest = read_manifest(folder)
    except OtherContentError as error:
        wrong = Check("release.json", "FAIL", error.message.removeprefix("release.json: "))
        return Verification(str(path), hash_of(folder / "release.json"), (wrong,))
    faults = "; ".join(f"{name}: {what}" for name, what in file_faults(folder, manifest))
    number = counted(len(manifest.files), "file")
    files = _check("files", faults, f"{number} as release.json names them, and no other")
    rest = _unverified("contents", "tables", "descriptions", *map(_named, manifest.claims))
    if not faults:
        rest = tuple(_contents(folder, manifest))
    return Verification(str(path), hash_of(folder / "release.json"), (files, *rest))


def _contents(folder: Path, manifest: Manifest) -> Iterator[Check]:
    """Yield the checks of what stands in the files, and of what is said of it."""
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
    yield _check("tables", fault, said or "none in this release")
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
    return tuple(Check(name, "NOT VERIFIED", "an earlier check fails") for name in names)


def _sizes(manifest: Manifest) -> str:
    parts = (
        counted(manifest.records, "record"),
        counted(manifest.classes, "class", "classes"),
        counted(manifest.items, "item"),
    )
    return f"{', '.join(parts)}, and the shares of people in release.json"


def _descriptions(folder: Path, release: Release) -> Check:
    """Compare the texts with those that starshade writes for such a release."""
    manifest = release.manifest
    if manifest.starshade != __version__:
        version = manifest.starshade if _VERSION.fullmatch(manifest.starshade) else "another name"
        other = f"of version {version}; this is {__version__}"
        return Check("descriptions", "NOT VERIFIED", other)
    texts = folder_texts(release, manifest, count_harmless(release, manifest.files))
    faults = [name for name, text in texts.items() if (folder / name).read_bytes() != text.encode()]
    said = f"{', '.join(faults)}: not as starshade describes this release"
    return _check("descriptions", said if faults else "", ", ".join(texts))


def _claim(claim: Claim, counts: Counted) -> Check:
    judged = counts.judge(claim.model_dump(mode="json"))
    fault = "" if judged.holds else f"does not hold ({counted_of(judged.verified) or 'unknown'})"
    if judged.holds and not judged.agrees(claim.verified):
        fault = "states other figures than those that were counted"
    return _check(_named(claim), fault, counted_of(judged.verified))


def _named(claim: Claim) -> str:
    """Name a claim with its parameters; items are counted, not named."""
    said = (
        f"{name} = {counted(len(value), 'item') if isinstance(value, list) else value}"
        for name, value in claim.parameters.items()
    )
    return f"{claim.model} ({', '.join(said)})"
