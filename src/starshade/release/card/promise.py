"""The dataset card's section on what a release promises, and what it does not."""

from __future__ import annotations

import json

from starshade.plain import counted, percent
from starshade.release.card.profiles import remains
from starshade.release.manifest import Claim, Manifest

__all__ = ["promise"]


def promise(manifest: Manifest, smallest_class: int) -> str:
    """Return the section on what is promised; the arguments are those of `dataset_card`."""
    lines = ["## What is promised, and what is not\n"]
    lines += [_claim(claim, bool(manifest.quasi_identifiers)) for claim in manifest.claims] or [
        "- No privacy model is claimed."
    ]
    if manifest.layout == "record":
        return "\n".join([*lines, *_proximity(manifest, smallest_class), _NOT_DP]) + "\n"
    if manifest.layout == "profile":
        return "\n".join([*lines, remains(manifest), _NOT_DP]) + "\n"
    lines += [
        "\n**Hiding among k is not hiding what you rated.** When all people of a class rated an "
        "item alike, the class tells everybody's rating:\n",
        f"- for {percent(manifest.users_rating_disclosed)} of the people here, at least one "
        "rating can be read off their class",
        f"- for {percent(manifest.users_rating_exists)}, it is certain of at least one item that "
        "they rated it, if not how",
        *_sensitive(manifest),
        _NOT_DP,
    ]
    return "\n".join(lines) + "\n"


def _sensitive(manifest: Manifest) -> list[str]:
    """Say what a class tells of the attributes that are released as they were."""
    if not manifest.sensitive_attributes:
        return []
    return [
        "\nSensitive attributes stand here as they were. Whoever finds a person's class knows "
        "that theirs is one of the values in it, and how often each occurs; how different these "
        "are is promised only where a line above says so. By ratings"
        + " and quasi-identifiers"
        * bool(manifest.quasi_identifiers)
        + " the records of a class are equal; with these attributes they are not: "
        f"{percent(manifest.records_alone_with_sensitive)} of the records here are alone in their "
        "class with their values of them, and who knows these of a person, too, finds their record."
    ]


_NOT_DP = (
    "\nThese are promises about this table, not differential privacy: they do not cover "
    "a second release of the same people. Two releases of one data set can be intersected; "
    "take one."
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
    lines = [text]
    if manifest.sensitive_items:
        lines.append(
            "\nRatings of the sensitive items are not counted as known and were not changed: they "
            "are what such a reader would learn."
        )
    return lines


def _claim(claim: Claim, beside: bool) -> str:
    """Word a claim; `beside`: there are quasi-identifiers that records are equal on too."""
    counts = ", ".join(f"{name} {value:,}" for name, value in claim.verified.items())
    parameters = ", ".join(
        f"{name} = {_in_words(value)}" for name, value in claim.parameters.items()
    )
    text = f"- {claim.model} ({parameters})"
    if claim.model == "k-anonymity":
        k = claim.parameters["k"]
        assert isinstance(k, int)
        text += f": every record equals at least {counted(k - 1, 'other')} on every cell"
        text += " and quasi-identifier" * beside
    if claim.model == "review-graph":
        k = claim.parameters["k"]
        assert isinstance(k, int)
        text += f": every record equals at least {counted(k - 1, 'other')}, item by item"
    if claim.model == "diversity":
        text += (
            ": every set of up to b items that somebody rated together is covered by the profiles "
            "of at least l different groups"
        )
    if claim.model == "l-diversity":
        text += ": every class has at least this many different values of it"
    if claim.model == "t-closeness":
        text += (
            ": no class's values of it are distributed more than this far from those of all "
            "records (earth mover's distance, 0 to 1)"
        )
    if claim.model in ("k-eps", "k-eps-l"):
        text += _told_near(claim)
    return f"{text}; counted on these files: {counts.replace('_', ' ')}"


def _in_words(value: float | int | str | list[str]) -> str:
    """Write a parameter; keys may hold anything."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else f"{value}"


def _told_near(claim: Claim) -> str:
    """Say in words what (k, eps) and (k, eps, l) are."""
    k, eps = claim.parameters["k"], claim.parameters["eps"]
    assert isinstance(k, int)
    rules = {
        "strict": "a null only near a null",
        "ignore": "a null near everything",
        "zero": "a null counting as the level below the scale",
    }
    of = "every item that is not sensitive" if claim.parameters.get("sensitive") else "every item"
    text = (
        f": every record has at least {counted(k - 1, 'other')} whose rating of {of} is within "
        f"{eps:g} of its own, {rules[str(claim.parameters['nulls'])]}"
    )
    if claim.model == "k-eps-l":
        text += (
            f"; among each record and those near it, the ratings of each sensitive item spread by "
            f"a standard deviation of at least {claim.parameters['l']:g}, unless nobody rated it"
        )
    return text
