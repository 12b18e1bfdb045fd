"""Where the frontier chart is to be found by those who make pages of it."""

from __future__ import annotations

from starshade.audit.frontier import frontier_chart

__all__ = ["frontier_chart"]
