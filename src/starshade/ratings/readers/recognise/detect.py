"""Which files a source means: a file, a folder, a zip, a list, a pattern."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starshade.errors import ConfigError, InputError
from starshade.naming import named
from starshade.ratings.readers.addresses.address import hidden_in, is_address, path_of
from starshade.ratings.readers.addresses.buckets import Bucket
from starshade.ratings.readers.formats.dialects import FAMILIES
from starshade.ratings.readers.formats.netflix_files import RATING_FILES, is_tar
from starshade.ratings.readers.recognise.inputs import (
    Input,
    as_input,
    fetched,
    is_parquet,
    reading,
    refuse_special,
    unzip,
    zip_of,
)

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_TABLES = (".csv", ".tsv")
_PARQUET = (".parquet", ".pq")
Keys = Mapping[str, str | None]
_NETFLIX_SET = (*RATING_FILES, "training_set", "training_set.tar*")


@dataclass(frozen=True)
class Recognised:
    """What a source means.

    `kind` ({"store", "netflix", "parquet", "text"}). `files`: the ratings. `users`, `names`: the
    attributes and item names that belong to them. `family`: the format, where names settle it.
    `keys`: for each file what the folders that it lies in say, column → value; empty: nothing.
    """

    kind: str
    files: tuple[Input, ...]
    users: Input | None = None
    names: Input | None = None
    family: str | None = None
    keys: tuple[Keys, ...] = ()


def find(source: str | Path | Sequence[str | Path], scratch: Path) -> Recognised:
    """Find the files of a source.

    `scratch`: a folder for what has to be unpacked.
    """
    listed = isinstance(source, (list, tuple))
    _refuse_other(list(source) if isinstance(source, (list, tuple)) else [source], listed)
    if not listed and not str(source):
        raise ConfigError("ratings: an empty path", advice="Name a file or a folder.")
    if is_address(source):
        return _here(_of_address(source, scratch), scratch)
    entries = [path_of(source)] if isinstance(source, (str, Path)) else list(source)
    items = [item for entry in entries for item in _items(entry)]
    if not items:
        raise InputError("an empty list of files: no ratings to read")
    first, *others = items
    if listed:
        return _here(_alike(items, "the list"), scratch)
    if others:
        return _partitioned({_below(entries[0], item.path): item for item in items}, str(source))
    return _folder(first) if first.path.is_dir() else _file(first, scratch)


def _refuse_other(entries: list[Any], listed: bool) -> None:
    """Refuse what is no path."""
    for entry in entries:
        if not isinstance(entry, (str, Path)):
            kind = "a list of " if listed else ""
            raise ConfigError(
                f"ratings cannot be read from {kind}{type(entry).__name__}",
                advice="Give a path, a list of paths, a list of rows (user, item, rating), a frame "
                "with columns, or a sparse matrix.",
            )


def _items(entry: str | Path) -> list[Input]:
    if is_address(entry):
        return [as_input(file) for file in Bucket(str(entry)).files()[0]]
    return [Input(path, str(path)) for path in _paths(entry)]


def _of_address(address: str, scratch: Path) -> Recognised:
    bucket = Bucket(address)
    files, is_folder = bucket.files()
    entries = {file.name: as_input(file) for file in files}
    if is_folder:
        return _below_folder(entries, bucket.shown)
    if len(files) > 1:
        return _partitioned(entries, bucket.shown)
    item = as_input(files[0])
    if is_parquet(item):
        return Recognised("parquet", (item,))
    here = fetched(item, scratch)
    family = next((each for each in FAMILIES if bare(here.path.name) == each.ratings), None)
    for ending in ("", *_PACKED) if family and family.items else ():
        if names := bucket.beside(files[0], f"{family.items}{ending}"):  # type: ignore[union-attr]
            fetched(as_input(names), scratch).path.rename(here.path.with_name(names.name))
            break
    return _file(here, scratch)


def _here(found: Recognised, scratch: Path) -> Recognised:
    """Copy what is elsewhere to this machine, but for Parquet, of which parts are read."""
    if found.kind == "parquet":
        return found
    return replace(
        found,
        files=tuple(fetched(file, scratch) for file in found.files),
        users=found.users and fetched(found.users, scratch),
        names=found.names and fetched(found.names, scratch),
    )


def as_format(inputs: Recognised, name: str | None) -> Recognised:
    """Return the files as the format asked for, or refuse them."""
    kinds = {"store": "store", "netflix": "netflix", "parquet": "parquet"}
    wanted = kinds.get(name or "", "text")
    if name in (None, "wide") or inputs.kind == wanted:
        return inputs
    # text may be called anything: whether these lines are of the format, its reader will say
    path = inputs.files[0].path
    is_one_text = len(inputs.files) == 1 and path.is_file() and not is_tar(path)
    if is_one_text and {wanted, inputs.kind} == {"text", "netflix"}:
        return Recognised(wanted, inputs.files, family=name)
    kind = "a starshade store" if wanted == "store" else f"of the format {name}"
    raise InputError(
        f"{inputs.files[0].shown}: is not {kind} but looks like {inputs.kind}",
        advice=f"Remove {named('format')}: known formats are detected.",
        setting="format",
    )


def _paths(source: str | Path) -> list[Path]:
    """Return the paths that a path or pattern means; at least one."""
    try:
        if Path(source).exists():
            return [Path(source)]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{_shown(source)}: cannot be read: {reason}") from None
    if not glob.has_magic(str(source)):
        raise InputError(f"{_shown(source)}: no such file or folder", advice="Check the path.")
    paths = sorted(Path(path) for path in glob.glob(str(source), recursive=True))
    if not paths:
        raise InputError(f"{_shown(source)}: no file matches", advice="Check the pattern.")
    return paths


def _shown(source: str | Path) -> str:
    r"""Return a path that is not there as it may be shown, on one line: it may be an address.

    >>> _shown("s3:/eve:pa\n55@bucket/x")
    's3:/***@bucket/x'
    """
    return hidden_in(re.sub(r"[^\S ]", lambda blank: ascii(blank[0])[1:-1], str(source)))


def _file(item: Input, scratch: Path) -> Recognised:
    refuse_special(item)
    with reading(item), open(item.path, "rb") as file:
        magic = file.read(4)
    if magic == b"PK\x03\x04":
        return _zip(item, scratch)
    if magic == b"PK\x05\x06":
        raise InputError(f"{item.shown}: an empty zip archive")
    if is_parquet(item):
        return Recognised("parquet", (item,))
    if _is(item, RATING_FILES) or is_tar(item.path):
        return Recognised("netflix", (item,), family="netflix")
    place = item.shown.removesuffix(item.path.name)
    siblings = {path.name: Input(path, f"{place}{path.name}") for path in _listed(item.path.parent)}
    name = bare(item.path.name)
    for family in FAMILIES:
        if name == family.ratings:  # a file alone brings the items' names, not the users
            names = _at(siblings, family.items)
            return Recognised("text", (item,), names=names, family=family.format)
    return _recbole(item, siblings) if name.endswith(".inter") else Recognised("text", (item,))


def _zip(item: Input, scratch: Path) -> Recognised:
    if what := zip_of(item):
        raise InputError(f"{item.shown}: this is {what}", advice="Save it as CSV or Parquet.")
    known = {name for family in FAMILIES for name in (family.ratings, family.users, family.items)}
    endings = (".inter", ".user", ".item", *_TABLES, *_PARQUET)

    def wanted(name: str) -> bool:
        plain = bare(name)
        extra = (*RATING_FILES, "movie_titles.*")
        return plain in known or _ends(plain, endings) or _is(Input(Path(name), ""), extra)

    members = unzip(item, scratch, wanted)
    if any(_is(member, RATING_FILES) for member in members):
        return Recognised("netflix", (Input(scratch, item.shown),), family="netflix")
    if not members:
        raise InputError(
            f"{item.shown}: it contains no file of ratings in a known format",
            advice="Unpack it and name the file.",
        )
    return _by_name({member.path.name: member for member in members}, item.shown)


def _folder(item: Input) -> Recognised:
    from starshade.ratings.shards.manifest import is_sharded
    from starshade.ratings.store import is_store

    if is_store(item.path) or is_sharded(item.path):
        return Recognised("store", (item,))
    with reading(item):
        entries = {path.name: Input(path, str(path)) for path in item.path.iterdir()}
    if not entries:
        raise InputError(f"{item.shown}: an empty folder")
    if any(_is(entry, _NETFLIX_SET) for entry in entries.values()):
        return Recognised("netflix", (item,), family="netflix")
    parts = [path for path in entries.values() if keys_of(f"{path.path.name}/")]
    for part in parts:
        with reading(part):
            for path in sorted(part.path.rglob("*")):
                entries[str(path.relative_to(item.path))] = Input(path, str(path))
    return _below_folder(entries, item.shown)


def _below_folder(entries: Mapping[str, Input], shown: str) -> Recognised:
    """Take the tables in a folder, or else in folders of it that say columns (``year=2024``)."""
    direct = {name: entry for name, entry in entries.items() if "/" not in name}
    if any(_is(entry, _NETFLIX_SET) for entry in direct.values()):
        raise InputError(
            f"{shown}: the Netflix Prize's files must be in a local folder",
            advice="Copy the folder here.",
        )
    parts = {
        name: entry
        for name, entry in entries.items()
        if keys_of(name) and _ends(name, (*_TABLES, *_PARQUET)) and not re.search("(^|/)[._]", name)
    }
    if not parts:
        return _by_name(direct, shown)
    if beside := [name for name in direct if _ends(name, (*_TABLES, *_PARQUET))]:
        raise InputError(
            f"{shown}: {beside[0]} is next to folders that are parts of a table",
            advice="Name the file, or give a pattern such as 'folder/*/*.parquet'.",
        )
    return _partitioned(parts, shown)


def _partitioned(entries: Mapping[str, Input], shown: str) -> Recognised:
    """Return files of one table, with what their folders say; `entries`: by name below a root."""
    found = _alike(list(entries.values()), shown)
    keys = tuple(keys_of(name) for name in entries)
    first, *others = keys
    for file, each in zip(found.files[1:], others, strict=True):
        if each.keys() != first.keys():
            raise InputError(
                f"{file.shown}: its folders name other columns than those of "
                f"{found.files[0].shown}",
                advice="Name only files of one table.",
            )
    return replace(found, keys=keys) if first else found


_KEY = re.compile(r"([^\W\d][\w.-]*)=(.*)")
_NULL = "__HIVE_DEFAULT_PARTITION__"


def keys_of(name: str) -> Keys:
    """Return what the folders of a file say, as Hive and Spark write it.

    >>> keys_of("year=2024/city=New%20York/part-0.parquet")
    {'year': '2024', 'city': 'New York'}
    """
    found = (_KEY.fullmatch(part) for part in name.split("/")[:-1])
    return {each[1]: None if each[2] == _NULL else unquote(each[2]) for each in found if each}


def _below(pattern: str | Path, path: Path) -> str:
    """Return a path below the folder that a pattern begins with."""
    fixed = re.split(r"[*?\[]", str(pattern), maxsplit=1)[0].rpartition("/")[0]
    return str(path).removeprefix(fixed).lstrip("/")


def _by_name(entries: Mapping[str, Input], shown: str) -> Recognised:
    by_name = {bare(name): entry for name, entry in sorted(entries.items())}
    families = [family for family in FAMILIES if family.ratings in by_name]
    inters = [name for name in by_name if name.endswith(".inter")]
    if len(families) + len(inters) > 1:
        several = ", ".join([family.ratings for family in families] + inters)
        raise InputError(f"{shown}: several data sets: {several}", advice="Name one of the files.")
    for family in families:
        users, names = _at(by_name, family.users), _at(by_name, family.items)
        return Recognised("text", (by_name[family.ratings],), users, names, family.format)
    if inters:
        return _recbole(by_name[inters[0]], by_name)
    tables = [e for name, e in by_name.items() if _ends(name, _TABLES) and name[0] not in "._"]
    parquet = [e for name, e in by_name.items() if _ends(name, _PARQUET) and name[0] not in "._"]
    if bool(tables) == bool(parquet):
        raise InputError(
            f"{shown}: "
            + ("both CSV and Parquet files" if tables else "no ratings in a known format"),
            advice="Name the file, or give a pattern such as 'folder/part-*.csv'.",
        )
    return _alike(tables or parquet, shown)


def _alike(files: list[Input], shown: str) -> Recognised:
    for file in files:
        if not file.remote and file.path.is_dir():
            raise InputError(f"{file.shown}: a folder among files", advice="Name files only.")
        if _is(file, RATING_FILES):
            raise InputError(
                f"{file.shown}: the Netflix Prize's files are read one at a time or as a folder",
                advice="Name the folder that contains them.",
            )
    are_parquet = [is_parquet(file) for file in files]
    if any(are_parquet) and not all(are_parquet):
        raise InputError(
            f"{shown}: some files are Parquet and some are not",
            advice="Name only files of one table.",
        )
    return Recognised("parquet" if are_parquet[0] else "text", tuple(files))


def _recbole(item: Input, siblings: Mapping[str, Input]) -> Recognised:
    stem = bare(Path(item.path).name).removesuffix(".inter")
    users, names = _at(siblings, f"{stem}.user"), _at(siblings, f"{stem}.item")
    return Recognised("text", (item,), users=users, names=names, family="recbole")


def _listed(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:  # a file may be read from a folder that may not be listed
        return []


def _at(entries: Mapping[str, Input], name: str) -> Input | None:
    packed = (entries.get(name + ending) for ending in ("", *_PACKED))
    return next((entry for entry in packed if entry is not None), None) if name else None


def bare(name: str) -> str:
    """Take the ending of a compression off."""
    return next((name.removesuffix(end) for end in _PACKED if name.endswith(end)), name)


def _is(item: Input, patterns: tuple[str, ...]) -> bool:
    return any(item.path.match(pattern) for pattern in patterns)


def _ends(name: str, endings: tuple[str, ...]) -> bool:
    return bare(name).lower().endswith(endings)
