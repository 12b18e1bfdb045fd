from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import starshade
from tests.public_names import STUB, stub

NAMES = [name for name in starshade.__all__ if name != "__version__"]
ROOMS = {
    path.stem
    for path in (Path(starshade.__file__).parent).iterdir()
    if not path.name.startswith("_")
}


def test_the_names_are_sorted_and_distinct() -> None:
    assert sorted(set(starshade.__all__)) == starshade.__all__


def test_type_checkers_read_the_same_names() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "run `make names`"


def test_every_public_name_is_named_where_it_is_defined() -> None:
    where = starshade._WHERE | starshade._registered()
    assert sorted(where) == NAMES
    assert {name: getattr(starshade, name).__module__ for name in NAMES} == where


def test_every_public_name_is_documented() -> None:
    untold = [name for name in NAMES if not inspect.getdoc(getattr(starshade, name))]
    for name in NAMES:
        value = getattr(starshade, name)
        for attribute, member in vars(value).items() if inspect.isclass(value) else ():
            public = not attribute.startswith("_")
            if public and (inspect.isfunction(member) or isinstance(member, property)):
                untold += [] if inspect.getdoc(member) else [f"{name}.{attribute}"]
    assert not untold, "\n".join(untold)


def test_no_public_function_bears_the_name_of_a_room() -> None:
    assert not ROOMS & set(NAMES)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = starshade.nothing_of_this_name  # type: ignore[attr-defined]


def test_star_import_gives_all(tmp_path: Path) -> None:
    code = "from starshade import *; print(Scale(1, 5, 1), __version__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == f"1:5:1 {starshade.__version__}\n"


def test_thresholds_by_name_pass_a_type_checker(tmp_path: Path) -> None:
    """As a user's script has them; mypy reads the package's own annotations."""
    script = tmp_path / "script.py"
    script.write_text(
        "import starshade as ss\n"
        'ss.Audit(threshold={"linkability": 0.5})\nss.Audit(threshold=["linkability=0.5"])\n'
    )
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", str(script)],
        cwd=Path(starshade.__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout
