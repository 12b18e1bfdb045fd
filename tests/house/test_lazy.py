from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = ("numba", "duckdb", "pyarrow", "scipy", "pydantic", "numpy", "pandas", "polars", "rich")
IMPORT = "import starshade"
COMMANDS = [
    ["demo"],
    ["data"],
    ["data", "describe"],
    ["data", "convert"],
    ["data", "synth"],
    ["attack"],
    ["check"],
    ["anonymize"],
    ["measure"],
    ["audit"],
    ["query"],
    ["compare"],
    ["studio"],
    ["reproduce", "kl"],
    ["reproduce", "ns"],
    ["reproduce", "sr"],
    ["list"],
    ["doctor"],
]


def loaded(code: str) -> list[str]:
    told = f"{code}\nimport sys\nprint('loaded', *[m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return out.stdout.splitlines()[-1].split()[1:]


def test_import_loads_nothing_heavy() -> None:
    assert loaded(IMPORT) == []


def test_dir_loads_nothing_heavy() -> None:
    assert loaded("import starshade; dir(starshade)") == []


@pytest.mark.parametrize("command", [[], *COMMANDS], ids=" ".join)
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    call = f"from starshade.cli import main; main({[*command, '--help']}, standalone_mode=False)"
    assert loaded(call) == []


def test_a_use_loads_what_it_needs() -> None:
    # the tests above mean something only if loading can be seen
    assert "numpy" in loaded("import starshade; starshade.Scale(1, 5, 1)")


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(["-c", IMPORT], 0.5), (["-m", "starshade", "--help"], 0.3)],
    ids=["import", "help"],
)
def test_it_is_there_at_once(arguments: list[str], most: float) -> None:
    # the processor's time, the best of several: a busy machine is not what is measured
    assert min(timed([sys.executable, *arguments]) for _ in range(3)) <= most


def timed(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    children = ("children_user", "children_system")
    return sum(getattr(after, name) - getattr(before, name) for name in children)
