"""However the suite is started, its tests run in the same surroundings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.house.floors import SRC

ROOT = SRC.parents[1]
ODD = {
    "COLUMNS": "20",
    "NO_COLOR": "1",
    "TERM": "xterm-256color",
    "LC_ALL": "C",
    "TZ": "Asia/Kolkata",
    "PYTHONDONTWRITEBYTECODE": "1",
    "STARSHADE_DEBUG": "1",
    "NUMBA_NUM_THREADS": "1",
}
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# what a child of a test then finds
CHILD = f"""
import json, os, signal, time
umask = os.umask(0)
print(json.dumps({{
    "ignored": [n for n in {[int(n) for n in IGNORED]} if signal.getsignal(n) == signal.SIG_IGN],
    "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "umask": umask,
    "zone": time.timezone,
    "left": {{name: os.environ.get(name) for name in {list(ODD)}}},
}}, sort_keys=True))
"""
STARTED = f"""
import subprocess, sys
import tests.conftest
subprocess.run([sys.executable, "-c", {CHILD!r}], check=True)
"""


def _oddly() -> None:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.umask(0o077)


def told(**options: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, capture_output=True, text=True, check=True,
        **options,  # type: ignore[call-overload]
    )  # fmt: skip
    return str(done.stdout)


def test_a_test_finds_the_same_whoever_started_the_suite() -> None:
    usual = told()
    assert '"ignored": []' in usual
    assert '"STARSHADE_DEBUG": null' in usual
    assert told(preexec_fn=_oddly, env=os.environ | ODD) == usual
