"""The forms of the pages, and the settings of the jobs that they start.

The settings of each kind of job are plain JSON values:

=========== ============================================================================
job         ``JobRow.settings``
=========== ============================================================================
``read``    keyword arguments of `starshade.read_ratings` (those given, all text as it was typed:
            ``user_col``, ``item_col``, ``rating_col``, ``day_col``, ``id_col``, ``scale``,
            ``delimiter``, ``format``, ``on_duplicate``, ``users``, ``item_names`` (paths),
            ``wide``, ``header``, ``dates`` (bool), ``item_cols``, ``attribute_cols``,
            ``null_values`` (lists)); a data set's ``options`` are the same, and become these once
            it has been read. Of synthetic data: ``{"like", "n_users", "n_items", "n_ratings",
            "seed"}``, those given.
``attack``  ``{"attack": NAME, "config": {fields of the attack}, "knowledge": {fields of
            Knowledge}, "targets": N, "seed": N or None}``
``compare`` ``{"methods": [NAME], "k": [N], "items": "top:N" or None, "eps": x or None,
            "profile": NAME or None, "disclosure_weights": [x], "known": N, "targets": N,
            "held_out": x, "seed": N or None}``:
            arguments of `starshade.audit.compare.compare.compare`
``release`` ``{"method": NAME, "config": {fields of the method but ``items``}, "items": "top:N" or
            None, "known": [N], "targets": N, "policy": NAME, "threshold": [NAME=VALUE],
            "context": {fields of Context}, "held_out": x, "seed": N or None}``; ``known``,
            ``targets``, ``policy`` and ``threshold`` are those of the audit; ``threshold`` and
            ``context``, where they were given
=========== ============================================================================

and the pages read these answers (what is missing is left out on the page):

=========== ============================================================================
``read``    ``DataRow.facts``: `Description.to_dict`, and ``columns``, their names (if any)
``attack``  ``JobRow.result``: the attack's ``to_dict``, and ``text``, its paragraph
``compare`` `Comparison.to_dict`, ``text``, and ``chart``, the frontier as a Vega-Lite spec
``release`` ``figures``: `Made.figures`; ``text``; and of `Dossier.internal` the ``verdict``,
            ``checks``, ``claims``, ``findings``, ``warnings``, ``attacks``, ``losses``,
            ``disclosure``, ``method``, ``files``
=========== ============================================================================

``config`` has only the settings that differ from the defaults of the class. The
server does not load the classes, which load the kernels; a test compares their settings with the
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from functools import cache
from typing import Any

from starshade.registry import Entry
from starshade.server.forms import Choice, Form, Sent, Setting, fields, prefilled, read
from starshade.setting import Setting as Declared
from starshade.setting import setting_of, settings_of

#: what is known of a data set (`DataRow.facts`); empty before it was read
Facts = Mapping[str, Any]

SEED = Setting(
    "seed",
    "Seed",
    "Makes random draws repeatable. Empty: a random seed, which is kept with the result.",
    "integer",
    least=0,
    more=True,
)


@dataclass(frozen=True, kw_only=True)
class Asking(Form):
    """A form, and how its values become the settings of a job."""

    settings: Callable[[Facts], tuple[Setting, ...]]  # facts → what can be set
    # values, facts → the job's settings, and what is wrong by the name of the field
    ask: Callable[[dict[str, Any], Facts], tuple[dict[str, Any], dict[str, str]]]


def form(asking: Asking, action: str, facts: Facts, given: Sent, *, unfold: bool = False) -> Form:
    """Return a form; `given` (from the address) fills in some fields."""
    settings = asking.settings(facts)
    filled = fields(settings, prefilled(settings, given))
    return replace(asking, action=action, fields=filled, open=unfold)


def as_sent(
    asking: Asking,
    action: str,
    facts: Facts,
    sent: Sent,
    errors: Mapping[str, str],
    error: str = "",
) -> Form:
    """Return a refused form with its values and errors."""
    made = fields(asking.settings(facts), sent, errors)
    if errors and not error:
        wrong = ", ".join(field.label for field in made if field.error)
        error = f"Not started. Check: {wrong}."
    return replace(asking, action=action, fields=made, error=error, open=True)


def job_settings(asking: Asking, facts: Facts, sent: Sent) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of the job, and the errors by field."""
    values, errors = read(asking.settings(facts), sent, asking.chooser)
    if errors:
        return {}, errors
    return asking.ask(values, facts)


def given_only(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not empty."""
    return {name: value for name, value in values.items() if value not in (None, "", (), [])}


_KINDS: Mapping[str, Any] = {
    "integer": "integer",
    "number": "number",
    "flag": "yes-no",
    "choice": "choice",
    "text": "text",
}
_REQUIRED = ("integer", "number", "choice", "integers")
_YES_NO = {"yes": True, "no": False}


def having(entries: Sequence[Entry], *settings: str) -> tuple[str, ...]:
    """Return the names of the entries that have all of these settings."""
    return tuple(entry.name for entry in entries if entry.names.issuperset(settings))


def field_from(declaration: type, name: str, **otherwise: Any) -> Setting:
    """Return a field for one setting of a declaration; `otherwise` as `Setting` names it."""
    return replace(_field(setting_of(declaration, name)), **otherwise)


def others(entries: Sequence[Entry], besides: Mapping[str, Collection[str]]) -> tuple[Setting, ...]:
    """Return fields for the other settings of these entries.

    `besides`: by the name of the entry, the settings that are set in another way.
    """
    having: dict[str, list[Entry]] = {}
    made: dict[str, Setting] = {}
    for entry in entries:
        for declared in settings_of(entry.declaration()):
            if declared.name in besides[entry.name] or declared.kind not in _KINDS:
                continue
            name = name_of(entry, declared.name, entries)
            having.setdefault(name, []).append(entry)
            made[name] = replace(_field(declared), name=name, more=True, required=False)
    return tuple(
        replace(field, only_for=tuple(entry.name for entry in having[name]))
        for name, field in made.items()
    )


@cache
def name_of(entry: Entry, setting: str, entries: Sequence[Entry]) -> str:
    """Return the name of a setting's field; a setting with several meanings has several fields.

    Examples
    --------
    >>> from starshade.anonymize.registry import ENTRIES
    >>> from starshade.registry import find
    >>> predictive = find(ENTRIES, "predictive", "method")
    >>> name_of(predictive, "factors", ENTRIES), name_of(predictive, "l", ENTRIES)
    ('factors', 'l_predictive')
    """
    meant = {
        declared
        for each in entries
        for declared in settings_of(each.declaration())
        if declared.name == setting
    }
    return setting if len(meant) == 1 else f"{setting}_{entry.name.replace('-', '_')}"


def config_of(
    entry: Entry, entries: Sequence[Entry], besides: Collection[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of the fields of `others` that differ from the defaults."""
    config = {}
    for declared in settings_of(entry.declaration()):
        if declared.name not in besides:
            value = values.get(name_of(entry, declared.name, entries))
            value = _YES_NO.get(str(value), value) if declared.kind == "flag" else value
            if value is not None and value != declared.default:
                config[declared.name] = value
    return config


def _field(declared: Declared) -> Setting:
    default = "" if declared.default in (MISSING, None) else declared.default
    if isinstance(default, tuple):
        default = ", ".join(map(str, default))
    if isinstance(default, bool):
        default = "yes" if default else ""
    otherwise = declared.default_text if declared.default is None and not declared.choices else ""
    return Setting(
        declared.name,
        declared.label,
        f"{declared.help} Default: {otherwise}." if otherwise else declared.help,
        _kind(declared),
        f"{default:.15g}" if isinstance(default, int | float) else str(default),
        choices=_choices(declared),
        least=declared.least,
        most=declared.most,
        above=declared.above,
        below=declared.below,
        allowed=f"Give whole numbers separated by commas, for example {default}."
        if declared.kind == "integers"
        else "Enter a text.",
        required=not declared.optional and declared.kind in _REQUIRED,
    )


def _kind(declared: Declared) -> Any:
    if declared.optional and declared.kind == "flag":
        return "choice"
    return _KINDS.get(declared.kind, "text")


def _choices(declared: Declared) -> tuple[Choice, ...]:
    offered = declared.choices
    if declared.optional and declared.kind == "flag":
        offered = tuple(_YES_NO)
    left = (Choice("", declared.unset or "default"),) if declared.optional and offered else ()
    return (*left, *(Choice(choice, choice) for choice in offered))
