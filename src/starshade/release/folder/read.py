"""Open a release folder; all its facts are checked against its files first."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError, ReleaseError
from starshade.files.parquet import open_texts, read_texts
from starshade.files.side import RELEASE_MANIFEST, read_side
from starshade.plain import counted
from starshade.progress import announced, task
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.attributes import check_plain, disclosure_shares
from starshade.release.cells import Cells
from starshade.release.content import canonical, class_numbers
from starshade.release.folder.columns import content_fields, decode_content, decode_profiles
from starshade.release.folder.receipt import named_release, read_receipt
from starshade.release.manifest import Manifest
from starshade.release.profiles import Profiles, refuse_large, released_levels
from starshade.release.quasi import read_quasi
from starshade.release.table import Release
from starshade.release.verify.verify import check_tables
from starshade.scratch import scratch_bytes

if TYPE_CHECKING:
    import pyarrow as pa


_TEXTS = ("README.md", "croissant.json")
_TABLES = {
    "generalized": ("records.parquet", "cells.parquet", "items.parquet"),
    "record": ("records.parquet", "cells.parquet", "items.parquet"),
    "profile": ("records.parquet", "profiles.parquet", "items.parquet"),
}
#: may lie beside, as they do up to a number of rows (`starshade.release.readable.write`)
_READABLE = frozenset({"table.parquet", "table.csv", "records.csv"})
_NOT_OF_BEFORE = ("users_exact_values_listed",)  # which an earlier version does not state
_BY_CLASS = ("k-anonymity", "review-graph")  # whose claims state the least class
_SLACK = 1e-12
_BUFFER = 2**20  # bytes read at a time
_LARGE = 2**28  # bytes from which on a file is looked at before it is read
_ENDS = {".parquet": b"PAR1"}  # all others are texts, of which the last line ends


def is_release(path: str | Path) -> bool:
    """Return whether `path` is a release folder (it has a ``release.json``)."""
    return (Path(path) / "release.json").is_file()


@typed
@announced("opening the release")
def read_release(path: str | Path, *, private: str | Path | None = None) -> Release:
    """Read a release folder of any layout.

    Hashes, counts, shares and the sizes of classes that are claimed are checked, and every cell of
    the readable tables. `starshade.verify` checks the other claims as well.

    Parameters
    ----------
    path : path
    private : path, optional
        Private key file of this release; it becomes `Release.private`.

    Raises
    ------
    ReleaseError
        Not a release, a format that this version does not read, or damage: a file is missing,
        unknown or changed, or its content contradicts ``release.json``.
    """
    path = Path(path)
    try:
        release = _read(path)
    except ReleaseError as error:
        if str(path) in error.message:
            raise
        raise ReleaseError(
            f"{path}: the release is damaged: {error.message}",
            advice="Ask its owner for an intact copy.",
        ) from None
    if private is None:
        return release
    return replace(release, private=read_receipt(Path(private), path))


@typed
def read_releases(
    paths: Sequence[str | Path], *, private: Sequence[str | Path] = ()
) -> tuple[Release, ...]:
    """Read several release folders, each with its key file if given.

    Parameters
    ----------
    paths : sequence of path
    private : sequence of path
        Private key files, in any order: each names its release.

    Raises
    ------
    ReleaseError
        A folder is not an intact release, a key file belongs to none, or two belong to one.
    """
    receipts: dict[str, str | Path] = {}
    for receipt in private:
        of = named_release(Path(receipt))
        if of in receipts:
            raise ReleaseError(f"{receipt}: belongs to the same release as {receipts[of]}")
        receipts[of] = receipt
    own = [_hash(Path(path)) for path in paths]
    for of, receipt in receipts.items():
        if of not in own:
            raise ReleaseError(
                f"{receipt}: this key file belongs to none of the given releases",
                advice="Give the key files that were written together with these releases.",
            )
    return tuple(
        read_release(path, private=receipts.get(of)) for path, of in zip(paths, own, strict=True)
    )


def _hash(path: Path) -> str:
    """Return the SHA-256 of ``release.json``; empty without one, which reading refuses."""
    try:
        return hashlib.sha256(read_side(path / "release.json", RELEASE_MANIFEST)).hexdigest()
    except ReleaseError:
        return ""


def check_whole(path: Path) -> Manifest:
    """Return the manifest of a folder that holds the files that it lists, and no other.

    Raises
    ------
    ReleaseError
        There is no ``release.json``, or a file is missing, unknown or changed.
    """
    manifest = read_manifest(path)
    _check_files(path, manifest)
    return manifest


def _read(path: Path) -> Release:
    manifest = check_whole(path)
    release = read_contents(path, manifest)
    _check_figures(release)
    check_tables(path, facts_of(manifest))
    return release


def facts_of(manifest: Manifest) -> dict[str, Any]:
    """Return the facts of ``release.json`` for the verifier, without keys that it lacks."""
    left_out = set(_NOT_OF_BEFORE) - manifest.model_fields_set
    return manifest.model_dump(mode="json", exclude=left_out)


def read_contents(path: Path, manifest: Manifest) -> Release:
    """Read the files of a release; check that they fit each other and the stated counts.

    Raises
    ------
    ReleaseError
        They contradict each other, or the counts of ``release.json``.
    """
    items, names = _read_items(path, manifest)
    group, attributes = _read_records(path, manifest)
    read = read_profiles if manifest.layout == "profile" else read_cells
    classes = read(path, manifest, items, group)
    counts = {
        "records": (manifest.records, len(group)),
        "items": (manifest.items, len(items)),
        "classes": (manifest.classes, int(group[-1]) + 1 if len(group) else 0),
    }
    for name, (stated, here) in counts.items():
        if stated != here:
            raise ReleaseError(f"release.json states {stated:,} {name}, the files hold {here:,}")
    return Release(
        manifest=manifest,
        classes=classes,
        attributes=attributes,
        item_names=names,
        groups=group if manifest.layout == "record" else None,
    )


def _check_figures(release: Release) -> None:
    """Check the shares in ``release.json``, and the smallest class that claims state."""
    manifest, sizes = release.manifest, release.classes.sizes
    if release.groups is not None:
        sizes = np.bincount(release.groups)
    for name, share in disclosure_shares(release).items():
        stated = getattr(manifest, name)
        if name in _NOT_OF_BEFORE and name not in manifest.model_fields_set:
            continue
        if (stated is None) != (share is None) or abs((stated or 0) - (share or 0)) > _SLACK:
            raise ReleaseError(f"release.json: {name} contradicts the files")
    smallest = int(sizes.min()) if len(sizes) else 0
    for claim in manifest.claims:
        if claim.model in _BY_CLASS and claim.verified != {"smallest_class": smallest}:
            raise ReleaseError(
                f"release.json: the claim of {claim.model} states a wrong class size"
            )


def read_manifest(path: Path) -> Manifest:
    """Read ``release.json`` alone."""
    try:
        _refuse_irregular(path / "release.json")
        raw = read_side(path / "release.json", RELEASE_MANIFEST)
    except OSError:
        raise ReleaseError(
            f"{path}: not a release (no readable release.json)",
            advice="Give the folder that `starshade anonymize --out` wrote.",
        ) from None
    return Manifest.from_json(raw, str(path))


def _check_files(path: Path, manifest: Manifest) -> None:
    for name, what in file_faults(path, manifest):
        raise ReleaseError(f"{name}: {what}")


def file_faults(path: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the files that do not match ``release.json``, and why."""
    expected = set(_TABLES[manifest.layout]) | set(_TEXTS) | _READABLE & set(manifest.files)
    present = {entry.name for entry in path.iterdir()} - {"release.json"}
    for what, names in (
        ("missing", expected - present),
        ("without a hash in release.json", expected - set(manifest.files)),
        ("not listed in release.json", present - expected),
        ("listed in release.json but not of this layout", set(manifest.files) - expected),
    ):
        if names:
            yield ", ".join(sorted(names)), what
    whole = sorted(expected & present & set(manifest.files))
    for name in whole:
        try:
            _refuse_irregular(path / name)
            digest = _digest(path / name)
        except ReleaseError as error:
            yield name, error.message.removeprefix(f"{name}: ")
        except OSError as error:
            yield name, f"cannot be read: {error.strerror}"
        else:
            if digest != manifest.files[name]:
                yield name, "changed: its SHA-256 is not the one in release.json"


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; of a large one that was cut or stretched nothing."""
    digest, size = hashlib.sha256(), path.stat().st_size
    end = _ENDS.get(path.suffix, b"\n")
    with path.open("rb") as file, task(f"hashing {path.name}", size) as advance:
        if size > _LARGE:
            file.seek(-len(end), os.SEEK_END)
            if file.read() != end:
                return ""
            file.seek(0)
        while block := file.read(_BUFFER):
            digest.update(block)
            advance(len(block))
    return digest.hexdigest()


def _refuse_irregular(path: Path) -> None:
    """Refuse what is no file of its own: a link may lead to another content tomorrow."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ReleaseError(f"{path.name}: not a regular file (a link or similar)")


def _read_items(path: Path, manifest: Manifest) -> tuple[Vocabulary, tuple[str, ...] | None]:
    import pyarrow as pa

    fields = [("item", pa.string()), ("name", pa.string())]
    table = read_table(path / "items.parquet", fields, rows=manifest.items)
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
    names = manifest.attribute_columns
    table = read_table(path / "records.parquet", fields, rows=manifest.records, more=names)
    attributes = table.drop_columns(["record", "group"])
    generalized = (*manifest.quasi_identifiers, *manifest.sensitive_attributes)
    if generalized != (manifest.attribute_columns if manifest.attributes == "generalized" else ()):
        raise ReleaseError(
            "release.json: quasi-identifiers and sensitive attributes are not its attribute columns"
        )
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


_TOGETHER = 2**22  # bytes of profiles taken over together


def read_table(
    path: Path,
    fields: list[tuple[str, Any]],
    *,
    rows: int | None = None,
    more: tuple[str, ...] | None = None,
) -> pa.Table:
    """Read a Parquet file that must have these columns, and the personal attributes `more` behind.

    `rows`: how many it must have, which its end says: a small file may hold very many.
    """
    import pyarrow as pa

    names = [name for name, _ in fields]
    try:
        with path.open("rb") as file:  # Python's: a name need not be UTF-8
            stored, schema = open_texts(file, path.name, ReleaseError)
            _refuse_columns(path, schema, fields, more)
            _refuse_rows(path, stored.metadata, rows)
            table = read_texts(stored, schema, path.name, ReleaseError)
        table.validate(full=True)
        for i, (name, kind) in enumerate(fields):
            table = table.set_column(i, name, table.column(name).cast(kind))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise ReleaseError(f"{path.name}: not a valid Parquet file of a release") from None
    for name in ("record", "group", "item", "size", "profile"):
        if name in names and table.column(name).null_count:
            raise ReleaseError(f"{path.name}: a null in the column {name}")
    return table


def _refuse_columns(
    path: Path, schema: pa.Schema, fields: list[tuple[str, Any]], more: tuple[str, ...] | None
) -> None:
    """Refuse other columns than these, and bytes of another width, before anything is decoded."""
    import pyarrow as pa

    names = [name for name, _ in fields]
    if schema.names[: len(names)] != names or (more is None and len(schema.names) > len(names)):
        raise ReleaseError(f"{path.name}: its columns are not {', '.join(names)}")
    if more is not None and tuple(schema.names[len(names) :]) != more:
        raise ReleaseError(f"{path.name}: personal attributes differ from release.json")
    wanted = dict(fields)
    for field in schema:
        if pa.types.is_fixed_size_binary(field.type) and field.type != wanted.get(field.name):
            raise ReleaseError(f"{path.name}: not a valid Parquet file of a release")


def _refuse_rows(path: Path, stored: Any, rows: int | None) -> None:
    """Refuse another number of rows than is said, and more than memory holds."""
    n, columns = stored.num_rows, stored.num_columns
    if rows is not None and n != rows:
        raise ReleaseError(f"release.json states {rows:,} {path.stem}, the files hold {n:,}")
    if (needed := 8 * n * columns) > _LARGE:
        refuse_large(f"{path.name} of {counted(n, 'row')}", needed, held=0)


def read_cells(
    path: Path, manifest: Manifest, items: Vocabulary, group: NDArray[np.int64]
) -> Cells:
    """Layouts "generalized" (a row per class) and "record" (a row per record)."""
    import pyarrow as pa

    scale = manifest.scale.to_scale()
    by_record = manifest.layout == "record"
    keys = [("group", pa.int64())] + ([("record", pa.int64())] if by_record else [])
    fields = [*keys, ("item", pa.string()), *content_fields(scale)]
    table = read_table(path / "cells.parquet", fields)
    sizes = np.ones(len(group), np.int64) if by_record else np.bincount(group).astype(np.int64)
    row = table.column("record" if by_record else "group").to_numpy()
    if len(row) and not 0 <= row.min() <= row.max() < len(sizes):
        raise ReleaseError("cells.parquet: a row is not in records.parquet")
    if by_record and not np.array_equal(group[row], table.column("group").to_numpy()):
        raise ReleaseError("cells.parquet: the groups differ from records.parquet")
    coded = table.column("item").combine_chunks().dictionary_encode()
    at = items.indices(coded.dictionary.to_pylist())
    if (at < 0).any():
        raise ReleaseError("cells.parquet: an item is not in items.parquet")
    column = at[coded.indices.to_numpy()]
    if (np.diff(row * len(items) + column) <= 0).any():
        raise ReleaseError("cells.parquet: not sorted by group and item, or a cell repeats")
    symbols, codes = decode_content(table, scale)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(sizes)))])
    cells = canonical(
        Cells(items, sizes, indptr.astype(np.int64), column.astype(np.int32), codes, symbols)
    )
    single = cells.symbols.is_single & ~cells.symbols.is_range
    if by_record and not single.all():
        raise ReleaseError("cells.parquet: a cell is not a single rating")
    if by_record and not np.array_equal(class_numbers(cells), group):
        raise ReleaseError("records.parquet: the groups are not the classes of equal records")
    return cells


def read_profiles(
    path: Path, manifest: Manifest, items: Vocabulary, group: NDArray[np.int64]
) -> Profiles:
    """Layout "profile": every cell one level or null, a row per class."""
    scale, step = manifest.scale.to_scale(), manifest.profile_step
    settings = manifest.config.get("profile"), manifest.config.get("step")
    if manifest.method == "predictive" and settings != (manifest.profile, step):
        raise ReleaseError("release.json: kind or step of profile differ from the settings")
    if step is None or not step > 0:
        raise ReleaseError("release.json: a profile layout needs a profile_step above 0")
    try:
        n_levels = len(released_levels(scale, step))
    except ConfigError as error:
        raise ReleaseError(f"release.json: profile_step: {error.message}") from None
    sizes = np.bincount(group).astype(np.int64)
    whole = f"{len(sizes):,} profiles of {len(items):,} items"
    refuse_large(whole, needed=len(sizes) * len(items), held=0)
    levels = _read_levels(path / "profiles.parquet", sizes, len(items))
    if int(levels.max(initial=0)) > n_levels:
        raise ReleaseError("profiles.parquet: a level beyond the scale")
    if manifest.profile not in (None, "simple") and not levels.all():
        raise ReleaseError(f"profiles.parquet: a null in a profile of kind {manifest.profile!r}")
    rows = (levels[row].tobytes() for row in range(len(levels)))
    if any(not a < b for a, b in pairwise(rows)):
        raise ReleaseError("profiles.parquet: two classes are equal or not sorted by content")
    return Profiles(items, sizes, levels, scale, step)


def _read_levels(path: Path, sizes: NDArray[np.int64], n_items: int) -> NDArray[np.uint8]:
    """Read the profiles some rows at a time into the one array that holds them all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as raw:
            file = pq.ParquetFile(raw, buffer_size=_BUFFER)
            if file.schema_arrow.names != ["group", "size", "profile"]:
                raise ReleaseError(f"{path.name}: its columns are not group, size, profile")
            if file.schema_arrow.field("profile").type != pa.binary(n_items):
                raise ReleaseError(f"{path.name}: not a valid Parquet file of a release")
            if file.metadata.num_rows != len(sizes):
                raise ReleaseError(f"{path.name}: not one row per class of records.parquet")
            keys = file.read(columns=["group", "size"])
            if any(keys.column(name).null_count for name in ("group", "size")):
                raise ReleaseError(f"{path.name}: a null in a key")
            groups, counts = (
                keys.column(name).cast("int64").to_numpy() for name in ("group", "size")
            )
            if not np.array_equal(groups, np.arange(len(keys))):
                raise ReleaseError(f"{path.name}: the groups are not 0, 1, 2, …")
            if not np.array_equal(counts, sizes):
                raise ReleaseError(f"{path.name}: sizes differ from records.parquet")
            levels = scratch_bytes(len(sizes), n_items)
            row, rows = 0, max(1, _TOGETHER // max(n_items, 1))
            # row group by row group: else all that was read stays held
            for part in range(file.num_row_groups):
                for batch in file.iter_batches(rows, row_groups=[part], columns=["profile"]):
                    levels[row : row + len(batch)] = decode_profiles(batch.column(0), n_items)
                    row += len(batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise ReleaseError(f"{path.name}: not a valid Parquet file of a release") from None
    return levels
