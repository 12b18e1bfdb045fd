"""The settings of personal attributes in the form of a release."""

from __future__ import annotations

from typing import Any

from starshade.anonymize.settings import GroupingSettings
from starshade.server.ask.asking import field_from, given_only
from starshade.server.forms import Choice, Setting


def personal_settings(names: tuple[str, ...], methods: tuple[str, ...]) -> tuple[Setting, ...]:
    """Return the settings of personal attributes for some methods; empty without attributes."""
    if not names:
        return ()
    offered = tuple(Choice(name, name) for name in names)
    return (
        field_from(
            GroupingSettings,
            "attributes",
            help="Age, gender, zip code and similar attributes identify people. Leave them out if "
            "in doubt.",
            choices=(
                Choice("none", "leave them out (suggested)"),
                Choice("generalized", "generalize them; at least k people share each combination"),
            ),
            only_for=methods,
        ),
        Setting(
            "sensitive_attributes",
            "Sensitive attributes",
            "With generalized attributes: released unchanged; the next setting keeps them diverse. "
            "They differ within a class: an adversary who knows them may find one record.",
            "choices",
            choices=offered,
            more=True,
            only_for=methods,
        ),
        Setting(
            "distinct",
            "Diversity of sensitive attributes (l)",
            "Minimum number of different values in a class. Typical: 2 or 3. Needs a sensitive "
            "attribute.",
            "integer",
            least=0,
            more=True,
            only_for=methods,
        ),
        field_from(
            GroupingSettings,
            "rare_values",
            help="In a released attribute, such a value identifies the people who have it.",
            choices=(
                Choice("refuse", "make no release and report how many there are"),
                Choice("blank", "replace them by missing values"),
            ),
            required=False,
            more=True,
            only_for=methods,
        ),
    )


def personal_config(values: dict[str, Any], errors: dict[str, str]) -> dict[str, Any]:
    """Return the settings of a method; add what is wrong to `errors`."""
    sensitive, distinct = values.get("sensitive_attributes") or (), values.get("distinct") or 0
    if values.get("attributes") != "generalized":
        if sensitive or distinct:
            errors["attributes"] = (
                "Personal attributes are left out. Choose to generalize them, or leave the "
                "settings of sensitive attributes empty."
            )
        return {}
    if distinct and not sensitive:
        errors["sensitive_attributes"] = "Choose at least one sensitive attribute."
    return given_only(
        {
            "attributes": "generalized",
            "sensitive_attributes": list(sensitive),
            "l": distinct or None,
            "rare_values": values.get("rare_values"),
        }
    )
