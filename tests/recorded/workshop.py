"""Run recorded commands in one folder, and bring what they give into a comparable form."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from click.testing import CliRunner

from starshade.cli import main
from tests.recorded.entries import GROUPS
from tests.recorded.sources import SOURCES

COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}
#: what another run, machine or version changes
_OF_A_RUN = re.compile(
    r"(.*_)?seconds|.*_per_second|peak_rss_mb|versions?|starshade|threads|crc32|checksum|lineage"
)
#: checksums depend on what wrote a file, and a store has a drawn number
_CHECKSUM = re.compile(r"\b([0-9a-f]{64}|[0-9a-f]{32})\b")


class Workshop:
    """A folder, the current one, in which entries are made when something needs them.

    `more`: options that every command gets.
    """

    def __init__(self, *more: str) -> None:
        self.more = more
        self.given: dict[str, dict[str, Any]] = {}

    def entry(self, name: str) -> dict[str, Any]:
        """Return what a command gives: exit code, answer, and digests of the files it wrote."""
        if name not in self.given:
            self.given[name] = self._run(name)
        return self.given[name]

    def _run(self, name: str) -> dict[str, Any]:
        arguments = shlex.split(COMMANDS[name].replace("{}", name))
        self._need(name, arguments)
        Path(name).mkdir()
        line = [*arguments, "--json", "--memory", "2G", *self.more]
        result = CliRunner().invoke(main, line)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return {
            "exit": result.exit_code,
            "answer": normal(json.loads(result.stdout)) if result.stdout else _error(result.stderr),
            **_written(Path(name)),
        }

    def _need(self, name: str, arguments: list[str]) -> None:
        for needed in dict.fromkeys(each.partition("/")[0] for each in arguments if "/" in each):
            if needed in SOURCES and not Path(needed).exists():
                self.entry("ml")
                Path(needed).mkdir()
                SOURCES[needed]()
            elif needed in COMMANDS and needed != name:
                self.entry(needed)


def _error(stderr: str) -> str:
    return normal(stderr[stderr.find("Error: ") :])


def normal(value: Any) -> Any:
    """Drop what a run, a version or the last digits of a processor change."""
    if isinstance(value, dict):
        return {key: normal(v) for key, v in value.items() if not _OF_A_RUN.fullmatch(key)}
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, str):
        return _CHECKSUM.sub("(checksum)", value.replace(os.getcwd(), "."))
    return value


def digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def compact(value: Any) -> bytes:
    """Return JSON without blanks; keys stay in their order, which is part of an answer."""
    return json.dumps(value, separators=(",", ":"), default=str).encode()


def _written(folder: Path) -> dict[str, Any]:
    """Digest the files of a folder: each by content, and all but JSON together by bytes."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if not files:
        return {}
    names = {file: str(file.relative_to(folder)) for file in files}
    exact = [file for file in files if file.suffix != ".json"]
    every = "".join(f"{names[file]} {digest(file.read_bytes())}\n" for file in exact)
    return {
        "files": {names[file]: digest(_content(file)) for file in files},
        "bytes": digest(every.encode()),
    }


def _content(file: Path) -> bytes:
    """Return the content of a file whatever version wrote it, rounded where it has a form."""
    if file.suffix == ".parquet":
        table = pq.read_table(file)
        columns = {name: str(table.schema.field(name).type) for name in table.column_names}
        return compact([columns, normal(table.to_pydict())])
    if file.suffix == ".json":
        return compact(normal(json.loads(file.read_text(encoding="utf-8"))))
    return file.read_bytes()
