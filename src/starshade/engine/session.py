"""A Spark session of our own, where nobody hands us one."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import urlsplit

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import note

_JAVA = 17  # Spark 4 runs on no older one
_OF_A_CLUSTER = {"spark.ui.showConsoleProgress": "false"}  # a command shows its own
#: what works on this machine alone is seen by nobody else, and waits for nobody
_OF_THIS_MACHINE = _OF_A_CLUSTER | {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
}
#: where a server listens whose address says no port
_PORTS = {"sc": 15002, "https": 443, "http": 80}
_WAIT = 10  # seconds
PATIENCE = 30  # seconds until some executor should have begun
_RUNNING = "Check that it runs and that the address is right; local[2] is Spark on this machine."
_INSTALL = "Install it: pip install 'starshade[spark]'."


@contextmanager
def session_at(master: str | None) -> Iterator[Any]:
    """Open a Spark session, and close it at the end.

    `master`: as Spark writes it (``local[2]``, ``spark://host:7077``, ``yarn``, ``k8s://…``), or
    ``sc://host:15002`` of a Connect server; None: as Spark's own configuration says. The rest is
    configured there as well (``SPARK_CONF_DIR``).

    Raises
    ------
    ConfigError
        There is no pyspark, no Java that Spark runs on, or no such master.
    """
    _refuse_other_packages()
    url = master or os.environ.get("SPARK_REMOTE", "")
    remote, here = url.startswith("sc://"), url.startswith("local")
    _refuse_other_masters(url)
    if not remote:
        _refuse_other_java()
    if here:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    ours = {} if remote else _OF_THIS_MACHINE if here else _OF_A_CLUSTER
    where = {} if master is None else {"spark.remote" if remote else "spark.master": master}
    with _py4j_unheard():
        try:
            session = _begin({"spark.app.name": "starshade", **where, **ours})
        except ImportError as error:
            raise ConfigError(f"the engine spark needs {error.name}", advice=_INSTALL) from None
        except Exception as error:
            raise ConfigError(
                f"{called('master')} {_shown(url) or 'as configured'}: Spark did not start: "
                f"{_said(error, url)}",
                advice=_RUNNING,
                setting="master",
            ) from error
        try:
            yield session
        finally:
            session.stop()


def _begin(configured: dict[str, str]) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if "spark.remote" not in configured and "SPARK_REMOTE" not in os.environ:
        conf = SparkConf(loadDefaults=False).setAll(list(configured.items()))
        # a thread is not interrupted: Java that is left alone while it starts stays for ever
        with ThreadPoolExecutor(1) as pool:
            pool.submit(SparkContext._ensure_initialized, conf=conf).result()
        # Spark itself heeds it only where spark-submit began
        if (python := SparkConf().get("spark.pyspark.python")) is not None:
            os.environ["PYSPARK_PYTHON"] = python
    session = SparkSession.builder.config(map=configured).getOrCreate()
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(session.range(1).collect)
        try:
            wait([begun], PATIENCE)
            if not begun.done():
                note_that_nobody_began()
            begun.result()
        except BaseException:
            session.stop()  # or the thread would wait for ever
            raise
    return session


def note_that_nobody_began() -> None:
    """Say that no executor has begun in all that time."""
    note(
        f"no executor has started within {PATIENCE} seconds. Other applications, including a "
        "Connect server, may use all of them"
    )


@contextmanager
def _py4j_unheard() -> Iterator[None]:
    """Let the way to Java log nothing: what goes wrong there we say, in a sentence."""
    py4j, root = logging.getLogger("py4j"), logging.getLogger()
    heard, py4j.propagate = py4j.propagate, False
    root.addFilter(_not_of_py4j)  # it logs interruptions as if they were nobody's
    try:
        yield
    finally:
        root.removeFilter(_not_of_py4j)
        py4j.propagate = heard


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _refuse_other_packages() -> None:
    """Refuse what the extra does not allow."""
    for needed in requires("starshade") or ():
        found = re.fullmatch(r"(\w+)(?:\[\w+\])?([^;]+);\s*extra == .spark.", needed)
        if found is None:
            continue
        name, allowed = found[1], found[2].strip()
        try:
            there = version(name)
        except PackageNotFoundError:
            raise ConfigError(f"the engine spark needs {name}", advice=_INSTALL) from None
        bounds = {each[0]: _numbers(each) for each in allowed.split(",")}
        if not bounds[">"] <= _numbers(there) < bounds["<"]:
            raise ConfigError(
                f"{name} {there} is installed; the engine spark needs {allowed}",
                advice="Install a supported version, best in a separate environment: pip "
                "install 'starshade[spark]'.",
            )


def _refuse_other_masters(url: str) -> None:
    """Refuse what is no master, and one where nobody listens: Spark would ask again and again."""
    if url and not re.fullmatch(
        r"local(-cluster)?(\[.+\])?|yarn|spark://.+:\d+\D*|k8s://https?://.+|sc://.+", url
    ):
        raise ConfigError(
            f"{called('master')} {_shown(url)!r}: not a Spark master",
            advice="Allowed: local[2], spark://HOST:7077, sc://HOST:15002, "
            "k8s://https://HOST:PORT or yarn.",
            setting="master",
        )
    if url == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise ConfigError(
            f"{called('master')} yarn: the address of the cluster is not configured",
            advice="Set HADOOP_CONF_DIR to the folder of the cluster's configuration "
            "(core-site.xml, yarn-site.xml).",
            setting="master",
        )
    scheme, _, rest = url.removeprefix("k8s://").partition("://")
    if rest and not any(_listens(each, scheme) for each in rest.partition("/")[0].split(",")):
        raise ConfigError(
            f"{called('master')} {_shown(url)}: no server listens there",
            advice=_RUNNING,
            setting="master",
        )


def _listens(address: str, scheme: str) -> bool:
    with suppress(OSError, ValueError):
        place = urlsplit(f"//{address}")
        port = place.port or _PORTS.get(scheme, 0)
        with create_connection((place.hostname or "", port), _WAIT):
            return True
    return False


def _shown(url: str) -> str:
    """Leave out what a server is told beside its address: that may be a token, or a password."""
    address = re.split(r"[/,&]*(?:[;?#]|token\b)", url)[0]
    return re.sub(r"(?<=//)[^/]*@", "", address)


def _said(error: Exception, url: str) -> str:
    """Quote what Spark said, unless it quotes what is left out of the address."""
    said = str(error).strip().partition("\n")[0]
    secret = [part for part in re.split(r"\W+", url) if part and part not in _shown(url)]
    if any(part in said for part in secret):
        return (
            f"{type(error).__name__} (its message is withheld: it quotes text next to the address)"
        )
    return said


def _refuse_other_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    advice = (
        f"Install Java {_JAVA} or later (Debian: apt-get install openjdk-{_JAVA}-jre-headless), or "
        "set JAVA_HOME to it."
    )
    if java is None:
        there = f"in JAVA_HOME ({home})" if home else "on the path"
        raise ConfigError(f"Spark needs Java; none was found {there}", advice=advice)
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    said = re.search(r'version "([\d.]+)', told)
    major, *minor = _numbers(said[1]) if said else (0,)
    major = minor[0] if major == 1 and minor else major  # 1.8 is Java 8
    if major < _JAVA:
        raise ConfigError(
            f"{java}: is Java {major or 'of an unknown version'}; Spark needs {_JAVA} or later",
            advice=advice,
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
