"""Which files of the Netflix Prize there are, in folders and archives."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from starshade.errors import InputError
from starshade.ratings.readers.recognise.inputs import Input, opener_of, reading

RATING_FILES = ("mv_*.txt", "combined_data_*.txt")
_ARCHIVES = ("training_set.tar", "training_set.tar.*", "training_set.tgz")
_TITLES = ("movie_titles.txt", "movie_titles.csv")
_RECORD = 512  # a tar's unit


@contextmanager
def whole(path: Path) -> Iterator[None]:
    """Turn what goes wrong while `rating_files` are read into a clear error."""
    try:
        with reading(Input(path, str(path))):
            yield
    except tarfile.TarError as error:
        raise InputError(
            f"{path}: the archive is damaged or truncated ({error})",
            advice="Download or copy it again.",
        ) from None


def rating_files(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the files of ratings with what a person calls them, open at their beginning.

    To be used within `whole`, since an archive is read as it goes.
    """
    any_file = False
    for source in _sources(path):
        if _is_ratings(source.name) or not is_tar(source):
            any_file = True
            with open(source, "rb") as file:
                yield str(source), file
            continue
        for member in _members(source):
            any_file = True
            yield member
    if not any_file:
        raise InputError(
            f"{path}: it contains no mv_*.txt and no combined_data_*.txt",
            advice=(
                "The only tar archive supported is the Netflix Prize's: unpack others, "
                "and name the file."
            )
            if path.is_file()
            else "Check the path.",
        )


def is_tar(path: Path) -> bool:
    """Tell by content, and for a damaged one by name, whether a file is a tar."""
    try:
        # tarfile takes zeros for a tar without members
        with path.open("rb") as file:
            if not any(file.read(_RECORD)):
                return False
        return tarfile.is_tarfile(path)
    except (OSError, EOFError, tarfile.TarError):
        return any(fnmatch(path.name, pattern) for pattern in ("*.tar", "*.tar.*", "*.tgz"))


def movie_titles(path: Path) -> dict[str, str]:
    """Read ``movie_titles.txt`` (movie, year, title; Latin-1) beside the ratings, if there."""
    folder = path if path.is_dir() else path.parent
    file = next((folder / name for name in _TITLES if (folder / name).is_file()), None)
    if file is None:
        return {}
    with reading(Input(file, str(file))):
        text = file.read_bytes().decode("latin-1")
    titles = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        movie, _, rest = line.strip().partition(",")
        _, comma, title = rest.partition(",")
        if not comma:
            raise InputError(f"{file}, line {number}: expected movie,year,title")
        titles[movie] = title
    return titles


def _sources(path: Path) -> list[Path]:
    """Return the files to read, in order; archives stay archives."""
    if not path.is_dir():
        return [path]
    names = sorted(entry.name for entry in path.iterdir())
    kinds = [[name for name in names if fnmatch(name, pattern)] for pattern in RATING_FILES]
    if all(kinds):
        raise InputError(
            f"{path}: both {RATING_FILES[0]} and {RATING_FILES[1]}, which contain the same ratings",
            advice="Name the files of one kind, or move the others away.",
        )
    if any(kinds):
        return [path / name for kind in kinds for name in kind]
    if "training_set" in names and (path / "training_set").is_dir():
        return _sources(path / "training_set")
    return [path / name for name in names if any(fnmatch(name, a) for a in _ARCHIVES)]


def _is_ratings(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in RATING_FILES)


def _members(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    with open(path, "rb") as file:
        opener = opener_of(file.read(8))
    with opener(path) if opener else open(path, "rb") as stream:
        yield from _walk(stream, str(path))


def _walk(stream: IO[bytes], shown: str) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the rating files of a tar, and of a tar within it, as they pass by."""
    watched = _Watched(stream)
    with tarfile.open(fileobj=cast(Any, watched), mode="r|") as archive:
        for member in archive:
            name = Path(member.name).name
            content = archive.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            with closing(content):
                if _is_ratings(name):
                    yield f"{shown}:{member.name}", cast(BinaryIO, content)
                elif fnmatch(name, "*.tar"):
                    yield from _walk(content, f"{shown}:{member.name}")
    while watched.read(1 << 20):  # to the end, where a compressed file checks itself
        pass
    # tarfile takes a file that stops between two members for complete; a whole one ends in zeros
    if watched.tail != bytes(_RECORD):
        raise InputError(f"{shown}: the archive is truncated", advice="Download or copy it again.")


class _Watched:
    """A stream that remembers its last bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.tail = b""

    def read(self, size: int) -> bytes:
        block = self._stream.read(size)
        self.tail = (self.tail + block)[-_RECORD:]
        return block
