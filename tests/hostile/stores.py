"""Stores that come from strangers, damaged and forged.

``python -m tests.hostile.stores [N]`` changes a store in one place, as damage would (checksums do
not fit) or as a forger would (they do), opens it and attacks it. Each call must end within seconds
and a gibibyte, with a message: exit code 2, or 0 where what was changed is of no account.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from starshade.ratings.read import read_ratings
from starshade.ratings.shards.write import write_shards
from starshade.ratings.store import write_store
from tests.hostile.devices import put
from tests.hostile.running import Fault, fault_of, table

SECONDS = 10.0
NESTED = 10**6
SPECIAL = ("pipe", "/dev/zero", "/dev/urandom", "folder", "socket", "huge file", "dangling link")
VALUES: tuple[Any, ...] = (None, -1, 2**70, 0.5, "x", "", [], {}, [1], True, "../..", "\0", 1e308)


class Forgery(NamedTuple):
    """One change of a store: what it is called, and what makes it."""

    what: str
    change: Callable[[Path, random.Random], object]


def make(folder: Path) -> dict[str, Path]:
    """Write one store, and one in shards, of dated ratings by people with attributes."""
    draw = random.Random(1)
    lines = ["user,item,rating,date"]
    for user in range(40):
        for item in draw.sample(range(12), 6):
            who = f"anna{user}" if user % 3 else str(user)
            lines.append(f"{who},film {item},{draw.randint(1, 5)},2020-01-{draw.randint(1, 28):02}")
    (folder / "r.csv").write_text("\n".join(lines))
    people = [f"{f'anna{user}' if user % 3 else user},{20 + user % 9}" for user in range(40)]
    (folder / "users.csv").write_text("\n".join(["user,age", *people]))
    ratings = read_ratings(folder / "r.csv", users=folder / "users.csv")
    write_store(ratings, folder / "one")
    write_shards(ratings, folder / "several", 2)
    return {"one": folder / "one", "several": folder / "several"}


def files_of(store: Path) -> list[Path]:
    """List the files of a store, by their names within it."""
    return sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file())


def damaged(name: Path) -> Iterator[Forgery]:
    """Change a file as damage would."""

    def flip(path: Path, draw: random.Random) -> None:
        content = bytearray(path.read_bytes())
        if content:
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(content)

    def cut(path: Path, draw: random.Random) -> None:
        path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])

    yield Forgery("a bit", lambda store, draw: flip(store / name, draw))
    yield Forgery("a bit", lambda store, draw: flip(store / name, draw))
    yield Forgery("cut short", lambda store, draw: cut(store / name, draw))
    yield Forgery("empty", lambda store, _: (store / name).write_bytes(b""))
    yield Forgery("missing", lambda store, _: (store / name).unlink())
    for special in SPECIAL:
        yield Forgery("no file", lambda store, _, special=special: replaced(store / name, special))


def replaced(path: Path, special: str) -> None:
    """Put something in the place of a file that is none."""
    path.unlink()
    put(special, path)


def seal(store: Path) -> None:
    """Let every checksum fit what is there."""
    for manifest in (*store.glob("*/store.json"), store / "store.json", store / "shards.json"):
        if manifest.exists():
            facts = json.loads(manifest.read_bytes())
            for name in facts.get("files", {}):
                content = (manifest.parent / name).read_bytes()
                facts["files"][name] = {"bytes": len(content), "crc32": zlib.crc32(content)}
            for entry in facts.get("shards", []):
                text = (store / entry["folder"] / "store.json").read_bytes()
                entry["checksum"] = hashlib.sha256(text).hexdigest()
            write_manifest(manifest, facts)


def write_manifest(place: Path, facts: dict[str, Any]) -> None:
    """Write a manifest with the checksum that it should have."""
    content = {key: value for key, value in facts.items() if key != "crc32"}
    checksum = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    place.write_text(json.dumps({**content, "crc32": checksum}))


def forged_columns(name: Path) -> Iterator[Forgery]:
    """Change a column as a forger would."""

    def forge(change: Callable[[Any], Any]) -> Callable[[Path, random.Random], object]:
        def forged(store: Path, _: random.Random) -> None:
            content = io.BytesIO()
            np.save(content, change(np.load(store / name)))
            (store / name).write_bytes(content.getvalue())
            seal(store)

        return forged

    def one(value: int) -> Callable[[Any], Any]:
        def change(column: Any) -> Any:
            column = column.astype(np.int64) if column.dtype.kind in "iu" else column.copy()
            if len(column):
                column[len(column) // 2] = value
            return column

        return change

    def one_kept(value: int) -> Callable[[Any], Any]:
        return lambda column: one(value)(column).astype(column.dtype)

    changes: list[tuple[str, Callable[[Any], Any]]] = [
        *((f"{value} in a column", one_kept(value)) for value in (-1, 250, 2**15 - 1, 2**31 - 1)),
        ("another width", one(1)),
        ("reversed", lambda column: column[::-1]),
        ("one less", lambda column: column[:-1]),
        ("one more", lambda column: np.append(column, column[-1:])),
        ("nothing", lambda column: column[:0]),
        ("two axes", lambda column: column.reshape(-1, 1)),
        ("no axis", lambda column: column.sum()),
        ("floats", lambda column: column.astype(float) * np.nan),
        ("big-endian", lambda column: column.astype(column.dtype.newbyteorder(">"))),
        ("texts", lambda column: column.astype("U8")),
        ("all the same", lambda column: np.full_like(column, column[0] if len(column) else 0)),
    ]
    for what, change in changes:
        yield Forgery(what, forge(change))


def forged_facts(name: Path, facts: Any, path: tuple[Any, ...] = ()) -> Iterator[Forgery]:
    """Change every value of a manifest as a forger would."""
    if path:
        for value in VALUES:
            yield Forgery("a value of a manifest", _with(name, path, value))
    inside = (
        facts.items()
        if isinstance(facts, dict)
        else enumerate(facts if isinstance(facts, list) else ())
    )
    for key, value in inside:
        yield from forged_facts(name, value, (*path, key))


def _with(name: Path, path: tuple[Any, ...], value: Any) -> Callable[[Path, random.Random], object]:
    def forged(store: Path, _: random.Random) -> None:
        facts = json.loads((store / name).read_bytes())
        place = facts
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        write_manifest(store / name, facts)
        if name.parent != Path():  # that of a shard, whose checksum stands in that of all
            whole = json.loads((store / "shards.json").read_bytes())
            for entry in whole["shards"]:
                if entry["folder"] == name.parent.name:
                    text = (store / name).read_bytes()
                    entry["checksum"] = hashlib.sha256(text).hexdigest()
            write_manifest(store / "shards.json", whole)

    return forged


def odd_manifests(name: Path) -> Iterator[Forgery]:
    """Write what is hardly a manifest."""
    texts = {
        "nested": b"[" * NESTED,
        "nested objects": b'{"a":' * NESTED,
        "a long number": b'{"format":' + b"9" * 10**6 + b"}",
        "not UTF-8": b"\xff\xfe{}",
        "a list": b"[]",
        "a key twice": b'{"kind": 1, "kind": 2}',
        "NaN": b'{"kind": NaN}',
    }
    for what, text in texts.items():
        yield Forgery(what, lambda store, _, text=text: (store / name).write_bytes(text))


def planted(name: str) -> Iterator[Forgery]:
    """Leave what looks like a killed run's in and beside a store."""

    def journal(store: Path, draw: random.Random) -> None:
        place = store / f".journal-{draw.randbytes(8).hex()}"
        place.mkdir()
        for end in (".npz", ".pickle", ".done", ".part"):
            (place / f"{draw.randbytes(32).hex()}{end}").write_bytes(draw.randbytes(200))
        os.mkfifo(place / f"{draw.randbytes(32).hex()}.npz")
        (place / "a.npz").symlink_to("/dev/zero")

    def runs(store: Path, draw: random.Random) -> None:
        place = store.parent / f".runs-{store.name}-{draw.randbytes(8).hex()}"
        place.mkdir()
        (place / "sorted.json").write_bytes(b"[" * NESTED)
        (place / "key").symlink_to("/dev/zero")

    def moves(store: Path, draw: random.Random) -> None:
        place = store.parent / f".moves-{store.name}-{draw.randbytes(8).hex()}"
        said = {"moves": [["/a", "/b", ""]], "journals": [str(store / name)]}
        place.write_text(json.dumps(said))

    yield Forgery("planted journal", journal)
    yield Forgery("planted rows", runs)
    yield Forgery("planted moves", moves)


def every(store: Path) -> list[Forgery]:
    """List all changes of a store."""
    found: list[Forgery] = []
    for name in files_of(store):
        found += damaged(name)
        if name.suffix == ".npy":
            found += forged_columns(name)
        elif name.suffix == ".json":
            found += forged_facts(name, json.loads((store / name).read_bytes()))
            found += odd_manifests(name)
    return found + [each for each in planted(files_of(store)[-1].name) for _ in range(3)]


def try_stores(n: int | None, seed: int = 1) -> tuple[Counter[str], list[Fault]]:
    """Try some changes, or all."""
    calls, faults, draw = Counter[str](), list[Fault](), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        stores = make(place)
        changes = [(store, each) for store in stores.values() for each in every(store)]
        if n is not None:
            changes = draw.sample(changes, n)
        for number, (store, each) in enumerate(changes):
            own = place / str(number) / "store"
            shutil.copytree(store, own)
            each.change(own, draw)
            for command in _commands(own):
                calls[each.what] += 1
                if fault := fault_of(command, seconds=SECONDS, codes=(0, 2)):
                    faults.append(Fault(each.what, f"{number} {command[0]}", fault))
            shutil.rmtree(own.parent, ignore_errors=True)
    return calls, faults


def _commands(store: Path) -> Iterator[list[str]]:
    yield ["data", "describe", str(store), "--json"]
    attack = ["attack", str(store), "--known", "3", "--targets", "5", "--seed", "1", "--json"]
    resumed = (store / "shards.json").exists()
    yield [*attack, "--resume"] if resumed else attack


if __name__ == "__main__":
    found = try_stores(int(sys.argv[1]) if sys.argv[1:] else None)
    print(table(*found))
    sys.exit(bool(found[1]))
