"""The form of an attack: the attack, and the adversary's knowledge."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from starshade.attack.registry import ENTRIES
from starshade.attack.settings import KnowledgeSettings
from starshade.audit.settings import AuditSettings
from starshade.plain import counted
from starshade.registry import find
from starshade.server.ask.asking import SEED, Asking, Facts, config_of, field_from, others
from starshade.server.forms import Choice, Setting
from starshade.setting import settings_of

#: need something else than ratings and what is known of people: releases, items, attributes
_ELSEWHERE = (
    *("composition", "fake-edges", "homogeneity", "inference", "link-existence", "membership"),
    *("padding", "predicate", "tracker"),
)
_FIRST = ("scoreboard-rh", "scoreboard", "label", "structure")  # the suggested one first
#: what can be chosen
ATTACKS = tuple(
    sorted(
        (entry for entry in ENTRIES if entry.name not in _ELSEWHERE),
        key=lambda entry: [*_FIRST, entry.name].index(entry.name),
    )
)
_USUAL = 8  # facts, if the data have so many
_DATED = ("scoreboard-rh", "scoreboard")

_CHOICES = tuple(
    Choice(e.name, f"{e.title} ({e.name})" if e.title else e.name, e.summary) for e in ATTACKS
)
_OWN = {setting.name for setting in settings_of(KnowledgeSettings)}  # mean what is known
_of = partial(field_from, KnowledgeSettings)
_KNOWN = _of(
    "known",
    help="Ratings of each target that the adversary knows. A colleague may know 4, a friend 8.",
)
_MORE = (
    _of(
        "wrong_kind",
        help="A wrong rating and date of an item that was rated, or an item that was never rated.",
        choices=(Choice("value", "a wrong rating and date"), Choice("item", "a wrong item")),
        more=True,
    ),
    _of(
        "outside_top",
        help="The adversary knows no ratings of the N most rated items. Rare items identify people "
        "more.",
        more=True,
    ),
    _of("about_count", help="Known to within half of the number.", more=True),
    *others(ATTACKS, dict.fromkeys((e.name for e in ATTACKS), _OWN)),
    field_from(
        AuditSettings,
        "targets",
        help="A sample is enough: 1,000 targets give rates to within about 3 percentage points.",
        more=True,
    ),
    SEED,
)
_KNOWLEDGE = ("known", "wrong", "wrong_kind", "rating_error", "outside_top", "about_count")


def usual_known(facts: Facts) -> int:
    """Return the default number of known ratings, which three in four people have."""
    quarter = (facts.get("ratings_per_user") or {}).get("q25")
    return _USUAL if quarter is None else max(1, min(_USUAL, int(quarter)))


def _settings(facts: Facts) -> tuple[Setting, ...]:
    chooser = Setting(
        "attack",
        "Attack",
        "The first is the strongest on most data.",
        "choice",
        "scoreboard-rh",
        choices=_CHOICES,
        required=True,
    )
    days = _of(
        "day_error",
        help="14: to within two weeks. Empty: the adversary knows no dates.",
        kind="integer",
        most=65534,
        only_for=_DATED,
    )
    return (
        chooser,
        replace(_KNOWN, default=str(usual_known(facts))),
        _of("wrong", help="People misremember; 2 of 8 is a realistic test."),
        *((days,) if facts.get("first_day") else ()),
        _of("ratings", help="Otherwise the adversary knows only which items were rated."),
        _of(
            "rating_error",
            help="0: exactly. 1: within one step of a scale from 1 to 5.",
            more=True,
        ),
        *_MORE,
    )


def _ask(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors = {}
    if values["wrong"] > values["known"]:
        errors["wrong"] = (
            f"More than the {values['known']} known ratings. Give at most {values['known']}."
        )
    items, outside = facts.get("items"), values["outside_top"]
    if items is not None and outside >= items:
        errors["outside_top"] = f"{_have(items)} Give at most {items - 1:,}."
    elif items is not None and values["known"] > items - outside:
        left = f" without the {counted(outside, 'most rated one')}" if outside else ""
        errors["known"] = f"{_have(items)} Give at most {items - outside:,}{left}."
    config = config_of(find(ATTACKS, values["attack"], "attack"), ATTACKS, _OWN, values)
    day_error = values.get("day_error")
    knowledge = {name: values[name] for name in _KNOWLEDGE}
    knowledge |= {"ratings": values["ratings"], "dates": day_error is not None}
    if day_error is not None:
        knowledge["day_error"] = day_error
    return {
        "attack": values["attack"],
        "config": config,
        "knowledge": knowledge,
        "targets": values["targets"],
        "seed": values["seed"],
    }, errors


def _have(items: int) -> str:
    return f"The data have {counted(items, 'item')}."


def attack_title(settings: dict[str, Any]) -> str:
    """Return the title of an attack job."""
    knowledge = settings.get("knowledge", {})
    wrong = f", {knowledge['wrong']} wrong" if knowledge.get("wrong") else ""
    known = counted(knowledge.get("known") or 0, "known rating")
    return f"Attack: {settings.get('attack')}, {known}{wrong}"


ATTACK = Asking(
    id="attack",
    title="Attack the ratings",
    intro="Measure re-identification by an adversary who knows a few ratings of each target. All "
    "data stay on this machine; the result names no person.",
    submit="Run the attack",
    settings=_settings,
    ask=_ask,
    chooser="attack",
)
