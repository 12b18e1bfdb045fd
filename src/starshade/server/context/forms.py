"""Forms as a template sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Choice",
    "Field",
    "Form",
    "Upload",
]


@dataclass(frozen=True)
class Choice:
    """One of the values to choose from."""

    value: str
    label: str
    help: str = ""  # one line; may be empty
    chosen: bool = False


@dataclass(frozen=True)
class Field:
    """One setting of a form."""

    name: str  # as it is sent. The control's id is the form's id, a dash, and this.
    label: str
    help: str  # what it does, and what is usual
    # ``choice``: one of `choices` (radio buttons or a list); ``choices``: any of them (boxes of one
    # name); ``yes-no``: one box, sent as ``yes``
    kind: Literal["integer", "number", "text", "choice", "choices", "yes-no"]
    value: str = ""  # what stands in it; of ``yes-no`` ``yes`` or empty
    choices: tuple[Choice, ...] = ()
    # `least`, `most`, `step`: for numbers, as HTML's min, max and step have them; empty: none
    least: str = ""
    most: str = ""
    step: str = ""
    required: bool = False
    more: bool = False  # rarely needed: may be folded away (open it if it has an error)
    # means something only while the form's `chooser` has one of these values; empty: always
    only_for: tuple[str, ...] = ()
    error: str = ""  # what is wrong with what was sent, and what is allowed; empty: nothing
    suggestions: tuple[str, ...] = ()  # values to offer beside free input (a datalist)


@dataclass(frozen=True)
class Form:
    """A form; sent by POST as ``application/x-www-form-urlencoded``."""

    id: str  # also the anchor of its section (``#attack``)
    action: str  # where it is sent
    title: str
    intro: str  # what will be done, in a sentence or two, and how to choose
    submit: str  # words on the button
    fields: tuple[Field, ...]
    # name of the field on whose value others depend (`Field.only_for`); empty: none
    chooser: str = ""
    error: str = ""  # what is wrong with the whole; empty: nothing
    advice: str = ""  # what to do about it
    # it is what to do next, was sent and refused, or is in the address: show it unfolded
    open: bool = False


@dataclass(frozen=True)
class Upload:
    """Sending a file from the browser: its bytes as the body of ``POST action?name=NAME``.

    The answer is JSON: ``{"location": "/data/ID"}``, or
    ``{"error": {"status", "message", "advice"}}``.
    """

    action: str
    most: int  # bytes at most
    most_text: str  # the same in words, e.g. ``2 GB``
    help: str  # what is understood, and where the file goes
