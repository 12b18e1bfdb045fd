"""``store.json``: what a store holds, with the size and checksum of every file."""

from __future__ import annotations

import json
import zlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from starshade._version import __version__
from starshade.checksum import parse
from starshade.errors import InputError

__all__ = ["FORMAT_VERSION", "Manifest", "StoredFile"]

FORMAT_VERSION = 1


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredFile(_Closed):
    """One file of a store."""

    bytes: int = Field(ge=0)
    crc32: int = Field(ge=0, lt=2**32)


class Manifest(_Closed):
    """Contents of ``store.json``, its own checksum aside."""

    kind: Literal["starshade ratings"] = "starshade ratings"
    format: int = FORMAT_VERSION
    starshade: str = __version__
    lineage: str = Field(pattern=r"^[0-9a-f]{32}$")
    #: minimum, maximum, step (None: real-valued)
    scale: tuple[float, float, float | None]
    users: int = Field(ge=0)
    items: int = Field(ge=0)
    ratings: int = Field(ge=0)
    first_day: int
    #: fields of `ReadReport`
    report: dict[str, Any]
    files: dict[str, StoredFile]

    def to_json(self) -> str:
        """Write it, with a checksum over itself."""
        content = self.model_dump(mode="json")
        return json.dumps({**content, "crc32": _checksum(content)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: bytes, where: str) -> Manifest:
        """Read and check it."""
        try:
            content = parse(text)
            claimed = content.pop("crc32")
            kind, version = content["kind"], content["format"]
        except (ValueError, KeyError, AttributeError, TypeError):
            raise InputError(
                f"{where}: no store of starshade, or a damaged one",
                advice="Read the original data again and save it anew.",
            ) from None
        if kind == cls.model_fields["kind"].default and version != FORMAT_VERSION:
            raise InputError(
                f"{where}: a store of format {version}; this version reads {FORMAT_VERSION}",
                advice="Use the version of starshade that wrote it, or save the data anew.",
            )
        try:
            if claimed != _checksum(content):
                raise ValueError("the checksum does not match")
            return cls.model_validate(content)
        except (ValueError, ValidationError):
            raise InputError(
                f"{where}: the store is damaged",
                advice="Read the original data again and save it anew.",
            ) from None


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
