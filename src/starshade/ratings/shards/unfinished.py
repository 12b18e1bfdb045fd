"""What a conversion to shards has finished, beside the store to be, until the store is there.

::

    key             what was asked for: version, source, settings
    KEY.done        what came of it, right before the store is in its place
    sorted.json     what reading found; written when all rows are in runs
    runs/           the rows, sorted; items, distinct ratings and attributes
    store/          the shards that are written
    shards/         of each of them what was found in it

A conversion that is killed while it reads starts from the beginning: not every source can be read
from its middle. A folder is taken over only by the very same command, and of it only what is sealed
(`starshade.engine.seal`) and still is what was written.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from starshade.engine.journal import Journal
from starshade.engine.seal import digest_of_folder, key_for
from starshade.errors import ConfigError, InputError, OutputError
from starshade.naming import named
from starshade.progress import note
from starshade.ratings.places.atomic import hidden, mark_of, sweep_beside
from starshade.ratings.places.checked import (
    Arrays,
    ids_as_arrays,
    load,
    load_ids,
    write_arrays,
)
from starshade.ratings.places.done import Done, key_of
from starshade.ratings.places.place import Place, output_error
from starshade.ratings.scale import Scale
from starshade.ratings.shards.runs import Run, Runs
from starshade.ratings.shards.sort import Sorted
from starshade.ratings.table import ReadReport
from starshade.scratch import FULL, is_temporary, make_folder, orphans, own, remove, sweep

_SORTED = "sorted.json"
_LONGEST_KEY = 64
_SOURCE = "the source is not a file, so it may have changed"
_PLAIN = ("on_duplicate", "said", "show_values", "item_names", "lineage")


class CannotLocateError(Exception):
    """A row is to be named, and where it stood was known to the reader alone."""


@dataclass(frozen=True)
class Unfinished:
    """The folder of one conversion."""

    folder: Path
    done: Done
    journal: Journal

    @property
    def runs(self) -> Path:
        """Where rows are sorted."""
        return self.folder / "runs"

    @property
    def store(self) -> Path:
        """Where shards are written."""
        return self.folder / "store"

    @property
    def shards(self) -> Journal:
        """Where the shards that are written are noted."""
        return Journal(self.folder / "shards", self.journal.key)

    def keep(self, rows: Sorted, shards: int) -> None:
        """Write down what reading found, and into how many shards it goes."""
        runs = rows.runs
        columns: Arrays = {"item_rank": runs.item_rank, "distinct": runs.distinct}
        write_arrays(self.runs, ids_as_arrays("items", runs.items) | columns)
        if rows.attributes is not None:
            import pyarrow.parquet as pq

            pq.write_table(rows.attributes, self.runs / "attributes.parquet")
        said = {
            **{name: getattr(rows, name) for name in _PLAIN},
            "scale": None if rows.scale is None else astuple(rows.scale),
            "report": asdict(rows.report),
            "runs": [str(run.folder.relative_to(self.runs)) for run in runs.runs],
            "first_day": runs.first_day,
            "n_rows": runs.n_rows,
            "shards": shards,
            "digest": digest_of_folder(self.runs),
        }
        for folder in (self.store, self.folder / "shards"):
            folder.mkdir(mode=0o700)
        self.journal.put(_SORTED, json.dumps(said).encode())

    def found(self) -> tuple[Sorted, int] | None:
        """Return what `keep` wrote down; None: nothing, or nothing whole."""
        if (content := self.journal.get(_SORTED)) is None:
            return None
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(content)
            if said["digest"] != digest_of_folder(self.runs):
                return None
            runs = Runs(
                tuple(Run(self.runs / name) for name in said["runs"]),
                load_ids(self.runs, "items"),
                load(self.runs, "item_rank"),
                load(self.runs, "distinct"),
                said["first_day"],
                said["n_rows"],
            )
            names = said["item_names"]
            rows = Sorted(
                runs=runs,
                scale=None if said["scale"] is None else Scale(*said["scale"]),
                locate=_lost,
                report=_report(said["report"]),
                attributes=self._attributes(),
                **{name: said[name] for name in _PLAIN if name != "item_names"},
                item_names=None if names is None else tuple(names),
            )
            return rows, int(said["shards"])
        return None

    def _attributes(self) -> Any:
        path = self.runs / "attributes.parquet"
        if not path.exists():
            return None
        import pyarrow.parquet as pq

        return pq.read_table(path)

    def clear(self) -> None:
        """Forget all of it."""
        for path in (self.folder / _SORTED, self.runs, self.store, self.folder / "shards"):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _report(fields: dict[str, Any]) -> ReadReport:
    return ReadReport(**fields | {"notes": tuple(fields["notes"])})


def _lost(_row: int) -> str:
    raise CannotLocateError


@contextmanager
def unfinished_beside(
    place: Place, asked: Mapping[str, Any], *, resume: bool
) -> Iterator[Unfinished]:
    """Keep what is finished in a folder beside a place; gone when all is, or an input is wrong.

    `asked`: what the conversion was asked for, its sources by name. `resume`: with what the same
    conversion had finished when it was killed, or stopped by a full disk.
    """
    prefix = hidden("runs", place.name)
    key = _key(asked)
    try:
        if not resume:
            sweep(place.parent, prefix)
        folder, handle = own(place.parent, prefix, make_folder)
    except OSError as error:
        raise output_error(error, place) from error
    journal = Journal(folder, key_for(place.path))
    done = Done(journal if key is not None else Journal(None), key or "")
    try:
        if not resume and _at_work(place.parent, prefix, folder):
            note(f"another run writes {place} too: only the first to finish will keep it")
        why = _SOURCE
        if resume and key is not None:
            why = _take_over(place.parent, prefix, folder, done)
        if resume and not (why and os.path.lexists(place)):
            note(f"starting from the beginning: {why}" if why else "resuming an interrupted run")
        (folder / "key").write_text(done.key, encoding="utf-8")
        yield Unfinished(folder, done, journal)
        remove(folder, handle)
        if os.path.lexists(place.path):
            sweep_beside(place)
    except (InputError, ConfigError):
        remove(folder, handle)
        raise
    except BaseException as error:
        if os.path.lexists(place.path) and done.found() is None:
            if (folder / _SORTED).exists():
                note(f"another run finished {place}: the finished part of this run is removed")
            remove(folder, handle)
            raise
        system = error.__cause__ if isinstance(error, OutputError) else error
        unsaid = system if isinstance(system, OSError) else None
        finished = (folder / _SORTED).exists()
        if not finished or (unsaid is not None and unsaid.errno not in FULL):
            remove(folder, handle)
            if unsaid is not None:
                raise output_error(unsaid, place) from error
            raise
        if unsaid is not None:
            raise OutputError(
                f"{place}: no space left ({unsaid.strerror}); the finished part is kept next to it",
                advice=f"Free some space there, and resume with {named('resume', True)}; "
                "otherwise the next run starts from the beginning.",
            ) from error
        going_on = named("resume", True)
        note(
            f"the finished part is kept next to {place}; to resume, repeat the command "
            f"with {going_on}"
        )
        raise
    finally:
        os.close(handle)


def _at_work(parent: Path, prefix: str, own: Path) -> bool:
    """Tell whether others write to the same place: what killed runs left was swept."""
    with suppress(OSError):
        names = set(os.listdir(parent)) - {own.name}
        return any(is_temporary(name, prefix) for name in names)
    return False


def _key(asked: Mapping[str, Any]) -> str | None:
    """Return what a conversion is known again by; None: its sources may be others next time."""
    marks: dict[str, Any] = {}
    for name, value in asked.items():
        paths = value if isinstance(value, (list, tuple)) else [value]
        if name in ("source", "append", "users", "item_names") and value is not None:
            if not all(isinstance(path, (str, Path)) and Path(path).exists() for path in paths):
                return None
            marks[name] = [mark_of(str(path)) for path in paths]
        else:
            marks[name] = repr(value)
    return key_of(marks)


def _key_in(left: Path) -> str | None:
    """Return what a conversion wrote down that it is known again by; None: nothing."""
    with suppress(FileNotFoundError):
        status = (left / "key").lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST_KEY:
            raise OSError(errno.EINVAL, "is no key")
        return (left / "key").read_text(encoding="utf-8")
    return None


def _take_over(parent: Path, prefix: str, folder: Path, done: Done) -> str:
    """Move what the same conversion had finished into a folder; remove its other remains.

    A conversion that was killed before it wrote its key had finished nothing. Returns why nothing
    was taken over, or nothing.
    """
    taken, why = False, "no interrupted run was found"
    for left, handle in orphans(parent, prefix):
        with suppress(OSError):
            in_place, key = done.is_left_in(left), _key_in(left)
            if not in_place and key is not None and key != done.key:
                why = "the interrupted run had other input or other settings"
                continue
            why = "the interrupted run had not yet read all of its input"
            if not taken and (in_place or (left / _SORTED).exists()):
                for entry in left.iterdir():
                    entry.replace(folder / entry.name)
                taken = True
            remove(left, handle)
    return "" if taken else why
