from __future__ import annotations

import os
import subprocess
import sys

import pytest

from starshade import budget
from starshade.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("8G", 8_000_000_000),
        ("8gb", 8_000_000_000),
        ("1.5 GiB", 3 * 2**29),
        ("500M", 500_000_000),
        ("64k", 64_000),
        ("123", 123),
    ],
)
def test_amounts(text: str, amount: int) -> None:
    assert budget.parse_bytes(text) == amount


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (999.6, "1 kB"),
        (1_540, "1.5 kB"),
        (9_960, "10 kB"),
        (999_600, "1 MB"),
        (420e6, "420 MB"),
        (1_300_000_000, "1.3 GB"),
        (24e9, "24 GB"),
        (3.2e15, "3,200 TB"),
    ],
)
def test_amounts_in_words(n: float, words: str) -> None:
    assert budget.amount(n) == words


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "8X", "8GG", "nan", "inf", "1e30", "8 G 8"])
def test_no_amounts(text: str) -> None:
    with pytest.raises(ConfigError, match="no amount of memory"):
        budget.parse_bytes(text)


def test_limits_hold_inside_and_end() -> None:
    free, processors = budget.memory(), budget.threads()
    with budget.limits(memory=123, threads=1):
        assert (budget.memory(), budget.threads()) == (123, 1)
        with budget.limits(threads=2):
            assert (budget.memory(), budget.threads()) == (123, 2)
        assert budget.threads() == 1
    assert budget.threads() == processors
    assert budget.memory() == pytest.approx(free, rel=0.5)


@pytest.mark.parametrize("bad", [{"memory": 0}, {"threads": 0}, {"threads": 2**62}])
def test_limits_out_of_their_range(bad: dict[str, int]) -> None:
    with pytest.raises(ConfigError), budget.limits(**bad):
        pass


def test_numba_obeys() -> None:
    import numba

    active = numba.get_num_threads()
    with budget.limits(threads=1):
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == active


def test_numba_obeys_when_loaded_later() -> None:
    code = (
        "from starshade import budget\n"
        "with budget.limits(threads=3):\n"
        "    import numba; print(numba.config.NUMBA_NUM_THREADS)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_NUM_THREADS"}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "3"


def test_a_container_limit_counts(
    tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    group = Path(tmp_path)
    (group / "memory.max").write_text("1000\n")
    (group / "memory.current").write_text("700\n")
    (group / "memory.stat").write_text("anon 1\ninactive_file 200\n")
    monkeypatch.setattr(budget, "_CGROUP", group)
    assert budget.free_memory() == 500
    (group / "memory.max").write_text("max\n")
    assert budget.free_memory() > 1000
