"""Rates of attacks as a public edition may tell them: bounds for few, and no finer than its tables.

A bound is k in the number of people who were tried. Where that number is withheld itself, the least
that it can be, as far as is told, stands in its place: else it could be read off the bound. For the
same reason a rate is told then as finely as it could be one of any number that there can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starshade.audit.evidence import Evidence
from starshade.audit.few import WITHHELD, in_words, is_few
from starshade.audit.findings import records_differ
from starshade.audit.result import AuditResult
from starshade.plain import percent
from starshade.release.table import Release

__all__ = ["at_most", "bound_of", "least_tried", "limit_met", "limit_of", "rounded"]

_DIGITS = 3  # of a share: one decimal of a percent, as tables have it
_ROUND = 10.0**-_DIGITS
_SCALES = ("scale", "bins")  # where these are no figures, but places on a scale
_OF_SCALE = ("minimum", "maximum", "step", "low", "high")


def bound_of(share: float, tried: int, k: int, least: int | None = None) -> str:
    """Write what stands for a share of too few people; empty where it may be told.

    Parameters
    ----------
    share : float
    tried : int
    k : int
        The fewest people that a figure may rest on.
    least : int, optional
        See `least_tried`; None: the number tried is told.

    Examples
    --------
    >>> bound_of(0.5, 60, 5), bound_of(0.05, 60, 5), bound_of(0.05, 59, 5, least=56)
    ('', 'less than 8.4%', 'less than 9.0%')
    >>> bound_of(404 / 938, 938, 5, least=936), bound_of(8 / 14, 14, 5, least=12)
    ('', 'withheld: fewer than 5 people')
    """
    if k == 1 or share != share:
        return ""
    if tried < k:
        return WITHHELD.format(k)
    found, missed = share * tried, (1 - share) * tried
    few, but_few = is_few(found, k), is_few(missed, k)
    if least is None:
        return in_words(share, tried, k) if few or but_few else ""
    if not few and not but_few:
        able = range(least, least + k - 1)
        if _of_any(able, round(share, _DIGITS), _ROUND):
            return ""
        whole = _of_any(able, round(share, 2), 0.01)
        return f"about {share:.0%}" if whole else WITHHELD.format(k)
    if least <= k or (few and but_few):
        return WITHHELD.format(k)
    return in_words(found / least if few else 1 - missed / least, least, k)


def _of_any(able: Sequence[int], share: float, step: float) -> bool:
    """Tell whether a share, as written in such steps, can be one of any of these numbers."""
    return all(abs(round(share * n) / n - share) <= step / 2 for n in able)


def least_tried(tried: Evidence, people: int, k: int) -> int | None:
    """Return how many were tried at least, where their number is withheld; None where it is not.

    Parameters
    ----------
    tried : Evidence
    people : int
        Whom the release is of.
    k : int
    """
    others = tried.before.ineligible
    drawn = tried.before.targets < people - others  # that many were asked for, and it says nothing
    return None if drawn or not is_few(others, k) else people - (k - 1)


def limit_of(result: AuditResult, *, differ: bool) -> float | None:
    """Return what the audit held the attacks against."""
    asked = result.config.get("max_success")
    limits = [limit for limit in (asked, 1 / result.k if result.k else None) if limit]
    return next(iter(limits), None) if differ else min(limits, default=None)


def limit_met(result: AuditResult, release: Release) -> float | None:
    """Return the limit, where no attack came to more; else None."""
    met = any(each.name == "attack" and each.passed for each in result.findings)
    return limit_of(result, differ=records_differ(release)) if met else None


def at_most(bound: str, share: float, tried: int, k: int, limit: float | None) -> str:
    """Write a bound, or the limit that was met, where that is the lower one.

    Parameters
    ----------
    bound : str
        See `bound_of`.
    share : float
    tried : int
        As far as is told.
    k : int
    limit : float or None
        See `limit_met`.

    Examples
    --------
    >>> at_most("less than 41.7%", 0.2, 12, 5, 0.2), at_most("less than 8.4%", 0.05, 60, 5, 0.2)
    ('at most 20.0%', 'less than 8.4%')
    """
    if not bound or limit is None or share > limit + 1e-9 or bound.startswith("more"):
        return bound
    return f"at most {percent(limit)}" if k > limit * max(tried, 1) else bound


def rounded(told: Any, name: str = "") -> Any:
    """Return plain data with its figures no finer than tables show them.

    A picture is drawn of them: its coordinates would tell all digits.

    Examples
    --------
    >>> rounded({"rate": 0.123456, "of": [0.0002, 0.99999], "scale": {"step": 0.0625}})
    {'rate': 0.123, 'of': [0.0004, 0.9996], 'scale': {'step': 0.0625}}
    """
    if isinstance(told, Mapping):
        own = name in _SCALES
        return {
            key: value if own and key in _OF_SCALE else rounded(value, key)
            for key, value in told.items()
        }
    if isinstance(told, Sequence) and not isinstance(told, str):
        return [rounded(each, name) for each in told]
    if not isinstance(told, float):
        return told
    short = round(told, _DIGITS)
    if 0 < told < 1 and short in (0, 1):  # some is not none, nor nearly all everything
        return 0.0004 if short == 0 else 0.9996
    return short
