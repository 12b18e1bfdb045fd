from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.server.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    pytest.importorskip("fastapi", reason="pip install 'starshade[web]'")
    opened = Desk(tmp_path / "work")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One for the whole file, for tests that leave it as it was."""
    pytest.importorskip("fastapi", reason="pip install 'starshade[web]'")
    opened = Desk(tmp_path_factory.mktemp("still") / "work")
    yield opened
    opened.close()
