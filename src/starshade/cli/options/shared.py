"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from starshade.errors import ConfigError, OutputError

if TYPE_CHECKING:
    from starshade.ratings.places.place import Place, Where
    from starshade.ratings.select import ItemSelection
    from starshade.ratings.table import Ratings

__all__ = ["Reading", "ensure_free", "reading", "whole_numbers"]

Command = Callable[..., Any]

_DIGITS = 18  # of a k; more is beyond all counting


@dataclass(frozen=True)
class Reading:
    """How ratings are to be read: what the reading options said."""

    users: str | None
    item_names: str | None
    format: str | None
    user_col: str | None
    item_col: str | None
    rating_col: str | None
    day_col: str | None
    wide: bool
    id_col: str | None
    attribute_cols: str | None
    null_values: tuple[str, ...]
    scale: str | None
    on_duplicate: Literal["error", "first", "last", "mean"]
    delimiter: str | None
    header: bool | None
    show_values: bool
    items: str | None = None

    def arguments(self) -> list[str]:
        """Return the options that say the same to another command, but for the items."""
        told: list[str] = []
        for name, value in asdict(self).items():
            if name == "items" or value == getattr(_NOTHING_SAID, name):
                continue
            option = "--null" if name == "null_values" else f"--{name.replace('_', '-')}"
            if isinstance(value, bool):
                told.append(option if value else f"--no-{name}")
            else:
                for one in value if isinstance(value, tuple) else (value,):
                    # what begins with a dash would be taken for an option
                    told += [f"{option}={one}"] if one.startswith("-") else [option, one]
        return told

    def selection(self) -> ItemSelection | None:
        """Return the items asked for; None: all.

        Raises
        ------
        ConfigError
            See `parse_items`.
        """
        from starshade.ratings.select import parse_items

        return None if self.items is None else parse_items(self.items, show_values=self.show_values)

    def read(self, source: str, *, dates: bool = True, select: bool = True) -> Ratings:
        """Read `source`.

        Parameters
        ----------
        source : str
        dates : bool
            Read the dates too.
        select : bool
            Keep only the items asked for.

        Raises
        ------
        InputError, ConfigError
            See `read_ratings` and `parse_items`.
        """
        if (Path(source) / "release.json").is_file():
            raise ConfigError(
                f"{source}: is a release, and ratings are asked for",
                advice="Give the ratings that it was made from.",
            )
        from starshade.ratings.read import read_ratings

        items = self.selection() if select else None  # a bad list is told before the long work
        ratings = read_ratings(
            source,
            users=self.users,
            item_names=self.item_names,
            format=self.format,
            user_col=self.user_col,
            item_col=self.item_col,
            rating_col=self.rating_col,
            day_col=self.day_col,
            wide=self.wide,
            id_col=self.id_col,
            attribute_cols=_split(self.attribute_cols),
            null_values=self.null_values,
            scale=self.scale,
            on_duplicate=self.on_duplicate,
            delimiter=self.delimiter,
            header=self.header,
            dates=dates,
            show_values=self.show_values,
        )
        return ratings if items is None else items.apply(ratings, show_values=self.show_values)

    def refuse_for_release(self, release: str) -> None:
        """Refuse reading options where a release is read, which says all that itself.

        Raises
        ------
        ConfigError
            One was given.
        """
        if self != _NOTHING_SAID:
            raise ConfigError(
                f"{release}: is a release, and options on how to read ratings do not apply",
                advice="Leave them out: a release says its own scale, items and columns.",
            )


def _split(columns: str | None) -> tuple[str, ...]:
    return () if columns is None else tuple(c.strip() for c in columns.split(",") if c.strip())


_NOTHING_SAID = Reading(
    users=None, item_names=None, format=None, user_col=None, item_col=None, rating_col=None,
    day_col=None, wide=False, id_col=None, attribute_cols=None, null_values=(), scale=None,
    on_duplicate="error", delimiter=None, header=None, show_values=False,
)  # fmt: skip
_READING = [
    click.option("--users", metavar="FILE", help="Personal attributes, one row per user."),
    click.option("--item-names", metavar="FILE", help="A name per item."),
    click.option("--format", metavar="NAME", help="Format of the ratings. [default: recognised]"),
    click.option("--user-col", metavar="NAME", help="Column of the user ids."),
    click.option("--item-col", metavar="NAME", help="Column of the item ids."),
    click.option("--rating-col", metavar="NAME", help="Column of the ratings."),
    click.option("--day-col", metavar="NAME", help="Column of the dates."),
    click.option("--wide", is_flag=True, help="One row per user, a column per item (surveys)."),
    click.option("--id-col", metavar="NAME", help="Wide tables: column of the user ids."),
    click.option(
        "--attribute-cols", metavar="A,B,…", help="Wide tables: columns of personal attributes."
    ),
    click.option(
        "--null",
        "null_values",
        metavar="VALUE",
        multiple=True,
        help="A value that means not rated, e.g. 99; may be repeated.",
    ),
    click.option("--scale", metavar="MIN:MAX:STEP", help="Scale of the ratings, e.g. 0.5:5:0.5."),
    click.option(
        "--on-duplicate",
        type=click.Choice(["error", "first", "last", "mean"]),
        default="error",
        show_default=True,
        help="When a user rated an item twice.",
    ),
    click.option("--delimiter", metavar="CHAR", help="Delimiter of the text. [default: found]"),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line names the columns. [default: found]",
    ),
    click.option("--show-values", is_flag=True, help="Let messages name users and items."),
]
_ITEMS = click.option(
    "--items", metavar="top:N|FILE", help="The N most rated items, or a file of item ids."
)


def reading(*, items: bool = True) -> Callable[[Command], Command]:
    """Give a command the reading options and pass it ``reading``, a `Reading`."""
    options = [*_READING, *([_ITEMS] if items else [])]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            names = Reading.__dataclass_fields__.keys() & kwargs.keys()
            chosen = Reading(**{name: kwargs.pop(name) for name in names})
            return command(*args, reading=chosen, **kwargs)

        return functools.reduce(lambda f, option: option(f), reversed(options), wrapper)

    return decorate


def whole_numbers(ks: str) -> list[int]:
    """Read several k: whole numbers with commas between.

    Raises
    ------
    ConfigError
    """
    parts = [part.strip() for part in ks.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        raise ConfigError(f"--k {ks}: whole numbers with commas between", advice="E.g. --k 2,5,10.")
    if any(len(part) > _DIGITS for part in parts):
        raise ConfigError(
            f"--k {ks}: no data have so many people", advice="5 is usual, 50 is large."
        )
    return [int(part) for part in parts]


def ensure_free(out: Where, *, option: str = "--out") -> Place:
    """Refuse a place for output that is taken or cannot be written to, before the long work.

    Raises
    ------
    OutputError
    """
    from starshade.ratings.places.atomic import vacant

    try:
        return vacant(out)
    except OutputError as error:
        raise OutputError(f"{option} {error.message}", advice=error.advice) from error
