"""The forms of the data: a path, made-up ratings, and how columns are to be understood."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starshade.ratings.synth.preset import LIKES, PRESETS
from starshade.server.ask.asking import SEED, Asking, Facts, given_only
from starshade.server.context.contexts import Choice
from starshade.server.forms import Setting

__all__ = ["MAPPING", "PATH", "SYNTHETIC", "said_before"]

_ROLES = (
    ("user_col", "Column of the people", "Empty: recognised by its name."),
    ("item_col", "Column of the items", "Empty: recognised by its name."),
    ("rating_col", "Column of the ratings", "Empty: recognised by its name."),
    ("day_col", "Column of the dates", "Empty: recognised; there need be none."),
)
_LISTS = ("attribute_cols", "null_values")


def _text(
    name: str,
    label: str,
    help_text: str,
    *,
    required: bool = False,
    more: bool = False,
    suggestions: tuple[str, ...] = (),
    allowed: str = "Type something.",
) -> Setting:
    return Setting(
        name,
        label,
        help_text,
        "text",
        required=required,
        more=more,
        suggestions=suggestions,
        allowed=allowed,
    )


_FILES = (
    _text(
        "users",
        "File of personal attributes (optional)",
        "One row per person: age, gender and the like. Its path on this machine.",
        more=True,
    ),
    _text(
        "item_names",
        "File of item names (optional)",
        "A name for each item. Its path on this machine.",
        more=True,
    ),
)
_PATH = (
    _text(
        "path",
        "Path on this machine",
        "A file, a folder or a zip: CSV, TSV, Parquet, MovieLens, Netflix Prize and others are "
        "recognised. The file stays where it is; what is read is kept in the work folder.",
        required=True,
        allowed="Give the path of a file, a folder or a zip, beginning with / or ~.",
    ),
    *_FILES,
)
_SYNTHETIC = (
    Setting(
        "like",
        "Made up to resemble",
        "No real person is in it. It behaves like the real data: few very popular items, a long "
        "tail, people of all degrees of diligence.",
        "choice",
        "movielens-100k",
        choices=tuple(
            Choice(
                name,
                name,
                f"{PRESETS[name].n_users:,} people, {PRESETS[name].n_items:,} items, "
                f"{PRESETS[name].n_ratings:,} ratings"
                if name in PRESETS
                else "answers from 1 to 6, some left open",
            )
            for name in LIKES
        ),
        required=True,
    ),
    Setting("n_users", "People", "Empty: as many as the real data have.", "integer", least=1,
            more=True),
    Setting("n_items", "Items", "Empty: likewise.", "integer", least=1, more=True),
    Setting("n_ratings", "Ratings", "Empty: likewise. Not for a survey.", "integer", least=1,
            more=True),
    SEED,
)  # fmt: skip


def _path(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    found = {
        name: _existing(name, values[name], errors) for name in ("path", "users", "item_names")
    }
    return given_only(found), errors


def _existing(name: str, said: str | None, errors: dict[str, str]) -> str | None:
    """Return the whole path of something that is there."""
    if said is None:
        return None
    unquoted = said.strip().strip("'\"").removeprefix("file://")
    path = str(Path(os.path.expanduser(unquoted)).absolute())
    try:
        Path(path).stat()
    except FileNotFoundError:
        errors[name] = f"There is nothing at {path}. Give the whole path, beginning with / or ~."
    except (OSError, ValueError) as error:
        errors[name] = f"{path} cannot be opened: {getattr(error, 'strerror', None) or error}."
    return path


def _synthetic(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    if values["like"] == "survey" and values["n_ratings"] is not None:
        errors["n_ratings"] = "A survey's number of answers follows from people and items."
    return given_only(values), errors


def _mapping_settings(facts: Facts) -> tuple[Setting, ...]:
    columns = tuple(
        dict.fromkeys(map(str, facts.get("columns") or facts.get("mapping", {}).values()))
    )
    return (
        *(_text(*role, suggestions=columns) for role in _ROLES),
        _text("scale", "Scale of the ratings",
              "Lowest:highest:step, for example 1:5:1 or 0.5:5:0.5. Empty: found in the data. "
              "Declare it: otherwise its ends are two people's ratings."),
        Setting("wide", "One row per person, a column per item (a survey)", "", "yes-no"),
        _text("id_col", "Survey: column of the people's ids",
              "# numbers the rows. Empty: recognised.", suggestions=columns),
        _text("attribute_cols", "Survey: columns of personal attributes",
              "Names with commas between.", suggestions=columns),
        _text("null_values", "Values that mean “not rated”",
              "For example 99, with commas between. In a survey a blank always does."),
        Setting("on_duplicate", "When somebody rated an item twice", "", "choice", "error",
                choices=(Choice("error", "stop and say so"), Choice("first", "take the first"),
                         Choice("last", "take the last"), Choice("mean", "take the mean")),
                more=True),
        _text("delimiter", "Delimiter of the text", "One character, ::, or tab. Empty: found.",
              more=True),
        Setting("header", "The first line names the columns", "", "choice", "",
                choices=(Choice("", "find out"), Choice("yes", "yes"), Choice("no", "no")),
                more=True),
        _text("format", "Format", "Empty: recognised, for example csv, parquet, movielens-100k.",
              more=True),
        Setting("no_dates", "Leave the dates out", "A release never has any; attacks on the "
                "ratings may use them.", "yes-no", more=True),
        *_FILES,
    )  # fmt: skip


def _mapping(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    options = dict(values)
    for name in ("users", "item_names"):
        options[name] = _existing(name, values[name], errors)
    for name in _LISTS:
        told = (values[name] or "").split(",")
        options[name] = [part.strip() for part in told if part.strip()]
    header = options.pop("header")
    if not options.pop("wide"):
        for name in ("id_col", "attribute_cols"):
            if options[name]:
                errors[name] = "Only a survey, with one row per person, has these."
        wide = {}
    else:
        wide = {"wide": True}
    dates = {"dates": False} if options.pop("no_dates") else {}
    if options["on_duplicate"] == "error":
        options["on_duplicate"] = None
    heads = {"header": header == "yes"} if header else {}
    return given_only(options) | wide | dates | heads, errors


def said_before(options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the mapping's form as the options of a data set would have filled it in."""
    sent: dict[str, list[str]] = {}
    for name, value in options.items():
        if name == "header":
            sent[name] = ["yes" if value else "no"]
        elif name == "dates":
            sent["no_dates"] = [] if value else ["yes"]
        elif isinstance(value, bool):
            sent[name] = ["yes"] if value else []
        elif isinstance(value, (list, tuple)):
            sent[name] = [", ".join(map(str, value))]
        else:
            sent[name] = [str(value)]
    return sent


PATH = Asking(
    id="path",
    title="A file on this machine",
    intro="Name the file. This is the way for large files: nothing needs to be sent.",
    submit="Read it",
    settings=lambda _facts: _PATH,
    ask=_path,
)
SYNTHETIC = Asking(
    id="synthetic",
    title="Try it on made-up ratings",
    intro="No file at hand? See the whole way on ratings that are made up here, in seconds.",
    submit="Make them up",
    settings=lambda _facts: _SYNTHETIC,
    ask=_synthetic,
)
MAPPING = Asking(
    id="mapping",
    title="Read it differently",
    intro="If a column was taken for something else, or the scale is not right, say so here. The "
    "data are read again.",
    submit="Read again",
    settings=_mapping_settings,
    ask=_mapping,
)
