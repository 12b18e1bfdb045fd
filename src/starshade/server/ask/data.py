"""The forms of the data: a path, made-up ratings, and how columns are to be understood."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from starshade.ratings.settings import ReadingSettings
from starshade.ratings.synth.preset import LIKES, PRESETS
from starshade.server.ask.asking import SEED, Asking, Facts, field_from, given_only
from starshade.server.forms import Choice, Setting
from starshade.setting import setting_of, settings_of

#: settings of reading that few need
_RARE = {"on_duplicate", "delimiter", "header", "format", "users", "item_names"}
#: not set here, or the other way round
_NOT_HERE = {"show_values", "dates"}
_LISTS = [each.name for each in settings_of(ReadingSettings) if each.kind == "texts"]


def _read(name: str, **otherwise: Any) -> Setting:
    field = field_from(ReadingSettings, name, more=name in _RARE)
    kept = replace(field, required=False, **otherwise)
    if name in ("users", "item_names"):
        return replace(kept, help=f"{field.help} Its path on this machine.")
    return replace(kept, help=f"{field.help} Commas between.") if name in _LISTS else kept


_PATH = (
    Setting(
        "path",
        "Path on this machine",
        "A file, a folder or a zip: CSV, TSV, Parquet, MovieLens, Netflix Prize and others are "
        "recognised. The file stays where it is; what is read is kept in the work folder.",
        "text",
        required=True,
        allowed="Give the path of a file, a folder or a zip, beginning with / or ~.",
    ),
    _read("users"),
    _read("item_names"),
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
    options = {
        name: _existing(name, values[name], errors) for name in ("path", "users", "item_names")
    }
    return given_only(options), errors


def _existing(name: str, text: str | None, errors: dict[str, str]) -> str | None:
    """Return the whole path of something that is there."""
    if text is None:
        return None
    unquoted = text.strip().strip("'\"").removeprefix("file://")
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
    named = (setting.name for setting in settings_of(ReadingSettings))
    fields = [
        _read(name, suggestions=columns if name.endswith(("_col", "_cols")) else ())
        for name in named
        if name not in _NOT_HERE
    ]
    fields.append(
        Setting(
            "no_dates",
            "Leave the dates out",
            setting_of(ReadingSettings, "dates").help,
            "yes-no",
            more=True,
        )
    )
    return tuple(sorted(fields, key=lambda field: field.more))


def _mapping(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    options = dict(values)
    for name in ("users", "item_names"):
        options[name] = _existing(name, values[name], errors)
    if not options["wide"]:
        for name in ("id_col", "attribute_cols"):
            if options[name]:
                errors[name] = "Only a survey, with one row per person, has these."
    for name in _LISTS:
        options[name] = [part.strip() for part in (values[name] or "").split(",") if part.strip()]
    options["dates"] = not options.pop("no_dates")
    options["header"] = {"yes": True, "no": False}.get(values["header"])
    usual = {name: setting_of(ReadingSettings, name).default for name in options}
    return {
        name: value for name, value in options.items() if value not in (None, [], usual[name])
    }, errors


def values_before(options: Mapping[str, Any]) -> dict[str, list[str]]:
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
