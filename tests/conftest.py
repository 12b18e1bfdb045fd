"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "starshade",
    max_examples=40,
    deadline=None,  # the first example compiles a kernel
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=bool(os.environ.get("CI")),
)
settings.register_profile("thorough", parent=settings.get_profile("starshade"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "starshade"))


def _data(name: str) -> Path:
    root = Path(__file__).parent.parent.parent / "shared" / "data"
    root = Path(os.environ.get("STARSHADE_DATA", root))
    if not (root / name).is_dir():
        pytest.skip(f"public data set {name} not found; set STARSHADE_DATA to its parent folder")
    return root / name


@pytest.fixture(scope="session")
def ml100k_dir() -> Path:
    """Folder of MovieLens 100K (u.data, u.user, u.item)."""
    return _data("ml-100k")


@pytest.fixture(scope="session")
def ml_latest_small_dir() -> Path:
    """Folder of MovieLens latest-small (ratings.csv)."""
    return _data("ml-latest-small")
