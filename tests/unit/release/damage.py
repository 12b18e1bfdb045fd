"""Damage a saved release on purpose, with or without mending its hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def signed(facts: dict[str, Any]) -> str:
    """Return facts as JSON with the checksum over them, as a careful forger would write them."""
    content = {name: value for name, value in facts.items() if name != "checksum"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return json.dumps(content | {"checksum": hashlib.sha256(canonical.encode()).hexdigest()})


READABLE = ("table.parquet", "table.csv", "records.csv")


def without_readable(folder: Path) -> None:
    """Take the readable tables out, as they are not in releases of before."""
    facts = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for name in READABLE:
        (folder / name).unlink(missing_ok=True)
        facts["files"].pop(name, None)
    (folder / "release.json").write_text(signed(facts), encoding="utf-8")


def mend(folder: Path) -> None:
    """Write the true hashes into release.json, as a careful forger would."""
    facts = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for name in facts["files"]:
        facts["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "release.json").write_text(signed(facts), encoding="utf-8")


def change(folder: Path, name: str, how: Callable[[dict[str, list]], Any], *, to: Any = None):
    """Change the columns of one Parquet file in place; `how` may return another table.

    What is not a readable table is changed as if there had been none.
    """
    if name not in READABLE:
        without_readable(folder)
    before = pq.ParquetFile(folder / name).read()
    columns = before.to_pydict()
    after = how(columns)
    if not isinstance(after, pa.Table):
        schema = [(f.name, f.type) for f in before.schema if f.name in columns]
        after = pa.table(columns, schema=pa.schema(schema)) if to is None else pa.table(columns)
    pq.write_table(after, folder / name, store_schema=False)
    mend(folder)


def say(folder: Path, **facts: Any) -> None:
    """Change what release.json says."""
    place = folder / "release.json"
    said = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(signed(said | facts), encoding="utf-8")


def permute(columns: dict[str, list], order: list[int]) -> None:
    """Put the rows in another order."""
    for name, values in columns.items():
        columns[name] = [values[i] for i in order]
