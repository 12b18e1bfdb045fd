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
    """One of the values to choose from.

    Attributes
    ----------
    value, label : str
    help : str
        One line; may be empty.
    chosen : bool
    """

    value: str
    label: str
    help: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Field:
    """One setting of a form.

    Attributes
    ----------
    name : str
        As it is sent. The control's id is the form's id, a dash, and this.
    label : str
    help : str
        What it does, and what is usual.
    kind : {"integer", "number", "text", "choice", "choices", "yes-no"}
        ``choice``: one of `choices` (radio buttons or a list); ``choices``: any of them (boxes of
        one name); ``yes-no``: one box, sent as ``yes``.
    value : str
        What stands in it; of ``yes-no`` ``yes`` or empty.
    choices : tuple of Choice
    least, most, step : str
        For numbers, as HTML's min, max and step have them; empty: none.
    required : bool
    more : bool
        Rarely needed: may be folded away (open it if it has an error).
    only_for : tuple of str
        Means something only while the form's `chooser` has one of these values; empty: always.
    error : str
        What is wrong with what was sent, and what is allowed; empty: nothing.
    suggestions : tuple of str
        Values to offer beside free input (a datalist).
    """

    name: str
    label: str
    help: str
    kind: Literal["integer", "number", "text", "choice", "choices", "yes-no"]
    value: str = ""
    choices: tuple[Choice, ...] = ()
    least: str = ""
    most: str = ""
    step: str = ""
    required: bool = False
    more: bool = False
    only_for: tuple[str, ...] = ()
    error: str = ""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A form; sent by POST as ``application/x-www-form-urlencoded``.

    Attributes
    ----------
    id : str
        Also the anchor of its section (``#attack``).
    action : str
        Where it is sent.
    title : str
    intro : str
        What will be done, in a sentence or two, and how to choose.
    submit : str
        Words on the button.
    fields : tuple of Field
    chooser : str
        Name of the field on whose value others depend (`Field.only_for`); empty: none.
    error : str
        What is wrong with the whole; empty: nothing.
    advice : str
        What to do about it.
    open : bool
        It is what to do next, was sent and refused, or was asked for: show it unfolded.
    """

    id: str
    action: str
    title: str
    intro: str
    submit: str
    fields: tuple[Field, ...]
    chooser: str = ""
    error: str = ""
    advice: str = ""
    open: bool = False


@dataclass(frozen=True)
class Upload:
    """Sending a file from the browser: its bytes as the body of ``POST action?name=NAME``.

    The answer is JSON: ``{"location": "/data/ID"}``, or
    ``{"error": {"status", "message", "advice"}}``.

    Attributes
    ----------
    action : str
    most : int
        Bytes at most.
    most_text : str
        The same in words, e.g. ``2 GB``.
    help : str
        What is understood, and where the file goes.
    """

    action: str
    most: int
    most_text: str
    help: str
