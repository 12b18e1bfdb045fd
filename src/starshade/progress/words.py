"""How long still, in words."""

from __future__ import annotations

__all__ = ["how_long", "seconds_left"]


def seconds_left(done: float, total: float | None, elapsed: float) -> float | None:
    """Estimate what is left at the speed so far; None where nobody can say.

    Parameters
    ----------
    done, total : float
        Units of work; total None: unknown.
    elapsed : float
        Seconds since the beginning.
    """
    if not total or done <= 0:
        return None
    return elapsed * max(total - done, 0) / done


def how_long(seconds: float | None) -> str:
    """Say how long it still takes, as exactly as an estimate deserves; None: nothing.

    Examples
    --------
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
