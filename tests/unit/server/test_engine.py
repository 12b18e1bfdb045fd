"""The engine without a worker process; with one: tests/system/test_studio_engine.py."""

import time
from multiprocessing import Pipe

import pytest

from starshade.errors import OutputError
from starshade.server.jobs import engine as engine_module
from starshade.server.jobs.engine import Engine
from starshade.server.jobs.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "work")
    yield opened
    opened.close()


class Nobody:
    """A worker that cannot be hired."""

    def __init__(self, work):
        raise OutputError("the worker process cannot be started", advice="Close other programs.")


class Quick:
    """A worker that has done everything at once."""

    def __init__(self, work):
        self.connection, self._other = Pipe()
        self._releases = work / "releases"

    def send(self, order):
        (self._releases / str(order["job"])).mkdir()
        self._other.send({"job": order["job"], "result": {"n": 1}, "facts": None})

    def receive(self):
        return self.connection.recv()

    def kill(self):
        self.connection.close()
        self._other.close()
        return 0


def until(what):
    end = time.monotonic() + 120
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_job_that_waits_says_why_nothing_happens(store, monkeypatch):
    monkeypatch.setattr(engine_module, "Worker", Nobody)
    data = store.add_data("file", "a", "/a")
    job = store.add_job("read", data.id)
    engine = Engine(store)
    engine.start()
    until(lambda: store.job(job.id).notes)
    assert store.job(job.id).state == "queued"
    assert store.job(job.id).notes == (
        "the worker process cannot be started",
        "Close other programs.",
    )
    assert engine.cancel(job.id).state == "cancelled"
    engine.close()


def test_what_ran_when_the_studio_ended_is_interrupted_and_what_waited_waits(store, monkeypatch):
    monkeypatch.setattr(engine_module, "Worker", Nobody)
    data = store.add_data("file", "a", "/a")
    ran, waits = (store.add_job("read", data.id) for _ in range(2))
    store.begin(ran.id)
    engine = Engine(store)
    engine.start()
    engine.close()
    assert [job.state for job in store.jobs()] == ["queued", "interrupted"]
    assert "Run it again" in store.job(ran.id).advice
    assert store.job(waits.id).started is None


@pytest.mark.parametrize("failures", [0, 1, 4])
def test_an_end_that_cannot_be_written_down_is_written_later(store, monkeypatch, failures):
    monkeypatch.setattr(engine_module, "Worker", Quick)
    monkeypatch.setattr(engine_module, "_RETRY", 0.02)
    finish, refused = store.finish, []

    def full(*args, **kwargs):
        if len(refused) < failures:
            refused.append(args)
            raise OutputError("no space left", advice="Free some space.")
        return finish(*args, **kwargs)

    monkeypatch.setattr(store, "finish", full)
    data = store.add_data("file", "a", "/a")
    job = store.add_job("release", data.id)
    engine = Engine(store)
    engine.start()
    until(lambda: store.job(job.id).ended)
    ended = store.job(job.id)
    engine.close()
    assert len(refused) == failures
    if failures:  # what could not be written down does not count, and leaves room
        assert (ended.state, ended.error) == ("failed", "no space left")
        assert not store.places.release(job.id).exists()
    else:
        assert (ended.state, ended.result) == ("done", {"n": 1})
        assert store.places.release(job.id).exists()


def test_closing_what_was_never_started_is_no_error(store):
    Engine(store).close()


@pytest.mark.parametrize(
    ("code", "said"),
    [(-9, "memory ran out"), (-11, "signal 11"), (1, "exit code 1"), (0, "exit code 0")],
)
def test_how_a_worker_died_is_said_in_words(code, said):
    end = engine_module._died(code)
    assert (end.state, said in end.error) == ("failed", True)
    assert end.advice
