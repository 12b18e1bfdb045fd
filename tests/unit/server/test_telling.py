import json
import time

import numpy as np

from starshade.progress import note, task, watch
from starshade.server.telling import Telling


def told(work):
    """Do some work, watched; return everything that was sent."""
    sent = []
    telling = Telling(sent.append)
    with watch(telling):
        work()
    telling.close()
    return sent


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
        with task("judging"):
            with task("attacking", 2) as step:
                step(1)
                time.sleep(0.5)
            time.sleep(0.5)

    sent = [steps(state) for state in told(work)]
    assert [("judging", 0.0, None, False), ("attacking", 1.0, 2, False)] in sent
    assert sent[-1] == [("judging", 0.0, None, True)]


def test_signs_come_a_few_times_a_second():
    def work():
        with task("counting", 20_000) as step:
            for _ in range(20_000):
                step(1)

    assert len(told(work)) < 100


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
