from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from starshade.privacy.k_anonymity import KAnonymity
from starshade.privacy.verdict import Verdict
from starshade.setting import check, declared


@dataclass(frozen=True)
class ToyModel:
    """As many equal records; there is one toy setting."""

    toys: int = field(metadata=declared("Toys", "How many toys are alike.", least=2, usual="3"))

    def __post_init__(self) -> None:
        check(self)

    def check(self, data: Any) -> Verdict:
        """Check."""
        return replace(KAnonymity(self.toys).check(data), model="toy-model")
