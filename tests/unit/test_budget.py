from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

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
    with pytest.raises(ConfigError, match="not an amount of memory"):
        budget.parse_bytes(text)


def test_limits_hold_inside_and_end() -> None:
    free, processors = budget.memory(), budget.threads()
    with budget.limits(memory=123, threads=1):
        assert (budget.memory(), budget.threads()) == (123, 1)
        with budget.limits(threads=2):
            assert (budget.memory(), budget.threads()) == (123, min(2, processors))
        assert budget.threads() == 1
    assert budget.threads() == processors
    assert budget.memory() == pytest.approx(free, rel=0.5)


@pytest.mark.parametrize("bad", [{"memory": 0}, {"threads": 0}, {"threads": -1}])
def test_limits_out_of_their_range(bad: dict[str, int]) -> None:
    with pytest.raises(ConfigError), budget.limits(**bad):
        pass


def test_numba_obeys() -> None:
    import numba

    active = numba.get_num_threads()
    with budget.limits(threads=1):
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == active


# a program with a parallel kernel of its own: compiled and run wherever it is called
PROGRAM = """
import os, sys
{before}
import contextlib, numpy as np
from starshade import budget
from starshade.progress import watch

class Notes(list):
    note = list.append

def own(name):
    import numba
    if {disturbed}:  # any change of Numba's environment makes it look at all of it again
        os.environ["NUMBA_OPT"] = name
    @numba.njit(parallel=True)
    def kernel(out):
        for i in numba.prange(len(out)):
            out[i] = numba.get_thread_id()
    ids = np.zeros(400, np.int64)
    kernel(ids)
    used = len(set(ids))
    print(name, numba.get_num_threads(), used <= numba.get_num_threads(), file=sys.stderr)

notes = Notes()
with watch(notes):
{body}
print(*notes, sep="\\n")
"""


def program(body: str, *, before: str = "", disturbed: bool = False, **environment: str) -> Any:
    """Run a program in a process of its own; return the notes and what its kernels said."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    code = PROGRAM.format(before=before, body=lines, disturbed=disturbed)
    free = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    out = subprocess.run(
        [sys.executable, "-c", code], env=free | environment, capture_output=True, text=True
    )
    assert out.returncode == 0, out.stderr
    return out.stdout.strip(), [line.split()[1:] for line in out.stderr.splitlines()]


ALL = len(os.sched_getaffinity(0))
OWN = {
    "numba first": ("own('1')\nwith budget.limits(threads=1):\n    own('2')\nown('3')", ""),
    "numba inside": ("with budget.limits(threads=1):\n    own('2')\nown('3')", ""),
    "numba after": ("with budget.limits(threads=1):\n    pass\nown('3')", ""),
    "numba before all": ("with budget.limits(threads=1):\n    own('2')\nown('3')", "import numba"),
}


@pytest.mark.slow
@pytest.mark.parametrize("order", OWN)
@pytest.mark.parametrize("disturbed", [False, True])
def test_kernels_of_a_program_go_on_working(order: str, disturbed: bool) -> None:
    body, before = OWN[order]
    _, told = program(body, before=before, disturbed=disturbed)
    inside = [["1", "True"]] * ("own('2')" in body)
    outside = [str(ALL), "True"]
    assert told == [outside] * ("own('1')" in body) + inside + [outside]


def test_blocks_within_blocks_and_an_error_in_one() -> None:
    body = """
with budget.limits(threads=2):
    with contextlib.suppress(KeyError), budget.limits(threads=1):
        with budget.limits(memory=10**9):
            own('1')
        raise KeyError
    own('2')
    import starshade.kernels.attack.postings
own('3')
""".strip()
    _, told = program(body)
    assert [n for n, _ in told] == ["1", str(min(2, ALL)), str(ALL)]


def test_a_thread_enters_limits_of_its_own() -> None:
    body = """
import threading
def alone():
    with budget.limits(threads=1):
        own('1')
thread = threading.Thread(target=alone); thread.start(); thread.join()
own('2')
""".strip()
    _, told = program(body)
    assert [n for n, _ in told] == ["1", str(ALL)]


@pytest.mark.parametrize("asked", [2000, 2**62])
def test_more_threads_than_processors_are_cut_and_said(asked: int) -> None:
    body = f"with budget.limits(threads={asked}):\n    own(str(budget.threads()))"
    said, told = program(body)
    assert told == [[str(ALL), "True"]]
    assert said.startswith(f"threads: {asked:,} requested, {ALL} processor")
    assert said.endswith(f": {ALL} {'is' if ALL == 1 else 'are'} used")


@pytest.mark.skipif(ALL < 2, reason="needs two processors")
@pytest.mark.parametrize("before", ["", "import numba"])
def test_the_environment_says_how_many_at_most(before: str) -> None:
    body = (
        "with budget.limits(threads=2):\n    own('1')\n    own(str(budget.threads()))\n"
        "print(budget.threads(), os.environ['NUMBA_NUM_THREADS'])"
    )
    said, told = program(body, before=before, disturbed=True, NUMBA_NUM_THREADS="1")
    assert told == [["1", "True"]] * 2
    assert said.splitlines() == ["1 1", "threads: 2 requested, NUMBA_NUM_THREADS is 1: 1 is used"]


@pytest.mark.parametrize("said", ["0", "-1", "many", "999"])
def test_an_environment_that_says_nothing_useful(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", said)
    assert budget.threads() == ALL


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
