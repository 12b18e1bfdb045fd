"""Older names of keys: what ``--json-schema 1`` prints and Python takes, for one version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA = 2
_UTILITY = {
    "remains_exact": "utility_exact",
    "remains_half": "utility_half_step",
    "remains_near": "utility_one_step",
    "remains_farther": "utility_wider",
    "remains_open": "utility_existence_only",
    "remains_perhaps": "utility_ambiguous",
    "remains_gone": "utility_suppressed",
    "gone_left_out": "utility_left_out",
    "remains_within_step": "recoverable_within_step",
    "averages_within_step": "item_means_within_step",
    "skill": "improvement_over_item_means",
    "empty_filled": "imputed_share",
    "ratings_invented": "ratings_imputed",
}
_RELEASE = {
    "smallest_group": "smallest_class",
    "invented_cells": "imputed_cells",
    "invented_records": "dummy_records",
}
_MADE = {
    **_UTILITY,
    **_RELEASE,
    "median_group": "median_class",
    "largest_group": "largest_class",
}
_CHECKED = {
    "smallest_group": "smallest_class",
    "smallest_group_exact": "smallest_class_exact",
    "everyone_proximate": "all_proximate",
    "fewest_groups": "fewest_classes",
}
_ATTACKED = {"half_have": "median_ratings"}

#: older key → key, at any depth, by command; "attack padding": of one attack, "attack" of all
RENAMED: Mapping[str, Mapping[str, str]] = {
    "attack": _ATTACKED,
    "attack likelihood": {"class_found": "class_linkage"},
    "attack composition": {
        "class_found": "class_linkage",
        "record_found": "re_identification",
        "record_with_class": "re_identification_in_class",
        "guess_class": "class_baseline",
        "guess_record": "record_baseline",
        "people_pinned": "people_certain",
        "cells_pinned": "cells_certain",
        "people_alone": "people_unique",
    },
    "attack padding": {"groups_tried": "classes_tested"},
    "attack predicate": {"classes_tried": "classes_tested"},
    "check": _CHECKED,
    "anonymize": _MADE,
    "measure": _UTILITY,
    "data describe": _RELEASE,
    "audit": {**_UTILITY, **_CHECKED, **_RELEASE, **_ATTACKED},
    "compare": {**_UTILITY, **_RELEASE, "class_found": "class_linkage"},
    "demo": {**_MADE, **_CHECKED, **_ATTACKED},
    "run": {**_UTILITY, **_CHECKED},
    "report": {"edition": "audience"},
}
#: the same for the objects under one key, in every command
_UNDER: Mapping[str, Mapping[str, str]] = {
    "checks": {"beside": "other_values", "knew": "knowledge", "before": "initial"},
    "profile_disclosure": {"group_found": "class_linkage"},
}


def older_keys(command: str, result: Any) -> Any:
    """Return a result with the keys of schema 1.

    Examples
    --------
    >>> older_keys("attack padding", {"classes_tested": 3, "rank": 2})
    {'groups_tried': 3, 'rank': 2}
    >>> older_keys("audit", {"checks": [{"initial": 0.5}]})
    {'checks': [{'before': 0.5}]}
    """
    first = command.partition(" ")[0]
    names = {**RENAMED.get(first, {}), **RENAMED.get(command, {})}
    older = {new: old for old, new in names.items()}

    def renamed(value: Any, under: str) -> Any:
        if isinstance(value, Mapping):
            own = older | {new: old for old, new in _UNDER.get(under, {}).items()}
            return {own.get(key, key): renamed(each, key) for key, each in value.items()}
        return (
            [renamed(each, under) for each in value] if isinstance(value, list | tuple) else value
        )

    return renamed(result, "")


def newer_names(name: str) -> list[str]:
    """Return what a key or attribute may be called now."""
    return [names[name] for names in RENAMED.values() if name in names]
