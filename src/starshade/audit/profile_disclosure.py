"""Disclosure by averaged profiles beyond re-identification (PA §5.1, §6).

No record of such a release is found more often than 1 in k. But an adversary who finds a person's
class reads its profile, and some cells rest on real ratings of its members. Four attacks measure
that; they have no threshold, as no model bounds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from starshade.attack.candidates.homogeneity import HomogeneityAttack, HomogeneityResult
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.attack.fake_edges.result import FakeEdgesResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.link_existence.result import LinkResult
from starshade.attack.padding.padding import PaddingAttack
from starshade.attack.padding.result import PaddingResult
from starshade.attack.targets import credit_of
from starshade.audit.checks.attribute import AttributeDisclosure, attribute_disclosure
from starshade.audit.evidence import Evidence
from starshade.audit.original.original import Original
from starshade.errors import ConfigError
from starshade.figure import Figure, Rate
from starshade.plain import counted, percent
from starshade.progress import note, task
from starshade.stats import bootstrap

GROUP_FOUND = Figure(
    "class_linkage",
    "Class linkage (forced guess)",
    "share",
    True,
    "High means risk: an adversary who finds a person's class reads its profile.",
)


@dataclass(frozen=True)
class GroupFound:
    """How often an adversary who must answer names the right class."""

    # mean over the targets of (records of their group) / (records tied at the top), 0 where their
    # own is not among these
    share: Rate
    attack: str
    knowledge: Knowledge
    targets: int

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"rate", "low", "high", "attack", "known"}``."""
        return {**self.share.to_dict(), "attack": self.attack, "known": self.knowledge.known}


@dataclass(frozen=True)
class ProfileDisclosure:
    """What a release of averaged profiles discloses."""

    group: GroupFound | None  # by the attack and knowledge, of those tried, that did best at it
    # with the exact knowledge, of those tried, by which most find their own group
    homogeneity: HomogeneityResult
    links: LinkResult | None
    padding: PaddingResult | None  # None: without the key file
    fake_edges: FakeEdgesResult | None  # None: likewise, or (b, l)-diversity is not claimed
    attribute: AttributeDisclosure

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values, under the names of the attacks."""
        return {
            "attribute": self.attribute.to_dict(),
            "class_linkage": self.group and self.group.to_dict(),
            "homogeneity": self.homogeneity.to_dict(),
            "link_existence": self.links and self.links.to_dict(),
            "padding": self.padding and self.padding.to_dict(),
            "fake_edges": self.fake_edges and self.fake_edges.to_dict(),
        }

    @property
    def linked(self) -> bool:
        """Whether the key file links people to classes; else almost nothing is measured."""
        return self.links is not None

    def __str__(self) -> str:
        fakes = self.fake_edges
        told = "" if fakes is None or fakes.auc is None else f"Fake edges: {fakes.in_words()}"
        text = self.of_groups(), str(self.attribute), self.of_links(), self.of_padding(), told
        return " ".join(filter(None, text))

    def of_groups(self) -> str:
        """Say how often a person's class is found, and what is read there."""
        if not self.linked:
            text = (
                "An adversary who finds a person's class reads its profile. Class linkage, and "
                "which cells rest on real ratings, are not measured without the private key file."
            )
            return text + self._of_items()
        text = "An adversary who finds a person's class reads its profile."
        group, result = self.group, self.homogeneity
        if group is not None:
            known = counted(group.knowledge.known, "rating")
            text += (
                f" With {known} known, a forced guess (by {group.attack}) names the right class "
                f"for {percent(group.share.rate)} of targets."
            )
        alone = percent(result.profile_found.rate)
        known = counted(result.knowledge["known"], "rating")
        text += (
            f" With {known} known exactly, the right class is the only one that fits for {alone} "
            "of targets."
        )
        return text + self._of_items()

    def _of_items(self) -> str:
        result, cells = self.homogeneity, self.homogeneity.cells_disclosed
        if cells.single_rated is None or cells.single_near is None:
            return ""
        return (
            " Where all profiles that fit a person have the same mean for an item, the person "
            f"rated the item in {percent(cells.single_rated)} of cases; "
            f"{percent(cells.single_near)} of these ratings are within "
            f"{result.config['tolerance']:g} of the mean."
        )

    def of_links(self) -> str:
        """Say how likely a cell makes it that a given member rated the item."""
        links = self.links
        if links is None or links.confidence is None:
            return ""
        if links.all_filled:
            return (
                "Every cell is filled, so a filled cell does not disclose who rated the item: a "
                f"given member did in {percent(links.confidence)} of cases, the overall rate."
            )
        invented = (
            f", unless it is one of the {percent(links.no_member)} imputed"
            if links.no_member
            else ""
        )
        text = (
            f"A filled cell shows that a member of the class rated the item{invented}. A given "
            f"member did in {percent(links.confidence)} of cases; all members did for "
            f"{percent(links.all_members)} of filled cells, so these are certain."
        )
        if links.missing:
            text += (
                " An empty cell proves that no member rated the item; "
                f"{percent(links.missing_share)} of all cells are empty."
            )
        return (
            f"{text} In {percent(links.above_no_prior)} of filled cells this probability is above "
            "1 in the class size, because several members rated the item. Theory expects "
            f"{percent(links.exact)} of cases if people choose items independently and by "
            "popularity: a comparison, not a guarantee."
        )

    def of_padding(self) -> str:
        """Say whether cells with real ratings can be distinguished."""
        result = self.padding
        if result is None or result.auc is None:
            return ""
        if result.non_null < 1 and result.auc.rate == 1:
            return "The cells that rest on real ratings are visible: the filled ones."
        text = (
            "Real ratings against padding: the release ranks a cell that a member rated above one "
            f"that no member rated in {result.auc} of pairs (50% is guessing)"
        )
        if result.auc_within_items is not None:
            text += f"; within one item in {result.auc_within_items}"
        text += "."
        best = result.best
        if best.rank != result.rank and best.auc is not None and best.auc_within_items is not None:
            text += (
                f" Best of all tested scores (oracle choice): {percent(best.auc)}; within one item "
                f"{percent(best.auc_within_items)}."
            )
        if result.popularity is not None:
            text += f" Item popularity alone, without the release: {percent(result.popularity)}."
        return text


def what_it_gives_away(
    original: Original,
    tries: Sequence[Knowledge],
    *,
    evidence: Sequence[Evidence],
    targets: int,
    seed: int,
    ends: tuple[int, int] | None = None,
) -> ProfileDisclosure | None:
    """Run the attacks on averaged profiles; None on other layouts.

    Of `tries` those that are exact are tried; `evidence`: of the attacks on records; `ends`: as
    `attribute_disclosure` takes it.
    """
    release = original.release
    if release.manifest.layout != "profile":
        return None
    exact = [knowledge for knowledge in tries if not knowledge.rating_error]
    linked = release.private is not None
    with task("attacking profiles", len(exact) + 2 * linked + 1) as step:
        results = []
        for knowledge in exact:
            results.append(original.attack_release(HomogeneityAttack(), knowledge, targets, seed))
            step(1)
        links = original.attack_release(LinkExistence(), None, None, seed) if linked else None
        step(linked)
        padding = original.attack_release(PaddingAttack(), None, None, seed) if linked else None
        step(linked)
        fakes = _fake_edges(original, seed) if linked else None
        attribute = attribute_disclosure(original, ends, seed)
        step(1)
    group = _group_found(original, evidence, seed) if linked else None
    homogeneity = max(results, key=lambda of: of.profile_found.rate)
    return ProfileDisclosure(group, homogeneity, links, padding, fakes, attribute)


def _fake_edges(original: Original, seed: int) -> FakeEdgesResult | None:
    if not any(claim.model == "diversity" for claim in original.release.manifest.claims):
        return None
    try:
        found: FakeEdgesResult = original.attack_release(FakeEdgesAttack(), None, None, seed)
        return found
    except ConfigError as error:  # too large for the memory that may be used
        note(f"fake edges are not measured: {error.message}")
        return None


def _group_found(original: Original, evidence: Sequence[Evidence], seed: int) -> GroupFound | None:
    """Credit the right group instead of the right record: t records tie, whole groups of them.

    The interval is over all that was tried, as that of class linkage.
    """
    groups = []
    for tried in evidence:
        row = original.rows_of(tried.after.per_target.users)
        if row is None:
            return None
        found = credit_of(tried.after.per_target) * original.release.classes.sizes[row]
        if isinstance(tried.after, LikelihoodResult):
            found = tried.after.per_target.class_linkage
        shares = np.where(row < 0, 0.0, found)
        share = bootstrap(np.minimum(shares, 1.0), seed=seed, tries=len(evidence))
        groups.append(GroupFound(share, tried.after.attack, tried.knowledge, len(shares)))
    if not groups:
        return None
    best = max(groups, key=lambda of: of.share.rate)
    high = max(each.share.high for each in groups)
    return replace(best, share=replace(best.share, high=high))
