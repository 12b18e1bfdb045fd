"""The form of a release: which method, how many hide together, what goes in."""

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
from starshade.server.ask.personal import personal_config, personal_settings
from starshade.server.forms import Choice, Setting
from starshade.setting import setting_of, settings_of

_PLAIN = {
    "predictive": "k people of like tastes become one average profile; all items",
    "k-exchange": "Groups of k share sets of ratings; loses least of its kind",
    "k-likeness": "Groups of k share sets of ratings",
    "mondrian": "Groups of k or more share ranges of ratings; fast and coarse",
    "mondrian-relaxed": "Groups of k or more share ranges of ratings, always cut into halves",
    "k-member": "Groups of k share ranges of ratings; slow on large data",
    "interval": "Ratings move a little until k people nearly agree; for surveys",
    "suppress": "People are left out until k nearly agree with each who stays; for surveys",
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
FEWEST = 2  # people among whom one can hide
_PEOPLE = 1000  # where it is not known yet how many there are
_MANY = 30  # items beyond which only the most rated ones are suggested

_interval_field = partial(field_from, IntervalAnonymizerSettings, only_for=WITH_EPS)
K = field_from(
    GroupingSettings,
    "k",
    help="By ratings, and by the attributes that k people share, nobody can be told apart from at "
    "least k − 1 others (by interval and suppress: hardly). 5 is "
    "usual; larger is safer and loses more. Compare methods to see how much.",
    default="5",
)
EPS = _interval_field(
    "eps",
    help="Ratings this far apart count as alike, in units of the scale. 1 is usual on 1 to 5.",
    default="1",
)
PROFILE = field_from(
    PredictiveAnonymizerSettings,
    "profile",
    help="pooled puts nobody's rating into a cell and predicted best where it was measured.",
    choices=(
        Choice("pooled", "what the group as one person would say (pooled, suggested)"),
        Choice("model", "the mean of the predictions for its members (model)"),
        Choice("padded", "the mean of ratings and predictions (padded, the published method)"),
        Choice("simple", "the mean of the ratings that there are (simple): shows who rated what"),
    ),
    only_for=PREDICTIVE,
)
_HIERARCHY = field_from(
    GroupingSettings,
    "hierarchy",
    help="The set says most, and on a fine scale each rating exactly. Leave it to the method if "
    "in doubt.",
    kind="choice",
    default="",
    choices=(
        Choice("", "as the method has it"),
        Choice("ndgh", "the set of its ratings (ndgh)"),
        Choice("range", "from the least to the greatest (range)"),
        Choice("fixed-intervals", "the tenths of the scale between which they lie (fine scales)"),
        Choice("dgh", "one half of the scale, or all of it (dgh)"),
    ),
    more=True,
    only_for=GROUPING,
)
_SPREAD = (
    _interval_field(
        "sensitive",
        help="Ids of items that others must not learn, with commas between. They are released as "
        "they are and not used to find like people.",
        more=True,
    ),
    _interval_field(
        "l",
        help="A standard deviation, among those who are alike: so that they do not all agree.",
        default="",
        required=False,
        more=True,
    ),
    _interval_field(
        "nulls",
        help="What it means that one of two people did not answer.",
        choices=(
            Choice("strict", "as far away as it can be (safest)"),
            Choice("zero", "one step below the scale"),
            Choice("ignore", "no difference"),
        ),
        more=True,
    ),
)
_RARE_ITEMS = field_from(
    GroupingSettings,
    "rare_items",
    help="That an item is listed says that somebody rated it.",
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
        help="What the release must pass to be published.",
        kind="choice",
        choices=tuple(Choice(name, name, meaning) for name, meaning in POLICIES.items()),
        more=True,
        under="Policy",
    ),
    field_from(
        AuditSettings,
        "threshold",
        help="Thresholds instead of the policy's, with commas between, such as class-size=11, "
        f"membership=5%. Checks: {thresholds_in_words(earlier=False)}.",
        default="",
        more=True,
        under="Policy",
    ),
)
_REST = (
    *_POLICY,
    _RARE_ITEMS,
    _ITEM_SUPPORT,
    *others(METHODS, ASKED),
    field_from(
        AuditSettings,
        "known",
        help="The finished release is attacked as the ratings were. Whole numbers, commas between.",
        more=True,
    ),
    field_from(
        AuditSettings,
        "targets",
        help="A sample of the people, for the check of the finished release.",
        more=True,
    ),
    field_from(
        CompareSettings,
        "held_out",
        help="0: none, and the report has no recommender's error. 0.1 is usual; these ratings are "
        "then not in the release.",
        more=True,
    ),
    SEED,
)


def suggested(facts: Facts) -> Usual:
    """Return the method that is suggested, unless the data look like a survey's."""
    rated = [each for each in facts.get("histogram") or () if each["ratings"]]
    one_rating = len(rated) == 1 and rated[0]["low"] == rated[0]["high"]
    return suggested_method(facts.get("users", _PEOPLE), one_rating=one_rating)


def usual_k(facts: Facts, method: str) -> int:
    """Return the k that is suggested for a method: the usual one, or what the people allow."""
    return suggested_k(facts.get("users", _PEOPLE), method)


def top(facts: Facts, help_text: str) -> Setting:
    """Return the setting of how many items are released, few of many being suggested."""
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
        "How many items go into the release, the most rated first. Fewer items lose less detail "
        "on each. Empty: all of them, which generalizes long-tailed data to almost nothing.",
    )
    chosen = replace(items, only_for=tuple(e.name for e in METHODS if e.name not in PREDICTIVE))
    many = replace(
        items,
        name=PREDICTIVE_ITEMS,
        help="Empty: all of them, which is what recommenders are trained on.",
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
        "held_out": values["held_out"],
        "seed": values["seed"],
    }, errors


def too_many_people(k: int, facts: Facts) -> str:
    """Say that k is more than there are people; empty where it is not."""
    people = facts.get("users")
    if people is None or k <= people:
        return ""
    if people < FEWEST:
        return f"There {only_people(people)} in the data: nobody can hide. A release needs two."
    return f"There {only_people(people)} in the data. Give at most {people:,}."


def only_people(people: int) -> str:
    """Write how few there are."""
    return f"{'is' if people == 1 else 'are'} only {counted(people, 'person', 'people')}"


def _knowable(known: list[int], chosen: int | None, facts: Facts, errors: dict[str, str]) -> None:
    """Refuse more facts than there are items; the usual numbers are cut to what is possible."""
    items = facts.get("items") if chosen is None else chosen
    if items is not None and known and known[-1] > items and known != list(AuditSettings.known):
        of = "The data have" if chosen is None else "The release has"
        errors["known"] = (
            f"{known[-1]:,} facts cannot be known. {of} {counted(items, 'item')}: give numbers "
            f"from 1 to {items:,}."
        )


def _thresholds(text: str, errors: dict[str, str]) -> list[str]:
    """Read thresholds with commas between; of one release, which has none before it."""
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
        errors["sensitive"] = "A spread is asked for, but of no item. Name one or more, by id."
    return {"sensitive": sensitive} if sensitive else {}


def ks_of(name: str, text: str, least: int, errors: dict[str, str]) -> list[int]:
    """Read whole numbers with commas between; what is wrong goes to `errors`."""
    parts = [part for part in re.split(r"[,;\s]+", text) if part]
    if not parts or not all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts):
        errors[name] = "Give whole numbers with commas between, for example 2, 5, 10."
        return []
    numbers = sorted({int(part) for part in parts})
    if numbers[0] < least:
        errors[name] = f"{numbers[0]} is too small: give numbers from {least}."
    if len(numbers) > 12:
        errors[name] = f"{len(numbers)} are too many at once: give 12 at most."
    return numbers


def release_title(settings: dict[str, Any]) -> str:
    """Return what a job of this kind is called."""
    items = (settings.get("items") or "").removeprefix("top:")
    of = f", {items} most rated items" if items else ""
    return f"Release: {settings.get('method')}, k = {settings.get('config', {}).get('k')}{of}"


RELEASE = Asking(
    id="release",
    title="Make a release",
    intro="Make a version of the data in which everybody hides among k people. It is checked, "
    "attacked again, and comes with a verdict, a report in two editions, and a file to download.",
    submit="Make the release",
    settings=_settings,
    ask=_ask,
    chooser="method",
)
