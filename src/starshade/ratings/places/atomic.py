"""Files and folders that appear whole or not at all, one or several together.

Work goes to a temporary sibling (``.tmp-…``, folders 0700), is flushed to the disk, and takes its
name in one rename. An error or Ctrl-C removes the sibling; a process that was killed leaves at
most the sibling, which the next writer of the same place sweeps away (`starshade.scratch`). Of
several places, see `together`, the next writer to any undoes what a kill had left half done
(`starshade.ratings.places.atomic`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from pathlib import Path

from starshade.errors import StarshadeError, TakenError
from starshade.ratings.places.place import Place, Where, output_error, refuse_in_release
from starshade.scratch import is_temporary, make_folder, orphan, orphans, own, remove, sweep


@dataclass(frozen=True)
class Part:
    """What is written and waits for its name."""

    place: Place
    temporary: Path
    handle: int
    needs: int | None

    def move(self) -> Move:
        """Return what is about to get its name."""
        mark = mark_of(str(self.temporary))
        return Move(str(self.temporary), str(self.place.path), mark)


_waiting: ContextVar[list[Part] | None] = ContextVar("waiting", default=None)


def atomic_folder(where: Where, *, needs: int | None = None) -> AbstractContextManager[Path]:
    """Write a folder that must not exist yet: all of it or nothing.

    Gives the temporary folder (mode 0700); a caller that wants another final mode changes it
    there.

    `where`: the folder to be. `needs`: bytes that will be written, for the message on a full disk.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "out"
    >>> with atomic_folder(place) as folder:
    ...     _ = (folder / "a.txt").write_text("a")
    >>> (place / "a.txt").read_text()
    'a'
    """
    return _written(where, make_folder, _flush_tree, needs)


def atomic_file(
    where: Where, mode: int = 0o666, *, needs: int | None = None
) -> AbstractContextManager[Path]:
    """Write a file that must not exist yet: all of it or nothing.

    Gives the temporary file, empty, to be opened for writing by its name (not to be replaced
    by another file, which would lose `mode`).

    `where`: the file to be. `mode`: permissions from the start, less the umask; 0o600 for what only
    the owner may read. `needs`: bytes that will be written, for the message on a full disk.
    """
    return _written(where, lambda path: make_file(path, mode), flush, needs)


@contextmanager
def together() -> Iterator[list[Part]]:
    """Let every file and folder that is written inside appear at the end, or none of them.

    Until then each has its temporary name. They get their own in the order in which they were
    finished: what leads to the others comes last.
    """
    if (outer := _waiting.get()) is not None:
        yield outer
        return
    parts: list[Part] = []
    with ExitStack() as held:
        held.callback(_waiting.reset, _waiting.set(parts))
        held.callback(_let_go, parts)
        try:
            yield parts
        except BaseException:
            _discard(parts)
            raise
        _move(parts, held)


def vacant(where: Where) -> Place:
    """Resolve a place, and refuse one that cannot be written to, before long work.

    Asking for permission lies: it is tried. What a kill leaves of that is swept like the rest.
    """
    place = Place.of(where)
    with _in_words(place):
        temporary, handle = _begin(place, make_folder)
        try:
            temporary.rmdir()
        finally:
            os.close(handle)
    return place


@contextmanager
def _written(
    where: Where, make: Callable[[Path], int], settle: Callable[[Path], None], needs: int | None
) -> Iterator[Path]:
    place = Place.of(where)
    with together() as parts, _in_words(place, needs):
        temporary, handle = _begin(place, make)
        try:
            yield temporary
            settle(temporary)
        except BaseException:
            _remove(temporary, handle)
            os.close(handle)
            raise
        parts.append(Part(place, temporary, handle, needs))


def _begin(place: Place, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Refuse what may not be, clear away what killed writers left, and make a sibling."""
    recover(place)
    _refuse_taken(place)
    refuse_in_release(place.parent, place)
    prefix = hidden("tmp", place.name)
    sweep(place.parent, prefix)
    return own(place.parent, prefix, make)


def _move(parts: list[Part], held: ExitStack) -> None:
    moves: list[Move] = []
    journals: list[Path] = []
    try:
        for part in parts:
            with _in_words(part.place):
                _refuse_taken(part.place)  # before any of them is moved
                moves.append(part.move())
        if len(parts) > 1:
            with _in_words(parts[0].place):
                begin(moves, journals, held)
        for part in parts:
            with _in_words(part.place, part.needs):
                _rename(part.temporary, part.place)
        end(journals)
    except BaseException:
        put_back(moves)  # interrupted again, it is left as by a kill
        _discard(parts)
        end(journals)
        raise


def _let_go(parts: list[Part]) -> None:
    for part in parts:
        os.close(part.handle)


def _discard(parts: list[Part]) -> None:
    for part in parts:
        _remove(part.temporary, part.handle)


def _remove(temporary: Path, handle: int) -> None:
    with suppress(OSError):
        remove(temporary, handle)


@contextmanager
def _in_words(place: Place, needs: int | None = None) -> Iterator[None]:
    try:
        yield
    except StarshadeError:
        raise
    except OSError as error:
        raise output_error(error, place, needs) from error


def sweep_beside(where: Where) -> None:
    """Remove what killed writers left beside a place that is taken: none of it can be gone on with.

    Only what this user owns, and nobody is at work on.
    """
    place = Place.of(where)
    for kind in ("tmp", "runs", "rows"):
        sweep(place.parent, hidden(kind, place.name))


def _refuse_taken(place: Place) -> None:
    try:
        os.lstat(place)
    except FileNotFoundError:  # an overlong name is no free one
        return
    sweep_beside(place)
    raise TakenError(
        f"{place}: exists already",
        advice="Choose another name, or move it away first: existing files are not overwritten.",
    )


def _flush_tree(folder: Path) -> None:
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            flush(Path(root) / name)
        flush(Path(root))


def _rename(temporary: Path, place: Place) -> None:
    _refuse_taken(place)  # somebody may have made it meanwhile
    temporary.rename(place)
    flush(place.parent)


_MOST = 2**20  # bytes of what a writer says of its moves
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
        end(journals)
        with suppress(OSError):
            remove(path, handle)  # a stranger may have made it a folder


def _read(handle: int) -> tuple[list[Move], list[Path]]:
    try:
        payload = json.loads(os.read(handle, _MOST))
        moves = [Move(*map(str, move)) for move in payload["moves"]]
        journals = list(map(Path, payload["journals"]))
        for text in (*payload["journals"], *(text for move in payload["moves"] for text in move)):
            os.fsencode(text)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return [], []  # not whole: nothing had been moved yet
    names = {(os.path.dirname(move.place), os.path.basename(move.place)) for move in moves}
    ours = all(move.mark and _is_beside(move.temporary, move.place, "tmp") for move in moves)
    if not ours or not all(
        any(_is_beside(str(each), os.path.join(*name), "moves") for name in names)
        for each in journals
    ):
        return [], []  # of a stranger, who would have other files renamed or removed
    return moves, journals


def _is_beside(path: str, place: str, kind: str) -> bool:
    """Tell whether a path is one that a writer of a place gives to what is temporary."""
    folder, name = os.path.split(path)
    at, own_name = os.path.split(place)
    return folder == at and is_temporary(name, hidden(kind, own_name))


def mark_of(path: str) -> str:
    """Return what a file or folder is known again by; empty where nothing is.

    Names, inodes, and of files their sizes and times of change: whoever writes to one, or
    replaces it, leaves something else. Empty, too, for what cannot be a path here.
    """
    digest = hashlib.sha256()
    try:
        _add(digest, path, "")
    except (OSError, ValueError):
        return ""
    for folder, folders, files in () if os.path.islink(path) else os.walk(path):
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
