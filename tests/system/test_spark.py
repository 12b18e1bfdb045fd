"""Commands on a real Spark cluster: a master and two workers on this machine, and Connect."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from starshade.ratings.synth.synth import synthesize
from starshade.ratings.write import write_ratings
from tests.system.test_cli_shards import MEASURED, made

pyspark = pytest.importorskip("pyspark", reason="needs pyspark and Java: make test-spark")

HOME = Path(pyspark.__file__).parent
STARSHADE = [sys.executable, "-m", "starshade"]
CONFIGURED = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
}


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a server listens."""
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert server.poll() is None
        time.sleep(0.2)
    raise AssertionError(port)


class Cluster:
    """A master and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workers = folder, []
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self.env = os.environ | {
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(folder),
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        lines = [f"{key} {value}" for key, value in CONFIGURED.items()]
        (folder / "spark-defaults.conf").write_text("\n".join(lines))
        here = ["--host", "127.0.0.1", "--webui-port", "0"]
        self.master = self._start("master.Master", *here, "--port", str(port))
        try:
            wait_for(self.master, port)
        except BaseException:
            self.stop()
            raise

    def add_worker(self) -> None:
        """Start one more."""
        here = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        work = ["--work-dir", str(self.folder / "work")]
        self.workers.append(self._start("worker.Worker", *here, *work, self.url))

    def has_registered(self) -> bool:
        """Tell whether the master knows of whoever asks."""
        logs = self.folder.glob("master.Master-*.log")
        return any("Registered app" in log.read_text() for log in logs)

    def kill_worker(self) -> None:
        """Kill the oldest one; its executor sees that, and ends."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        with (self.folder / f"{name}-{time.monotonic_ns()}.log").open("wb") as log:
            return subprocess.Popen([*command, *arguments], env=self.env, stdout=log, stderr=log)

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            process.terminate()
        for process in (*self.workers, self.master):
            process.wait()

    def run(self, *arguments: str) -> Any:
        """Begin a command on it."""
        command = [*STARSHADE, *arguments, "--engine", "spark", "--master", self.url, "--json"]
        return subprocess.Popen(
            command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        found.add_worker()
        found.add_worker()
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ratings")
    write_ratings(synthesize(n_users=4000, n_items=300, n_ratings=200_000, rng=1), folder / "r.csv")
    command = ["data", "convert", str(folder / "r.csv"), "--out", str(folder / "s")]
    subprocess.run([*STARSHADE, *command, "--shards", "4"], check=True, capture_output=True)
    return folder / "s"


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("connect"), free_port()
    bound = {"spark.connect.grpc.binding.address": "127.0.0.1"}
    bound |= {"spark.connect.grpc.binding.port": str(port), "spark.ui.enabled": "false"}
    command = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [word for key, value in bound.items() for word in ("--conf", f"{key}={value}")]
    env = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(HOME)}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder)}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*command, "spark-internal"], env=env, stdout=log, stderr=log)
    try:
        wait_for(server, port)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def ended(process: Any, code: int = 0) -> dict[str, Any]:
    out, err = process.communicate()
    assert process.returncode == code, err
    told: dict[str, Any] = json.loads(out, object_hook=without_times) if out else {}
    return told


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in MEASURED}


def here(*arguments: str, code: int = 0) -> dict[str, Any]:
    command = [*STARSHADE, *arguments, "--json"]
    return ended(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), code
    )


KNOWN = ("--known", "4", "--targets", "400", "--seed", "1")
VERBS = {
    "describe": ("data", "describe", "STORE"),
    "attack": ("attack", "STORE", "--wrong", "1", "--absent", *KNOWN),
    "likelihood": ("attack", "STORE", "--attack", "likelihood", *KNOWN),
    "check": ("check", "STORE", "--model", "k-eps", "--k", "4", "--eps", "1"),
}


def asked(verb: str, store: Path) -> tuple[list[str], int]:
    """Return the words of a command, and how it ends."""
    words = [str(store) if word == "STORE" else word for word in VERBS[verb]]
    return words, int(verb == "check")


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["describe", "attack", "check"])
def test_a_worker_is_killed_and_the_answer_is_the_same(
    cluster: Cluster, store: Path, verb: str
) -> None:
    words, code = asked(verb, store)
    process = cluster.run(*words)
    kill_in_the_middle(cluster, process, store, sign=BEGUN if verb == "describe" else ANSWERED)
    assert ended(process, code) == here(*words, code=code)
    assert not list(store.glob(".journal-*"))


#: what lies in a store once the first answer is there; once the first job is handed over
ANSWERED, BEGUN = ".journal-*/*.npz", ".journal-*/*.pickle"


def kill_in_the_middle(
    cluster: Cluster, process: Any, folder: Path, *, sign: str = ANSWERED
) -> None:
    """Kill a worker once something lies in a folder, and let another one take its place."""
    while process.poll() is None and not list(folder.glob(sign)):
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()
    cluster.kill_worker()
    cluster.add_worker()


@pytest.mark.slow
def test_parquet_becomes_a_store(cluster: Cluster, tmp_path: Path) -> None:
    (parts := tmp_path / "parts").mkdir()
    rows = synthesize(n_users=4000, n_items=300, n_ratings=200_000, rng=2).to_arrow()
    for number in range(4):
        pq.write_table(rows.slice(number * 50_000, 50_000), parts / f"{number}.parquet")

    def convert(out: Path) -> list[str]:
        return ["data", "convert", str(parts), "--out", str(out), "--shards", "4"]

    process = cluster.run(*convert(tmp_path / "there"))
    kill_in_the_middle(cluster, process, tmp_path, sign=".rows-*/*.npz")
    written = ended(process)
    assert written.pop("out") != (one := here(*convert(tmp_path / "here"))).pop("out")
    assert written == one
    there, same = (here("attack", str(tmp_path / out), *KNOWN) for out in ("there", "here"))
    assert there == same
    assert {each.name for each in tmp_path.iterdir()} == {"parts", "there", "here"}


@pytest.mark.slow
def test_a_release_is_made_measured_attacked_and_audited(
    cluster: Cluster, store: Path, tmp_path: Path
) -> None:
    def anonymize(out: Path) -> list[str]:
        to = ["--out", str(out), "--private", str(out.with_suffix(".json")), "--seed", "1"]
        return ["anonymize", str(store), "--method", "predictive", "--k", "20", *to]

    process = cluster.run(*anonymize(tmp_path / "there"))
    kill_in_the_middle(cluster, process, store)
    ended(process)
    here(*anonymize(tmp_path / "here"))
    assert made(tmp_path / "there") == made(tmp_path / "here")
    private = ["--private", str(tmp_path / "here.json")]
    measure = ["measure", str(store), str(tmp_path / "here"), *private]
    process = cluster.run(*measure)
    kill_in_the_middle(cluster, process, store, sign=BEGUN)
    assert ended(process) == here(*measure)
    attack = ["attack", str(tmp_path / "here"), "--original", str(store), *private, *KNOWN]
    process = cluster.run(*attack)
    kill_in_the_middle(cluster, process, store)
    assert ended(process) == here(*attack)
    few = ["--known", "4", "--targets", "200", "--seed", "1", "--shadows", "0"]
    audit = ["audit", str(store), str(tmp_path / "here"), *private, *few]
    process = cluster.run(*audit)
    kill_in_the_middle(cluster, process, store)
    incomplete = 4  # without shadow releases
    assert ended(process, incomplete) == here(*audit, code=incomplete)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_over_connect_the_answer_is_the_same(connect: str, store: Path, verb: str) -> None:
    words, code = asked(verb, store)
    assert here(*words, "--engine", "spark", "--master", connect, code=code) == here(
        *words, code=code
    )


#: what a Python of executors runs before all else → what is said of it
STRANGE = {
    "no starshade": (
        "starshade.py",
        "raise ModuleNotFoundError('No module named starshade', name='starshade')",
        "executors have no starshade; this machine has",
    ),
    "another version": (
        "sitecustomize.py",
        "import starshade._version as version\nversion.__version__ = '0.0.9'",
        "executors have starshade 0.0.9; this machine has",
    ),
    "no memory to begin with": (
        "sitecustomize.py",
        "import resource, sys\nif 'daemon' in str(sys.orig_argv):\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))",
        "executors cannot load starshade: OSError",
    ),
    "too little memory for a partition": (
        "sitecustomize.py",
        "import starshade.engine.executor as executor\n"
        "executor._read = lambda file: bytearray(2**60)",
        "an executor was lost, or had too little memory",
    ),
    "is killed": (
        "sitecustomize.py",
        "import os, signal\nimport starshade.engine.executor as executor\n"
        "executor._read = lambda file: os.kill(os.getpid(), signal.SIGKILL)",
        "an executor was lost, or had too little memory",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", STRANGE)
def test_executors_that_cannot_work_are_told_in_a_sentence(
    store: Path, tmp_path: Path, what: str
) -> None:
    name, content, said = STRANGE[what]
    (tmp_path / name).write_text(content)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [*STARSHADE, "attack", str(store), "--engine", "spark", "--master", "local[2]", "--quiet"],
        env=os.environ | {"PYSPARK_PYTHON": str(python)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert said in done.stderr
    # the daemon of Spark's own Python may say how its worker ended
    assert "Traceback" not in done.stderr or what == "is killed"
    assert not list(store.glob(".journal-*"))


@pytest.mark.slow
def test_executors_have_the_python_that_is_configured(store: Path, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ntouch {tmp_path}/used\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "spark-defaults.conf").write_text(f"spark.pyspark.python {python}\n")
    done = subprocess.run(
        [*STARSHADE, "data", "describe", str(store), "--engine", "spark", "--master", "local[2]"],
        env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "used").exists()


def ends_in_one_line(process: Any, number: int) -> None:
    """See that a signal was told in our one line, and that Java went too."""
    try:
        _, err = process.communicate(timeout=60)  # Java holds the other end as well
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 128 + number
    assert err.splitlines()[-1].startswith("Interrupted; ")
    assert not re.search(r"Traceback|Exception|ERROR|\tat ", err), err


#: what Java is asked first, and then for a session
JAVA = """#!/bin/sh
[ "$1" = -version ] || touch {begun}
exec {java} "$@"
"""


def test_interrupted_while_java_starts_it_ends_in_one_line(store: Path, tmp_path: Path) -> None:
    java, begun = tmp_path / "bin" / "java", tmp_path / "begun"
    java.parent.mkdir()
    java.write_text(JAVA.format(begun=begun, java=shutil.which("java")))
    java.chmod(0o755)
    process = subprocess.Popen(
        [*STARSHADE, "attack", str(store), *KNOWN, "--engine", "spark", "--master", "local[2]"],
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and not begun.exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    ends_in_one_line(process, signal.SIGINT)


def test_terminated_while_spark_works_it_ends_in_one_line(store: Path, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)  # without a worker the first question has no answer
    try:
        process = cluster.run("attack", str(store), *KNOWN)
        while process.poll() is None and not cluster.has_registered():
            time.sleep(0.2)
        time.sleep(5)
        process.terminate()
        ends_in_one_line(process, signal.SIGTERM)
    finally:
        cluster.stop()
