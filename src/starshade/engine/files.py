"""What jobs leave to each other that is too large for an answer: columns in a folder of each.

The folder of a job on a shard has the name that its answer has (`Job.key`), so it is found again by
whoever resumes, and one of other settings is not mistaken for it. It is written beside, flushed to
the disk, and takes its name in one rename, before the answer is kept.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Job, Sharded, Tables
from starshade.engine.journal import filling
from starshade.scratch import PART


@dataclass(frozen=True)
class Desk:
    """A shard, and the folder where a job on it leaves columns."""

    shard: Any
    folder: Path

    def leave(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write columns, all of them or none; what the same job has left already stays."""
        if self.folder.exists():
            return
        part = self.folder.with_name(f"{self.folder.name}-{secrets.token_hex(8)}{PART}")
        with filling(self.folder.parent):
            part.mkdir(mode=0o700)
            for name, column in columns.items():
                with (part / f"{name}.npy").open("wb") as out:
                    np.save(out, column, allow_pickle=False)
                    out.flush()
                    os.fsync(out.fileno())
            try:
                part.rename(self.folder)
            except OSError:  # the same job, on another machine, was quicker
                if not self.folder.exists():
                    raise
                shutil.rmtree(part)


@dataclass(frozen=True)
class Desks:
    """Shards, each with the folder where one job leaves columns."""

    shards: Sharded
    folders: Sequence[Path]

    @classmethod
    def of(cls, job: Job, shards: Sharded, tables: Tables, place: Path) -> Desks:
        """Give each shard the folder of a job, in `place`."""
        return cls(shards, [place / job.key(key, tables) for key in shards.keys])

    @property
    def keys(self) -> Sequence[str]:
        """Those of the shards."""
        return self.shards.keys

    @property
    def first_users(self) -> Sequence[int]:
        """Those of the shards."""
        return self.shards.first_users

    def __len__(self) -> int:
        return len(self.shards)

    def shard(self, number: int, /) -> Desk:
        """Open a shard."""
        return Desk(self.shards.shard(number), self.folders[number])

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a shard takes, at most."""
        return self.shards.bytes_of(number)


def left_in(folder: Path, name: str) -> NDArray[Any]:
    """Map a column that a job left: a private copy-on-write of the file, as stores are mapped."""
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))
