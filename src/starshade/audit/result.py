"""`AuditResult`: the verdict on a release, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.audit.checks.check import (
    ALONE,
    CHECK_HEAD,
    EXIT_CODES,
    Check,
    Verdict,
    check_rows,
    verdict_of,
    words_of,
)
from starshade.audit.checks.policy import Policy
from starshade.audit.evidence import Evidence, Tracked, best_of, recall_before_after
from starshade.audit.profile_disclosure import ProfileDisclosure
from starshade.audit.shares import rated_in_words, read_from_records
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, Level, dot_chart
from starshade.figure import Table
from starshade.markup import block, paragraph, table
from starshade.plain import counted, percent
from starshade.release.promise import crowd
from starshade.release.verify.claims import PROXIMITY_MODELS
from starshade.utility.round import UtilityRound

#: what the cells of averaged profiles are
_PROFILES = {
    "padded": "its cells are means over a group, in which real ratings and predictions are mixed. ",
    "simple": "its cells are means of the ratings that members of a group really gave. ",
    "model": "its cells are a model's predictions, averaged over a group; no real rating is in "
    "them, except for what the model learnt from all. ",
    "pooled": "its cells are a model's predictions for a group as if it were one person who gave "
    "all its ratings; no real rating stands in them. ",
}
#: fields that JSON has as they are, in its order
_AS_THEY_ARE = (
    *("utility", "disclosure", "audience", "method", "k", "records", "items"),
    *("seed", "config", "digest", "seconds", "version"),
)


@dataclass(frozen=True)
class Finding:
    """A condition beside the checks of the policy, and whether it holds."""

    # "claims", "tracker", "audience", "identifying", "rare-values", "profiles", "settings",
    # "scale", or the name of a claimed model; with "of" and the personal attribute, where it is
    # about one
    name: str
    passed: bool
    text: str  # one sentence

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"name", "pass", "text"}``."""
        return {"name": self.name, "pass": self.passed, "text": self.text}


@dataclass(frozen=True)
class AuditResult:
    """A verdict on a release, with everything that it rests on.

    Attributes
    ----------
    policy : Policy
        What decided, with the thresholds that replaced its own.
    checks : tuple of Check
        The risks, each by the strongest attack that was tried. A risk that was measured with
        several numbers of known ratings has a check for each.
    findings : tuple of Finding
        Other conditions, each of which must hold.
    warnings : tuple of str
        What does not decide but must be known.
    claims : tuple of dict
        ``model, parameters, verified, holds`` of each claim, counted on the files.
    evidence : tuple of Evidence
        The attacks, before and after.
    utility : dict
        Every measure's figures.
    utility_round : UtilityRound
        What is recoverable of the ratings, and errors on held-out ratings.
    disclosure : dict
        ``users_rating_disclosed, users_exact_values_listed, users_rating_exists``, counted on the
        files; None on layout
        "profile", whose cells are means or predictions. ``records_alone_with_sensitive``: None
        without sensitive attributes.
    audience : {"publish", "query"}
    method : str
    k : int or None
        As claimed.
    records, items : int
    seed : int
    config : dict
        The settings of the audit.
    digest : str
        SHA-256 over the ratings on the released items.
    seconds : float
    tracker : Tracked or None
        The attack on a query interface, before and after; None where no queries are answered.
    profile_disclosure : ProfileDisclosure or None
        What averaged profiles give away beyond who is who; None on other layouts.
    profile : str or None
        What the cells of averaged profiles are: "padded", "simple", "model" or "pooled"; None on
        other layouts.
    alike_by : str
        By what the records of a class are equal, where sensitive attributes are released as they
        are (" by ratings and quasi-identifiers"); empty where they are equal in everything.
    fine : bool
        Whether the scale is real-valued or has more than 20 levels: exact values listed lead there.
    version : str
    """

    policy: Policy
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    claims: tuple[dict[str, Any], ...]
    evidence: tuple[Evidence, ...]
    utility: dict[str, float | int | None]
    utility_round: UtilityRound
    disclosure: dict[str, float | None]
    audience: str
    method: str
    k: int | None
    records: int
    items: int
    seed: int
    config: dict[str, Any]
    digest: str
    seconds: float
    tracker: Tracked | None = None
    profile_disclosure: ProfileDisclosure | None = None
    profile: str | None = None
    alike_by: str = ""
    fine: bool = False
    version: str = field(default=__version__)

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCOMPLETE."""
        return verdict_of(self.checks, [finding.passed for finding in self.findings])

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict == "PASS"

    @property
    def exit_code(self) -> int:
        """0 for PASS, 1 for FAIL, 4 for INCOMPLETE."""
        return EXIT_CODES[self.verdict]

    @property
    def word(self) -> str:
        """The verdict, and how many checks no figure can fail."""
        return words_of(self.verdict, self.checks)

    @property
    def decisive(self) -> tuple[Check, ...]:
        """The checks because of which the verdict is not PASS."""
        return tuple(each for each in self.checks if each.fails or each.status == "not measured")

    @property
    def everyone_tried(self) -> bool:
        """Whether attacks could have no more targets."""
        targets = self.config.get("targets")
        return targets is None or int(targets) >= self.records

    @property
    def headline(self) -> str:
        """The verdict, and the checks and conditions because of which it is not PASS."""
        failed = [each.short for each in self.checks if each.fails]
        failed += [finding.name for finding in self.findings if not finding.passed]
        if self.verdict == "INCOMPLETE":
            failed = [each.short for each in self.decisive]
        return self.word + f": {'; '.join(dict.fromkeys(failed))}" * bool(failed)

    def check(self, name: str) -> Check:
        """Return a check by its name; of several one that fails, else one not measured."""
        own = [each for each in self.checks if each.name == name]
        return min(own, key=lambda each: (not each.fails, each.status != "not measured"))

    @property
    def passed_alone(self) -> bool:
        """Whether nothing fails that is of this release alone."""
        others = [each for each in self.checks if each.name != "composition"]
        return verdict_of(others, [finding.passed for finding in self.findings]) != "FAIL"

    @property
    def beside(self) -> Check | None:
        """The check of earlier releases, where it fails; None where it does not."""
        check = self.check("composition")
        return check if check.fails else None

    @property
    def named_earlier(self) -> bool:
        """Whether earlier releases were named: what holds of this one may not hold beside them."""
        return self.check("composition").inapplicable != ALONE

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is not PASS: a text for checks of one reason, and for each condition."""
        titles: dict[str, list[str]] = {}
        for each in self.decisive:
            titles.setdefault(each.text, []).append(each.title)
        checks = (f"{'; '.join(named)}: {text}" for text, named in titles.items())
        return (*checks, *(finding.text for finding in self.findings if not finding.passed))

    @property
    def worst(self) -> Evidence:
        """The attack and knowledge, of those tried, that did best on the release."""
        return best_of(self.evidence)

    @property
    def recall(self) -> Table:
        """Recall at a precision, in the ratings and in the release."""
        return recall_before_after(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; internal, it names the seed and the input's digest."""
        return {
            "verdict": self.verdict,
            "pass": self.passed,
            "headline": self.headline,
            "policy": self.policy.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
            "reasons": list(self.reasons),
            "text": str(self),
            "findings": [finding.to_dict() for finding in self.findings],
            "warnings": list(self.warnings),
            "claims": [dict(claim) for claim in self.claims],
            "attack_before": self._attacks("before"),
            "attack_after": self._attacks("after"),
            "tracker": self.tracker and self.tracker.to_dict(),
            "profile_disclosure": self.profile_disclosure and self.profile_disclosure.to_dict(),
            "utility_round": self.utility_round.to_dict(),
            **{name: getattr(self, name) for name in _AS_THEY_ARE},
        }

    @property
    def same_people(self) -> bool:
        """Whether the attacks before were on fewer people than the ratings: those released."""
        return self._linked and bool(self.utility.get("users_deleted"))

    @property
    def _linked(self) -> bool:
        """Whether the receipt tells which class is whose."""
        return any(e.after.credit == "linked" for e in self.evidence)

    @property
    def _profiles_found(self) -> float:
        return max(
            e.after.class_linkage.rate
            if isinstance(e.after, LikelihoodResult)
            and e.after.credit == "linked"
            and not self._proximate
            else e.after.class_contents_known.rate
            for e in self.evidence
        )

    def _attacks(self, side: str) -> dict[str, Any]:
        every = [getattr(e, side).to_dict() for e in self.evidence]
        return {**getattr(self.worst, side).to_dict(), "settings": every}

    def __str__(self) -> str:
        return f"{self._head()} {self.about}"

    @property
    def about(self) -> str:
        """What was tried and what is still told, without the verdict and its reasons."""
        claim = ""
        if self.k and self.passed_alone:
            claim = f"{crowd(self.records, self.k, self.alike_by, near=self._proximate)} "
        tells = f"What it still tells: {self.still_tells}"
        return f"{claim}{self._attacked()} {self._guarantee()} {tells}"

    def _attacked(self) -> str:
        before, after = self.worst.before, self.worst.after
        tried = ", ".join(dict.fromkeys(e.after.attack for e in self.evidence))
        known = self.worst.knowledge
        of = "a person, none of a sensitive item," if known.except_items else "a person"
        where = "of the same people" if self.same_people else "themselves"
        text = (
            f"By the attacks tried ({tried}), somebody who knows {counted(known.known, 'rating')} "
            f"of {of} points at the right record in {percent(before.expected_top1.rate)} of the "
            f"cases on the ratings {where}"
        )
        given = self.profile_disclosure
        if given is not None and not given.linked:
            return (
                f"{text}; how often on this release, and how often they find the right class, is "
                "not known without the receipt."
            )
        who = (
            "a record that agrees with all their true ratings stands out"
            if self._proximate
            else "the right class, and with it all that its cells say, is found"
        )
        released = (
            f"{text}, and in {percent(after.expected_top1.rate)} on this release{self._tried_on}"
        )
        if given is None and not self._linked and not self._proximate:
            return (
                f"{released}; how often they find the right class is not known without the receipt."
            )
        up_to = self._profiles_found
        if given is not None:  # no averaged profile agrees with all true ratings
            up_to = 0.0 if given.group is None else given.group.share.rate
        return f"{released}; {who} in up to {percent(up_to)}."

    @property
    def still_tells(self) -> str:
        """What the release tells of people, however many they hide among."""
        if self._proximate:
            return read_from_records(self.disclosure, fine=self.fine)
        if self._claims_near:
            return "whoever finds a class of equal records reads its ratings."
        shown, exists = (
            self.disclosure[f"users_rating_{what}"] for what in ("disclosed", "exists")
        )
        if self.profile_disclosure is not None:
            return f"{_PROFILES.get(self.profile or '', '')}{self.profile_disclosure}"
        if shown is None or exists is None:
            return "whoever finds a person's class reads its profile."
        return (
            f"{rated_in_words(self.disclosure, fine=self.fine)} To hide among others is not to "
            "hide what one rated."
        )

    @property
    def _proximate(self) -> bool:
        """Whether records are near others rather than equal to them."""
        smallest = self.utility.get("smallest_class") or 0
        return self._claims_near and smallest < (self.k or 1)

    @property
    def _claims_near(self) -> bool:
        """Whether it is claimed that records are near others, as each of a class is to itself."""
        return any(claim["model"] in PROXIMITY_MODELS for claim in self.claims)

    @property
    def _tried_on(self) -> str:
        """Say whom the figure of the best attack is about, where it is not everybody."""
        after = self.worst.after
        if not after.ineligible:
            return ""
        tried = counted(after.targets, "person", "people")
        others = counted(after.ineligible, "other")
        return f" (tried on {tried}; {others} gave fewer)"

    def _head(self) -> str:
        """Say the verdict, the policy, and why it is not PASS."""
        told = f"{self.headline} (policy {self.policy.title})."
        return " ".join([told, *self.reasons])

    def _guarantee(self) -> str:
        """Set what was tried apart from what holds whatever is tried."""
        if self._proximate:
            return (
                "Another attack may find more: that others are near a record does not keep those "
                "who know exact ratings from telling it apart."
            )
        equal = any(f.name in ("k-anonymity", "review-graph") and f.passed for f in self.findings)
        if not equal and not self._claims_near:
            return "Another attack may find more."
        alone = " in this release alone" if self.named_earlier else ""
        return (
            "Another attack may find the right class more often; what is guaranteed"
            f"{alone} is that nobody points at the right record more often than 1 in {self.k}"
            f"{self.alike_by}."
        )

    def plot(self) -> Chart:
        """Draw what the attacks find before and after, beside 1/k."""
        return audit_chart(self)

    def _repr_html_(self) -> str:
        return audit_html(self)


def audit_html(result: AuditResult) -> str:
    """Say whether the release may be published, why, and what the attacks found."""
    findings = [
        (finding.name, "yes" if finding.passed else "NO", finding.text)
        for finding in result.findings
    ]
    attacks = [
        (
            each.title,
            percent(each.before.expected_top1.rate),
            percent(each.after.expected_top1.rate),
            percent(each.after.class_contents_known.rate),
        )
        for each in result.evidence
    ]
    return block(
        result.word,
        paragraph(str(result)),
        table(CHECK_HEAD, check_rows(result.checks), caption=f"Policy {result.policy.title}"),
        table(("condition", "met", "reason"), findings, caption="Other conditions"),
        table(
            ("attack", "right in the ratings", "right in the release", "profile disclosed"),
            attacks,
            caption="The same attacks, before and after",
            numbers=(1, 2, 3),
        ),
        *(paragraph(f"To know: {warning}") for warning in result.warnings),
    )


def audit_chart(result: AuditResult) -> Chart:
    """Draw how often each attack is right, on the ratings and on the release."""
    dots = []
    for each in result.evidence:
        for series, attack in (("the ratings", each.before), ("the release", each.after)):
            rate = attack.expected_top1
            dots.append(Dot(each.title, rate.rate, rate.low, rate.high, series))
    return dot_chart(
        "How often an attack points at the right record",
        f"{counted(result.records, 'record')}, {counted(result.items, 'item')}; far left is safe",
        dots,
        Axis("right when it must answer, share of the targets", share=True),
        None if result.k is None else Level(1 / result.k, f"1 in {result.k}"),
    )
