"""`Job`: what is done with every shard, and `Engine`: who has it done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from starshade._version import __version__
from starshade.engine.journal import Journal
from starshade.engine.journal import Tables as Tables


class Sharded(Protocol):
    """Data in shards, opened one by one."""

    @property
    def keys(self) -> Sequence[str]:
        """What each shard is known again by: another content has another key."""
        raise NotImplementedError

    @property
    def first_users(self) -> Sequence[int]:
        """The number of each shard's first user among all."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def shard(self, number: int, /) -> Any:
        """Open a shard."""

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a shard takes, at most."""
        raise NotImplementedError


@dataclass(frozen=True)
class Job:
    """What is done with every shard.

    `name`: in words, for whoever watches. `work`: shard, its first user's number, settings, tables
    → tables; a function of a module, so that another process finds it, which depends on nothing
    else. `settings`: plain values. `threaded`: it uses all threads itself, so shards are done one
    after the other.
    """

    name: str
    work: Callable[[Any, int, Mapping[str, Any], Tables], Tables]
    settings: Mapping[str, Any] = field(default_factory=dict)
    threaded: bool = False

    def key(self, shard: str, tables: Tables) -> str:
        """Return what this job's answer on a shard is known again by."""
        said = {
            "version": __version__,
            "work": f"{self.work.__module__}.{self.work.__qualname__}",
            "settings": dict(self.settings),
            "shard": shard,
        }
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
        for name, column in sorted(tables.items()):
            digest.update(f"\n{name} {column.dtype.descr} {column.shape}\n".encode())
            digest.update(np.ascontiguousarray(column).view(np.uint8).data)
        return digest.hexdigest()


class Engine(Protocol):
    """Has jobs done."""

    @property
    def journal(self) -> Journal:
        """What is finished."""
        raise NotImplementedError

    @property
    def folder(self) -> Path | None:
        """Where jobs leave each other what is too large for an answer; None: nowhere."""
        raise NotImplementedError

    def run(self, job: Job, shards: Sharded, tables: Tables) -> Iterator[Tables]:
        """Do the job with every shard; yields what came of it in the order of the shards."""
        raise NotImplementedError

    def within(self, name: str, /) -> AbstractContextManager[Engine]:
        """Do a part of a run, of which nothing is kept once it is done.

        What its jobs leave lies by itself until then: it is found again by whoever resumes.
        """
        raise NotImplementedError
