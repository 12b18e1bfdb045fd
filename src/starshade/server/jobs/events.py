"""Server-sent events: a job's panel anew when something moved, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from threading import Event

from starlette.concurrency import run_in_threadpool

__all__ = ["event", "follow"]

_PAUSE = 0.5  # seconds between two looks
_QUIET = 15.0  # seconds after which a sign of life is sent


def event(name: str, data: str) -> str:
    r"""Write one event.

    Examples
    --------
    >>> event("done", "failed")
    'event: done\ndata: failed\n\n'
    """
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


async def follow(look: Callable[[], tuple[str, str | None]], closing: Event) -> AsyncIterator[str]:
    """Send ``panel`` whenever it changes, and ``done`` at the end.

    `look` returns the fragment as it is now, and the state that the job ended in or None; it reads
    from the disk, so it is called in a thread. Once `closing` is set nothing more is sent.
    """
    last, silent = None, 0.0
    yield "retry: 2000\n\n"
    while not closing.is_set():
        panel, ended = await run_in_threadpool(look)
        if panel != last:
            yield event("panel", panel)
            last, silent = panel, 0.0
        if ended is not None:
            yield event("done", ended)
            return
        await asyncio.sleep(_PAUSE)
        silent += _PAUSE
        if silent >= _QUIET:  # else nobody would notice that the reader has gone
            yield ": still at work\n\n"
            silent = 0.0
