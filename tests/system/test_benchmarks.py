"""The benchmarks where something is missing: a sentence, and no traceback."""

from __future__ import annotations

import ast
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "at_hand")
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
    told = json.loads(run("recommend", "--job", "implicit ALS", "synthetic 1M").splitlines()[-1])
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
