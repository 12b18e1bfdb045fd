"""What can be said of ratings that are to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from starshade.setting import declared

__all__ = ["OnDuplicate", "ReadingSettings"]

OnDuplicate = Literal["error", "first", "last", "mean"]

_NAME = {"usual": "NAME", "unset": "recognised"}


@dataclass(frozen=True)
class ReadingSettings:
    """Of `read_ratings`; what a choice of items is, each door says itself."""

    users: Any = field(
        default=None,
        metadata=declared(
            "File of personal attributes (optional)",
            "Personal attributes, one row per user.",
            kind="file",
            usual="FILE",
        ),
    )
    item_names: Any = field(
        default=None,
        metadata=declared(
            "File of item names (optional)", "A name per item.", kind="file", usual="FILE"
        ),
    )
    format: str | None = field(
        default=None, metadata=declared("Format", "Format of the ratings.", **_NAME)
    )
    user_col: str | None = field(
        default=None, metadata=declared("Column of the people", "Column of the user ids.", **_NAME)
    )
    item_col: str | None = field(
        default=None, metadata=declared("Column of the items", "Column of the item ids.", **_NAME)
    )
    rating_col: str | None = field(
        default=None, metadata=declared("Column of the ratings", "Column of the ratings.", **_NAME)
    )
    day_col: str | None = field(
        default=None,
        metadata=declared(
            "Column of the dates", "Column of the dates; there need be none.", **_NAME
        ),
    )
    wide: bool = field(
        default=False,
        metadata=declared(
            "One row per person, a column per item (a survey)",
            "One row per user, a column per item (surveys).",
        ),
    )
    id_col: str | None = field(
        default=None,
        metadata=declared(
            "Survey: column of the people's ids",
            "Wide tables: column of the user ids; # numbers the rows.",
            **_NAME,
        ),
    )
    attribute_cols: Sequence[str] = field(
        default=(),
        metadata=declared(
            "Survey: columns of personal attributes",
            "Wide tables: columns of personal attributes.",
            commas=True,
            usual="A,B",
        ),
    )
    null_values: Sequence[str] = field(
        default=(),
        metadata=declared(
            "Values that mean “not rated”",
            "A value that means not rated, e.g. 99; in wide tables a blank always does.",
            usual="VALUE",
        ),
    )
    scale: Any = field(  # a Scale, or its text
        default=None,
        metadata=declared(
            "Scale of the ratings",
            "Scale of the ratings, e.g. 1:5:1 or 0.5:5:0.5; found in the data, its ends are two "
            "people's ratings.",
            kind="file",
            usual="MIN:MAX:STEP",
            unset="found",
        ),
    )
    on_duplicate: OnDuplicate = field(
        default="error",
        metadata=declared(
            "When somebody rated an item twice",
            "When a user rated an item twice: stop and say so, or take one of them or their mean.",
        ),
    )
    delimiter: str | None = field(
        default=None,
        metadata=declared(
            "Delimiter of the text",
            "Delimiter of the text: one character, ::, or tab.",
            usual="CHAR",
            unset="found",
        ),
    )
    header: bool | None = field(
        default=None,
        metadata=declared(
            "The first line names the columns",
            "Whether the first line names the columns.",
            unset="found",
        ),
    )
    dates: bool = field(
        default=True,
        metadata=declared(
            "Read the dates",
            "A release never has any; attacks on the ratings may use them.",
            off="Do not read the dates.",
        ),
    )
    show_values: bool = field(
        default=False,
        metadata=declared("Name people and items", "Let messages name users and items."),
    )
