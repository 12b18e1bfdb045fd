"""The fields of the context of a release, which its reports print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.audit.dossier.context import MODELS, NOT_STATED, Context
from starshade.server.ask.asking import field_from, given_only
from starshade.server.forms import Choice
from starshade.setting import settings_of

_SETTINGS = settings_of(Context)
_MODELS = (
    Choice("", NOT_STATED),
    *(Choice(name, meaning) for name, meaning in MODELS.items()),
)
CONTEXT_FIELDS = tuple(
    field_from(
        Context,
        each.name,
        help=each.help,
        choices=_MODELS if each.choices else (),
        more=True,
        under="Context for the report (optional)",
    )
    for each in _SETTINGS
)


def context_stated(values: Mapping[str, Any], errors: dict[str, str]) -> dict[str, Any]:
    """Return the context, where one is stated, as a setting of the job."""
    stated = given_only({each.name: values.get(each.name) for each in _SETTINGS})
    for each in _SETTINGS:
        if each.name in stated and not each.allows(stated[each.name]):
            errors[each.name] = f"Give {each.allowed}."
    return {"context": stated} if stated else {}
