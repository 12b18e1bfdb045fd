"""The examples in docstrings print what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests.house.floors import SRC

FILES = [file for file in sorted(SRC.rglob("*.py")) if ">>> " in file.read_text(encoding="utf-8")]


def test_every_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    failed, tried = [], 0
    for file in FILES:
        name = ".".join(file.relative_to(SRC.parent).with_suffix("").parts)
        found = doctest.testmod(import_module(name.removesuffix(".__init__")))
        tried += found.attempted
        if found.failed:
            failed.append(capsys.readouterr().out)
    assert not failed, "".join(failed)
    assert tried > len(FILES)


def test_one_that_does_not_is_seen() -> None:
    (wrong,) = doctest.DocTestFinder().find(_wrong, "wrong")
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _: None).failed == 1


def _wrong() -> None:
    """Say a wrong sum.

    >>> 1 + 1
    3
    """
