"""The form of an attack: what somebody knows of a person, and what they do with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starshade.attack.registry import ENTRIES
from starshade.server.ask.asking import SEED, Asking, Facts, given_only
from starshade.server.context.contexts import Choice
from starshade.server.forms import Setting
from starshade.server.words import count

__all__ = ["ATTACK", "ATTACKS", "attack_title", "usual_known"]

#: attacks on ratings that need nothing but knowledge, the suggested one first
ATTACKS = {
    "scoreboard-rh": "Best match, even if some facts are wrong",
    "scoreboard": "Whoever fits every fact, roughly",
    "label": "Whoever fits every fact exactly",
    "structure": "Whoever rated the same items",
}
_SUMMARIES = {entry.name: entry.summary for entry in ENTRIES}
_USUAL = 8  # facts, if the data have so many
_DATED = ("scoreboard-rh", "scoreboard")

_CHOICES = tuple(
    Choice(name, f"{words} ({name})", _SUMMARIES[name]) for name, words in ATTACKS.items()
)
_KNOWN = Setting(
    "known",
    "Facts known about each person",
    "How many of somebody's ratings the attacker has heard of. A colleague may know 4, a friend 8.",
    "integer",
    least=1,
    required=True,
)
_WRONG = Setting(
    "wrong",
    "How many of them are wrong",
    "People misremember. 2 of 8 is a fair test.",
    "integer",
    "0",
    least=0,
    required=True,
)
_RATINGS = Setting(
    "ratings",
    "The attacker knows how the items were rated",
    "Otherwise only that they were rated.",
    "yes-no",
    "yes",
)
_RATING_ERROR = Setting(
    "rating_error",
    "Ratings known to within",
    "0: exactly. 1: give or take one step of a scale from 1 to 5.",
    "number",
    "0",
    least=0,
    required=True,
    more=True,
)
_DAY_ERROR = Setting(
    "day_error",
    "Dates known to within (days)",
    "14: to within two weeks. Leave it empty if the attacker knows no dates.",
    "integer",
    "14",
    least=0,
    most=65534,
    only_for=_DATED,
)
_MORE = (
    Setting(
        "wrong_kind",
        "A wrong fact is",
        "A wrong rating and date of an item that was rated, or an item that was never rated.",
        "choice",
        "value",
        choices=(Choice("value", "a wrong rating and date"), Choice("item", "a wrong item")),
        more=True,
    ),
    Setting(
        "outside_top",
        "Leave out the most rated items",
        "The attacker knows nothing of the N most rated items. Rare items give people away more.",
        "integer",
        "0",
        least=0,
        required=True,
        more=True,
    ),
    Setting(
        "about_count",
        "The attacker knows about how many items somebody rated",
        "To within half of it.",
        "yes-no",
        more=True,
    ),
    Setting(
        "absent",
        "Also attack people who are not in the data",
        "Shows how often the attacker believes to have found somebody who is not there. Doubles "
        "the time.",
        "yes-no",
        more=True,
    ),
    Setting(
        "phi",
        "How clearly a match must stand out",
        "Standard deviations between the best and the second best; 1.5 is the usual. Higher: "
        "fewer wrong matches, and fewer right ones.",
        "number",
        "1.5",
        least=0,
        required=True,
        more=True,
        only_for=("scoreboard-rh",),
    ),
    Setting(
        "tolerance",
        "How far a rating may be off and still fit",
        "Empty: it must be equal.",
        "number",
        least=0,
        more=True,
        only_for=("label",),
    ),
    Setting(
        "targets",
        "People attacked",
        "A sample is enough: with 1,000 the figures are sure to within about 3 in 100.",
        "integer",
        "1000",
        least=1,
        required=True,
        more=True,
    ),
    SEED,
)
_KNOWLEDGE = ("known", "wrong", "wrong_kind", "rating_error", "outside_top", "about_count")


def usual_known(facts: Facts) -> int:
    """Return how many facts are offered: so many that three in four people have as many."""
    quarter = (facts.get("ratings_per_user") or {}).get("q25")
    return _USUAL if quarter is None else max(1, min(_USUAL, int(quarter)))


def _settings(facts: Facts) -> tuple[Setting, ...]:
    chooser = Setting(
        "attack",
        "What the attacker looks for",
        "The first is the strongest in most data: begin with it.",
        "choice",
        "scoreboard-rh",
        choices=_CHOICES,
        required=True,
    )
    dated = (_DAY_ERROR,) if facts.get("first_day") else ()
    known = replace(_KNOWN, default=str(usual_known(facts)))
    return (chooser, known, _WRONG, *dated, _RATINGS, _RATING_ERROR, *_MORE)


def _ask(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors = {}
    if values["wrong"] > values["known"]:
        errors["wrong"] = (
            f"More are wrong than the {values['known']} known. Give at most {values['known']}."
        )
    items, outside = facts.get("items"), values["outside_top"]
    if items is not None and outside >= items:
        errors["outside_top"] = f"{_have(items)} Give at most {items - 1:,}, so that some are left."
    elif items is not None and values["known"] > items - outside:
        left = f" without the {count(outside, 'most rated one')}" if outside else ""
        errors["known"] = f"{_have(items)} Give at most {items - outside:,}{left}."
    config = given_only({name: values.get(name) for name in ("phi", "tolerance")})
    if values["absent"]:
        config["absent"] = True
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
    return f"The data have {count(items, 'item')}."


def attack_title(settings: dict[str, Any]) -> str:
    """Return what a job of this kind is called."""
    told = settings.get("knowledge", {})
    wrong = f", {told['wrong']} wrong" if told.get("wrong") else ""
    return f"Attack: {settings.get('attack')}, {told.get('known')} facts known{wrong}"


ATTACK = Asking(
    id="attack",
    title="Attack it",
    intro="See how many people would be found in these data by somebody who knows a few things "
    "about them. Nothing leaves this machine, and nobody is named.",
    submit="Run the attack",
    settings=_settings,
    ask=_ask,
    chooser="attack",
)
