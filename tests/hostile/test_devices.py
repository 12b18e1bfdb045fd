from __future__ import annotations

import random

import pytest

from tests.hostile.devices import WHATS, every, try_uses, uses
from tests.hostile.running import table

EVERYDAY = ("data describe r.csv", "data describe copy/", "check-config", "erase FILE")


def test_some_hostile_files_are_refused_at_once() -> None:
    cheap = [(use, what) for use, what in every() if use.command.startswith(EVERYDAY)]
    calls, faults = try_uses(random.Random(1).sample(cheap, 40), release=False)
    assert not faults, table(calls, faults)
    assert len(calls) >= 8


@pytest.mark.slow
def test_every_hostile_file_is_refused_at_once() -> None:
    calls, faults = try_uses(every())
    assert not faults, table(calls, faults)
    assert len(uses()) >= 35
    assert set(calls) == set(WHATS)
