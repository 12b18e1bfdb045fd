from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from starshade import progress
from starshade.kernels import warm

KERNEL = """
from numba import njit

@njit(cache=True)
def double(x):
    return 2 * x
"""


class Notes:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None: ...

    def stop(self, handle: int) -> None: ...

    def note(self, message: str) -> None:
        self.notes.append(message)


def run(folder: Path, body: str, kernel: str = KERNEL, **environment: str) -> str:
    (folder / "some_kernel.py").write_text(kernel)
    code = (
        "import some_kernel\n"
        "from starshade.kernels import warm\n"
        "from starshade import progress\n"
        "from tests.unit.kernels.test_warm import Notes\n"
        "seen = Notes()\n"
        "with progress.watch(seen):\n"
        f"    {body}\n"
        "print(len(seen.notes))\n"
    )
    root = Path(__file__).parents[3]
    plain = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**plain, "PYTHONPATH": f"{folder}:{root}:{root}/src", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return out.stdout.strip()


ONCE = "warm.announce('doubling', some_kernel.double); some_kernel.double(2)"


def test_the_first_use_says_that_it_compiles_and_later_ones_do_not(tmp_path: Path) -> None:
    assert run(tmp_path, ONCE) == "1"
    assert run(tmp_path, ONCE) == "0"


def test_a_changed_source_compiles_again(tmp_path: Path) -> None:
    run(tmp_path, ONCE)
    assert run(tmp_path, ONCE, KERNEL.replace("2 * x", "3 * x")) == "1"


def test_it_says_so_once_in_a_process(tmp_path: Path) -> None:
    assert run(tmp_path, "[warm.announce('it', some_kernel.double) for _ in range(3)]") == "1"


def test_it_says_so_within_a_silence_too(tmp_path: Path) -> None:
    assert run(tmp_path, f"with progress.silence(): {ONCE}".replace("\n", " ")) == "1"


def test_an_interpreted_kernel_needs_no_compiling(tmp_path: Path) -> None:
    assert run(tmp_path, ONCE, NUMBA_DISABLE_JIT="1") == "0"


def test_a_kernel_compiled_in_this_process_is_ready() -> None:
    class Compiled:
        overloads: ClassVar[dict[str, object]] = {"int64": ()}

        @property
        def signatures(self) -> None:
            pytest.fail("this lists them one by one, each time that a kernel is called")

    seen = Notes()
    with progress.watch(seen):
        warm.announce("a compiled kernel", Compiled())
    assert seen.notes == []


def test_without_any_place_for_a_cache_kernels_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")  # so that what is set here ends with the test
    monkeypatch.setattr(warm.os, "access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    warm.prepare_cache()
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("starshade-kernels-")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert os.environ["NUMBA_CACHE_DIR"] == str(folder)


def test_a_place_for_the_cache_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    warm.prepare_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == ""


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"), reason="nothing is compiled"
)
def test_the_place_is_the_one_that_numba_takes() -> None:
    from starshade.kernels.fingerprint import mix

    assert str(warm.cache_place(Path(warm.__file__).parent)) == mix._cache.cache_path


def test_the_doctor_finds_the_kernels() -> None:
    from starshade.kernels.csr import transpose

    assert transpose  # their modules are loaded by the look itself
    cache = warm.kernel_cache()
    assert cache.ready <= cache.kernels
    interpreted = bool(os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"))
    assert (cache.kernels == 0) == interpreted
