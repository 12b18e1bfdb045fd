from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from starshade.attack.candidates.result import CandidateResult
from starshade.attack.candidates.structure import StructureAttack
from starshade.setting import check, declared


@dataclass(frozen=True)
class ToyAttack:
    """Who rated the same items; there is one toy setting."""

    name: ClassVar[str] = "toy-attack"

    doubt: float = field(
        default=0.25, metadata=declared("Toy doubt", "How much a toy doubts.", least=0, most=1)
    )

    def __post_init__(self) -> None:
        check(self)

    def run(self, data: Any, knowledge: Any = None, **more: Any) -> CandidateResult:
        """Attack."""
        return replace(StructureAttack().run(data, knowledge, **more), attack=self.name)
