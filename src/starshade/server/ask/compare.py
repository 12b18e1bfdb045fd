"""The form of a comparison: methods, values of k, items."""

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
    help="Each method makes a release at each k; no release is kept.",
    kind="choices",
    default=_USUAL,
    choices=METHOD_CHOICES,
    required=True,
)
_K = _of("k", help="Minimum class sizes. Whole numbers separated by commas.")
_REST = (
    _of("known", help="Ratings of each target that the adversary knows exactly."),
    _of(
        "targets",
        help="A sample; more targets give narrower intervals and take longer.",
        default="500",
        more=True,
    ),
    replace(EPS, help=f"{EPS.help} For interval and suppress only.", only_for=(), more=True),
    replace(PROFILE, help=f"{PROFILE.help} For predictive only.", only_for=(), more=True),
    _of(
        "disclosure_weights",
        help="For k-exchange: one release for each weight of cells with a single rating. Numbers "
        "separated by commas; 0, 0.2, 0.5 draws a curve.",
        more=True,
    ),
    _of(
        "held_out",
        help="0: no recommender is trained. predictive needs a share: its releases are compared by "
        "recommender error. Typical: 0.1.",
        default="0.1",
        more=True,
    ),
    SEED,
)


def _settings(facts: Facts) -> tuple[Setting, ...]:
    items = top(
        facts,
        "Number of items in the releases, the most rated first. Empty: all items (slowest).",
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
            "predictive releases are compared by recommender error on held-out ratings. Give a "
            "share, for example 0.1, or leave predictive out."
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
            "Give numbers from 0 to 100 separated by commas, for example 0, 0.2, 0.5."
        )
        return {}
    return {"disclosure_weights": list(found.disclosure_weights)}


def compare_title(settings: dict[str, Any]) -> str:
    """Return the title of a comparison job."""
    methods, ks = settings.get("methods") or (), settings.get("k") or ()
    return f"Compare: {', '.join(methods)} at k = {', '.join(map(str, ks))}"


COMPARE = Asking(
    id="compare",
    title="Compare methods",
    intro="Compare methods by loss and residual risk before you choose one. You can then make any "
    "of the releases by selecting its point.",
    submit="Compare",
    settings=_settings,
    ask=_ask,
)
