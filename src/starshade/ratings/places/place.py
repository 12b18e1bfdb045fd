"""A place that is written to: resolved once, as the system does, and held from then on."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from starshade.errors import OutputError
from starshade.scratch import FULL

#: what a caller may name a place by
Where = str | os.PathLike[str]


@dataclass(frozen=True)
class Place(os.PathLike[str]):
    """A file or folder to be, in a folder that is there.

    The folder's links are followed when the place is made (`Place.of`), and ``..`` after a link
    goes up from where the link leads. What is checked, written, read back and swept is `path`:
    a link that is turned to elsewhere meanwhile changes nothing. (A folder that is renamed is
    lost: it is held by its name.)

    `parent`: the folder, without links. `given`: how it was named, for messages; ``str()`` gives
    this.
    """

    parent: Path
    name: str
    given: str = field(compare=False)

    @classmethod
    def of(cls, where: Where) -> Place:
        """Resolve a place, unless it is resolved."""
        if isinstance(where, Place):
            return where
        if not os.fspath(where):
            raise OutputError("'': an empty name", advice="Name a file or a folder.")
        path = Path(where)
        try:
            if path.name in ("", ".."):  # nothing to put a sibling beside
                path = _real(path)
            return cls(_real(path.parent), path.name, os.fspath(where))
        except FileNotFoundError:
            refuse_in_release(Path(os.path.realpath(path.parent)), where)
            raise OutputError(
                f"{where}: the folder {path.parent} does not exist", advice="Create it first."
            ) from None
        except UnicodeEncodeError as error:
            raise OutputError(
                f"{where}: cannot be written in this system's encoding",
                advice="Set a UTF-8 locale (LC_ALL=C.UTF-8), or choose a plain name.",
            ) from error
        except OSError as error:
            raise output_error(error, path) from error

    @property
    def path(self) -> Path:
        """Where it is; ``os.fspath`` gives this."""
        return self.parent / self.name

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return self.given

    def beside(self, name: str) -> Place:
        """Return another place in the same folder."""
        return Place(self.parent, name, str(Path(self.given).parent / name))


def resolve_folder(where: Where) -> Path:
    """Resolve a folder that may have to be made, with folders above it."""
    path, missing = Path(where), [""]
    try:
        while not path.exists():
            missing.insert(0, path.name)
            path = path.parent
        if ".." in missing:
            raise OutputError(f"{where}: the folder {path / missing[0]} does not exist")
        return _real(path).joinpath(*missing)
    except OSError as error:
        raise output_error(error, path) from error


def output_error(error: OSError, path: Path | Place, needs: int | None = None) -> OutputError:
    """Say in words why `path` cannot be written."""
    size = "" if needs is None else f", {_megabytes(needs)} needed"
    if error.errno in FULL:
        with suppress(OSError):
            size += f", {_megabytes(shutil.disk_usage(path.parent).free)} free"
        return OutputError(
            f"{path}: no space left{size} ({os.strerror(error.errno)}); nothing was kept",
            advice="Free some space or choose a place on another disk.",
        )
    if error.errno == errno.EFBIG:
        return OutputError(
            f"{path}: exceeds the largest file size allowed here{size}; nothing was kept",
            advice="Raise the limit of the shell (ulimit -f) or choose another file system.",
        )
    if isinstance(error, PermissionError):
        return OutputError(
            f"{path}: no permission to write there",
            advice="Choose a place that you may write to.",
        )
    reason = os.strerror(error.errno) if error.errno else str(error)
    return OutputError(f"{path}: cannot be written: {reason}", advice="Choose another place.")


def holds_release(folder: Path) -> bool:
    """Tell whether a folder holds ``release.json`` and cells or profiles."""
    # os.path: a folder that may not be looked into is none
    return os.path.isfile(folder / "release.json") and any(
        os.path.isfile(folder / f"{name}.parquet") for name in ("cells", "profiles")
    )


def refuse_in_release(folder: Path, given: object) -> None:
    """Refuse what would lie inside a release: one file more and it is no longer whole.

    `folder`: without links: that of a `Place`. `given`: what a message says would lie there.
    """
    for above in (folder, *folder.parents):
        if holds_release(above):
            raise OutputError(
                f"{given}: is inside the release {above}",
                advice="Choose a place outside: a release must contain only the files that its "
                "manifest lists.",
            )


def _real(folder: Path) -> Path:
    """Follow every link; whatever the system cannot enter is an error."""
    if not stat.S_ISDIR(folder.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    return Path(os.path.realpath(folder, strict=True))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else f"{size:,} bytes"
