from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.hostile.projects import cases, try_cases
from tests.hostile.running import table


@pytest.mark.parametrize("n", [25, pytest.param(900, marks=pytest.mark.slow)])
def test_damaged_project_files_end_with_a_message(tmp_path: Path, n: int) -> None:
    calls, faults = try_cases(random.Random(n).sample(list(cases(n)), n), tmp_path)
    assert not faults, table(calls, faults)
    assert calls.total() == 2 * n


def test_every_kind_of_damage_is_tried() -> None:
    made = list(cases())
    assert len(made) >= 900
    assert len({case.what for case in made}) >= 12
