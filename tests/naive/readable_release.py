"""The rows of a release folder, read from its files as their format is written down."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

NULL = "not rated"


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return a row per class (or record) and item; `said`: numbers, pairs and NULL."""
    facts = json.loads((folder / "release.json").read_text())
    read = {"generalized": _cells, "record": _cells, "profile": _profiles}[facts["layout"]]
    names = {row["item"]: row["name"] for row in _read(folder, "items")}
    groups = [row["group"] for row in _read(folder, "records")]
    found = []
    for row, item, said in read(folder, facts, list(names)):
        one: dict[str, Any] = {"item": item, "said": said}
        if any(name is not None for name in names.values()):
            one["name"] = names[item] or ""
        if facts["layout"] == "record":
            one |= {"record": row, "class": groups[row]}
        else:
            one |= {"class": row, "size": groups.count(row)}
        found.append(one)
    return found


def shares(found: list[dict[str, Any]], records: int, items: int) -> dict[str, float]:
    """Return which share of all cells says what."""
    counts = dict.fromkeys(("one_rating", "several_ratings", "perhaps_rated"), 0)
    for row in found:
        several = len(row["said"]) > 1 or isinstance(row["said"][0], tuple)
        kind = "several_ratings" if several else "one_rating"
        counts["perhaps_rated" if NULL in row["said"] else kind] += row.get("size", 1)
    counts["no_rating"] = records * items - sum(counts.values())
    return {kind: n / (records * items) for kind, n in counts.items()}


def parsed(words: str) -> list[Any]:
    """Return what a cell in words says."""
    out: list[Any] = []
    for word in words.split(" or "):
        ends = re.fullmatch(r"(\S+) to (\S+)", word)
        pair = ends and (float(ends[1]), float(ends[2]))
        out.append(pair or (word if word == NULL else float(word)))
    return out


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    return pq.read_table(folder / f"{name}.parquet").to_pylist()


def _cells(folder: Path, facts: dict[str, Any], _: list[str]) -> list[tuple[int, str, list[Any]]]:
    minimum, step = facts["scale"]["minimum"], facts["scale"]["step"]
    key = "record" if facts["layout"] == "record" else "group"
    found = []
    for cell in _read(folder, "cells"):
        if step is not None:
            mask = int.from_bytes(cell["members"], "little")
            bits = [j for j in range(1, 8 * len(cell["members"])) if mask >> j & 1]
            said: list[Any] = [round(minimum + (j - 1) * step, 9) for j in bits]
            null = bool(mask & 1)
        else:
            pair = None if cell["low"] is None else (max(cell["low"], minimum), cell["high"])
            said = cell["values"] if pair is None else [pair]
            said, null = [float(v) if pair is None else v for v in said], cell["null"]
        found.append((cell[key], cell["item"], [*said, *[NULL] * null]))
    return found


def _profiles(
    folder: Path, facts: dict[str, Any], items: list[str]
) -> list[tuple[int, str, list[Any]]]:
    minimum, step = facts["scale"]["minimum"], facts["profile_step"]
    return [
        (row["group"], item, [round(minimum + (level - 1) * step, 9)])
        for row in _read(folder, "profiles")
        for item, level in zip(items, row["profile"], strict=True)
        if level
    ]
