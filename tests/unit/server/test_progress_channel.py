import json
import time

import numpy as np

from starshade.progress import note, task, watch
from starshade.server.tasks.worker import ProgressChannel


def told(work, sent=None):
    """Do some work, watched; return everything that was sent."""
    sent = [] if sent is None else sent
    telling = ProgressChannel(sent.append)
    with watch(telling):
        work()
    telling.close()
    return sent


def until(true):
    """Wait for what another thread does."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def steps(state):
    return [
        (step["label"], step["done"], step["total"], step["over"]) for step in state["progress"]
    ]


def test_the_last_state_is_always_sent():
    def work():
        with task("reading", 10) as step:
            step(4)
            step(6)
        note("two columns")

    last = told(work)[-1]
    assert steps(last) == [("reading", 10.0, 10, True)]
    assert last["notes"] == ["two columns"]


def test_totals_that_numpy_counted_are_sent():
    def work():
        with task("reading", np.int64(3)) as step:
            step(np.float32(1.5))

    assert json.loads(json.dumps(told(work)[-1]))["progress"][0]["total"] == 3


def test_a_step_within_another_is_told_while_it_goes_on():
    def work():
        with task("judging"), task("attacking", 2) as step:
            step(1)
            until(lambda: inner in map(steps, sent))

    inner = [("judging", 0.0, None, False), ("attacking", 1.0, 2, False)]
    sent = []
    told(work, sent)
    assert steps(sent[-1]) == [("judging", 0.0, None, True)]


def test_however_many_steps_there_are_signs_come_after_a_pause(monkeypatch):
    # a pause that nothing ends but the end of the work
    monkeypatch.setattr("starshade.server.tasks.worker._PAUSE", 600)

    def work():
        with task("counting", 20_000) as step:
            for _ in range(20_000):
                step(1)

    sent = told(work)
    assert 1 <= len(sent) <= 2
    assert steps(sent[-1]) == [("counting", 20_000, 20_000, True)]


def test_neither_steps_nor_notes_grow_without_end():
    def work():
        for i in range(1000):
            with task(f"step {i}"):
                note("x" * 10_000)

    last = told(work)[-1]
    assert 40 <= len(last["progress"]) <= 42
    assert last["progress"][-1]["label"] == "step 999"
    assert last["notes"][-1] == "… and 800 more notes"
    assert max(map(len, last["notes"])) == 2000
