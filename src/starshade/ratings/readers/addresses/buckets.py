"""Object stores and other file systems, by those of PyArrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starshade.errors import ConfigError, InputError, StarshadeError
from starshade.ratings.readers.addresses.address import (
    DATABASES,
    FILE_SYSTEMS,
    hidden,
    refuse_unclear,
    scheme_of,
    without_secrets,
)

if TYPE_CHECKING:
    from pyarrow import fs

_BLOCK = 1 << 20
_MAGIC = "*"  # a question mark begins what an address says besides
_LITERAL = ("s3", "gs", "gcs")  # whose keys stand in an address as they are


@dataclass(frozen=True)
class Remote:
    """A file of a file system.

    `shown`: its address without secrets. `name`: its place below what was asked for.
    """

    bucket: Bucket
    key: str
    name: str
    state: tuple[int, Any]

    @property
    def shown(self) -> str:
        """Its address, without secrets."""
        return self.bucket.show(self.key)

    def open(self) -> Any:
        """Open it to be read at any place."""
        with self.bucket.trying(self.shown):
            return self.bucket.system.open_input_file(self.key)

    def blocks(self) -> Iterator[bytes]:
        """Yield its content, block by block; refuse it if it changed meanwhile."""
        read = 0
        with (
            self.bucket.trying(self.shown),
            self.bucket.system.open_input_stream(self.key, compression=None) as source,
        ):
            while block := source.read(_BLOCK):
                read += len(block)
                yield block
        self.refuse_changed()
        if read != self.state[0]:
            raise changed(self.shown)

    def refuse_changed(self) -> None:
        """Refuse what is no longer as it was when it was found."""
        with self.bucket.trying(self.shown):
            now = self.bucket.system.get_file_info(self.key)
        if _state(now) != self.state:
            raise changed(self.shown)


def changed(shown: str) -> InputError:
    """Return what is said of data that changed while they were read."""
    return InputError(
        f"{shown}: changed while it was read",
        advice="Wait until nothing writes to it, then read it again.",
    )


class Bucket:
    """The file system of an address, and the place in it that is meant."""

    def __init__(self, address: str) -> None:
        scheme = scheme_of(address)
        if scheme not in FILE_SYSTEMS:
            raise ConfigError(
                f"{hidden(address)}: addresses that begin with {scheme}:// are not supported",
                advice="Supported: "
                f"{', '.join(f'{s}://' for s in (*FILE_SYSTEMS, *DATABASES))}; save "
                "other data to a file first.",
            )
        refuse_unclear(address)
        self.address = address
        self.shown = hidden(address)
        start, _, rest = address.partition("?")[0].partition("://")
        self._host, _, key = rest.partition("/")
        self._literal = start.lower() in _LITERAL
        self._key = key.strip("/") if self._literal else ""

    @cached_property
    def _opened(self) -> tuple[fs.FileSystem, str]:
        from pyarrow import fs

        address = self.address
        if self._literal:
            query = address.partition("?")
            address = f"{scheme_of(address)}://{self._host}{query[1]}{query[2]}"
        try:
            with self.trying(self.shown):
                system, root = fs.FileSystem.from_uri(address)
        except (ImportError, NotImplementedError):
            raise ConfigError(
                f"{self.shown}: this pyarrow does not support {scheme_of(address)}://",
                advice="Install one that does: pip install pyarrow.",
            ) from None
        return system, root

    @property
    def system(self) -> fs.FileSystem:
        """The file system."""
        return self._opened[0]

    @property
    def place(self) -> str:
        """What is asked for, as the file system calls it."""
        return f"{self._opened[1]}/{self._key}".rstrip("/")

    def show(self, key: str) -> str:
        """Return the address of a file without secrets."""
        start, _, rest = self.shown.partition("?")[0].partition("://")
        host = rest.split("/")[0]
        user, at, _ = host.rpartition("@")
        return (
            f"{start}://{user}{at}{key}" if self._literal else f"{start}://{host}/{key.lstrip('/')}"
        )

    def files(self) -> tuple[list[Remote], bool]:
        """Return the files that are meant, sorted, and whether they lie below a folder."""
        from pyarrow import fs

        place = self.place
        if _MAGIC in place:
            root = place.partition(_MAGIC)[0].rpartition("/")[0]
            found = [
                each
                for each in self._below(root)
                if _matches(each.key.split("/"), place.split("/"))
            ]
            if not found:
                raise InputError(f"{self.shown}: no file matches", advice="Check the pattern.")
            return found, False
        with self.trying(self.shown):
            info = self.system.get_file_info(place)
        if info.type == fs.FileType.File:
            return [Remote(self, place, info.base_name, _state(info))], False
        files = self._below(place) if info.type == fs.FileType.Directory else []
        if not files:
            raise InputError(f"{self.shown}: no such file or folder", advice="Check the address.")
        return files, True

    def beside(self, file: Remote, name: str) -> Remote | None:
        """Return a file of this name beside another, if there is one."""
        from pyarrow import fs

        key = f"{file.key.rpartition('/')[0]}/{name}"
        with self.trying(self.shown):
            info = self.system.get_file_info(key)
        return Remote(self, key, name, _state(info)) if info.type == fs.FileType.File else None

    def _below(self, root: str) -> list[Remote]:
        from pyarrow import fs

        selector = fs.FileSelector(root, allow_not_found=True, recursive=True)
        with self.trying(self.shown):
            infos = self.system.get_file_info(selector)
        start = len(root.rstrip("/")) + 1
        found = [
            Remote(self, info.path, info.path[start:], _state(info))
            for info in infos
            if info.type == fs.FileType.File
        ]
        return sorted(found, key=lambda file: file.name)

    @contextmanager
    def trying(self, shown: str) -> Iterator[None]:
        """Turn what a file system says into a clear error without secrets."""
        import pyarrow as pa

        try:
            yield
        except (StarshadeError, ImportError, NotImplementedError):
            raise
        except (OSError, pa.ArrowException, ValueError) as error:
            reason = without_secrets(_reason(str(error)), self.address)
            raise InputError(
                f"{shown}: cannot be read: {reason}",
                advice="Check the address, your permission to read it, and the connection.",
            ) from None


_AWS = re.compile(
    r"AWS Error ([A-Z_]+)(?: \(HTTP status \d+\))? during (\w+) operation(: [^;\n]*)?"
)


def _reason(text: str) -> str:
    """Take the sentence out of what a library says."""
    found = _AWS.search(text)
    if found:
        return f"{found[1].lower().replace('_', ' ')} ({found[2]}){found[3] or ''}"
    return text.split("\n")[0].split("; ")[0]


def _state(info: Any) -> tuple[int, Any]:
    return info.size, info.mtime_ns


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether a path matches, part by part; ** is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[i:], pattern[1:]) for i in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
