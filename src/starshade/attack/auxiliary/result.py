"""`AuxiliaryResult`: per name whose public ratings are known, the records that fit, or none."""

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
    Figure("answered", "One record stands out", "count", True, "It is taken for theirs."),
    Figure("no_answer", "No answer", "count", False, "Nothing known, a tie, or no clear lead."),
    Figure("profiles", "A profile stands out", "count", True, "Identical records being one."),
)
_PLACED = ("name", "place", "probability", "lead", "named")
_WHY = {
    "nothing-known": "nothing known of them is in the data",
    "nobody": "no record is likelier than none",
    "tie": "another list is as likely",
    "unsure": "not sure enough",
}
_CALM = 3.0  # an eccentricity that none of forty strangers had (docs/attacks.md)
_CHANCE = (
    " At φ = 1.5 a record stood out by chance for 4 of 40 strangers to made-up data of MovieLens"
    " 100K's size, at φ = 3 for none: before acting on a name ask for a higher φ"
)


@dataclass(frozen=True)
class Candidate:
    """A row of the data that fits.

    `record`: number of the record: as in a release's files, or the row (from 0) of a rating table
    in canonical order. None: the row is a class of several records, which cannot be told apart.
    `class_`: number of the class in a release's files (its column ``group``); None where rows are
    single records. `records`: records in the row. `tied`: records with the same score, these
    included. `probability`: that the person is one of these records, if they are in the data at all
    (NS §4, entropic). `id`: the user's id in a rating table, where it was asked for.
    """

    record: int | None
    class_: int | None
    records: int
    score: float
    tied: int
    probability: float
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; ``id`` only where it was asked for."""
        shown = payload(self)
        shown["class"] = shown.pop("class_")
        if self.id is None:
            del shown["id"]
        return shown

    def __str__(self) -> str:
        if self.class_ is None:
            text = f"record {self.record}" + ("" if self.id is None else f" ({self.id})")
            return text if self.records == 1 else f"{text}, {self.records:,} equal ones"
        one = f"record {self.record}" if self.records == 1 else counted(self.records, "record")
        return f"class {self.class_} ({one})"


@dataclass(frozen=True)
class NameAnswer:
    """What was found for one name.

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
            text = f"none; {self.profile} stands out as one"
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
            return "nothing known of them is in the data"
        return f"{counted(self.tied, 'record')} tie" if self.tied > 1 else "does not stand out"


@dataclass(frozen=True)
class AuxiliaryResult(Shown):
    """What public ratings gave away (NS §5).

    Attributes
    ----------
    attack : str
        Whose scores these are.
    data : {"ratings", "release"}
    records : int
        Records that the adversary sees.
    rows, repeated_rows : int
        Rows of public ratings; those that repeated a person's item and were made one.
    unknown_items : int
        Known cells on items that the data lack: they say nothing.
    ambiguous_items : int
        Known cells whose item's name several items of the data bear: they say nothing either.
    matched_by : str
        ``id``, ``name``, ``mapping to id`` or ``mapping to name``.
    scale, aux_scale : str, str or None
        The data's scale; that of the public ratings where it was given, mapped linearly.
    one_user : bool
        The public ratings had no column of names: all rows are taken for one person's.
    ratings_used, days_used : bool
        Whether any rating (any day) was of use.
    config : dict
        φ, ρ0, d0 and how many candidates are listed.
    per_name : tuple of NameAnswer
        In the order in which the names first appear.
    one_to_one : OneToOne or None
        The list matched at once, where that was asked for.
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
    head = ("name", "items known", "in the data", "eccentricity", "as one profile", "answer")
    #: what the columns of `NameAnswer.candidate_rows` are
    candidate_head = ("name", "candidate", "score", "probability")

    @property
    def answered(self) -> int:
        """Names for which a record stands out."""
        return sum(answer.answer is not None for answer in self.per_name)

    @property
    def profiles(self) -> int:
        """Names for which a profile stands out, identical records being one."""
        return sum(answer.profile is not None for answer in self.per_name)

    @property
    def found(self) -> tuple[Figure, ...]:
        """For how many names there is an answer."""
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
            Table(f"{title}, each record given once", _PLACED, places),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {figure.key: figure.value for figure in self.found} | payload(self)

    def __str__(self) -> str:
        n, phi = len(self.per_name), self.config["phi"]
        whose = "one person (no column of names)" if self.one_user else counted(n, "name")
        text = (
            f"{self.attack} with the public ratings of {whose} ({self._known()}) on "
            f"{counted(self.records, 'record')}. For {self.answered:,} of {n:,} "
            "one record stands out "
            f"(eccentricity at least {phi:g}) and is taken for theirs, with everything else in it; "
            f"for {n - self.answered:,} there is no answer."
        )
        hidden = [a.profile for a in self.per_name if a.answer is None and a.profile is not None]
        if hidden:
            least = min(profile.records for profile in hidden)
            text += (
                f" For {len(hidden):,} of these, identical records counting as one, their profile "
                f"stands out: which of its {least:,} or more records is theirs cannot be told, but "
                "whatever the data show of that profile they show of them."
            )
        text += (
            " Nobody has said who is in the data: the higher an eccentricity, the less likely it "
            "is chance (Narayanan & Shmatikov's two finds had 28 and 15)."
        )
        if self.answered and phi < _CALM:
            text += f"{_CHANCE}{aside('phi')}."
        if self.one_to_one is not None:
            text += f" {self.one_to_one}"
        if any(answer.candidates for answer in self.per_name):
            text += f" {self._numbers()}"
        if self.aux_scale is not None and self.aux_scale != self.scale:
            text += f" Ratings on {self.aux_scale} were mapped linearly onto {self.scale}."
        return text

    def _known(self) -> str:
        known = sum(answer.known for answer in self.per_name)
        text = f"{counted(known, 'known item')}, {self.unknown_items / known:.1%} of them not in "
        text += "the data"
        if self.ambiguous_items:
            text += f", {self.ambiguous_items / known:.1%} with a name that several items bear"
        return text

    def _numbers(self) -> str:
        if self.data == "release":
            return "Records and classes have the numbers of the release's files."
        ids = any(c.id is not None for answer in self.per_name for c in answer.candidates)
        say = (
            "in brackets is its user's id" if ids else f"{named('show_values')} gives its user's id"
        )
        return f"Record N is row N, from 0, of the ratings in canonical order; {say}."

    def _headline(self) -> str:
        return self.attack


def _place_row(each: NamePlace) -> tuple[str, str, str, str, str]:
    where = f"class {each.class_}" if each.class_ is not None else f"record {each.record}"
    if each.id is not None:
        where += f" ({each.id})"
    if each.records == 0:
        where = "none"
    named = "yes" if each.answer else f"no: {_WHY[each.no_answer or 'unsure']}"
    return _visible(each.name), where, f"{each.probability:.1%}", f"{each.lead:.2f}", named


def _visible(name: str) -> str:
    """Write control characters, which a terminal would obey, as what they are."""
    return "".join(repr(c)[1:-1] if category(c) == "Cc" else c for c in name)
