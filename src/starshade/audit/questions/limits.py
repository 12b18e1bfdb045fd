"""Limits on what an audit measures: what they are on, and who set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.release.promise import QuestionName
from starshade.setting import is_plain

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
        Limited("halves", "linked", "Two halves of somebody's facts lead to one class"),
        Limited("joint-class", "linked", "People in a joint class below k", "none"),
        Limited("membership", "inferred", "Members found at 1% false alarms"),
        Limited("inference", "inferred", "More answers right because somebody is in it"),
        Limited("disclosed", "inferred", "People of whom a rating is shown"),
    )
}


@dataclass(frozen=True)
class Limit:
    """The largest share that is allowed, in [0, 1]."""

    value: float
    by: SetBy


def limits_of(texts: Sequence[str]) -> dict[str, float]:
    """Read limits written as ``NAME=VALUE``, a share or in percent.

    Raises
    ------
    ConfigError
        There is no such limit, it is set twice, or its value is no share.

    >>> limits_of(["record=0.1", "membership=5%"])
    {'record': 0.1, 'membership': 0.05}
    """
    out: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in LIMITED:
            raise _wrong(f"there is no limit {name!r}")
        if name in out:
            raise _wrong(f"{name} is set twice")
        out[name] = _share(name, value)
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
