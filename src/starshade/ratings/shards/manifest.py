"""``shards.json``: what a sharded store holds, and how its shards are known again."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from starshade._version import __version__
from starshade.ratings.places.checked import (
    FIRST_DAY,
    LAST_DAY,
    CheckedManifest,
    Closed,
    StoredFile,
)
from starshade.ratings.table import Ratings, ReadReport

MANIFEST = "shards.json"
#: bytes of memory that work on a shard takes for each of its ratings: sorting them takes about 40
PER_RATING = 64


class ShardEntry(Closed):
    """One shard: `checksum` is the SHA-256 of its manifest, which holds those of its files."""

    folder: str = Field(pattern=r"^shard-[0-9]{5,}$")
    first_user: int = Field(ge=0)
    users: int = Field(ge=0)
    ratings: int = Field(ge=0)
    checksum: str = Field(pattern=r"^[0-9a-f]{64}$")


class ShardsManifest(CheckedManifest):
    """Contents of ``shards.json``, its own checksum aside."""

    KINDS: ClassVar[tuple[str, ...]] = ("starshade shards",)
    kind: Literal["starshade shards"] = "starshade shards"
    starshade: str = __version__
    lineage: str = Field(pattern=r"^[0-9a-f]{32}$")
    #: minimum, maximum, step (None: real-valued)
    scale: tuple[float, float, float | None]
    users: int = Field(ge=0)
    items: int = Field(ge=0)
    ratings: int = Field(ge=0)
    first_day: int = Field(ge=FIRST_DAY, le=LAST_DAY)
    dated: bool
    #: names of the personal attributes
    attributes: tuple[str, ...]
    #: fields of `ReadReport`
    report: dict[str, Any]
    files: dict[str, StoredFile]
    shards: tuple[ShardEntry, ...] = Field(min_length=1)

    @classmethod
    def of(
        cls,
        like: Ratings,
        report: ReadReport,
        lineage: str,
        files: dict[str, StoredFile],
        shards: list[ShardEntry],
    ) -> ShardsManifest:
        """Describe shards; `like`: any of them."""
        attributes = like.attributes
        return cls(
            lineage=lineage,
            scale=(like.scale.minimum, like.scale.maximum, like.scale.step),
            users=sum(shard.users for shard in shards),
            items=like.n_items,
            ratings=sum(shard.ratings for shard in shards),
            first_day=like.first_day,
            dated=like.has_days,
            attributes=() if attributes is None else tuple(attributes.column_names),
            report=asdict(report),
            files=files,
            shards=tuple(shards),
        )


def checksum_of(manifest: bytes) -> str:
    """Return what a shard is known again by."""
    return hashlib.sha256(manifest).hexdigest()


def folder_of(number: int) -> str:
    """Name the folder of a shard.

    >>> folder_of(12)
    'shard-00012'
    """
    return f"shard-{number:05}"


def is_sharded(path: Path) -> bool:
    """Tell whether a folder is, or was meant to be, a sharded store."""
    return (path / MANIFEST).is_file()
