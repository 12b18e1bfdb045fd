"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.cli.options.declared import options_of
from starshade.cli.options.settings import Command, gathered
from starshade.cli.options.spelling import as_option, words_of
from starshade.errors import ConfigError, OutputError
from starshade.ratings.settings import ReadingSettings
from starshade.setting import settable, settings_of

if TYPE_CHECKING:
    from starshade.ratings.places.place import Place, Where
    from starshade.ratings.select import ItemSelection
    from starshade.ratings.table import Ratings

__all__ = ["Reading", "ensure_free", "reading"]


@dataclass(frozen=True)
class Reading(ReadingSettings):
    """How ratings are to be read: what the reading options said."""

    items: str | None = settable(
        "Items",
        "The N most rated items, or a file of item ids.",
        default=None,
        kind="file",
        usual="top:N|FILE",
    )

    @classmethod
    def of(cls, **options: Any) -> Reading:
        """Take what options said; nothing is said where one was not given."""
        return cls(**{name: value for name, value in options.items() if value not in (None, ())})

    def arguments(self) -> list[str]:
        """Return the options that say the same to another command, but for the items."""
        options: list[str] = []
        for setting in settings_of(ReadingSettings):
            value = getattr(self, setting.name)
            if value == setting.default:
                continue
            if setting.kind == "flag":
                options.append(as_option(setting.name, value))
            else:
                joined = ",".join(value) if setting.commas else value
                options += words_of(as_option(setting.name), joined)
        return options

    def selection(self) -> ItemSelection | None:
        """Return the selected items; None: all."""
        from starshade.ratings.select import parse_items

        return None if self.items is None else parse_items(self.items, show_values=self.show_values)

    def read(self, source: str, *, dates: bool = True, select: bool = True) -> Ratings:
        """Read `source`, with its dates; `select` keeps only the selected items."""
        if (Path(source) / "release.json").is_file():
            raise ConfigError(
                f"{source}: is a release, and ratings are asked for",
                advice="Give the ratings that it was made from.",
            )
        from starshade.ratings.read import read_ratings

        items = self.selection() if select else None  # a bad list is refused before the long work
        ratings = read_ratings(
            source,
            **{each.name: getattr(self, each.name) for each in settings_of(ReadingSettings)}
            | {"dates": dates and self.dates},
        )
        return ratings if items is None else items.apply(ratings, show_values=self.show_values)

    def refuse_for_release(self, release: str) -> None:
        """Refuse reading options where a release is read, which says all that itself."""
        if replace(self, dates=True) != Reading():
            raise ConfigError(
                f"{release}: is a release, and options on how to read ratings do not apply",
                advice="Leave them out: a release says its own scale, items and columns.",
            )


def reading(*, items: bool = True, dates: bool = False) -> Callable[[Command], Command]:
    """Give a command the reading options (with --items, --no-dates) and pass it ``reading``."""
    left = {*([] if items else ["items"]), *([] if dates else ["dates"])}
    names = [setting.name for setting in settings_of(Reading) if setting.name not in left]
    return functools.partial(
        gathered, options=options_of(Reading, *names), name="reading", kind=Reading.of
    )


def ensure_free(out: Where, *, option: str = "--out") -> Place:
    """Refuse a place for output that is taken or cannot be written to, before the long work."""
    from starshade.ratings.places.atomic import vacant

    try:
        return vacant(out)
    except OutputError as error:
        raise OutputError(f"{option} {error.message}", advice=error.advice) from error
