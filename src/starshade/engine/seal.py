"""Know again what this user's runs wrote where others may write too.

What a killed run had finished lies in or beside a store, and a store may come from anybody, with
files that look finished. So every such file begins with a keyed digest (HMAC-SHA256), whose key
lies elsewhere, in a folder for this user alone. What does not fit its digest is recomputed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pickle
import secrets
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from starshade.files.side import open_regular

_FOLDER, _FILE = "starshade", "resume.key"
_KEY = 32  # bytes
SEAL = hashlib.sha256().digest_size  # bytes before what is sealed


def state_folder() -> Path | None:
    """Return the folder of what is kept for this user alone; None: there is no place for it.

    ``$XDG_STATE_HOME/starshade``, or where that is no whole path ``~/.local/state/starshade``.
    """
    with suppress(OSError, RuntimeError, ValueError):  # no home; or it cannot be written
        state = os.environ.get("XDG_STATE_HOME", "")
        home = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()
        folder = home / _FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return None
        folder.chmod(0o700)
        return folder
    return None


def user_key() -> bytes | None:
    """Return this user's key, made at the first use; None: there is no place to keep it.

    One that others could have read or written is replaced.
    """
    with suppress(OSError):
        if (folder := state_folder()) is None:
            return None
        if (key := _own_key(folder / _FILE)) is None:
            part = folder / f"{_FILE}.{secrets.token_hex(8)}"
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                out.write(secrets.token_bytes(_KEY))
            with suppress(OSError):
                if os.path.lexists(folder / _FILE):  # not to be trusted
                    os.unlink(folder / _FILE)
                os.link(part, folder / _FILE)  # the first of several at once wins
            os.unlink(part)
            key = _own_key(folder / _FILE)
        return key
    return None


def key_for(place: Path) -> bytes:
    """Return the key for what is written at a place, and for nothing elsewhere.

    Where this user's cannot be kept it is one of this process: nobody knows its work again.
    """
    key = user_key() or secrets.token_bytes(_KEY)
    return hmac.digest(key, os.fsencode(os.path.realpath(place)), "sha256")


def seal(content: bytes | memoryview, name: str, key: bytes) -> bytes:
    """Return the digest that goes before content; `name`: what it is, not to stand for another.

    Examples
    --------
    >>> key = b"k" * 32
    >>> seal(b"done", "shard 3", key) == seal(b"done", "shard 4", key)
    False
    """
    digest = _digest(name, key)
    digest.update(content)
    return digest.digest()


def read_sealed(path: Path, key: bytes) -> bytes | None:
    """Return what a file holds that was sealed under its name; None: no such file, or another."""
    with suppress(OSError), _opened(path) as file:
        if _fits(file, path.name, key):  # first, whatever its size
            file.seek(SEAL)
            return file.read()
    return None


def is_sealed(path: Path, key: bytes) -> bool:
    """Tell whether a file was sealed under its name, whatever its size."""
    with suppress(OSError), _opened(path) as file:
        return _fits(file, path.name, key)
    return False


def digest_of_folder(folder: Path) -> str:
    """Return the SHA-256 over all files of a folder, with their names.

    Raises
    ------
    OSError
        It is not there, or holds something other than files and folders.
    """
    digest = hashlib.sha256()
    for path in sorted(_entries(folder)):
        name = os.fsencode(path.relative_to(folder))
        digest.update(len(name).to_bytes(8, "little") + name)
        with _opened(path) as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def pickled(part: Any) -> tuple[bytes, str]:
    """Pickle what another process is to read; returns also its SHA-256, for `unpickled`."""
    content = pickle.dumps(part, protocol=5)
    return content, hashlib.sha256(content).hexdigest()


def unpickled(file: Path, digest: str) -> Any:
    """Unpickle a file; ValueError where it is not, byte by byte, what was pickled.

    The one place where anything is unpickled. `digest`: as it came by another way than the file,
    which may lie where others can write.
    """
    with _opened(file) as found:
        content = found.read()
    if not hmac.compare_digest(hashlib.sha256(content).hexdigest(), digest):
        raise ValueError(f"{file}: was changed by another process")
    return pickle.loads(content)


def _entries(folder: Path) -> list[Path]:
    found: list[Path] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            inside = entry.is_dir(follow_symlinks=False)
            found += _entries(Path(entry.path)) if inside else [Path(entry.path)]
    return found


def _fits(file: BufferedReader, name: str, key: bytes) -> bool:
    sealed = file.read(SEAL)
    found = hashlib.file_digest(file, lambda: _digest(name, key))
    return hmac.compare_digest(sealed, found.digest())


def _digest(name: str, key: bytes) -> hmac.HMAC:
    said = name.encode()
    return hmac.new(key, len(said).to_bytes(8, "little") + said, "sha256")


def _opened(path: Path) -> BufferedReader:
    """Open a file itself, no link to one; OSError where it is something else."""
    return os.fdopen(open_regular(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")


def _own_key(file: Path) -> bytes | None:
    with suppress(OSError), _opened(file) as found:
        status = os.fstat(found.fileno())
        key = found.read(_KEY + 1)
        if status.st_uid == os.geteuid() and not status.st_mode & 0o077 and len(key) == _KEY:
            return key
    return None
