"""Files and folders that appear whole or not at all, one or several together.

Work goes to a temporary sibling (``.tmp-…``, folders 0700), is flushed to the disk, and takes its
name in one rename. An error or Ctrl-C removes the sibling; a process that was killed leaves at
most the sibling, which the next writer of the same place sweeps away (`starshade.scratch`). Of
several places, see `together`, the next writer to any undoes what a kill had left half done
(`starshade.ratings.places.journal`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from starshade.errors import OutputError, StarshadeError
from starshade.ratings.places import journal
from starshade.ratings.places.place import Place, Where, output_error, refuse_in_release
from starshade.scratch import make_folder, own, remove, sweep

__all__ = ["atomic_file", "atomic_folder", "together", "vacant"]


@dataclass(frozen=True)
class _Part:
    """What is written and waits for its name."""

    place: Place
    temporary: Path
    handle: int
    needs: int | None

    def move(self) -> journal.Move:
        mark = journal.mark_of(str(self.temporary))
        return journal.Move(str(self.temporary), str(self.place.path), mark)


_waiting: ContextVar[list[_Part] | None] = ContextVar("waiting", default=None)


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
    return _written(where, lambda path: journal.make_file(path, mode), journal.flush, needs)


@contextmanager
def together() -> Iterator[list[_Part]]:
    """Let every file and folder that is written inside appear at the end, or none of them.

    Until then each has its temporary name. They get their own in the order in which they were
    finished: what leads to the others comes last.
    """
    if (outer := _waiting.get()) is not None:
        yield outer
        return
    parts: list[_Part] = []
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
        parts.append(_Part(place, temporary, handle, needs))


def _begin(place: Place, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Refuse what may not be, clear away what killed writers left, and make a sibling."""
    journal.recover(place)
    _refuse_taken(place)
    refuse_in_release(place.parent, place)
    prefix = journal.hidden("tmp", place.name)
    sweep(place.parent, prefix)
    return own(place.parent, prefix, make)


def _move(parts: list[_Part], held: ExitStack) -> None:
    moves: list[journal.Move] = []
    journals: list[Path] = []
    try:
        for part in parts:
            with _in_words(part.place):
                _refuse_taken(part.place)  # before any of them is moved
                moves.append(part.move())
        if len(parts) > 1:
            with _in_words(parts[0].place):
                journal.begin(moves, journals, held)
        for part in parts:
            with _in_words(part.place, part.needs):
                _rename(part.temporary, part.place)
        journal.end(journals)
    except BaseException:
        journal.put_back(moves)  # interrupted again, it is left as by a kill
        _discard(parts)
        journal.end(journals)
        raise


def _let_go(parts: list[_Part]) -> None:
    for part in parts:
        os.close(part.handle)


def _discard(parts: list[_Part]) -> None:
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


def _refuse_taken(place: Place) -> None:
    if os.path.lexists(place):
        raise OutputError(
            f"{place}: exists already",
            advice="Choose another name, or move it away first: nothing is overwritten.",
        )


def _flush_tree(folder: Path) -> None:
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            journal.flush(Path(root) / name)
        journal.flush(Path(root))


def _rename(temporary: Path, place: Place) -> None:
    _refuse_taken(place)  # somebody may have made it meanwhile
    temporary.rename(place)
    journal.flush(place.parent)
