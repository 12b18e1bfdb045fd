"""The lines of KL's figures: a method with a hierarchy, or a reading of one."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import attempt, made_of
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.kl.readings import Reading
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.table import Release

KS = tuple(range(2, 21))
QUERY_KS = (2, 5)  # the paper's, and one that is used in practice
LIKENESS, DGH_A, DGH_B, DGH_C = (
    f"k-Likeness, {hierarchy}" for hierarchy in ("NDGH", "DGH (a)", "DGH (b)", "DGH (c)")
)
MEMBER, MONDRIAN, RELAXED = "k-Member", "Mondrian", "Mondrian relaxed"
EXCHANGE, PRINTED = "k-exchange", "k-Likeness, NDGH, k tuples"
PAPERS = (LIKENESS, DGH_A, DGH_B, DGH_C, MEMBER, MONDRIAN)
#: the “algorithms” that §5.2.1 opens with; a hierarchy is a setting of the first
ALGORITHMS = (LIKENESS, MEMBER, MONDRIAN)


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    name: str
    # `method`, `hierarchy`: as starshade names them
    method: str
    hierarchy: str
    configuration: str = "as-read"
    # whether queries are asked of it: the paper leaves two hierarchies out there
    queried: bool = True
    reading: Reading | None = None  # another one than the public method's

    @property
    def key(self) -> str:
        """What tells its releases from others."""
        return f"{self.method} {self.hierarchy}" if self.reading is None else repr(self.reading)

    @property
    def is_hierarchy(self) -> bool:
        """Whether it differs from k-Likeness with NDGH in the hierarchy alone."""
        return self.name in (DGH_A, DGH_B, DGH_C)

    def at(self, k: int, attributes: str = "none") -> Anonymizer:
        """Return the public method; no item is left out."""
        settings = {"k": k, "hierarchy": self.hierarchy, "attributes": attributes}
        return made_of(find(ENTRIES, self.method, "method"), settings | {"rare_items": "keep"})

    def release(self, table: Ratings, k: int, seed: int, *, exact: bool) -> tuple[Release, float]:
        """Make a release, with personal attributes as they are or without; say how long it took."""
        if self.reading is not None:
            return self.reading.release(table, k, seed, exact=exact)
        made = attempt(self.at(k, "exact" if exact else "none"), table, seed)
        return made.release, made.seconds


def lines_of(scale: Scale) -> tuple[tuple[Line, ...], tuple[Skipped, ...]]:
    """Return the lines that a scale allows, and those that it does not.

    The paper's three hierarchies are made for null = 0 and the ratings 1 to 5; elsewhere two
    halves of the scale stand for (b).
    """
    fits = scale == Scale(1, 5, 1)
    middle = Line(DGH_B, "k-likeness", "dgh-b" if fits else "dgh")
    shallow = (
        Line(DGH_A, "k-likeness", "dgh-a", queried=False),
        Line(DGH_C, "k-likeness", "dgh-c", queried=False),
    )
    printed = Reading("k-likeness", tuples="k")
    lines = (  # in this order the lines have the same colours in every figure
        Line(LIKENESS, "k-likeness", "ndgh"),
        Line(MEMBER, "k-member", "range"),
        Line(MONDRIAN, "mondrian", "range"),
        Line(RELAXED, "mondrian-relaxed", "range", "as-read, but relaxed cuts"),
        Line(EXCHANGE, "k-exchange", "ndgh", "ours"),
        middle,
        *(shallow if fits else ()),
        Line(PRINTED, "k-likeness", "ndgh", "as-printed", reading=printed),
    )
    if fits:
        return lines, ()
    reason = f"made for the ratings 1 to 5, not for scale {scale}; (b) is two halves of it"
    return lines, tuple(Skipped("10-12", line.name, reason) for line in shallow)
