"""What can be said of work over shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starshade.setting import settable


@dataclass(frozen=True)
class EngineSettings:
    """Of every command that works shard by shard."""

    engine: Literal["local"] = settable(
        "Engine",
        "Of a store of shards: who works on them; local is this machine.",
        default="local",
    )
    resume: bool = settable(
        "Go on with a run that was killed",
        "Of a store of shards: go on with the same command that was killed or stopped.",
        default=False,
    )
