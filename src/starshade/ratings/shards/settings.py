"""What can be said of shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.setting import settable


@dataclass(frozen=True)
class ShardSettings:
    """Of `convert_to_shards`."""

    shards: Any = settable(
        "Shards",
        "Write a partitioned store with this number of partitions, each of whole users; auto: "
        "as many as memory needs.",
        default=None,
        kind="text",
        usual="auto|N",
        unset="one store, built in memory",
    )  # a number, or its text
    append: str | None = settable(
        "Partitioned store to extend",
        "Partitioned store to which the ratings are added; it does not change, the "
        "new store contains both.",
        default=None,
        kind="file",
        usual="STORE",
    )


#: a partition is a folder of files, written one by one: more than these help nobody
MOST = 10_000


def number_of(shards: Any) -> int | Literal["auto"]:
    """Read a number of shards, or ``auto``.

    >>> number_of("7"), number_of("auto")
    (7, 'auto')
    """
    text = str(shards)
    if text == "auto":
        return "auto"
    digits = text.lstrip("0") if text.isascii() and text.isdigit() else ""
    if isinstance(shards, bool) or not 0 < len(digits) <= len(str(MOST)) or int(digits) > MOST:
        raise ConfigError(
            f"{called('shards')} {text[:20]}: must be auto or a whole number from 1 to {MOST:,}",
            advice="auto chooses the number by the memory that may be used.",
            setting="shards",
        )
    return int(digits)
