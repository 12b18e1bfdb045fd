"""The settings of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starshade.setting import settable

#: why a partitioned store is read as one table, where the owner can change it
WITHOUT_RECEIPT = "without the private key file"


@dataclass(frozen=True)
class AuditSettings:
    """Settings of an audit (definitions, "audit")."""

    policy: str = settable(
        "Policy",
        "Policy with the thresholds: public, partner, controlled, or a TOML file.",
        default="partner",
        usual="NAME|FILE",
    )
    threshold: Sequence[str] | Mapping[str, float] = settable(
        "Thresholds",
        "Threshold that replaces the policy's, such as class-size=11 or membership=5%.",
        default=(),
        kind="texts",
        usual="NAME=VALUE",
        formerly="limit",
    )
    known: Sequence[int] = settable(
        "Known ratings per target",
        "Number of known ratings to test; replaces 2, 4 and 8. The number that the policy sets is "
        "always tested.",
        default=(2, 4, 8),
        kind="integers",
        least=1,
        usual="N",
    )
    targets: int = settable("Targets", "Maximum number of users to attack.", default=1000, least=1)
    shadows: int | None = settable(
        "Shadow releases",
        "Shadow releases for the checks of membership, inference, linkability and singling "
        "out; 0 skips these checks (INCOMPLETE). They take most of the time.",
        default=None,
        least=0,
        most=1000,
        unset="set by the policy, usually 16, or 4 above 20 million ratings",
        formerly="rounds",
    )
