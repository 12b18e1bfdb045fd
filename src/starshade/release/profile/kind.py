"""What a profile says of an item; light, so that doors read it without the rest."""

from __future__ import annotations

from typing import Literal

__all__ = ["ProfileKind"]

ProfileKind = Literal["padded", "simple", "model", "pooled"]
