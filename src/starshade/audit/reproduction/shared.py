"""What the reproductions of all papers have in common: plain values, and how they begin and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from starshade.audit.reproduction.figures import Figure
from starshade.markup import block, paragraph, table

__all__ = ["introduced", "left_out", "plain_facts", "study_html"]


def plain_facts(result: Any) -> dict[str, Any]:
    """Return the fields of a result as plain JSON values, in their order.

    The fields are plain values, objects with a ``to_dict``, or sequences of either.

    Examples
    --------
    >>> from starshade.audit.reproduction.check import Check
    >>> plain_facts(Check("1", "'more'", "here", "3 > 2", True))["holds"]
    True
    """
    return {field.name: _plain(getattr(result, field.name)) for field in fields(result)}


def introduced(whose: str, data: Mapping[str, Any], numbers: Sequence[str]) -> str:
    """Say whose experiments were repeated, on what, and which figures came out."""
    return (
        f"{whose} on {data['users']:,} users, {data['items']:,} items and {data['ratings']:,} "
        f"ratings: figures {', '.join(numbers)}."
    )


def left_out(skipped: Sequence[Any]) -> str:
    """Count what the data could not give; nothing where there is nothing."""
    return f" Left out, with the reason: {len(skipped)}." if skipped else ""


def study_html(title: str, text: str, figures: Sequence[Figure]) -> str:
    """Return a study for a notebook: what came of it, and which figures it holds."""
    rows = [(f"Fig. {figure.number}", figure.title) for figure in figures]
    return block(title, paragraph(text), table(("figure", "what it shows"), rows) if rows else "")


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value
