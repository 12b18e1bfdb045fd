"""Write a release folder: all of it, verified, or nothing."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InputError, InternalError
from starshade.files.parquet import refuse_long_texts
from starshade.progress import task
from starshade.ratings.places.atomic import atomic_folder, together, vacant
from starshade.ratings.places.place import Place, Where
from starshade.release.card import READABLE, dataset_card, describe_columns
from starshade.release.content import canonical
from starshade.release.folder.columns import PROFILE_BYTES, cells_table, profiles_table
from starshade.release.folder.receipt import refuse_inside, write_receipt
from starshade.release.manifest import FORMAT_VERSION, Manifest
from starshade.release.profiles import Profiles
from starshade.release.readable.write import PARQUET, write_beside
from starshade.release.table import Release
from starshade.release.verify.verify import Counted, check_folder, recount
from starshade.scratch import put_down

if TYPE_CHECKING:
    import pyarrow as pa


ROWS_PER_GROUP = 2**20  # of a Parquet file: a fixed cut, so that equal tables are equal bytes


def write_release(release: Release, path: Where, private: Where | None = None) -> None:
    """Write `release` to the folder `path`, and its private key file to `private` if given.

    The Parquet files are written into a temporary sibling, recounted from there by
    `starshade.release.verify.verify`, described, checked once more as a whole, and renamed after
    the key file: a release that exists has its key file.
    """
    if (release.manifest.layout == "profile") != isinstance(release.classes, Profiles):
        raise InternalError("layout profile and profiles must go together")
    place = Place.of(path)
    if private is not None:
        if release.private is None:
            raise ConfigError(
                "a release read from disk carries no private facts to write a key file from"
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
    """Write everything but the key file; return the manifest."""
    _write_records(release, folder / "records.parquet")
    if isinstance(release.classes, Profiles):
        _write_profiles(release.classes, folder / "profiles.parquet")
    else:
        cells = cells_table(canonical(release.classes), release.groups)
        _write_table(cells, folder / "cells.parquet")
    _write_table(_items_table(release), folder / "items.parquet")
    harmless = write_beside(release, folder)
    counted = recount(folder, release.manifest.model_dump(mode="json"), release.private)
    manifest = _verified(release.manifest, counted)
    tables = {p.name: hash_of(p) for p in sorted(folder.iterdir())}
    manifest, texts = (
        manifest.model_copy(update={"files": tables, "format": FORMAT_VERSION}),
        dict[str, str](),
    )
    for name, text in folder_texts(release, manifest, harmless).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        texts[name] = hash_of(folder / name)
    manifest = manifest.model_copy(update={"files": dict(sorted((tables | texts).items()))})
    (folder / "release.json").write_text(manifest.to_json(), encoding="utf-8", newline="\n")
    check_folder(folder, counted)
    return manifest


def folder_texts(release: Release, manifest: Manifest, harmless: int) -> dict[str, str]:
    """Return the texts of a release folder by name: the same facts and tables give equal texts.

    `manifest`: with the hashes of the tables. `harmless`: number of escaped texts in the CSV files.
    """
    ranges, named = _of_type(release, "struct"), bool(release.item_names)
    card = dataset_card(manifest, _smallest_class(release), ranges, named, harmless)
    machines = croissant(manifest, _of_type(release, "double"), ranges, named)
    return {"README.md": card, "croissant.json": machines}


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


def _write_records(release: Release, path: Path) -> None:
    """Write ``records.parquet`` some rows at a time; as many as `_write_table` puts in a group."""
    ends = np.cumsum(release.classes.sizes)
    starts = range(0, max(release.n_records, 1), ROWS_PER_GROUP)
    with path.open("xb") as file, ExitStack() as held:
        writer = None
        for start in starts:
            rows = np.arange(start, min(start + ROWS_PER_GROUP, release.n_records))
            if release.groups is None:
                group = np.searchsorted(ends, rows, side="right")
            else:
                group = release.groups[rows]
            table = _records_table(release, rows, group)
            refuse_long_texts(table, path.name, InputError)
            writer = writer or held.enter_context(_writer(file, table.schema))
            writer.write_table(table, ROWS_PER_GROUP)


def _records_table(release: Release, rows: NDArray[np.int64], group: NDArray[np.int64]) -> pa.Table:
    import pyarrow as pa

    columns = {
        "record": pa.array(rows.astype(np.int32)),
        "group": pa.array(group.astype(np.int32)),
    }
    if (people := release.attributes) is not None:
        some = people.slice(int(rows[0]) if len(rows) else 0, len(rows))
        columns |= dict(zip(some.column_names, some.columns, strict=True))
    return pa.table(columns)


def _smallest_class(release: Release) -> int:
    """Return how many records are equal wherever one is, where each is told; else 0."""
    if release.manifest.layout != "record" or not release.n_records:
        return 0
    groups = release.class_of_record if release.groups is None else release.groups
    return int(np.bincount(groups).min())


def _items_table(release: Release) -> pa.Table:
    import pyarrow as pa

    keys = list(release.classes.items)
    names = release.item_names or (None,) * len(keys)
    return pa.table({"item": pa.array(keys, pa.string()), "name": pa.array(names, pa.string())})


def _write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet whose bytes depend on the table alone."""
    table = table.replace_schema_metadata(None)
    refuse_long_texts(table, path.name, InputError)
    # Python's file: a full disk is an OSError with its number
    with path.open("xb") as file, _writer(file, table.schema) as writer:
        writer.write_table(table, ROWS_PER_GROUP)


def _writer(file: Any, schema: pa.Schema) -> Any:
    from pyarrow.parquet import ParquetWriter

    plain = schema.remove_metadata()
    return ParquetWriter(file, plain, compression_level=3, use_dictionary=True, **PARQUET)


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
            **PARQUET,
        ) as writer,
        task("writing profiles", profiles.n_groups) as advance,
    ):
        for rows in profiles.blocks(PROFILE_BYTES):
            writer.write_table(
                profiles_table(profiles, rows), row_group_size=rows.stop - rows.start
            )
            put_down()
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


_OWN = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty "
    "fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet "
    "references regex repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {name: f"cr:{name}" for name in _OWN.split()} | {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
_TYPES = {
    "record": "sc:Integer",
    "group": "sc:Integer",
    "size": "sc:Integer",
    "low": "sc:Float",
    "high": "sc:Float",
    "values": "sc:Float",
    "null": "sc:Boolean",
    "class": "sc:Integer",
    "lowest": "sc:Float",
    "highest": "sc:Float",
    "rating": "sc:Float",
    "null_possible": "sc:Boolean",
}
_IN_WORDS = {"values": "text"}
_ENCODING = {".parquet": "application/x-parquet", ".csv": "text/csv"}


def croissant(
    manifest: Manifest,
    numeric: frozenset[str] = frozenset(),
    ranges: frozenset[str] = frozenset(),
    named: bool = False,
) -> str:
    """Return the text of ``croissant.json``.

    `manifest`: with the hashes of the tables. `numeric`: which personal attributes are numbers.
    `ranges`: which quasi-identifiers are ranges of numbers; the others are lists. `named`: whether
    items have names.
    """
    tables = describe_columns(manifest, ranges, named)
    kinds = {n: "number" if n in numeric else "text" for n in manifest.attribute_columns}
    kinds |= {n: "range" if n in ranges else "list" for n in manifest.quasi_identifiers}
    purpose = "" if manifest.audience == "publish" else " Not for publication: queries only."
    document = {
        "@context": dict(sorted(_CONTEXT.items())),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "anonymized-ratings",
        "description": f"Ratings of {manifest.items} items in {manifest.records} records, "
        f"anonymized by {manifest.method}; {_cell(manifest)}.{purpose}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "contentUrl": file,
                "encodingFormat": _ENCODING[Path(file).suffix],
                "sha256": digest,
            }
            for file, digest in manifest.files.items()
            if Path(file).suffix in _ENCODING
        ],
        "recordSet": [
            _record_set(
                file, columns, {"records.parquet": kinds, READABLE: _IN_WORDS}.get(file, {})
            )
            for file, columns in tables.items()
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _cell(manifest: Manifest) -> str:
    if manifest.layout == "profile":
        return "each class has one profile of means or predictions"
    if manifest.layout != "record":
        return "each cell lists the possible values of a rating"
    if manifest.imputed_cells is None:
        return "each record holds one person's ratings, unchanged"
    return "each record holds one person's ratings, shifted until others are near"


def _record_set(file: str, columns: dict[str, str], kinds: dict[str, str]) -> dict[str, Any]:
    name = file.removesuffix(".parquet")
    fields = []
    for column, meaning in columns.items():
        kind = kinds.get(column)
        source = {"fileObject": {"@id": file}, "extract": {"column": column}}
        field: dict[str, Any] = {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": meaning,
        }
        if kind == "range":
            field["subField"] = [
                {
                    "@type": "cr:Field",
                    "@id": f"{name}/{column}/{part}",
                    "name": part,
                    "dataType": _TYPES[part],
                    "source": source | {"transform": {"jsonPath": f"$.{part}"}},
                }
                for part in ("low", "high", "null")
            ]
            fields.append(field)
            continue
        data_type = _TYPES.get(column, "sc:Text") if kind is None else "sc:Text"
        field["dataType"] = "sc:Float" if kind == "number" else data_type
        field["source"] = source
        if (kind or column) in ("list", "values"):
            field |= {"isArray": True, "arrayShape": "-1"}
        fields.append(field)
    key = {"records": "record", "items": "item", "profiles": "group"}.get(name)
    keyed = {} if key is None else {"key": {"@id": f"{name}/{key}"}}
    return {"@type": "cr:RecordSet", "@id": name, "name": name, **keyed, "field": fields}
