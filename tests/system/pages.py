"""A page of the documentation, run: its commands in its order, and what they are said to print.

In a block of kind ``console`` a line that begins with ``$`` is a command; the lines after it, up
to the next one, are quoted from what it prints, with a line ``…`` where something is left out.
Line breaks and columns may differ from a real terminal's; words and figures may not.

- ``$ cat FILE`` shows a file that is there, or else writes down the one that the page shows.
- ``$ echo $?`` shows how the command before ended; without it that was a success.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import call

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Step:
    """A command, and what the page quotes of its output."""

    command: str
    quoted: str


def steps(page: str) -> list[Step]:
    """Return the commands of a page, in its order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return list(_steps("\n".join(_blocks(text, "console"))))


def code(page: str) -> list[str]:
    """Return the blocks of Python of a page."""
    return _blocks((DOCS / page).read_text(encoding="utf-8"), "python")


def _blocks(text: str, kind: str) -> list[str]:
    found = re.findall(rf"^( *)```{kind}\n(.*?)^ *```", text, re.M | re.S)
    return [re.sub(f"^{indent}", "", block, flags=re.M) for indent, block in found]


def _steps(lines: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", lines, flags=re.M)[1:]:
        command, _, quoted = part.replace("\\\n", " ").partition("\n")
        yield Step(command, quoted)


def run(page: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Run every command of a page in a folder, and compare what it prints with what is quoted."""
    patch.chdir(folder)
    ended = 0
    for step, after in zip((found := steps(page)), [*found[1:], None], strict=True):
        words = shlex.split(step.command)
        if words[0] == "cat":
            _show(Path(words[1]), step.quoted)
        elif words == ["echo", "$?"]:
            assert step.quoted.strip() == str(ended), f"{page}: ended with {ended}"
        else:
            assert words[0] == "starshade", step.command
            result = call(*words[1:])
            ended, said = result.exit_code, result.stdout + "\n" + result.stderr
            asked = after is not None and after.command == "echo $?"
            assert asked or ended == 0, f"{page}: {step.command}\n{said}"
            compare(step.quoted, said, f"{page}: {step.command}")


def compare(quoted: str, said: str, where: str) -> None:
    """Find each quoted passage in what was said, in its order."""
    rest = flat(said)
    for passage in re.split(r"^…$", quoted, flags=re.M):
        wanted = flat(passage)
        if not wanted:
            continue
        before, found, rest = rest.partition(wanted)
        assert found == wanted, f"{where}\nnot said:\n{wanted}\nin:\n{before}"


def flat(text: str) -> str:
    """Return the words of a text, whatever its lines."""
    return " ".join(text.split())


def python(page: str, names: dict[str, Any]) -> list[str]:
    """Run every block of Python of a page, each after the others; return what each prints.

    A block that imports a library that is not installed is left out.
    """
    said = []
    for block in filter(_installed, code(page)):
        heard = StringIO()
        with redirect_stdout(heard):
            exec(block, names)
        said.append(heard.getvalue())
    return said


def _installed(block: str) -> bool:
    libraries = re.findall(r"^(?:import|from) (\w+)", block, re.M)
    return all(find_spec(library) is not None for library in libraries)


def _show(path: Path, quoted: str) -> None:
    if path.exists():
        compare(quoted, path.read_text(encoding="utf-8"), str(path))
    else:
        path.write_text(quoted.strip("\n") + "\n", encoding="utf-8")
