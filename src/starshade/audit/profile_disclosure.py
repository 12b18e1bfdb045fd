"""What a release of averaged profiles gives away beyond who is who (PA §5.1, §6).

Within 1 in k nobody is found in such a release. Yet whoever finds a person's *group* reads its
profile, and some of its cells rest on real ratings of somebody in it. Four attacks measure that;
none of them is held against a limit, as no model promises one.
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
    "group_found",
    "Right group named by who must name one",
    "share",
    True,
    "High means risk: whoever finds a person's group reads its profile.",
)


@dataclass(frozen=True)
class GroupFound:
    """How often an adversary who must answer names the right group."""

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
    """What a release of averaged profiles gives away."""

    group: GroupFound | None  # by the attack and knowledge, of those tried, that did best at it
    # with the exact knowledge, of those tried, by which most find their own group
    homogeneity: HomogeneityResult
    links: LinkResult | None
    padding: PaddingResult | None  # None: without the receipt nobody can say whose group rated what
    fake_edges: FakeEdgesResult | None  # None: likewise, or (b, l)-diversity is not claimed
    attribute: AttributeDisclosure

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values, under the names of the attacks."""
        return {
            "attribute": self.attribute.to_dict(),
            "group_found": self.group and self.group.to_dict(),
            "homogeneity": self.homogeneity.to_dict(),
            "link_existence": self.links and self.links.to_dict(),
            "padding": self.padding and self.padding.to_dict(),
            "fake_edges": self.fake_edges and self.fake_edges.to_dict(),
        }

    @property
    def linked(self) -> bool:
        """Whether the receipt told whose group is whose; else next to nothing is known."""
        return self.links is not None

    def __str__(self) -> str:
        fakes = self.fake_edges
        told = "" if fakes is None or fakes.auc is None else f"Fake edges: {fakes.in_words()}"
        text = self.of_groups(), str(self.attribute), self.of_links(), self.of_padding(), told
        return " ".join(filter(None, text))

    def of_groups(self) -> str:
        """Say how often a person's group is found, and what is read there."""
        if not self.linked:
            text = (
                "Whoever finds a person's group reads its profile; how often it is found, and what "
                "tells real ratings from others there, is not known without the receipt."
            )
            return text + self._of_items()
        text = "Whoever finds a person's group reads its profile."
        group, result = self.group, self.homogeneity
        if group is not None:
            known = counted(group.knowledge.known, "rating")
            text += (
                f" Somebody who knows {known} of a person and must name their group (by "
                f"{group.attack}) names the right group in {percent(group.share.rate)} of the "
                "cases."
            )
        alone = percent(result.profile_found.rate)
        known = counted(result.knowledge["known"], "rating")
        text += (
            f" Where {known} of a person {'is' if result.knowledge['known'] == 1 else 'are'} known "
            f"exactly, their own group is the only one that fits in {alone} of the cases."
        )
        return text + self._of_items()

    def _of_items(self) -> str:
        result, cells = self.homogeneity, self.homogeneity.cells_disclosed
        if cells.single_rated is None or cells.single_near is None:
            return ""
        return (
            " Some items have one and the same mean in all profiles that fit a person: of these "
            f"items the person rated {percent(cells.single_rated)}, and "
            f"{percent(cells.single_near)} of those ratings lie within "
            f"{result.config['tolerance']:g} of the mean."
        )

    def of_links(self) -> str:
        """Say how sure a cell makes the reader that a member of the group rated the item."""
        links = self.links
        if links is None or links.confidence is None:
            return ""
        if links.all_filled:
            return (
                "Every cell is filled, so a filled cell says nothing: a given member of the group "
                f"rated its item in {percent(links.confidence)} of the cases, as often as anybody "
                "rated anything."
            )
        invented = (
            f", unless it is one of the {percent(links.no_member)} invented"
            if links.no_member
            else ""
        )
        text = (
            f"A filled cell says that somebody of the group rated the item{invented}. A given "
            f"member did in {percent(links.confidence)} of the cases; everybody of the group did "
            f"for {percent(links.all_members)} of the filled cells, and of these it is certain."
        )
        if links.missing:
            text += (
                " An empty cell proves that nobody of the group rated the item; "
                f"{percent(links.missing_share)} of all cells are empty."
            )
        return (
            f"{text} In {percent(links.above_no_prior)} of the filled cells a member is surer to "
            "have rated the item than 1 in the size of the group, as more than one of them did. "
            "Theory expects a given member to have rated it in "
            f"{percent(links.exact)} of the cases, if people choose by the items' popularity and "
            "independently of each other: a comparison, not a promise."
        )

    def of_padding(self) -> str:
        """Say whether the cells that rest on real ratings can be told."""
        result = self.padding
        if result is None or result.auc is None:
            return ""
        if result.non_null < 1 and result.auc.rate == 1:
            return "Which cells rest on real ratings is plain: those that are filled."
        text = (
            "Real ratings told from padding: of two cells, one that somebody of its group rated "
            "and one that nobody of it did, the release alone tells which is which in "
            f"{result.auc} of the cases (50% is not at all)"
        )
        if result.auc_within_items is not None:
            text += f", and for two cells of one item in {result.auc_within_items}"
        text += "."
        best = result.best
        if best.rank != result.rank and best.auc is not None and best.auc_within_items is not None:
            text += (
                f" Who happens to look in the best way tells it in {percent(best.auc)}, and in "
                f"{percent(best.auc_within_items)} for two cells of one item."
            )
        if result.popularity is not None:
            text += (
                " Who has no release and knows only how popular items are tells it in "
                f"{percent(result.popularity)}."
            )
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
    """Run the attacks that look for more than a record; None on other layouts.

    Of `tries` those that are exact are tried; `evidence`: of the attacks on records; `ends`: as
    `attribute_disclosure` takes it.
    """
    release = original.release
    if release.manifest.layout != "profile":
        return None
    exact = [knowledge for knowledge in tries if not knowledge.rating_error]
    linked = release.private is not None
    with task("looking for what is given away", len(exact) + 2 * linked + 1) as step:
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
        note(f"how many fake edges can be told is not measured: {error.message}")
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
