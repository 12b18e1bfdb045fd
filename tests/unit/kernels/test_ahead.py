from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from starshade.kernels import ahead
from starshade.kernels.ahead import LIST, READY, compiled_ahead
from starshade.progress import watch
from tests.ahead import COMMANDS, RUN, record, write_ratings
from tests.unit.kernels.test_warm import Notes

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"), reason="nothing is compiled"
)
PATIENCE = 120  # seconds until a test gives up on a busy machine
ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in LIST.read_text().splitlines()]
USES = list(COMMANDS)
#: runs commands and prints what kernels were called from Python with
CALLED = """
import contextlib, json, os, sys
from starshade.kernels.ahead.crew import write_types
from starshade.kernels.warm import all_kernels
from starshade.__main__ import main

used = {}
for use, words in json.loads(sys.argv[1]).items():
    before = {id(kernel): list(kernel.signatures) for kernel in all_kernels()}
    sys.argv = ["starshade", *words.split()]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        with contextlib.suppress(SystemExit):
            main()
    used[use] = [
        [f"{kernel.py_func.__module__}:{kernel.py_func.__qualname__}", write_types(types)]
        for kernel in all_kernels()
        for types in kernel.signatures
        if types not in before[id(kernel)]
    ]
print(json.dumps(used))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ahead")
    write_ratings(made)
    return made


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, for this process's eyes and its children."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def kernel_of(entry: dict[str, Any]) -> Any:
    module, _, name = entry["kernel"].partition(":")
    __import__(module)
    return getattr(sys.modules[module], name)


def crew_of(cache: Path) -> set[int]:
    """The processes that compile into a cache."""
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes()
        except OSError:
            continue
        if b"ahead.crew" in words and os.fsencode(cache) in words:
            found.add(int(line.parent.name))
    return found


def wait_until(true: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def start_cold(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "starshade", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_every_use_is_listed() -> None:
    assert {use for entry in ENTRIES for use in entry["for"]} == set(USES)


def test_the_list_names_kernels_and_types_as_they_are() -> None:
    from starshade.kernels.ahead.crew import read_types, write_types

    for entry in ENTRIES:
        assert kernel_of(entry).py_func.__qualname__ == entry["kernel"].partition(":")[2]
        assert write_types(read_types(entry["types"])) == entry["types"]
        assert entry["seconds"] > 0


@pytest.mark.parametrize("use", USES)
def test_what_a_listed_kernel_calls_is_listed_before_it(use: str) -> None:
    before: set[int] = set()
    for entry in ahead.listed(use):
        kernel = kernel_of(entry)
        before.add(id(kernel))
        for name in kernel.py_func.__code__.co_names:
            callee = kernel.py_func.__globals__.get(name)
            inlined = getattr(callee, "targetoptions", {}).get("inline") == "always"
            if hasattr(callee, "signatures") and not inlined:
                assert id(callee) in before, (
                    f"{entry['kernel']} calls {name}: python -m tests.ahead"
                )


@pytest.mark.slow
def test_what_commands_call_is_listed(folder: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", CALLED, json.dumps(COMMANDS)],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    listed = {(entry["kernel"], entry["types"]): entry["for"] for entry in ENTRIES}
    for use, called in json.loads(told.stdout).items():
        for kernel, types in called:
            assert use in listed.get((kernel, types), []), f"{kernel}: python -m tests.ahead"


@pytest.mark.slow
def test_two_first_commands_compile_once_and_then_nothing(folder: Path, cold: Path) -> None:
    both = [start_cold(folder, "data", "describe", "u.data") for _ in range(2)]
    said = [process.communicate(timeout=PATIENCE)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    n = len(ahead.listed("data describe"))
    assert sorted(text.count(f"compiling {n} kernels") for text in said) == [0, 1]
    assert "".join(said).count("compiling") == 1
    program = RUN.format(words=["starshade", *COMMANDS["data describe"].split()])
    assert record(program, folder) == []
    (ready,) = cold.rglob(READY)
    assert list(json.loads(ready.read_text())) == ["data describe"]
    assert not crew_of(cold)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_who_compiles_ends_with_the_command(folder: Path, cold: Path, number: int) -> None:
    process = start_cold(folder, "attack", "u.data", "--seed", "1")
    wait_until(lambda: len(crew_of(cold)) > 2)  # one deals out, the others compile
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in said
    wait_until(lambda: not crew_of(cold))


def lock_after(use: str) -> list[str]:
    """Do as a command that calls a kernel; return what was said."""
    from numba.core.compiler_lock import global_compiler_lock

    seen = Notes()
    with watch(seen), compiled_ahead(use, 2), global_compiler_lock:
        return seen.notes


@pytest.mark.parametrize("start", ["raise SystemExit(1)", "import os; os.kill(os.getpid(), 9)"])
def test_a_crew_that_dies_leaves_it_to_the_command(
    cold: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.setattr(ahead, "_START", start)
    assert lock_after("data describe") == []


def test_a_crew_that_dies_at_work_leaves_the_rest(
    cold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_START", "print('3 0.5'); print(0.1); raise SystemExit(1)")
    (said,) = lock_after("data describe")
    assert said.startswith("compiling 3 kernels (first use")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is started; nothing is."""
    tried: list[str] = []

    def refuse(*_: object, **__: object) -> None:
        tried.append("")
        raise OSError("no more processes")

    monkeypatch.setattr(ahead.subprocess, "Popen", refuse)
    return tried


def test_without_processes_the_command_compiles(cold: Path, started: list[str]) -> None:
    assert lock_after("data describe") == []
    assert len(started) == 1


@pytest.mark.parametrize(
    ("use", "environment"),
    [("data describe", {"NUMBA_DISABLE_JIT": "1"}), ("doctor", {})],
    ids=["interpreted", "nothing listed"],
)
def test_where_nothing_is_compiled_nobody_is_started(
    cold: Path,
    started: list[str],
    monkeypatch: pytest.MonkeyPatch,
    use: str,
    environment: dict[str, str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert lock_after(use) == []
    assert started == []


def test_without_a_place_for_a_cache_nobody_is_started(
    started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "cache_place", lambda _: None)
    assert lock_after("data describe") == []
    assert started == []


def test_what_is_ready_stays_so_until_something_changes(
    cold: Path, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ahead.cache_place(LIST.parents[1])
    assert place is not None
    place.mkdir(parents=True)
    key = ahead._key(place)
    ahead.note_ready(place / READY, "audit", "of an older version")
    ahead.note_ready(place / READY, "data describe", key)
    assert json.loads((place / READY).read_text()) == {"data describe": key}
    lock_after("data describe")
    assert started == []
    (place / ahead.STAMP).write_text("other sources")
    lock_after("data describe")
    assert len(started) == 1
