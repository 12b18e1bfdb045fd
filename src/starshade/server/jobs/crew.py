"""The worker process as the engine sees it: started, spoken to, killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from starshade.errors import OutputError

__all__ = ["Worker"]

# not `-m`: nothing is imported from the folder that the studio was started in
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from starshade.server.tasks.worker import main; main(sys.argv[2:])"
)
_STDERR = 2
_LAST_BREATH = 5.0  # seconds from closing its socket to being gone; more if it dumps its memory


class Worker:
    """A worker process; it ends with the thread that made it."""

    def __init__(self, work: Path) -> None:
        ours, theirs = socket.socketpair()
        arguments = [str(Path(__file__).parents[3]), str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, *arguments, str(os.getpid()), str(work)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,  # stdout is the command's, for its result
                process_group=0,  # Ctrl-C is for the server to answer
            )
        except OSError as error:
            ours.close()
            raise OutputError(
                f"the worker process cannot be started: {error.strerror or error}",
                advice="Close other programs and try again.",
            ) from error
        finally:
            theirs.close()
        self.connection: Connection[Any, Any] = Connection(ours.detach())

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def send(self, order: dict[str, Any]) -> None:
        """Hand over a job; one that died before is found out by `receive`."""
        with suppress(OSError):
            self.connection.send_bytes(json.dumps(order).encode())

    def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the process has ended."""
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        return message

    def bury(self) -> int:
        """Return how a process ended that `receive` says has (below 0: by this signal)."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_BREATH)
        return self.kill()

    def kill(self) -> int:
        """End the process, whatever it does; return how it ended."""
        if self._process.poll() is None:  # else its number may be another's by now
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self.connection.close()
        return self._process.wait()
