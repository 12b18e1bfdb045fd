"""`Verdict`: what a check found, and what all checks have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from starshade._version import __version__
from starshade.errors import ConfigError
from starshade.figure import Figure, Shown, Table
from starshade.naming import called
from starshade.plain import counted, plain
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.figures import SMALLEST_GROUP
from starshade.release.table import Release

SHOWN = 5  # of the worst that a verdict names
_FIGURES = (
    Figure("records", "Records", "count", None, "Those looked at."),
    Figure("failing_records", "Records it does not hold for", "count", True, "It holds at 0."),
    SMALLEST_GROUP,
)
BY_SIZE = Figure("failing_by_size", "Records in classes below k", "count", True)


@dataclass(frozen=True)
class Verdict(Shown):
    """Whether a table satisfies a privacy model, and where it fails.

    Attributes
    ----------
    model : str
        As the command line names it.
    parameters : dict
        The model's parameters.
    satisfied : bool
        As the model is defined.
    records : int
        Records looked at.
    failing_records : int
        Records that the model does not hold for.
    smallest_class : int
        Size of the smallest set of records that are alike in the model's sense.
    worst : tuple of dict
        At most five of the failing groups, the smallest first: where each stands and its size.
        No user id is in it.
    numbered : bool
        Whether the rows in `worst` number the classes of a release; else they are rows of the
        input, which nobody else can look up.
    seconds : float
    empty_because : str
        Why the model holds whatever was rated, and so says nothing; else empty.
    alike_by : str
        By what records are alike, where they differ in other things that are released.
    version : str
        Of starshade.
    """

    model: str
    parameters: dict[str, Any]
    satisfied: bool
    records: int
    failing_records: int
    smallest_class: int
    worst: tuple[dict[str, Any], ...] = ()
    seconds: float = 0.0
    numbered: bool = False
    empty_because: str = ""
    alike_by: str = ""
    version: str = field(default=__version__)

    @property
    def vacuous(self) -> bool:
        """Whether it is satisfied by whatever anybody may have rated."""
        return self.satisfied and bool(self.empty_because)

    @property
    def passed(self) -> bool:
        """Whether it is satisfied and says something."""
        return self.satisfied and not self.vacuous

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        return self._with({})

    def _with(self, more: dict[str, Any]) -> dict[str, Any]:
        """Return what every verdict has in JSON, and before the last of it what one has more."""
        first = (
            *("model", "parameters", "satisfied", "vacuous"),
            *("records", "failing_records", "smallest_class", "worst"),
        )
        shared = {name: getattr(self, name) for name in first}
        last = {"seconds": self.seconds, "version": self.version}
        return {name: plain(value) for name, value in (shared | more | last).items()}

    def __str__(self) -> str:
        settings = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        head = f"{self.model} ({settings}) {self.outcome}"
        if self.satisfied:
            return (
                f"{head}: each of the {self.records:,} records is one of at least "
                f"{self.smallest_class:,} equal ones{self.alike_by}. An adversary who knows a "
                "person's ratings cannot tell which of them is the person's; what they have in "
                "common is disclosed."
            )
        return (
            f"{head}: {self.failing_records:,} of {counted(self.records, 'record')} "
            f"({self.failing_records / max(self.records, 1):.1%}) equal too few others; "
            f"the smallest class has {self.smallest_class:,}."
        )

    def explain(self) -> tuple[str, ...]:
        """Name the groups in `worst` for a person, those that read alike once."""
        counts = Counter(self._group(entry) for entry in self.worst)
        return tuple(text if n == 1 else f"{text} ({n} shown)" for text, n in counts.items())

    def _group(self, entry: dict[str, Any]) -> str:
        size = entry["size"]
        if self.numbered:
            return f"class {entry['row']:,} of the release, {size:,} record{'s' * (size != 1)}"
        return "a row that equals no other" if size == 1 else f"a set of {size:,} equal rows"

    @property
    def outcome(self) -> str:
        """What comes of it, in a few words."""
        if self.vacuous:
            return "holds, but says nothing"
        return "holds" if self.satisfied else "does not hold"

    @property
    def found(self) -> tuple[Figure, ...]:
        """What was counted."""
        return self._of(*_FIGURES)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Where it fails worst."""
        rows = tuple((line,) for line in self.explain())
        return (Table("Where it fails worst", ("group",), rows),) if rows else ()

    def _headline(self) -> str:
        return f"{self.model} {self.outcome}"


@dataclass(frozen=True)
class SetsVerdict(Verdict):
    """A verdict about sets of items: each of `worst` has ``items``, their positions."""

    def explain(self) -> tuple[str, ...]:
        """Name the sets in `worst` by the positions of their items; no id is told."""
        lines = [
            f"{'item' if len(entry['items']) == 1 else 'items'} "
            f"{', '.join(map(str, entry['items']))}: {self._group(entry)}"
            for entry in self.worst
        ]
        where = "Items are counted from 0, in the canonical order of their ids."
        return (*lines, where) if lines else ()


SLACK = 1e-9  # by which a figure may miss what is asked for


_In = ParamSpec("_In")


_Found = TypeVar("_Found", bound=Verdict)


def checking(model: str) -> Callable[[Callable[_In, _Found]], Callable[_In, _Found]]:
    """Make a check that announces itself, and whose verdict says how long it took."""

    def decorate(check: Callable[_In, _Found]) -> Callable[_In, _Found]:
        @wraps(check)
        def timed(*args: _In.args, **kwargs: _In.kwargs) -> _Found:
            start = perf_counter()
            verdict = check(*args, **kwargs)
            return replace(verdict, seconds=perf_counter() - start)

        return announced(f"checking {model}")(timed)

    return decorate


def records_of(data: Release | Ratings) -> int:
    """Return how many records there are; refuse what is neither ratings nor a release."""
    if isinstance(data, Release):
        return data.n_records
    if isinstance(data, Ratings):
        return data.n_users
    raise ConfigError(
        f"data of type {type(data).__name__}: neither ratings nor a release",
        advice="Read ratings with starshade.read_ratings, a release with starshade.read_release.",
    )


def check_records(k: int, records: int) -> None:
    """Refuse a k that no table of this size can satisfy."""
    if k > records:
        raise ConfigError(
            f"{called('k')} = {k}, records = {records}: no table of this size can satisfy it",
            advice=f"Choose k from 2 to {records}." if records >= 2 else "",
        )
