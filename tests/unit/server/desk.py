"""A studio without a port and without a worker: its pages are asked in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from starshade.server.app import create_app
from starshade.server.entrance import Entrance
from starshade.server.guard import COOKIE
from starshade.server.jobs.store import DataRow, JobRow, Store

PORT = 8321
TOKEN = "a-token"
NAME = "0123456789abcdef.localhost"
AT = f"http://{NAME}:{PORT}"


class IdleEngine:
    """An engine that does nothing by itself, and remembers what it was told."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1

    def cancel(self, job_id: int) -> JobRow:
        self._store.finish(job_id, "cancelled")
        return self._store.job(job_id)


class Desk:
    """A store, an app over it, and a browser that has been let in."""

    def __init__(self, work: Path, most_upload: int = 10**6, name: str = NAME) -> None:
        self.entrance = Entrance(PORT, name, TOKEN)
        self.store = Store(work)
        self.engine = IdleEngine(self.store)
        self.app = create_app(
            self.store,
            self.engine,  # type: ignore[arg-type]
            entrance=self.entrance,
            most_upload=most_upload,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        at = f"http://{self.entrance.host}"
        self._client = httpx.AsyncClient(transport=transport, base_url=at, timeout=60)
        self.get(self.entrance.address(""))

    def close(self) -> None:
        self.wait(self._client.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.store.close()

    def wait(self, work: Any) -> Any:
        """Run what is asynchronous in the app's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.wait(self._client.get(path, **more))

    def post(self, path: str, data: Mapping[str, Any] | None = None, **more: Any) -> httpx.Response:
        return self.wait(self._client.post(path, data=data, **more))

    def forget(self) -> None:
        """Lose the cookie."""
        self._client.cookies.clear()

    def remember(self, value: str = TOKEN) -> None:
        """Have a cookie that says this."""
        self._client.cookies.set(COOKIE, value, domain=NAME)

    def end(self, job: JobRow, state: Any = "done", **told: Any) -> JobRow:
        """Have a job ended."""
        self.store.begin(job.id)
        assert self.store.finish(job.id, state, **told)
        return self.store.job(job.id)

    def read(self, name: str = "ratings.csv", **more: Any) -> DataRow:
        """Add a data set that was read."""
        data = self.store.add_data("file", name, f"/somewhere/{name}")
        facts = FACTS | more
        self.end(self.store.add_job("read", data.id), result=facts, facts=facts)
        return self.store.data(data.id)


#: what reading finds, with something in every part of the page
FACTS: dict[str, Any] = {
    "users": 943,
    "items": 1682,
    "ratings": 100_000,
    "scale": {"min": 1.0, "max": 5.0, "step": 1.0, "inferred": True},
    "sparsity": 0.937,
    "first_day": "1997-09-20",
    "last_day": "1998-04-22",
    "days_unknown": 0.25,
    "ratings_per_user": {
        "mean": 106.0, "q05": 21.0, "q25": 33.0, "median": 65.0, "q75": 148.0, "q95": 310.0,
    },
    "ratings_per_item": {
        "mean": 59.5, "q05": 1.0, "q25": 6.0, "median": 27.0, "q75": 80.0, "q95": 224.0,
    },
    "long_tail": {"top_1_percent": 0.07, "top_10_percent": 0.41},
    "histogram": [{"low": float(i), "high": float(i), "ratings": 20_000} for i in range(1, 6)],
    "attributes": ["age", "zip <code>"],
    "users_dropped": 3,
    "items_dropped": 1,
    "duplicates_merged": 2,
    "format": "csv",
    "mapping": {"user": "who", "item": "what & when", "rating": "stars"},
    "notes": ["7 ratings were <b>merged</b>"],
    "job": 1,
    "seconds": 0.5,
}  # fmt: skip

ATTACK = {
    "attack": "scoreboard-rh",
    "known": "8",
    "wrong": "2",
    "wrong_kind": "value",
    "rating_error": "0",
    "day_error": "14",
    "ratings": "yes",
    "outside_top": "0",
    "phi": "1.5",
    "targets": "100",
}
COMPARE = {
    "methods": ["k-exchange", "mondrian"],
    "k": "2, 5",
    "items": "10",
    "known": "4",
    "targets": "100",
    "eps": "1",
    "profile": "pooled",
    "held_out": "0",
}
RELEASE = {
    "method": "k-exchange",
    "k": "5",
    "items": "10",
    "attributes": "none",
    "rare_items": "drop",
    "known": "2, 4",
    "targets": "100",
    "held_out": "0",
}
