"""The dataset card's section on what a release promises, and what it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from starshade.plain import counted
from starshade.release.figures import counted_of, exact_values_warning, shares
from starshade.release.manifest import Claim, Manifest

QuestionName: TypeAlias = Literal["singled-out", "linked", "inferred"]

_RULES: dict[Any, str] = {
    "strict": "a null only near a null",
    "ignore": "a null near everything",
    "zero": "a null counting as the level below the scale",
}
_NEAR = (
    "every record has at least {others} whose rating of {of} is within {eps:g} of its own, {rule}"
)
_MEANINGS = {
    "k-anonymity": "every record equals at least {others} on every cell{beside}",
    "review-graph": "every record equals at least {others}, item by item",
    "diversity": "every set of up to {b} items that somebody rated together is covered by the "
    "profiles of at least {l} different groups",
    "l-diversity": "every class has at least this many different known values of it{missing}",
    "t-closeness": "no class's values of it are distributed more than this far from those of all "
    "records (earth mover's distance, 0 to 1)",
    "k-eps": _NEAR,
    "k-eps-l": _NEAR
    + "; among each record and those near it, the ratings of each sensitive item spread by a "
    "standard deviation of at least {l:g}, unless nobody rated it",
}


#: what an owner answers before a release leaves; an audit does, in this order
QUESTIONS: Mapping[QuestionName, str] = {
    "singled-out": "Can a person be singled out?",
    "linked": "Can records be linked?",
    "inferred": "Can something be inferred about somebody because they are in it?",
}


def questions() -> str:
    """Return the section on what this card cannot answer; it is written before any audit."""
    asked = "\n".join(f"{i}. {question}" for i, question in enumerate(QUESTIONS.values(), 1))
    return (
        "## Three questions to ask its owner\n\nThis card was written with the release, before "
        "anybody tried to undo it. The report of an audit answers:\n\n"
        f"{asked}\n\nA promise such as k-anonymity is about records; it answers none of them by "
        "itself.\n"
    )


def promise(manifest: Manifest, smallest_class: int) -> str:
    """Return the section on what is promised; the arguments are those of `dataset_card`."""
    lines = ["## What is promised, and what is not\n"]
    lines += [_claim(claim, bool(manifest.quasi_identifiers)) for claim in manifest.claims] or [
        "- No privacy model is claimed."
    ]
    if manifest.layout == "record":
        return "\n".join([*lines, *_proximity(manifest, smallest_class), _not_dp(manifest)]) + "\n"
    if manifest.layout == "profile":
        return "\n".join([*lines, remains(manifest), _not_dp(manifest)]) + "\n"
    lines += [
        "\n**Hiding among k is not hiding what you rated.** When all people of a class rated an "
        "item alike, the class tells everybody's rating:\n",
        *(f"- {each.title}: {each.text}. {each.meaning}" for each in shares(manifest)),
        *_sensitive(manifest),
        _not_dp(manifest),
    ]
    return "\n".join(lines) + "\n"


def _sensitive(manifest: Manifest) -> list[str]:
    """Say what a class tells of the attributes that are released as they were."""
    if not manifest.sensitive_attributes:
        return []
    beside = " and quasi-identifiers" * bool(manifest.quasi_identifiers)
    return [
        "\nSensitive attributes stand here as they were. Whoever finds a person's class knows "
        "that theirs is one of the values in it, and how often each occurs; how different these "
        f"are is promised only where a line above says so. By ratings{beside} the records of a "
        "class are equal; with these attributes they need not be."
    ]


def _not_dp(manifest: Manifest) -> str:
    """Say what no promise covers: other releases, but for those that this one continues."""
    text = "\nThese are promises about this table, not differential privacy: they do not cover "
    if manifest.dummy_records is None:
        return (
            f"{text}a second release of the same people. Two releases of one data set can be "
            "intersected; take one."
        )
    return (
        f"{text}other releases of the same people than those that this one continues. In these, "
        "whose people hid together hide together still."
    )


def _proximity(manifest: Manifest, smallest_class: int) -> list[str]:
    """Say what nearness does not promise, or that records are equal beyond what is promised."""
    if smallest_class >= (manifest.claimed_k or 2):
        text = (
            "\n**Hiding among k is not hiding what you rated.** The records of a class are equal "
            f"in every cell, and the smallest class has {smallest_class:,}: nobody can single out "
            "one by ratings. Whoever finds a person's class reads all of it."
        )
    else:
        text = (
            "\n**Near is not equal.** The records that a person hides among may differ from each "
            "other. That others are near is all that is promised: whoever knows some of a person's "
            "ratings exactly may single out one record, and then reads all of it."
        )
    learned = (
        "\nRatings of the sensitive items are not counted as known and were not changed: they are "
        "what such a reader would learn."
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
    """Say what a model requires; empty where it is none of ours, or lacks a parameter.

    `beside`: there are quasi-identifiers that records are equal on too.
    """
    try:
        return _MEANINGS[model].format(
            **parameters,
            others=counted(int(parameters.get("k", 1)) - 1, "other"),
            beside=" and quasi-identifier" * beside,
            of="every item" + " that is not sensitive" * bool(parameters.get("sensitive")),
            missing=", a missing value counting as one" * ("missing" in parameters),
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
    """Return a text that stands in Markdown as it is: no HTML, no link, no line of its own.

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

_AVERAGE = (
    "\n**Hiding among k is not hiding what you rated.** Whoever finds a person's class reads its "
    "profile. "
)
_REMAINS: dict[str | None, str] = {
    None: _AVERAGE + "Its cells are means, and in a small class one rating moves a mean.",
    "padded": _AVERAGE + "Its cells are means over the class of ratings and, where there was "
    "none, of what a model predicts: one rating moves a mean by no more than the share of its "
    "person in the class. Which cells rest on ratings is not told, but a cell that differs "
    "from what a model would predict may show it.",
    "simple": _AVERAGE + "A cell is the mean of the ratings of those of the class who rated the "
    "item{alone}. A null says that {few} of the class rated the item.",
    "model": _AVERAGE + "Its cells are what a model predicts for the class. No rating stands in "
    "it, but the model was fitted to the ratings of everybody, those of the class among them.",
    "pooled": _AVERAGE + "Its cells are what a model predicts for the class as if it were one "
    "person. No rating stands in it, but the model was fitted to the ratings of everybody, and "
    "this prediction to those of the class.",
}
_CELLS: dict[str | None, str] = {
    None: "Every class has one profile: means of the ratings of its people; null means no rating.",
    "padded": "Every class has one profile: for each item the mean over its people, each counting "
    "with their rating or, where they did not rate it, with what a model predicts for them.",
    "simple": "Every class has one profile: for each item the mean of the ratings of those of its "
    "people who rated it; null means that {few} of the class did.",
    "model": "Every class has one profile: for each item the mean of what a model predicts for "
    "its people; no rating stands in it.",
    "pooled": "Every class has one profile: for each item what a model predicts for the class as "
    "if it were one person who gave all its ratings; no rating stands in it.",
}


def cells_are(manifest: Manifest) -> str:
    """Say what a cell of a profile is."""
    return _CELLS[manifest.profile].format(**_raters(manifest))


def remains(manifest: Manifest) -> str:
    """Say what a profile tells of its class."""
    return _REMAINS[manifest.profile].format(**_raters(manifest))


def _raters(manifest: Manifest) -> dict[str, str]:
    least = manifest.config.get("min_raters", 1)
    if least == 1:
        return {
            "few": "nobody",
            "alone": ": where one did, it is that person's rating, only not their name",
        }
    return {"few": f"fewer than {least}", "alone": ""}


def how_to_read(manifest: Manifest) -> str:
    """Return three lines of Python that open the profiles, behind an import."""
    scale, step = manifest.scale, manifest.profile_step or 1.0
    n = round((scale.maximum - scale.minimum) / step) + 1
    return _READ_PROFILE.format(minimum=scale.minimum, step=step, n=n, items=manifest.items)


def level_bytes(manifest: Manifest) -> str:
    """Say what the bytes of a profile are."""
    return (
        "one byte per item in the order of items.parquet: 0 = null, "
        f"1 = {manifest.scale.minimum:g}, each further level {manifest.profile_step:g} more"
    )


def crowd(records: int, k: int, by: str, *, near: bool) -> str:
    """Say among how many others each record hides.

    `by`: by what records are equal; `near`: they are near others, not equal to them.
    """
    what = counted(records, "record")
    if near:
        others = counted(k - 1, "other")
        return f"Each of its {what} has near it at least {others}{by}, counted again on its files."
    return (
        f"Each of its {what} is in a class (records that are equal{by}) of at least {k}, counted "
        "again on its files."
    )
