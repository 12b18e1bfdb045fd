"""The form of a comparison: which methods, at which k, on which items."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

from starshade.anonymize.registry import DEFAULT, FOR_ITEMS
from starshade.audit.compare.settings import CompareSettings
from starshade.errors import ConfigError
from starshade.plain import counted
from starshade.server.ask.asking import SEED, Asking, Facts, field_from
from starshade.server.ask.release import (
    EPS,
    FEWEST,
    METHOD_CHOICES,
    PROFILE,
    WITH_EPS,
    ks_of,
    too_many_people,
    top,
)
from starshade.server.forms import Setting

_USUAL = (DEFAULT.method, FOR_ITEMS.method, "mondrian")

_of = partial(field_from, CompareSettings)
_METHODS = _of(
    "methods",
    help="Every chosen method makes a release at every k; none of them is kept.",
    kind="choices",
    default=_USUAL,
    choices=METHOD_CHOICES,
    required=True,
)
_K = _of("k", help="How many people hide together. Whole numbers, commas between.")
_REST = (
    _of("known", help="What the attacker of every release knows, exactly."),
    _of(
        "targets",
        help="A sample; more make the figures surer and take longer.",
        default="500",
        more=True,
    ),
    replace(EPS, help=f"{EPS.help} For interval and suppress only.", only_for=(), more=True),
    replace(PROFILE, help=f"{PROFILE.help} For predictive only.", only_for=(), more=True),
    _of(
        "disclosure_weights",
        help="For k-exchange: a release for each weight of cells that show one rating. Numbers, "
        "commas between; 0, 0.2, 0.5 draws a curve.",
        more=True,
    ),
    _of(
        "held_out",
        help="0: no recommender is trained. predictive needs it, as its releases are compared by "
        "what a recommender loses; 0.1 is usual.",
        default="0.1",
        more=True,
    ),
    SEED,
)


def _settings(facts: Facts) -> tuple[Setting, ...]:
    items = top(
        facts,
        "Which items the releases would have, the most rated first. Empty: all of them, which "
        "takes longest.",
    )
    fitting = [k for k in CompareSettings.k if k <= facts.get("users", k)] or [FEWEST]
    k = replace(_K, default=", ".join(map(str, fitting)))
    return (_METHODS, k, items, *_REST)


def _ask(values: dict[str, Any], facts: Facts) -> tuple[dict[str, Any], dict[str, str]]:
    errors: dict[str, str] = {}
    methods, items = values["methods"], values["items"]
    ks = ks_of("k", values["k"], 2, errors)
    if ks and (too_large := too_many_people(ks[-1], facts)):
        errors["k"] = too_large
    of = facts.get("items") if items is None else items
    if of is not None and values["known"] > max(of, CompareSettings.known):
        errors["known"] = f"The releases would have {counted(of, 'item')}. Give at most {of:,}."
    if "predictive" in methods and not values["held_out"]:
        errors["held_out"] = (
            "predictive releases are compared by what a recommender loses on ratings that are kept "
            "apart. Give a share, for example 0.1, or leave predictive out."
        )
    return {
        "methods": list(methods),
        "k": ks,
        "items": None if items is None else f"top:{items}",
        "eps": values["eps"] if set(methods) & set(WITH_EPS) else None,
        "profile": values["profile"] if "predictive" in methods else None,
        **_weights(methods, values["disclosure_weights"], errors),
        "known": values["known"],
        "targets": values["targets"],
        "held_out": values["held_out"],
        "seed": values["seed"],
    }, errors


def _weights(methods: Any, text: str | None, errors: dict[str, str]) -> dict[str, Any]:
    parts = [part for part in re.split(r"[,;\s]+", text or "") if part]
    if not parts or "k-exchange" not in methods:
        return {}
    try:
        found = CompareSettings(disclosure_weights=[float(part) for part in parts])
    except (ValueError, ConfigError):
        errors["disclosure_weights"] = (
            "Give numbers from 0 to 100 with commas between, for example 0, 0.2, 0.5."
        )
        return {}
    return {"disclosure_weights": list(found.disclosure_weights)}


def compare_title(settings: dict[str, Any]) -> str:
    """Return what a job of this kind is called."""
    methods, ks = settings.get("methods") or (), settings.get("k") or ()
    return f"Compare: {', '.join(methods)} at k = {', '.join(map(str, ks))}"


COMPARE = Asking(
    id="compare",
    title="Compare methods",
    intro="See what each method would lose and what an attacker would still find, before you "
    "choose one. You can then make any of the releases by choosing its point.",
    submit="Compare",
    settings=_settings,
    ask=_ask,
)
