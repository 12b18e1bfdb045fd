"""Files of one table read and sorted into runs one by one, by whoever an engine gives them to.

What each file holds is numbered by itself, so it goes anywhere; what its numbers stand for among
those of all files is written down beside its runs once all are read. What is wrong with rows is
counted file by file and told as if they had been read in order.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.engine.seal import pickled, unpickled
from starshade.errors import InputError
from starshade.ratings.readers.formats.shapes import LongTable, Seen
from starshade.ratings.rows.learned import Learned
from starshade.ratings.scale import Scale
from starshade.ratings.shards.runs import Run, Runs, spill
from starshade.ratings.vocabulary import Vocabulary, union

_SAID = "said.pickle"


class _Read(NamedTuple):
    """A file that was read: its runs, by the names of their folders, and what its numbers mean."""

    runs: tuple[str, ...]
    items: Vocabulary
    rank: NDArray[np.int32]
    learned: Learned
    seen: Seen


@dataclass(frozen=True)
class _Files:
    """Files as jobs go through them (`starshade.engine.job.Sharded`), and where their runs go."""

    tables: Sequence[LongTable]
    folder: Path

    @property
    def keys(self) -> list[str]:
        """Their places: the folder is of one run alone."""
        return [f"{self.folder} {number}" for number in range(len(self))]

    @property
    def first_users(self) -> list[int]:
        """Not known before they are read."""
        return [0] * len(self)

    def __len__(self) -> int:
        return len(self.tables)

    def shard(self, number: int, /) -> tuple[LongTable, Path]:
        """Return a file and where its runs go."""
        return self.tables[number], self.folder

    def bytes_of(self, _number: int, /) -> int:
        """Return 0: one is read after the other, within what memory there is."""
        return 0


def runs_apart(table: LongTable, scale: Scale | None, folder: Path, engine: Engine) -> Runs | None:
    """Let an engine write a table's files as runs; see `starshade.ratings.shards.runs.runs_of`.

    None: what these files hold depends on what was read before.
    """
    if not (parts := table.parts()):
        return None
    folder.mkdir(mode=0o700)
    files = _Files(parts, folder)
    settings = {"scale": None if scale is None else astuple(scale)}
    job = Job("reading ratings", _sort_file, settings, threaded=True)
    try:
        answers = list(engine.run(job, files, {}))
    except InputError:  # it names one of the files; in order all are told of
        answers = []
    places = [folder / answer["folder"].tobytes().decode() for answer in answers]
    digests = [answer["digest"].tobytes().decode() for answer in answers]
    read = [
        _Read(*unpickled(place / _SAID, digest))
        for place, digest in zip(places, digests, strict=True)
    ]
    forms = {each.seen.form for each in read} - {None}
    # with rows left out, the others are numbered by what was read before
    if not read or len(forms) > 1 or any(each.seen.left_out for each in read):
        shutil.rmtree(folder)
        return None
    table.tell(reduce(add, [each.seen for each in read]))
    learned = reduce(add, [each.learned for each in read])
    learned.refuse(scale, table.locate)
    if not any(each.runs for each in read):
        shutil.rmtree(folder)
        return None
    items = union([each.items for each in read])
    runs = []
    for place, each in zip(places, read, strict=True):
        ranks = items.indices(each.items).astype(np.int32)[each.rank]
        codes = _places(each.learned.distinct, learned.distinct)
        for name in each.runs:
            runs.append(Run(place / name))
            runs[-1].numbered(ranks, codes)
    return Runs(
        tuple(runs),
        items,
        np.arange(len(items), dtype=np.int32),
        learned.distinct,
        None if learned.first is None else learned.first[0],
        sum(int(run.indptr[-1]) for run in runs),
    )


def _places(some: NDArray[np.float64], distinct: NDArray[np.float64]) -> NDArray[Any]:
    """Return where some ratings stand among the distinct ones."""
    order = np.argsort(distinct)
    places = order[np.searchsorted(distinct, some, sorter=order)]
    return places.astype(np.min_scalar_type(len(distinct)))


def _sort_file(
    shard: tuple[LongTable, Path], _first: int, settings: Mapping[str, Any], _tables: Tables
) -> Tables:
    table, folder = shard
    scale = None if settings["scale"] is None else Scale(*settings["scale"])
    own = folder / f"file-{secrets.token_hex(8)}"  # the same may be read twice at once
    runs, staging = spill(table.rows(), scale, own)
    assert table.seen is not None
    names = tuple(run.folder.name for run in runs)
    read = _Read(names, *staging.staged.items.finish(), staging.learned(), table.seen)
    content, digest = pickled(tuple(read))
    (own / _SAID).write_bytes(content)
    said = {"folder": own.name, "digest": digest}
    return {key: np.frombuffer(text.encode(), dtype=np.uint8) for key, text in said.items()}
