"""The three questions of an audit, and what answers them (definitions, "audit")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starshade.audit.questions.limits import LIMITED, Limit
from starshade.figure import Rate
from starshade.plain import counted, percent
from starshade.release.promise import QUESTIONS, QuestionName

#: no limit answers the question itself: what it says is how the figures stand to the limits
Answer = Literal[
    "within limits", "above a limit", "no more than guessing", "not judged", "not measured"
]
SLACK = 1e-9  # credits are sums of 1/t
_WIDE = 0.5  # length of a range from which nothing is concluded
_TOO_WIDE = "The range is too wide to conclude."


@dataclass(frozen=True)
class Measured:
    """The strongest of what was tried, beside guessing and the limit.

    Attributes
    ----------
    name : str
        As limits name it.
    attack, knew : str
        What did best, and what it knew of a person; empty where nothing was measured.
    rate : Rate or None
        With an interval that holds for all that was tried, together with 95 %; None: not measured.
    guessing : float or None
        What somebody achieves without the release.
    limit : Limit or None
        None: nobody set one.
    text : str
        What was found, in a sentence or two; why not, where nothing was measured.
    beside : mapping of str to Rate
        What it must be seen beside.
    by_itself : bool
        Whether it is judged without a limit: it is no more than guessing.
    note : str
        What kind of figure it is, in a sentence or two; may be empty.
    of : str
        What the rate is of, where it is not what the limit's name says.
    people : int or None
        How many people it rests on.
    """

    name: str
    text: str
    attack: str = ""
    knew: str = ""
    rate: Rate | None = None
    guessing: float | None = None
    limit: Limit | None = None
    beside: tuple[tuple[str, Rate], ...] = ()
    by_itself: bool = False
    note: str = ""
    of: str = ""
    people: int | None = None

    @property
    def title(self) -> str:
        """What the rate is of."""
        return self.of or LIMITED[self.name].title

    @property
    def finding(self) -> str:
        """What the finding on its limit is called."""
        return {"record": "attack", "joint-class": "earlier"}.get(self.name, self.name)

    @property
    def short(self) -> str:
        """What was found, and the limit, in a few words."""
        limit = "" if self.limit is None else f", limit {percent(self.limit.value)}"
        return f"{self.name} {self.rate_text}{limit}"

    @property
    def answer(self) -> Answer:
        """How it stands to its limit, by the upper end of the interval."""
        if self.rate is None:
            return "not measured"
        if self.limit is not None:
            kept = self.rate.high <= self.limit.value + SLACK
            return "within limits" if kept else "above a limit"
        return "no more than guessing" if self.by_itself else "not judged"

    @property
    def standing(self) -> str:
        """How it stands to its limit, in words."""
        if self.rate is None:
            return "not measured"
        if self.limit is not None:
            return "within the limit" if self.holds else "above the limit"
        return "no better than guessing" if self.by_itself else "no limit set"

    @property
    def remark(self) -> str:
        """The note, and whether the range is too wide to conclude anything; may be empty."""
        wide = self.rate is not None and self.rate.high - self.rate.low > _WIDE
        return f"{self.note} {_TOO_WIDE * (wide and not self.holds)}".strip()

    @property
    def holds(self) -> bool | None:
        """Whether its limit was shown to hold; None: no limit was set."""
        return None if self.limit is None else self.answer == "within limits"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "answer": self.answer,
            "attack": self.attack or None,
            "knew": self.knew or None,
            "people": self.people,
            "rate": None if self.rate is None else self.rate.to_dict(),
            "guessing": self.guessing,
            "limit": None if self.limit is None else self.limit.value,
            "limit_by": None if self.limit is None else self.limit.by,
            "beside": {title: rate.to_dict() for title, rate in self.beside},
            "text": self.text,
        }

    @property
    def found(self) -> str:
        """The rate, and what was known, in words."""
        if self.rate is None:
            return "–"
        people = "" if self.people is None else f", {counted(self.people, 'person', 'people')}"
        return f"{self.rate_text}; {self.knew} known{people}"

    @property
    def rate_text(self) -> str:
        """The rate in words, with its interval where not everybody was counted."""
        if self.rate is None:
            return "not measured"
        return percent(self.rate.rate) if self.rate.low == self.rate.high else str(self.rate)

    @property
    def limit_text(self) -> str:
        """The limit in words."""
        if self.limit is None:
            return f"none set ({self.name})"
        return f"{percent(self.limit.value)}, by {self.limit.by}"


_WORST_FIRST: tuple[Answer, ...] = (
    *("above a limit", "not judged", "not measured"),
    *("within limits", "no more than guessing"),
)


def unmeasured(name: str, what: str, why: str, limit: Limit | None) -> Measured:
    """Return that something was not measured, and why."""
    why = why[:1].lower() + why[1:].rstrip(".")
    return Measured(name, f"{what} is not known: {why}.", limit=limit)


@dataclass(frozen=True)
class Question:
    """One of the three questions, and its answer."""

    name: QuestionName
    measured: tuple[Measured, ...]

    @property
    def title(self) -> str:
        """The question."""
        return QUESTIONS[self.name]

    @property
    def answer(self) -> Answer:
        """The worst of what was measured: a limit that does not hold, else what is open."""
        answers = {each.answer for each in self.measured}
        return next(answer for answer in _WORST_FIRST if answer in answers)

    @property
    def settled(self) -> bool:
        """Whether nothing is open: all is within limits, or no more than guessing."""
        return self.answer in ("within limits", "no more than guessing")

    @property
    def decisive(self) -> Measured:
        """What the answer rests on: the first that has it."""
        return next(each for each in self.measured if each.answer == self.answer)

    @property
    def in_words(self) -> str:
        """The answer, and why in a sentence for each thing that was measured."""
        return " ".join([f"{self.answer.capitalize()}.", *(each.text for each in self.measured)])

    @property
    def beyond(self) -> str:
        """The answer, and a sentence for each thing that no limit is on and that is not a no."""
        open_ = (each for each in self.measured if each.answer in ("not judged", "not measured"))
        open_ = (each for each in open_ if each.limit is None)
        return " ".join([f"{self.answer.capitalize()}.", *(each.text for each in open_)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "name": self.name,
            "question": self.title,
            "answer": self.answer,
            "measured": [each.to_dict() for each in self.measured],
        }


#: heads of `question_rows`
QUESTION_HEAD = ("measured", "judged", "found", "guessing", "limit")


def question_rows(question: Question) -> list[tuple[str, str, str, str, str]]:
    """Return what was measured, how it stands, what was found, guessing and limit, in words."""
    return [
        (
            each.title,
            each.standing,
            each.found,
            percent(each.guessing),
            each.limit_text,
        )
        for each in question.measured
    ]


def failed_in_words(failed: Sequence[str], questions: Sequence[Question]) -> list[str]:
    """Say in a line what is in the way: of limits what was found; empty where nothing is.

    `failed`: the names of the findings that are. Of a question above a limit that limit tells.
    """
    short: dict[str, str] = {
        each.name: "" if each.answer == "above a limit" else f"{each.name} {each.answer}"
        for each in questions
    }
    measured = (each for question in questions for each in question.measured)
    short |= {each.finding: each.short for each in measured if each.limit is not None}
    said = filter(None, dict.fromkeys(short.get(name, name) for name in failed))
    return ["; ".join(said)] * bool(failed)


def answered(questions: Sequence[Question]) -> bool:
    """Tell whether every question is settled."""
    return all(question.settled for question in questions)


def limits_told(unset: int, by_owner: int, by_model: int) -> str:
    """Say how many limits are set, all of which hold, and by whom.

    >>> limits_told(4, 2, 1)
    '3 of 7 limits are set (1 by the model), and all 3 hold; 4 are not set'
    >>> limits_told(6, 1, 1)
    '2 of 8 limits are set (1 by the model), and both hold; 6 are not set'
    >>> limits_told(6, 0, 1)
    '1 of 7 limits is set (by the model), and it holds; 6 are not set'
    """
    held = by_owner + by_model
    total, rest = unset + held, f"; {unset} {'is' if unset == 1 else 'are'} not set" * bool(unset)
    if not held:
        return f"None of {total} limits is set"
    if held == 1:
        return f"1 of {total} limits is set{' (by the model)' * by_model}, and it holds{rest}"
    model = f" ({by_model} by the model)" * bool(by_model)
    all_held = "both" if held == 2 else f"all {held}"
    return f"{held} of {total} limits are set{model}, and {all_held} hold{rest}"


def limits_of_all(questions: Sequence[Question]) -> str:
    """Say how many limits are set, all of which hold, and how many are not."""
    by = [None if row.limit is None else row.limit.by for row in _rows(questions)]
    return limits_told(by.count(None), by.count("the owner"), by.count("the model"))


def measured_of_all(questions: Sequence[Question]) -> str:
    """Say what was not measured, by name, or that all was."""
    rows = _rows(questions)
    missing = [row.title for row in rows if row.rate is None]
    if not missing:
        return f"All {len(rows)} were measured."
    names = "; ".join(f"{title[0].lower()}{title[1:]}" for title in missing)
    return f"{len(rows) - len(missing)} of {len(rows)} were measured; not measured: {names}."


def _rows(questions: Sequence[Question]) -> list[Measured]:
    return [each for question in questions for each in question.measured]


def head(*, passed: bool, alone: bool, answered: bool) -> str:
    """Say whether a release may be published; `alone`: if nothing had been published before."""
    if passed and answered:
        return "This release may be published."
    if passed:
        return UNDECIDED
    if alone:
        return "By itself this release keeps to its limits, but not beside what is out already."
    return "This release should not be published."


UNDECIDED = (
    "Whether this release may be published is not decided by that: what has no limit was not "
    "judged."
)


def first_words(*, passed: bool, alone: bool, questions: Sequence[Question]) -> str:
    """Say whether a release may be published, and if that is open, what was set and measured."""
    settled = answered(questions)
    said = head(passed=passed, alone=alone, answered=settled)
    if settled or not passed:
        return said
    return f"{limits_of_all(questions)}. {measured_of_all(questions)} {said}"
