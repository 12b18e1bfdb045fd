"""Thresholds for tests that are about something else than what a policy decides."""

from __future__ import annotations

import json

from starshade.audit.checks.policy import CHECKED

#: every usual check of a single release accepted without limit: claims and conditions are left
NO_LIMITS = {name: 1.0 for name, each in CHECKED.items() if each.usual and name != "composition"}


def _with(thresholds: tuple[str, ...]) -> list[str]:
    own = dict(text.split("=") for text in thresholds)
    return [f"{name}={value}" for name, value in {**NO_LIMITS, **own}.items()]


def in_toml(*thresholds: str) -> str:
    """Write these thresholds for a project file, ``NAME=VALUE``; no other check has a limit."""
    return f"threshold = {json.dumps(_with(thresholds))}"


def as_options(*thresholds: str) -> list[str]:
    """Write these thresholds as options, ``NAME=VALUE``; no other check has a limit."""
    return [word for each in _with(thresholds) for word in ("--threshold", each)]
