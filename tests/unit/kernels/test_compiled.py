from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import compiled

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"), reason="nothing is compiled"
)


def test_types_are_read_as_they_were_written() -> None:
    from starshade.kernels.ahead.crew import read_types, write_types

    lines = compiled.LIST.read_text().splitlines()
    every = [types for line in lines for types in json.loads(line)["types"]]
    assert len(every) > 100
    assert [write_types(read_types(types)) for types in every] == every


def test_a_named_tuple_of_one_type_is_read_as_numba_sees_it() -> None:
    import numba

    from starshade.kernels.ahead.crew import read_types, write_types
    from starshade.kernels.attack.candidates import Thresholds

    seen = numba.typeof(Thresholds(1, 2))
    assert read_types(write_types((seen,))) == (seen,)


def test_a_kernel_that_is_no_more_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        "starshade.kernels.arrays:place_of",
        "starshade.kernels.arrays:gone",
        "starshade.gone:f",
    ]
    lines = [json.dumps({"kernel": name, "types": {"int64": 1}}) for name in names]
    monkeypatch.setattr(compiled, "LIST", tmp_path / "list")
    (tmp_path / "list").write_text("\n".join(lines))
    assert [job.kernel.py_func.__name__ for job in compiled._jobs()] == ["place_of"]


def test_what_is_compiled_stays_so_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    def run(words: list[str], **_: object) -> object:
        started.append(words)
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(compiled.subprocess, "run", run)
    monkeypatch.setattr(compiled, "READY", tmp_path / "ready")
    monkeypatch.setattr(compiled, "KERNELS", tmp_path)
    compiled.compile_once(2)
    compiled.compile_once(2)
    assert len(started) == 1
    (tmp_path / "kernel.py").write_text("another")
    compiled.compile_once(2)
    assert len(started) == 2
