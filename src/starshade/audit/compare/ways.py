"""Which releases are compared: every method, at every k and every choice that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.registry import ENTRIES, usual_method
from starshade.audit.attempts import made_of
from starshade.audit.compare.settings import PROFILE, CompareSettings
from starshade.audit.make import Anonymizer
from starshade.errors import ConfigError
from starshade.naming import called, named
from starshade.progress import note
from starshade.registry import find

_PROXIMATE = ("l", "sensitive", "nulls")  # beside eps
_OF_GROUPS = ("disclosure_weights", "slacks")
_Value = TypeVar("_Value", bound=float | str)


def methods_by_default() -> tuple[str, ...]:
    """Return the default method, then those that take no parameter but k and a hierarchy."""
    grouping = (e.name for e in ENTRIES if issubclass(e.load(), Grouping))
    return (usual_method().method, *grouping)


@dataclass(frozen=True)
class Way:
    """A method with its settings, and those that a row tells; None where it has no such choice."""

    name: str
    k: int
    eps: float | None
    profile: str | None
    weight: float | None
    slack: int | None
    method: Anonymizer


def ways_of(settings: CompareSettings, *, exact: bool) -> list[Way]:
    """Return a way for each row; `exact`: whether personal attributes go along, for queries.

    Raises
    ------
    ConfigError
        An unknown method, a value outside its range, or what no method has a use for.
    """
    names = methods_by_default() if settings.methods is None else _once(settings.methods, "methods")
    ks = sorted(_once(settings.k, "k"))
    if not names:
        raise ConfigError("no method to compare: at least one is needed")
    entries = [find(ENTRIES, name, "method") for name in names]
    with_eps = [entry.name for entry in entries if "eps" in entry.names]
    with_weight = [entry.name for entry in entries if "disclosure_weight" in entry.names]
    with_slack = [entry.name for entry in entries if "slack" in entry.names]
    with_profile = [entry.name for entry in entries if "profile" in entry.names]
    if with_eps and settings.eps is None:
        raise ConfigError(
            f"{', '.join(with_eps)}: {named('eps')} is missing",
            advice="Give the distance within which records must have others.",
            setting="eps",
        )
    for name, of, those in (
        ("eps", "an eps", with_eps),
        *((name, "such a setting", with_eps) for name in _PROXIMATE),
        ("profile", "a profile", with_profile),
        ("disclosure_weights", "such a weight", with_weight),
        ("slacks", "slack", with_slack),
    ):
        given = getattr(settings, name)
        if given != getattr(CompareSettings, name) and not those:
            others = {"profile": "predictive", **dict.fromkeys(_OF_GROUPS, "k-exchange")}
            other = others.get(name, "interval or suppress")
            raise ConfigError(
                f"{named(name, given)}: none of the methods has {of}",
                advice=f"Leave it out, or name {other} among the methods.",
                setting=name,
            )
    near = {name: getattr(settings, name) for name in _PROXIMATE}
    weights, slacks = (sorted(_once(getattr(settings, name), name)) for name in _OF_GROUPS)
    shared: dict[str, Any] = {"attributes": "exact" if exact else "none"}
    ways = []
    for entry in entries:
        own = settings.eps if entry.name in with_eps else None
        cells = (settings.profile or PROFILE) if entry.name in with_profile else None
        choices = product(
            ks,
            weights if entry.name in with_weight else (None,),
            slacks if entry.name in with_slack else (None,),
        )
        for k, weight, slack in choices:
            with_k = shared | {"k": k} | ({} if own is None else {"eps": own} | near)
            with_k |= {"profile": cells, "disclosure_weight": weight, "slack": slack}
            method = made_of(entry, with_k)
            ways.append(Way(entry.name, k, own, cells, weight, slack, method))
    return ways


def _once(values: Sequence[_Value], name: str) -> tuple[_Value, ...]:
    """Return each value once, and say so where one was given more often."""
    counts = Counter(values)
    repeated = ", ".join(str(value) for value, times in counts.items() if times > 1)
    if repeated:
        note(f"{called(name)}: {repeated} given more than once, and tried once")
    return tuple(counts)
