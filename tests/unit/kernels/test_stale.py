from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from starshade.kernels.warm import forget_stale

FILES = {
    "ground": "from numba import njit",
    "middle": "from starshade.kernels.ground import a\nfrom numba import njit",
    "top": "from starshade.kernels.middle import b\nfrom numba import njit",
    "other": "from numba import njit",
    "plain": "no kernel in it",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def fill(cache: Path) -> None:
    for name in FILES:
        (cache / f"{name}.kernel-1.py311.nbi").write_text("")


def kept(cache: Path) -> set[str]:
    return {file.name.split(".")[0] for file in cache.glob("*.nbi")}


def test_what_has_changed_is_forgotten_with_all_that_holds_it(
    sources: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "new" / "cache"
    forget_stale(sources, lambda _: cache)  # the first time: the place is made and stamped
    fill(cache)
    forget_stale(sources, lambda _: cache)
    assert kept(cache) == set(FILES)
    (sources / "middle.py").write_text(FILES["middle"] + "\n# changed")
    forget_stale(sources, lambda _: cache)
    assert kept(cache) == {"ground", "other", "plain"}
    fill(cache)
    (sources / "ground.py").write_text(FILES["ground"] + "\n# changed")
    forget_stale(sources, lambda _: cache)
    assert kept(cache) == {"other", "plain"}


def test_wings_have_caches_of_their_own_and_hold_each_other(tmp_path: Path) -> None:
    sources = tmp_path / "kernels"
    texts = {
        "ground": "from numba import njit",
        "one/low": "from starshade.kernels.ground import a\nfrom numba import njit",
        "one/__init__": "from starshade.kernels.one.low import b",
        "two/high": "from starshade.kernels.one import (\n    b,\n)\nfrom numba import njit",
        "two/inner": "from starshade.kernels.arrays import inner",
        "two/apart": "from numba import njit",
    }

    def cache(folder: Path) -> Path:
        return folder / "cache"

    for name, text in texts.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / f"{name}.py").write_text(text)
    forget_stale(sources, cache)
    for name in texts:
        cache((sources / name).parent).mkdir(exist_ok=True)
        (cache((sources / name).parent) / f"{Path(name).name}.kernel-1.py311.nbi").write_text("")
    (sources / "ground.py").write_text("from numba import njit\n# changed")
    forget_stale(sources, cache)
    assert kept(cache(sources)) == set()
    assert kept(cache(sources / "one")) == set()
    assert kept(cache(sources / "two")) == {"apart", "inner"}
    (sources / "two" / "inner.py").write_text(f"{texts['two/inner']}\n# changed")
    forget_stale(sources, cache)
    assert kept(cache(sources / "two")) == {"apart"}


@pytest.mark.parametrize("stamp", [None, "", "no json", "[]", "{}"])
def test_a_cache_without_a_good_stamp_is_not_trusted(
    sources: Path, tmp_path: Path, stamp: str | None
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    fill(cache)
    if stamp is not None:
        (cache / "starshade-kernels.json").write_text(stamp)
    forget_stale(sources, lambda _: cache)
    assert kept(cache) == {"plain"}


def test_a_place_that_cannot_be_written_is_no_error(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    forget_stale(sources, lambda _: tmp_path / "file" / "cache")


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"), reason="nothing is compiled"
)
def test_numba_alone_would_run_old_code(sources: Path, tmp_path: Path) -> None:
    # the reason for all this: if Numba ever learns it, this fails and the file can go
    (tmp_path / "low.py").write_text(
        "from numba import njit\n@njit(cache=True)\ndef low():\n    return 1\n"
    )
    (tmp_path / "high.py").write_text(
        "from numba import njit\nfrom low import low\n"
        "@njit(cache=True)\ndef high():\n    return low()\n"
    )

    def answer() -> str:
        return subprocess.run(
            [sys.executable, "-c", "from high import high; print(high())"],
            capture_output=True, text=True, check=True, cwd=tmp_path,
        ).stdout.strip()  # fmt: skip

    assert answer() == "1"
    (tmp_path / "low.py").write_text((tmp_path / "low.py").read_text().replace("1", "2"))
    assert answer() == "1"
