"""Each benchmark runs at its smallest size; where something is missing it says so, no traceback."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "at_hand")
RECOMMENDERS = ("implicit ALS", "Surprise SVD", "LensKit biased MF")
#: rows that need a figure, of starshade and of the rivals
ROWS: dict[str, tuple[str, ...]] = {
    "attack": ("every user", "full", "best guess", "reading", "numpy", "pandas"),
    "generalize": ("k-exchange", "k-likeness", "k-member", "mondrian", "mondrian-relaxed"),
    "k_eps": ("tree", "cKDTree", "slicing", "pairwise"),
    "k_likeness": ("groups", "release", "numpy", "sparse", "full"),
    "likelihood": ("scoreboard-rh", "plain", "informed", "placed right"),
    "netflix_story": ("draw", "convert", "release", "likelihood", "check", "measure", "report"),
    "predictive": ("starshade", "scikit-learn"),
    "query": ("COUNT", "DuckDB"),
    "read": ("DuckDB CSV", "starshade CSV", "Netflix text", "reopening"),
    "recommend": ("starshade", *RECOMMENDERS, "starshade, everything"),
    "report": ("audit", "dossier", "html", "command"),
    "sharded_release": ("pooled", "padded", "model", "simple", "shards", "store"),
    "shards": ("attack, shards", "attack, store"),
    "studio": ("first page", "drawn", "attacked", "slowest page"),
    "synth": ("draw", "the disk alone"),
    "years": ("k-exchange", "pooled", "composition", "simple", "padded", "model"),
}
RIVALS = {"duckdb", "sklearn", "implicit", "surprise", "lenskit", "pandas", "polars"}
Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a script, where there are no public data, and return what it says as it ends."""
    monkeypatch.setenv("STARSHADE_DATA", str(tmp_path))
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("at_hand", "k_likeness"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def said(name: str, *options: str) -> str:
        monkeypatch.setattr(sys, "argv", [str(FOLDER / f"{name}.py"), *options])
        ended: object = ""
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            ended = end.code
        return f"{ended}\n" + "".join(capfd.readouterr())

    return said


def new_files() -> str:
    """Return the files of the checkout that git neither tracks nor ignores."""
    command = ["git", "-C", str(FOLDER.parent), "ls-files", "--others", "--exclude-standard"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_smallest_size(name: str, tmp_path: Path) -> None:
    if name == "spark" and find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    scratch, no_data = tmp_path / "scratch", tmp_path / "no-data"
    scratch.mkdir()
    no_data.mkdir()
    before = new_files()
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), "--smoke"],
        cwd=scratch,
        env=os.environ | {"TMPDIR": str(scratch), "STARSHADE_DATA": str(no_data)},
        capture_output=True,
        text=True,
        check=False,
    )
    if "is not installed, and this compares with it" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for row in ("", *ROWS.get(name, ())):
        rests = [line.replace(row, "", 1) for line in done.stdout.splitlines() if row in line]
        assert any(re.search(r"\d|not installed", rest) for rest in rests), (row, done.stdout)
    assert list(scratch.iterdir()) == []
    assert new_files() == before


def test_smoke_replaces_defaults_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STARSHADE_DATA", "given")
    monkeypatch.syspath_prepend(str(FOLDER))
    at_hand = import_module("at_hand")
    options = at_hand.Options("What it does.\n\nMore.")
    options.add_argument("--users", type=int, default=100, smoke=2)
    options.add_argument("--most-items", type=int, default=50, smoke=lambda: 3)
    options.add_argument("--k", type=int, default=5)
    usual = options.parse_args([])
    assert (usual.users, usual.most_items, usual.k) == (100, 50, 5)
    assert os.environ["STARSHADE_DATA"] == "given"
    small = options.parse_args(["--smoke", "--users", "7"])
    assert (small.users, small.most_items, small.k) == (7, 3, 5)
    assert at_hand.public(at_hand.ML_100K) is None


def test_sizes_up_to_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    up_to = import_module("at_hand").up_to
    assert up_to(20, (10, 20, 30)) == [10, 20]
    assert up_to(5, (10, 20, 30)) == [5]
    assert up_to(0, (10, 20, 30)) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_is_listed(name: str) -> None:
    assert f"| `{name}.py` |" in (FOLDER / "README.md").read_text()


@pytest.mark.parametrize("name", ["diversity", "prediction_quality", "report"])
def test_ratings_that_are_not_there(name: str, run: Run, tmp_path: Path) -> None:
    assert f"ml-100k/u.data is not in {tmp_path}" in run(name)
    assert "missing.csv: not there" in run(name, str(tmp_path / "missing.csv"))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("k_eps", ("--largest", "0")),
        ("interval", ("--table",)),
        ("recommend", ("--data", "ml-100k", "ml-latest-small")),
    ],
)
def test_public_data_that_are_not_there(
    name: str, options: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"is not in {tmp_path}, so that what needs it is left out" in run(name, *options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("absence", ("--data", "missing.csv")),
        ("recommend", ("--data", "--store", "missing.csv")),
        ("predictive", ("--store", "missing.csv")),
        ("recommend", ("--data", "missing.csv")),
    ],
)
def test_ratings_that_were_named_and_are_not_there(name: str, options: list[str], run: Run) -> None:
    assert "missing.csv: not there" in run(name, *options)


@pytest.mark.parametrize(
    ("name", "module", "options"),
    [
        ("attack", "pandas", ()),
        ("query", "duckdb", ()),
        ("read", "duckdb", ()),
        ("predictive", "sklearn.cluster", ("--rival",)),
    ],
)
def test_a_rival_that_is_not_installed(
    name: str, module: str, options: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert f"{module} is not installed, and this compares with it" in run(name, *options)


def test_a_recommender_that_is_not_installed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "implicit", None)
    told = json.loads(run("recommend", "--job", "implicit ALS", "synthetic").splitlines()[-1])
    assert "optional package that is not installed" in told["absent"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_other_script_looks_for_data_or_rivals_itself(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
    assert not modules & RIVALS
    told = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    assert "STARSHADE_DATA" not in told
