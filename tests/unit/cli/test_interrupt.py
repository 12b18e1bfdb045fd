from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

START = """
import sys, time
from starshade.cli.running import errors
from starshade.cli.running.errors import exit_code_of
errors.PATIENCE = 0.5
{kernel}
def work():
    {body}
sys.exit(exit_code_of(work))
"""

PYTHON_WORK = "print('up', flush=True); time.sleep(600)"
# a loop that Python cannot interrupt, as a compiled kernel is
KERNEL = """
import threading
import numpy as np
from numba import njit
@njit(nogil=True)
def spin(n, begun):
    begun[0] = 1
    x = 0.0
    for i in range(n):
        x += (i * x + 1.0) % 7.0
    return x
begun = np.zeros(1)
spin(10, begun)
begun[0] = 0
def tell():
    while not begun[0]:
        time.sleep(0.01)
    print('up', flush=True)
threading.Thread(target=tell, daemon=True).start()
"""
KERNEL_WORK = "spin(10**12, begun)"
PATIENCE = 120  # seconds until a test gives up on a busy machine
SWALLOWED = """
    print('up', flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        raise RuntimeError('query interrupted')
"""
# what is raised in a callback of a C library goes nowhere
DROPPED = """
    import ctypes
    def wait():
        print('up', flush=True)
        time.sleep(600)
    ctypes.CFUNCTYPE(None)(wait)()
    time.sleep(600)
"""


def run(body: str, number: int, *, kernel: str = "", before: str = "") -> tuple[int, str]:
    """Send a signal to work that says that it is up; its input ends only after that."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    with tempfile.TemporaryDirectory() as folder:
        code = before + START.format(body=body, kernel=kernel)
        Path(folder, "work.py").write_text(code, encoding="utf-8")
        return send(number, folder, environment)


def send(number: int, folder: str, environment: dict[str, str]) -> tuple[int, str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "work"],  # as `python -m starshade`
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_python_work_stops_at_once(number: int, code: int) -> None:
    returned, errors = run(PYTHON_WORK, number)
    assert returned == code
    assert errors.strip() == "Interrupted; nothing was written."


def test_an_interruption_that_a_library_renamed() -> None:
    returned, errors = run(SWALLOWED, signal.SIGINT)
    assert returned == 130
    assert "Interrupted" in errors
    assert "query" not in errors


def test_an_interruption_that_a_callback_drops() -> None:
    returned, errors = run(DROPPED, signal.SIGTERM)
    assert returned == 143
    assert errors.strip() == "Interrupted; nothing was written."


def test_an_interruption_while_text_is_executed() -> None:  # as dataclasses and named tuples do
    text = "print('up', flush=True); time.sleep(600)"
    assert run(f'exec("{text}")', signal.SIGTERM)[0] == 143


def test_compiled_work_stops_after_the_patience() -> None:
    returned, errors = run(KERNEL_WORK, signal.SIGINT, kernel=KERNEL)
    assert returned == 130
    assert "Stopping after the current step" in errors
    assert "Interrupted; nothing was written." in errors  # its work takes hours


def test_what_was_written_before_is_told() -> None:
    body = "from pathlib import Path; errors.wrote(Path('out')); " + PYTHON_WORK
    _, errors = run(body, signal.SIGINT)
    assert errors.strip() == "Interrupted; complete before: out."


def test_a_background_process_that_ignores_ctrl_c_goes_on_ignoring() -> None:
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    body = "print('up', flush=True); sys.stdin.read(); print('done')"
    returned, errors = run(body, signal.SIGINT, before=before)
    assert (returned, errors) == (0, "")


def test_the_handlers_are_put_back() -> None:
    from starshade.cli.running.errors import Interrupt, interruptible

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interruptible(Interrupt()):
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_work_changes_nothing(number: int) -> None:
    code = (
        "import atexit, os, sys\n"
        "from starshade.cli.running.errors import exit_code_of\n"
        f"atexit.register(os.kill, os.getpid(), {int(number)})\n"
        "sys.exit(exit_code_of(lambda: 1))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
