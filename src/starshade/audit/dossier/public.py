"""The public edition: a function of the release folder, of the limits, and of what held.

Two such editions can be subtracted, and one from the release: nothing is left, as all that is said
can be computed from the folder, but for a yes or no to each question and caveat. Nothing that was
measured on the ratings comes this far: no argument could carry it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from starshade.audit.dossier.data import Bins
from starshade.audit.dossier.losses import disclosure_rows
from starshade.audit.dossier.release import claim_rows, files_of, method_section, versions_of
from starshade.audit.dossier.verdict import (
    PROXIMITY_CAVEAT,
    headline,
    hidden,
    readers_advice,
    shown_of,
    undecided,
    within,
)
from starshade.audit.evidence import MOST_QUERIES
from starshade.audit.findings import (
    AUDIENCE,
    NO_NAME,
    NO_RARE_VALUE,
    models_of,
    records_differ,
    title_of,
)
from starshade.audit.questions.limits import LIMITED
from starshade.audit.questions.question import UNDECIDED, head, limits_told
from starshade.audit.result import AuditResult
from starshade.audit.to_know import FEW, of_release
from starshade.errors import InternalError
from starshade.plain import counted, percent
from starshade.ratings.shape import scale_text
from starshade.release.band import in_words
from starshade.release.figures import private_figures
from starshade.release.promise import QUESTIONS
from starshade.release.readable.describe import shares_of_cells
from starshade.release.readable.examples import example_classes
from starshade.release.show import sizes_shown
from starshade.release.table import Release
from starshade.release.verify.claims import PROXIMITY_MODELS
from starshade.utility.losses import DisclosureShares, class_sizes
from starshade.utility.rating_histogram import released_shares

_BARS = 8  # of class sizes, as it is two pages in all
_GRID = 5  # percent; limits are stated on this grid


@dataclass(frozen=True)
class Judgement:
    """What a public edition knows of an audit.

    `answers`: what was judged, and whether the release passed. `limits`: those that the owner set,
    in percent, rounded up to steps of 5. `caveats`: names of what the audit did not do in full.
    """

    answers: tuple[tuple[str, bool], ...]
    limits: tuple[tuple[str, int], ...] = ()
    caveats: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: AuditResult) -> Judgement:
        """Keep of an audit what may be published."""
        return cls(
            tuple((finding.name, finding.passed) for finding in result.findings),
            tuple((name, _on_grid(most)) for name, most in result.config["limit"].items()),
            tuple(_caveats(result)),
        )

    @property
    def passed(self) -> bool:
        """Whether the release may be published."""
        return all(passed for _, passed in self.answers)

    @property
    def passed_alone(self) -> bool:
        """Whether it might if nothing had been published before."""
        return all(passed for name, passed in self.answers if name != "earlier")

    def answered(self, unset: Sequence[str]) -> bool:
        """Whether it passed and nothing was left to decide; `unset`: limits that nobody set."""
        return self.passed and (not unset or all(map(self.answer, QUESTIONS)))

    def limit(self, name: str) -> int | None:
        """Return the owner's limit in percent; None: there is none."""
        return dict(self.limits).get(name)

    def answer(self, name: str) -> bool | None:
        """Return the answer to a question; None: it was not judged."""
        answers = [passed for question, passed in self.answers if question == name]
        return all(answers) if answers else None


def _caveats(result: AuditResult) -> Iterator[str]:
    if result.tracker is not None and not result.tracker.after.complete:
        yield "stopped"
    if any(each.after.targets < FEW for each in result.evidence):
        yield "few"


def _on_grid(limit: float) -> int:
    """Round a limit up; what is a step but for the dust of floating point is one."""
    return _GRID * max(ceil(100 * limit / _GRID - 1e-9), int(limit > 0))


def public_edition(release: Release, folder: Path, judgement: Judgement) -> dict[str, Any]:
    """Return what everybody may read on a release that was read without its receipt."""
    if release.private is not None:
        raise InternalError("a public edition of a release with its private facts")
    return {
        "edition": "public",
        "verdict": _verdict(release, judgement),
        "questions": _questions(release, judgement),
        "limits": _limits(release, judgement),
        "findings": _findings(release, judgement),
        "warnings": [*of_release(release), *(_CAVEATS[name] for name in judgement.caveats)],
        "claims": claim_rows(
            _claims(release, judgement), beside=bool(release.manifest.quasi_identifiers)
        ),
        "holds": _holds(release) if judgement.passed else None,
        "open": list(_open(release, judgement)),
        "method": method_section(release),
        "files": files_of(folder, release),
        "versions": versions_of(release),
    }


def _holds(release: Release) -> dict[str, Any]:
    shares, scale = DisclosureShares().measure(release).figures, release.scale
    return {
        "scale": scale_text(scale.minimum, scale.maximum, scale.step),
        "attributes": list(release.manifest.attribute_columns),
        "classes": _classes(release),
        "cells": _cells(release),
        "examples": example_classes(release),
        "disclosure": {"rows": disclosure_rows(shares, release)},
        "inside": _inside(release),
        "useful": _useful(release),
        "left_out": _left_out(release),
    }


def _useful(release: Release) -> str:
    """Say what its cells are good for, as far as its files show it."""
    shares = shares_of_cells(release)
    listed = (f"{_KINDS[n]} in {percent(share)}" for n, share in shares.items() if n in _KINDS)
    return f"Utility: its cells say {', '.join(listed)}."


def _left_out(release: Release) -> str:
    """Say which items are left out, as far as its files show it."""
    dropped = in_words(release.manifest.rare_items_dropped)
    return (
        f"Items: {release.classes.n_items:,} released; left out as too few rated them: {dropped}."
    )


def _proximate(release: Release) -> bool:
    claims = release.manifest.claims
    return records_differ(release) and any(claim.model in PROXIMITY_MODELS for claim in claims)


def _limit(release: Release, judgement: Judgement) -> tuple[str, str]:
    """Say the stricter limit on records, the owner's or 1 in k, and whose it is."""
    most, k = judgement.limit("record"), release.manifest.claimed_k
    if most is None or (k and most * k >= 100 and not records_differ(release)):
        return (f"1 in {k}", "the claim") if k else ("none", "–")
    return f"{most}%", "the owner"


def _verdict(release: Release, judgement: Judgement) -> dict[str, Any]:
    passed, alone = judgement.passed, judgement.passed_alone
    limits = _limits(release, judgement)
    unset = [row["title"] for row in limits if row["by"] == "–"]
    answered, word, line = judgement.answered(unset), "PASS", headline(passed=passed, alone=alone)
    if not answered:
        word = "LIMITS HOLD; NOT EVERYTHING WAS JUDGED" if passed else "FAIL"
        by = [row["by"] for row in limits]
        told = limits_told(len(unset), by.count("the owner"), by.count("the claim"))
        line = undecided(told) if passed else line
    paragraph = [head(passed=passed, alone=alone, answered=answered)]
    if passed and not answered:
        paragraph = [f"{told}; which, stands below. {UNDECIDED}"]
    paragraph += [row["text"] for row in _findings(release, judgement) if not row["passed"]]
    if alone:
        paragraph += hidden(release, proximate=_proximate(release))
    if judgement.answer("attack"):
        paragraph.append(_attack(release, judgement))
    if passed:
        shares = DisclosureShares().measure(release).figures
        paragraph += shown_of(shares, proximate=_proximate(release), fine=release.scale.fine)
    return {
        "passed": passed,
        "headline": line,
        "word": word,
        "answered": answered,
        "paragraph": " ".join(paragraph),
        "advice": readers_advice(passed=passed),
    }


def _attack(release: Release, judgement: Judgement) -> str:
    mean = " on average" * records_differ(release)
    return (
        "Attacks were tried on it, with the knowledge of a few ratings of a person, right or "
        f"nearly so: none points at the right record{mean} more often than the limit of "
        f"{_limit(release, judgement)[0]}."
    )


def _questions(release: Release, judgement: Judgement) -> list[dict[str, Any]]:
    """Answer each as far as it was judged, or as all of its limits were set and held or not."""
    limits, words = (
        _limits(release, judgement),
        {True: "within limits", False: "not shown to be within limits"},
    )
    told = []
    for name, title in QUESTIONS.items():
        held = {row["held"] for row in limits if row["question"] == name}
        by_limits = "not shown to be within limits" if "not shown to hold" in held else "not judged"
        by_limits = "within limits" if held == {"held"} else by_limits
        judged = judgement.answer(name)
        answer = by_limits if judged is None else words[judged]
        told.append({"name": name, "question": title, "answer": answer})
    return told


def _limits(release: Release, judgement: Judgement) -> list[dict[str, Any]]:
    rows = []
    for name, limited in LIMITED.items():
        most = judgement.limit(name)
        limit = ("none", "–") if most is None else (f"{most}%", "the owner")
        if name == "record":
            limit = _limit(release, judgement)
        if name == "joint-class" and most is None:
            if judgement.answer("earlier") is None:
                continue  # of one release alone
            limit = ("none may be", "the claim")
        rows.append((_FOUND.get(name, name), limited.question, limited.title, *limit))
    words = {True: "held", False: "not shown to hold", None: "not judged"}
    return [
        {"name": name, "question": question, "title": title, "limit": limit, "by": by}
        | {"held": words[judgement.answer(name)]}
        for name, question, title, limit, by in rows
    ]


#: caveat → what it says
_CAVEATS = {
    "stopped": "The attack on a query interface was stopped after "
    f"{counted(MOST_QUERIES, 'query', 'queries')}, the most that an audit asks: not every query "
    "that could single out a person was tried.",
    "few": f"Some attacks were tried on fewer than {FEW} people: their intervals are wide.",
}
#: limits whose findings have another name
_FOUND = {"record": "attack", "joint-class": "earlier"}
#: question → what yes says, what no says
_SENTENCES = {
    "tracker": (
        "Behind a query interface nobody is singled out by counting.",
        "Behind a query interface COUNT queries single people out unless they are refused.",
    ),
    "audience": AUDIENCE,
    "identifying": (NO_NAME, "A personal attribute that it tells is as good as a name."),
    "rare-values": (
        NO_RARE_VALUE,
        "A personal attribute that it tells has values that fewer than k people have.",
    ),
    "settings": ("", "release.json says another k of its making than it claims."),
    "scale": ("", "release.json says another scale than the ratings have."),
    "earlier": (
        "No earlier release that was named is of the same people, but for this very one, or "
        "together they leave everybody among k or more.",
        "An earlier release is of the same data, or may be: whoever holds both can intersect "
        "their groups, and then nobody hides among k any more.",
    ),
}


def _findings(release: Release, judgement: Judgement) -> list[dict[str, Any]]:
    limit = _limit(release, judgement)[0]
    up_to = "at most " * (judgement.limit("record") is not None)  # the limit itself may be less
    own = {
        name: (
            f"{LIMITED[name].title}: within the limit ({most}%).",
            f"{LIMITED[name].title}: not shown to be within the limit (at most {most}%).",
        )
        for name, most in judgement.limits
    }
    asked: dict[str, tuple[str, str]] = {
        name: (
            f"{title} All that was measured is within the limits, or no more than guessing.",
            f"{title} It was not shown that all is within limits.",
        )
        for name, title in QUESTIONS.items()
    }
    models = {
        title_of(claim): (
            f"The check of {claim.model}, which shares no code with the method, agrees.",
            f"The check of {claim.model} does not find what is claimed.",
        )
        for claim in models_of(release)
    }
    sentences = {
        "claims": (
            "Its claims were counted again on the files and hold.",
            "Not everything that it claims was found again on the files, or it claims nothing.",
        ),
        **models,
        "attack": (
            _attack(release, judgement),
            "It was not shown that attacks point at the right record no more often than the limit "
            f"({up_to}{limit}).",
        ),
        **own,
        **asked,
        **_SENTENCES,
    }
    most = judgement.limit("joint-class")
    if most:  # the owner allowed for some
        sentences["earlier"] = (
            f"Of the people in this release and the earlier ones at most {most}% share all their "
            "classes with fewer than k; the owner allowed for so many.",
            _SENTENCES["earlier"][1],
        )
    return [
        {"name": name, "passed": answer, "text": texts[not answer]}
        for name, texts in sentences.items()
        if (answer := judgement.answer(name)) is not None
    ]


def _claims(release: Release, judgement: Judgement) -> Iterator[dict[str, Any]]:
    """Return the claims as verified when the files were written, and whether they hold now."""
    for claim in release.manifest.claims:
        answers = (judgement.answer("claims"), judgement.answer(title_of(claim)))
        yield {**claim.model_dump(), "holds": False not in answers}


def _classes(release: Release) -> dict[str, Any]:
    sizes = class_sizes(release)
    return {
        "count": len(sizes),
        "smallest": int(sizes[-1]) if len(sizes) else 0,
        "median": float(np.median(sizes)) if len(sizes) else 0.0,
        "largest": int(sizes[0]) if len(sizes) else 0,
        "bins": [{"label": label, "share": share} for label, share in sizes_shown(sizes, _BARS)],
        "meaning": f"How many records are equal{release.manifest.alike_by}, as shares of all. The "
        "more are equal, the less can one of them be told from the others.",
    }


def _cells(release: Release) -> dict[str, Any]:
    shares = shares_of_cells(release)
    return {
        "kinds": [
            {"name": name, "label": label, "share": shares[name]}
            for name, label in _KINDS.items()
            if name in shares
        ],
        "histogram": _histogram(release),
        "meaning": "How often each rating occurs among the cells that have one; a cell that leaves "
        "several open counts for each in equal parts.",
    }


#: what cells say, briefly
_KINDS = {
    "one_rating": "one rating",
    "several_ratings": "one of several ratings",
    "perhaps_rated": "ratings, or none",
    "no_rating": "no rating",
}


def _histogram(release: Release) -> list[dict[str, Any]]:
    """Return the share of each rating; empty on a scale without steps."""
    if release.scale.step is None:
        return []
    bins, shares = Bins.of(release.scale), released_shares(release)[1:]
    held = np.bincount(bins.place(release.scale.levels), shares, minlength=len(bins.ends))
    rows = zip(bins.labels, (held / (held.sum() or 1.0)).tolist(), strict=True)
    return [{"label": label, "share": share} for label, share in rows]


def _inside(release: Release) -> list[dict[str, Any]]:
    return [
        {"title": each.title, "value": each.value, "unit": "", "meaning": each.meaning}
        for each in private_figures(release.manifest)
    ]


def _open(release: Release, judgement: Judgement) -> Iterator[str]:
    manifest, k = release.manifest, release.manifest.claimed_k
    if _proximate(release):
        yield PROXIMITY_CAVEAT
    elif manifest.layout == "profile":
        yield "No model limits how often a person's group is found, nor what its profile tells."
    if k and judgement.passed_alone and not records_differ(release):
        yield within(k, manifest.alike_by, alone=judgement.answer("earlier") is not None)
    else:
        yield "Other attacks than those tried may find more."
    yield (
        "A second release of the same people is another matter: two can be intersected, and then "
        "nobody may hide among k any more."
    )
    yield (
        "How often attacks succeed, on the ratings and on the release, and what was lost in making "
        "it stand in the owner's edition alone: such figures are of the ratings themselves."
    )
