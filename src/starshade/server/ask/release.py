"""The form of a release: method, k, items, attributes, policy, context."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

from starshade.anonymize.registry import (
    DEFAULT,
    ENTRIES,
    FOR_ITEMS,
    Usual,
    suggested_k,
    suggested_method,
)
from starshade.anonymize.settings import (
    GroupingSettings,
    IntervalAnonymizerSettings,
    PredictiveAnonymizerSettings,
)
from starshade.audit.checks.policy import POLICIES, thresholds_in_words, thresholds_of
from starshade.audit.compare.settings import CompareSettings
from starshade.audit.settings import AuditSettings
from starshade.errors import ConfigError
from starshade.plain import counted
from starshade.registry import find
from starshade.server.ask.asking import (
    SEED,
    Asking,
    Facts,
    config_of,
    field_from,
    given_only,
    having,
    others,
)
from starshade.server.ask.context import CONTEXT_FIELDS, context_stated
from starshade.server.ask.personal import personal_config, personal_settings
from starshade.server.forms import Choice, Setting
from starshade.setting import setting_of, settings_of

_PLAIN = {
    "predictive": "One average profile per k people of similar taste; all items",
    "k-exchange": "Classes of k with sets of ratings; smallest loss of its kind",
    "k-likeness": "Classes of k with sets of ratings",
    "mondrian": "Classes of k or more with ranges of ratings; fast and coarse",
    "mondrian-relaxed": "Classes of k or more with ranges of ratings, always split in halves",
    "k-member": "Classes of k with ranges of ratings; slow on large data",
    "interval": "Ratings moved slightly until k people nearly agree; for surveys",
    "suppress": "Suppression of people until k nearly agree with each who stays; for surveys",
}
#: what can be chosen, the suggested one of each kind first
METHODS = tuple(sorted(ENTRIES, key=lambda entry: [*_PLAIN, entry.name].index(entry.name)))
METHOD_CHOICES = tuple(
    Choice(e.name, e.name, f"{_PLAIN.get(e.name, e.summary.removesuffix('.'))} ({e.source}).")
    for e in METHODS
)
GROUPING = having(METHODS, "k", "hierarchy")
WITH_EPS = having(METHODS, "k", "eps")
PREDICTIVE = having(METHODS, "k", "profile")
PREDICTIVE_ITEMS = "items_predictive"  # another field, as another number is usual
_FEW_ITEMS = 10  # as the examples everywhere have it
FEWEST = 2  # people of whom a release can be made
_PEOPLE = 1000  # where it is not known yet how many there are
_MANY = 30  # items beyond which only the most rated ones are suggested

_interval_field = partial(field_from, IntervalAnonymizerSettings, only_for=WITH_EPS)
K = field_from(
    GroupingSettings,
    "k",
    help="By ratings and generalized attributes, each record is indistinguishable from at least "
    "k − 1 others (interval and suppress: nearly). Typical: 5. A larger k is safer and loses more; "
    "compare methods to measure it.",
    default="5",
)
EPS = _interval_field(
    "eps",
    help="Ratings at most this far apart count as similar. Typical: 1 on a scale from 1 to 5.",
    default="1",
)
PROFILE = field_from(
    PredictiveAnonymizerSettings,
    "profile",
    help="pooled puts no person's rating into a cell and had the lowest error where measured.",
    choices=(
        Choice("pooled", "one prediction for the whole class (pooled, suggested)"),
        Choice("model", "mean of the predictions for the members (model)"),
        Choice("padded", "mean of ratings and predictions (padded, the published method)"),
        Choice("simple", "mean of the existing ratings (simple); discloses who rated what"),
    ),
    only_for=PREDICTIVE,
)
_HIERARCHY = field_from(
    GroupingSettings,
    "hierarchy",
    help="The set keeps most detail; on a fine scale it discloses each rating exactly. Keep the "
    "default if in doubt.",
    kind="choice",
    default="",
    choices=(
        Choice("", "default of the method"),
        Choice("ndgh", "set of the ratings (ndgh)"),
        Choice("range", "range from lowest to highest (range)"),
        Choice("fixed-intervals", "tenths of the scale (fixed-intervals, for fine scales)"),
        Choice("dgh", "half of the scale, or all of it (dgh)"),
    ),
    more=True,
    only_for=GROUPING,
)
_SPREAD = (
    _interval_field(
        "sensitive",
        help="Ids of sensitive items, separated by commas. Their ratings are released unchanged "
        "and not used to find similar people.",
        more=True,
    ),
    _interval_field(
        "l",
        help="Minimum standard deviation of sensitive ratings among similar people.",
        default="",
        required=False,
        more=True,
    ),
    _interval_field(
        "nulls",
        help="Distance if one of two people did not answer.",
        choices=(
            Choice("strict", "the largest possible (safest)"),
            Choice("zero", "as of a rating one step below the scale"),
            Choice("ignore", "zero"),
        ),
        more=True,
    ),
)
_RARE_ITEMS = field_from(
    GroupingSettings,
    "rare_items",
    help="A listed item discloses that a person rated it.",
    choices=(Choice("drop", "leave them out (safer)"), Choice("keep", "keep them")),
    more=True,
    only_for=having(METHODS, "rare_items"),
)
_ITEM_SUPPORT = field_from(
    GroupingSettings, "item_support", more=True, only_for=having(METHODS, "item_support")
)
_PERSONAL = {setting.name for setting in settings_of(GroupingSettings)}
#: what has a field of its own, or is not offered, of each method
ASKED = {
    entry.name: {"k", "items", "rare_items", "item_support", "attributes"}
    | (_PERSONAL if entry.name in GROUPING else set())
    | ({"eps", "sensitive", "l", "nulls"} if entry.name in WITH_EPS else set())
    | ({"profile"} if entry.name in PREDICTIVE else set())
    for entry in METHODS
}
_POLICY = (
    field_from(
        AuditSettings,
        "policy",
        help="Checks and thresholds that the release must pass to be published.",
        kind="choice",
        choices=tuple(Choice(name, name, meaning) for name, meaning in POLICIES.items()),
        more=True,
        under="Policy",
    ),
    field_from(
        AuditSettings,
        "threshold",
        help="Thresholds that replace the policy's, separated by commas, such as class-size=11, "
        f"membership=5%. Checks: {thresholds_in_words(earlier=False)}.",
        default="",
        more=True,
        under="Policy",
    ),
)
_REST = (
    *_POLICY,
    *CONTEXT_FIELDS,
    _RARE_ITEMS,
    _ITEM_SUPPORT,
    *others(METHODS, ASKED),
    field_from(
        AuditSettings,
        "known",
        help="Known ratings per target in the audit. Whole numbers separated by commas.",
        more=True,
    ),
    field_from(
        AuditSettings,
        "targets",
        help="Number of people that the audit attacks, drawn at random.",
        more=True,
    ),
    field_from(
        CompareSettings,
        "held_out",
        help="0: none; the report then has no recommender error. Typical: 0.1. Held-out ratings "
        "are not in the release.",
        more=True,
    ),
    SEED,
)


def suggested(facts: Facts) -> Usual:
    """Return the suggested method for data other than a survey."""
    rated = [each for each in facts.get("histogram") or () if each["ratings"]]
    one_rating = len(rated) == 1 and rated[0]["low"] == rated[0]["high"]
    return suggested_method(facts.get("users", _PEOPLE), one_rating=one_rating)


def usual_k(facts: Facts, method: str) -> int:
    """Return the suggested k: the usual one, or what the number of people allows."""
    return suggested_k(facts.get("users", _PEOPLE), method)


def top(facts: Facts, help_text: str) -> Setting:
    """Return the setting of the number of released items; for many items, few are suggested."""
    usual = str(_FEW_ITEMS) if facts.get("items", 0) > _MANY else ""
    return Setting(
        "items",
        "Only the most rated items",
        help_text,
        "integer",
        usual,
        least=1,
        most=facts.get("items"),
    )


def _settings(facts: Facts) -> tuple[Setting, ...]:
    usual = suggested(facts)
    chooser = Setting(
        "method",
        "Method",
        f"{DEFAULT.method} for all items, {FOR_ITEMS.method} for a few items, interval for "
        "surveys.",
        "choice",
        usual.method,
        choices=METHOD_CHOICES,
        required=True,
    )
    items = top(
        facts,
        "Number of released items, the most rated first. Fewer items keep more detail on each. "
        "Empty: all items; long-tailed data then lose almost all detail.",
    )
    chosen = replace(items, only_for=tuple(e.name for e in METHODS if e.name not in PREDICTIVE))
    many = replace(
        items,
        name=PREDICTIVE_ITEMS,
        help="Empty: all items, the usual training data of recommenders.",
        default="",
        only_for=PREDICTIVE,
    )
    personal = personal_settings(tuple(facts.get("attributes") or ()), GROUPING)
    k = replace(K, default=str(usual_k(facts, usual.method)))
    return (chooser, k, EPS, PROFILE, chosen, many, *personal, _HIERARCHY, *_SPREAD, *_REST)


def _ask(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    known = ks_of("known", values["known"], 1, errors)
    if too_large := too_many_people(values["k"], facts):
        errors["k"] = too_large
    thresholds = _thresholds(values.get("threshold") or "", errors)
    _knowable(known, values.get("items") or values.get(PREDICTIVE_ITEMS), facts, errors)
    names = ("k", "eps", "profile", "hierarchy", "nulls", "rare_items", "l")
    config = given_only({name: values.get(name) for name in names})
    method = find(METHODS, values["method"], "method")
    config |= config_of(method, METHODS, ASKED[method.name], values)
    config |= _item_support(values.get("item_support"), errors)
    config |= _sensitive_items(values, errors) | personal_config(values, errors)
    items = values.get("items") or values.get(PREDICTIVE_ITEMS)
    return {
        "method": values["method"],
        "config": config,
        "items": None if items is None else f"top:{items}",
        "known": known,
        "targets": values["targets"],
        "policy": values.get("policy") or AuditSettings.policy,
        **given_only({"threshold": thresholds}),
        **context_stated(values, errors),
        "held_out": values["held_out"],
        "seed": values["seed"],
    }, errors


def too_many_people(k: int, facts: Facts) -> str:
    """Return an error if k exceeds the number of people; else empty."""
    people = facts.get("users")
    if people is None or k <= people:
        return ""
    if people < FEWEST:
        return f"There {only_people(people)} in the data. A release needs at least two."
    return f"There {only_people(people)} in the data. Give at most {people:,}."


def only_people(people: int) -> str:
    """Return “is only 1 person” or “are only 3 people”."""
    return f"{'is' if people == 1 else 'are'} only {counted(people, 'person', 'people')}"


def _knowable(known: list[int], chosen: int | None, facts: Facts, errors: dict[str, str]) -> None:
    """Refuse more known ratings than items; the default numbers are cut to what is possible."""
    items = facts.get("items") if chosen is None else chosen
    if items is not None and known and known[-1] > items and known != list(AuditSettings.known):
        of = "The data have" if chosen is None else "The release has"
        errors["known"] = (
            f"{known[-1]:,} ratings cannot be known. {of} {counted(items, 'item')}: give numbers "
            f"from 1 to {items:,}."
        )


def _thresholds(text: str, errors: dict[str, str]) -> list[str]:
    """Read thresholds separated by commas; there is no earlier release."""
    texts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    try:
        thresholds_of(texts, earlier=False)
    except ConfigError as error:
        errors["threshold"] = f"Not possible: {error.message}. {error.advice}"
    return texts


def _item_support(text: str | None, errors: dict[str, str]) -> dict[str, Any]:
    support = setting_of(GroupingSettings, "item_support")
    if text is None:
        return {}
    if not support.allows(text):
        errors["item_support"] = f"Give {support.allowed}."
    return {"item_support": text}


def _sensitive_items(values: dict[str, Any], errors: dict[str, str]) -> dict[str, Any]:
    parts = [part.strip() for part in (values.get("sensitive") or "").split(",")]
    sensitive = [part for part in parts if part]
    if values.get("l") and not sensitive:
        errors["sensitive"] = "A minimum spread needs sensitive items. Give one or more item ids."
    return {"sensitive": sensitive} if sensitive else {}


def ks_of(name: str, text: str, least: int, errors: dict[str, str]) -> list[int]:
    """Read whole numbers separated by commas; add what is wrong to `errors`."""
    parts = [part for part in re.split(r"[,;\s]+", text) if part]
    if not parts or not all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts):
        errors[name] = "Give whole numbers separated by commas, for example 2, 5, 10."
        return []
    numbers = sorted({int(part) for part in parts})
    if numbers[0] < least:
        errors[name] = f"{numbers[0]} is too small: give numbers from {least}."
    if len(numbers) > 12:
        errors[name] = f"{len(numbers)} numbers are too many: give at most 12."
    return numbers


def release_title(settings: dict[str, Any]) -> str:
    """Return the title of a release job."""
    items = (settings.get("items") or "").removeprefix("top:")
    of = f", {items} most rated items" if items else ""
    return f"Release: {settings.get('method')}, k = {settings.get('config', {}).get('k')}{of}"


RELEASE = Asking(
    id="release",
    title="Make a release",
    intro="Make an anonymized release for at least k people per class, and audit it. You get a "
    "verdict, an internal report, the release, and a public report if the audit passes.",
    submit="Make the release",
    settings=_settings,
    ask=_ask,
    chooser="method",
)
