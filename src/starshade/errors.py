"""What can go wrong, in one tree.

::

    StarshadeError
    ├── UserError                exit 2: something you can change; the message says what to do
    │   ├── ConfigError          a parameter is out of range or contradicts another
    │   ├── InputError           a file or table cannot be read as ratings
    │   ├── ReleaseError         a release on disk is broken, foreign or from a later version
    │   ├── OutputError          a place cannot be written to
    │   └── UnmetError           exit 1: a valid request that this data does not meet
    └── InternalError            our bug: please report it

A user error says where, what was found, what is allowed and what to do next. It names users and
items by line, never by id or title, unless the caller asked to see values.
"""

from __future__ import annotations


class StarshadeError(Exception):
    """Base class of the errors that starshade raises.

    Parameters
    ----------
    message : str
        Where and what, in one or more lines.
    advice : str, optional
        What to do about it.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message}\n{self.advice}" if self.advice else self.message


class UserError(StarshadeError, ValueError):
    """The request cannot be carried out as given.

    Parameters
    ----------
    message, advice : str
        As of every error.
    setting : str, optional
        The one setting that is at fault, as Python spells it.
    """

    def __init__(self, message: str, *, advice: str = "", setting: str | None = None) -> None:
        super().__init__(message, advice=advice)
        self.setting = setting


class ConfigError(UserError):
    """A parameter is out of range or contradicts another."""


class InputError(UserError):
    """A file or table cannot be read as ratings."""


class ReleaseError(UserError):
    """A release on disk is broken, foreign, or written by a later version."""


class OutputError(UserError, OSError):
    """A place cannot be written to."""


class TakenError(OutputError):
    """Something is there already: the same request cannot be met later either."""


class EngineError(UserError):
    """The execution engine failed; the request can be repeated once that is fixed."""


class UnmetError(UserError):
    """The request is valid; this data does not meet it."""


class InternalError(StarshadeError):
    """An internal condition of starshade does not hold."""

    def __init__(self, message: str) -> None:
        super().__init__(
            f"internal error: {message}",
            advice="This is a bug in starshade, not in your data. Please report it with the "
            "command and the output of `starshade doctor`.",
        )
