"""What is asked for by several requests at once is done once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from starshade.server.routes import start_job


def test_four_clicks_at_once_are_one_job() -> None:
    asked: list[Any] = []

    def jobs(*_: object, **__: object) -> list[Any]:
        found = list(asked)
        time.sleep(0.01)  # the others come meanwhile
        return found

    def add_job(kind: str, data_id: int, settings: dict[str, int]) -> Any:
        asked.append(SimpleNamespace(kind=kind, data_id=data_id, settings=settings))
        return asked[-1]

    desk: Any = SimpleNamespace(
        store=SimpleNamespace(jobs=jobs, add_job=add_job), engine=SimpleNamespace(wake=int)
    )
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda _: start_job(desk, "release", 1, {"k": 5}), range(4)))
    assert len(asked) == 1
    assert all(job is asked[0] for job in got)
