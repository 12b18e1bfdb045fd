"""Limits on what an audit measures: what they are on, and who set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from starshade.errors import ConfigError
from starshade.naming import called, named
from starshade.setting import is_plain

if TYPE_CHECKING:  # a command asks for limits before it loads what is slow
    from starshade.release.promise import QuestionName

SetBy = Literal["the model", "the owner"]


@dataclass(frozen=True)
class Limited:
    """What a limit can be set on."""

    name: str
    question: QuestionName
    title: str  # what the share is of
    default: str = ""  # the model's own limit, in words; empty: there is none


LIMITED: Mapping[str, Limited] = {
    each.name: each
    for each in (
        Limited("record", "singled-out", "The right record named", "1/k"),
        Limited("predicate", "singled-out", "Conditions that exactly one person meets"),
        Limited("class", "linked", "The right class named"),
        Limited("halves", "linked", "Two sources find one class"),
        Limited("joint-class", "linked", "People in a joint class below k", "none"),
        Limited("membership", "inferred", "People in it found at 1% false alarms"),
        Limited("inference", "inferred", "Answers right because somebody is in it"),
        Limited("disclosed", "inferred", "People of whom a rating is shown"),
    )
}


@dataclass(frozen=True)
class Limit:
    """The largest share that is allowed, in [0, 1]."""

    value: float
    by: SetBy


def limits_in_words(*, earlier: bool = True) -> str:
    """Say what each limit is on, by its name; `earlier`: also those on several releases.

    >>> limits_in_words().split("; ")[1]
    'predicate (conditions that exactly one person meets)'
    """
    return "; ".join(
        f"{each.name} ({each.title[0].lower()}{each.title[1:]})"
        for each in LIMITED.values()
        if earlier or each.name != "joint-class"
    )


def limit_texts(limits: Sequence[str] | Mapping[str, float]) -> Sequence[str]:
    """Write limits as ``NAME=VALUE``; what is written so already stays.

    >>> limit_texts({"record": 0.1})
    ('record=0.1',)
    """
    if not isinstance(limits, Mapping):
        return limits
    return tuple(f"{name}={value}" for name, value in limits.items())


def limits_of(
    limits: Sequence[str] | Mapping[str, float], *, earlier: bool = True
) -> dict[str, float]:
    """Read limits, by name or written as ``NAME=VALUE``, a share or in percent.

    `earlier`: whether earlier releases are named.

    Raises
    ------
    ConfigError
        There is no such limit, it is set twice, its value is no share, or it is on several releases
        and there is one.

    >>> limits_of(["record=0.1", "membership=5%"])
    {'record': 0.1, 'membership': 0.05}
    """
    out: dict[str, float] = {}
    for text in limit_texts(limits):
        name, _, value = text.partition("=")
        if name not in LIMITED:
            raise _wrong(f"there is no limit {name!r}")
        if name in out:
            raise _wrong(f"{name} is set twice")
        out[name] = _share(name, value)
    if "joint-class" in out and not earlier:
        raise ConfigError(
            f"{called('limit')}: joint-class is of several releases, and none is named beside this "
            "one",
            advice=f"Name those published before ({named('earlier')}), or leave it out.",
            setting="limit",
        )
    return out


def _share(name: str, text: str) -> float:
    percent, number = text.endswith("%"), text.removesuffix("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not is_plain(number) or number != number.strip():
        value = -1.0
    if not 0 <= value <= 1:
        raise _wrong(f"{name}={text}: must be a share from 0 to 1, or in percent")
    return value


def _wrong(what: str) -> ConfigError:
    return ConfigError(
        f"{called('limit')}: {what}",
        advice=f"Set limits as NAME=VALUE, such as record=0.1; on {', '.join(LIMITED)}.",
        setting="limit",
    )
