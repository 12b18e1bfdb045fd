"""A real PostgreSQL and an object store, started on this machine where they can be had."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "kiwi%2F9fig"  # as an address has it
KEY = "AKIAPLUMQUINCE"


@dataclass(frozen=True)
class Server:
    """`address` of a database, with its password."""

    port: int

    @property
    def address(self) -> str:
        return f"postgresql://eve:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def do(self, *statements: str) -> None:
        """Do something to the data, and keep it."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def load(self, name: str, table: Any) -> None:
        """Make a table of an Arrow table."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address) as connection, connection.cursor() as cursor:
            cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
            cursor.adbc_ingest(name, table)
            connection.commit()


@dataclass(frozen=True)
class Store:
    """An object store with a bucket called data."""

    port: int
    system: Any

    @property
    def how(self) -> str:
        """What an address says besides."""
        return f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"

    def put(self, key: str, content: bytes) -> str:
        """Keep something; return its address, with the key."""
        with self.system.open_output_stream(f"data/{key}") as out:
            out.write(content)
        return self.at(key)

    def at(self, key: str) -> str:
        return f"s3://{KEY}:{PASSWORD}@data/{key}?{self.how}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(process: subprocess.Popen[bytes], works: Callable[[], Any]) -> None:
    for _ in range(600):
        try:
            works()
        except Exception:  # not yet
            assert process.poll() is None, "the server has ended"
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server does not answer")


def _program(name: str) -> str | None:
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or next(map(str, newest), None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL with passwords."""
    if importlib.util.find_spec("adbc_driver_postgresql") is None:
        pytest.skip("the extra postgres is not installed")
    initdb, program = _program("initdb"), _program("postgres")
    if initdb is None or program is None:
        pytest.skip("there is no PostgreSQL server on this machine")
    place = Path(tempfile.mkdtemp(prefix="starshade-postgres-", dir="/tmp"))
    how: dict[str, Any] = {"cwd": place, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}}
    if os.geteuid() == 0:  # as root it refuses to run
        user = next(u for u in pwd.getpwall() if u.pw_name in ("postgres", "nobody"))
        os.chown(place, user.pw_uid, user.pw_gid)
        how |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    secret = place / "password"
    secret.write_text(PASSWORD.replace("%2F", "/"))
    secret.chmod(0o644)
    subprocess.run(
        [initdb, "-D", "data", "-U", "eve", "-A", "scram-sha-256", "--pwfile", secret, "-N"],
        check=True, stdout=subprocess.DEVNULL, **how,
    )  # fmt: skip
    server = Server(_free_port())
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-D", "data", "-p", str(server.port), "-h", "127.0.0.1", "-k", place, "-F"],
            stdout=log, stderr=log, **how,
        )  # fmt: skip
    try:
        _wait_for(process, lambda: server.do("SELECT 1"))
        yield server
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(place)


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """An object store that speaks S3."""
    if any(importlib.util.find_spec(name) is None for name in ("moto", "flask")):
        pytest.skip("moto[server], an object store for tests, is not installed")
    from pyarrow import fs

    port = _free_port()
    code = "import sys; from moto.server import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_for(process, lambda: socket.create_connection(("127.0.0.1", port)).close())
        system = fs.S3FileSystem(
            access_key=KEY, secret_key=PASSWORD.replace("%2F", "/"), region="us-east-1",
            endpoint_override=f"127.0.0.1:{port}", scheme="http", allow_bucket_creation=True,
        )  # fmt: skip
        system.create_dir("data")
        yield Store(port, system)
    finally:
        process.terminate()
        process.wait(30)
