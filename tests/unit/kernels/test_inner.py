from __future__ import annotations

import os

import pytest
from numba import njit

from starshade.kernels.arrays import inner


@inner
def add_one(x: int) -> int:
    return x + 1


@njit
def add_two(x):  # type: ignore[no-untyped-def]
    return add_one(add_one(x))


def test_kernels_call_it() -> None:
    assert add_two(1) == 3


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"), reason="nothing is compiled"
)
def test_python_is_told_that_it_cannot() -> None:
    add_two(1)  # so that it is compiled: Numba alone would end the process below
    for x in (1, 1.5):
        with pytest.raises(TypeError, match="add_one is called by kernels only"):
            add_one(x)
