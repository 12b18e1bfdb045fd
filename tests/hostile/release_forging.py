"""Forge values of a release as a careful forger would: every hash fits, and so do the texts.

Each case changes one value. After a change of ``release.json`` the texts are written as starshade
writes them for what it now says, and every hash is computed again. Nothing forged may verify.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from starshade.errors import StarshadeError, UserError
from starshade.release.folder.read import read_contents
from starshade.release.folder.verification import verify
from starshade.release.folder.write import folder_texts
from starshade.release.manifest import Manifest
from starshade.release.readable.write import count_harmless
from tests.hostile.release_samples import Sample
from tests.hostile.release_trial import Case
from tests.unit.release.damage import mend, signed

#: keys that the files cannot contradict, and why; these are not counted
NOT_VERIFIABLE = {
    "starshade": "the version decides how the texts are written; another version is not compared",
    "method": "a name: equal files can be made by several methods",
    "config": "settings of the method; those that a claim names are held by the claim",
    "lineage": "a random id of the data set",
    "rare_items": "items that were left out are not in the files",
    "rare_items_dropped": "items that were left out are not in the files",
    "users_without_rating": "people who were left out are not in the files",
    "users_deleted": "people who were left out are not in the files",
    "imputed_cells": "which cells rest on ratings is not in the files",
    "single_rater_cells": "how many people rated a cell is not in the files",
    "dummy_records": "which records are nobody's is not in the files",
    "profile": "means and predictions look alike",
    "scale.maximum": "a wider scale holds the same ratings; so does a lower minimum of a real one",
    "checksum": "it is computed again after each change",
}
#: parameters of which a smaller value promises less, and those of which a larger one does: a claim
#: that promises less than what holds is true
_LESS = {"k", "l", "b"}
_MORE = {"eps", "t"}
#: rules and readings by which a claim promises less
_WEAKER = {("strict", "ignore"), ("strict", "zero"), (None, "as-value")}


def cases(samples: list[Sample]) -> Iterator[Case]:
    """Yield every forgery of some samples."""
    for sample in samples:
        for what, label, change in (
            *_of_manifest(sample),
            *_of_parquet(sample),
            *_of_csv(sample),
            *_of_texts(sample),
        ):
            name = f"{sample.name}: {label}"
            yield Case(what, name, change, _refused, sample.folder, sample.key)


_Change = tuple[str, str, Callable[[Path], Any]]


def _refused(place: Path) -> str:
    try:
        verification = verify(place / "release")
    except UserError:
        return ""
    return "it verifies" if verification.holds else ""


def _of_manifest(sample: Sample) -> Iterator[_Change]:
    """Yield changes of each value in ``release.json``."""
    facts = json.loads((sample.folder / "release.json").read_text(encoding="utf-8"))
    for path, value in _leaves(facts):
        key = ".".join(map(str, path))
        if any(key == name or key.startswith(f"{name}.") for name in NOT_VERIFIABLE):
            continue
        for other in _others(value, key):
            if not _is_weaker(path, value, other) and not _is_true(path, other, facts):
                group = "claims" if path[0] == "claims" else "files" if path[0] == "files" else ""
                what = f"release.json: {group or 'counts, shares, layout'}"
                yield what, f"{key} {value!r} -> {other!r}", partial(_state, path, other)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every value that holds no others, and every list of texts as one."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for n, part in enumerate(value):
            yield from _leaves(part, (*path, n))
    else:
        yield path, value


def _others(value: Any, key: str) -> list[Any]:
    """Return other values of the kind of a value."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1, value + 2, 2 * value + 3, 10**6]
    if isinstance(value, float):
        return [value / 2 + 0.01, value + 0.25, value + 1e-6, 0.123456, abs(1 - value) / 3]
    if isinstance(value, list):
        return [[*value, "other"], value[1:] or ["other"], [*value[::-1], "2"]]
    if value is None:
        return [0.5, 1, "other", "none"]
    if re.fullmatch(r"[0-9a-f]{64}", str(value)):
        return ["0" * 64, value[::-1], ("1" if value[0] == "0" else "0") + value[1:]]
    same = next((names for names in _NAMES if value in names), ("other", f"{value}x"))
    return [name for name in same if name != value]


_NAMES = (
    ("generalized", "record", "profile"),
    ("publish", "query"),
    ("none", "generalized", "exact"),
    ("strict", "ignore", "zero"),
    ("k-anonymity", "review-graph", "k-eps", "k-eps-l", "diversity", "l-diversity", "t-closeness"),
)


def _is_weaker(path: tuple[Any, ...], value: Any, other: Any) -> bool:
    """Tell whether a claim promises no more with another parameter."""
    if path[0] != "claims" or path[2] != "parameters":
        return False
    if path[3] in _LESS:
        return bool(isinstance(other, int | float) and 0 < other < value)
    if path[3] in _MORE:
        return bool(other > value)
    return any((value, other) == pair for pair in _WEAKER)


def _is_true(path: tuple[Any, ...], other: Any, facts: dict[str, Any]) -> bool:
    """Tell whether a changed value is true all the same."""
    if path == ("scale", "minimum"):  # of a real scale it is not in the tables
        return facts["scale"]["step"] is None
    if path[0] != "claims":
        return False
    claim = facts["claims"][path[1]]
    if path[2] == "model":  # equal records are what both of these are about
        return {claim["model"], other} == {"k-anonymity", "review-graph"}
    if path[3:] == ("k",):
        return bool(type(other) is int and 0 < other <= claim["verified"].get("smallest_class", 0))
    if path[3:] == ("l",):
        least = claim["verified"].get("smallest_l", claim["verified"].get("smallest_sd", -1))
        return bool(0 <= other <= least)
    if path[3:] in (("t",), ("eps",)):
        return bool(other >= claim["verified"].get("largest_t", 1e9))
    return False


def _state(path: tuple[Any, ...], other: Any, place: Path) -> None:
    """Let ``release.json`` say something else, and the texts with it."""
    folder = place / "release"
    facts = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    holder = facts
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = other
    (folder / "release.json").write_text(signed(facts), encoding="utf-8")
    if path[0] == "files":
        return
    with suppress(StarshadeError):  # what cannot be read has no texts of its own
        manifest = Manifest.from_json((folder / "release.json").read_bytes(), "here")
        release = read_contents(folder, manifest)
        harmless = count_harmless(release, manifest.files)
        for name, text in folder_texts(release, manifest, harmless).items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        mend(folder)


def _of_parquet(sample: Sample) -> Iterator[_Change]:
    """Yield changes of each cell of each Parquet file."""
    for file in sorted(sample.folder.glob("*.parquet")):
        columns = pq.ParquetFile(file).read()
        for name in columns.column_names:
            values = columns.column(name).to_pylist()
            for row in range(len(values)):
                for other in _other_cells(values[row], values):
                    change = partial(_set_cell, file.name, name, row, other)
                    label = f"{file.name}: {name} of row {row}: {values[row]!r} -> {other!r}"
                    yield file.name, label, change


def _other_cells(value: Any, column: list[Any]) -> list[Any]:
    """Return other contents of a cell: of its own kind, and what stands elsewhere in its column."""
    elsewhere = next((each for each in column if each != value and each is not None), None)
    others = [] if elsewhere is None else [elsewhere]
    if isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, int | float):
        others.append(value + 1)
    elif isinstance(value, bytes):
        others.append(bytes([value[0] ^ 4]) + value[1:])
    elif isinstance(value, str):
        others.append(f"{value}1")
    elif isinstance(value, dict):
        others.append({**value, "null": not value["null"]})
    elif isinstance(value, list):
        others.append([*value, "z"] if isinstance(value[-1], str) else [v + 0.125 for v in value])
    different = [each for each in others if each != value]
    return list({repr(each): each for each in different}.values())


def _set_cell(file: str, column: str, row: int, value: Any, place: Path) -> None:
    path = place / "release" / file
    before = pq.ParquetFile(path).read()
    values = before.column(column).to_pylist()
    values[row] = value
    kind = before.schema.field(column).type
    with suppress(pa.ArrowException):  # of a fixed width
        values = pa.array(values, kind)
    at = before.column_names.index(column)
    pq.write_table(before.set_column(at, column, values), path, store_schema=False)
    mend(place / "release")


def _of_csv(sample: Sample) -> Iterator[_Change]:
    """Yield changes of each cell of each CSV file."""
    for file in sorted(sample.folder.glob("*.csv")):
        rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline="")))
        text = file.read_text(encoding="utf-8")
        for n, row in enumerate(rows):
            for column, cell in enumerate(row):
                other = str(int(cell) + 1) if cell.isdigit() else f"{cell}1"
                change = partial(_set_line, file.name, n, column, other)
                yield file.name, f"{file.name}: line {n + 1}: {cell!r} -> {other!r}", change
        lines = text.splitlines(keepends=True)
        for n in range(1, len(lines)):
            kept = "".join(lines[:n] + lines[n + 1 :])
            yield file.name, f"{file.name}: without line {n + 1}", partial(_put, file.name, kept)


def _set_line(file: str, line: int, column: int, cell: str, place: Path) -> None:
    path = place / "release" / file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    fields = re.findall(r'"(?:[^"]|"")*"|[^,"\n]*(?=,|\n)', lines[line])
    fields = [field for n, field in enumerate(fields) if field or n == len(fields) - 1]
    quoted = fields[column].startswith('"')
    fields[column] = f'"{cell}"' if quoted else cell
    lines[line] = ",".join(fields).rstrip(",") + "\n"
    _put(file, "".join(lines), place)


def _put(file: str, text: str, place: Path) -> None:
    (place / "release" / file).write_text(text, encoding="utf-8", newline="")
    mend(place / "release")


def _of_texts(sample: Sample) -> Iterator[_Change]:
    """Yield changes of each number in the texts."""
    for name in ("README.md", "croissant.json"):
        text = (sample.folder / name).read_text(encoding="utf-8")
        for match in re.finditer(r"\b\d+\b", text):
            changed = text[: match.start()] + str(int(match[0]) + 1) + text[match.end() :]
            yield name, f"{name}: {match[0]} at {match.start()}", partial(_put, name, changed)
