"""Dossiers to show: of real releases of a small table, and one of marks alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.make import Anonymizer
from starshade.audit.verdict import Audit
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from tests.policies import NO_LIMITS

__all__ = ["COMMAND", "SEED", "Shown", "half_stars", "marked", "people", "small_dossier"]

SEED = 918_273_645
COMMAND = "starshade report <ratings> release --private 'the receipt'"
_AUDIT = Audit(known=(2, 4), targets=40, shadows=0)


def people(n: int = 70) -> Ratings:
    """Return a table whose ids are markup."""
    ratings = synthesize(n_users=n, n_items=200, n_ratings=40 * n, rng=1)
    return replace(
        ratings,
        users=Vocabulary.of([f"<b>person-{i:03d}</b>" for i in range(ratings.n_users)]),
        items=Vocabulary.of([f"<i>film-{i}</i>" for i in range(ratings.n_items)]),
    )


def half_stars(n: int = 70) -> Ratings:
    """Return the same people, every other rating half a star lower."""
    ratings, scale = people(n), Scale(0.5, 5, 0.5)
    codes = ratings.codes * 2 + 1 - (np.arange(ratings.n_ratings) % 2).astype(ratings.codes.dtype)
    return replace(ratings, scale=scale, levels=scale.levels, codes=codes)


def small_dossier(
    place: Path,
    *,
    threshold: Mapping[str, float] = NO_LIMITS,
    accepted: Sequence[Mapping[str, str]] = (),
    method: Anonymizer | None = None,
    ratings: Ratings | None = None,
) -> Dossier:
    """Make a release of 70 people in `place`, and audit it: a PASS unless thresholds are given."""
    ratings = ratings or people()
    release = (method or KLikeness(k=5, items=top_items(9))).anonymize(ratings, rng=SEED)
    release.save(place / "release", private=place / "receipt.json")
    return compile_dossier(
        ratings,
        place / "release",
        private=place / "receipt.json",
        audit=replace(_AUDIT, threshold=threshold),
        accepted=accepted,
        rng=SEED,
        command=COMMAND,
    )


@dataclass(frozen=True)
class Shown:
    """A stand-in for a `Dossier` with given content."""

    told: dict[str, Any]
    for_all: dict[str, Any] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        return {**self.for_all, "audience": "public"}

    def internal(self) -> dict[str, Any]:
        return {**self.told, "audience": "internal"}


def marked(told: Any, mark: str) -> Any:
    """Return the same with a mark before each text; names that lead the way stay."""
    if isinstance(told, dict):
        return {key: marked(value, mark) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [marked(value, mark) for value in told]
    return mark + told if isinstance(told, str) else told
