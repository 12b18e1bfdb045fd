"""Write a release folder: all of it, verified, or nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InternalError
from starshade.progress import task
from starshade.ratings.places.atomic import atomic_folder, together, vacant
from starshade.ratings.places.place import Place, Where
from starshade.release.card.card import dataset_card
from starshade.release.content import canonical
from starshade.release.folder.columns import PROFILE_BYTES, cells_table, profiles_table
from starshade.release.folder.croissant import croissant
from starshade.release.folder.receipt import refuse_inside, write_receipt
from starshade.release.manifest import Manifest
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Release
from starshade.release.verify.verify import Counted, check_folder, recount

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_release"]

ROWS_PER_GROUP = 2**20  # of a Parquet file: a fixed cut, so that equal tables are equal bytes
_FORMAT: dict[str, Any] = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "store_schema": False,
}


def write_release(release: Release, path: Where, private: Where | None = None) -> None:
    """Write `release` to the folder `path`, and the owner's receipt to `private` if asked.

    The Parquet files are written into a temporary sibling, recounted from there by
    `starshade.release.verify.verify`, described, checked once more as a whole, and renamed together
    with the receipt, and after it: a release that exists has the receipt that was asked for.
    """
    if (release.manifest.layout == "profile") != isinstance(release.classes, Profiles):
        raise InternalError("layout profile is what has profiles, and no other")
    place = Place.of(path)
    if private is not None:
        if release.private is None:
            raise ConfigError(
                "this release was read from disk: it carries no private facts to write a receipt of"
            )
        refuse_inside(private, place)
        private = vacant(private)
    with task("saving"), together(), atomic_folder(place) as folder:
        manifest = _write_files(release, folder)
        _open_up(folder, manifest)
        if private is not None:
            write_receipt(release, private, hash_of(folder / "release.json"))


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_files(release: Release, folder: Path) -> Manifest:
    """Write everything but the receipt; return what the manifest says."""
    _write_table(_records_table(release), folder / "records.parquet")
    if isinstance(release.classes, Profiles):
        _write_profiles(release.classes, folder / "profiles.parquet")
    else:
        cells = cells_table(canonical(release.classes), release.groups)
        _write_table(cells, folder / "cells.parquet")
    _write_table(_items_table(release), folder / "items.parquet")
    counted = recount(folder, release.manifest.model_dump(mode="json"), release.private)
    manifest = _verified(release.manifest, counted)
    tables = {p.name: hash_of(p) for p in sorted(folder.glob("*.parquet"))}
    manifest = manifest.model_copy(update={"files": tables})
    ranges = _of_type(release, "struct")
    card = dataset_card(manifest, _smallest_class(release), ranges)
    (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")
    (folder / "croissant.json").write_text(
        croissant(manifest, _of_type(release, "double"), ranges), encoding="utf-8", newline="\n"
    )
    texts = {name: hash_of(folder / name) for name in ("README.md", "croissant.json")}
    manifest = manifest.model_copy(update={"files": dict(sorted((tables | texts).items()))})
    (folder / "release.json").write_text(manifest.to_json(), encoding="utf-8", newline="\n")
    check_folder(folder, counted)
    return manifest


def _of_type(release: Release, kind: str) -> frozenset[str]:
    """Return which released attributes are of a type that begins so."""
    if release.attributes is None:
        return frozenset()
    schema = release.attributes.schema
    return frozenset(field.name for field in schema if str(field.type).startswith(kind))


def _verified(manifest: Manifest, counted: Counted) -> Manifest:
    claims = (
        claim.model_copy(update={"verified": counted.of_claim(claim.model, claim.parameters)})
        for claim in manifest.claims
    )
    return manifest.model_copy(update={"claims": tuple(claims)})


def _records_table(release: Release) -> pa.Table:
    import pyarrow as pa

    columns = {
        "record": pa.array(np.arange(release.n_records, dtype=np.int32)),
        "group": pa.array(_group_of_record(release).astype(np.int32)),
    }
    if (people := release.attributes) is not None:
        columns |= dict(zip(people.column_names, people.columns, strict=True))
    return pa.table(columns)


def _group_of_record(release: Release) -> NDArray[np.int64]:
    return release.class_of_record if release.groups is None else release.groups


def _smallest_class(release: Release) -> int:
    """Return how many records are equal wherever one is, where each is told; else 0."""
    if release.manifest.layout != "record" or not release.n_records:
        return 0
    return int(np.bincount(_group_of_record(release)).min())


def _items_table(release: Release) -> pa.Table:
    import pyarrow as pa

    keys = list(release.classes.items)
    names = release.item_names or (None,) * len(keys)
    return pa.table({"item": pa.array(keys, pa.string()), "name": pa.array(names, pa.string())})


def _write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet whose bytes depend on the table alone."""
    import pyarrow.parquet as pq

    with path.open("xb") as file:  # Python's file: a full disk is an OSError with its number
        pq.write_table(
            table.replace_schema_metadata(None),
            file,
            row_group_size=ROWS_PER_GROUP,
            compression_level=3,
            use_dictionary=True,
            **_FORMAT,
        )


def _write_profiles(profiles: Profiles, path: Path) -> None:
    """Write ``profiles.parquet`` some rows at a time; its bytes depend on the profiles alone."""
    import pyarrow.parquet as pq

    schema = profiles_table(profiles, slice(0, 0)).schema
    with (
        path.open("xb") as file,
        pq.ParquetWriter(
            file,
            schema,
            compression_level=1,  # levels have no repeats that a longer search would find
            use_dictionary=False,
            write_statistics=False,  # of a profile they would be two whole ones
            **_FORMAT,
        ) as writer,
        task("writing profiles", profiles.n_groups) as advance,
    ):
        for rows in profiles.blocks(PROFILE_BYTES):
            writer.write_table(
                profiles_table(profiles, rows), row_group_size=rows.stop - rows.start
            )
            advance(rows.stop - rows.start)


def _open_up(folder: Path, manifest: Manifest) -> None:
    """Let others read what is meant to be published; keep the rest to the owner."""
    if manifest.audience == "query":
        for file in folder.iterdir():
            file.chmod(0o600)
        return
    probe = folder / "mode"  # what the umask makes of a folder, without touching the umask
    probe.mkdir()
    mode = probe.stat().st_mode
    probe.rmdir()
    folder.chmod(mode & 0o777)
