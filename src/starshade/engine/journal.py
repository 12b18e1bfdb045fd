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
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

import numpy as np

from starshade.engine.job import Tables
from starshade.errors import ConfigError, OutputError, UnmetError
from starshade.naming import named
from starshade.progress import note
from starshade.scratch import FULL, PART, make_folder, orphans, own, remove, sweep

_PREFIX = ".journal-"
_ANSWER = ".npz"
#: NumPy reads the header of an array as Python, which CPython 3.11 cannot on two threads at once
HEADERS = Lock()


@dataclass(frozen=True)
class Journal:
    """The answers of one run; None: nowhere to keep them."""

    folder: Path | None

    def find(self, key: str) -> Tables | None:
        """Return an answer that is finished; one that is damaged is not."""
        if self.folder is None:
            return None
        with (
            suppress(OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError),
            HEADERS,
            self._file(key).open("rb") as file,  # ours: of a damaged one NumPy would leave it open
            np.load(file, allow_pickle=False) as found,
        ):
            return {name: found[name] for name in found.files}
        return None

    def keep(self, key: str, answer: Tables) -> None:
        """Write an answer down."""
        if self.folder is not None:
            self.write(
                self._file(key).name,
                lambda out: np.savez(out, allow_pickle=False, **dict(answer)),
            )

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

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}{_ANSWER}"


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
            f"{place_of(folder)}: {what} for what is finished of this run "
            f"({os.strerror(error.errno or 0)}); what was finished before is kept",
            advice=f"Free some space there, and go on with {named('resume', True)}.",
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
    yield Journal(folder)
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
        note(f"{place}: {reason}: what is finished is not kept, a run that is killed begins again")
        yield Journal(None)
        return
    try:
        taken = _take_over(place, folder) if resume else 0
        if resume:
            found = f"going on from {taken:,} finished parts" if taken else "beginning anew"
            note(f"{found}; other settings, seeds or ratings find none" if taken else found)
        try:
            yield Journal(folder)
        except (ConfigError, UnmetError):
            with suppress(OSError):
                remove(folder, handle)
            raise
        except BaseException:
            if any(folder.rglob(f"*{_ANSWER}")):
                going_on = named("resume", True)
                note(f"what is finished is kept in {place}: the same with {going_on} goes on")
            else:
                with suppress(OSError):
                    remove(folder, handle)
            raise
        with suppress(OSError):
            remove(folder, handle)
    finally:
        os.close(handle)


def _take_over(place: Path, folder: Path) -> int:
    """Move what killed runs had finished into a folder; returns how many answers."""
    taken = 0
    for left, handle in orphans(place, _PREFIX):
        # folders first: an answer stands for the folder of its job
        for file in sorted(left.iterdir(), key=lambda each: each.suffix == _ANSWER):
            if file.suffix != PART:
                with suppress(OSError):
                    file.replace(folder / file.name)
                    taken += file.suffix == _ANSWER
        with suppress(OSError):
            remove(left, handle)
    return taken
