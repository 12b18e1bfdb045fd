"""What a form of a release asks about personal attributes."""

from __future__ import annotations

from typing import Any

from starshade.anonymize.settings import GroupingSettings
from starshade.server.ask.asking import field_from, given_only
from starshade.server.forms import Choice, Setting


def personal_settings(names: tuple[str, ...], methods: tuple[str, ...]) -> tuple[Setting, ...]:
    """Return what can be said of personal attributes, if there are any, with some methods."""
    if not names:
        return ()
    offered = tuple(Choice(name, name) for name in names)
    return (
        field_from(
            GroupingSettings,
            "attributes",
            help="Age, gender, zip code and the like single people out. Leave them out if in "
            "doubt.",
            choices=(
                Choice("none", "leave them out (suggested)"),
                Choice("generalized", "make them part of what k people share"),
            ),
            only_for=methods,
        ),
        Setting(
            "sensitive_attributes",
            "Attributes that others must not learn",
            "With generalized attributes: released as they are, and kept varied by the next line. "
            "Records of a group differ in them: who knows them of a person may find one record.",
            "choices",
            choices=offered,
            more=True,
            only_for=methods,
        ),
        Setting(
            "distinct",
            "Different values of each in a group, at least",
            "2 or 3 is usual. It needs a sensitive attribute.",
            "integer",
            least=0,
            more=True,
            only_for=methods,
        ),
        field_from(
            GroupingSettings,
            "rare_values",
            help="Of an attribute that is released: such a value points at those who have it.",
            choices=(
                Choice("refuse", "make no release and say how many there are"),
                Choice("blank", "leave them out, as if not known"),
            ),
            required=False,
            more=True,
            only_for=methods,
        ),
    )


def personal_config(values: dict[str, Any], errors: dict[str, str]) -> dict[str, Any]:
    """Return the settings of a method that were asked for; what is wrong goes to `errors`."""
    sensitive, distinct = values.get("sensitive_attributes") or (), values.get("distinct") or 0
    if values.get("attributes") != "generalized":
        if sensitive or distinct:
            errors["attributes"] = (
                "Personal attributes are left out, so nothing can be asked of them. Choose to make "
                "them part of what k people share, or leave the settings below empty."
            )
        return {}
    if distinct and not sensitive:
        errors["sensitive_attributes"] = "Choose the attributes whose values must differ."
    return given_only(
        {
            "attributes": "generalized",
            "sensitive_attributes": list(sensitive),
            "l": distinct or None,
            "rare_values": values.get("rare_values"),
        }
    )
