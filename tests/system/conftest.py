"""A small rating file, a release of it, and the command line to run on them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from starshade.cli import main
from starshade.ratings.read import read_ratings
from starshade.release.manifest import Claim
from starshade.renamed import SCHEMA
from tests.unit.release.samples import covering, generalized

USERS, ITEMS = 120, 15


def small_csv(path: Path, *, seed: int = 0, users: int = USERS, items: int = ITEMS) -> Path:
    """Write long-tailed ratings 1-5 with dates; every user has at least one."""
    rng = np.random.default_rng(seed)
    lines = ["userId,movieId,rating,timestamp"]
    for user in range(1, users + 1):
        chance = 0.9 / (1 + np.arange(items) / 4)
        rated = np.flatnonzero(rng.random(items) < chance)
        rated = rated if len(rated) else np.array([0])
        for item in rated:
            rating = int(np.clip(np.rint(rng.normal(3.6, 1)), 1, 5))
            day = 10_000 + int(rng.integers(0, 400))
            lines.append(f"{user},{item + 1},{rating},{day * 86_400}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def ratings_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that most of these tests read."""
    return small_csv(tmp_path_factory.mktemp("ratings") / "ratings.csv")


@dataclass(frozen=True)
class Made:
    """A release folder and its receipt."""

    folder: Path
    receipt: Path


@pytest.fixture(scope="session")
def made(ratings_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A release of the ratings: k = 4, the ten most rated items."""
    place = tmp_path_factory.mktemp("made")
    result = call(
        *("anonymize", ratings_csv, "--method", "k-exchange", "--k", "4"),
        *("--items", "top:10", "--seed", "1"),
        *("--out", place / "release", "--private", place / "receipt.json"),
    )
    assert result.exit_code == 0, result.stderr
    return Made(place / "release", place / "receipt.json")


@pytest.fixture(scope="session")
def people_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Personal attributes of those who rated: an age, a town, a job that few lack."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    jobs = ("baker", "nurse", "", "pilot")
    lines = [f"{u},{20 + u % 40},{'AB'[u % 2]},{jobs[u // 2 % 4]}" for u in range(1, USERS + 1)]
    path.write_text("\n".join(["userId,age,town,job", *lines]) + "\n")
    return path


@pytest.fixture(scope="session")
def claiming(ratings_csv: Path, people_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with ages and towns generalized that claims 3-anonymity, 2 jobs, and closeness."""
    ratings = read_ratings(ratings_csv, users=people_csv)
    groups = np.arange(ratings.n_users) // 4
    made = covering(ratings, groups, ranges=False)
    job = {"attribute": "job"}
    claims = (
        Claim(model="k-anonymity", parameters={"k": 3}),
        Claim(model="l-diversity", parameters={"l": 2} | job),
        Claim(model="t-closeness", parameters={"t": 0.5} | job),
    )
    place = tmp_path_factory.mktemp("claiming") / "release"
    generalized(made, ("age", "town"), ("job",), claims=claims).save(place)
    return place


@dataclass(frozen=True)
class Demo:
    """What `starshade demo` printed, and the folder that it ran in."""

    result: Result
    folder: Path

    @property
    def found(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.result.stdout)
        assert found.pop("schema") == SCHEMA
        return found


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo, run once: beside `here`, up from a link that leads to `far/deep`."""
    place = tmp_path_factory.mktemp("demo")
    (place / "here").mkdir()
    (place / "far" / "deep").mkdir(parents=True)
    (place / "here" / "link").symlink_to(place / "far" / "deep")
    with contextlib.chdir(place / "here"):
        result = call("demo", "--json", "--quiet", "--out", "link/../x", "--seed", 2)
    assert result.exit_code == 0, result.stderr
    return Demo(result, place)


def call(*args: object) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def told(*args: object, code: int = 0) -> dict[str, Any]:
    """Run a command with --json; return the one object on stdout, without its schema."""
    result = call(*args, "--json")
    assert result.exit_code == code, result.stderr
    assert result.stdout.endswith("}\n")
    assert result.stdout.count("\n") == 1
    found = json.loads(result.stdout, parse_constant=_refuse)
    assert isinstance(found, dict)
    assert next(iter(found)) == "schema"
    assert found.pop("schema") == SCHEMA
    return found


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def refused(*args: object, code: int = 2) -> str:
    """Run a command that must be refused; return what it says."""
    result = call(*args)
    assert result.exit_code == code, result.stdout + result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    message = result.stderr[result.stderr.index("Error: ") :]
    assert len(message.splitlines()) <= 6
    return message


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command line in a process of its own, in an empty folder."""

    def run(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "starshade", *map(str, args)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **options.pop("env", {})},
            **options,
        )

    return run
