"""What is done of a job where another machine works: one shard, from files to a file.

What goes in lies in the folder of the run, written once by whoever asks; the answer is left there
under the name that `Local` gives it (`Job.key`). So a run begun by one engine is gone on with by
another, and what is sent between machines is the number of a shard and how it went.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import starshade.kernels  # noqa: F401 - before Numba: it says where Numba finds its cache

import numba  # noqa: F401 # isort: skip - what cannot be loaded is told before any work

from starshade import budget
from starshade._version import __version__
from starshade.engine.journal import Journal, place_of
from starshade.engine.seal import pickled, unpickled
from starshade.errors import EngineError, UserError
from starshade.naming import speak
from starshade.scratch import FULL

#: what workers read of whoever asks; the last: how settings are named there
HANDED_OVER = ("shards", "job", "tables", "spoken")
_PICKLE = ".pickle"


def hand_over(journal: Journal, part: Any) -> str:
    """Write down what workers are to read, once however often; returns its digest."""
    assert journal.folder is not None
    content, digest = pickled(part)
    file = journal.folder / f"{digest}{_PICKLE}"
    if not file.exists() or file.read_bytes() != content:
        journal.write(file.name, lambda out: out.write(content))
    return digest


def work_on(number: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Do a job with one shard; returns what was in the way, in plain values.

    `asked`: the `folder` of the run and its `key`; the digests of what was `HANDED_OVER` there, and
    the file that says that somebody has `begun`; the `version` of starshade; the `memory` and the
    `threads` that may be used.

    An error that is no bug is returned, to be raised where somebody reads it. Any other is raised
    here: the shard is tried again.
    """
    folder = Path(asked["folder"])
    if asked["version"] != __version__:
        return {"version": __version__}
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return {"cannot": "read and write" if folder.exists() else "see"}
    with budget.limits(memory=asked["memory"], threads=asked["threads"]):
        try:
            (folder / asked["begun"]).touch()
            shards, job, tables, spoken = (
                _read(folder / f"{asked[name]}{_PICKLE}") for name in HANDED_OVER
            )
            with speak(*spoken):
                first = shards.first_users[number]
                found = job.work(shards.shard(number), first, job.settings, tables)
                Journal(folder, asked["key"]).keep(job.key(shards.keys[number], tables), found)
        except UserError as error:
            return {"error": type(error).__name__, **vars(error)}
        except MemoryError:
            return {"short": True}
        except OSError as error:
            if error.errno is None or error.errno not in (*FULL, errno.EFBIG):
                raise
            return {"full": os.strerror(error.errno)}
    return {}


@lru_cache(maxsize=6)
def _read(file: Path) -> Any:
    """Read what was handed over; whoever does many shards has it, and what it caches, once."""
    try:
        return unpickled(file, file.stem)
    except ValueError:
        raise EngineError(
            f"{place_of(file.parent)}: files for executors were changed by another process",
            advice="Put the store where no other user can write.",
        ) from None
