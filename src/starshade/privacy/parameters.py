"""What several models have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import ParamSpec, TypeVar

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.privacy.verdict import Verdict
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["SLACK", "check_records", "checking", "records_of"]

SLACK = 1e-9  # by which a figure may miss what is asked for

_In = ParamSpec("_In")
_Found = TypeVar("_Found", bound=Verdict)


def checking(model: str) -> Callable[[Callable[_In, _Found]], Callable[_In, _Found]]:
    """Make a check that announces itself, and whose verdict says how long it took."""

    def decorate(check: Callable[_In, _Found]) -> Callable[_In, _Found]:
        @wraps(check)
        def timed(*args: _In.args, **kwargs: _In.kwargs) -> _Found:
            start = perf_counter()
            verdict = check(*args, **kwargs)
            return replace(verdict, seconds=perf_counter() - start)

        return announced(f"checking {model}")(timed)

    return decorate


def records_of(data: Release | Ratings) -> int:
    """Return how many records there are; refuse what is neither ratings nor a release."""
    if isinstance(data, Release):
        return data.n_records
    if isinstance(data, Ratings):
        return data.n_users
    raise ConfigError(
        f"data of type {type(data).__name__}: neither ratings nor a release",
        advice="Read ratings with starshade.read_ratings, a release with starshade.read_release.",
    )


def check_records(k: int, records: int) -> None:
    """Refuse a k that no table of this size can satisfy."""
    if k > records:
        raise ConfigError(
            f"{called('k')} = {k}, records = {records}: no table of this size can satisfy it",
            advice=f"Choose k from 2 to {records}." if records >= 2 else "",
        )
