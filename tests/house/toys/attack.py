from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from starshade.attack.candidates.candidates import StructureAttack
from starshade.attack.candidates.result import CandidateResult
from starshade.figure import Figure
from starshade.setting import check, settable


class ToyResult(CandidateResult):
    @property
    def found(self) -> tuple[Figure, ...]:
        """One more."""
        luck = Figure("toy_luck", "Toy luck", "bits", True, "High: toys are lucky.").of(7.5)
        return (*super().found, luck)


@dataclass(frozen=True)
class ToyAttack:
    """Who rated the same items; there is one toy setting."""

    name: ClassVar[str] = "toy-attack"

    doubt: float = settable("Toy doubt", "How much a toy doubts.", default=0.25, least=0, most=1)

    @classmethod
    def audited(cls, knowledge: Any, data: Any, release: Any) -> ToyAttack:
        """Whatever is known."""
        return cls()

    def __post_init__(self) -> None:
        check(self)

    def run(self, data: Any, knowledge: Any = None, **more: Any) -> ToyResult:
        """Attack."""
        found = replace(StructureAttack().run(data, knowledge, **more), attack=self.name)
        return ToyResult(**{each.name: getattr(found, each.name) for each in fields(found)})
