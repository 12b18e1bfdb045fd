"""Forms as a template sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Choice", "Form"]


@dataclass(frozen=True)
class Choice:
    """One of the values to choose from."""

    value: str
    label: str
    help: str = ""  # one line; may be empty
    chosen: bool = False


@dataclass(frozen=True)
class Form:
    """A form; sent by POST as ``application/x-www-form-urlencoded``."""

    id: str  # also the anchor of its section (``#attack``)
    title: str
    intro: str  # what will be done, in a sentence or two, and how to choose
    submit: str  # words on the button
    # name of the field on whose value others depend (`Setting.only_for`); empty: none
    chooser: str = ""
    action: str = ""  # where it is sent
    fields: tuple[Any, ...] = ()  # `starshade.server.forms.Setting`, with what is in them
    error: str = ""  # what is wrong with the whole; empty: nothing
    advice: str = ""  # what to do about it
    # it is what to do next, was sent and refused, or is in the address: show it unfolded
    open: bool = False
