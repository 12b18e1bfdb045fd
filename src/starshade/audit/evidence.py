"""Evidence for a verdict: the same attacks before and after, with the same knowledge.

The adversary knows a few of a target's true cells among the released items: 2, 4 and 8 of them
(or the most that a person has), once exactly, once as Narayanan & Shmatikov (2008, §5) blur them: a
quarter of the cells wrong, ratings to within a quarter of the scale. A release that claims
(k, ε) is also tried by that model's own adversary, who knows ratings to within ε. The targets and
what is known of each are drawn from the seed, and are the same on the ratings and on the release;
nothing is known of items that the release claims to be sensitive.

A release may also answer queries: the tracker, who sees no data and only counts, attacks a query
interface to each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np

from starshade.attack.knowledge import Knowledge
from starshade.attack.recall import Recall
from starshade.attack.registry import ENTRIES
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.tracker.result import TrackerResult
from starshade.attack.tracker.tracker import TrackerAttack
from starshade.audit.original.original import Original
from starshade.audit.settings import AuditSettings
from starshade.errors import ConfigError
from starshade.figure import Table
from starshade.naming import aside, called
from starshade.plain import counted, percent
from starshade.progress import task
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.manifest import Claim, sensitive_of
from starshade.release.table import Release
from starshade.release.verify.claims import PROXIMITY_MODELS

USUAL = tuple(AuditSettings.known)  # numbers of known cells, if none are given

MOST_QUERIES = 1_000_000  # COUNT queries of the tracker; seconds


@dataclass(frozen=True)
class Evidence:
    """One attack with one kind of knowledge, and its results."""

    knowledge: Knowledge
    # `before`, `after`: on the ratings and on the release
    before: AttackResult
    after: AttackResult

    @property
    def knew(self) -> str:
        """The known ratings of a person, in a few words."""
        known, text = self.knowledge, counted(self.knowledge.known, "rating")
        if known.rating_error:
            text += f" within ±{known.rating_error:g}"
        return text + (f", {known.wrong} of them wrong" if known.wrong else "")

    @property
    def title(self) -> str:
        """The attack and its knowledge, in a few words."""
        exact = "blurred" if self.knowledge.rating_error else "exactly"
        return f"{self.after.attack}, {counted(self.knowledge.known, 'rating')} known {exact}"


@dataclass(frozen=True)
class Tracked:
    """The tracker attack on a query interface, and its results."""

    # `before`, `after`: on the ratings and on the release
    before: TrackerResult
    after: TrackerResult

    def to_dict(self) -> dict[str, Any]:
        """Return both results as plain values."""
        return {"before": self.before.to_dict(), "after": self.after.to_dict()}


def knowledge_to_try(
    scale: Scale, most: int, known: Sequence[int], claims: Sequence[Claim] = ()
) -> list[Knowledge]:
    """Return the knowledge to test: each number of cells, exact, blurred, within ε.

    `most`, `known`: see `numbers_to_try`; the claims of (k, ε) and (k, ε, l) say what ε is and
    which items are sensitive.
    """
    hidden = sensitive_of(claims)
    possible = numbers_to_try(known, most)
    blur = _quarter(scale)
    tries = [(m, 0, 0.0) for m in possible]
    tries += [(m, m // 4, blur) for m in possible]
    tries += [(m, 0, eps) for eps in _claimed_eps(claims) for m in possible]
    return [
        Knowledge(known=m, wrong=wrong, rating_error=error, dates=False, except_items=hidden)
        for m, wrong, error in dict.fromkeys(tries)
        if error or not wrong  # wrong cells belong to the blur
    ]


def numbers_to_try(
    known: Sequence[int], most: int, usual: Sequence[int] = USUAL
) -> tuple[int, ...]:
    """Return the numbers of known cells that can be tested.

    The usual ones are cut to what is possible; none left: the most. A requested adversary is never
    replaced by a weaker one.

    `most`: the most cells of any person; `usual`: the default.
    """
    possible = tuple(m for m in known if m <= most)
    if tuple(known) == tuple(usual) or not most:  # the attacks refuse who has no rating at all
        return possible or (max(most, 1),)
    if len(possible) < len(known):
        raise ConfigError(
            f"{called('known')} {max(known)}: no person has so many ratings that an adversary can "
            f"know; the maximum is {most}",
            advice=f"Choose numbers from 1 to {most}{aside('known')}, or leave the setting out: "
            "the defaults are cut to the maximum.",
            setting="known",
        )
    return possible


def attack_both(
    original: Original, tries: Sequence[Knowledge], *, targets: int, seed: int
) -> list[Evidence]:
    """Run every attack that says how it is `audited` on the ratings and on the release."""
    runs = [
        (*pair, knowledge) for knowledge in tries for pair in _attacks_with(knowledge, original)
    ]
    evidence = []
    with task("attacking", 2 * len(runs)) as step:
        for on_ratings, on_release, knowledge in runs:
            before = original.attack(on_ratings, knowledge, targets, seed)
            step(1)
            after = original.attack_release(on_release, knowledge, targets, seed)
            step(1)
            evidence.append(Evidence(knowledge, before, after))
    return evidence


def best_of(evidence: Sequence[Evidence]) -> Evidence:
    """Return the strongest attack, with its knowledge, on the release."""
    return max(evidence, key=lambda e: e.after.expected_top1.rate)


def recall_before_after(evidence: Sequence[Evidence]) -> Table:
    """Compare recall at a precision before and after, with the most exact knowledge.

    Among pools of candidates by the posterior of the likelihood attack, and among all records by
    NS's eccentricity.
    """
    exact = [e for e in evidence if not (e.knowledge.rating_error or e.knowledge.wrong)]
    most = max(exact, key=lambda e: e.knowledge.known).knowledge
    pairs = {e.after.attack: (e.before, e.after) for e in exact if e.knowledge == most}
    rows = [
        (f"{one.candidates:,}", *_recalls(one), *_recalls(other))
        for one, other in _pools(*pairs["likelihood"])
    ]
    for name, how in (("likelihood", "posterior"), ("scoreboard-rh", "eccentricity")):
        before, after = (each.recall[-1] for each in pairs[name])
        rows.append((f"all, by {how}", *_recalls(before), *_recalls(after)))
    sides = (f"{side}, {level} %" for side in ("original", "release") for level in (90, 99))
    title = f"Recall at 90 % and 99 % precision, {counted(most.known, 'rating')} known exactly"
    return Table(title, ("candidates", *sides), tuple(rows))


def _pools(before: AttackResult, after: AttackResult) -> Iterator[tuple[Recall, Recall]]:
    """Pair the pools that both have, without those of all records."""
    theirs = {each.candidates: each for each in after.recall[:-1]}
    for each in before.recall[:-1]:
        if each.candidates in theirs:
            yield each, theirs[each.candidates]


def _recalls(recall: Recall) -> tuple[str, str]:
    return percent(recall.recall_90.rate), percent(recall.recall_99.rate)


def track_both(original: Ratings, release: Release) -> Tracked | None:
    """Run the tracker on the ratings and on the release; None where no queries are answered.

    Only releases of generalized cells that claim a k answer queries. The tracker knows all
    personal attributes that the ratings come with.
    """
    manifest = release.manifest
    if manifest.layout != "generalized" or (manifest.claimed_k or 1) < 2:
        return None
    known = () if original.attributes is None else tuple(original.attributes.column_names)
    attack = TrackerAttack(background=known, queries=MOST_QUERIES)
    return Tracked(attack.run(original), attack.run(release, original=original))


def _attacks_with(knowledge: Knowledge, original: Original) -> list[tuple[Any, Any]]:
    tried, release = [], original.release
    for entry in ENTRIES:
        attack = entry.load()
        if not hasattr(attack, "audited"):
            continue
        on_ratings = attack.audited(knowledge, original.part, release)
        if on_ratings is not None:
            tried.append((on_ratings, attack.audited(knowledge, release, release)))
    return sorted(tried, key=lambda pair: not isinstance(pair[0], ScoreboardRH))


def _claimed_eps(claims: Sequence[Claim]) -> list[float]:
    named = (claim.parameters.get("eps") for claim in claims if claim.model in PROXIMITY_MODELS)
    return [float(eps) for eps in named if isinstance(eps, int | float)]


def _quarter(scale: Scale) -> float:
    """Return a quarter of the scale's width, in whole steps: one star of 1 to 5."""
    quarter = scale.width / 4
    if scale.step is None:
        return quarter
    return float(np.round(floor(quarter / scale.step + 1e-9) * scale.step, 9))
