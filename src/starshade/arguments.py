"""What a public function was given, held against its own annotations.

Python tells nobody that a path stands where ratings belong; the first line that reads it fails,
far from the mistake. `typed` looks before. Annotations are read as the texts that they are, so
that nothing is imported for it: a class of the house is known by its name.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import cache, wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any, TypeVar, cast

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.setting import Kind, Setting, is_list, settings_of, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)
_KINDS: Mapping[str, Kind] = {
    "bool": "flag",
    "int": "integer",
    "float": "number",
    "str": "text",
    "Sequence[str]": "texts",
    "Iterable[str]": "texts",
    "Sequence[int]": "integers",
    "Sequence[float]": "numbers",
}
_PLACES = ("Path", "Where")
#: classes of the house, and how to come by them
_HOUSE = {
    "Audit": "Audit() has the default thresholds.",
    "Auxiliary": "read_auxiliary reads them.",
    "Comparison": "compare makes one.",
    "Context": 'For example Context(purpose="Research").',
    "Dossier": "compile_dossier makes one.",
    "Everything": "reproduce_all makes one.",
    "ItemSelection": "top_items(10) and listed_items([...]) make one.",
    "Knowledge": "For example Knowledge(known=8, wrong=2).",
    "MembershipResult": "MembershipAttack().run makes one.",
    "PaperStudy": "reproduce_kl, reproduce_ns and their like make one.",
    "Parts": "Parts() keeps them in memory.",
    "Ratings": "read_ratings reads them, Ratings.from_arrays takes arrays.",
    "Release": "A method's anonymize makes one, read_release opens a folder.",
    "RiskResult": "Risk().run makes one.",
    "Shards": "open_shards opens them.",
    "Scale": "Scale(1, 5, 1) is one to five in whole steps.",
    "SparsityResult": "Sparsity().run makes one.",
}


def typed(function: _Function) -> _Function:
    """Refuse arguments of other types than a function is annotated with, in words.

    Looked at are numbers, texts, flags, paths, lists of texts or numbers and classes of the house,
    each with None and other ones of these if need be; what is annotated with anything else is left
    to the function. Numbers and lists arrive as settings do: as plain ones of Python.

    Raises
    ------
    ConfigError
        When the function is called with something else: which argument it is, what was given,
        what must be.

    Examples
    --------
    >>> @typed
    ... def first(n: int = 1) -> int:
    ...     return n
    >>> first(2.0)
    2
    >>> first("two")
    Traceback (most recent call last):
        ...
    starshade.errors.ConfigError: n = 'two': must be a whole number
    """
    wanted = {
        name: parts
        for name, annotation in function.__annotations__.items()
        if _known(parts := tuple(part.strip() for part in str(annotation).split("|")))
    }
    code = unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        first = [_taken(name, value, wanted) for name, value in zip(names, args, strict=False)]
        rest = {name: _taken(name, value, wanted) for name, value in kwargs.items()}
        return function(*first, *args[len(first) :], **rest)

    return cast("_Function", call)


def older_names(cls: _Class) -> _Class:
    """Accept settings by the names of earlier versions, with a DeprecationWarning.

    Examples
    --------
    >>> from starshade import Likelihood
    >>> Likelihood(sure=0.5).min_posterior  # doctest: +SKIP
    0.5
    """
    older = {each.formerly: each.name for each in settings_of(cls) if each.formerly}
    build = cls.__init__  # type: ignore[misc]

    @wraps(build)
    def start(self: Any, *args: Any, **given: Any) -> None:
        for before in older.keys() & given.keys():
            if older[before] in given:
                continue  # both names: a TypeError, as of any unknown one
            text = f"{cls.__name__}({before}=…) is now called {older[before]}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            given[older[before]] = given.pop(before)
        build(self, *args, **given)

    cls.__init__ = start  # type: ignore[misc]
    return cls


def numbers(name: str, value: Any) -> NDArray[np.float64]:
    """Return a number, or an array of them, as floats; ConfigError where it holds anything else."""
    import numpy as np

    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(
            f"{called(name)} = {shown(value)}: must be a number or an array of numbers",
            setting=name,
        ) from None


def _known(parts: tuple[str, ...]) -> bool:
    return all(part in ("None", *_KINDS, *_PLACES, *_HOUSE) for part in parts)


def _taken(name: str, value: Any, wanted: Mapping[str, tuple[str, ...]]) -> Any:
    parts = wanted.get(name)
    if parts is None or (value is None and "None" in parts):
        return value
    if isinstance(value, str | os.PathLike) and set(parts) & set(_PLACES):
        return _a_path(name, value)
    if {"Sequence[int]", "Sequence[float]"} & set(parts) and is_list(value) and not len(value):
        return ()  # whether that is enough is the function's to say
    for part in parts:
        if part in _KINDS and (setting := _setting(name, part)).allows(value):
            return setting.checked(value)
        if any(
            each.__name__ == part and each.__module__.startswith("starshade.")
            for each in type(value).__mro__
        ):
            return value
    needed = " or ".join(_in_words(name, part) for part in _said(parts))
    raise ConfigError(
        f"{called(name)} = {shown(value)}: must be {needed}",
        advice=" ".join(_HOUSE[part] for part in parts if part in _HOUSE)
        or "Save it first: release.save(DIR)." * (type(value).__name__ == "Release"),
        setting=name,
    )


def _a_path(name: str, value: Any) -> Any:
    try:
        bad = b"\0" in os.fsencode(value)
    except UnicodeEncodeError:
        bad = True
    if bad:
        raise ConfigError(f"{called(name)}: not a valid file name", setting=name)
    return value


def _said(parts: tuple[str, ...]) -> list[str]:
    """Leave out None, and texts where they are paths."""
    unsaid = {"None", "str"} if set(parts) & set(_PLACES) else {"None"}
    return [part for part in parts if part not in unsaid]


def _in_words(name: str, part: str) -> str:
    if part in _KINDS:
        return _setting(name, part).allowed
    article = "" if part == "Ratings" else "an " if part[0] in "AEI" else "a "
    return "a path" if part in _PLACES else f"{article}{part}"


@cache
def _setting(name: str, part: str) -> Setting:
    return Setting(name, _KINDS[part], None, False, (), "", "")
