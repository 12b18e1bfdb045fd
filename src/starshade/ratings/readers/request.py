"""What the caller of `read_ratings` asked for, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.errors import ConfigError
from starshade.naming import called, named
from starshade.ratings.readers.columns import NullValues
from starshade.ratings.readers.formats.movielens import DIALECTS
from starshade.ratings.scale import Scale
from starshade.ratings.settings import ReadingSettings
from starshade.setting import check

__all__ = ["FORMATS", "Request"]

#: what `format` may be; the first ones are dialects of text
FORMATS = (*DIALECTS, "netflix", "parquet", "wide", "store")


@dataclass(frozen=True)
class Request(ReadingSettings):
    """The options of `read_ratings`, see there."""

    def __post_init__(self) -> None:
        check(self)
        if not isinstance(self.scale, Scale | None):
            raise ConfigError(
                f"{called('scale')} of type {type(self.scale).__name__}: must be a Scale or text",
                advice="For example 1:5:1, or 0.5:5:0.5.",
                setting="scale",
            )
        if self.format is not None and self.format not in FORMATS:
            raise ConfigError(
                f"{called('format')} {self.format!r}: unknown",
                advice=f"Known: {', '.join(FORMATS)}.",
                setting="format",
            )
        for setting in ("user_col", "item_col", "rating_col", "day_col", "id_col", "delimiter"):
            if getattr(self, setting) == "":
                raise ConfigError(
                    f"{named(setting)}: empty",
                    advice="Name one, or leave the option out.",
                    setting=setting,
                )
        if self.format == "wide":
            object.__setattr__(self, "wide", True)
        long_only = [f"{role}_col" for role, name in self.given().items() if name]
        if self.wide and long_only:
            raise ConfigError(
                f"{named(long_only[0])} names a column of a long table, and this one is wide",
                advice=f"A wide table has {named('id_col')} and {named('attribute_cols')}.",
                setting=long_only[0],
            )
        if self.wide and self.format not in (None, "wide"):
            raise ConfigError(f"{called('format')} {self.format!r} is not wide", setting="format")
        if not self.wide and (self.id_col or self.attribute_cols):
            raise ConfigError(
                f"{named('id_col')} and {named('attribute_cols')} are for wide tables",
                advice=f"Add {named('wide', True)}, or name the columns by {named('user_col')} and "
                f"{named('users', 'FILE')}.",
            )

    def given(self) -> dict[str, str | None]:
        """Return the columns that were named, by role."""
        return {role: getattr(self, f"{role}_col") for role in ("user", "item", "rating", "day")}

    @property
    def nulls(self) -> NullValues:
        """The values that stand for "not rated"."""
        return NullValues(self.null_values)

    @property
    def names_columns(self) -> bool:
        """Whether anything was said that a format with fixed columns has no use for."""
        return any((*self.given().values(), self.wide, self.delimiter, self.header is not None))
