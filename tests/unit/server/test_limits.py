"""What --threads and --memory say holds where the work is done."""

from __future__ import annotations

import json
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from starshade import budget
from starshade.server.jobs import engine as engine_module
from starshade.server.jobs.engine import Engine
from starshade.server.jobs.store import Store
from starshade.server.tasks import worker
from starshade.server.tasks.tasks import Done, Order

LIMITS = {"memory": 12_345_678, "threads": 1}


class Listener:
    """A worker that only remembers its orders."""

    orders: list[dict[str, Any]] = []  # noqa: RUF012 - of the one test

    def __init__(self, work: Path) -> None:
        self.connection, self._other = Pipe()

    def send(self, order: dict[str, Any]) -> None:
        self.orders.append(order)
        self._other.send({"job": order["job"], "error": "enough", "advice": ""})

    def receive(self) -> Any:
        return self.connection.recv()

    def kill(self) -> int:
        self.connection.close()
        self._other.close()
        return 0


def test_an_order_says_what_was_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "Worker", Listener)
    store = Store(tmp_path / "work")
    job = store.add_job("read", store.add_data("file", "a", "/a").id)
    with budget.limits(**LIMITS):
        engine = Engine(store)
        engine.start()
        while not store.job(job.id).ended:
            engine.wake()
        engine.close()
    store.close()
    assert [order["limits"] for order in Listener.orders] == [LIMITS]


def test_the_work_keeps_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(order: Order) -> Done:
        return Done({"memory": budget.memory(), "threads": budget.threads()})

    monkeypatch.setattr(worker, "perform", perform)
    here, there = Pipe()
    data = {"id": 1, "name": "a", "kind": "file", "source": "/a", "options": {}, "created": 0.0}
    order = {"job": 1, "kind": "read", "data": data, "settings": {}, "limits": LIMITS}
    worker._do(order, tmp_path, there)
    messages = []
    while here.poll(0.1):
        messages.append(json.loads(here.recv_bytes()))
    here.close()
    there.close()
    assert [m["result"] for m in messages if "result" in m] == [LIMITS]
