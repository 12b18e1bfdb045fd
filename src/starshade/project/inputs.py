"""What a run would read: a digest of the files and settings, without reading the ratings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.errors import StarshadeError
from starshade.files.side import SIDE_TABLE, check_side
from starshade.project.check import texts_in
from starshade.project.file import Project
from starshade.ratings.readers.addresses.address import is_address, path_of
from starshade.ratings.readers.recognise.detect import find
from starshade.scratch import scratch_folder


def inputs_of(project: Project) -> str:
    """Return a digest of everything that a run depends on, or "" if only reading can tell.

    Databases and remote files have to be read, and so have the files of the Netflix Prize, whose
    titles lie elsewhere.
    """
    source = str(project.data.get("ratings", ""))
    if any(map(is_address, texts_in(project.data))):
        return ""
    settings: dict[str, Any] = {
        name: dict(getattr(project, name)) for name in ("data", "release", "audit", "publish")
    }
    try:
        with scratch_folder() as scratch:
            found = find(source, scratch)
            if found.kind == "netflix":
                return ""
            named = (each for each in (found.users, found.names) if each is not None)
            read = [(item.shown, _tree(item.path)) for item in (*found.files, *named)]
    except (StarshadeError, OSError):
        return ""  # reading says what is wrong
    contents = [*map(content_of, texts_in(settings))]
    facts = [__version__, project.version, settings, project.statements, read, contents]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def content_of(text: str) -> str:
    """Return a digest of the side file or release that a text names; empty where it names none."""
    try:
        path = Path(path_of(text))
        path = path / "release.json" if path.is_dir() else path
        check_side(path, SIDE_TABLE)
        return _file(path)
    except (OSError, ValueError):
        return ""


def _tree(path: Path) -> list[tuple[str, str]]:
    return [(str(each.relative_to(path)), _file(each)) for each in _files(path)]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    yield from sorted(each for each in path.rglob("*") if each.is_file())


def _file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
