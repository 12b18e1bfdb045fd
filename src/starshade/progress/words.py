"""How long still, in words, and which of the tasks under way are worth a look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["how_long", "seconds_left", "worth_showing"]

_Task = TypeVar("_Task")
_SHARE = 0.1  # of the work that is done before anybody can tell how long the rest takes


def worth_showing(
    tasks: Sequence[_Task], total: Callable[[_Task], float | None]
) -> tuple[_Task, ...]:
    """Return the outermost task that has steps and the innermost one; the others say no more.

    Each of the tasks was begun within the one before; `total` returns a task's units of work.

    >>> tasks = {"auditing": None, "comparing": 9, "attacking": 6, "ranking": 900}
    >>> worth_showing(list(tasks), tasks.get)
    ('comparing', 'ranking')
    """
    outer = [task for task in tasks[:-1] if (total(task) or 0) > 1]
    return (*outer[:1], *tasks[-1:])


def seconds_left(done: float, total: float | None, elapsed: float) -> float | None:
    """Estimate what is left at the speed so far; None where nobody can say.

    The first of many steps is no measure of the others: nobody can say before two units and a
    tenth of all are done.
    """
    if not total or done < max(_SHARE * total, min(2, total)):
        return None
    return elapsed * max(total - done, 0) / done


def how_long(seconds: float | None) -> str:
    """Say how long it still takes, as exactly as an estimate deserves; None: nothing.

    >>> [how_long(s) for s in (0.4, 7.2, 43, 200, 8000)]
    ['almost done', 'about 7 s left', 'about 45 s left', 'about 3 min left', 'about 2.2 h left']
    """
    if seconds is None:
        return ""
    if seconds < 0.5:
        return "almost done"
    if seconds < 10:
        return f"about {seconds:.0f} s left"
    if seconds < 90:
        return f"about {5 * round(seconds / 5)} s left"
    if seconds < 90 * 60:
        return f"about {seconds / 60:.0f} min left"
    return f"about {seconds / 3600:.1f} h left"
