from __future__ import annotations

import pytest

from starshade.progress.notebook import how_long, seconds_left, worth_showing


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, ""),
        (0.2, "almost done"),
        (4.4, "about 4 s left"),
        (62, "about 60 s left"),
        (150, "about 2 min left"),
        (7200, "about 2.0 h left"),
    ],
)
def test_as_exactly_as_an_estimate_deserves(seconds: float | None, told: str) -> None:
    assert how_long(seconds) == told


@pytest.mark.parametrize(
    ("done", "total", "left"),
    [
        (2, 8, 30.0),
        (4, 4, 0.0),
        (5, 4, 0.0),
        (0, 4, None),
        (1, None, None),
        (1, 0, None),
        (1, 4, None),
        (99, 1000, None),
        (100, 1000, 90.0),
        (1, 1, 0.0),
    ],
)
def test_what_is_left_at_the_speed_so_far(
    done: float, total: float | None, left: float | None
) -> None:
    assert seconds_left(done, total, elapsed=10) == left


@pytest.mark.parametrize(
    ("tasks", "shown"),
    [
        ({}, ""),
        ({"a": None}, "a"),
        ({"a": 1, "b": None}, "b"),
        ({"a": None, "b": 9, "c": 6, "d": 900}, "bd"),
        ({"a": 9, "b": None}, "ab"),
    ],
)
def test_two_bars_at_most(tasks: dict[str, float | None], shown: str) -> None:
    assert "".join(worth_showing(list(tasks), tasks.__getitem__)) == shown
