"""Damaged and forged project files and environment values.

``python -m tests.hostile.projects`` runs `check-config` and `run --dry-run` on each. Each must end
with exit code 0, 1 or 2 and a message, within seconds and a gibibyte.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from starshade.project.file import ENVIRONMENT, NAME, sections
from tests.hostile.running import Fault, fault_of, table

SECONDS = 10.0
COMMANDS = (("check-config",), ("run", "--dry-run"))
METHODS = ("k-exchange", "predictive", "interval")
WHOLE = """version = 2
[data]
ratings = "ratings.csv"  # of this folder
null-values = [99]
scale = "1:5:1"
[release]
method = "k-exchange"
k = 2
items = "top:2"
[audit]
limit = ["record=50%", "class=0.5"]
known = [2, 4]
[publish]
to = "published"
"""
_VALUES = (
    *("true", "5", "-1", "0", "1.5", "nan", "-inf", "1e999", '""', '"x"', '"top:2"', "[]", "[1]"),
    *('["a"]', "{}", "{ a = 1 }", '{ a = "b" }', "1979-05-27", "07:32:00", "[[[]]]", '["a", 1]'),
    *('"\\u0000"', '"a\\u0007\\u001b[31mb"', '"\\uFFFF\\u202E"', f"0x{'f' * 99}", f"1{'0' * 30}"),
)
_TEXTS = (
    *("[" * 10**6, "{a=" * 10**5, "9" * 10**5, "x" * 10**6, "/x" * 50_000, "a." * 50_000),
    *("\udc80", "\x1b[2J\x07", "5\n[x]\ny = 1", "'", '"', "''' ", "1e999", "[1, [2, [3]]]"),
    *("{a = {b = 1}}", "host=db password=pa55", "sqlite://u:p@/x", "a:@" * 10**5),
    f"postgresql://h{',' * 90}:a/x",
)


class Case(NamedTuple):
    """A project file, what the environment says, and of which kind they are."""

    what: str
    content: bytes
    env: Mapping[str, str] = {}


def cases(seed: int = 0) -> Iterator[Case]:
    """Yield every case; `seed`: of what is random."""
    rng = random.Random(seed)
    yield Case("whole", WHOLE.encode())
    yield from _of_keys()
    yield from _nested_and_overlong()
    yield from _unknown()
    yield from _damaged(rng)
    yield from _environment()


def _keys() -> Iterator[tuple[str, str, str]]:
    """Yield each key of each section once, with a method that has it."""
    seen = set()
    for method in METHODS:
        for section, keys in sections(method).items():
            for key in keys:
                if (section, key) not in seen:
                    seen.add((section, key))
                    yield method, section, key


def _with(method: str, section: str, key: str, value: str) -> bytes:
    """Return a whole file with one value replaced."""
    lines, at = [], ""
    for line in WHOLE.replace('"k-exchange"', f'"{method}"').splitlines():
        at = line.strip("[]") if line.startswith("[") else at
        if not (at == section and line.partition("=")[0].strip() == key):
            lines.append(line)
        if line == f"[{section}]":
            lines.append(f"{key} = {value}")
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _of_keys() -> Iterator[Case]:
    for method, section, key in _keys():
        for value in _VALUES:
            yield Case("a value of another type", _with(method, section, key, value))
        for value in ('"' + "x" * 5000 + '"', '"' + "y/" * 20_000 + '"', "7" * 5000):
            yield Case("an overlong value", _with(method, section, key, value))
        yield Case("a key twice", _with(method, section, f"{key} = 1\n{key}", "2"))


def _nested_and_overlong() -> Iterator[Case]:
    for depth in (10, 99, 450, 900, 5000, 10**6):
        for opened, closed in (("[", "]"), ("{a=", "}"), ("[{a=", "}]")):
            for end in ("", closed * depth):
                value = opened * (depth // len(opened)) + end
                yield Case("nested", f"{WHOLE}earlier = {value}\n".encode())
        yield Case("nested", (WHOLE + "x." * (depth // 4) + "y = 1\n").encode())
        yield Case("nested", (WHOLE + "[" + "x." * (depth // 4) + "y]\n").encode())
    for text in ("[", "]", " ", "\n", "\r", "#", "=", '"', "'", "\\", ",", "\0", "é", "a=1\n"):
        yield Case("a character again and again", WHOLE.encode() + (text * 10**5).encode())
        yield Case("too large", WHOLE.encode() + (text * (2**21 // len(text))).encode())


def _unknown() -> Iterator[Case]:
    long = f"'{'n' * 9000}'"
    for name in ("ratings", "K", "k ", "ключ", '"a\\u0000b"', '"\\u001b[2J"', long):
        for section in ("", "[data]\n", "[release]\n", "[x]\n", "[[data]]\n", "[data.x]\n"):
            yield Case("an unknown key", f"{section}{name} = 1\n".encode())
    yield Case("unknown keys", (WHOLE + "".join(f"a{i} = 1\n" for i in range(40_000))).encode())
    yield Case("unknown sections", (WHOLE + "".join(f"[a{i}]\n" for i in range(40_000))).encode())


def _damaged(rng: random.Random) -> Iterator[Case]:
    whole = WHOLE.encode()
    for end in range(0, len(whole), 4):
        yield Case("cut off", whole[:end])
    for _ in range(120):
        flipped = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        yield Case("bits flipped", bytes(flipped))
    for _ in range(60):
        yield Case("random bytes", rng.randbytes(rng.randrange(1, 3000)))
    for _ in range(60):
        start, control = rng.randrange(len(whole)), rng.choice("\0\1\7\x1b\x7f\x85\u2028\ufeff")
        yield Case("a control character", whole[:start] + control.encode() + whole[start:])


def _environment() -> Iterator[Case]:
    for _, section, key in _keys():
        variable = f"{ENVIRONMENT}{section}_{key}".upper().replace("-", "_")
        for text in _TEXTS:
            yield Case("a value of the environment", WHOLE.encode(), {variable: text})
    long = f"DATA_{'X' * 9000}"
    for name in ("", "X", "DATA_", long, "RELEASE_\x1b[2J", "DATA_\udc80", "AUDIT_ß"):
        yield Case("a name in the environment", WHOLE.encode(), {f"{ENVIRONMENT}{name}": "1"})


def try_cases(chosen: list[Case], folder: Path) -> tuple[Counter[str], list[Fault]]:
    """Run the commands on cases, in a folder of ratings; return the calls and the faults."""
    ratings = [f"{user},{item},{1 + user * item % 5}" for user in range(9) for item in range(4)]
    (folder / "ratings.csv").write_text("\n".join(["user,item,rating", *ratings]) + "\n")
    calls, faults = Counter[str](), []
    with contextlib.chdir(folder):
        for number, case in enumerate(chosen):
            Path(NAME).write_bytes(case.content)
            for command in COMMANDS:
                calls[case.what] += 1
                if fault := fault_of(command, seconds=SECONDS, env=case.env):
                    shown = (
                        f"{command} of case {number}: {case.content[-60:]!r} {str(case.env)[:80]}"
                    )
                    faults.append(Fault(case.what, shown, fault))
    return calls, faults


def main() -> int:
    """Try all of them; print the table."""
    with tempfile.TemporaryDirectory() as folder:
        calls, faults = try_cases(list(cases()), Path(folder))
    print(table(calls, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
