"""The dataset card, ``README.md`` of a release: what it is, what it promises, how to read it."""

from __future__ import annotations

import json

from starshade.plain import counted
from starshade.ratings.shape import scale_text
from starshade.release.figures import private_figures
from starshade.release.manifest import Manifest
from starshade.release.promise import (
    cells_are,
    how_to_read,
    in_markdown,
    level_bytes,
    promise,
    questions,
)

_QUERY = (
    "**Not for publication: use this release only behind the query service.** Its personal "
    "attributes are unchanged, and those alone identify most people.\n\n"
)

READABLE = "table.parquet"
_IN_WORDS = {
    "class": "class; `group` in the other files",
    "size": "records of the class; each has this row",
    "record": "record number",
    "item": "item key",
    "name": "published name",
}
_SAID = {
    "lowest": "lowest possible rating",
    "highest": "highest possible rating",
    "values": "all possible values, as text",
    "null_possible": "whether null (not rated) is possible",
}
_CLASS_BESIDE = "class: records with equal cells and quasi-identifiers have the same number"
_QUASI = {
    True: "personal attribute, the same for all records of a class: a range around their values, "
    "from low to below high (inf: open), and whether null (not known) occurs",
    False: "personal attribute, the same for all records of a class: a sorted list of their "
    "values, null (not known) first",
}
_JOINED = (
    "personal attribute, the same for all records of a class: a sorted list of every value that a "
    "recipe or a hierarchy joins with theirs, null (not known) first; some may occur in no record"
)
_SENSITIVE = "sensitive personal attribute, unchanged"

_REAL = {
    "low": "low end of a range; the part below the scale stands for null",
    "high": "high end of a range",
    "values": "sorted list of values, if the cell is not a range",
    "null": "whether null (not rated) is possible too",
}
_REAL_SINGLE = {
    "low": "empty: no cell is a range",
    "high": "empty: no cell is a range",
    "values": "the rating, a list of one value",
    "null": "always false: an unrated cell has no row",
}

_READ_MASK = """\
import pyarrow.parquet as pq
cells, levels = pq.read_table("cells.parquet").to_pylist(), {levels}
for c in cells:
    c["members"] = [v for j, v in enumerate(levels) if c["members"][j // 8] >> j % 8 & 1]
"""

_READ_RECORDS = """\
import pyarrow.parquet as pq
cells, levels = pq.read_table("cells.parquet").to_pylist(), {levels}
for c in cells:  # one bit is set
    c["rating"] = levels[int.from_bytes(c["members"], "little").bit_length() - 1]
"""

_READ_REAL_RECORDS = """\
import pyarrow.parquet as pq
cells = pq.read_table("cells.parquet").to_pylist()
for c in cells:
    (c["rating"],) = c["values"]
"""

_READ_REAL = """\
import pyarrow.parquet as pq
cells = pq.read_table("cells.parquet").to_pylist()
for c in cells:  # None: not rated; a pair: any value from its first to its second number
    values = c["values"] if c["low"] is None else [(max(c["low"], {minimum:g}), c["high"])]
    c["members"] = [None] * c["null"] + values
"""


def dataset_card(
    manifest: Manifest,
    smallest_class: int = 0,
    ranges: frozenset[str] = frozenset(),
    named: bool = False,
    harmless: int = 0,
) -> str:
    """Return the text of ``README.md``; it states nothing that the other files do not.

    `smallest_class`: records of the smallest class; the text of layout "record" depends on it.
    `ranges`: which quasi-identifiers are numbers. `named`: whether items have names. `harmless`:
    number of escaped texts in the CSV files.
    """
    title = "# Anonymized ratings\n\n"
    first = _QUERY + title if manifest.audience == "query" else title
    promised = promise(manifest, smallest_class)
    files = _files(manifest, ranges, named, harmless)
    parts = [_about(manifest), promised, questions(), files, _reading(manifest), _LICENCE]
    return first + "\n".join(parts)


def describe_columns(
    manifest: Manifest, ranges: frozenset[str] = frozenset(), named: bool = False
) -> dict[str, dict[str, str]]:
    """Return file → column → meaning, in file order; `ranges` and `named` as in `dataset_card`."""
    by_record = manifest.layout == "record"
    group = "class: records with equal cells have the same number"
    records = {
        "record": "record number 0, 1, 2, …; the order carries no information",
        "group": group,
    }
    records |= dict.fromkeys(manifest.attribute_columns, "personal attribute, unchanged")
    if manifest.attributes == "generalized":
        group = records["group"] = _CLASS_BESIDE if manifest.quasi_identifiers else group
        records |= {name: _QUASI[name in ranges] for name in manifest.quasi_identifiers}
        records |= dict.fromkeys(manifest.joined_attributes, _JOINED)
        records |= dict.fromkeys(manifest.sensitive_attributes, _SENSITIVE)
    items = {"item": "item key, unique", "name": "published name, not necessarily unique"}
    tables = {"records.parquet": records}
    if manifest.layout == "profile":
        keys = {"group": "class, sorted by content", "size": "records of the class"}
        tables["profiles.parquet"] = keys | {"profile": level_bytes(manifest)}
    else:
        own = {"group": group} | ({"record": "record number"} if by_record else {})
        tables["cells.parquet"] = own | {"item": "item key"} | _contents(manifest)
    tables["items.parquet"] = items
    if READABLE in manifest.files:
        first = ("record", "class") if by_record else ("class", "size")
        shown = {name: _IN_WORDS[name] for name in (*first, "item", *["name"] * named)}
        single = {"rating": "the rating"}
        tables[READABLE] = shown | (_SAID if manifest.layout == "generalized" else single)
    return tables


def _contents(manifest: Manifest) -> dict[str, str]:
    single = manifest.layout == "record"
    if manifest.scale.step is not None:
        what = "the rating, as a bit mask with one bit set: "
        many = "possible values, as a bit mask: bit 0 = null, "
        bits = "bit j = j-th level of the scale, least significant bit first"
        return {"members": (what if single else many) + bits}
    return _REAL_SINGLE if single else _REAL


def _about(manifest: Manifest) -> str:
    scale = manifest.scale
    config = ", ".join(
        f"{k} = {in_markdown(json.dumps(v, ensure_ascii=False))}"
        for k, v in manifest.config.items()
    )
    lines = [
        f"Ratings of {counted(manifest.items, 'item')} by "
        f"{_of_people(manifest)} on the scale from "
        f"{scale_text(scale.minimum, scale.maximum, scale.step)}, "
        f"anonymized with starshade {manifest.starshade}. {_cells(manifest)}\n",
        f"- Method: {manifest.method}" + (f" ({config})" if config else ""),
        f"- {counted(manifest.classes, 'equivalence class', 'equivalence classes')}: records that "
        f"are equal in every cell{' and quasi-identifier' * bool(manifest.quasi_identifiers)}",
    ]
    inside = {each.key: each for each in private_figures(manifest)}
    support = manifest.config.get("item_support")
    if manifest.rare_items == "keep" and support is None:
        del inside["rare_items_dropped"]
    shown = [f for f in inside.values() if f.value != "none" or f.unit == "share"]
    lines += [f"- {each.title}: {each.text}. {each.meaning}" for each in shown]
    if support is not None:
        raters = f"{in_markdown(str(support))}{' of the' * isinstance(support, str)} people"
        lines.append(f"- Items that fewer than {raters} rated are suppressed")
    elif manifest.rare_items == "keep":
        lines.append("- Items that very few people rated are kept, by the owner's choice")
    return "\n".join(lines) + "\n"


def _of_people(manifest: Manifest) -> str:
    if manifest.dummy_records in (None, "none"):
        return counted(manifest.records, "person", "people")
    return f"people in {counted(manifest.records, 'record')}, some of them dummy records,"


def _cells(manifest: Manifest) -> str:
    if manifest.layout == "profile":
        return cells_are(manifest)
    if manifest.layout != "record":
        return "Each cell lists the possible values of a rating; null means not rated."
    if manifest.imputed_cells is None:
        return (
            "Each record holds one person's ratings, unchanged. People without enough others near "
            "them are suppressed. Null means not rated."
        )
    moved = (
        "Each record holds one person's ratings, shifted until others are near. A cell is near "
        "the true rating, not equal to it"
    )
    rules = {claim.parameters.get("nulls") for claim in manifest.claims}
    if manifest.imputed_cells != "none" or rules != {"ignore"}:
        moved += "; where a null was in the way, a rating may be suppressed or imputed"
    return f"{moved}. Null means no rating."


def _files(manifest: Manifest, ranges: frozenset[str], named: bool, harmless: int) -> str:
    lines = ["## Files\n", "| file | column | meaning |", "|---|---|---|"]
    for file, columns in describe_columns(manifest, ranges, named).items():
        lines += [f"| {file} | {_cell(name)} | {text} |" for name, text in columns.items()]
    alone = "" if manifest.layout == "profile" else "A cell that can only be null has no row. "
    lines.append(
        f"\n{alone}`release.json` holds all counts and the SHA-256 of each file; `croissant.json` "
        "is the machine-readable description. `starshade verify FOLDER` (`pip install starshade`) "
        "checks files, cells, counts and claims without the ratings. Compare the SHA-256 of "
        "`release.json` that it prints with the publisher's.\n"
    )
    lines.append(_readable(manifest, harmless))
    return "\n".join(lines)


def _readable(manifest: Manifest, harmless: int) -> str:
    """Return where the readable tables are, or how to write them."""
    unit = "record" if manifest.layout == "record" else "class"
    rows = f"one row per {unit} and item with a possible rating"
    command = "`starshade data convert FOLDER --out {}`"
    said = [f"`{READABLE}` is for reading: {rows}. It states the same as the masks or levels."]
    if READABLE not in manifest.files:
        wanted = command.format("table.parquet")
        said = [f"For reading, {wanted} (or `.csv`) writes {rows}: too many rows for this folder."]
    elif "table.csv" in manifest.files:
        said.append("`table.csv` holds the same rows.")
    else:
        said.append(f"It is too long for a spreadsheet; {command.format('table.csv')} writes CSV.")
    if "records.csv" in manifest.files:
        said.append(
            "`records.csv` shows `records.parquet` as text: one row per record, with its "
            "personal attributes."
        )
    if harmless:
        one = harmless == 1
        said.append(
            f"In CSV, {counted(harmless, 'text')} {'has' if one else 'have'} an added apostrophe "
            f"in front: a spreadsheet would run {'it' if one else 'them'} as a formula, or "
            f"{'it begins' if one else 'they begin'} with an apostrophe."
        )
    return " ".join(said) + "\n"


def _reading(manifest: Manifest) -> str:
    scale = manifest.scale
    record = manifest.layout == "record"
    if manifest.layout == "profile":
        code = how_to_read(manifest)
    elif scale.step is None:
        code = _READ_REAL_RECORDS if record else _READ_REAL.format(minimum=scale.minimum)
    else:
        n = len(scale.to_scale().levels)
        levels = f"[None] + [{scale.minimum:g} + {scale.step:g} * j for j in range({n})]"
        code = (_READ_RECORDS if record else _READ_MASK).format(levels=levels)
    return f"## Reading\n\n```python\n{code}```\n"


_LICENCE = """\
## Licence

Not stated here: the data owner chooses a licence and adds it.
"""


def _cell(text: str) -> str:
    """Keep a column name from breaking the table."""
    return in_markdown(text).replace("|", "\\|")
