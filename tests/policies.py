"""Thresholds for tests that are about something else than what a policy decides."""

from __future__ import annotations

from starshade.audit.checks.policy import CHECKED

#: every usual check accepted without limit: what is left are claims and other conditions
NO_LIMITS = {name: 1.0 for name, each in CHECKED.items() if each.usual}
