"""What can be said of ratings that are to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starshade.setting import settable

OnDuplicate = Literal["error", "first", "last", "latest", "mean", "sum", "max"]

_NAME = {"usual": "NAME", "unset": "detected"}
#: settings that name columns of a long table, and of a wide one
OF_LONG = ("user_col", "item_col", "rating_col", "day_col")
OF_WIDE = ("id_col", "item_cols", "attribute_cols")


@dataclass(frozen=True)
class ReadingSettings:
    """Of `read_ratings`; what a choice of items is, each door says itself."""

    users: Any = settable(
        "File of personal attributes (optional)",
        "Personal attributes, one row per user.",
        default=None,
        kind="file",
        usual="FILE",
    )
    item_names: Any = settable(
        "File of item names (optional)",
        "Names of the items.",
        default=None,
        kind="file",
        usual="FILE",
    )
    format: str | None = settable("Format", "Format of the ratings.", default=None, **_NAME)
    query: str | None = settable(
        "Query or table of a database",
        "Databases only: a SELECT statement or the name of a table.",
        default=None,
        usual="SELECT…|TABLE",
        unset="its only table",
    )
    user_col: str | None = settable(
        "Column of the users", "Column of the user ids.", default=None, **_NAME
    )
    item_col: str | None = settable(
        "Column of the items", "Column of the item ids.", default=None, **_NAME
    )
    rating_col: str | None = settable(
        "Column of the ratings", "Column of the ratings.", default=None, **_NAME
    )
    day_col: str | None = settable(
        "Column of the dates", "Column of the dates (optional).", default=None, **_NAME
    )
    wide: bool = settable(
        "One row per user, one column per item (a survey)",
        "One row per user, one column per item (surveys).",
        default=False,
    )
    id_col: str | None = settable(
        "Survey: column of the user ids",
        "Wide tables: column of the user ids; # numbers the rows.",
        default=None,
        **_NAME,
    )
    item_cols: Sequence[str] = settable(
        "Survey: columns of the items",
        "Wide tables: columns of the items; * matches any text.",
        default=(),
        commas=True,
        usual="A,B",
        unset="all others",
    )
    attribute_cols: Sequence[str] = settable(
        "Survey: columns of personal attributes",
        "Wide tables: columns of personal attributes.",
        default=(),
        commas=True,
        usual="A,B",
    )
    null_values: Sequence[str] = settable(
        "Values that mean “not rated”",
        "A value that means not rated, e.g. 99; in wide tables blanks always do.",
        default=(),
        usual="VALUE",
    )
    scale: Any = settable(
        "Scale of the ratings",
        "Scale of the ratings, e.g. 1:5:1 or 0.5:5:0.5. A detected minimum or maximum may "
        "disclose one person's rating.",
        default=None,
        kind="file",
        usual="MIN:MAX:STEP",
        unset="detected",
    )  # a Scale, or its text
    on_duplicate: OnDuplicate = settable(
        "Repeated ratings of an item by a user",
        "Rule for repeated ratings of an item by a user. error stops; first and last go by day, "
        "then by row; latest is the same as last, but stops without dates; mean, sum and max "
        "combine them.",
        default="error",
    )
    delimiter: str | None = settable(
        "Delimiter of the text",
        "Delimiter of the text: one character, ::, or tab.",
        default=None,
        usual="CHAR",
        unset="detected",
    )
    header: bool | None = settable(
        "The first line names the columns",
        "Whether the first line names the columns.",
        default=None,
        unset="detected",
    )
    dates: bool = settable(
        "Read the dates",
        "Read the dates. A release never contains dates; attacks on the ratings may use them.",
        default=True,
        off="Do not read the dates.",
    )
    show_values: bool = settable(
        "Name users and items in messages", "Let messages name users and items.", default=False
    )
