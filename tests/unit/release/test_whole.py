"""Receipts and manifests are whole or refused: damaged in every way that JSON can be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.errors import ReleaseError
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import read_receipt
from starshade.release.manifest import Claim
from starshade.release.verify.verify import verify_folder
from tests.unit.release.test_store import small

Change = tuple[str, Any]

CONFIG = {
    "k": 2,
    "hierarchy": "ndgh",
    "items": ["10", "20"],
    "weights": {"a": 0.0, "b": [1, 2.5, {"deep": None}]},
    "strict": True,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with nested settings and claims, and its receipt."""
    place = tmp_path_factory.mktemp("whole")
    release = small().release(
        attributes="exact",
        config=CONFIG,
        claims=(Claim(model="k-anonymity", parameters={"k": 2}),),
    )
    private = replace(release.private, config=CONFIG)
    release = replace(release, private=private)
    release.save(place / "out", private=place / "receipt")
    return place


FILES: dict[str, tuple[str, list[Callable[[Path], Any]]]] = {
    "receipt": ("receipt", [lambda at: read_receipt(at / "receipt")]),
    "manifest": (
        "out/release.json",
        [lambda at: read_release(at / "out"), lambda at: verify_folder(at / "out")],
    ),
}
KINDS = pytest.mark.parametrize("kind", FILES)


def refused(folder: Path, kind: str, raw: bytes) -> bool:
    """Tell whether every reader refuses a file; anything but a ReleaseError goes through."""
    name, readers = FILES[kind]
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(raw)
    try:
        return all(_refuses(reader, folder) for reader in readers)
    finally:
        (folder / name).write_bytes(whole)


def _refuses(reader: Callable[[Path], Any], folder: Path) -> bool:
    try:
        reader(folder)
    except ReleaseError:
        return True
    return False


def changed(value: Any, where: str = "") -> Iterator[Change]:
    """Yield a value with one place in it deleted, added, reordered, or saying something else."""
    if isinstance(value, dict):
        for name, inner in value.items():
            rest = {n: v for n, v in value.items() if n != name}
            yield f"{where}/{name} deleted", rest
            yield f"{where}/{name} renamed", {**rest, f"{name}_": inner}
            for what, other in changed(inner, f"{where}/{name}"):
                yield what, {**value, name: other}
        yield f"{where} added", {**value, "extra": 1}
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield f"{where}/{i} deleted", value[:i] + value[i + 1 :]
            for what, other in changed(inner, f"{where}/{i}"):
                yield what, [*value[:i], other, *value[i + 1 :]]
        if value != value[::-1]:
            yield f"{where} reversed", value[::-1]
        yield f"{where} added", [*value, *value[:1], None]
    elif isinstance(value, str):
        others = {f"{value} ", value[1:], value.upper(), value + "\u0000", value + "\ud800"}
        yield from ((f"{where} = {other!r}", other) for other in others - {value})
    for other in (None, True, False, 0, -0.0, 1, -1, 0.5, 2**70, 1e300, "", "x", [], {}):
        if json.dumps(other) != json.dumps(value):
            yield f"{where} = {other!r}", other
    for other in (float("nan"), float("inf"), -float("inf")):
        yield f"{where} = {other!r}", other
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        near = (value + 1, -value - 1, float(value) + 1e-9, str(value))
        yield from ((f"{where} = {other!r}", other) for other in near)
        if isinstance(value, int):
            yield f"{where} = {float(value)!r}", float(value)


@KINDS
def test_every_field_and_value_that_is_not_what_was_written(folder: Path, kind: str) -> None:
    facts = json.loads((folder / FILES[kind][0]).read_bytes())
    tried = list(changed(facts))
    assert len(tried) > 500
    passed = [what for what, other in tried if not refused(folder, kind, encoded(other))]
    assert passed == []


def encoded(facts: Any) -> bytes:
    return json.dumps(facts).encode()


@KINDS
def test_a_key_that_stands_twice(folder: Path, kind: str) -> None:
    raw = (folder / FILES[kind][0]).read_text()
    for name, value in json.loads(raw).items():
        for said in (value, 0, None):
            first = f'{{"{name}": {json.dumps(said)}, {raw.lstrip()[1:]}'
            last = f'{raw.rstrip()[:-1]}, "{name}": {json.dumps(said)}}}'
            assert refused(folder, kind, first.encode())
            assert refused(folder, kind, last.encode())
    inner = raw.replace('"deep": null', '"deep": 1, "deep": null')
    assert inner != raw
    assert refused(folder, kind, inner.encode())


@KINDS
def test_numbers_that_json_does_not_have(folder: Path, kind: str) -> None:
    raw = (folder / FILES[kind][0]).read_text()
    for number in ("NaN", "Infinity", "-Infinity", "1e999", "2.50000000001", "-2.5", "25e-2"):
        damaged = raw.replace("2.5", number)
        assert damaged != raw
        assert refused(folder, kind, damaged.encode())


@KINDS
def test_a_file_that_was_cut(folder: Path, kind: str) -> None:
    raw = (folder / FILES[kind][0]).read_bytes()
    end = len(raw.rstrip())
    assert all(
        refused(folder, kind, raw[:cut]) for cut in (*range(0, end - 9, 7), *range(end - 9, end))
    )
    assert refused(folder, kind, raw + b"}")
    assert refused(folder, kind, raw + raw)
    assert refused(folder, kind, raw + b"\x00")


@KINDS
def test_another_encoding(folder: Path, kind: str) -> None:
    text = (folder / FILES[kind][0]).read_text()
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"):
        raw = text.encode(encoding)
        if raw != text.encode():
            assert refused(folder, kind, raw)


@KINDS
def test_the_same_facts_in_another_layout_are_whole(folder: Path, kind: str) -> None:
    facts = json.loads((folder / FILES[kind][0]).read_bytes())
    turned = dict(reversed(facts.items()))
    turned["config"] = dict(reversed(facts["config"].items()))
    for raw in (json.dumps(turned), json.dumps(facts, indent=7), f"\n\t {json.dumps(facts)}\r\n"):
        assert not refused(folder, kind, raw.encode())


@KINDS
@given(data=st.data())
@settings(max_examples=400)
def test_bytes_that_were_changed(folder: Path, kind: str, data: st.DataObject) -> None:
    raw = bytearray((folder / FILES[kind][0]).read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    what = data.draw(st.sampled_from(["bit", "byte", "insert", "delete", "swap"]))
    if what == "bit":
        raw[place] ^= 1 << data.draw(st.integers(0, 7))
    elif what == "byte":
        raw[place] = data.draw(st.integers(0, 255))
    elif what == "insert":
        raw[place:place] = data.draw(st.binary(min_size=1, max_size=5))
    elif what == "delete":
        del raw[place : place + data.draw(st.integers(1, 30))]
    else:
        other = data.draw(st.integers(0, len(raw) - 1))
        raw[place], raw[other] = raw[other], raw[place]
    if not refused(folder, kind, bytes(raw)):
        # whitespace, or the same number or text written otherwise
        assert json.loads(raw) == json.loads((folder / FILES[kind][0]).read_bytes())


@KINDS
def test_what_is_not_signed_says_how_to_make_it_anew(folder: Path, kind: str) -> None:
    name, readers = FILES[kind]
    whole = (folder / name).read_bytes()
    facts = json.loads(whole)
    old = {n: v for n, v in facts.items() if n != "checksum"} | {
        "key_file" if kind == "receipt" else "format": 1
    }
    (folder / name).write_text(json.dumps(old))
    try:
        with pytest.raises(ReleaseError) as caught:
            readers[0](folder)
    finally:
        (folder / name).write_bytes(whole)
    assert "format 1" in caught.value.message
    assert "starshade anonymize with the same options" in caught.value.advice
    assert "damaged" not in str(caught.value)
