"""Damage releases and key files: bytes, places, sizes, and JSON of every wrong kind.

Each case is read as commands read it. It must be read, or refused by an error for a person: never
a traceback, a hang or a gigabyte.
"""

from __future__ import annotations

import json
import os
import random
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from starshade.audit.original.table import OneTable
from starshade.audit.shadows import method_of
from starshade.errors import UserError
from starshade.release.folder.read import read_release, read_releases
from starshade.release.folder.receipt import read_receipt
from starshade.release.folder.verification import verify
from starshade.release.readable.describe import describe_release
from tests.hostile.release_samples import Sample
from tests.hostile.release_trial import Case
from tests.unit.release.damage import mend, signed

_SPARSE = 10 * 10**9
_DEEP = 10**6

#: JSON values that are of no use anywhere
JUNK: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 10**400, 1e308, 0.5, "", "x", "\ud800", "../x", "x" * 10**5),
    *([], {}, [[]], {"": []}, [None], [{}], ["x", "x"], [-1], [1e300], {"k": {"k": []}}),
)

#: settings that are read from the private key file or from ``release.json``
_SETTINGS = (
    *("k", "l", "t", "eps", "nulls", "sensitive", "hierarchy", "attribute_hierarchies", "levels"),
    *("items", "item_keys", "method", "min_raters", "rare_values", "rare_items", "attributes"),
)


def cases(samples: list[Sample], rng: random.Random, n: int) -> Iterator[Case]:
    """Yield `n` damages: of releases two thirds, of key files one."""
    for number in range(n):
        sample = rng.choice(samples)
        of_key = number % 3 == 2
        what, label, change = (_key if of_key else _release)(sample, samples, rng)
        read = partial(_read_key if of_key else _read_release, sample)
        yield Case(what, f"{sample.name}: {label}", change, read, sample.folder, sample.key)


_Change = tuple[str, str, Callable[[Path], Any]]


def _read_release(_: Sample, place: Path) -> str:
    release = place / "release"
    return _tried(
        lambda: str(describe_release(read_release(release))),
        lambda: verify(release),
        lambda: read_releases([release]),
    )


def _read_key(sample: Sample, place: Path) -> str:
    key, release = place / "key.json", place / "release"

    def with_ratings() -> None:
        back = read_release(release, private=key)
        OneTable(sample.original, back).verified(release)
        method_of(back, sample.original)

    return _tried(
        lambda: read_receipt(key), lambda: read_releases([release], private=[key]), with_ratings
    )


def _tried(*reads: Callable[[], Any]) -> str:
    for read in reads:
        try:
            read()
        except UserError as error:
            if not str(error):
                return "an error without words"
    return ""


def _release(sample: Sample, samples: list[Sample], rng: random.Random) -> _Change:
    names = sorted(file.name for file in sample.folder.iterdir())
    name = rng.choice(names)
    if rng.random() < 0.35:
        name = "release.json"
        what, label, change = _json(sample.folder / name, rng)
    elif rng.random() < 0.2:
        what, label, change = _swap(sample, samples, name, names, rng)
    else:
        what, label, change = _file(sample.folder / name, rng)
    mended = name != "release.json" and rng.random() < 0.6
    then = " with its hash" * mended

    def both(place: Path) -> None:
        change(place / "release" / name)
        if mended and (place / "release" / name).is_file():
            small = (place / "release" / name).stat().st_size < 10**9
            if small and not (place / "release" / name).is_symlink():
                mend(place / "release")

    return f"release: {what}", f"{name}: {label}{then}", both


def _key(sample: Sample, _: list[Sample], rng: random.Random) -> _Change:
    what, label, change = (_json if rng.random() < 0.6 else _file)(sample.key, rng)
    return f"key file: {what}", label, lambda place: change(place / "key.json")


def _file(of: Path, rng: random.Random) -> _Change:
    """Return a change of the bytes of a file, or of what stands in its place."""
    raw = of.read_bytes()
    at, other = rng.randrange(max(len(raw), 1)), rng.randrange(1, 256)
    flipped = bytearray(raw)
    flipped[at] ^= 1 << other % 8
    replaced = bytearray(raw)
    replaced[at] = other
    filled = raw[:at] + bytes(min(64, len(raw) - at)) + raw[at + 64 :]
    bytes_: list[tuple[str, str, bytes]] = [
        ("truncation", f"cut at {at}", raw[:at]),
        ("truncation", "empty", b""),
        ("bit flip", f"bit {other % 8} of byte {at}", bytes(flipped)),
        ("bit flip", f"bit {other % 8} of byte {at}", bytes(flipped)),
        ("byte", f"byte {at} is {other}", bytes(replaced)),
        ("byte", f"byte {at} is {other}", bytes(replaced)),
        ("byte", f"zeros from {at}", filled),
        ("byte", f"{other} bytes more", raw + rng.randbytes(other)),
        ("byte", f"{other} bytes before", rng.randbytes(other) + raw),
        ("byte", "random bytes", rng.randbytes(200)),
        ("byte", "twice", raw + raw),
    ]
    places: list[tuple[str, str, Callable[[Path], Any]]] = [
        ("not a regular file", "a pipe", os.mkfifo),
        ("not a regular file", "a folder", Path.mkdir),
        ("not a regular file", "a link to /dev/zero", lambda p: p.symlink_to("/dev/zero")),
        ("not a regular file", "a link to a pipe", _link_to_pipe),
        ("not a regular file", "a link to nothing", lambda p: p.symlink_to("nowhere")),
        ("not a regular file", "a link to itself", lambda p: p.symlink_to(p.name)),
        ("not a regular file", "a socket", _socket),
        ("not a regular file", "not there", lambda p: None),
        ("sparse file", "10 GB of nothing", partial(_sparse, b"", b"")),
        ("sparse file", "10 GB of nothing behind it", partial(_sparse, raw, b"")),
        ("brackets", "10^6 brackets", lambda p: p.write_bytes(b"[" * _DEEP)),
        ("brackets", "10^6 objects", lambda p: p.write_bytes(b'{"a":' * _DEEP)),
    ]
    if rng.random() < 0.6:
        what, label, content = rng.choice(bytes_)
        return what, label, lambda path: path.write_bytes(content)
    what, label, put = rng.choice(places)

    def instead(path: Path) -> None:
        path.unlink()
        put(path)

    return what, label, instead


def _link_to_pipe(path: Path) -> None:
    pipe = path.with_name("pipe") if path.name == "key.json" else path.parent.parent / "pipe"
    os.mkfifo(pipe)
    path.symlink_to(pipe)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _sparse(before: bytes, after: bytes, path: Path) -> None:
    with path.open("wb") as file:
        file.write(before)
        file.truncate(_SPARSE)
        file.seek(0, os.SEEK_END)
        file.write(after)


def _swap(
    sample: Sample, samples: list[Sample], name: str, names: list[str], rng: random.Random
) -> _Change:
    """Return a change that puts another file of a release in the place of one."""
    other = rng.choice([each for each in samples if (each.folder / name).exists()])
    source = sample.folder / rng.choice(names) if rng.random() < 0.5 else other.folder / name
    content = source.read_bytes()
    label = f"that of {other.name}" if source.parent == other.folder else source.name
    return "swapped file", label, lambda path: path.write_bytes(content)


def _json(of: Path, rng: random.Random) -> _Change:
    """Return a change of a value somewhere in a file of JSON, under a true checksum."""
    facts = json.loads(of.read_text(encoding="utf-8"))
    holder, key = _somewhere(facts, rng)
    kind = rng.choice(["junk", "junk", "junk", "junk", "gone", "new", "deep", "text"])
    if kind == "text":
        return _json_text(of, rng)
    label = f"{key!r} "
    if kind == "gone":
        del holder[key]
        label += "is gone"
    elif kind == "deep":
        value: Any = []
        for _ in range(rng.choice([50, 400, 900])):
            value = [value] if rng.random() < 0.5 else {"a": value}
        holder[key] = value
        label += "is nested"
    elif kind == "new":
        key = rng.choice(_SETTINGS)
        facts["config"][key] = rng.choice(JUNK)
        label = f"config: {key} is {str(facts['config'][key])[:40]!r}"
    else:
        holder[key] = rng.choice(JUNK)
        label += f"is {str(holder[key])[:40]!r}"
    try:
        text = signed(facts)
    except RecursionError:
        text = "[" * 2_000 + "]" * 2_000
    return "JSON under a true checksum", label, lambda path: path.write_text(text, "utf-8")


def _somewhere(facts: Any, rng: random.Random) -> tuple[Any, Any]:
    """Return a list or an object in JSON, and a key or a place in it."""
    holder, key = facts, rng.choice(list(facts))
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
        holder = holder[key]
        key = rng.choice(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
    return holder, key


def _json_text(of: Path, rng: random.Random) -> _Change:
    """Return a change of the text of a file of JSON that a parser may read in two ways."""
    text = of.read_text(encoding="utf-8").rstrip()
    name = rng.choice(["NaN", "Infinity", "1e999", "9" * 5_000, '"\\ud800"', "[" * 5_000, "01"])
    texts = [
        (f"a value {name[:20]}", text[:-1] + f', "other": {name}}}'),
        ("a key twice", text[:-1] + f", {text[1:]}"),
        ("a byte order mark", f"\ufeff{text}"),
        ("more behind it", f"{text}{text}"),
        ("UTF-16", text.encode("utf-16").decode("latin-1")),
    ]
    label, changed = rng.choice(texts)
    return "JSON in two ways", label, lambda path: path.write_bytes(changed.encode("utf-8"))
