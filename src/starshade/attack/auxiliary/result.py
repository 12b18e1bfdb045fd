"""`AuxiliaryResult`: for each name with public ratings, the matching records, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from unicodedata import category

from starshade._version import __version__
from starshade.attack.auxiliary.one_to_one import NamePlace, OneToOne
from starshade.figure import Figure, Shown, Table, payload
from starshade.naming import aside, named
from starshade.plain import counted

_SHOWN = 100  # names in the table
_FIGURES = (
    Figure("names", "Names", "count"),
    Figure("answered", "Re-identified names", "count", True, "One record stands out."),
    Figure("no_answer", "No answer", "count", False, "Nothing known, a tie, or no clear lead."),
    Figure("profiles", "Linked profiles", "count", True, "A profile of equal records stands out."),
)
_PLACED = ("name", "match", "probability", "lead", "answer")
_WHY = {
    "nothing-known": "no known item is in the data",
    "nobody": "no record is more likely than none",
    "tie": "another assignment is equally likely",
    "unsure": "probability too low",
}
_CALM = 3.0  # an eccentricity that none of forty non-members had (docs/attacks.md)
_CHANCE = (
    " On synthetic data of the size of MovieLens 100K a record stood out by chance for 4 of 40"
    " non-members at φ = 1.5, and for none at φ = 3: use a higher φ before acting on an answer"
)


@dataclass(frozen=True)
class Candidate:
    """A row of the data that matches.

    `record`: number of the record: as in a release's files, or the row (from 0) of a rating table
    in canonical order. None: the row is a class of several equal records.
    `class_`: number of the class in a release's files (its column ``group``); None where rows are
    single records. `records`: records in the row. `tied`: records with the same score, these
    included. `probability`: that the person is one of these records, if they are in the data at all
    (NS §4, entropic). `id`: the user's id in a rating table, on request.
    """

    record: int | None
    class_: int | None
    records: int
    score: float
    tied: int
    probability: float
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; ``id`` only on request."""
        shown = payload(self)
        shown["class"] = shown.pop("class_")
        if self.id is None:
            del shown["id"]
        return shown

    def __str__(self) -> str:
        if self.class_ is None:
            more = [] if self.id is None else [self.id]
            if self.records > 1:
                more.append(f"{self.records:,} equal records")
            return f"record {self.record}" + (f" ({'; '.join(more)})" if more else "")
        one = f"record {self.record}" if self.records == 1 else counted(self.records, "record")
        return f"class {self.class_} ({one})"


@dataclass(frozen=True)
class NameAnswer:
    """The answer for one name.

    `name`: as the public ratings have it. `known`, `in_data`: items known of this person; how many
    of them the data have. `eccentricity`, `profile_eccentricity`: by how many standard deviations
    of all scores the best record, and the best profile (identical records being one), leads the
    next; 0 where the best is tied. `tied`: records that share the highest score; 0 where no score
    is above 0. `answer`: the record that stands out; None: no answer. `profile`: what stands out
    when identical records count as one: `records` says how many they are, `record` and `class_`
    name the first. `no_answer`: why there is no answer: no known item is in the data; several
    records share the highest score; the eccentricity is below φ. `candidates`: best first, scores
    above 0 only; the order among equal scores says nothing.
    """

    name: str
    known: int
    in_data: int
    eccentricity: float
    profile_eccentricity: float
    tied: int
    answer: Candidate | None
    profile: Candidate | None
    no_answer: Literal["nothing-known", "tie", "below-phi"] | None
    candidates: tuple[Candidate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        profile = self.profile and {
            "record": self.profile.record,
            "class": self.profile.class_,
            "records": self.profile.records,
        }
        answer = self.answer and self.answer.record
        return payload(self) | {"answer": answer, "profile": profile}

    def row(self) -> tuple[str, str, str, str, str, str]:
        """Return the cells of a table for people; see `AuxiliaryResult.head`."""
        if self.answer is not None:
            text = str(self.answer)
        elif self.profile is not None:
            text = f"none; the profile of {self.profile} stands out"
        else:
            text = f"none: {self._why()}"
        leads = f"{self.eccentricity:.2f}", f"{self.profile_eccentricity:.2f}"
        return _visible(self.name), f"{self.known:,}", f"{self.in_data:,}", *leads, text

    def candidate_rows(self) -> list[tuple[str, str, str, str]]:
        """Return the candidates for people; see `AuxiliaryResult.candidate_head`."""
        return [
            (_visible(self.name), str(one), f"{one.score:.4g}", f"{one.probability:.1%}")
            for one in self.candidates
        ]

    def _why(self) -> str:
        if self.no_answer == "nothing-known":
            return "no known item is in the data"
        return f"{counted(self.tied, 'record')} tie" if self.tied > 1 else "does not stand out"


@dataclass(frozen=True)
class AuxiliaryResult(Shown):
    """Result of linking public ratings with records (NS §5).

    Attributes
    ----------
    attack : str
        Attack that gives the scores.
    data : {"ratings", "release"}
    records : int
        Records that the adversary sees.
    rows, repeated_rows : int
        Rows of public ratings; rows merged because they repeat a person's item.
    unknown_items : int
        Known ratings of items that are not in the data; not used.
    ambiguous_items : int
        Known ratings whose item name is ambiguous in the data; not used.
    matched_by : str
        ``id``, ``name``, ``mapping to id`` or ``mapping to name``.
    scale, aux_scale : str, str or None
        Scale of the data; given scale of the public ratings, mapped linearly.
    one_user : bool
        The public ratings have no column of names: all rows are treated as one user.
    ratings_used, days_used : bool
        Whether any rating (any day) was used.
    config : dict
        φ, ρ0, d0 and the number of listed candidates.
    per_name : tuple of NameAnswer
        In the order in which the names first appear.
    one_to_one : OneToOne or None
        The one-to-one matching, on request.
    seconds : float
    version : str
        Of starshade.
    """

    attack: str
    data: Literal["ratings", "release"]
    records: int
    rows: int
    repeated_rows: int
    unknown_items: int
    ambiguous_items: int
    matched_by: str
    scale: str
    aux_scale: str | None
    one_user: bool
    ratings_used: bool
    days_used: bool
    config: dict[str, Any]
    per_name: tuple[NameAnswer, ...]
    one_to_one: OneToOne | None = None
    seconds: float = 0.0
    version: str = field(default=__version__)

    #: what the columns of `NameAnswer.row` are
    head = ("name", "known items", "in the data", "eccentricity", "of the profile", "answer")
    #: what the columns of `NameAnswer.candidate_rows` are
    candidate_head = ("name", "candidate", "score", "probability")

    @property
    def answered(self) -> int:
        """Names for which a record stands out."""
        return sum(answer.answer is not None for answer in self.per_name)

    @property
    def profiles(self) -> int:
        """Names for which a profile stands out; identical records count as one."""
        return sum(answer.profile is not None for answer in self.per_name)

    @property
    def found(self) -> tuple[Figure, ...]:
        """Numbers of names with and without an answer."""
        names = len(self.per_name)
        values = (names, self.answered, names - self.answered, self.profiles)
        return tuple(figure.of(value) for figure, value in zip(_FIGURES, values, strict=True))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The answer for each of the first names."""
        rows, more = tuple(answer.row() for answer in self.per_name[:_SHOWN]), len(self.per_name)
        title = f"The first {_SHOWN} of {more:,} names" if more > _SHOWN else "Names"
        if self.one_to_one is None:
            return (Table(title, self.head, rows),)
        places = tuple(_place_row(each) for each in self.one_to_one.per_name[:_SHOWN])
        return (
            Table(title, self.head, rows),
            Table(f"{title}, one-to-one matching", _PLACED, places),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {figure.key: figure.value for figure in self.found} | payload(self)

    def __str__(self) -> str:
        n, phi = len(self.per_name), self.config["phi"]
        whose = "one user (no column of names)" if self.one_user else counted(n, "name")
        text = (
            f"{self.attack} with the public ratings of {whose} ({self._known()}) on "
            f"{counted(self.records, 'record')}. Re-identified: {self.answered:,} of {n:,} (one "
            f"record stands out, eccentricity at least {phi:g}); no answer: "
            f"{n - self.answered:,}."
        )
        hidden = [a.profile for a in self.per_name if a.answer is None and a.profile is not None]
        if hidden:
            least = min(profile.records for profile in hidden)
            text += (
                f" For {len(hidden):,} of the latter their profile stands out: it has {least:,} or "
                "more equal records, and its contents are known to be theirs."
            )
        text += (
            " Answers cannot be verified without the original: the higher an eccentricity, the "
            "less likely is chance (Narayanan & Shmatikov's two matches had 28 and 15)."
        )
        if self.answered and phi < _CALM:
            text += f"{_CHANCE}{aside('phi')}."
        if self.one_to_one is not None:
            text += f" {self.one_to_one}"
        if any(answer.candidates for answer in self.per_name):
            text += f" {self._numbers()}"
        if self.aux_scale is not None and self.aux_scale != self.scale:
            text += f" Ratings on {self.aux_scale} are mapped linearly onto {self.scale}."
        return text

    def _known(self) -> str:
        known = sum(answer.known for answer in self.per_name)
        text = f"{counted(known, 'known item')}, {self.unknown_items / known:.1%} of them not in "
        text += "the data"
        if self.ambiguous_items:
            text += f", {self.ambiguous_items / known:.1%} with an ambiguous item name"
        return text

    def _numbers(self) -> str:
        if self.data == "release":
            return "Record and class numbers are those of the release's files."
        ids = any(c.id is not None for answer in self.per_name for c in answer.candidates)
        say = (
            "its user's id is in brackets" if ids else f"{named('show_values')} adds its user's id"
        )
        return f"Record N is row N (from 0) of the ratings in canonical order; {say}."

    def _headline(self) -> str:
        return (
            f"Public ratings re-identify {self.answered:,} of {counted(len(self.per_name), 'name')}"
        )


def _place_row(each: NamePlace) -> tuple[str, str, str, str, str]:
    where = f"class {each.class_}" if each.class_ is not None else f"record {each.record}"
    if each.id is not None:
        where += f" ({each.id})"
    if each.records == 0:
        where = "none"
    named = "yes" if each.answer else f"no: {_WHY[each.no_answer or 'unsure']}"
    return _visible(each.name), where, f"{each.probability:.1%}", f"{each.lead:.2f}", named


def _visible(name: str) -> str:
    """Escape control characters, which a terminal would obey."""
    return "".join(repr(c)[1:-1] if category(c) == "Cc" else c for c in name)
