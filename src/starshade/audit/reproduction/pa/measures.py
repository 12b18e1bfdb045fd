"""What the claims are judged by, by number: functions of a bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from starshade.audit.reproduction.claims import Estimate

MEASURES: Mapping[str, Callable[[Any, str], Estimate]] = MappingProxyType({})
