"""Open a release folder: hashes, format, counts and order are checked before anything is used."""

from __future__ import annotations

import hashlib
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ReleaseError
from starshade.progress import announced
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.attributes import check_plain
from starshade.release.folder.layouts import read_cells, read_profiles, read_table
from starshade.release.folder.receipt import read_receipt
from starshade.release.manifest import Manifest
from starshade.release.quasi import read_quasi
from starshade.release.table import Release

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_release", "read_release"]

_TEXTS = ("README.md", "croissant.json")
_TABLES = {
    "generalized": ("records.parquet", "cells.parquet", "items.parquet"),
    "record": ("records.parquet", "cells.parquet", "items.parquet"),
    "profile": ("records.parquet", "profiles.parquet", "items.parquet"),
}


def is_release(path: str | Path) -> bool:
    """Tell whether `path` is a folder that says that it is a release."""
    return (Path(path) / "release.json").is_file()


@announced("opening the release")
def read_release(path: str | Path, *, private: str | Path | None = None) -> Release:
    """Read a release folder of any layout.

    Parameters
    ----------
    path : path
    private : path, optional
        The owner's receipt of this very release; it becomes `Release.private`.

    Raises
    ------
    ReleaseError
        The folder is no release, is of another version's format, or is not whole: a file is
        missing, unknown or changed, or its content contradicts ``release.json``.
    """
    path = Path(path)
    try:
        release = _read(path)
    except ReleaseError as error:
        if str(path) in error.message:
            raise
        raise ReleaseError(
            f"{path}: the release is damaged: {error.message}",
            advice="Ask its owner for a whole copy.",
        ) from None
    if private is None:
        return release
    return replace(release, private=read_receipt(Path(private), path))


def _read(path: Path) -> Release:
    manifest = _read_manifest(path)
    _check_files(path, manifest)
    items, names = _read_items(path)
    group, attributes = _read_records(path, manifest)
    read = read_profiles if manifest.layout == "profile" else read_cells
    classes = read(path, manifest, items, group)
    counts = {
        "records": (manifest.records, len(group)),
        "items": (manifest.items, len(items)),
        "classes": (manifest.classes, int(group[-1]) + 1 if len(group) else 0),
    }
    for name, (stated, counted) in counts.items():
        if stated != counted:
            raise ReleaseError(f"release.json says {stated:,} {name}, the files hold {counted:,}")
    return Release(
        manifest=manifest,
        classes=classes,
        attributes=attributes,
        item_names=names,
        groups=group if manifest.layout == "record" else None,
    )


def _read_manifest(path: Path) -> Manifest:
    try:
        _refuse_irregular(path / "release.json")
        raw = (path / "release.json").read_bytes()
    except OSError:
        raise ReleaseError(
            f"{path}: is no release (no readable release.json there)",
            advice="Give the folder that `starshade anonymize --out` wrote.",
        ) from None
    return Manifest.from_json(raw, str(path))


def _check_files(path: Path, manifest: Manifest) -> None:
    expected = set(_TABLES[manifest.layout]) | set(_TEXTS)
    present = {entry.name for entry in path.iterdir()} - {"release.json"}
    for what, names in (
        ("missing", expected - present),
        ("unknown", present - expected),
        ("without a hash in release.json", expected - set(manifest.files)),
        ("listed in release.json but not of this layout", set(manifest.files) - expected),
    ):
        if names:
            raise ReleaseError(f"{', '.join(sorted(names))}: {what}")
    for name in sorted(expected):
        try:
            _refuse_irregular(path / name)
            with (path / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ReleaseError(f"{name}: cannot be read: {error.strerror}") from None
        if digest != manifest.files[name]:
            raise ReleaseError(f"{name}: not the file that release.json was written for (SHA-256)")


def _refuse_irregular(path: Path) -> None:
    """Refuse what is no file of its own: a link may lead to another content tomorrow."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ReleaseError(f"{path.name}: a link, or otherwise no regular file")


def _read_items(path: Path) -> tuple[Vocabulary, tuple[str, ...] | None]:
    import pyarrow as pa

    table = read_table(path / "items.parquet", [("item", pa.string()), ("name", pa.string())])
    keys = table.column("item").to_pylist()
    items = Vocabulary.of(keys)
    if list(items) != keys:
        raise ReleaseError("items.parquet: keys repeat or are not in canonical order")
    names = table.column("name")
    if names.null_count == len(keys):
        return items, None
    return items, tuple(name or "" for name in names.to_pylist())


def _read_records(path: Path, manifest: Manifest) -> tuple[NDArray[np.int64], pa.Table | None]:
    """Return the group of each record, ascending and without gaps, and the attributes."""
    import pyarrow as pa

    fields = [("record", pa.int64()), ("group", pa.int64())]
    table = read_table(path / "records.parquet", fields, more=True)
    attributes = table.drop_columns(["record", "group"])
    if tuple(attributes.column_names) != manifest.attribute_columns:
        raise ReleaseError("records.parquet: personal attributes other than release.json names")
    generalized = (*manifest.quasi_identifiers, *manifest.sensitive_attributes)
    if generalized != (manifest.attribute_columns if manifest.attributes == "generalized" else ()):
        raise ReleaseError("release.json: quasi-identifiers and sensitive attributes are not those")
    if not np.array_equal(table.column("record").to_numpy(), np.arange(len(table))):
        raise ReleaseError("records.parquet: the records are not 0, 1, 2, …")
    group = table.column("group").to_numpy()
    if len(group) and (group[0] != 0 or not np.isin(np.diff(group), (0, 1)).all()):
        raise ReleaseError("records.parquet: the groups are not 0, 0, …, 1, 1, …")
    if manifest.attributes == "generalized":
        attributes = read_quasi(attributes, manifest, group)
    else:
        check_plain(attributes, manifest.attribute_columns)
    return group, attributes if attributes.num_columns else None
