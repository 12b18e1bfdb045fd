"""`AttackResult`: what an attack found, with intervals and beside guessing; figures of several."""

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
    """How many bits are missing, over the targets."""

    mean: float
    median: float

    @classmethod
    def of(cls, bits: NDArray[np.float64]) -> Bits:
        """Sum up one figure per target."""
        return cls(float(np.mean(bits)), float(np.median(bits)))


@dataclass(frozen=True, kw_only=True)
class AttackResult(Found):
    """What one attack on all targets came to (definitions, "scoreboard-rh").

    Attributes
    ----------
    attack : str
        As ``starshade list attacks`` names it.
    records : int
        Records that the adversary sees.
    targets, ineligible : int
        Users attacked; people who gave fewer ratings than are known.
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
        A record stands out and is somebody else's.
    false_match_absent : Rate or None
        A record stands out although the target's was taken out first; None: not asked.
    tradeoff : TradeOff or None
        Missed targets and false matches of absent ones over φ; None: absence was not asked for.
    no_answer : float
        Share of targets for whom nothing stands out.
    entropy_bits : Bits
        Bits that still separate the adversary from a record that agrees with the target's
        truth; log2(records) where they learn nothing.
    entropy_bits_profile : Bits
        The same for all agreeing records together.
    seconds, read_seconds : float
        For the attack; for reading the data (0 when they were in memory).
    postings_per_second : float
        Cells looked at per second of scoring.
    config : dict
        The attack's settings.
    knowledge : dict
        What the adversary knows, with its name.
    known_from : {"all items", "released items"}
        Of which items ratings are known.
    people, median_ratings : int
        People who could be attacked, with a record where they are of a release, and the largest
        number of ratings that half of them have (there).
    recall : tuple of Recall
        Targets re-identified with 90 % and 99 % precision, among growing pools of candidates
        (`likelihood`, by posterior) or among all records (`scoreboard-rh`, by eccentricity).
    seed : int
        Makes the same attack again.
    digest : str
        SHA-256 over the original table.
    version : str
        Of starshade.
    most : float
        How often the right record can be named at most: 1 in the fewest that are equal.
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
        true = "their own record" if self.credit == "linked" else "a record like theirs"
        text = (
            f"{self._opening()} For {self.success} of the targets {true} stands out, which means "
            f"that its score leads the next best by {self.config['phi']:g} standard deviations of "
            f"all scores or more; for {self.false_match} a wrong one does, and "
            f"{self.no_answer:.1%} get no answer. Made to answer, the adversary is right in "
            f"{self.expected_top1} of the cases; guessing without the data, in 1 of "
            f"{self.records:,}. Counting identical records as one, a record that says what is "
            f"true of the target stands out for {self.class_contents_known}. To point at such a record, "
            f"{self.entropy_bits.mean:.2f} bits (yes-or-no questions) are still missing on "
            f"average, of {np.log2(self.records):.2f} before."
        )
        if self.false_match_absent is not None:
            text += (
                f" With the target's record taken out, a record stands out all the same for "
                f"{self.false_match_absent}."
            )
        if self.tradeoff is not None:
            text += f" {self.tradeoff}"
        text += f" {recall_text(self.recall, self.most, 'eccentricity')}"
        return text + self._beside_guessing()

    def _opening(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')}, for "
            f"{counted(self.targets, 'target')}; facts about each: {self._facts()}{self._there()}."
        )
        return " ".join([head, *self._rests_on(), *self._caveats()])

    def _there(self) -> str:
        return ", of released items" * (self.known_from == "released items")

    def _rests_on(self) -> list[str]:
        """Say of how many people so much can be known, and how much of half of them."""
        able, known = self.people - self.ineligible, counted(self.knowledge["known"], "rating")
        if not self.ineligible:
            return []
        text = (
            f"{able:,} of {counted(self.people, 'person', 'people')} "
            f"{'has' if able == 1 else 'have'} at least {known}"
        )
        if 2 * able < self.people:
            text += f"; half of them have at least {self.median_ratings:,}"
        return [f"{text}."]

    def _facts(self) -> str:
        return str(self.knowledge["name"])

    def _caveats(self) -> list[str]:
        """Say what makes the figures lower than a real adversary's would be."""
        return []

    def _beside_guessing(self) -> str:
        """Say so where the data were of no help, unless it was the knowledge that was not."""
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
        beside = f"{figure.meaning} Guessing is right in 1 of {self.records:,}."
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
        """Draw the shares with their intervals, beside guessing."""
        return found_chart(
            f"What {self.attack} finds",
            f"{counted(self.records, 'record')}, {counted(self.targets, 'target')}; "
            f"known of each: {self._facts()}",
            self._shares(),
            Level(1 / self.records, "guessing"),
        )

    def _headline(self) -> str:
        return f"{self.attack}: right in {self.expected_top1.rate:.1%} when it must answer"


RECORDS = Figure("records", "Records", "count", False, "That the adversary sees.")
TARGETS = Figure("targets", "People attacked", "count", None, "What the shares rest on.")
INELIGIBLE = Figure(
    "ineligible",
    "People of whom too little can be known",
    "count",
    None,
    "They are not among those attacked.",
)
EXPECTED_TOP1 = Figure(
    "expected_top1",
    "Right when it must answer",
    "share",
    True,
    "High: records are found.",
    "NS §3; definitions, record found",
    short="record found",
)
SUCCESS = Figure(
    "success", "The right record stands out", "share", True, "High: found beyond doubt.", "NS §4"
)
DISCLOSED = Figure(
    "class_contents_known",
    "Profile disclosed",
    "share",
    True,
    "High: what the record says is known, even where several share it.",
    "definitions, profile disclosed",
)
FALSE_MATCH = Figure(
    "false_match", "A wrong record stands out", "share", False, "High: the adversary errs.", "NS §4"
)
FALSE_MATCH_ABSENT = Figure(
    "false_match_absent",
    "A record stands out though the target is absent",
    "share",
    False,
    "High: to find somebody proves little.",
    "NS §5",
)
NO_ANSWER = Figure(
    "no_answer",
    "No answer",
    "share",
    False,
    "People for whom the attack names nobody. High is good for them.",
)
BITS = Figure(
    "entropy_bits",
    "Bits still missing",
    "bits",
    False,
    "Yes-or-no questions that still separate the adversary from a record that says what is true "
    "of the target, on average; none where that record is known.",
    "NS §3",
)
BITS_MEDIAN = Figure(
    "entropy_bits_median",
    "Bits still missing, median",
    "bits",
    False,
    "Half of the targets miss fewer.",
)
CREDIT = Figure(
    "credit",
    "Answers are credited as",
    "text",
    None,
    "linked: the record is the target's own; compatible: it says what is true of the target.",
)
