"""Writing a report: the same for every command that does."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from starshade.cli.options.shared import ensure_free
from starshade.cli.running.interrupt import wrote
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.audit.dossier.dossier import Dossier
    from starshade.ratings.places.place import Place, Where

__all__ = ["can_report", "place_for", "write"]

_NEEDED = ("jinja2", "vl_convert")


def can_report() -> bool:
    """Tell whether the optional extra that reports need is installed."""
    return all(find_spec(name) for name in _NEEDED)


def place_for(out: Where, option: str) -> Place:
    """Refuse a place that is taken, and a missing extra, before the long work."""
    if not can_report():
        raise ConfigError(
            f"{option} {out}: reports need an optional package that is not installed",
            advice="pip install 'starshade[report]'",
        )
    return ensure_free(out, option=option)


def write(dossier: Dossier, place: Place, *, public: bool) -> None:
    """Write one edition."""
    from starshade.report.page import save_report

    save_report(dossier, place, public=public)
    wrote(place)
