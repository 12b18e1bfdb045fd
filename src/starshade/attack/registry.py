"""The attacks that ``starshade list attacks`` names."""

from __future__ import annotations

from starshade.registry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="scoreboard-rh",
        module="starshade.attack.scoreboard_rh",
        cls="ScoreboardRH",
        summary="Name the record that fits what is known of a person, if it stands out.",
        source="Narayanan & Shmatikov 2008, sections 4 and 5",
    ),
)
