"""Thresholds for tests that are about something else than what a policy decides."""

from __future__ import annotations

from starshade.audit.checks.policy import CHECKED

#: every usual check of a single release accepted without limit: claims and conditions are left
NO_LIMITS = {name: 1.0 for name, each in CHECKED.items() if each.usual and name != "composition"}
