"""What a benchmark needs and a machine may lack: the public data, ratings, a rival."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from starshade.errors import UserError
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings

ML_100K = "ml-100k/u.data"


@cache
def public(name: str) -> Path | None:
    """Return a file of the public data; where it is not there, say so once, and None."""
    root = Path(__file__).parent.parent.parent / "shared" / "data"
    file = Path(os.environ.get("STARSHADE_DATA", root)) / name
    if file.is_file():
        return file
    print(
        f"{name} is not in {file.parents[name.count('/')]}, so that what needs it is left out; "
        "STARSHADE_DATA names the folder of the public data.",
        file=sys.stderr,
    )
    return None


def named(path: str | Path | None) -> Path:
    """Return the ratings that were named, or MovieLens 100K; end with a sentence without."""
    file = public(ML_100K) if path is None else Path(path)
    if file is None or not file.exists():
        raise SystemExit(f"{file or 'No ratings'}: not there; name a file or folder of ratings.")
    return file


def ratings_of(path: str | Path | None) -> Ratings:
    """Read them; end with a sentence where that is refused."""
    try:
        return read_ratings(named(path))
    except UserError as error:
        raise SystemExit(str(error)) from None


def installed(module: str) -> Any:
    """Import what is compared with; end with a sentence where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise SystemExit(
            f"{module} is not installed, and this compares with it: `make setup` installs it."
        ) from None
