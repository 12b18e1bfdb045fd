"""The forms of the data: a path, synthetic ratings, and the roles of columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.plain import counted, join_list, split_list
from starshade.ratings.readers.addresses.address import is_address
from starshade.ratings.settings import OF_WIDE, ReadingSettings
from starshade.ratings.shape import bars_of, scale_text
from starshade.ratings.synth.preset import LIKES, PRESETS
from starshade.server.ask.asking import SEED, Asking, Facts, field_from, given_only
from starshade.server.forms import Choice, Setting
from starshade.setting import setting_of, settings_of

if TYPE_CHECKING:
    from starshade.ratings.readers.preview import Preview

#: settings of reading that few need
_RARE = {"delimiter", "header", "format", "users", "item_names"}
#: what is chosen from a list where the columns are known, and what is rare then
_COLUMNS = {"user_col": "People", "item_col": "Items", "rating_col": "Ratings", "day_col": "Dates"}
_SURVEY = {"wide", "null_values", *OF_WIDE}
_SCALES = ("1:5:1", "0.5:5:0.5", "1:10:1")
_DUPLICATES = (
    Choice("last", "the latest", help="By date; on equal dates or without dates, the last row."),
    Choice(
        "first", "the earliest", help="By date; on equal dates or without dates, the first row."
    ),
    Choice("latest", "the latest, by date alone", help="Stops if there are no dates."),
    Choice("mean", "their mean"),
    Choice("sum", "their sum"),
    Choice("max", "the highest"),
    Choice("error", "none: stop and list the lines"),
)
#: not set here, or the other way round
_NOT_HERE = {"show_values", "dates"}
_LISTS = [each.name for each in settings_of(ReadingSettings) if each.kind == "texts"]


def _read(name: str, **otherwise: Any) -> Setting:
    field = field_from(ReadingSettings, name, more=name in _RARE)
    kept = replace(field, required=False, **otherwise)
    if name in ("users", "item_names"):
        return replace(kept, help=f"{field.help} Path on this machine.")
    return replace(kept, help=f"{field.help} Separated by commas.") if name in _LISTS else kept


_PATH = (
    Setting(
        "path",
        "Path on this machine",
        "File, folder or zip: CSV, TSV, Parquet, MovieLens, Netflix Prize and others. The file "
        "stays in place; the studio keeps the ratings in its work folder.",
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
        "Data set to imitate",
        "No real people. As in the real data, few items are very popular, and people differ in "
        "their number of ratings.",
        "choice",
        "movielens-100k",
        choices=tuple(
            Choice(
                name,
                name,
                f"{PRESETS[name].n_users:,} people, {PRESETS[name].n_items:,} items, "
                f"{PRESETS[name].n_ratings:,} ratings"
                if name in PRESETS
                else "answers from 1 to 6, some missing",
            )
            for name in LIKES
        ),
        required=True,
    ),
    Setting("n_users", "People", "Empty: as in the real data.", "integer", least=1,
            more=True),
    Setting("n_items", "Items", "Empty: as in the real data.", "integer", least=1, more=True),
    Setting("n_ratings", "Ratings", "Empty: as in the real data. Not for a survey.", "integer",
            least=1, more=True),
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
    if is_address(text):
        errors[name] = "The studio reads only files on this machine. Save the file first."
        return None
    unquoted = text.strip().strip("'\"").removeprefix("file://")
    path = str(Path(os.path.expanduser(unquoted)).absolute())
    try:
        Path(path).stat()
    except FileNotFoundError:
        errors[name] = f"{path} does not exist. Give the full path, beginning with / or ~."
    except (OSError, ValueError) as error:
        errors[name] = f"{path} cannot be opened: {getattr(error, 'strerror', None) or error}."
    return path


def _synthetic(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    if values["like"] == "survey" and values["n_ratings"] is not None:
        errors["n_ratings"] = (
            "A survey has an answer of each person to each item. Leave this empty."
        )
    return given_only(values), errors


def _mapping_settings(facts: Facts) -> tuple[Setting, ...]:
    looked: Preview | None = facts.get("preview")
    fields = [
        _asked(_read(setting.name), looked, facts)
        for setting in settings_of(ReadingSettings)
        if setting.name not in _NOT_HERE
    ]
    if looked is None:
        dates = setting_of(ReadingSettings, "dates").help
        fields.append(Setting("no_dates", "Ignore the dates", dates, "yes-no", more=True))
    # what has to be decided comes first
    asked = "on_duplicate" if undecided(facts) else ""
    return tuple(sorted(fields, key=lambda field: (field.name != asked, field.more)))


def _asked(field: Setting, looked: Preview | None, facts: Facts) -> Setting:
    """Adapt a field to the file: its columns, scale and repeated ratings."""
    if field.name == "on_duplicate":
        again = undecided(facts)
        repeated = f"{counted(again, 'rating repeats', 'ratings repeat')} an item that the same "
        ask = () if again else (Choice("", "ask if there are any"),)
        return replace(
            field,
            default="",
            choices=(*ask, *_DUPLICATES),
            help=f"{repeated}person rated before." * bool(again),
        )
    if field.name == "scale":
        return replace(field, suggestions=_SCALES, help=_scale_found(facts) or field.help)
    if looked is None:
        return field
    if field.name == "query":
        return replace(field, more=True)
    if field.name in _SURVEY:
        more = "" if field.name in ("wide", "null_values") else " Surveys only."
        return replace(field, more=True, help=field.help + more, suggestions=looked.columns[:200])
    if field.name not in _COLUMNS:
        return field
    role = field.name.removesuffix("_col")
    none = Choice("", "none: no dates" if role == "day" else "choose a column")
    why = looked.why.get(role, "")
    return replace(
        field,
        label=_COLUMNS[field.name],
        kind="choice",
        listed=True,
        default=looked.roles.get(role, ""),
        choices=(none, *(Choice(name, looked.called(name)) for name in looked.columns if name)),
        help=f"{looked.roles[role]}: {why}." if role in looked.roles else why and f"{why}.",
    )


def undecided(facts: Facts) -> int:
    """Return the number of repeated ratings while no rule for them is chosen."""
    return int((facts.get("undecided") or {}).get("on_duplicate", 0))


def _scale_found(facts: Facts) -> str:
    bars = list(bars_of(facts)) if facts.get("scale") else []
    if not bars:
        return ""
    scale = facts["scale"]
    text = scale_text(scale["min"], scale["max"], scale["step"])
    ends = f"the lowest {counted(bars[0][1], 'time')}, the highest {counted(bars[-1][1], 'time')}"
    seen = "Detected" if scale.get("inferred") else "Given"
    return f"{seen}: {text}; {ends}. If the scale is wider, give it: 1:5:1, 0.5:5:0.5."


def _mapping(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    options, looked = dict(values), facts.get("preview")
    if looked is not None:
        _chosen(options, looked, errors)
    for name in ("users", "item_names"):
        options[name] = _existing(name, values[name], errors)
    if undecided(facts) and not values["on_duplicate"]:
        errors["on_duplicate"] = (
            "Choose which rating counts. Without this, the ratings cannot be used."
        )
    if not options["wide"]:
        for name in OF_WIDE:
            if options[name]:
                errors[name] = "Only for surveys with one row per person."
    for name in _LISTS:
        options[name] = split_list(values[name] or "")
    options["dates"] = not options.pop("no_dates", False)
    options["header"] = {"yes": True, "no": False}.get(values["header"])
    usual = {name: setting_of(ReadingSettings, name).default for name in options}
    usual["on_duplicate"] = None  # to refuse them is a decision, too
    return {
        name: value for name, value in options.items() if value not in (None, [], usual[name])
    }, errors


def _chosen(options: dict[str, Any], looked: Preview, errors: dict[str, str]) -> None:
    """Drop the columns that the reader detects; a survey has none."""
    for name in _COLUMNS:
        role = name.removesuffix("_col")
        if options["wide"] or (options[name] and options[name] == looked.roles.get(role)):
            options[name] = None
        elif role == "day" and not options[name]:
            options["no_dates"] = role in looked.roles
        elif not options[name]:
            errors[name] = "Choose the column, or select the survey option under “More settings”."


def values_before(options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the values of the mapping form for the options of a data set."""
    sent: dict[str, list[str]] = {}
    for name, value in options.items():
        if name == "header":
            sent[name] = ["yes" if value else "no"]
        elif name == "dates":
            sent |= {} if value else {"no_dates": ["yes"], "day_col": [""]}
        elif isinstance(value, bool):
            sent[name] = ["yes"] if value else []
        elif isinstance(value, (list, tuple)):
            sent[name] = [join_list(value, ", ")]
        else:
            sent[name] = [str(value)]
    return sent


PATH = Asking(
    id="path",
    title="A file on this machine",
    intro="Give the path of the file. Suited to large files: no upload is needed.",
    submit="Read the file",
    settings=lambda _facts: _PATH,
    ask=_path,
)
SYNTHETIC = Asking(
    id="synthetic",
    title="Synthetic ratings",
    intro="Try the whole workflow on ratings that are generated here in seconds.",
    submit="Generate ratings",
    settings=lambda _facts: _SYNTHETIC,
    ask=_synthetic,
)
MAPPING = Asking(
    id="mapping",
    title="Columns and format",
    intro="Detected columns, with reasons. Correct what is wrong; the file is then read with these "
    "settings.",
    submit="Read with these settings",
    settings=_mapping_settings,
    ask=_mapping,
)
