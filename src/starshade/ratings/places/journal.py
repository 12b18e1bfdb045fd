"""Several renames as one: what stands in a journal until all of them are done.

Before the first rename a journal (``.moves-…``, mode 0600) is laid beside each place, which names
the temporary files and folders, the places they are to have, and what each is known again by. Its
writer holds a lock on it. One that can be locked is a killed writer's: while something still has
its temporary name, what was moved gets its own back, and all of it is removed; where nothing has,
the move was finished, and the journal alone goes. What is not known again stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from starshade.ratings.places.place import Place
from starshade.scratch import orphan, orphans, own, remove

__all__ = ["Move", "begin", "end", "flush", "hidden", "make_file", "mark_of", "put_back", "recover"]

_LONGEST = 200  # bytes of a place's name that its siblings repeat: 255 are allowed in all


@dataclass(frozen=True)
class Move:
    """A temporary file or folder, the place in the same folder that it gets, and its mark."""

    temporary: str
    place: str
    mark: str


def begin(moves: Sequence[Move], journals: list[Path], held: ExitStack) -> None:
    """Lay a journal beside each place, locked until `held` is unwound; `journals` gets them."""
    handles = []
    for move in moves:
        folder, name = os.path.split(move.place)
        path, handle = own(Path(folder), hidden("moves", name), make_file)
        held.callback(os.close, handle)
        journals.append(path)
        handles.append(handle)
    payload = {"moves": list(map(astuple, moves)), "journals": list(map(str, journals))}
    for path, handle in zip(journals, handles, strict=True):
        os.write(handle, json.dumps(payload).encode())
        os.fsync(handle)
        flush(path.parent)


def end(journals: Sequence[Path]) -> None:
    """Take journals away: all was moved, or nothing is any more."""
    for path in journals:
        path.unlink(missing_ok=True)


def put_back(moves: Sequence[Move]) -> None:
    """Give what was moved its temporary name again, where it is what was moved."""
    for move in moves:
        if not os.path.lexists(move.temporary) and mark_of(move.place) == move.mark:
            os.rename(move.place, move.temporary)
            flush(Path(move.place).parent)


def recover(place: Place) -> None:
    """Undo what a killed writer had begun to move to `place` and others."""
    for path, handle in orphans(place.parent, hidden("moves", place.name)):
        moves, journals = _read(handle)
        if any(mark_of(move.temporary) == move.mark for move in moves):
            put_back(moves)
            for move in moves:
                temporary = Path(move.temporary)
                with suppress(OSError), orphan(temporary) as left:
                    if mark_of(move.temporary) == move.mark:
                        remove(temporary, left)
        end([*journals, path])


def _read(handle: int) -> tuple[list[Move], list[Path]]:
    try:
        payload = json.loads(os.read(handle, os.fstat(handle).st_size))
        return [Move(*move) for move in payload["moves"]], list(map(Path, payload["journals"]))
    except (ValueError, KeyError, TypeError):
        return [], []  # not whole: nothing had been moved yet


def mark_of(path: str) -> str:
    """Return what a file or folder is known again by; empty where nothing is.

    Names, inodes, and of files their sizes and times of change: whoever writes to one, or
    replaces it, leaves something else.
    """
    digest = hashlib.sha256()
    try:
        _add(digest, path, "")
    except FileNotFoundError:
        return ""
    for folder, folders, files in os.walk(path):
        folders.sort()
        for name in (*folders, *sorted(files)):
            _add(digest, os.path.join(folder, name), name)
    return digest.hexdigest()


def hidden(kind: str, name: str) -> str:
    """Return how the names of a place's temporary siblings begin."""
    # a character that the cut goes through is left out
    return f".{kind}-{os.fsencode(name)[:_LONGEST].decode(errors='ignore')}-"


def flush(path: Path) -> None:
    """Have a file, or a folder's entries, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _add(digest: hashlib._Hash, path: str, name: str) -> None:
    status = os.lstat(path)
    entry = [name, status.st_mode, status.st_ino]
    if not os.path.isdir(path):
        entry += [status.st_size, status.st_mtime_ns]
    digest.update(json.dumps(entry).encode())


def make_file(path: Path, mode: int = 0o600) -> int:
    """Make a file, for `own`."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
