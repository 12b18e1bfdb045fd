"""What the benchmarks share: options with `--smoke`, jobs, public data, ratings, rivals."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from starshade.errors import UserError
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings

ML_100K = "ml-100k/u.data"
PUBLIC = {"ml-100k": ML_100K, "ml-latest-small": "ml-latest-small/ratings.csv"}


class Options(argparse.ArgumentParser):
    """The options of a script. `smoke=` is an option's value under `--smoke`."""

    def __init__(self, doc: str | None) -> None:
        self._smoke: dict[str, Any] = {}
        super().__init__(description=(doc or "").partition("\n")[0], allow_abbrev=False)
        self.add_argument(
            "--smoke",
            action="store_true",
            help="smallest size, one round; checks that the script runs",
        )

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        """Add an option; `smoke`, where given, replaces the default under `--smoke`."""
        if "smoke" in settings:
            self._smoke[names[0].strip("-").replace("-", "_")] = settings.pop("smoke")
        return super().add_argument(*names, **settings)

    def add_ratings(self) -> None:
        """Add the argument RATINGS, which `named` and `ratings_of` take."""
        self.add_argument("ratings", nargs="?", smoke=drawn, help="[default: MovieLens 100K]")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        """Parse; under `--smoke` no public data are read, in jobs neither."""
        if "--smoke" in (sys.argv[1:] if args is None else args):
            os.environ["STARSHADE_DATA"] = os.devnull
            small = {name: v() if callable(v) else v for name, v in self._smoke.items()}
            self.set_defaults(**small)
        return super().parse_args(args, namespace)


@cache
def drawn() -> Path:
    """Draw a few ratings into a scratch file, which is removed at the end."""
    from starshade.ratings.synth.synth import synthesize
    from starshade.ratings.write import write_ratings

    folder = tempfile.mkdtemp(prefix="starshade-benchmark-")
    atexit.register(shutil.rmtree, folder)
    file = Path(folder) / "ratings.csv"
    write_ratings(synthesize(n_users=200, n_items=60, n_ratings=5_000, rng=1), file)
    return file


def up_to(largest: int, sizes: Iterable[int]) -> list[int]:
    """Return the sizes up to the largest; where it is below them all, the largest alone."""
    return [size for size in sizes if size <= largest] or [largest] * (largest > 0)


def run_job(*arguments: object, **more: Any) -> Any:
    """Run this script with these arguments in a process of its own; return its JSON."""
    command = [sys.executable, sys.argv[0], *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, **more)
    return json.loads(done.stdout.splitlines()[-1])


def peak_mb() -> float:
    """Return the peak memory of this process since it began to run this program, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


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
            f"{module} is not installed, and this compares with it: `make .venv/.dev` installs it."
        ) from None
