"""`AuditResult`: the verdict on a release, with its evidence."""

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
from starshade.audit.shares import (
    MORE,
    PROXIMITY_CAVEAT,
    rated_in_words,
    read_from_records,
    within,
)
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
    "padded": "its cells are means over a class, of real ratings and predictions. ",
    "simple": "its cells are means of the real ratings of a class. ",
    "model": "its cells are a model's predictions, averaged over a class; they hold no real "
    "rating, only what the model learned from all. ",
    "pooled": "its cells are a model's predictions for a class treated as one person; they hold no "
    "real rating. ",
}
#: fields that JSON has as they are, in its order
_AS_THEY_ARE = (
    *("utility", "disclosure", "audience", "method", "k", "records", "items"),
    *("seed", "config", "digest", "seconds", "version"),
)


@dataclass(frozen=True)
class Finding:
    """A condition in addition to the checks of the policy, and whether it holds."""

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
    """A verdict on a release, with its evidence.

    Attributes
    ----------
    policy : Policy
        The policy, with the thresholds that replaced its own.
    checks : tuple of Check
        The risks, each by the strongest attack. A risk that was measured with
        several numbers of known ratings has a check for each.
    findings : tuple of Finding
        Other conditions, each of which must hold.
    warnings : tuple of str
        Caveats that do not change the verdict.
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
        What averaged profiles disclose beyond re-identification; None on other layouts.
    profile : str or None
        What the cells of averaged profiles are: "padded", "simple", "model" or "pooled"; None on
        other layouts.
    alike_by : str
        By what the records of a class are equal, where sensitive attributes are released unchanged
        (" by ratings and quasi-identifiers"); empty where they are equal in everything.
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
        """The verdict, and the number of checks without effective threshold."""
        return words_of(self.verdict, self.checks)

    @property
    def decisive(self) -> tuple[Check, ...]:
        """The checks that fail or were not measured."""
        return tuple(each for each in self.checks if each.fails or each.status == "not measured")

    @property
    def everyone_tried(self) -> bool:
        """Whether every person was a target."""
        targets = self.config.get("targets")
        return targets is None or int(targets) >= self.records

    @property
    def headline(self) -> str:
        """The verdict, and the checks and conditions that fail or were not measured."""
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
        """Whether nothing but composition fails."""
        others = [each for each in self.checks if each.name != "composition"]
        return verdict_of(others, [finding.passed for finding in self.findings]) != "FAIL"

    @property
    def beside(self) -> Check | None:
        """The check of composition, where it fails; else None."""
        check = self.check("composition")
        return check if check.fails else None

    @property
    def named_earlier(self) -> bool:
        """Whether earlier releases were named: together with them less may hold."""
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
        """The strongest attack on the release, with its knowledge."""
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
        """Whether the initial risk is of the released people only."""
        return self._linked and bool(self.utility.get("users_deleted"))

    @property
    def _linked(self) -> bool:
        """Whether the key file links people to classes."""
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
        """The attacks and what is disclosed, without the verdict and its reasons."""
        claim = ""
        if self.k and self.passed_alone:
            claim = f"{crowd(self.records, self.k, self.alike_by, near=self._proximate)} "
        return f"{claim}{self._attacked()} {self._guarantee()} Disclosed: {self.still_tells}"

    def _attacked(self) -> str:
        before, after = self.worst.before, self.worst.after
        tried = ", ".join(dict.fromkeys(e.after.attack for e in self.evidence))
        known = self.worst.knowledge
        of = "a person, none of a sensitive item," if known.except_items else "a person"
        where = "original data of the same people" if self.same_people else "original data"
        text = f"An adversary who knows {counted(known.known, 'rating')} of {of} re-identifies"
        initial = percent(before.expected_top1.rate)
        tested = f"Attacks tested: {tried}."
        given = self.profile_disclosure
        if given is not None and not given.linked:
            return (
                f"{text} {initial} of targets in the {where}. For this release, re-identification "
                f"and class linkage are not measured without the private key file. {tested}"
            )
        who = (
            "A record that agrees with all true ratings stands out"
            if self._proximate
            else "The right class, with all that its cells disclose, is found"
        )
        released = (
            f"{text} {percent(after.expected_top1.rate)} of targets ({where}: {initial})."
            f"{self._tried_on}"
        )
        if given is None and not self._linked and not self._proximate:
            return (
                f"{released} Class linkage is not measured without the private key file. {tested}"
            )
        up_to = self._profiles_found
        if given is not None:  # no averaged profile agrees with all true ratings
            up_to = 0.0 if given.group is None else given.group.share.rate
        return f"{released} {who} for up to {percent(up_to)} of targets. {tested}"

    @property
    def still_tells(self) -> str:
        """What the release discloses of people, whatever the class size."""
        if self._proximate:
            return read_from_records(self.disclosure, fine=self.fine)
        if self._claims_near:
            return "an adversary who finds a class reads its ratings."
        shown, exists = (
            self.disclosure[f"users_rating_{what}"] for what in ("disclosed", "exists")
        )
        if self.profile_disclosure is not None:
            return f"{_PROFILES.get(self.profile or '', '')}{self.profile_disclosure}"
        if shown is None or exists is None:
            return "an adversary who finds a person's class reads its profile."
        return (
            f"{rated_in_words(self.disclosure, fine=self.fine)} k-anonymity does not prevent "
            "attribute disclosure."
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
        """Say on how many people the strongest attack was tested; empty: on all."""
        after = self.worst.after
        if not after.ineligible:
            return ""
        tried = counted(after.targets, "person", "people")
        fewer = f"{after.ineligible:,} {'has' if after.ineligible == 1 else 'have'}"
        return f" Tested on {tried}; {fewer} fewer ratings."

    def _head(self) -> str:
        """Say the verdict, the policy, and why it is not PASS."""
        return " ".join([f"{self.headline} (policy {self.policy.title}).", *self.reasons])

    def _guarantee(self) -> str:
        """Say what is guaranteed for any attack."""
        if self._proximate:
            return f"{MORE} {PROXIMITY_CAVEAT}"
        equal = any(f.name in ("k-anonymity", "review-graph") and f.passed for f in self.findings)
        if not equal and not self._claims_near:
            return MORE
        return within(self.k or 1, self.alike_by, alone=self.named_earlier)

    def plot(self) -> Chart:
        """Draw the re-identification rates before and after, with the bound 1/k."""
        return audit_chart(self)

    def _repr_html_(self) -> str:
        return audit_html(self)


def audit_html(result: AuditResult) -> str:
    """Return the verdict, its reasons and the attacks as HTML."""
    findings = [
        (finding.name, "PASS" if finding.passed else "FAIL", finding.text)
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
        table(("condition", "status", "reason"), findings, caption="Other conditions"),
        table(
            ("attack", "original data", "release", "class contents known"),
            attacks,
            caption="Re-identification in the original data and in the release",
            numbers=(1, 2, 3),
        ),
        *(paragraph(f"Warning: {warning}") for warning in result.warnings),
    )


def audit_chart(result: AuditResult) -> Chart:
    """Draw the re-identification rate of each attack, on the original data and on the release."""
    dots = []
    for each in result.evidence:
        for series, attack in (("original data", each.before), ("release", each.after)):
            rate = attack.expected_top1
            dots.append(Dot(each.title, rate.rate, rate.low, rate.high, series))
    return dot_chart(
        "Re-identification by attack and knowledge",
        f"{counted(result.records, 'record')}, {counted(result.items, 'item')}; low is good",
        dots,
        Axis("re-identified (best guess correct), share of targets", share=True),
        None if result.k is None else Level(1 / result.k, f"1 in {result.k}"),
    )
