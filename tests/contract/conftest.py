"""What several contract tests need."""

from __future__ import annotations

import pytest


@pytest.fixture
def few_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the inference gain on tables of the cast, too small for a figure as they are."""
    monkeypatch.setattr("starshade.attack.shadows.inference.FEWEST", 1)
