"""What a Spark session needs, and what is said where it is not there."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from starshade.engine import session
from starshade.engine.session import session_at
from starshade.errors import ConfigError
from starshade.progress import watch
from tests.unit.engine.test_local import Notes


@pytest.fixture
def installed(monkeypatch):
    """Let packages be installed, in versions that a test may change."""
    there = {"pandas": "2.2.3", "pyspark": "4.1.0"}

    def version(name):
        if name not in there:
            raise session.PackageNotFoundError(name)
        return there[name]

    needs = ["pandas<3,>=2.2; extra == 'spark'", 'pyspark[connect]>=4.1,<5 ; extra == "spark"']
    monkeypatch.setattr(session, "version", version)
    monkeypatch.setattr(session, "requires", lambda _: ["click>=8.1.7,<9", *needs])
    return there


@pytest.mark.parametrize("name", ["pandas", "pyspark"])
def test_what_is_not_installed_is_named(installed, name):
    del installed[name]
    with pytest.raises(ConfigError, match=rf"needs {name}\n.*starshade\[spark\]"), session_at(None):
        pass


@pytest.mark.parametrize(
    ("name", "found"),
    [("pandas", "3.0.1"), ("pandas", "2.1.4"), ("pyspark", "4.0.2"), ("pyspark", "5.0.0")],
)
def test_another_version_is_refused(installed, name, found):
    installed[name] = found
    with pytest.raises(ConfigError, match=f"^{name} {found} is installed"), session_at(None):
        pass


@pytest.mark.parametrize("url", ["nowhere", "local[", "http://a:1", "spark://a", "k8s://a:1"])
def test_what_is_no_master_is_refused(installed, url):
    with pytest.raises(ConfigError, match="not a Spark master") as caught, session_at(url):
        pass
    assert caught.value.setting == "master"


def test_yarn_is_where_its_configuration_says(installed, monkeypatch):
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with (
        pytest.raises(ConfigError, match=r"yarn: the address of the cluster.*\n.*HADOOP"),
        session_at("yarn"),
    ):
        pass


@pytest.mark.parametrize(
    "url",
    ["sc://127.0.0.1:9", "spark://127.0.0.1:9,127.0.0.1:10", "k8s://https://127.0.0.1:9/a"],
)
def test_a_master_that_is_not_there_is_told_at_once(installed, url):
    with pytest.raises(ConfigError, match="no server listens there"), session_at(url):
        pass


@pytest.mark.parametrize("url", ["sc://127.0.0.1:9/;token=secret", "sc:127.0.0.1/;token=secret"])
def test_no_token_is_told(installed, url):
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1") as caught, session_at(url):
        pass
    assert "secret" not in str(caught.value)


BESIDE = ["/;token=secret", ";token=secret", "/token=secret", "?token=secret", "/p;use_ssl;secret"]


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("user", ["", "me:secret@"])
def test_no_token_is_told_where_nobody_listens(installed, user, beside):
    with pytest.raises(ConfigError) as caught, session_at(f"sc://{user}127.0.0.1:9{beside}"):
        pass
    assert "sc://127.0.0.1:9" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("quoted", "told"),
    [
        (
            "[INVALID] got 'token=secret'",
            "ValueError (its message is withheld: it quotes text next to",
        ),
        ("no answer\nsecret", "Spark did not start: no answer\n"),
    ],
)
def test_what_spark_says_is_told_without_the_token(installed, monkeypatch, quoted, told):
    def begin(_):
        raise ValueError(quoted)

    monkeypatch.setattr(session, "_begin", begin)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"sc://127.0.0.1:{server.getsockname()[1]}/;token=secret"
        with pytest.raises(ConfigError, match=re.escape(told)) as caught, session_at(url):
            pass
    assert "secret" not in str(caught.value)


class Begun:
    """A session that only ends."""

    def stop(self):
        """End."""


def test_what_py4j_logs_is_not_heard_while_spark_is_there(installed, monkeypatch, caplog):
    monkeypatch.setattr(session, "_begin", lambda _: Begun())
    monkeypatch.setattr(session, "_refuse_other_java", lambda: None)
    root = logging.getLogger()

    def say():
        for name, file in (("root", "/p/py4j/java_gateway.py"), ("root", "/p/ours.py")):
            root.handle(logging.LogRecord(name, logging.ERROR, file, 1, file, (), None))
        logging.getLogger("py4j.clientserver").error("gone")

    with session_at("local[2]"):
        say()
    assert caplog.messages == ["/p/ours.py"]
    caplog.clear()
    say()
    assert caplog.messages == ["/p/py4j/java_gateway.py", "/p/ours.py", "gone"]


def fake_java(home, says):
    """Put a Java there that tells of its version."""
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ('java version "1.8.0_402"', "skipped: Spark needs Java 17 or later.*version 8 "),
        ('openjdk version "11.0.2" 2018-10-16', "skipped: Spark needs Java 17.*version 11 "),
        ("no such thing", "skipped: Spark needs Java 17 or later.*not there"),
        ('openjdk version "17.0.9" 2023-10-17', "skipped: pyspark could not be installed"),
    ],
)
def test_the_tests_on_spark_skip_without_its_java(tmp_path, says, told):
    fake_java(tmp_path, says)
    done = subprocess.run(
        ["make", "test-spark", "SPARK=/dev/null/nowhere"],
        cwd=Path(__file__).parents[3],
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert re.search(told, done.stdout)


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ('java version "1.8.0_402"', "is Java 8"),
        ('openjdk version "11.0.2" 2018-10-16', "is Java 11"),
        ("no such thing", "of an unknown version"),
    ],
)
def test_an_older_java_is_refused(installed, tmp_path, monkeypatch, says, found):
    fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=f"{found}.*Spark needs 17") as caught, session_at(None):
        pass
    assert "apt-get install openjdk-17-jre-headless" in caught.value.advice


@pytest.mark.parametrize(("home", "where"), [(None, "on the path"), ("/nowhere", r"\(/nowhere\)")])
def test_no_java_is_told(installed, monkeypatch, home, where):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(ConfigError, match=f"none was found .*{where}"), session_at(None):
        pass


class Waiting:
    """A session whose first task waits, or fails; what was done with it."""

    def __init__(self, fails=None):
        self.fails, self.stopped = fails, False
        self.builder = self

    def config(self, map):  # noqa: A002 - as Spark has it
        return self

    def getOrCreate(self):  # noqa: N802
        return self

    def range(self, _):
        return self

    def collect(self):
        time.sleep(0.1)
        if self.fails is not None:
            raise self.fails

    def stop(self):
        self.stopped = True


@pytest.mark.parametrize("fails", [None, ValueError("no")])
def test_a_session_that_waits_for_executors_says_so(monkeypatch, fails):
    spark, watcher = Waiting(fails), Notes()
    unused = SimpleNamespace(SparkConf=None, SparkContext=None)
    monkeypatch.setitem(sys.modules, "pyspark", unused)
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(SparkSession=spark))
    monkeypatch.setattr(session, "PATIENCE", 0)
    with watch(watcher), nullcontext() if fails is None else pytest.raises(ValueError, match="no"):
        session._begin({"spark.remote": "sc://a"})
    assert [note for note in watcher.said if "no executor has started" in note]
    assert spark.stopped == (fails is not None)
