"""The dataset card's section on the claims of a release and their limits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from starshade.plain import counted
from starshade.release.figures import counted_of, exact_values_warning, shares
from starshade.release.manifest import Claim, Manifest

QuestionName: TypeAlias = Literal["singled-out", "linked", "inferred"]

_NO_SHIELD = "**k-anonymity does not prevent attribute disclosure.**"
_RULES: dict[Any, str] = {
    "strict": "a null is near nulls only",
    "ignore": "a null is near every rating",
    "zero": "a null counts as the level below the scale",
}
_NEAR = (
    "every record has at least {others} whose rating of {of} is within {eps:g} of its own; {rule}"
)
_MEANINGS = {
    "k-anonymity": "every record equals at least {others} in every cell{more}",
    "review-graph": "every record equals at least {others} on every item",
    "diversity": "every set of up to {b} items that one person rated is covered by the "
    "profiles of at least {l} classes",
    "l-diversity": "every class has at least {l:g} different known values of the "
    "attribute{missing}",
    "t-closeness": "in every class the attribute is distributed within {t:g} of all records (earth "
    "mover's distance, 0 to 1)",
    "k-eps": _NEAR,
    "k-eps-l": _NEAR
    + "; among each record and those near it, the ratings of each sensitive item have a standard "
    "deviation of at least {l:g}, unless none of them rates it",
}


#: the risks of WP29 Opinion 05/2014 that an audit measures, in this order
QUESTIONS: Mapping[QuestionName, str] = {
    "singled-out": "Singling out",
    "linked": "Linkability",
    "inferred": "Inference from participation",
}


def questions() -> str:
    """Return the section on the risks that only an audit measures."""
    risks = "\n".join(f"- {risk}" for risk in QUESTIONS.values())
    return (
        "## Residual risk\n\nThis card was written with the release, before any audit. Ask the "
        f"owner for the audit report; it measures:\n\n{risks}\n\nA claim such as k-anonymity is "
        "about records. Alone it bounds none of these risks.\n"
    )


def promise(manifest: Manifest, smallest_class: int) -> str:
    """Return the section on claims; the arguments are those of `dataset_card`."""
    lines = ["## Claims and their limits\n"]
    lines += [_claim(claim, bool(manifest.quasi_identifiers)) for claim in manifest.claims] or [
        "- No privacy model is claimed."
    ]
    if manifest.layout == "record":
        return "\n".join([*lines, *_proximity(manifest, smallest_class), _not_dp(manifest)]) + "\n"
    if manifest.layout == "profile":
        return "\n".join([*lines, remains(manifest), _not_dp(manifest)]) + "\n"
    lines += [
        f"\n{_NO_SHIELD} If all people of a class gave an item the same rating, the class "
        "discloses it:\n",
        *(f"- {each.title}: {each.text}. {each.meaning}" for each in shares(manifest)),
        *_sensitive(manifest),
        _not_dp(manifest),
    ]
    return "\n".join(lines) + "\n"


def _sensitive(manifest: Manifest) -> list[str]:
    """Return what a class reveals of unchanged attributes."""
    if not manifest.sensitive_attributes:
        return []
    more = " and quasi-identifiers" * bool(manifest.quasi_identifiers)
    return [
        "\nSensitive attributes are unchanged. An adversary who finds a person's class learns that "
        "their value is one of those in it, and how often each occurs. Only a claim above bounds "
        f"how different these are. Records of a class are equal in ratings{more}, not necessarily "
        "in sensitive attributes."
    ]


def _not_dp(manifest: Manifest) -> str:
    """Return what no claim covers: other releases, except those that this one continues."""
    text = "\nThese claims are about this table, not differential privacy. They do not cover "
    if manifest.dummy_records is None:
        return (
            f"{text}a second release of the same people: two releases of one data set can be "
            "intersected. Use only one."
        )
    return (
        f"{text}other releases of the same people, except those that this one continues: people "
        "who share a class there share one here."
    )


def _proximity(manifest: Manifest, smallest_class: int) -> list[str]:
    """Return what nearness does not ensure, or that records are equal beyond the claim."""
    if smallest_class >= (manifest.claimed_k or 2):
        text = (
            f"\n{_NO_SHIELD} The records of a class are equal in every cell, and the smallest "
            f"class has {smallest_class:,}: ratings single out no record. An adversary who finds a "
            "person's class reads all of it."
        )
    else:
        text = (
            "\n**Near is not equal.** Records near each other may differ. An adversary who knows "
            "some of a person's ratings exactly may single out one record and read all of it."
        )
    learned = (
        "\nRatings of the sensitive items are unchanged and do not count as known: they are what "
        "such an adversary learns."
    )
    exact = exact_values_warning(manifest).replace("Exact values:", "\n**Exact values:**", 1)
    return [*filter(None, [exact]), text, *[learned] * bool(manifest.sensitive_items)]


def _claim(claim: Claim, beside: bool) -> str:
    parameters = ", ".join(
        f"{name} = {_in_words(value)}" for name, value in claim.parameters.items()
    )
    meaning = requirement(claim.model, claim.parameters, beside=beside)
    text = f"- {claim.model} ({parameters}){meaning and ': '}{meaning}"
    return f"{text}; counted on these files: {counted_of(claim.verified)}"


def requirement(model: str, parameters: Mapping[str, Any], *, beside: bool) -> str:
    """Return what a model requires; empty if the model or a parameter is unknown.

    `beside`: records are also equal on quasi-identifiers.
    """
    try:
        return _MEANINGS[model].format(
            **parameters,
            others=counted(int(parameters.get("k", 1)) - 1, "other"),
            more=" and quasi-identifier" * beside,
            of="every item" + " that is not sensitive" * bool(parameters.get("sensitive")),
            missing="; missing values count as one value" * ("missing" in parameters),
            rule=_RULES.get(parameters.get("nulls")),
        )
    except (KeyError, TypeError, ValueError):
        return ""


def _in_words(value: float | int | str | list[str]) -> str:
    """Write a parameter; keys may hold anything."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else f"{value}"
    return in_markdown(text)


_MARKS = re.compile(r"[&<>`\\]|(?<=\])[\[(:]|:(?=//)|(?<=\bwww)\.|@(?=\w)", re.IGNORECASE)


def in_markdown(text: str) -> str:
    """Return a text that Markdown shows literally: no HTML, no link, no line break.

    >>> in_markdown("<b> [x](http://y) age")
    '&#60;b&#62; [x]&#40;http&#58;//y) age'
    """
    seen = "".join(c if c.isprintable() else " " for c in text)
    return _MARKS.sub(lambda found: f"&#{ord(found[0])};", seen)


_READ_PROFILE = """\
import numpy as np, pyarrow.parquet as pq
column = pq.read_table("profiles.parquet", columns=["profile"])["profile"]
codes = np.frombuffer(b"".join(column.to_pylist()), "u1").reshape(-1, {items})
ratings = np.append(np.nan, {minimum!r} + {step!r} * np.arange({n}))  # ratings[codes[0]]: class 0
"""

_AVERAGE = f"\n{_NO_SHIELD} An adversary who finds a person's class reads its profile. "
_REMAINS: dict[str | None, str] = {
    None: _AVERAGE + "Its cells are means; in a small class one rating moves a mean.",
    "padded": _AVERAGE + "Its cells are means over the class of ratings and, where there is none, "
    "of predictions. One rating moves a mean by at most the share of its person in the class. The "
    "release does not state which cells rest on ratings, but a cell that differs from a "
    "prediction may show it.",
    "simple": _AVERAGE + "A cell is the mean rating of the members who rated the item{alone}. A "
    "null means that {few} rated the item.",
    "model": _AVERAGE + "Its cells are mean predictions of a model for the class. They contain no "
    "rating, but the model was fitted to all ratings, including those of the class.",
    "pooled": _AVERAGE + "Its cells are predictions of a model for the class as if it were one "
    "person. They contain no rating, but the model was fitted to all ratings, and each prediction "
    "to the ratings of its class.",
}
_CELLS: dict[str | None, str] = {
    None: "Each class has one profile: the mean ratings of its members; null means no rating.",
    "padded": "Each class has one profile: for each item the mean over its members of their "
    "rating or, if they did not rate it, of a model's prediction.",
    "simple": "Each class has one profile: for each item the mean rating of the members who rated "
    "it; null means that {few} did.",
    "model": "Each class has one profile: for each item the mean prediction of a model for its "
    "members; it contains no rating.",
    "pooled": "Each class has one profile: for each item a model's prediction for the class as if "
    "it were one person who gave all its ratings; it contains no rating.",
}


def cells_are(manifest: Manifest) -> str:
    """Return what a cell of a profile is."""
    return _CELLS[manifest.profile].format(**_raters(manifest))


def remains(manifest: Manifest) -> str:
    """Return what a profile reveals of its class."""
    return _REMAINS[manifest.profile].format(**_raters(manifest))


def _raters(manifest: Manifest) -> dict[str, str]:
    least = manifest.config.get("min_raters", 1)
    if least == 1:
        return {
            "few": "no member",
            "alone": "; with one rater it is that person's rating, without the name",
        }
    return {"few": f"fewer than {least} members", "alone": ""}


def how_to_read(manifest: Manifest) -> str:
    """Return Python that reads the profiles."""
    scale, step = manifest.scale, manifest.profile_step or 1.0
    n = round((scale.maximum - scale.minimum) / step) + 1
    return _READ_PROFILE.format(minimum=scale.minimum, step=step, n=n, items=manifest.items)


def level_bytes(manifest: Manifest) -> str:
    """Return the meaning of the bytes of a profile."""
    return (
        "one byte per item in the order of items.parquet: 0 = null, "
        f"1 = {manifest.scale.minimum:g}, each further level {manifest.profile_step:g} more"
    )


def crowd(records: int, k: int, by: str, *, near: bool) -> str:
    """Return a sentence on the size of the classes.

    `by`: by what records are equal; `near`: records are near others, not equal to them.
    """
    what = counted(records, "record")
    if near:
        others = counted(k - 1, "other")
        return f"Each of its {what} has at least {others} near it{by}, counted on its files."
    return (
        f"Each of its {what} is in an equivalence class (records that are equal{by}) of at least "
        f"{k}, counted on its files."
    )
