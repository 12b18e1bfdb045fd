"""The slow twin of `hidden`: what comes out, searched for a password and a key."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.system.conftest import call, small_csv
from tests.system.sources.conftest import KEY, PASSWORD, Server, Store


def outputs(*streams: str, folder: Path) -> bytes:
    """Return all that was written, on the terminal and to files."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    names = [str(path) for path in folder.rglob("*")]
    return b"\n".join([*(text.encode() for text in (*streams, *names)), *files])


def has_none(found: bytes) -> bool:
    secrets = (PASSWORD, unquote(PASSWORD), PASSWORD.split("%")[0], KEY)
    return not any(secret.encode() in found for secret in secrets)


def commands(address: str, query: tuple[str, ...]) -> list[list[str]]:
    data = [address, *query]
    return [
        ["data", "describe", *data],
        ["data", "describe", *data, "--json"],
        ["check", *data, "--model", "k-anonymity", "--k", "3"],
        ["check", *data, "--model", "k-anonymity", "--k", "3", "--json"],
        ["anonymize", *data, "--k", "5", "--seed", "1", "--out", "out", "--private", "out.json"],
        ["report", address, "out", "--private", "out.json", *query, "--out", "report.html"],
        ["report", address, "out", "--private", "out.json", *query, "--out", "p.html", "--public"],
        ["measure", address, "out", *query, "--json"],
        ["init", *data, "--yes"],
        ["studio", address, "--no-browser"],
        ["data", "describe", address.replace("127.0.0.1:", "127.0.0.1:1"), *query],
        ["data", "describe", address, "--query", "nope"],
        ["data", "describe", address, "--format", "netflix"],
        ["data", "describe", address, "--users", address, *query],
        ["data", "describe", address, "--item-names", address, *query],
        ["data", "describe", address.replace("@", "/@"), *query],
        ["data", "describe", address.replace("://", "x://"), *query],
        ["data", "describe", f"/tmp/{address}"],
        ["data", address],
        [address],
        ["data", "describe", address, address, *query],
        ["data", "describe", *data, "--k", address],
        ["data", "convert", *data, "--out", "kept"],
    ]


def everything(address: str, query: tuple[str, ...], tmp_path: Path) -> bytes:
    found = []
    for command in commands(address, query):
        result = call(*command)
        found += [result.stdout, result.stderr]
        assert "Traceback" not in result.stderr
        assert "internal error" not in result.stderr, command
    return outputs(*found, folder=tmp_path)


def test_postgresql(tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    from pyarrow import csv

    postgres.load("kept", csv.read_csv(small_csv(tmp_path / "ratings.csv")))
    found = everything(postgres.address, ("--query", "kept"), tmp_path)
    assert b"postgresql://***@127.0.0.1" in found
    assert has_none(found)


def test_bucket(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = store.put("kept.csv", small_csv(tmp_path / "ratings.csv").read_bytes())
    found = everything(address, (), tmp_path)
    assert b"s3://***@data/kept.csv" in found
    assert has_none(found)
