"""What ``docs/prediction.md`` tells one to type works, line by line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from starshade.ratings.synth.synth import synthesize
from starshade.ratings.write import write_ratings
from starshade.release.folder.read import read_release
from tests.system.conftest import call

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "prediction.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("$ starshade ")
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S)
    for line in block.splitlines()
]
(READING,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    ratings = synthesize(n_users=120, n_items=30, n_ratings=1500, rng=1)
    write_ratings(ratings, folder / "ratings.csv", "csv")
    return folder


def test_every_command_works_in_the_page_s_order(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    assert len(COMMANDS) >= 9
    for command in COMMANDS:
        words = shlex.split(command)
        if words[0] == "reproduce":
            words += ["--k", "5", "--runs", "1"]
        result = call(*words)
        # an audit may find a release of few people wanting, and says so by its exit code
        assert result.exit_code in ((0, 1, 4) if words[0] == "audit" else (0,)), result.stderr
    names: dict[str, np.ndarray] = {}
    exec(READING, names)
    release = read_release("release/")
    assert np.isfinite(names["profiles"]).all()
    expected = release.classes.values(np.arange(release.classes.n_groups))
    assert np.allclose(names["profiles"], expected)


def test_the_page_names_every_profile() -> None:
    for name in ("pooled", "model", "padded", "simple"):
        assert f"| `{name}` " in PAGE


def test_what_profiles_tell_is_what_the_promise_says() -> None:
    promise = (DOCS / "promise.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| rated against unrated cells, AUC .*$", promise, re.M)
    hidden = re.findall(r"[\d.]+ %(?= \|)", row)[2:]  # both of `simple` come first
    assert len(hidden) == 3  # padded, model, pooled
    paragraph = next(p for p in PAGE.split("\n\n") if p.startswith("How well each hides"))
    assert re.findall(r"[\d.]+ %(?= \(by|,|;)", paragraph) == hidden
