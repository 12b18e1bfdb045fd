"""``croissant.json``: the release described to machines, in the Croissant 1.1 vocabulary.

Licence, citation and date of publication are the owner's to add.
"""

from __future__ import annotations

import json
from typing import Any

from starshade.release.card.card import describe_columns
from starshade.release.manifest import Manifest

__all__ = ["croissant"]

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {
    "record": "sc:Integer",
    "group": "sc:Integer",
    "size": "sc:Integer",
    "low": "sc:Float",
    "high": "sc:Float",
    "values": "sc:Float",
    "null": "sc:Boolean",
}


def croissant(
    manifest: Manifest,
    numeric: frozenset[str] = frozenset(),
    ranges: frozenset[str] = frozenset(),
) -> str:
    """Return the text of ``croissant.json``.

    `manifest`: with the hashes of the Parquet files. `numeric`: which personal attributes are
    numbers. `ranges`: which quasi-identifiers are ranges of numbers; the others are lists.
    """
    tables = describe_columns(manifest, ranges)
    kinds = _kinds(manifest, numeric, ranges)
    purpose = "" if manifest.audience == "publish" else " Not for publication: queries only."
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "anonymized-ratings",
        "description": f"Ratings of {manifest.items} items by {manifest.records} people, "
        f"anonymized by {manifest.method}; {_cell(manifest)}.{purpose}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "contentUrl": file,
                "encodingFormat": "application/x-parquet",
                "sha256": manifest.files[file],
            }
            for file in tables
        ],
        "recordSet": [
            _record_set(file, columns, kinds if file == "records.parquet" else {})
            for file, columns in tables.items()
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _cell(manifest: Manifest) -> str:
    """Say what a cell is."""
    if manifest.layout == "profile":
        return "every class has one profile of means or predictions"
    if manifest.layout != "record":
        return "every cell says what a rating may have been"
    if manifest.invented_cells is None:
        return "every record is one person's ratings, unchanged"
    return "every record is one person's ratings, moved until others are near"


def _kinds(manifest: Manifest, numeric: frozenset[str], ranges: frozenset[str]) -> dict[str, str]:
    """Return the kind of each personal attribute: number, text, range or list."""
    kinds = {n: "number" if n in numeric else "text" for n in manifest.attribute_columns}
    return kinds | {n: "range" if n in ranges else "list" for n in manifest.quasi_identifiers}


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
            fields.append(field | {"subField": _ends(f"{name}/{column}", source)})
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


def _ends(field: str, source: dict[str, Any]) -> list[dict[str, Any]]:
    """Describe the parts of a range."""
    return [
        {
            "@type": "cr:Field",
            "@id": f"{field}/{part}",
            "name": part,
            "dataType": _TYPES[part],
            "source": source | {"transform": {"jsonPath": f"$.{part}"}},
        }
        for part in ("low", "high", "null")
    ]
