"""``croissant.json``: the release described to machines, in the Croissant 1.1 vocabulary.

Licence, citation and date of publication are the owner's to add.
"""

from __future__ import annotations

import json
from typing import Any

from starshade.release.card.card import describe_columns
from starshade.release.manifest import Manifest

__all__ = ["croissant"]

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
    kinds = {n: "number" if n in numeric else "text" for n in manifest.attribute_columns}
    kinds |= {n: "range" if n in ranges else "list" for n in manifest.quasi_identifiers}
    purpose = "" if manifest.audience == "publish" else " Not for publication: queries only."
    document = {
        "@context": dict(sorted(_CONTEXT.items())),
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
    if manifest.layout == "profile":
        return "every class has one profile of means or predictions"
    if manifest.layout != "record":
        return "every cell says what a rating may have been"
    if manifest.invented_cells is None:
        return "every record is one person's ratings, unchanged"
    return "every record is one person's ratings, moved until others are near"


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
