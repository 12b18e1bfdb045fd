"""Writes ``starshade/__init__.pyi``: ``python -m tests.public_names``."""

from __future__ import annotations

from pathlib import Path

import starshade

STUB = Path(starshade.__file__).with_suffix(".pyi")


def stub() -> str:
    """Return the public names as type checkers and editors read them."""
    where = starshade._WHERE | starshade._registered() | {"__version__": "starshade._version"}
    lines = [
        f"from {module} import {name} as {name}"
        for name, module in sorted(where.items(), key=lambda pair: (pair[1], pair[0]))
    ]
    return "\n".join(["# made by `make names`", *lines, ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
