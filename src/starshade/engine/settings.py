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
        "Of a store of shards: who works on them; local is this machine, spark a cluster that sees "
        "the store under the same name.",
        default="local",
    )
    master: str | None = settable(
        "Address of the cluster",
        "local[2], spark://HOST:7077, yarn, k8s://…, or sc://HOST:15002 of a Connect server.",
        default=None,
        unset="as Spark is configured",
        beside=("engine", "spark"),
    )
    resume: bool = settable(
        "Go on with a run that was killed",
        "Of a store of shards (audit: of any ratings): go on with the same command that was killed "
        "or stopped; give its seed.",
        default=False,
    )
