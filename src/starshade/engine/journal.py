"""What is finished of a run over shards, kept on disk until all of it is.

A run that is killed cannot say what it had done. So each answer is written as it comes, under a
name that says what was asked (`Job.key`), into a folder of the run beside the shards that only
its owner may read (0700). A run that ends removes it. One that was killed, or stopped by an error,
leaves it: the next run over the same shards takes the answers over where it resumes, and otherwise
sweeps them away. A lock says whose maker lives (`starshade.scratch`). Beside the answers lie the
folders of what jobs leave to each other that is too large for an answer (`starshade.engine.files`).
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.seal import SEAL, digest_of_folder, is_sealed, key_for, read_sealed, seal
from starshade.errors import ConfigError, InputError, OutputError, TakenError, UnmetError
from starshade.naming import named
from starshade.progress import note
from starshade.scratch import FULL, LAST, PART, make_folder, orphans, own, remove, sweep

#: what goes into a job beside a shard, and what comes out: columns by name
Tables = Mapping[str, NDArray[Any]]
_PREFIX = ".journal-"
_ANSWER = ".npz"
_NOTHING = b" " * 64  # in place of a digest: the job left no columns
#: NumPy reads the header of an array as Python, which CPython 3.11 cannot on two threads at once
HEADERS = Lock()


@dataclass(frozen=True)
class Journal:
    """The answers of one run; folder None: nowhere to keep them. `key`: seals them."""

    folder: Path | None
    key: bytes = field(default=b"", repr=False)

    def find(self, key: str) -> Tables | None:
        """Return an answer that is finished; one that is damaged is not."""
        content = self.get(f"{key}{_ANSWER}")
        if content is None:
            return None
        with HEADERS, np.load(BytesIO(content[len(_NOTHING) :]), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}

    def keep(self, key: str, answer: Tables) -> None:
        """Write an answer down, with the digest of the columns that its job has left."""
        if self.folder is None:
            return
        columns, content = self.folder / key, BytesIO()
        content.write(digest_of_folder(columns).encode() if columns.is_dir() else _NOTHING)
        np.savez(content, allow_pickle=False, **dict(answer))
        self.put(f"{key}{_ANSWER}", content.getbuffer())

    def get(self, name: str) -> bytes | None:
        """Return what was `put` under a name; None: nothing, or not by this user's runs."""
        return None if self.folder is None else read_sealed(self.folder / name, self.key)

    def put(self, name: str, content: bytes | memoryview) -> None:
        """Write a file of the run that only its owner could have written."""
        digest = seal(content, name, self.key)
        self.write(name, lambda out: out.writelines((digest, content)))

    def write(self, name: str, fill: Callable[[IO[bytes]], object]) -> None:
        """Write a file of the run, all of it or nothing."""
        assert self.folder is not None
        part = self.folder / f"{name}-{secrets.token_hex(8)}{PART}"  # the same may be written twice
        with filling(self.folder):
            try:
                with part.open("wb") as out:
                    fill(out)
                    out.flush()
                    os.fsync(out.fileno())
                part.replace(self.folder / name)
            except OSError:
                with suppress(OSError):
                    part.unlink()
                raise


def place_of(folder: Path) -> Path:
    """Return the place where a run keeps what is finished in a folder of its own."""
    inside = (each for each in folder.parents if not each.name.startswith(_PREFIX))
    return next(inside)


@contextmanager
def filling(folder: Path) -> Iterator[None]:
    """Say in words that what is finished of a run cannot be kept in its folder."""
    try:
        yield
    except OSError as error:
        what = "no space left" if error.errno in FULL else "cannot be written"
        raise OutputError(
            f"{place_of(folder)}: {what} for the finished parts of this run "
            f"({os.strerror(error.errno or 0)}); earlier parts are kept",
            advice=f"Free some space there, and resume with {named('resume', True)}.",
        ) from error


@contextmanager
def part_of(journal: Journal, name: str) -> Iterator[Journal]:
    """Keep the answers of a part of a run in a folder within; gone when the part ends well."""
    if journal.folder is None:
        yield journal
        return
    folder = journal.folder / name
    with filling(journal.folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    yield Journal(folder, journal.key)
    done = folder.with_name(f"{name}{PART}")  # whoever is killed meanwhile leaves no half of it
    with suppress(OSError):
        folder.rename(done)
        shutil.rmtree(done)  # else it goes with the run


@contextmanager
def journal_in(place: Path, *, resume: bool) -> Iterator[Journal]:
    """Keep the answers of a run in a folder of its own in `place`; gone when the run ends well.

    What was asked in vain is not kept either, nor a run that stops before anything is finished.

    `resume`: with what runs that were killed had finished.
    """
    try:
        if not resume:
            sweep(place, _PREFIX)
        folder, handle = own(place, _PREFIX, make_folder)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        note(
            f"{place}: {reason}: finished parts are not kept; an interrupted run starts "
            "from the beginning"
        )
        yield Journal(None)
        return
    try:
        journal = Journal(folder, key_for(place))
        if resume:
            note(_take_over(place, journal))
        try:
            yield journal
        except (ConfigError, InputError, TakenError, UnmetError):
            with suppress(OSError):
                remove(folder, handle)
            raise
        except BaseException:
            if any(folder.rglob(f"*{_ANSWER}")):
                going_on = named("resume", True)
                note(
                    f"finished parts are kept in {place}; to resume, repeat the command "
                    f"with {going_on}"
                )
            else:
                with suppress(OSError):
                    remove(folder, handle)
            raise
        with suppress(OSError):
            remove(folder, handle)
    finally:
        os.close(handle)


def _take_over(place: Path, journal: Journal) -> str:
    """Take over what killed runs of this user had finished; returns what to say of it."""
    taken = refused = 0
    for left, handle in orphans(place, _PREFIX):
        of_this = _take_from(left, journal)
        taken, refused = taken + of_this[0], refused + of_this[1]
        with suppress(OSError):
            remove(left, handle)
    changed = (
        f"{refused:,} finished parts were not written by this user here, or were changed since"
    )
    if not taken:
        why = changed if refused else "no finished part of an interrupted run was found"
        return f"starting from the beginning: {why}"
    said = f"resuming from {taken:,} finished parts" + f"; {changed}" * bool(refused)
    return f"{said}; only parts with the same settings, seed and ratings can be resumed"


def _take_from(left: Path, journal: Journal, depth: int = 1) -> tuple[int, int]:
    """Move what is sealed out of a folder; returns how many answers were, and were not."""
    taken = refused = 0
    assert journal.folder is not None
    with suppress(OSError):
        # columns first: an answer stands for those of its job
        for file in sorted(left.iterdir(), key=lambda each: not each.is_dir()):
            place = journal.folder / file.name
            if file.is_dir() and not file.is_symlink() and file.suffix != PART:
                if depth and not file.with_name(f"{file.name}{_ANSWER}").exists():
                    with suppress(OSError):
                        place.mkdir(mode=0o700, exist_ok=True)
                        inside = _take_from(file, Journal(place, journal.key), depth - 1)
                        taken, refused = taken + inside[0], refused + inside[1]
                        if not inside[0]:  # columns without an answer: an empty folder is none
                            place.rmdir()
            elif file.suffix in (_ANSWER, LAST):
                with suppress(OSError):
                    if not is_sealed(file, journal.key) or not _take_columns(file, place):
                        refused += file.suffix == _ANSWER
                        continue
                    file.replace(place)
                    taken += file.suffix == _ANSWER
    return taken, refused


def _take_columns(answer: Path, place: Path) -> bool:
    """Move the columns of a job that an answer says were left; False: these are others."""
    if answer.suffix != _ANSWER:
        return True
    with answer.open("rb") as file:
        said = file.read(SEAL + len(_NOTHING))[SEAL:]
    columns = answer.with_suffix("")
    if said == _NOTHING:
        return True
    if digest_of_folder(columns).encode() != said:
        return False
    columns.replace(place.with_suffix(""))
    return True
