"""`search_policy`: the smallest k, then the least item support, whose release passes a policy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from starshade._version import __version__
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.arguments import typed
from starshade.audit.checks.check import Verdict
from starshade.audit.checks.policy import KS, SUPPORTS, Policy
from starshade.audit.make import Anonymizer, make_release
from starshade.audit.result import AuditResult
from starshade.audit.settings import AuditSettings
from starshade.audit.verdict import Audit
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError, UnmetError
from starshade.figure import Shown, Table
from starshade.plain import counted, percent, plain
from starshade.progress import announced, note, task, without_notes
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.release.folder.read import read_release
from starshade.rng import Rng, generator, resolve_seed
from starshade.scratch import scratch_folder


class MethodFactory(Protocol):
    """Returns a method of some k and item support, such as the class of the method."""

    def __call__(self, *, k: int, item_support: str | None) -> Anonymizer:
        """Return the method."""


@dataclass(frozen=True)
class Step:
    """What a search varies."""

    k: int
    item_support: str | None

    def __str__(self) -> str:
        return f"k = {self.k}" + f", item support {self.item_support}" * bool(self.item_support)


@dataclass(frozen=True)
class AuditSummary:
    """An audit of a release in plain values, so that a resumed search reads it again.

    Attributes
    ----------
    seed : int
        Of the audit.
    verdict : {"PASS", "FAIL", "INCOMPLETE"}
    verdict_text : str
        The verdict, and how many checks no figure can fail.
    decisive : sequence of str
        The checks and conditions because of which it is not PASS, in a few words each.
    checks : sequence of dict
        As ``checks`` of an audit; ``short`` is the figure and the threshold in a few words.
    conditions : sequence of dict
        Other conditions that do not hold.
    """

    seed: int
    verdict: Verdict
    verdict_text: str
    decisive: Sequence[str]
    checks: Sequence[Mapping[str, Any]]
    conditions: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, result: AuditResult) -> AuditSummary:
        """Return what an audit decided."""
        wrong = [each for each in result.findings if not each.passed]
        deciding = [each for each in result.decisive if each.fails or result.verdict != "FAIL"]
        return cls(
            seed=result.seed,
            verdict=result.verdict,
            verdict_text=result.word,
            decisive=[*(each.short for each in deciding), *(each.name for each in wrong)],
            checks=[
                {**each.to_dict(), "short": each.short, "value_text": each.value_text}
                for each in result.checks
            ],
            conditions=[each.to_dict() for each in wrong],
        )

    @property
    def because(self) -> str:
        """The first of what is decisive, and how many more; empty: it passes."""
        first, *rest = tuple(dict.fromkeys(self.decisive)) or ("",)
        return first + f" and {len(rest)} more" * bool(rest)

    def __str__(self) -> str:
        return self.verdict_text + f": {self.because}" * bool(self.decisive)


@dataclass(frozen=True)
class Try:
    """A release that a search made, and the audits of it; the last one counts.

    Attributes
    ----------
    k : int
    item_support : str or None
    records, items : int
    within_step : float or None
        Share of the ratings that can be recovered from it within one step of the scale.
    audits : sequence of AuditSummary
        One; of a release that passes it a second one, with a fresh seed.
    """

    k: int
    item_support: str | None
    records: int
    items: int
    within_step: float | None
    audits: Sequence[AuditSummary]

    @property
    def step(self) -> Step:
        """What of the method was varied."""
        return Step(self.k, self.item_support)

    @property
    def last(self) -> AuditSummary:
        """The audit that counts."""
        return self.audits[-1]

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCOMPLETE."""
        return self.last.verdict

    @property
    def passed(self) -> bool:
        """Whether both audits passed."""
        return self.verdict == "PASS"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ``checks`` as of the audit that counts."""
        first = None if len(self.audits) == 1 else asdict(self.audits[0])
        return {
            "k": self.k,
            "item_support": self.item_support,
            "records": self.records,
            "items": self.items,
            "recoverable_within_step": self.within_step,
            **asdict(self.last),
            "first_audit": first,
        }

    @classmethod
    def of(cls, content: bytes) -> Try:
        """Read what was written as JSON."""
        values = json.loads(content)
        audits = [AuditSummary(**each) for each in values.pop("audits")]
        return cls(**values, audits=audits)

    def __str__(self) -> str:
        return f"{self.step}: {self.last}" + ", audited twice" * (len(self.audits) > 1)


@dataclass(frozen=True)
class PolicySearch(Shown):
    """The releases that a search tested, and the first that passes a policy.

    Attributes
    ----------
    policy : Policy
    method : str
    attempts : tuple of Try
        In their order.
    skipped : tuple of (Step, str)
        What was not tested, and why.
    anonymizer : Anonymizer or None
        Makes the release that passes: ``anonymizer.anonymize(ratings, rng=seed)``; None: none
        passes.
    seed : int
    """

    policy: Policy
    method: str
    attempts: tuple[Try, ...]
    skipped: tuple[tuple[Step, str], ...]
    anonymizer: Anonymizer | None = field(repr=False)
    seed: int

    @property
    def chosen(self) -> Try | None:
        """The release that passes; None: none does."""
        return None if self.anonymizer is None else self.attempts[-1]

    @property
    def verdict(self) -> Verdict:
        """PASS, or the best that was reached."""
        reached = {each.verdict for each in self.attempts}
        order: tuple[Verdict, ...] = ("PASS", "INCOMPLETE")
        return next((each for each in order if each in reached), "FAIL")

    @property
    def failing_checks(self) -> tuple[str, ...]:
        """The checks and conditions that no release passes, with the best value of each."""
        names = dict.fromkeys(c["name"] for each in self.attempts for c in each.last.checks)
        never = [self._best(name) for name in names if not any(map(_passes(name), self.attempts))]
        held = [{c["name"]: c["text"] for c in each.last.conditions} for each in self.attempts]
        always = set(held[0]).intersection(*held) if held else set()
        return (*never, *(text for name, text in held[0].items() if name in always))

    def _best(self, name: str) -> str:
        """Say how near a check that never passes came to its threshold."""
        own = [(c, each) for each in self.attempts for c in each.last.checks if c["name"] == name]
        failing = [(c, each) for c, each in own if c["status"] in ("fail", "not demonstrated")]
        if not failing:
            check, _ = next(each for each in own if each[0]["status"] == "not measured")
            advice = f" {check['advice']}" if check["advice"] else ""
            return f"{check['title']}: {check['text']}{advice}"
        measured = [pair for pair in failing if pair[0]["high"] is not None]
        check, best = min(measured or failing, key=lambda pair: pair[0]["high"] or 0.0)
        return f"{check['short']}, with {best.step}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "policy": self.policy.to_dict(),
            "method": self.method,
            "verdict": self.verdict,
            "chosen": self.chosen and self.chosen.to_dict(),
            "attempts": [each.to_dict() for each in self.attempts],
            "skipped": [{**asdict(step), "reason": reason} for step, reason in self.skipped],
            "failing_checks": [] if self.chosen else list(self.failing_checks),
            "seed": self.seed,
        }

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tested releases."""
        head = ("k", "item support", "people", "items", "within one step", "verdict", "decided by")
        return (Table("Tested releases", head, tuple(map(_row, self.attempts))),)

    def _headline(self) -> str:
        return f"{self.verdict}: policy {self.policy.title}"

    def __str__(self) -> str:
        of, tried = f"policy {self.policy.title}", counted(len(self.attempts), "release")
        if self.chosen is not None:
            return (
                f"{self.chosen.last.verdict_text}: {self.method} with {self.chosen.step} "
                f"passes {of} in two audits with different seeds ({tried} tested)."
            )
        text = f"No release passes {of}: {tried} by {self.method} tested, {self._range()}."
        if self.verdict == "INCOMPLETE":
            best = next(each for each in self.attempts if each.verdict == "INCOMPLETE")
            text += f" Best verdict: INCOMPLETE ({best.step}): "
            text += "no check fails, but some are not measured."
        if not self.failing_checks:
            return f"{text} Each check passes in some release; no release passes all of them."
        return f"{text} Checks that no release passes: {'; '.join(self.failing_checks)}"

    def _range(self) -> str:
        ks = sorted({each.k for each in self.attempts})
        *_, support = (None, *(each.item_support for each in self.attempts if each.item_support))
        text = f"k = {ks[0]}" if len(ks) == 1 else f"k = {ks[0]} to {ks[-1]}"
        return text + f", item support up to {support}" * (support is not None)


def _passes(name: str) -> Any:
    """Return whether a try is within the threshold of a check, where it has one and applies."""
    open_ = ("fail", "not demonstrated", "not measured")
    return lambda each: all(c["status"] not in open_ for c in each.last.checks if c["name"] == name)


def _row(each: Try) -> tuple[str, ...]:
    return (
        str(each.k),
        each.item_support or "–",
        f"{each.records:,}",
        f"{each.items:,}",
        percent(each.within_step),
        each.verdict,
        each.last.because,
    )


@typed
@announced("searching")
def search_policy(
    ratings: Ratings,
    method: MethodFactory = PredictiveAnonymizer,
    policy: str = AuditSettings.policy,
    *,
    threshold: Sequence[str] | Mapping[str, float] = (),
    targets: int = AuditSettings.targets,
    shadows: int | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> PolicySearch:
    """Search for the release with the least loss that passes a policy.

    Releases with k = 5, 7, 11, 15, 20, 30 and 50 are made and audited, then the same with an item
    support of 2 % and of 10 %, until one passes. It is audited a second time, with a fresh seed:
    if it does not pass again, the search continues. What cannot pass is not tried: a k below the
    class size of the policy, a k above the number of people, an item support that leaves out
    nothing more.

    Parameters
    ----------
    ratings : Ratings
    method : callable
        Returns the method of a ``k`` and an ``item_support``: a class such as
        `PredictiveAnonymizer`, or ``functools.partial(KExchange, items=top_items(10))``.
    policy : str
        "public", "partner", "controlled", or the path of a TOML file.
    threshold, targets, shadows
        As of `Audit`.
    rng : int, Generator or None
        Seed of the releases and of the first audits; that of the second ones is drawn from it.
    engine : Engine, optional
        Its journal keeps finished attempts.

    Returns
    -------
    PolicySearch

    Raises
    ------
    ConfigError
        The policy is wrong, or the method cannot make any of the releases.

    Examples
    --------
    >>> import starshade as ss
    >>> result = ss.search_policy(ratings, policy="partner", rng=1)  # doctest: +SKIP
    >>> result.chosen.k, result.chosen.verdict  # doctest: +SKIP
    (11, 'PASS')
    >>> result.anonymizer.anonymize(ratings, rng=result.seed).save("out/")  # doctest: +SKIP
    """
    audit = Audit(policy=policy, threshold=threshold, targets=targets, shadows=shadows)
    search = _Search(ratings, method, audit, resolve_seed(rng), engine or Local())
    steps = tuple(steps_of(audit.rules))
    refused: list[ConfigError | UnmetError] = []
    attempts: list[Try] = []
    skipped = [(Step(k, None), _too_small(audit.rules)) for k in KS if k < steps[0].k]
    anonymizer = None
    for step, reason in skipped:
        note(f"{step}: skipped, {reason}")
    with task("testing releases", len(steps)) as advance:
        for step in steps:
            try:
                outcome = search.outcome(step, attempts)
            except (ConfigError, UnmetError) as error:
                refused.append(error)
                outcome = error.message
            if isinstance(outcome, Try):
                attempts.append(outcome)
                note(str(outcome))
            else:
                skipped.append((step, outcome))
                note(f"{step}: skipped, {outcome}")
            advance(1)
            if isinstance(outcome, Try) and outcome.passed:
                anonymizer = search.made_with(step)
                break
    if not attempts:
        raise refused[0]
    name = str(getattr(search.made_with(steps[0]), "name", ""))
    return PolicySearch(audit.rules, name, tuple(attempts), tuple(skipped), anonymizer, search.seed)


def steps_of(policy: Policy) -> Iterator[Step]:
    """Yield what is tried for a policy, in order; a k below its class size cannot pass.

    >>> from starshade.audit.checks.policy import read_policy
    >>> [str(step) for step in steps_of(read_policy("public"))][4:6]
    ['k = 50', 'k = 11, item support 2%']
    """
    least = policy.least_class or 2
    for support in SUPPORTS:
        for k in [k for k in KS if k >= least] or [least]:
            yield Step(k, support)


def _too_small(policy: Policy) -> str:
    return f"the policy requires classes of {policy.least_class} or more"


@dataclass(frozen=True)
class _Search:
    ratings: Ratings
    method: MethodFactory
    audit: Audit
    seed: int
    engine: Engine

    def made_with(self, step: Step) -> Anonymizer:
        """Return the method of a step."""
        return self.method(k=step.k, item_support=step.item_support)

    def outcome(self, step: Step, attempts: Sequence[Try]) -> Try | str:
        """Try a release, or find it among what a stopped search had finished; else why not."""
        method, journal = self.made_with(step), self.engine.journal
        key = self._key(method)
        if (kept := journal.find(key)) is not None:
            return Try.of(kept["try"].tobytes())
        with self.engine.within(f"try-{key[:16]}") as engine, without_notes():
            outcome = self._tried(step, method, attempts, engine)
        if isinstance(outcome, str):
            return outcome
        content = json.dumps(plain(asdict(outcome))).encode()
        journal.keep(key, {"try": np.frombuffer(content, np.uint8)})
        return Try.of(content)

    def _tried(
        self, step: Step, method: Anonymizer, attempts: Sequence[Try], engine: Engine
    ) -> Try | str:
        """Make a release that nobody else can read, and audit it; again if it passes."""
        with scratch_folder() as place:
            folder, key_file = place / "release", place / "key.json"
            made = make_release(
                self.ratings, method, out=folder, private=key_file, rng=self.seed
            ).figures
            same = [each for each in attempts if each.k == step.k and each.items == made["items"]]
            if same:
                return f"it leaves out the same items as with {same[-1].step}"
            release = read_release(folder, private=key_file)
            decisions = []
            for seed in (self.seed, self._fresh):
                result = self.audit.judge_release(
                    self.ratings, release, folder, engine=engine, seed=seed
                )
                decisions.append(AuditSummary.of(result))
                if not result.passed:
                    break
        return Try(
            **asdict(step),
            records=result.records,
            items=result.items,
            within_step=result.utility.get("recoverable_within_step"),
            audits=decisions,
        )

    @property
    def _fresh(self) -> int:
        """The seed of second audits, which no figure of a first one depends on."""
        return int(generator(self.seed, "second audit").integers(0, 2**63))

    def _key(self, method: Anonymizer) -> str:
        """Return what a try is known by in a journal."""
        asked = f"{__version__} search {method} {self.audit} {self.audit.rules} {self.seed}"
        return hashlib.sha256(f"{asked} {digest_of(self.ratings)}".encode()).hexdigest()
