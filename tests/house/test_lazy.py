from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "duckdb", "pyarrow", "scipy", "pydantic", "numpy", "pandas", "polars", "rich")
IMPORT = "import starshade"
HELP = "from starshade.cli import main; main(['--help'], standalone_mode=False)"
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
    ["reproduce", "sq"],
    ["list"],
    ["doctor"],
]


def modules(code: str) -> set[str]:
    told = f"{code}\nimport sys\nprint('loaded', *sys.modules)"
    out = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(out.stdout.splitlines()[-1].split()[1:])


def loaded(code: str) -> list[str]:
    found = modules(code)
    return [name for name in HEAVY if name in found]


# one process asks one command after another: what any of them loads stays, and the first is named
ASKED = f"""
import sys
from starshade.cli import main
for command in {[[], *COMMANDS]}:
    main([*command, "--help"], standalone_mode=False)
    found = [name for name in {HEAVY} if name in sys.modules]
    assert not found, (command, found)
print("asked", {len(COMMANDS)})
"""


def test_import_loads_nothing_heavy() -> None:
    assert loaded(IMPORT) == []


def test_dir_loads_nothing_heavy() -> None:
    assert loaded("import starshade; dir(starshade)") == []


def test_help_loads_nothing_heavy() -> None:
    asked = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout.endswith(f"\nasked {len(COMMANDS)}\n")


def test_a_use_loads_what_it_needs() -> None:
    # the tests above mean something only if loading can be seen
    assert "numpy" in loaded("import starshade; starshade.Scale(1, 5, 1)")


@pytest.mark.parametrize(
    ("code", "most"),
    [(IMPORT, 60), (HELP, 250)],
    ids=["import", "help"],
)
def test_few_modules_are_loaded_before_anything_is_done(code: str, most: int) -> None:
    # what starting takes; the time itself is measured by benchmarks/start.py
    assert 0 < len(modules(code) - modules("")) <= most


def test_a_module_too_many_is_seen() -> None:
    assert len(modules("import numpy") - modules("")) > 60
