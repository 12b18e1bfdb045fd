"""Pipes, devices, folders, sockets, links and huge files where an option names a file.

``python -m tests.hostile.devices`` tries each use of a file with each of them. Each must end within
seconds and a gibibyte, with exit code 2 and a message, but for the few that are harmless.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from starshade.cli import main as starshade
from tests.hostile.running import Fault, fault_of, table

SECONDS = 5.0
HUGE = 10 * 2**30
_RELEASE, _KEY, _STORE, _SHARDS = "release", "key.json", "store", "shards"


def put(what: str, place: Path) -> None:
    """Make a hostile file."""
    if what == "pipe":
        os.mkfifo(place)
    elif what == "folder":
        place.mkdir()
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(place))  # a path of a socket is short
    elif what == "huge file":
        with place.open("wb") as file:
            file.truncate(HUGE)
    elif what != "overlong name":
        place.symlink_to({"dangling link": "nowhere", "link to itself": place.name}.get(what, what))


DEVICES = ("/dev/zero", "/dev/urandom", "/dev/full", "/dev/null")
LINKS = ("dangling link", "link to itself")
KERNEL = "/proc/kmsg"  # whose readers wait
WHATS = ("pipe", *DEVICES, KERNEL, "folder", "socket", "huge file", *LINKS, "overlong name")


@dataclass(frozen=True)
class Use:
    """A use of a file: a command in which FILE stands for it.

    Attributes
    ----------
    command : str
        Words; FILE is the hostile one.
    project : str
        A project file to write, in which FILE stands for it as well.
    inside : tuple of str
        A folder that is copied, and the file in it that is replaced.
    harmless : frozenset of str
        What may end with exit code 0 or 1 here.
    whole : bool
        Of any size: it is read, or hashed, in whole before it is looked into, so that a huge file
        is not tried.
    """

    command: str
    project: str = ""
    inside: tuple[str, str] = ("", "")
    harmless: frozenset[str] = frozenset()
    whole: bool = False

    def __str__(self) -> str:
        at = f" [{'/'.join(self.inside)}]" if self.inside[0] else ""
        return self.command + at + (f" [{self.project.splitlines()[-1]}]" if self.project else "")


_WRITES = frozenset({"dangling link"})
_PROJECT = '[data]\nratings = "r.csv"\n[release]\nk = 2\nmethod = "mondrian"\n'
_EMPTY = frozenset({"folder"})


def uses() -> tuple[Use, ...]:
    """Return every use of a file that a person names."""
    return (*_of_options(), *_of_projects(), *_of_folders())


def _of_options() -> Iterator[Use]:
    verbs = ("data describe", "data convert --out o", "data split --out o --probe p", "init --yes")
    make = "anonymize --k 2 --method k-exchange --out o"
    for name in (*verbs, "check --k 2", make, "attack", "compare --k 2"):
        yield Use(f"{name} FILE")
        yield Use(f"{name} r.csv --users FILE")
        yield Use(f"{name} r.csv --item-names FILE")
        if name != "init --yes":
            yield Use(f"{name} r.csv --items FILE")
    log = Use("data describe r.csv --log-file FILE", harmless=frozenset({"huge file", *_WRITES}))
    yield from (log, Use("data describe file://FILE"), Use("data describe sqlite:///FILE"))
    yield Use("data convert r.csv --append FILE --out o")
    make = "anonymize r.csv --k 2 --items top:2 --out o"
    yield Use(f"{make} --method k-likeness --hierarchy FILE")
    people = "--users people.csv --attributes generalized --quasi town --rare-values blank"
    yield Use(f"{make} --method mondrian {people} --attribute town=FILE")
    yield from (Use(f"{make} --private FILE"), Use(make.replace("--out o", "--out FILE")))
    yield Use(f"{make} --after FILE --after-private {_KEY} --private p")
    yield Use(f"{make} --after {_RELEASE} --after-private FILE --private p")
    attack = f"attack {_RELEASE} --original r.csv"
    yield from (Use(f"{attack} --private FILE"), Use("attack r.csv --risk-list FILE"))
    yield from (Use("attack r.csv --aux FILE"), Use("attack r.csv --aux r.csv --aux-items FILE"))
    composed = f"{attack} --attack composition --private {_KEY}"
    yield Use(f"{composed} --earlier {_RELEASE} --earlier-private FILE")
    yield Use(f"{composed} --earlier FILE")
    for verb in ("measure", "audit", "report --out o.html"):
        of = f"{verb} r.csv {_RELEASE} --private {_KEY}"
        yield from (Use(f"{verb} r.csv FILE"), Use(f"{verb} FILE {_RELEASE}"))
        yield Use(f"{verb} r.csv {_RELEASE} --private FILE")
        yield Use(f"{verb} r.csv {_RELEASE} --users FILE")
        yield Use(f"{verb} r.csv {_RELEASE} --item-names FILE")
        if verb != "audit":
            yield Use(f"{of} --probe FILE")
        if verb != "measure":
            yield Use(f"{of} --earlier {_RELEASE} --earlier-private FILE")
            yield Use(f"{of} --earlier FILE")
    yield Use(f"audit r.csv {_RELEASE} --private {_KEY} --report FILE")
    for options in ("--out FILE", "--out o.html --pdf FILE", "--out o.html --risk-list FILE"):
        yield Use(f"report r.csv {_RELEASE} --private {_KEY} {options}")
    yield from (Use("query FILE SELECT"), Use(f"erase FILE {_KEY}"), Use("erase ids.txt FILE"))
    yield Use(f"erase ids.txt {_KEY} --dry-run --release FILE")
    yield from (Use("reproduce compare FILE"), Use("reproduce kl --data FILE --runs 1 --out o"))


def _of_projects() -> Iterator[Use]:
    for command in ("check-config", "run --dry-run", "data describe r.csv"):
        yield Use(command, inside=(".", "starshade.toml"))
    data = _PROJECT.replace("[release]", "{}\n[release]")
    hierarchy = 'attributes = "generalized"\nattribute-hierarchies = {{ town = "FILE" }}'
    hierarchies = data.format('users = "people.csv"') + hierarchy.format()
    projects = {
        "users": data.format('users = "FILE"'),
        "item-names": data.format('item-names = "FILE"'),
        "items": f'{_PROJECT}items = "FILE"\n',
        "hierarchy": f'{_PROJECT.replace("mondrian", "k-likeness")}hierarchy = "FILE"\n',
        "attribute-hierarchies": hierarchies,
        "earlier": f'{_PROJECT}[publish]\nearlier = ["FILE"]\nearlier-private = ["{_KEY}"]\n',
        "earlier-private": f'{_PROJECT}[publish]\nearlier = ["{_RELEASE}"]\n'
        'earlier-private = ["FILE"]\n',
    }
    yield Use("run --dry-run", _PROJECT.replace("r.csv", "FILE"), whole=True)
    for project in projects.values():
        yield Use("run --dry-run", project)
    yield Use("check-config", projects["items"])
    yield Use("check-config", projects["attribute-hierarchies"])
    yield Use("run --dry-run", f'{_PROJECT}[publish]\nto = "FILE"\n', harmless=_EMPTY)
    yield Use("run --dry-run", _PROJECT, (".starshade", "state.json"))


def _of_folders() -> Iterator[Use]:
    for name in ("store.json", "by_user.indptr.npy", "by_item.codes.npy", "items.text.npy"):
        yield Use(f"data describe copy/{_STORE}", inside=(_STORE, name))
    for name in ("shards.json", "levels.npy", "shard-00000/store.json", "shard-00000/levels.npy"):
        yield Use(f"data convert copy/{_SHARDS} --out o", inside=(_SHARDS, name))
    yield Use(f"attack copy/{_SHARDS}", inside=(_SHARDS, "shard-00000/by_user.columns.npy"))
    for name in ("release.json", "records.parquet", "cells.parquet", "items.parquet", "README.md"):
        inside, whole = (_RELEASE, name), name != "release.json"
        yield Use(f"query copy/{_RELEASE} SELECT", inside=inside, whole=whole)
        audit = f"audit r.csv copy/{_RELEASE} --private {_KEY}"
        yield Use(audit, inside=inside, whole=whole)
    yield Use("reproduce compare copy/site", inside=("site", "claims.csv"))
    parts = ("site.parts", "request.json")
    yield Use("reproduce kl --data r.csv --runs 5 --out copy/site --resume", inside=parts)


def furnish(folder: Path, *, release: bool = True) -> None:
    """Write what the commands need beside the hostile file; `release`: and a release of it."""
    rows = [f"{user},{item},{1 + user * item % 5}" for user in range(24) for item in range(4)]
    (folder / "r.csv").write_text("\n".join(["user,item,rating", *rows]) + "\n")
    people = [f"{user},{'AB'[user % 2]}" for user in range(24)]
    (folder / "people.csv").write_text("\n".join(["user,town", *people]) + "\n")
    (folder / "ids.txt").write_text("1\n")
    (folder / "site").mkdir()
    (folder / "site.parts").mkdir()
    store, shards = f"data convert r.csv --out {_STORE}", f"data convert r.csv --out {_SHARDS}"
    make = f"anonymize r.csv --k 2 --items top:2 --seed 1 --out {_RELEASE} --private {_KEY}"
    for words in (store, f"{shards} --shards 2", *[make] * release):
        done = CliRunner().invoke(starshade, words.split())
        assert done.exit_code == 0, done.stderr


def try_use(use: Use, what: str, furnished: Path) -> str:
    """Run a command with a hostile file, in a folder of its own; return what is wrong."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for entry in furnished.iterdir():
            os.symlink(entry, entry.name)
        place = Path("hostile" * 1000 if what == "overlong name" else "hostile")
        folder, inside = use.inside
        if folder:
            top = Path(folder if folder.startswith(".") else f"copy/{folder}")
            if (furnished / folder).is_dir() and not folder.startswith("."):
                shutil.copytree(furnished / folder, top)
            place = top / inside
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
        if use.project:
            Path("starshade.toml").write_text(use.project.replace("FILE", str(place)))
        put(what, place)
        words = [word.replace("FILE", str(place)) for word in use.command.split()]
        words = [_SQL if word == "SELECT" else word for word in words]
        # a link may be followed, and of an overlong address only its beginning is shown
        names = (place.parts[0][:60], what, "nowhere", "sqlite:/", "file:/")
        codes = (0, 1, 2) if what in use.harmless else (2,)
        return fault_of(words, seconds=SECONDS, codes=codes, names=names)


_SQL = "SELECT COUNT(*) FROM release"


def try_uses(
    chosen: list[tuple[Use, str]], *, release: bool = True
) -> tuple[Counter[str], list[Fault]]:
    """Try uses of hostile files; return the calls and the faults. `release`: as of `furnish`."""
    calls, faults = Counter[str](), []
    with tempfile.TemporaryDirectory() as name:
        furnished = Path(name)
        with contextlib.chdir(furnished):
            furnish(furnished, release=release)
        for use, what in chosen:
            calls[what] += 1
            if fault := try_use(use, what, furnished):
                faults.append(Fault(what, str(use), fault))
    return calls, faults


def every() -> list[tuple[Use, str]]:
    """Return each use with each hostile file."""
    return [
        (use, what)
        for use in uses()
        for what in WHATS
        if not (use.whole and what == "huge file")
        and not (use.inside[0] and what == "overlong name")
    ]


def main() -> int:
    """Try all of them; print the table."""
    calls, faults = try_uses(every())
    print(f"{len(uses())} uses of a file")
    print(table(calls, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
