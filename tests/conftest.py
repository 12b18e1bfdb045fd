"""What every test may ask for."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.compiled import compile_once

#: what would change what commands say, or how they start; of NUMBA_* only what compiles nothing
#: is somebody's wish: the suite may be run interpreted
_SAID_ELSEWHERE = (
    *(
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "TTY_COMPATIBLE",
    ),
    *("LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG", "PYTHONIOENCODING", "PYTHONUTF8"),
    *("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONWARNINGS", "PYTHONOPTIMIZE"),
    *("STARSHADE_DEBUG", "NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_THREADING_LAYER"),
    "SOURCE_DATE_EPOCH",
)


def _usual_surroundings() -> None:
    """Make every process of the suite one that a person started at a terminal.

    Who starts it in the background (``&``, ``nohup``, a build server) may have its signals
    ignored, and every child would inherit that; the same goes for umask, time zone and variables.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    for name in _SAID_ELSEWHERE:
        os.environ.pop(name, None)
    os.environ |= {"LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}
    os.environ["XDG_STATE_HOME"] = state = tempfile.mkdtemp(prefix="state-")  # no key at home
    atexit.register(shutil.rmtree, state, ignore_errors=True)
    # two workers share two processors: a thread that has nothing to do leaves its own to others
    os.environ["OMP_WAIT_POLICY"] = "passive"
    time.tzset()


def _does_not_wait(handle: int) -> None:
    """Stand in for ``os.fsync``: what it is for, that the power fails, happens in no test."""
    os.fstat(handle)  # no file, no success


_usual_surroundings()
os.fsync = _does_not_wait  # where a call of it must be there, tests let it fail
settings.register_profile(
    "starshade",
    max_examples=40,
    deadline=None,  # the first example compiles a kernel
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=bool(os.environ.get("CI")),
)
settings.register_profile("quick", parent=settings.get_profile("starshade"), max_examples=8)
settings.register_profile("thorough", parent=settings.get_profile("starshade"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "starshade"))


def pytest_configure(config: pytest.Config) -> None:
    """Before the workers of a whole run start, compile what they would compile side by side."""
    gc.disable()  # of ten thousand tests that are being collected none is garbage
    processes = getattr(config.option, "numprocesses", None)
    whole = config.args_source is config.ArgsSource.TESTPATHS and not hasattr(config, "workerinput")
    if processes and whole and os.environ.get("NUMBA_DISABLE_JIT", "") in ("", "0"):
        compile_once(processes)


def pytest_collection_finish() -> None:
    """Exempt the collected tests, which stay to the end, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose files take long, so that no worker waits for another."""
    items.sort(key=lambda item: not {"contract", "system"} & set(item.path.parts))


def _data(name: str) -> Path:
    root = Path(__file__).parent.parent.parent / "shared" / "data"
    root = Path(os.environ.get("STARSHADE_DATA", root))
    if not (root / name).is_dir():
        pytest.skip(f"public data set {name} not found; set STARSHADE_DATA to its parent folder")
    return root / name


@pytest.fixture(scope="session")
def ml100k_dir() -> Path:
    """Folder of MovieLens 100K (u.data, u.user, u.item)."""
    return _data("ml-100k")


@pytest.fixture(scope="session")
def ml_latest_small_dir() -> Path:
    """Folder of MovieLens latest-small (ratings.csv)."""
    return _data("ml-latest-small")
