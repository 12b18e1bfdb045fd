"""Files as they come: compressed, in UTF-16, in a zip; turned into plain UTF-8 files.

Whatever is unpacked goes to a private temporary folder that its caller removes: a reader proper
only ever sees a plain file, so line numbers, restarts and the fast path work alike for all.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, AnyStr, NamedTuple

from starshade.errors import InputError, StarshadeError
from starshade.files.side import SAVE, SIDE_TABLE, check_side, irregular
from starshade.progress import task
from starshade.ratings.readers.addresses.address import is_address, path_of
from starshade.ratings.readers.addresses.buckets import Bucket, Remote, changed
from starshade.scratch import filling

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLOCK = 1 << 20
_LEAST = 3  # fields of a row: user, item, rating
_FOREIGN = {  # files that are often tried, and what to do instead
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"SQLite format": "an SQLite database",
    b"%PDF": "a PDF",
    b"\x93NUMPY": "a NumPy array",
    **{b"\x80" + bytes([version]): "a Python pickle" for version in (2, 3, 4, 5)},
    b"$FL2@(#)": "an SPSS file (.sav)",
    b"$FL3@(#)": "an SPSS file (.zsav)",
    b"<stata_dta>": "a Stata file (.dta)",
    **{bytes([form, order]): "a Stata file (.dta)" for form in (113, 114, 115) for order in (1, 2)},
    b"MATLAB 5.0": "a MATLAB file",
    b"%%MatrixMarket": "a Matrix Market file",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"ORC": "an ORC file",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"ARROW1": "an Arrow (Feather) file",
    b"Obj\x01": "an Avro file",
    b"RDX": "an R data file",
    b"X\n\0\0\0": "an R data file",
    b"ASCII SPSS PORT FILE": "an SPSS file (.por)",
    b"HEADER RECORD***": "a SAS transport file (.xpt)",
    b"@relation": "a Weka file (.arff)",
    b"@RELATION": "a Weka file (.arff)",
    b"{\\rtf": "a text document (RTF)",
    b"{}": "JSON",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
    b"<table": "a web page",
    b"<?xml": "XML",
}
_SAS = b"\xc2\xea\x81\x60\xb3\x14\x11\xcf"
_DUCKDB = b"DUCK"
_SEPARATOR = re.compile(rb"(\xef\xbb\xbf)?\"?sep=[^\w\s]\"?[\r\n]")
_JSON = re.compile(rb"(\[\s*)?\{\s*\"")  # a brace alone may begin an id


class Input(NamedTuple):
    """A file: where it lies now, and what the person who gave it calls it.

    `remote`: where it is read from, if it is not on this machine; `path` is then its name alone.
    """

    path: Path
    shown: str
    remote: Remote | None = None


@contextmanager
def reading(item: Input) -> Iterator[None]:
    """Turn what goes wrong while a file is read or unpacked into a clear error."""
    try:
        yield
    except StarshadeError:
        raise
    except EOFError:
        raise _truncated(item) from None
    except (zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(
            f"{item.shown}: the archive is damaged ({error})", advice="Download or copy it again."
        ) from None
    except OSError as error:
        if "runcated" in str(error) or "unexpected end" in str(error).lower():
            raise _truncated(item) from None
        reason = error.strerror or str(error)
        raise InputError(
            f"{item.shown}: cannot be read: {reason}",
            advice="Check the path and your permission to read it.",
        ) from None


def _truncated(item: Input) -> InputError:
    return InputError(
        f"{item.shown}: the compressed file is truncated", advice="Download or copy it again."
    )


def refuse_special(item: Input) -> None:
    """Refuse a pipe or a device: it would be read more than once, and may never end."""
    if item.remote:
        return
    with reading(item):
        if not item.path.exists() or item.path.is_dir():
            return
        what = irregular(item.path)
    if what:
        raise InputError(f"{item.shown}: is {what}", advice=SAVE)


def is_parquet(item: Input) -> bool:
    """Tell by its first bytes whether a file is Parquet."""
    return _first_bytes(item).startswith(b"PAR1")


def zip_of(item: Input) -> str:
    """Say what a zip is if it is a program's own file, such as a workbook; else nothing."""
    with reading(item), _archive(item.path) as archive:
        names = archive.namelist()
    if not {"[Content_Types].xml", "mimetype"}.isdisjoint(names):
        return "a workbook (Excel or the like)"
    return "a NumPy archive (.npz)" if any(name.endswith(".npy") for name in names) else ""


def is_packed(path: Path) -> bool:
    """Tell by its first bytes whether a file must be unpacked before it can be read."""
    head = _first_bytes(Input(path, path.name))
    return head.startswith(b"PK") or opener_of(head) is not None


def plain_text(item: Input, scratch: Path) -> Input:
    """Return the same text as a plain file: decompressed, UTF-16 turned into UTF-8.

    A plain file stays where it is; gz, bz2, xz, zst and UTF-16 are written to `scratch`.
    """
    head = _first_bytes(item)
    opener = opener_of(head)
    if opener is not None:
        item = _unpacked(item, scratch, opener)
        head = _first_bytes(item)
        if opener_of(head) is not None or head.startswith(b"PK\x03\x04"):
            raise InputError(f"{item.shown}: is compressed twice", advice="Unpack it once.")
    start = head.lstrip()
    for magic, what in _FOREIGN.items():
        if start.startswith(magic) or (what == "JSON" and _JSON.match(start)):
            raise InputError(f"{item.shown}: this is {what}", advice="Save it as CSV or Parquet.")
    if _SEPARATOR.match(head):
        raise InputError(
            f"{item.shown}: its first line is a separator line for Excel (sep=)",
            advice="Remove that line.",
        )
    if head.startswith(_UTF16) and not head.startswith(codecs.BOM_UTF32_LE):
        return _transcoded(item, scratch)
    if _SAS in head[:32] or head[8:12] == _DUCKDB:
        what = "a DuckDB database" if head[8:12] == _DUCKDB else "a SAS file (.sas7bdat)"
        raise InputError(f"{item.shown}: this is {what}", advice="Save it as CSV or Parquet.")
    if b"\0" in head:
        raise InputError(
            f"{item.shown}: contains zero bytes: a binary file, or text in an "
            "encoding other than UTF-8",
            advice="Save it as UTF-8 text (CSV, TSV) or as Parquet.",
        )
    return _unpadded(item, scratch) if _is_aligned(head) else item


_MARKS = re.compile(rb"[\t,;|\"]|::")


def _is_aligned(head: bytes) -> bool:
    """Tell whether blanks alone part the fields, some lines having more of them than needed."""
    lines = head.split(b"\n")[:200]
    lines = lines[:-1] if len(lines) > 1 else lines
    widths = {len(line.split()) for line in lines if line.strip()}
    if len(widths) != 1 or min(widths) < _LEAST or any(map(_MARKS.search, lines)):
        return False
    return any(b" ".join(line.split()) != line.rstrip(b"\r") for line in lines)


def _unpadded(item: Input, scratch: Path) -> Input:
    """Write the same lines with one blank between fields."""
    target = _fresh(scratch)
    with reading(item), open(item.path, "rb") as source:
        blocks = iter(lambda: source.readlines(_BLOCK), [])
        _copy(
            (b"".join(b" ".join(line.split()) + b"\n" for line in block) for block in blocks),
            target,
            item.shown,
        )
    return Input(target, item.shown)


def unzip(item: Input, scratch: Path, wanted: Callable[[str], bool]) -> list[Input]:
    """Unpack those members of a zip whose base name is wanted; empty if it has none."""
    members: dict[str, Input] = {}
    with reading(item), _archive(item.path) as archive:
        for member in archive.infolist():
            name = Path(member.filename).name
            hidden = name.startswith(".") or member.filename.startswith("__MACOSX/")
            if member.is_dir() or hidden or not wanted(name):
                continue
            if name in members:
                raise InputError(
                    f"{item.shown}: contains more than one {name}",
                    advice="Unpack it and name the file or folder to read.",
                )
            target = scratch / name
            shown = f"{item.shown}:{member.filename}"
            members[name] = Input(target, shown)
            try:
                with archive.open(member) as source:
                    _copy(_blocks(source), target, shown)
            # encrypted; unknown method; names that disagree
            except (RuntimeError, NotImplementedError, UnicodeDecodeError) as error:
                raise InputError(f"{shown}: cannot be unpacked ({error})") from None
    return list(members.values())


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (UnicodeDecodeError, NotImplementedError) as error:  # in its list of names
        raise zipfile.BadZipFile(str(error)) from None


def _first_bytes(item: Input) -> bytes:
    refuse_special(item)
    if item.remote:
        with item.remote.bucket.trying(item.shown), item.remote.open() as far:
            return bytes(far.read(1 << 16))
    with reading(item), open(item.path, "rb") as file:
        return file.read(1 << 16)


def fetched(item: Input, scratch: Path) -> Input:
    """Return the same file on this machine: one from elsewhere is copied to `scratch`."""
    if item.remote is None:
        return item
    folder = _fresh(scratch)
    folder.mkdir()
    target = folder / item.path.name
    _copy(item.remote.blocks(), target, item.shown)
    return Input(target, item.shown)


@contextmanager
def unchanged(items: Sequence[Input]) -> Iterator[None]:
    """Refuse what was read if a file, or one in a folder, was written to or replaced meanwhile."""
    before = _as_they_are(items)
    yield
    if _as_they_are(items) != before:
        raise changed(items[0].shown)


def _as_they_are(items: Sequence[Input]) -> list[tuple[str, int, int, int]]:
    here = (item.path for item in items if not item.remote)
    files = chain.from_iterable(sorted(p.iterdir()) if p.is_dir() else [p] for p in here)
    stats = [(path.name, path.stat()) for path in files if path.exists()]
    return [(name, at.st_ino, at.st_size, at.st_mtime_ns) for name, at in stats]


def only_file(source: str | Path, scratch: Path) -> Input:
    """Return the one file that a path or an address means, on this machine."""
    if not is_address(source):
        check_side(path_of(source), SIDE_TABLE)
        return Input(Path(path_of(source)), str(source))
    bucket = Bucket(source)
    files, is_folder = bucket.files()
    if is_folder or len(files) > 1:
        raise InputError(f"{bucket.shown}: several files", advice="Name one.")
    return fetched(as_input(files[0]), scratch)


def as_input(file: Remote) -> Input:
    """Return a file of a file system, not yet fetched."""
    return Input(Path(file.name), file.shown, file)


def opener_of(head: bytes) -> Callable[[Path], IO[bytes]] | None:
    """Recognise a compression by its first bytes, whatever the file is called."""
    openers: dict[bytes, Callable[[Path], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ\x00": lzma.open,
        b"\x28\xb5\x2f\xfd": _open_zstandard,
    }
    return next((opener for magic, opener in openers.items() if head.startswith(magic)), None)


def _open_zstandard(path: Path) -> IO[bytes]:
    import pyarrow as pa

    stream: Any = pa.input_stream(str(path), compression="zstd")
    return stream  # type: ignore[no-any-return]


def _unpacked(item: Input, scratch: Path, opener: Callable[[Path], IO[bytes]]) -> Input:
    target = _fresh(scratch)
    with reading(item), opener(item.path) as source:
        _copy(_blocks(source), target, item.shown)
    return Input(target, item.shown)


def _transcoded(item: Input, scratch: Path) -> Input:
    target = _fresh(scratch)
    try:
        with (
            reading(item),
            open(item.path, encoding="utf-16", newline="") as source,
        ):
            _copy((text.encode() for text in _blocks(source)), target, item.shown)
    except UnicodeError:
        raise InputError(
            f"{item.shown}: begins like UTF-16 text but is not", advice="Save it as UTF-8."
        ) from None
    return Input(target, item.shown)


def _blocks(source: IO[AnyStr]) -> Iterator[AnyStr]:
    while block := source.read(_BLOCK):
        yield block


def _copy(blocks: Iterator[bytes], target: Path, shown: str) -> None:
    """Write a temporary file; what it refuses is not blamed on the one that is read."""
    with ExitStack() as stack, task(f"unpacking {Path(shown).name}") as step:
        with filling(target.parent):
            out = stack.enter_context(target.open("wb", buffering=0))
        for block in blocks:
            with filling(target.parent):
                rest = memoryview(block)
                while rest:
                    rest = rest[out.write(rest) :]
            step(len(block))


def _fresh(scratch: Path) -> Path:
    return scratch / f"plain-{sum(1 for _ in scratch.iterdir())}"
