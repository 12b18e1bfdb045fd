"""`AttackResult`: the figures of an attack, with intervals and baselines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.attack.recall import Recall, recall_table, recall_text
from starshade.attack.shown import Found, found_chart
from starshade.chart.shapes import Level
from starshade.figure import Figure, Rate, Table
from starshade.plain import counted

if TYPE_CHECKING:
    from starshade.attack.scoreboard_rh.scoreboard_rh import Outcomes
    from starshade.attack.scoreboard_rh.tradeoff import TradeOff
    from starshade.chart import Chart


#: of which items ratings are known
KnownFrom: TypeAlias = Literal["all items", "released items"]


@dataclass(frozen=True)
class Bits:
    """Remaining entropy over the targets, in bits."""

    mean: float
    median: float

    @classmethod
    def of(cls, bits: NDArray[np.float64]) -> Bits:
        """Return mean and median of one value per target."""
        return cls(float(np.mean(bits)), float(np.median(bits)))


@dataclass(frozen=True, kw_only=True)
class AttackResult(Found):
    """Result of one attack on all targets (definitions, "scoreboard-rh").

    Attributes
    ----------
    attack : str
        As ``starshade list attacks`` names it.
    records : int
        Records that the adversary sees.
    targets, ineligible : int
        Users attacked; users with fewer ratings than the adversary knows.
    credit : {"linked", "compatible"}
        Whether an answer counts when it is the target's record, or when it is compatible with
        the target's true row.
    success : Rate
        A record stands out and is the target's.
    expected_top1 : Rate
        The adversary must answer: 1/t where the target is among t best records.
    class_contents_known : Rate
        A profile stands out (identical records being one) and agrees with the target's truth.
    false_match : Rate
        A record stands out and is another person's.
    false_match_absent : Rate or None
        A record stands out although the target's was removed; None: not measured.
    tradeoff : TradeOff or None
        Missed targets and false matches of absent ones over φ; None: without `absent`.
    no_answer : float
        Share of targets for whom no record stands out.
    entropy_bits : Bits
        Remaining entropy of a record that agrees with the target's truth, in bits;
        log2(records) where the adversary learns nothing.
    entropy_bits_profile : Bits
        The same for all agreeing records together.
    seconds, read_seconds : float
        For the attack; for reading the data (0 when they were in memory).
    postings_per_second : float
        Cells looked at per second of scoring.
    config : dict
        The attack's settings.
    knowledge : dict
        The adversary's knowledge, with its name.
    known_from : {"all items", "released items"}
        Items that the known ratings are of.
    people, median_ratings : int
        People who could be attacked, with a record where they are of a release, and the largest
        number of ratings that half of them have (there).
    recall : tuple of Recall
        Targets re-identified with 90 % and 99 % precision, among growing pools of candidates
        (`likelihood`, by posterior) or among all records (`scoreboard-rh`, by eccentricity).
    seed : int
        Seed that repeats the attack.
    digest : str
        SHA-256 over the original table.
    version : str
        Of starshade.
    most : float
        Upper bound of `expected_top1`: 1 / the smallest number of equal records.
    per_target : Outcomes
        The figures target by target: internal, never part of `to_dict`.
    """

    success: Rate
    expected_top1: Rate
    class_contents_known: Rate
    false_match: Rate
    false_match_absent: Rate | None
    tradeoff: TradeOff | None = None
    no_answer: float
    entropy_bits: Bits
    entropy_bits_profile: Bits
    knowledge: dict[str, Any]
    known_from: KnownFrom = "all items"
    people: int
    median_ratings: int
    recall: tuple[Recall, ...] = ()
    most: float = field(repr=False)
    seed: int
    per_target: Outcomes = field(repr=False, compare=False)

    NULL: ClassVar[tuple[str, ...]] = ()

    def _own(self) -> dict[str, Any]:
        top1 = self.expected_top1
        interval = {"low": top1.low, "high": top1.high}
        return super()._own() | {"expected_top1": top1.rate, "expected_top1_interval": interval}

    def __str__(self) -> str:
        text = (
            f"{self._opening()} {self._top1()} The right record stands out (its score leads the "
            f"next best by {self.config['phi']:g} standard deviations of all scores or more) for "
            f"{self.success} of targets, a wrong one for {self.false_match}, none for "
            f"{self.no_answer:.1%}. Class contents are known for {self.class_contents_known}: the "
            f"profile that stands out agrees with the target. Remaining entropy: "
            f"{self._remaining()}."
        )
        if self.false_match_absent is not None:
            text += (
                f" With the target's record removed, a record still stands out for "
                f"{self.false_match_absent} (false matches)."
            )
        if self.tradeoff is not None:
            text += f" {self.tradeoff}"
        text += f" {recall_text(self.recall, self.most, 'eccentricity')}"
        return text + self._beside_guessing()

    def _top1(self, how: str = "must answer") -> str:
        """Say how many targets are re-identified, compared with guessing."""
        return (
            f"An adversary who {how} {self._identifies} {self.expected_top1} of targets "
            f"(guessing: 1 of {self.records:,})."
        )

    @property
    def _identifies(self) -> str:
        return "re-identifies" if self.credit == "linked" else "names a compatible record of"

    def _remaining(self) -> str:
        before = np.log2(self.records)
        return f"{self.entropy_bits.mean:.2f} of {before:.2f} bits on average"

    def _opening(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')}, "
            f"{counted(self.targets, 'target')}; known of each: {self._facts()}{self._there()}."
        )
        return " ".join([head, *self._rests_on(), *self._caveats()])

    def _there(self) -> str:
        return ", of released items" * (self.known_from == "released items")

    def _rests_on(self) -> list[str]:
        """Say how many people have enough ratings, and the median number of ratings."""
        able, known = self.people - self.ineligible, counted(self.knowledge["known"], "rating")
        if not self.ineligible:
            return []
        text = (
            f"{able:,} of {counted(self.people, 'person', 'people')} "
            f"{'has' if able == 1 else 'have'} at least {known}"
        )
        if 2 * able < self.people:
            text += f" (median: {self.median_ratings:,})"
        return [f"{text}."]

    def _facts(self) -> str:
        return str(self.knowledge["name"])

    def _caveats(self) -> list[str]:
        """Say what makes the figures lower than those of a real adversary."""
        return []

    def _beside_guessing(self) -> str:
        """Say so where the data did not help, unless the knowledge is the reason."""
        if self.expected_top1.low > 1 / self.records or self._caveats():
            return ""
        return " This is no better than guessing."

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return (*self._sizes(), *self._shares(), *self._silence())

    def _sizes(self) -> tuple[Figure, ...]:
        return *self._of(RECORDS, TARGETS), INELIGIBLE.of(self.ineligible or None)

    def _shares(self) -> tuple[Figure, ...]:
        curve = self.tradeoff
        return (
            self._guess(EXPECTED_TOP1),
            *self._of(SUCCESS, DISCLOSED, FALSE_MATCH, FALSE_MATCH_ABSENT),
            *(() if curve is None else curve.found),
        )

    def _guess(self, figure: Figure) -> Figure:
        beside = f"{figure.meaning} Guessing: 1 of {self.records:,}."
        return replace(figure, meaning=beside).of(self.expected_top1, people=self.targets)

    def _silence(self) -> tuple[Figure, ...]:
        return (
            NO_ANSWER.of(self.no_answer),
            BITS.of(self.entropy_bits.mean),
            BITS_MEDIAN.of(self.entropy_bits.median),
            CREDIT.of(self.credit),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Recall in each pool of candidates, where there are several."""
        return (recall_table(self.recall),) if len(self.recall) > 1 else ()

    def plot(self) -> Chart:
        """Draw the shares with their intervals and the baseline."""
        return found_chart(
            f"Results of the attack {self.attack}",
            f"{counted(self.records, 'record')}, {counted(self.targets, 'target')}; "
            f"known of each: {self._facts()}",
            self._shares(),
            Level(1 / self.records, "guessing"),
        )

    def _headline(self) -> str:
        known = counted(self.knowledge["known"], "rating")
        return (
            f"An adversary who knows {known} {self._identifies} {self.expected_top1.rate:.1%} of "
            f"targets. Tested on {self.targets:,} of {counted(self.people, 'person', 'people')}"
        )


RECORDS = Figure("records", "Records", "count", False, "Records that the adversary sees.")
TARGETS = Figure("targets", "Targets", "count", None, "People that the shares are based on.")
INELIGIBLE = Figure(
    "ineligible",
    "Ineligible people",
    "count",
    None,
    "People with too few ratings or without a record; not attacked.",
)
EXPECTED_TOP1 = Figure(
    "expected_top1",
    "Re-identification (best guess correct)",
    "share",
    True,
    "High: the adversary finds the right record.",
    "NS §3; definitions, scoreboard-rh",
    short="re-identification",
)
SUCCESS = Figure(
    "success",
    "Confident and correct",
    "share",
    True,
    "High: the right record stands out from all others.",
    "NS §4",
)
DISCLOSED = Figure(
    "class_contents_known",
    "Class contents known",
    "share",
    True,
    "High: the contents of the target's record are known, even where several records share them.",
    "definitions, scoreboard-rh",
)
FALSE_MATCH = Figure(
    "false_match",
    "Confident and wrong",
    "share",
    False,
    "High: the adversary errs; a wrong record stands out.",
    "NS §4",
)
FALSE_MATCH_ABSENT = Figure(
    "false_match_absent",
    "False matches of absent targets",
    "share",
    False,
    "High: a record that stands out proves little.",
    "NS §5",
)
NO_ANSWER = Figure(
    "no_answer",
    "No answer",
    "share",
    False,
    "Share of targets without an answer; the adversary abstains. High is good for them.",
)
BITS = Figure(
    "entropy_bits",
    "Remaining entropy, mean",
    "bits",
    False,
    "Bits needed to identify a record that agrees with the target; 0: known.",
    "NS §3",
)
BITS_MEDIAN = Figure(
    "entropy_bits_median",
    "Remaining entropy, median",
    "bits",
    False,
    "Half of the targets have less.",
)
CREDIT = Figure(
    "credit",
    "Scoring of answers",
    "text",
    None,
    "linked: the record is the target's own; compatible: it agrees with the target's ratings.",
)
