"""What can be said of work over shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starshade.setting import settable


@dataclass(frozen=True)
class EngineSettings:
    """Of every command that works shard by shard."""

    engine: Literal["local", "spark"] = settable(
        "Engine",
        "Execution engine for partitioned stores: local (this machine), or spark (the store "
        "must be mounted at the same path).",
        default="local",
    )
    master: str | None = settable(
        "Address of the cluster",
        "local[2], spark://HOST:7077, yarn, k8s://…, or sc://HOST:15002 of a Connect server.",
        default=None,
        unset="as configured for Spark",
        beside=("engine", "spark"),
    )
    resume: bool = settable(
        "Resume an interrupted run",
        "Resume an interrupted run: repeat the command with its seed (partitioned stores; "
        "audit: any ratings).",
        default=False,
    )
