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
    "smallest_group_at_least": "smallest_class_at_least",
    "fewest_groups": "fewest_classes",
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
_ATTACKED = {
    "half_have": "median_ratings",
    "disclosed": "class_contents_known",
    "sure": "min_posterior",
    "one_person": "one_user",
}
_AUDITED = {
    "homogeneity": {"groups": "classes", "learnt": "ratings_disclosed"},
    "likelihood": {
        "class_found": "class_linkage",
        "ceiling": "upper_bound",
        "impossible": "no_possible_record",
        "silence": "abstention",
        "silent": "abstained",
    },
    "link-existence": {"groups": "classes", "everybody": "all_members", "nobody": "no_member"},
    "padding": {"groups": "classes", "groups_tried": "classes_tested", "shown": "non_null"},
    "fake-edges": {"groups": "classes"},
    "tracker": {"mistaken": "wrong", "unasked": "not_queried"},
}
_ERASED = {"receipts": "key_files", "receipt": "key_file", "gone": "left_before"}
#: in an audit other objects have classes as well: `_UNDER`
_IN_AUDIT = {
    **_ATTACKED,
    **{old: new for own in _AUDITED.values() for old, new in own.items() if old != "groups"},
}

#: older key → key, or several, at any depth, by command; "attack padding": of one attack
RENAMED: Mapping[str, Mapping[str, str | tuple[str, ...]]] = {
    "attack": _ATTACKED,
    **{f"attack {name}": own for name, own in _AUDITED.items()},
    "attack composition": {
        "pinned": "certain",
        "alone": "unique",
        "each": "per_release",
        "class_found": "class_linkage",
        "record_found": "re_identification",
        "record_with_class": "re_identification_in_class",
        "guess_class": "class_baseline",
        "guess_record": "record_baseline",
        "people_pinned": "people_certain",
        "cells_pinned": "cells_certain",
        "people_alone": "people_unique",
    },
    "attack predicate": {
        "classes_tried": "classes_tested",
        "outsiders": "non_members",
        "isolates": "singling_out",
        "blind": "baseline",
        "light": "low_weight",
        "nobody": "no_member",
    },
    "attack membership": {
        "outsiders": "non_members",
        "found": ("tpr_at_fpr", "tpr"),
        "alarms": "fpr",
    },
    "attack inference": {
        "ways": "adversaries",
        "inside": "with_person",
        "outside": "without_person",
        "crowd": "baseline",
        "difference": "gain",
    },
    "check": {**_CHECKED, "groups": "classes"},
    "anonymize": {
        **_MADE,
        "tries": "attempts",
        "obstacles": "failing_checks",
        "word": "verdict_text",
    },
    "measure": _UTILITY,
    "data describe": _RELEASE,
    "data convert": {"made_harmless": "escaped_texts"},
    "erase": _ERASED,
    "list": {"sure": "min_posterior"},
    "audit": {**_UTILITY, **_CHECKED, **_RELEASE, **_IN_AUDIT},
    "compare": {
        **_UTILITY,
        **_RELEASE,
        "class_found": "class_linkage",
        "disclosed": "class_contents_known",
        "halves": "linkability",
        "inference": "inference_gain",
        "isolates": "singling_out",
        "membership": "membership_auc",
    },
    "demo": {**_MADE, **_CHECKED, **_IN_AUDIT},
    "run": {**_UTILITY, **_CHECKED, "facts": "notes", "again": "unchanged"},
    "report": {"edition": "audience"},
}
#: the same below one key, in every command
_UNDER: Mapping[str, Mapping[str, str]] = {
    "utility": {"smallest_class": "smallest_class"},
    "homogeneity": {"groups": "classes"},
    "knowledge": {"wrong": "wrong"},
    "link_existence": {"groups": "classes"},
    "padding": {"groups": "classes", "groups_tried": "classes_tested"},
    "fake_edges": {"groups": "classes"},
    "checks": {"beside": "other_values", "knew": "knowledge", "before": "initial"},
    "profile_disclosure": {"group_found": "class_linkage"},
}


#: the status of a check in schema 1
_STATUS = {"no threshold": "printed", "not demonstrated": "not shown"}

#: keys of the object of a command that schema 1 has not
ADDED: Mapping[str, tuple[str, ...]] = {"report": ("pdf", "risk_list", "report")}


def older_keys(command: str, result: Any) -> Any:
    """Return a result with the keys of schema 1.

    Examples
    --------
    >>> older_keys("attack padding", {"classes_tested": 3, "rank": 2})
    {'groups_tried': 3, 'rank': 2}
    >>> older_keys("audit", {"checks": [{"initial": 0.5}]})
    {'checks': [{'before': 0.5}]}
    >>> older_keys("report", {"out": "r.html", "pdf": None})
    {'out': 'r.html'}
    """
    first = command.partition(" ")[0]
    names = {**RENAMED.get(first, {}), **RENAMED.get(command, {})}
    older = {new: old for old, names_now in names.items() for new in _each(names_now)}

    def renamed(value: Any, older: Mapping[str, str]) -> Any:
        if isinstance(value, Mapping):
            return {
                older.get(key, key): _STATUS[each]
                if key == "status" and isinstance(each, str) and each in _STATUS
                else renamed(
                    each, {**older, **{new: old for old, new in _UNDER.get(key, {}).items()}}
                )
                for key, each in value.items()
            }
        return (
            [renamed(each, older) for each in value] if isinstance(value, list | tuple) else value
        )

    added = ADDED.get(first, ())
    return renamed({key: each for key, each in result.items() if key not in added}, older)


def newer_names(name: str) -> list[str]:
    """Return what a key or attribute may be called now."""
    return [new for names in RENAMED.values() for new in _each(names.get(name, ()))]


def _each(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
