from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

START = """
import time
from starshade.cli import interrupt
from starshade.cli.errors import exit_code_of
interrupt.PATIENCE = 0.5
{kernel}
def work():
    {body}
import sys
sys.exit(exit_code_of(work))
"""

PYTHON_WORK = "print('up', flush=True); time.sleep(60)"
# a loop that Python cannot interrupt, as a compiled kernel is
KERNEL = """
from numba import njit
@njit(nogil=True)
def spin(n):
    x = 0.0
    for i in range(n):
        x += (i * x + 1.0) % 7.0
    return x
spin(10)
"""
KERNEL_WORK = "print('up', flush=True); spin(10**12)"
SWALLOWED = """
    print('up', flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError('query interrupted')
"""


def run(body: str, *signals: int, kernel: str = "", before: str = "") -> tuple[int, str, float]:
    code = before + START.format(body=body, kernel=kernel)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    time.sleep(0.5)  # until the work is deep in what it does
    started = time.monotonic()
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    _, errors = process.communicate(timeout=30)
    return process.returncode, errors, time.monotonic() - started


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_python_work_stops_at_once(number: int, code: int) -> None:
    returned, errors, _ = run(PYTHON_WORK, number)
    assert returned == code
    assert errors.strip() == "Interrupted; nothing was written."


def test_an_interruption_that_a_library_renamed() -> None:
    returned, errors, _ = run(SWALLOWED, signal.SIGINT)
    assert returned == 130
    assert "Interrupted" in errors
    assert "query" not in errors


def test_compiled_work_stops_after_the_patience() -> None:
    returned, errors, seconds = run(KERNEL_WORK, signal.SIGINT, kernel=KERNEL)
    assert returned == 130
    assert "Stopping after the current step" in errors
    assert "Interrupted; nothing was written." in errors
    assert seconds < 10


def test_what_was_written_before_is_told() -> None:
    body = "from pathlib import Path; interrupt.wrote(Path('out')); " + PYTHON_WORK
    _, errors, _ = run(body, signal.SIGINT)
    assert errors.strip() == "Interrupted; out had been written in whole before."


def test_a_background_process_that_ignores_ctrl_c_goes_on_ignoring() -> None:
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    body = "print('up', flush=True); time.sleep(2); print('done')"
    returned, errors, _ = run(body, signal.SIGINT, before=before)
    assert (returned, errors) == (0, "")


def test_the_handlers_are_put_back() -> None:
    from starshade.cli.interrupt import Interrupt, interruptible

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interruptible(Interrupt()):
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_work_changes_nothing(number: int) -> None:
    code = (
        "import atexit, os, sys\n"
        "from starshade.cli.errors import exit_code_of\n"
        f"atexit.register(os.kill, os.getpid(), {int(number)})\n"
        "sys.exit(exit_code_of(lambda: 1))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
