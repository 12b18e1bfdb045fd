"""Which lines the figures have: a method with a hierarchy, by the names the paper gives them."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import made_of
from starshade.audit.make import Anonymizer
from starshade.audit.reproduction.figures import Skipped
from starshade.ratings.scale import Scale
from starshade.registry import find

__all__ = [
    "DGH_A",
    "DGH_B",
    "DGH_C",
    "EXCHANGE",
    "KS",
    "LIKENESS",
    "MEMBER",
    "MONDRIAN",
    "QUERY_KS",
    "RELAXED",
    "Line",
    "lines_of",
]

KS = tuple(range(2, 21))
QUERY_KS = (2, 5)  # the paper's, and one that is used in practice
LIKENESS, DGH_A, DGH_B, DGH_C = (
    f"k-Likeness, {hierarchy}" for hierarchy in ("NDGH", "DGH (a)", "DGH (b)", "DGH (c)")
)
MEMBER, MONDRIAN, RELAXED = "k-Member", "Mondrian", "Mondrian relaxed"
EXCHANGE = "k-exchange (ours)"


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    name: str
    # `method`, `hierarchy`: as starshade names them
    method: str
    hierarchy: str
    # whether queries are asked of it: the paper leaves two hierarchies out there
    queried: bool = True

    @property
    def is_hierarchy(self) -> bool:
        """Whether it differs from k-Likeness with NDGH in the hierarchy alone."""
        return self.method == "k-likeness" and self.name != LIKENESS

    def at(self, k: int, attributes: str = "none") -> Anonymizer:
        """Return the method; no item is left out."""
        settings = {"k": k, "hierarchy": self.hierarchy, "attributes": attributes}
        return made_of(find(ENTRIES, self.method, "method"), settings | {"rare_items": "keep"})


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
    lines = (  # in this order the lines have the same colours in every figure
        Line(LIKENESS, "k-likeness", "ndgh"),
        Line(MEMBER, "k-member", "range"),
        Line(MONDRIAN, "mondrian", "range"),
        Line(RELAXED, "mondrian-relaxed", "range"),
        Line(EXCHANGE, "k-exchange", "ndgh"),
        middle,
        *(shallow if fits else ()),
    )
    if fits:
        return lines, ()
    reason = f"made for the ratings 1 to 5, not for scale {scale}; (b) is two halves of it"
    return lines, tuple(Skipped("10-12", line.name, reason) for line in shallow)
